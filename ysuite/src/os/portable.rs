//! Sleep and wake for systems without a futex: a fixed table of lists of waiters, chosen by the word's address.
//!
//! Any thread. A waiter has a condition variable of its own and stands on a list with the address of its word, so that
//! a wake reaches waiters of that word only, the oldest first, and no more of them than asked for. Each thread has one
//! waiter, among its thread-locals: to sleep allocates nothing, but for what the system's condition variable may need
//! the first time. Blocks in `wait`, and for moments on the lock of a list. No barrier for others: Fence mode.
//!
//! The scheme is the kernel's for its futex: lists in hashed buckets, the value compared under the lock that a waker takes.

use core::cell::Cell;
use core::ptr::NonNull;
use core::time::Duration;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use super::{Platform, Waited, count_call};
use crate::sync::{AtomicU32, Ordering};

pub(crate) struct Portable;

/// What a thread sleeps on. While it is on a list, others reach it there, under the lock of the list.
struct ParkedThread {
    /// Of the word waited on. Set before it is listed, and left alone until it is off again.
    address: Cell<usize>,
    /// Owned by the list.
    next: Cell<NextThread>,
    /// Not the list's lock: a condition variable belongs to one mutex for ever, and a thread waits on many words.
    woken: Mutex<bool>,
    changed: Condvar,
}

type NextThread = Option<NonNull<ParkedThread>>;

impl ParkedThread {
    const fn new() -> Self {
        Self { address: Cell::new(0), next: Cell::new(None), woken: Mutex::new(false), changed: Condvar::new() }
    }

    /// Sleeps until woken or for so long.
    fn sleep(&self, timeout: Option<Duration>) {
        let woken = lock(&self.woken);
        let asleep = |woken: &mut bool| !*woken;
        match timeout {
            None => drop(self.changed.wait_while(woken, asleep)),
            Some(timeout) => drop(self.changed.wait_timeout_while(woken, timeout, asleep)),
        }
    }

    fn wake(&self) {
        *lock(&self.woken) = true;
        self.changed.notify_one();
    }
}

/// Waiters, the oldest first, linked through themselves.
struct List(Cell<NextThread>);

// SAFETY: the list is only ever used by the owner of its lock, and so are the links in the waiters; the waiters' other
// parts are for several threads, or not written while they are on a list. See `Listed` for how long a waiter lives.
unsafe impl Send for List {}

impl List {
    /// Takes off the list whoever `leaves` answers true for, asked in order. Returns the link behind the last.
    fn remove_where(&self, mut leaves: impl FnMut(&ParkedThread) -> bool) -> &Cell<NextThread> {
        let mut link = &self.0;
        while let Some(waiter) = link.get() {
            // SAFETY: a waiter takes itself off the list, under the lock we hold, before it ends; see `Listed`.
            let waiter = unsafe { waiter.as_ref() };
            if leaves(waiter) {
                link.set(waiter.next.take());
            } else {
                link = &waiter.next;
            }
        }
        link
    }
}

const BUCKETS: usize = 64;
static TABLE: [Mutex<List>; BUCKETS] = [const { Mutex::new(List(Cell::new(None))) }; BUCKETS];

fn bucket(address: usize) -> &'static Mutex<List> {
    // Words live in cache lines of their own: the low bits say little.
    &TABLE[(address >> 7 ^ address >> 13) % BUCKETS]
}

/// No lock here guards data that a panic could leave half made: a poisoned one is as good as new.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A waiter on its list. Being dropped it takes itself off, whatever happens, so that no list holds one that has ended;
/// and as a waker does all it does under the lock, it is done with the waiter by then, too.
struct Listed<'a>(&'a ParkedThread);

impl<'a> Listed<'a> {
    fn new(list: &List, waiter: &'a ParkedThread, address: usize) -> Self {
        waiter.address.set(address);
        *lock(&waiter.woken) = false;
        list.remove_where(|_| false).set(Some(NonNull::from(waiter)));
        Self(waiter)
    }

    /// Takes it off. False if a waker has done that before.
    fn withdraw(self) -> bool {
        let found = self.remove();
        core::mem::forget(self);
        found
    }

    fn remove(&self) -> bool {
        let mut found = false;
        lock(bucket(self.0.address.get())).remove_where(|waiter| {
            let is_this = core::ptr::eq(waiter, self.0);
            found |= is_this;
            is_this
        });
        found
    }
}

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        self.remove();
    }
}

fn wait(waiter: &ParkedThread, word: &AtomicU32, expected: u32, timeout: Option<Duration>) -> Waited {
    let address = core::ptr::from_ref(word).addr();
    let list = lock(bucket(address));
    // ORDERING: the lock orders this against `wake`, whose caller changed the word before.
    if word.load(Ordering::Relaxed) != expected {
        return Waited::Look;
    }
    let listed = Listed::new(&list, waiter, address);
    drop(list);
    waiter.sleep(timeout);
    // A wake that came beside the time-out counts: its waker has counted us among those it woke.
    if listed.withdraw() { Waited::TimedOut } else { Waited::Look }
}

std::thread_local! {
    static PARKED: ParkedThread = const { ParkedThread::new() };
}

impl Platform for Portable {
    fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) -> Waited {
        count_call();
        PARKED
            .try_with(|waiter| wait(waiter, word, expected, timeout))
            // A thread that is past its thread-locals may still wait in the destructor of one.
            .unwrap_or_else(|_| wait(&ParkedThread::new(), word, expected, timeout))
    }

    fn wake(word: &AtomicU32, sleepers: u32) {
        count_call();
        let address = core::ptr::from_ref(word).addr();
        let mut left = sleepers;
        lock(bucket(address)).remove_where(|waiter| {
            let leaves = left > 0 && waiter.address.get() == address;
            if leaves {
                left -= 1;
                waiter.wake();
            }
            leaves
        });
    }

    fn can_bar_others() -> bool {
        false
    }

    fn bar_others() {
        unreachable!("there is no barrier for others here, and `can_bar_others` says so");
    }

    fn cpus() -> usize {
        static CPUS: OnceLock<usize> = OnceLock::new();
        *CPUS.get_or_init(|| std::thread::available_parallelism().map_or(usize::MAX, core::num::NonZero::get))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    /// No wait lasts so long but one whose wake-up was lost.
    const HANGS: Option<Duration> = Some(Duration::from_secs(60));

    /// Words that share one bucket.
    fn neighbours(count: usize) -> Vec<&'static AtomicU32> {
        let all: &'static [AtomicU32] = (0..1 << 16).map(|_| AtomicU32::new(0)).collect::<Vec<_>>().leak();
        let bucket_of = |word: &AtomicU32| core::ptr::from_ref(bucket(core::ptr::from_ref(word).addr()));
        let words: Vec<_> = all.iter().filter(|word| bucket_of(word) == bucket_of(&all[0])).take(count).collect();
        assert_eq!(words.len(), count);
        words
    }

    fn waiting(word: &AtomicU32) -> usize {
        let address = core::ptr::from_ref(word).addr();
        let mut count = 0;
        lock(bucket(address)).remove_where(|waiter| {
            count += usize::from(waiter.address.get() == address);
            false
        });
        count
    }

    fn until_waiting(word: &AtomicU32, count: usize) {
        while waiting(word) != count {
            thread::yield_now();
        }
    }

    /// A thread that waits once, while the word is 0.
    fn waiter(word: &'static AtomicU32) -> thread::JoinHandle<Waited> {
        thread::spawn(move || Portable::wait(word, 0, HANGS))
    }

    #[test]
    fn a_wake_of_another_word_in_the_bucket_returns_nobody() {
        let words = neighbours(2);
        let (word, other) = (words[0], words[1]);
        let thread = thread::spawn(move || {
            let mut returns = 0;
            // ORDERING: pairs with the store before the wake.
            while word.load(Ordering::Acquire) == 0 {
                assert_eq!(Portable::wait(word, 0, HANGS), Waited::Look);
                returns += 1;
            }
            returns
        });
        until_waiting(word, 1);
        for _ in 0..1_000 {
            Portable::wake(other, u32::MAX);
            assert_eq!(waiting(word), 1);
        }
        // ORDERING: pairs with the load in the loop.
        word.store(1, Ordering::Release);
        Portable::wake(word, 1);
        assert_eq!(thread.join().unwrap(), 1);
    }

    #[test]
    fn another_value_is_not_waited_on() {
        let word = neighbours(1)[0];
        assert_eq!(Portable::wait(word, 1, None), Waited::Look);
        assert_eq!(waiting(word), 0);
    }

    #[test]
    fn a_timed_out_waiter_leaves_nothing_behind() {
        let words = neighbours(2);
        let (word, other) = (words[0], words[1]);
        // Alone, and as the first, the one between and the last of three.
        for (before, behind) in [(0, 0), (0, 2), (1, 1), (2, 0)] {
            let mut others: Vec<_> = (0..before).map(|_| waiter(other)).collect();
            until_waiting(other, before);
            let thread = thread::spawn(|| Portable::wait(word, 0, Some(Duration::from_millis(50))));
            while waiting(word) == 0 && !thread.is_finished() {
                thread::yield_now();
            }
            others.extend((0..behind).map(|_| waiter(other)));
            assert_eq!(thread.join().unwrap(), Waited::TimedOut);
            until_waiting(other, others.len());
            assert_eq!(waiting(word), 0);
            Portable::wake(word, u32::MAX);
            assert_eq!(waiting(other), others.len());
            Portable::wake(other, u32::MAX);
            assert_eq!(waiting(other), 0);
            others.into_iter().for_each(|other| assert_eq!(other.join().unwrap(), Waited::Look));
        }
        for timeout in [Duration::ZERO, Duration::from_nanos(1)] {
            assert_eq!(Portable::wait(word, 0, Some(timeout)), Waited::TimedOut);
            assert_eq!(waiting(word), 0);
        }
    }

    #[test]
    fn a_wake_of_two_among_three_wakes_the_first_two() {
        let word = neighbours(1)[0];
        let (done, returned) = mpsc::channel();
        let threads = [0, 1, 2].map(|number| {
            let done = done.clone();
            let thread = thread::spawn(move || {
                assert_eq!(Portable::wait(word, 0, HANGS), Waited::Look);
                done.send(number).unwrap();
            });
            until_waiting(word, number + 1);
            thread
        });
        Portable::wake(word, 0);
        assert_eq!(waiting(word), 3);
        Portable::wake(word, 2);
        assert_eq!(waiting(word), 1);
        let mut first = [returned.recv().unwrap(), returned.recv().unwrap()];
        first.sort_unstable();
        assert_eq!(first, [0, 1]);
        assert!(returned.try_recv().is_err());
        Portable::wake(word, 2);
        assert_eq!(returned.recv(), Ok(2));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }

    /// Where a waiter needs dropping, the thread's own may have been dropped by then.
    #[test]
    fn a_thread_past_its_thread_locals_can_wait() {
        struct AtTheEnd(&'static AtomicU32);
        impl Drop for AtTheEnd {
            fn drop(&mut self) {
                assert_eq!(Portable::wait(self.0, 0, HANGS), Waited::Look);
            }
        }
        std::thread_local! {
            static LAST: Cell<Option<AtTheEnd>> = const { Cell::new(None) };
        }
        let word = neighbours(1)[0];
        let thread = thread::spawn(|| LAST.set(Some(AtTheEnd(word))));
        until_waiting(word, 1);
        Portable::wake(word, 1);
        thread.join().unwrap();
    }

    /// Threads in pairs take turns on a word, all in one bucket, and others wait for times that are soon up.
    #[test]
    fn heavy_mixed_use_loses_nothing() {
        const TURNS: u32 = 10_000;
        let turns = |word: &'static AtomicU32, mine: u32| {
            move || {
                for turn in (mine..TURNS).step_by(2) {
                    loop {
                        // ORDERING: pairs with the store of the other thread's turn.
                        let now = word.load(Ordering::Acquire);
                        if now == turn {
                            break;
                        }
                        let timeout =
                            if turn % 3 == 0 { Some(Duration::from_micros(u64::from(turn % 50))) } else { HANGS };
                        let waited = Portable::wait(word, now, timeout);
                        assert!(timeout != HANGS || waited == Waited::Look, "a wake-up was lost");
                    }
                    // ORDERING: pairs with the load above.
                    word.store(turn + 1, Ordering::Release);
                    Portable::wake(word, 1);
                }
            }
        };
        let words = neighbours(4);
        let threads: Vec<_> =
            words.iter().flat_map(|word| [0, 1].map(|mine| thread::spawn(turns(word, mine)))).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        for word in words {
            // ORDERING: the threads were joined.
            assert_eq!((word.load(Ordering::Relaxed), waiting(word)), (TURNS, 0));
        }
    }
}
