//! The claim: the decision word of one wait, which may be registered in several lines. It is taken once, or closed by
//! its owner.
//!
//! `claim`, `wake`: any thread, under the lock of a rendezvous and after it. The rest: the owner. All wait-free, except
//! for the sleep. An owner that is at work has its claim closed, so no other endpoint takes it while it searches
//! itself.

use core::task::{Context, Poll, Waker};

use crate::os::{Deadline, Waited, sleep_on, wake};
use crate::signal::TaskSlot;
use crate::sync::{AtomicU32, Ordering};

/// The owner is at work, or has been dropped.
const CLOSED: u32 = 0;
/// The owner waits.
const OPEN: u32 = 1;
/// An endpoint of the other side has taken the claim: the message has changed hands.
const MET: u32 = 2;
/// The other side is disconnected.
const OVER: u32 = 3;
/// The states, in the lowest bits. Above them is the number of the case by which the claim was taken.
const STATES: u32 = 3;
const CASE: u32 = 4;

/// How a claim was taken, and by which of its owner's cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::channel) enum Met {
    /// The message has changed hands.
    Peer(u32),
    /// The other side is disconnected: no message has changed hands.
    Nobody(u32),
}

impl Met {
    /// The number of the case.
    pub(in crate::channel) fn case(self) -> u32 {
        match self {
            Self::Peer(case) | Self::Nobody(case) => case,
        }
    }
}

pub(in crate::channel) struct Ticket {
    /// The word that a thread sleeps on, while it is [`OPEN`].
    state: AtomicU32,
    /// Whether the owner sleeps on `state`. Otherwise it has registered its task.
    is_thread: bool,
    /// Holds a waker while a task waits, or a thread that waits for several things.
    pub(super) task: TaskSlot,
}

impl Ticket {
    /// A closed claim, for an owner that registers a task.
    pub(in crate::channel) fn for_task() -> Self {
        Self { state: AtomicU32::new(CLOSED), is_thread: false, task: TaskSlot::default() }
    }

    /// A closed claim, for a thread that sleeps here.
    pub(super) fn for_thread() -> Self {
        Self { is_thread: true, ..Self::for_task() }
    }

    /// Owner: from now on the claim may be taken. It is registered in lines already, or is not yet shared.
    pub(in crate::channel) fn open(&self) {
        // ORDERING: Relaxed; the owner locks each rendezvous afterwards, and so does each thread that may take the
        //     claim: that thread sees this if it comes later, and the owner's check sees that thread if it has come
        //     before.
        self.state.store(OPEN, Ordering::Relaxed);
    }

    /// Owner: the claim is registered in no line, and is closed: prepares it for another wait.
    pub(in crate::channel) fn reset(&self) {
        // ORDERING: Relaxed; no other thread has a node with this claim in a line.
        self.state.store(CLOSED, Ordering::Relaxed);
    }

    /// Owner: from now on the claim cannot be taken. Returns how it was taken, if it was.
    pub(in crate::channel) fn close(&self) -> Option<Met> {
        // ORDERING: Acquire on failure pairs with the Release in `claim`: what the peer has put into the node is
        //     visible. Release otherwise pairs with the fence of a select that has checked everywhere (`can_at_last`):
        //     where it has found this claim closed, it finds counted the endpoints that have registered elsewhere
        //     before.
        self.state.compare_exchange(OPEN, CLOSED, Ordering::Release, Ordering::Acquire).err().and_then(Self::decode)
    }

    /// Owner: how the claim has been taken, if it has.
    pub(in crate::channel) fn met(&self) -> Option<Met> {
        // ORDERING: Relaxed; the owner reads nothing because of it before it has called `close`, which acquires.
        Self::decode(self.state.load(Ordering::Relaxed))
    }

    fn decode(state: u32) -> Option<Met> {
        match state & STATES {
            MET => Some(Met::Peer(state / CASE)),
            OVER => Some(Met::Nobody(state / CASE)),
            _ => None,
        }
    }

    /// Whether the claim can be taken. The caller holds the lock of a rendezvous in whose line it is registered.
    pub(super) fn is_open(&self) -> bool {
        // ORDERING: Relaxed; `claim` decides. See `open` for what a check under the lock sees.
        self.state.load(Ordering::Relaxed) == OPEN
    }

    /// Takes the claim for one of its cases. False: it is closed, or another thread has taken it. The caller holds the
    /// lock of a rendezvous in whose line it is registered. It removes the node from that line, and wakes the owner
    /// after the lock.
    pub(super) fn claim(&self, met: Met) -> bool {
        let state = match met {
            Met::Peer(case) => MET + case * CASE,
            Met::Nobody(case) => OVER + case * CASE,
        };
        // ORDERING: Release hands the message in a receiver's node over to the owner, which acquires this state. The
        //     lock orders what the owner has put into its node. Relaxed on failure: nothing is read because of it.
        self.state.compare_exchange(OPEN, state, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    // USER CODE: as of `exchange` in `channel/rendezvous/party.rs`; test: tests/suite/rendezvous/foreign.rs:
    //     a_waker_that_panics_leaves_the_handover_done
    /// Wakes the owner of a claim that the caller has taken. A waker is user code: not under a lock.
    pub(super) fn wake(&self) {
        if self.is_thread { wake(&self.state, 1) } else { self.task.wake() }
    }

    // MUTANT: A waker that was registered without need is removed when the wait ends. Killed only by
    // `a_signal_ends_no_wait_in_line`.
    /// Owner, as a thread: sleeps until the claim is taken, or the deadline has passed.
    pub(super) fn sleep(&self, deadline: Deadline) -> bool {
        while self.met().is_none() {
            if sleep_on(&self.state, OPEN, deadline) == Waited::TimedOut {
                return self.met().is_some();
            }
        }
        true
    }

    /// Owner, as a task: has `waker` woken once the claim is taken. It must check afterwards.
    pub(in crate::channel) fn register(&self, waker: &Waker) {
        self.task.register(waker);
    }

    // MUTANT: A waker that was registered without need is removed when the wait ends.
    /// Registers the task to be woken once the claim is taken, unless it is already registered.
    pub(super) fn poll(&self, context: &mut Context<'_>) -> Poll<Met> {
        if self.met().is_none() {
            self.register(context.waker());
        }
        match self.met() {
            Some(met) => Poll::Ready(met),
            None => Poll::Pending,
        }
    }

    // MUTANT: Killed only by `a_waker_that_clings_to_a_place_in_line_is_no_second_panic`.
    /// Owner, as a task: stops waiting. The caller drops the waker last.
    pub(in crate::channel) fn forget(&self) -> Option<Waker> {
        self.task.take()
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::{Met, Ticket};

    #[test]
    fn a_ticket_that_is_open_is_taken_once() {
        let ticket = Ticket::for_task();
        assert!(!ticket.is_open() && !ticket.claim(Met::Peer(0)));
        for met in [Met::Peer(0), Met::Nobody(3), Met::Peer(7)] {
            ticket.open();
            assert!(ticket.is_open() && ticket.claim(met));
            assert!(!ticket.is_open() && !ticket.claim(Met::Peer(1)));
            assert_eq!((ticket.met(), ticket.close()), (Some(met), Some(met)));
            // The next wait finds nothing of it.
            ticket.reset();
            assert_eq!((ticket.met(), ticket.close()), (None, None));
        }
        ticket.open();
        assert_eq!((ticket.close(), ticket.is_open(), ticket.claim(Met::Peer(0))), (None, false, false));
    }
}
