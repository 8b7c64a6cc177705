//! Waiting of a handle that one thread uses at a time: as a thread with a deadline, as a task, and attached to a set.

use core::task::{Context, Poll};

use super::backoff::Backoff;
use super::target::{FUTEX, SIGNAL, TASK, WakeTarget};
use crate::block::{self, Waiting, arm_and_look};
use crate::foreign::Panics;
use crate::os::{Deadline, Waited, sleep_on};
use crate::passive::Passive;
use crate::signal::{AttachError, Registration, SETS};
use crate::statistics::COUNTING;
use crate::sync::window;

/// A handle of a channel that can wait for a message, for room, or for a disconnect.
pub(crate) trait WaitingEnd {
    /// Whether there may be more such handles than CPUs, all waiting for the same other handle: then a thread yields
    /// its CPU a few times before it sleeps.
    const CROWDED: bool = false;
    /// Whether waiting is over. Never blocks; may step forward in the queue.
    fn is_ready(&mut self) -> bool;
    /// The word that says how this handle sleeps.
    fn passive(&self) -> &Passive;
    /// How this handle can be woken.
    fn target(&self) -> &WakeTarget;
    /// Announces that this handle is about to sleep, in the ways that `tokens` names. The caller must poll once more
    /// before it sleeps.
    fn arm(&mut self, tokens: u32) {
        self.passive().arm(tokens);
    }
    /// Whether this handle has nothing to poll: every publication will wake it. A handle of one queue has only its own
    /// word. A handle of many queues may find something to poll at any time.
    fn is_all_armed(&self) -> bool {
        true
    }
    /// This handle is about to be attached to a set, so it needs a target of its own. False: there is no free target.
    fn prepare(&mut self) -> bool {
        true
    }
    /// After [`arm`](Self::arm): arms what this handle would have to poll. True: it found a message there, or the end
    /// of a queue, and the caller must poll once more.
    fn arm_all(&mut self) -> bool {
        false
    }
}

/// The set that a handle is attached to.
pub(crate) fn registration(end: &impl WaitingEnd) -> Option<&Registration> {
    // SAFETY: the handle is borrowed by its own thread, so `attach` and `detach`, which need `&mut`, do not run
    // meanwhile.
    unsafe { end.target().registration() }
}

/// A handle that is about to sleep, in the ways that `tokens` names.
struct SleepingEnd<'a, E> {
    end: &'a mut E,
    tokens: u32,
}

impl<'a, E: WaitingEnd> SleepingEnd<'a, E> {
    /// An attached handle is woken through its set as well: its id is up whenever there may be a message, however the
    /// wait ends.
    fn new(end: &'a mut E, way: u32) -> Self {
        // MUTANT: An id that is up is raised once more at worst.
        let tokens = if registration(end).is_some() { way | SIGNAL } else { way };
        Self { end, tokens }
    }
}

impl<E: WaitingEnd> Waiting for SleepingEnd<'_, E> {
    type News = ();

    #[inline]
    fn look(&mut self) -> Option<()> {
        self.end.is_ready().then_some(())
    }

    fn arm(&mut self) -> bool {
        // MUTANT: An attached handle always arms with this wake mode; one without a set leaves no share.
        if self.tokens & SIGNAL != 0 {
            // SAFETY: the handle is borrowed by its own thread, which neither attaches nor detaches it meanwhile.
            unsafe { self.end.target().deposit() };
        }
        self.end.arm(self.tokens);
        true
    }

    // MUTANT: Killed only by `who_finds_something_as_it_arms_further_looks_once_more`.
    fn arm_further(&mut self) -> bool {
        // A sender that raises a lane after the last poll finds the handle's own word armed, or has found it so
        // already.
        let found = self.end.arm_all();
        debug_assert!(found || self.end.is_all_armed(), "a handle sleeps with something left to poll");
        found
    }

    fn disarm(&mut self) {
        // MUTANT: Killed only by `a_task_that_finds_something_is_not_woken_for_the_next`.
        self.end.passive().disarm(self.tokens);
        // No sender needs to wake this handle any more, but an attached handle's id must be up.
        if let Some(registration) = registration(self.end) {
            registration.raise();
        }
    }

    fn sleeps(&self) {
        self.end.target().meter().sleeps();
    }
}

// MUTANT: In a race: the notification arrives at the deadline, and the next check finds the message. Killed only by
// `who_is_never_to_sleep_or_has_no_time_does_not_arm` and `a_spurious_futex_wake_is_harmless`.
/// Sleeps on an armed word until its token is taken (true) or the deadline has passed (false).
fn sleep(passive: &Passive, deadline: Deadline) -> bool {
    loop {
        // The publisher may have changed FENCED as well as the token, so the value to sleep on is the current word.
        let word = passive.look();
        if word & FUTEX == 0 {
            return true;
        }
        window();
        if sleep_on(&passive.word, word, deadline) == Waited::TimedOut && passive.look() & FUTEX != 0 {
            // An attached handle stays armed for its set.
            passive.disarm(FUTEX);
            return false;
        }
    }
}

/// Wakes the thread that sleeps on this word, if one does, without a publication. Any thread. The caller has passed a
/// fence after the store that the sleeper is to see. Other ways in which the handle waits stay armed.
#[cfg(feature = "in-place")]
pub(crate) fn interrupt(passive: &Passive) {
    if passive.disarm(FUTEX) != 0 {
        crate::os::wake(&passive.word, 1);
    }
}

// WAITS: for readiness; ends: the publisher takes the wake mode, or the deadline; spin: `None` parks at once,
//     `Adaptive` polls first, `Forever` never parks, but checks the deadline; before it parks, all that it would have
//     to poll is armed, also what the poll after the arming has found; test: tests/loom/slow_sender.rs:
//     a_slow_sender_against_a_thread_that_sleeps_twice
// MUTANT: Speed only: yields before a park. Some mutants change a statistics count only. Killed only by
// `who_is_never_to_sleep_or_has_no_time_does_not_arm`.
/// Blocks the thread until the handle is ready (true) or the deadline has passed (false).
#[cold]
#[inline(never)]
pub(crate) fn block<E: WaitingEnd>(end: &mut E, backoff: &mut Backoff, deadline: Deadline) -> bool {
    if COUNTING && !end.is_ready() {
        end.target().meter().waits();
    }
    if backoff.spin(deadline, || end.is_ready()) || E::CROWDED && backoff.yield_now(deadline, || end.is_ready()) {
        return true;
    }
    // To arm for no time at all would cost both sides: a barrier here, and a wake-up there.
    if deadline.is_over() {
        return end.is_ready();
    }
    block::block(&mut SleepingEnd::new(end, FUTEX), |sleeping| {
        let passive = sleeping.end.passive();
        backoff.time(|| sleep(passive, deadline))
    })
    .is_some()
}

// WAITS: a task; ends: its waker; it does not spin, and arms as `block` does; test: tests/loom/slow_sender.rs:
//     a_slow_sender_against_a_task_that_sleeps_twice
/// Registers the task to be woken once the handle is ready, unless it is ready already.
pub(crate) fn poll(end: &mut impl WaitingEnd, context: &mut Context<'_>) -> Poll<()> {
    if end.is_ready() {
        // MUTANT: Speed only: a wake mode that is not there is taken out. With the token of an earlier poll the next
        // message would wake the task for nothing.
        if end.passive().look() & TASK != 0 {
            end.passive().disarm(TASK);
        }
        return Poll::Ready(());
    }
    end.target().meter().waits();
    end.target().task.register(context.waker());
    match arm_and_look(&mut SleepingEnd::new(end, TASK)) {
        Some(()) => Poll::Ready(()),
        None => Poll::Pending,
    }
}

// USER CODE: `Drop` of the waker of a future, by `Drop` of `TaskWait`; its wake mode is taken back, the slot is empty;
//     re-entrance: may use the other handles; panic: propagates out of the future's drop; the handle can still be used;
//     test: tests/suite/conformance/channel/batches.rs: a_waker_that_panics_when_it_is_dropped_loses_no_end
/// Ends the wait of the registered task. Its waker is dropped last: it is user code, which may panic.
pub(crate) fn forget(end: &mut impl WaitingEnd) {
    // MUTANT: Speed only: a wake mode that is not there is taken out.
    if end.passive().look() & TASK != 0 {
        end.passive().disarm(TASK);
    }
    drop(end.target().task.take());
}

/// The wait of a task for a handle of `owner`. However the wait ends, the task's waker is dropped then.
pub(crate) struct TaskWait<'a, O> {
    pub(crate) owner: &'a mut O,
    /// Calls [`forget`] for the handle.
    pub(crate) forget: fn(&mut O),
}

impl<O> Drop for TaskWait<'_, O> {
    fn drop(&mut self) {
        Panics::in_drop(|| (self.forget)(self.owner));
    }
}

// WAITS: an attached handle; ends: its id is raised; it does not spin; one that is armed already and has nothing to
//     poll pays a load or two; test: tests/loom/slow_sender.rs:
//     a_slow_sender_against_an_attached_receiver_that_rests_twice
// MUTANT: An id that is down is armed, except while another thread is about to raise it.
/// For an attached handle that finds nothing: takes its id down, arms, and polls once more. True: a message has come
/// meanwhile. For a handle that is not attached this does nothing.
pub(crate) fn rest(end: &mut impl WaitingEnd) -> bool {
    if !SETS {
        return false;
    }
    let Some(registration) = registration(end) else { return false };
    // The handle is armed already, with nothing left to poll.
    if !registration.is_up() && end.passive().look() & SIGNAL != 0 && end.is_all_armed() {
        return false;
    }
    // Down before the arming: a sender that publishes after the arming raises the id again.
    registration.lower();
    window();
    arm_and_look(&mut SleepingEnd { end, tokens: SIGNAL }).is_some()
}

/// Attaches a handle to the set that a registration is for.
pub(crate) fn attach(end: &mut impl WaitingEnd, registration: Registration) -> Result<(), AttachError> {
    if !end.prepare() {
        return Err(AttachError::IdTaken { id: registration.id() });
    }
    if self::registration(end).is_some() {
        return Err(AttachError::AlreadyAttached);
    }
    if !SETS {
        return Ok(());
    }
    // There may be messages already, for which no sender will notify: a spurious signal is harmless, a missed one is
    // not.
    registration.raise();
    // SAFETY: this is the handle's own thread, which uses no registration meanwhile.
    unsafe { end.target().set_registration(registration) };
    Ok(())
}

/// Takes a handle out of its set. True: it was in one.
pub(crate) fn detach(end: &mut impl WaitingEnd) -> bool {
    // MUTANT: A leftover wake mode finds no share and raises nothing.
    end.passive().disarm(SIGNAL);
    // SAFETY: the handle is borrowed mutably by its own thread, so no registration of it is in use.
    unsafe { end.target().detach() }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use std::sync::Arc;

    use super::super::backoff::Spin;
    use super::*;
    use crate::tests::Woken;

    /// A handle that is ready after a number of polls in vain, and never sleeps as a thread.
    struct End {
        in_vain: u32,
        /// Something is found as it arms what it would have to poll, once.
        finds: bool,
        word: Passive,
        target: WakeTarget,
    }

    impl End {
        fn new(in_vain: u32) -> Self {
            Self { in_vain, finds: false, word: Passive::new(), target: WakeTarget::default() }
        }
    }

    impl WaitingEnd for End {
        fn is_ready(&mut self) -> bool {
            assert_eq!(self.word.look() & FUTEX, 0, "it is about to sleep");
            let is_ready = self.in_vain == 0;
            self.in_vain = self.in_vain.saturating_sub(1);
            is_ready
        }

        fn passive(&self) -> &Passive {
            &self.word
        }

        fn target(&self) -> &WakeTarget {
            &self.target
        }

        fn arm_all(&mut self) -> bool {
            core::mem::take(&mut self.finds)
        }
    }

    /// At its first poll, at the one after the arming, and when it is polled again.
    #[test]
    fn a_task_that_finds_something_is_not_woken_for_the_next() {
        for (in_vain, polls) in [(0, 1), (1, 1), (2, 2)] {
            let (mut end, task) = (End::new(in_vain), Arc::new(Woken::default()));
            let waker = task.clone().into();
            for at in 1..=polls {
                assert_eq!(poll(&mut end, &mut Context::from_waker(&waker)).is_ready(), at == polls);
            }
            end.target.wake(&end.word, end.word.published());
            assert_eq!(task.times(), 0, "{in_vain} polls in vain");
        }
    }

    #[test]
    fn who_finds_something_as_it_arms_further_looks_once_more() {
        let mut end = End { finds: true, ..End::new(2) };
        assert!(poll(&mut end, &mut Context::from_waker(core::task::Waker::noop())).is_ready());
    }

    #[test]
    fn who_is_never_to_sleep_or_has_no_time_does_not_arm() {
        let mut backoff = Backoff::new();
        backoff.spin = Spin::Forever;
        assert!(block(&mut End::new(1_000), &mut backoff, Deadline::Never));
        for spin in [Spin::None, Spin::Adaptive, Spin::Forever] {
            backoff.spin = spin;
            assert!(!block(&mut End::new(1_000), &mut backoff, Deadline::Passed));
        }
    }

    #[test]
    fn a_task_that_waits_no_longer_is_not_armed() {
        let mut end = End::new(2);
        assert!(poll(&mut end, &mut Context::from_waker(core::task::Waker::noop())).is_pending());
        forget(&mut end);
        assert_eq!(end.word.published(), 0);
    }
}
