//! The messages that were offered to a search, and had no handler. The mailbox's thread only.

use std::collections::VecDeque;

use super::envelope::{Envelope, Rank};
use crate::foreign::Panics;

/// The largest number of urgent messages received in a row while an ordinary one with a handler waits.
pub const URGENT_TURN: u32 = if cfg!(ysuite_loom) { 2 } else { 32 };

/// Room for this number of messages that were set aside is kept.
const KEPT_ROOM: usize = 64;

// GROWS: messages that were set aside; bound: memory; each goes when it is received, and room that three quarters of are
//     empty; cost: each search begins at the first; test: tests/suite/mailbox/bounds.rs:
//     what_is_set_aside_leaves_room_for_what_is_asked_for, tests/allocation/mailboxes.rs:
//     what_was_set_aside_leaves_no_room_behind
/// Messages that were offered, and had no handler.
#[derive(Default)]
pub(super) struct Aside {
    /// By rank.
    pub(super) queues: [VecDeque<Envelope>; 2],
    /// The number of urgent messages received since the last ordinary one.
    pub(super) in_a_row: u32,
    /// The message that is being offered, if it is new. Here, and not in the search, so that it survives a guard's
    /// panic.
    pub(super) current: Option<(Envelope, Rank)>,
}

// USER CODE: `Drop` of messages that were set aside; each is out of its queue; re-entrance: may send anywhere; panic:
//     the others are dropped; test: tests/suite/mailbox/relations.rs:
//     many_messages_that_panic_at_an_end_are_one_panic_and_no_loss
impl Drop for Aside {
    // MUTANT: The message is dropped at the end of the function anyway. Killed only by
    // `many_messages_that_panic_at_an_end_are_one_panic_and_no_loss`.
    /// Drops every message, even if some panic.
    fn drop(&mut self) {
        let mut panics = Panics::none();
        let current = self.current.take();
        panics.catch(|| drop(current));
        for envelope in self.queues.iter_mut().flat_map(|queue| queue.drain(..)) {
            panics.catch(|| drop(envelope));
        }
    }
}

impl Aside {
    pub(super) fn push(&mut self, envelope: Envelope, rank: Rank) {
        // A message that was offered to a guard that has panicked comes first.
        if let Some((before, rank)) = self.current.take() {
            self.queues[rank as usize].push_back(before);
        }
        self.queues[rank as usize].push_back(envelope);
    }

    /// Takes out the message at that index, which has been offered. Most of the room that is no longer needed is given
    /// back: at most once for as many messages as it was for.
    pub(super) fn remove(&mut self, rank: Rank, at: usize) -> Envelope {
        let queue = &mut self.queues[rank as usize];
        let envelope = queue.remove(at).expect("a message has been offered");
        if queue.capacity() > KEPT_ROOM && queue.len() < queue.capacity() / 4 {
            queue.shrink_to((2 * queue.len()).max(KEPT_ROOM));
        }
        envelope
    }

    // MUTANT: Killed only by `urgent_messages_cannot_keep_an_ordinary_one_waiting`.
    /// A message has found its handler.
    #[inline(always)]
    pub(super) fn received(&mut self, rank: Rank) {
        self.in_a_row = if rank == Rank::Urgent { self.in_a_row.saturating_add(1) } else { 0 };
    }

    // MUTANT: Speed only: the stages reach the new messages anyway, urgent ones first. Killed only by
    // `urgent_messages_cannot_keep_an_ordinary_one_waiting`.
    /// Whether the next receive begins with new messages, urgent ones first.
    #[inline(always)]
    pub(super) fn is_clear(&self) -> bool {
        self.len() == 0 && self.in_a_row < URGENT_TURN
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        // MUTANT: Killed only by `a_guard_that_panics_leaves_the_message`.
        self.queues[0].len() + self.queues[1].len() + usize::from(self.current.is_some())
    }
}
