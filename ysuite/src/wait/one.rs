//! Look, arm, look again, sleep: written once for every end of every channel that may have to wait, and for threads,
//! deadlines, tasks and attached signalers alike.

use core::task::{Context, Poll};
use std::time::Instant;

use super::backoff::Backoff;
use super::target::{FUTEX, SIGNAL, TASK, WakeTarget};
use crate::os::{Deadline, Native, Platform, Waited};
use crate::passive::Passive;
use crate::signal::{AttachError, Registration};
use crate::sync::window;

/// An end of a channel that can wait until something is ready: a message, room, or the other end's going.
pub(crate) trait WaitingEnd {
    /// Whether there may be more such ends than CPUs, all waiting for the same other end: then they let others go first
    /// before they sleep.
    const CROWDED: bool = false;
    /// Whether waiting is over. Never blocks; may step forward in the queue.
    fn is_ready(&mut self) -> bool;
    /// Where this end says that it sleeps.
    fn passive(&self) -> &Passive;
    /// How it can be woken.
    fn target(&self) -> &WakeTarget;
    /// Says that this end is about to sleep, in ways that `tokens` name. It must be looked at once more before it does.
    fn arm(&mut self, tokens: u32) {
        self.passive().arm(tokens);
    }
    /// Whether nothing has to be polled: whatever comes will call this end. An end of one queue has its own word alone;
    /// one of many queues gets something to poll whenever it looks.
    fn is_settled(&self) -> bool {
        true
    }
    /// Behind [`arm`](Self::arm): has what it would have to poll call it instead. It must be looked at once more where
    /// something was found there.
    fn settle(&mut self) -> Settled {
        Settled::Quietly
    }
}

/// What an end has found in arming what it polls.
#[derive(PartialEq)]
pub(crate) enum Settled {
    /// Nothing: whatever comes from now on will call.
    Quietly,
    /// A message, or the end of a queue.
    WithNews,
}

/// The set that a side is attached to.
pub(crate) fn registration(side: &impl WaitingEnd) -> Option<&Registration> {
    // SAFETY: this is the side's own end at work; it attaches and detaches below only, and not meanwhile.
    unsafe { side.target().registration() }
}

/// The tokens beside `way` that this side leaves when it sleeps: an attached one target its set as well, so that its id
/// is up whenever something may be there, however the wait ends.
fn tokens(side: &impl WaitingEnd, way: u32) -> u32 {
    if registration(side).is_some() { way | SIGNAL } else { way }
}

/// Arms a side in ways that `tokens` name, and looks once more. True: it is ready. False: it may sleep, and whatever
/// comes will ring.
///
/// A look may find no message and yet something new to poll: a lane that a slow sender has raised for a message that is
/// consumed already, before anybody was armed to be called. The call is over, and that sender will not call for its next
/// message. So nobody sleeps before what the last look has brought is armed as well.
fn arm(side: &mut impl WaitingEnd, tokens: u32) -> bool {
    if tokens & SIGNAL != 0 {
        // SAFETY: as in `registration`.
        unsafe { side.target().deposit() };
    }
    side.arm(tokens);
    loop {
        window();
        if side.is_ready() {
            found(side, tokens);
            return true;
        }
        // Whoever raises something behind that look finds this side's own word armed, or has found it so.
        if side.settle() == Settled::Quietly {
            debug_assert!(side.is_settled(), "an end sleeps beside what it would have to poll");
            return false;
        }
    }
}

/// Something was found behind the arming: nobody needs to ring, but an attached side's id must be up.
fn found(side: &impl WaitingEnd, tokens: u32) {
    side.passive().disarm(tokens);
    if let Some(registration) = registration(side) {
        registration.raise();
    }
}

/// Blocks the thread until the side is ready (true) or the deadline has passed (false).
#[cold]
#[inline(never)]
pub(crate) fn block<S: WaitingEnd>(side: &mut S, backoff: &mut Backoff, deadline: Deadline) -> bool {
    if backoff.look(deadline, || side.is_ready()) {
        return true;
    }
    if S::CROWDED && backoff.yield_now(deadline, || side.is_ready()) {
        return true;
    }
    let tokens = tokens(side, FUTEX);
    loop {
        if arm(side, tokens) {
            return true;
        }
        let start = backoff.is_curious().then(Instant::now);
        let woken = sleep(side.passive(), deadline);
        // One that ends because its time is up says nothing of how long they take.
        if let (true, Some(start)) = (woken, start) {
            backoff.slept(start.elapsed());
        }
        if !woken {
            // An attached side stays armed for its set.
            side.passive().disarm(FUTEX);
            return side.is_ready();
        }
        if side.is_ready() {
            return true;
        }
        // Woken by a ring for an earlier sleep: that is harmless, and seldom.
    }
}

/// Sleeps on an armed word until its token is taken (true) or the deadline has passed (false).
fn sleep(passive: &Passive, deadline: Deadline) -> bool {
    loop {
        // The publisher may have changed its promise beside our token: what is slept on is the word as it stands.
        let word = passive.look();
        if word & FUTEX == 0 {
            return true;
        }
        window();
        let left = deadline.left();
        if left.is_some_and(|left| left.is_zero()) || Native::wait(passive.word(), word, left) == Waited::TimedOut {
            return passive.look() & FUTEX == 0;
        }
    }
}

/// Registers the task to be woken once the side is ready, unless it is ready already.
pub(crate) fn poll(side: &mut impl WaitingEnd, context: &mut Context<'_>) -> Poll<()> {
    if side.is_ready() {
        // A token left by an earlier poll would have the next message wake us for nothing.
        if side.passive().look() & TASK != 0 {
            side.passive().disarm(TASK);
        }
        return Poll::Ready(());
    }
    side.target().set_waker(context.waker());
    let tokens = tokens(side, TASK);
    if arm(side, tokens) { Poll::Ready(()) } else { Poll::Pending }
}

/// The task that was registered waits no longer: it need not be woken, and its waker is dropped, last of all.
pub(crate) fn forget(side: &mut impl WaitingEnd) {
    if side.passive().look() & TASK != 0 {
        side.passive().disarm(TASK);
    }
    drop(side.target().forget());
}

/// What an attached side does when it finds nothing: takes its id down, arms, and looks once more. True: something has
/// come meanwhile. An unattached side does nothing here, and pays nothing.
pub(crate) fn rest(side: &mut impl WaitingEnd) -> bool {
    match registration(side) {
        None => return false,
        // At rest already, with nothing to poll beside its word.
        Some(registration) if !registration.is_up() && side.passive().look() & SIGNAL != 0 && side.is_settled() => {
            return false;
        }
        // Down first: whoever publishes after the arming will raise it again.
        Some(registration) => registration.lower(),
    }
    window();
    arm(side, SIGNAL)
}

/// Attaches a side to the set that a registration is for.
pub(crate) fn attach(side: &mut impl WaitingEnd, registration: Registration) -> Result<(), AttachError> {
    // SAFETY: the side's own end, and nothing else of it is under way.
    unsafe { side.target().set_registration(registration) }.map_err(|_| AttachError::AlreadyAttached)?;
    // There may be something already, and no token is armed that a sender would take.
    self::registration(side).inspect(|registration| registration.raise());
    Ok(())
}

/// Takes a side out of its set. True: it was in one.
pub(crate) fn detach(side: &mut impl WaitingEnd) -> bool {
    side.passive().disarm(SIGNAL);
    // SAFETY: as in `attach`.
    unsafe { side.target().detach() }
}
