//! Ending waits from outside: a word that any thread sets. It ends the waits of the handles that know it.
//!
//! [`Stop::set`]: any thread. It takes a lock that waiting threads hold for some instructions, as they go to sleep and
//! when they are awake again. A handle can still do everything that needs no wait. A wait with a `Stop` ends as if its
//! deadline had passed; its caller calls [`Stop::is_set`] to distinguish the two.
//!
//! A thread that is about to sleep enlists the word it sleeps on, and is on the list until it is awake. So the thread
//! that sets the word finds memory that is there. The handles of an mpmc are not on the list, as they have lists of
//! their own, which exist as long as their channel: see [`Stop::with`].
//!
//! Cannot: be taken back. End tasks: their executor does that. Stop a rendezvous.

use core::ptr::NonNull;
use core::task::{Context, Poll};

use super::mpmc::operations::MpmcLimit;
use super::oneshot::Handshake;
use crate::operation::Operation;
use crate::os::Deadline;
use crate::passive::Passive;
use crate::sync::{AtomicBool, Mutex, MutexGuard, Ordering, fence};
use crate::wait::many::{SharedEnd, notify_all};
use crate::wait::one::{WaitingEnd, interrupt};
use crate::wait::{WaitList, WakeTarget};

/// Whether waiting is over for all handles of a channel, or for other waits that use this.
pub struct Stop {
    is_set: AtomicBool,
    /// Where threads sleep, or are about to.
    sleepers: Mutex<Vec<SleepingPlace>>,
    /// Wakes the threads that sleep elsewhere.
    others: Option<Box<dyn Fn() + Send + Sync>>,
}

/// Where a thread sleeps.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SleepingPlace {
    /// A handle with a word of its own.
    Word(NonNull<Passive>),
    /// A handle of a oneshot.
    Handshake(NonNull<Handshake>),
    /// One of several that wait for the same thing.
    List(NonNull<WaitList>),
}

// SAFETY: any thread may use what it points to; that is there as long as this is on a list.
unsafe impl Send for SleepingPlace {}

impl SleepingPlace {
    /// Wakes the thread, without a reason. Its next check sees what was done before.
    ///
    /// # Safety
    /// The target of this pointer exists.
    unsafe fn wake(self) {
        match self {
            // SAFETY: by the caller.
            Self::Word(word) => interrupt(unsafe { word.as_ref() }),
            // SAFETY: by the caller.
            Self::Handshake(handshake) => unsafe { handshake.as_ref() }.interrupt(),
            // SAFETY: by the caller.
            Self::List(list) => notify_all(unsafe { list.as_ref() }),
        }
    }
}

impl Default for Stop {
    fn default() -> Self {
        Self::with(None)
    }
}

impl Stop {
    /// Not set. `others` is called when it is, to wake the waits that are not enlisted.
    #[must_use]
    pub fn with(others: Option<Box<dyn Fn() + Send + Sync>>) -> Self {
        Self { is_set: AtomicBool::new(false), sleepers: Mutex::new(Vec::new()), others }
    }

    fn sleepers(&self) -> MutexGuard<'_, Vec<SleepingPlace>> {
        // The only user code that could run under the lock is a waker of a task, and no wait here has one.
        self.sleepers.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Ends all waits by this, now and from now on. Any thread. Calling it again is harmless.
    pub fn set(&self) {
        // ORDERING: Release pairs with the Acquire in `is_set`: the threads whose waits it ends see what this thread
        //     did before.
        self.is_set.store(true, Ordering::Release);
        // ORDERING: SeqCst pairs with the barrier of a thread that arms: either that thread's check finds this set, or
        //     it is found armed below. A thread that enlists later finds it set by the lock.
        fence(Ordering::SeqCst);
        for sleeper in &*self.sleepers() {
            // SAFETY: the thread that sleeps there takes it from the list, under the lock, before it releases the
            //     memory.
            unsafe { sleeper.wake() };
        }
        self.others.iter().for_each(|wake| wake());
    }

    /// Whether it is set. Any thread; a load.
    #[inline]
    pub fn is_set(&self) -> bool {
        // ORDERING: Acquire pairs with the Release in `set`.
        self.is_set.load(Ordering::Acquire)
    }

    /// The calling thread is about to sleep there, until the result is dropped.
    ///
    /// # Safety
    /// What it points to is there until the result has been dropped.
    pub(super) unsafe fn enlist(&self, sleeper: SleepingPlace) -> Enlisted<'_> {
        self.sleepers().push(sleeper);
        Enlisted { stop: self, sleeper }
    }
}

/// A thread that sleeps, or is about to.
pub(super) struct Enlisted<'a> {
    stop: &'a Stop,
    sleeper: SleepingPlace,
}

// USER CODE: none (it takes the thread off a list)
impl Drop for Enlisted<'_> {
    fn drop(&mut self) {
        let mut sleepers = self.stop.sleepers();
        // There may be several equal entries in one list: any of them may be removed.
        if let Some(at) = sleepers.iter().position(|sleeper| *sleeper == self.sleeper) {
            sleepers.swap_remove(at);
        }
    }
}

/// A handle whose wait a [`Stop`] ends: it is ready then.
pub(super) struct Stoppable<'a, E> {
    end: &'a mut E,
    stop: &'a Stop,
    /// Enlisted from before the first arming. A thread that only spins takes no lock.
    enlisted: Option<Enlisted<'a>>,
}

impl<'a, E> Stoppable<'a, E> {
    pub(super) fn new(end: &'a mut E, stop: &'a Stop) -> Self {
        Self { end, stop, enlisted: None }
    }
}

impl<E: WaitingEnd> WaitingEnd for Stoppable<'_, E> {
    const CROWDED: bool = E::CROWDED;

    fn is_ready(&mut self) -> bool {
        self.end.is_ready() || self.stop.is_set()
    }

    fn passive(&self) -> &Passive {
        self.end.passive()
    }

    fn target(&self) -> &WakeTarget {
        self.end.target()
    }

    fn arm(&mut self, tokens: u32) {
        if self.enlisted.is_none() {
            let sleeper = SleepingPlace::Word(NonNull::from(self.end.passive()));
            // SAFETY: the word belongs to the borrowed handle, whose memory outlives this.
            self.enlisted = Some(unsafe { self.stop.enlist(sleeper) });
        }
        self.end.arm(tokens);
    }

    fn is_all_armed(&self) -> bool {
        self.end.is_all_armed()
    }

    fn arm_all(&mut self) -> bool {
        self.end.arm_all()
    }
}

/// An operation whose wait ends when a [`Stop`] is set, as at its deadline. What it waits for is ready then.
pub(super) struct UntilStopped<'a, O> {
    pub(super) operation: O,
    pub(super) stop: &'a Stop,
}

impl<O: Operation> Operation for UntilStopped<'_, O> {
    type Place = O::Place;
    type Outcome = O::Outcome;

    fn attempt(&mut self, place: &mut O::Place) -> Option<O::Outcome> {
        self.operation.attempt(place)
    }

    fn block(&mut self, deadline: Deadline) -> bool {
        self.operation.block(deadline) && !self.stop.is_set()
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.operation.poll(context)
    }

    fn withdraw(&mut self, place: &mut O::Place) -> Option<O::Outcome> {
        self.operation.withdraw(place)
    }

    fn leave(&mut self) {
        self.operation.leave();
    }
}

/// The same for a handle that has a list.
pub(super) struct StoppableShared<'a, S> {
    pub(super) end: S,
    pub(super) stop: &'a Stop,
}

impl<'a> MpmcLimit for &'a Stop {
    type Side<S: SharedEnd> = StoppableShared<'a, S>;

    fn side<S: SharedEnd>(self, end: S) -> StoppableShared<'a, S> {
        StoppableShared { end, stop: self }
    }
}

impl<S: Copy> Clone for StoppableShared<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Copy> Copy for StoppableShared<'_, S> {}

impl<S: SharedEnd> SharedEnd for StoppableShared<'_, S> {
    fn list(&self) -> &WaitList {
        self.end.list()
    }

    fn is_ready(&self) -> bool {
        self.end.is_ready() || self.stop.is_set()
    }

    fn supply(&self) -> usize {
        self.end.supply()
    }

    fn rest(&self) {
        self.end.rest();
    }
}
