//! The lanes of a thread: for each mailbox to which it sends, one for ordinary messages and one for urgent ones. The
//! calling thread only; finding a lane is wait-free, a new one allocates. [`LaneTable`] describes when a lane ends.
//!
//! Cannot: keep the order of messages that are sent while the thread's thread-locals are being destroyed. Each of them
//! has its own lane.

use core::cell::{Cell, RefCell};

use super::envelope::{Envelope, Rank};
use super::error::SendError;
use super::inner::MailboxInner;
use crate::channel::mpsc::Sender;
use crate::channel::{GivenUp, LaneTable, ThreadLane, end_lanes};
use crate::foreign::Panics;
use crate::sync::thread_local;

struct OutboxLane {
    id: u64,
    ordinary: RefCell<Option<Sender<Envelope>>>,
    urgent: RefCell<Option<Sender<Envelope>>>,
    /// Whether it was used since the last sweep.
    used: Cell<bool>,
}

// THREAD EXIT: `OUTBOX`: before it is destroyed, `Address::send`, `send_priority` and `send_envelope` work as ever;
//     afterwards each message has a lane of its own, without order; test: tests/suite/mailbox/thread_locals.rs:
//     sending_to_others_at_the_end_of_a_thread
// THREAD EXIT: so does a mailbox that is dropped, as it notifies its watchers; test:
//     tests/suite/mailbox/thread_locals.rs: a_mailbox_that_ends_with_its_thread_tells_its_watchers
// THREAD EXIT: its destructor drops each lane by itself; a panic is not resumed; test:
//     tests/suite/mailbox/relations.rs: a_thread_that_ends_while_its_mailbox_does_survives_what_its_messages_do
thread_local! {
    static OUTBOX: LaneTable<OutboxLane> = LaneTable::new();
}

impl ThreadLane for OutboxLane {
    fn number(&self) -> u64 {
        self.id
    }

    fn used(&self) -> &Cell<bool> {
        &self.used
    }

    fn is_idle(&self, unused: bool) -> bool {
        [&self.ordinary, &self.urgent].iter().all(|sender| match sender.try_borrow().as_deref() {
            Ok(Some(sender)) => sender.is_disconnected() || unused && sender.is_empty(),
            Ok(None) => true,
            Err(_) => false,
        })
    }
}

impl OutboxLane {
    fn new(id: u64) -> Self {
        Self { id, ordinary: RefCell::new(None), urgent: RefCell::new(None), used: Cell::new(true) }
    }

    // USER CODE: `Drop` of messages that the sender disposes of, as its mailbox has ended; the lane is borrowed;
    //     re-entrance: a send to the same mailbox finds the lane borrowed, and gets the message back as `Ended`, which
    //     is true; panic: propagates; test: tests/suite/mailbox.rs:
    //     a_message_that_sends_when_it_is_dropped_with_its_mailbox
    #[inline(always)]
    fn send(&self, inner: &MailboxInner, rank: Rank, envelope: Envelope) -> Result<(), SendError<Envelope>> {
        let lane = if rank == Rank::Ordinary { &self.ordinary } else { &self.urgent };
        let Ok(mut sender) = lane.try_borrow_mut() else {
            // The mailbox has ended: the lane is dropping its messages, and the `Drop` of one of them sends.
            return ended(inner, envelope);
        };
        if sender.is_none() {
            *sender = connect(inner, rank);
        }
        let Some(sender) = &mut *sender else { return Err(SendError::Full(envelope)) };
        match sender.send(envelope) {
            Ok(()) => Ok(()),
            Err(error) => ended(inner, error.0),
        }
    }
}

// USER CODE: `Drop` of the messages left in the lane of a mailbox that has ended, by `forget` of
//     `channel/lane_table.rs`; the lane is out of the table, the refused message is in the error; re-entrance: it may
//     send: a new lane is made, and refused; panic: propagates; the refused message is dropped; test:
//     tests/suite/mailbox/random.rs: random_operations_do_what_the_model_does
/// The lane's mailbox has ended: the thread forgets the lane, which its sender still holds. Out of line, so that a
/// successful send does not move the envelope.
#[cold]
#[inline(never)]
fn ended(inner: &MailboxInner, envelope: Envelope) -> Result<(), SendError<Envelope>> {
    let _ = OUTBOX.try_with(|outbox| outbox.forget(inner.id));
    Err(SendError::Ended(envelope))
}

/// `None`: all lanes of the mailbox are in use.
#[cold]
fn connect(inner: &MailboxInner, rank: Rank) -> Option<Sender<Envelope>> {
    match rank {
        Rank::Ordinary => inner.sender.ordinary().ok(),
        Rank::Urgent => inner.sender.urgent().ok(),
    }
}

/// Sends by a lane of the calling thread. Never blocks.
#[inline(always)]
pub(super) fn send(inner: &MailboxInner, rank: Rank, envelope: Envelope) -> Result<(), SendError<Envelope>> {
    match OUTBOX.try_with(|outbox| outbox.take_recent(inner.id)) {
        Ok(Some(lane)) => {
            // Not put back after an error: the lane may have been forgotten. Matched, so that no result is copied.
            match lane.send(inner, rank, envelope) {
                Ok(()) => {}
                Err(error) => return end_lanes(Err(error), lane, GivenUp::new()),
            }
            let _ = OUTBOX.try_with(|outbox| outbox.put_back(lane));
            Ok(())
        }
        _ => send_by_other_lane(inner, rank, envelope),
    }
}

/// Sends by a lane other than the recent one.
#[cold]
#[inline(never)]
fn send_by_other_lane(inner: &MailboxInner, rank: Rank, envelope: Envelope) -> Result<(), SendError<Envelope>> {
    let Ok((lane, given_up)) = OUTBOX.try_with(|outbox| outbox.find(inner.id, || OutboxLane::new(inner.id))) else {
        let lane = OutboxLane::new(inner.id);
        let sent = lane.send(inner, rank, envelope);
        return Panics::answer_behind(sent, || drop(lane));
    };
    let sent = lane.send(inner, rank, envelope);
    end_lanes(sent, lane, given_up)
}
