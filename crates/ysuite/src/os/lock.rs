//! A lock that a forked child can do without. Any thread; blocks while another thread has the lock.
//!
//! A child has a copy of every lock, and only the thread that forked. A lock that another thread had at that moment
//! stays locked in the child for ever, and the value in it may be half changed. The child may still drop what it has
//! inherited: what a handle does on drop is for other threads to see, and there is no other thread. So code that runs
//! on drop takes the lock by [`lock_to_go`](ForkLock::lock_to_go), and leaves all as it is where that returns none. A
//! value in a lock that stays locked is never dropped.
//!
//! Cannot: help a child that uses what it has inherited.

use core::mem::ManuallyDrop;
use std::sync::PoisonError;
#[cfg(not(ysuite_loom))]
use std::sync::TryLockError;

use crate::sync::{Mutex, MutexGuard};

/// A value in a lock. Poison is ignored: for values that no panic leaves inconsistent.
pub(crate) struct ForkLock<T> {
    value: ManuallyDrop<Mutex<T>>,
    /// The process whose threads may have the lock.
    #[cfg(all(unix, not(ysuite_loom)))]
    home: super::Home,
}

impl<T> ForkLock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            value: ManuallyDrop::new(Mutex::new(value)),
            #[cfg(all(unix, not(ysuite_loom)))]
            home: super::Home::here(),
        }
    }

    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As [`lock`](Self::lock), for code that runs on drop. `None`: this process is a forked child, and no thread will
    /// give the lock back.
    #[inline(never)]
    pub(crate) fn lock_to_go(&self) -> Option<MutexGuard<'_, T>> {
        #[cfg(not(ysuite_loom))]
        match self.value.try_lock() {
            // The usual case: a thread that finds the lock free does not check which process this is.
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(guard)) => return Some(guard.into_inner()),
            Err(TryLockError::WouldBlock) if self.is_inherited() => return None,
            Err(TryLockError::WouldBlock) => {}
        }
        Some(self.lock())
    }

    /// Whether this process is a forked child of the one in which the lock was made.
    #[cfg(not(ysuite_loom))]
    pub(crate) fn is_inherited(&self) -> bool {
        #[cfg(unix)]
        return !self.home.is_here();
        #[cfg(not(unix))]
        false
    }

    /// Runs this with the lock.
    #[cfg(all(test, unix, not(ysuite_loom), not(miri)))]
    pub(crate) fn held(&self, act: &dyn Fn()) {
        let _guard = self.lock();
        act();
    }
}

// USER CODE: `Drop` of the guarded value, where this process may have it; no thread has the lock, or ever will;
//     re-entrance and panic: as of the value; test: src/os/lock.rs: a_child_does_without_a_lock_that_nobody_gives_back
impl<T> Drop for ForkLock<T> {
    fn drop(&mut self) {
        // In its own process no thread has the lock any more, as this one has all of it. A model has no children.
        #[cfg(not(ysuite_loom))]
        let is_ours = !self.is_inherited() || self.lock_to_go().is_some();
        #[cfg(ysuite_loom)]
        let is_ours = true;
        if is_ours {
            // SAFETY: the value is dropped here alone, once.
            unsafe { ManuallyDrop::drop(&mut self.value) };
        }
    }
}

#[cfg(all(test, unix, not(ysuite_loom), not(miri)))]
pub(crate) mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;

    // The C library's, which std links already.
    unsafe extern "C" {
        fn fork() -> i32;
        fn alarm(seconds: u32) -> u32;
        fn waitpid(child: i32, status: *mut i32, options: i32) -> i32;
        fn _exit(status: i32) -> !;
    }

    /// Whether a forked child of this process could do `act`, where another thread of the parent is in `hold`, and
    /// there in the function that it is given: with a lock. The kernel ends a child that hangs.
    pub(crate) fn child_can(hold: impl FnOnce(&dyn Fn()) + Send, act: impl FnOnce()) -> bool {
        let ((held, is_held), (release, is_over)) = (channel(), channel::<()>());
        thread::scope(|scope| {
            scope.spawn(move || {
                hold(&|| {
                    held.send(()).unwrap();
                    let _ = is_over.recv();
                });
            });
            is_held.recv().unwrap();
            // SAFETY: the child drops and frees, for which the C library prepares its forks; this is what the test
            // checks.
            let child = unsafe { fork() };
            if child == 0 {
                // SAFETY: as above.
                unsafe { alarm(30) };
                let is_done = catch_unwind(AssertUnwindSafe(act)).is_ok();
                // SAFETY: it ends here.
                unsafe { _exit(if is_done { 0 } else { 1 }) };
            }
            let mut status = -1;
            // SAFETY: a child of this process, and a place for its status.
            assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
            drop(release);
            status == 0
        })
    }

    /// A value whose drop can be observed.
    struct Loud;

    impl Drop for Loud {
        fn drop(&mut self) {
            panic!("it is dropped");
        }
    }

    #[test]
    fn a_child_does_without_a_lock_that_nobody_gives_back() {
        let lock = ManuallyDrop::new(ForkLock::new(Loud));
        assert!(child_can(
            |held| lock.held(held),
            || {
                assert!(lock.lock_to_go().is_none());
                // SAFETY: this process has one copy, and uses it no more.
                drop(unsafe { core::ptr::read(&raw const *lock) });
            }
        ));
        // Here another thread gives it back.
        assert!(lock.lock_to_go().is_some());
        // One that is free the child has, and drops.
        assert!(!child_can(
            |held| held(),
            || {
                assert!(lock.lock_to_go().is_some());
                // SAFETY: as above.
                drop(unsafe { core::ptr::read(&raw const *lock) });
            }
        ));
    }

    #[test]
    fn where_a_thread_has_the_lock_that_gives_it_back_it_is_waited_for() {
        let lock = ForkLock::new(0);
        thread::scope(|scope| {
            let mut guard = lock.lock();
            let other = scope.spawn(|| lock.lock_to_go().map(|value| *value));
            thread::yield_now();
            *guard = 7;
            drop(guard);
            assert_eq!(other.join().unwrap(), Some(7));
        });
    }
}
