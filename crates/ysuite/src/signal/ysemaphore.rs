//! [`YSemaphore`]: one signal, from any thread to one thread. The simplest way to sleep and be woken.
//!
//! Signalling: any thread, wait-free, one read-modify-write, and one system call if the owner sleeps. Polling: the
//! owner; blocks. Checking: the owner, wait-free.
//!
//! Cannot: count (two signals before a poll are one), nor say which thread has signalled; for that use a
//! [`YPollset`](super::YPollset) and an id for each thread. The algorithm is the article's ("lightweight mutex rather
//! than system semaphore") on a futex. Its ancestor unlocked a mutex from a thread that had not locked it; here there
//! is no mutex.

use core::fmt;
use core::time::Duration;

use super::{Signal, Signals, Wait, block_for_signals, check_range};
use crate::block::Waiting;
use crate::os::{Deadline, Waited, sleep_on, wake};
use crate::sync::{Arc, AtomicU32, CachePadded, Ordering};

/// No signal, the owner is awake: the initial state of a semaphore. Any thread may raise; the owner may go to sleep.
const EMPTY: u32 = 0;
/// Signalled. The owner may take the signal.
const RAISED: u32 = 1;
/// No signal, the owner sleeps or is about to. The thread that raises wakes it; the owner may decide not to sleep.
const ASLEEP: u32 = 2;

/// One signal (id 0) that one thread can sleep on and any thread can raise.
///
/// ```
/// use ysuite::signal::{Signal, Wait, YSemaphore};
///
/// let mut semaphore = YSemaphore::new();
/// let signaler = semaphore.signaler();
/// std::thread::spawn(move || signaler.signal(0));
/// assert_eq!(semaphore.wait().next(), Some(0));
/// assert!(semaphore.check().is_empty());
/// ```
#[derive(Default)]
pub struct YSemaphore {
    word: Arc<CachePadded<AtomicU32>>,
}

/// Raises the signal of one [`YSemaphore`], from any thread, also after the semaphore is gone (then without effect).
#[derive(Clone)]
pub struct SemaphoreSignaler {
    word: Arc<CachePadded<AtomicU32>>,
}

impl YSemaphore {
    /// Makes a semaphore with its signal down. Allocates; makes no system call.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a handle that raises the signal, for another thread. Wait-free.
    #[must_use]
    pub fn signaler(&self) -> SemaphoreSignaler {
        SemaphoreSignaler { word: Arc::clone(&self.word) }
    }

    /// Returns the number of signals: 1.
    #[must_use]
    pub fn capacity(&self) -> usize {
        1
    }

    fn take(&self) -> bool {
        // ORDERING: Relaxed: a signal that happened before this call is seen all the same, by coherence.
        if self.word.load(Ordering::Relaxed) != RAISED {
            return false;
        }
        // Only the owner takes the word out of RAISED, so it is RAISED still.
        // ORDERING: Acquire pairs with the Release of `signal`; a read-modify-write, so that of two signallers both are
        // seen.
        self.word.swap(EMPTY, Ordering::Acquire);
        true
    }

    fn poll_for(&mut self, timeout: Option<Duration>) -> Signals {
        if self.take() {
            return raised();
        }
        block_for_signals(self, timeout, |semaphore, deadline| semaphore.sleep(deadline))
    }

    /// Sleeps unless the signal is up; may return without reason. False: the deadline has passed.
    fn sleep(&self, deadline: Deadline) -> bool {
        let waited = sleep_on(&self.word, ASLEEP, deadline);
        // ORDERING: Relaxed: it fails only if the signal is up, and then the swap in `take` acquires.
        let _ = self.word.compare_exchange(ASLEEP, EMPTY, Ordering::Relaxed, Ordering::Relaxed);
        waited == Waited::Look
    }
}

/// The one signal.
fn raised() -> Signals {
    let mut signals = Signals::default();
    signals.push(0, 1);
    signals
}

impl Waiting for YSemaphore {
    type News = Signals;

    fn look(&mut self) -> Option<Signals> {
        self.take().then(raised)
    }

    fn arm(&mut self) -> bool {
        // ORDERING: Relaxed: a read-modify-write sees the newest word, so either it finds the signal, or the signaller
        // finds ASLEEP. It makes no other read valid; `take` acquires.
        self.word.compare_exchange(EMPTY, ASLEEP, Ordering::Relaxed, Ordering::Relaxed).is_err()
    }

    /// Nothing to do: a check is made only if the word was not armed.
    fn disarm(&mut self) {}
}

impl Wait for YSemaphore {
    // WAITS: for a signal or the deadline; spin: parks at once; test: tests/suite/conformance/waking.rs:
    //     time_out_racing_a_signal_loses_nothing
    fn wait(&mut self) -> Signals {
        self.poll_for(None)
    }

    fn check(&mut self) -> Signals {
        self.look().unwrap_or_default()
    }

    fn wait_timeout(&mut self, timeout: Duration) -> Signals {
        self.poll_for(Some(timeout))
    }
}

impl Signal for SemaphoreSignaler {
    fn signal(&self, id: usize) {
        check_range(id, 1);
        // ORDERING: Release pairs with the Acquire of `take`: what happened before the signal is visible to the owner
        // that finds it. A read-modify-write also where the signal is up already: a second signaller's past is handed
        // over, too. The same operation says whether the owner sleeps, so no fence is needed.
        if self.word.swap(RAISED, Ordering::Release) == ASLEEP {
            wake(&self.word, 1);
        }
    }

    fn capacity(&self) -> usize {
        1
    }
}

impl fmt::Debug for YSemaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("YSemaphore").finish_non_exhaustive()
    }
}

impl fmt::Debug for SemaphoreSignaler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SemaphoreSignaler").finish_non_exhaustive()
    }
}
