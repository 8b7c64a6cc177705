//! Sleep and wake for systems without a futex: a fixed table of lists of waiters, chosen by the word's address.
//!
//! Any thread. A waiter has a condition variable of its own and is listed with the address of its word, so that a wake
//! reaches only waiters of that word, the oldest first, and no more of them than requested. Each thread has one waiter,
//! among its thread-locals: a sleep allocates nothing, except what the system's condition variable may need the first
//! time. Blocks in `wait`, and for moments on the lock of a list. No barrier that acts on other threads: Fence mode.
//!
//! The scheme is the kernel's for its futex: lists in hashed buckets, the value compared under the lock that a waker
//! takes.

use core::cell::Cell;
use core::ptr::NonNull;
use core::time::Duration;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use super::{Waited, count_call};
use crate::sync::{AtomicU32, Ordering};

/// A waiter: what a thread sleeps on. While it is on a list, other threads reach it there, under the lock of the list.
struct ParkedThread {
    /// The address of the word waited on. Set before the waiter is listed, and not written while it is on the list.
    address: Cell<usize>,
    /// The link to the next waiter; owned by the list.
    next: Cell<NextThread>,
    /// Not the list's lock: a condition variable may be used with one mutex only, and a thread waits on many words.
    woken: Mutex<bool>,
    changed: Condvar,
}

type NextThread = Option<NonNull<ParkedThread>>;

impl ParkedThread {
    const fn new() -> Self {
        Self { address: Cell::new(0), next: Cell::new(None), woken: Mutex::new(false), changed: Condvar::new() }
    }

    /// Sleeps until woken, or for `timeout` at most.
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

// SAFETY: only the holder of the list's lock uses the list and the links in its waiters. A waiter's other fields may be
// used by several threads, or are not written while it is on a list; and `Listed` takes it off before it ends.
unsafe impl Send for List {}

impl List {
    /// Takes off the list each waiter for which `leaves` returns true, called in order. Returns the link after the
    /// last.
    fn remove_where(&self, mut leaves: impl FnMut(&ParkedThread) -> bool) -> &Cell<NextThread> {
        let mut link = &self.0;
        while let Some(waiter) = link.get() {
            // SAFETY: the waiter is alive: `Listed` takes it off the list before it ends, under the lock that this
            // thread holds.
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
    // MUTANT: Speed only: how evenly words spread over the buckets. Words are in cache lines of their own: their
    // addresses hardly differ in the low bits.
    &TABLE[(address >> 7 ^ address >> 13) % BUCKETS]
}

/// No lock here guards data that a panic could leave half changed, so poisoning is ignored.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A waiter on its list. Its drop takes the waiter off, also in a panic, so that no list holds a waiter that has ended.
/// A waker uses the waiter only under the lock of the list, and so has finished with it by then, too.
struct Listed<'a>(&'a ParkedThread);

impl<'a> Listed<'a> {
    fn new(list: &List, waiter: &'a ParkedThread, address: usize) -> Self {
        waiter.address.set(address);
        *lock(&waiter.woken) = false;
        list.remove_where(|_| false).set(Some(NonNull::from(waiter)));
        Self(waiter)
    }
}

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        lock(bucket(self.0.address.get())).remove_where(|waiter| core::ptr::eq(waiter, self.0));
    }
}

// MUTANT: In a race: a wake arrives at the timeout. Killed only by `a_timed_out_waiter_leaves_nothing_behind`.
fn wait_as(waiter: &ParkedThread, word: &AtomicU32, expected: u32, timeout: Option<Duration>) -> Waited {
    let address = core::ptr::from_ref(word).addr();
    let list = lock(bucket(address));
    // ORDERING: Relaxed; the lock orders this load against `wake`, whose caller has changed the word before.
    if word.load(Ordering::Relaxed) != expected {
        return Waited::Look;
    }
    let listed = Listed::new(&list, waiter, address);
    drop(list);
    waiter.sleep(timeout);
    drop(listed);
    // No waker finds the waiter any more. A wake that came at the same time as the time-out counts as one: the waker
    // has counted this thread among the woken.
    if *lock(&waiter.woken) { Waited::Look } else { Waited::TimedOut }
}

// THREAD EXIT: `PARKED`: `wait` uses a `ParkedThread` on the stack; test: src/os/portable.rs:
//     a_thread_past_its_thread_locals_can_wait
std::thread_local! {
    static PARKED: ParkedThread = const { ParkedThread::new() };
}

pub(crate) fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) -> Waited {
    count_call();
    PARKED
        .try_with(|waiter| wait_as(waiter, word, expected, timeout))
        // A thread whose own waiter is dropped may still wait, in the destructor of another thread-local.
        .unwrap_or_else(|_| wait_as(&ParkedThread::new(), word, expected, timeout))
}

pub(crate) fn wake(word: &AtomicU32, sleepers: u32) {
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

pub(crate) fn asymmetric() -> bool {
    false
}

// MUTANT: Never called: `asymmetric` is false on this platform.
pub(crate) fn heavy() {
    unreachable!("there is no barrier for others here, and `asymmetric` says so");
}

pub(crate) fn may_become_asymmetric() -> bool {
    false
}

pub(crate) fn may_give_up_fences(_executed: u32) -> bool {
    false
}

pub(crate) fn prepare() {}

static CPUS: OnceLock<usize> = OnceLock::new();

pub(crate) fn known_cpus() -> usize {
    CPUS.get().copied().unwrap_or(usize::MAX)
}

pub(crate) fn cpus() -> usize {
    *CPUS.get_or_init(|| std::thread::available_parallelism().map_or(usize::MAX, core::num::NonZero::get))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    /// Longer than any wait whose wake-up was not lost.
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
        thread::spawn(move || wait(word, 0, HANGS))
    }

    /// Claim: Without a futex, a wake-up reaches only waiters of its word, oldest first.
    #[test]
    fn a_wake_of_another_word_in_the_bucket_wakes_no_waiter() {
        let words = neighbours(2);
        let (word, other) = (words[0], words[1]);
        let thread = thread::spawn(move || {
            let mut returns = 0;
            // ORDERING: Acquire pairs with the Release store before the wake.
            while word.load(Ordering::Acquire) == 0 {
                assert_eq!(wait(word, 0, HANGS), Waited::Look);
                returns += 1;
            }
            returns
        });
        until_waiting(word, 1);
        for _ in 0..1_000 {
            wake(other, u32::MAX);
            assert_eq!(waiting(word), 1);
        }
        // ORDERING: Release pairs with the Acquire load in the waiting thread's loop.
        word.store(1, Ordering::Release);
        wake(word, 1);
        assert_eq!(thread.join().unwrap(), 1);
    }

    #[test]
    fn another_value_is_not_waited_on() {
        let word = neighbours(1)[0];
        assert_eq!(wait(word, 1, None), Waited::Look);
        assert_eq!(waiting(word), 0);
    }

    /// Claim: Without a futex, a waiter that timed out is in no list.
    #[test]
    fn a_timed_out_waiter_leaves_nothing_behind() {
        let words = neighbours(2);
        let (word, other) = (words[0], words[1]);
        // The waiter is alone on the list; or the first, the middle or the last of three.
        for (before, behind) in [(0, 0), (0, 2), (1, 1), (2, 0)] {
            let mut others: Vec<_> = (0..before).map(|_| waiter(other)).collect();
            until_waiting(other, before);
            let thread = thread::spawn(|| wait(word, 0, Some(Duration::from_millis(50))));
            while waiting(word) == 0 && !thread.is_finished() {
                thread::yield_now();
            }
            others.extend((0..behind).map(|_| waiter(other)));
            assert_eq!(thread.join().unwrap(), Waited::TimedOut);
            until_waiting(other, others.len());
            assert_eq!(waiting(word), 0);
            wake(word, u32::MAX);
            assert_eq!(waiting(other), others.len());
            wake(other, u32::MAX);
            assert_eq!(waiting(other), 0);
            others.into_iter().for_each(|other| assert_eq!(other.join().unwrap(), Waited::Look));
        }
        for timeout in [Duration::ZERO, Duration::from_nanos(1)] {
            assert_eq!(wait(word, 0, Some(timeout)), Waited::TimedOut);
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
                assert_eq!(wait(word, 0, HANGS), Waited::Look);
                done.send(number).unwrap();
            });
            until_waiting(word, number + 1);
            thread
        });
        wake(word, 0);
        assert_eq!(waiting(word), 3);
        wake(word, 2);
        assert_eq!(waiting(word), 1);
        let mut first = [returned.recv().unwrap(), returned.recv().unwrap()];
        first.sort_unstable();
        assert_eq!(first, [0, 1]);
        assert!(returned.try_recv().is_err());
        wake(word, 2);
        assert_eq!(returned.recv(), Ok(2));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }

    /// Where a waiter needs dropping, the thread's own waiter may have been dropped by then.
    ///
    /// Claim: Without a futex, a thread can wait during the destruction of its thread-locals.
    #[test]
    fn a_thread_past_its_thread_locals_can_wait() {
        struct AtTheEnd(&'static AtomicU32);
        impl Drop for AtTheEnd {
            fn drop(&mut self) {
                assert_eq!(wait(self.0, 0, HANGS), Waited::Look);
            }
        }
        std::thread_local! {
            static LAST: Cell<Option<AtTheEnd>> = const { Cell::new(None) };
        }
        let word = neighbours(1)[0];
        let thread = thread::spawn(|| LAST.set(Some(AtTheEnd(word))));
        until_waiting(word, 1);
        wake(word, 1);
        thread.join().unwrap();
    }

    /// Pairs of threads take turns on a word, all words in one bucket, and some of the waits time out.
    ///
    /// Notices: glibc#25847, a later waiter steals the signal of a condition variable from an earlier one.
    #[test]
    fn heavy_mixed_use_loses_nothing() {
        const TURNS: u32 = 10_000;
        let turns = |word: &'static AtomicU32, mine: u32| {
            move || {
                for turn in (mine..TURNS).step_by(2) {
                    loop {
                        // ORDERING: Acquire pairs with the Release store by which the other thread ends its turn.
                        let now = word.load(Ordering::Acquire);
                        if now == turn {
                            break;
                        }
                        let timeout =
                            if turn % 3 == 0 { Some(Duration::from_micros(u64::from(turn % 50))) } else { HANGS };
                        let waited = wait(word, now, timeout);
                        assert!(timeout != HANGS || waited == Waited::Look, "a wake-up was lost");
                    }
                    // ORDERING: Release pairs with the Acquire load by which the other thread finds its turn.
                    word.store(turn + 1, Ordering::Release);
                    wake(word, 1);
                }
            }
        };
        let words = neighbours(4);
        let threads: Vec<_> =
            words.iter().flat_map(|word| [0, 1].map(|mine| thread::spawn(turns(word, mine)))).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        for word in words {
            // ORDERING: Relaxed; the threads were joined, which orders their stores before this load.
            assert_eq!((word.load(Ordering::Relaxed), waiting(word)), (TURNS, 0));
        }
    }
}
