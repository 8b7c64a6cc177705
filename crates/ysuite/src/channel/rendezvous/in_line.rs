//! A message that is registered in line by itself, while its sender returns to it by polls: what a sink was fed. One
//! task at a time.
//!
//! Cannot: leave the line by being dropped. It is out of line after [`end`](InLine::end) was called; until then a
//! receiver may take the message.

use core::marker::PhantomData;
use core::task::{Context, Poll};

use super::meeting::MeetingSide;
use super::node::LentPlace;
use super::party::{AnyParty, Party};
use super::ticket::Ticket;
use super::wait::LineSlot;
use crate::channel::error::SendError;
use crate::foreign::{Foreign, Panics};
use crate::sync::{Arc, MessagesOf};

/// A slot in line, with a message.
pub(in crate::channel) struct InLine<T> {
    slot: LineSlot,
    of: MessagesOf<T>,
}

impl<T> InLine<T> {
    /// Hands a message to a receiver that waits (`None`), or registers it in line. An error where the rendezvous is
    /// closed.
    pub(in crate::channel) fn begin(party: &Party<'_, T, true>, message: T) -> Result<Option<Self>, SendError<()>> {
        let mut place = Foreign::some(message);
        let slot = begin(party.any(), &mut party.place(&mut place))?;
        Ok(slot.map(|slot| Self { slot, of: PhantomData }))
    }

    /// Ready once the message has changed hands, or the rendezvous is closed.
    pub(in crate::channel) fn poll(&self, side: MeetingSide<'_>, context: &mut Context<'_>) -> Poll<()> {
        self.slot.poll(side, context)
    }

    // USER CODE: `Drop` of the waker of a sink's task; the registration has left its line; re-entrance: any operation;
    //     panic: propagates; test: tests/suite/integrations/futures.rs:
    //     a_sink_that_goes_takes_what_waits_with_it_and_hands_its_turn_on
    /// Leaves the line. An error where the message has not changed hands: it is dropped.
    pub(in crate::channel) fn end(self, side: MeetingSide<'_>) -> Result<(), SendError<()>> {
        self.slot.end_in_place(side)
    }
}

/// As [`InLine::begin`], of any type of messages.
fn begin(party: AnyParty<'_>, place: &mut LentPlace<'_>) -> Result<Option<LineSlot>, SendError<()>> {
    if let Some(exchanged) = party.exchange(place) {
        return Ok(exchanged.map(|()| None)?);
    }
    // This endpoint does not wait for a notification of a receiver: one that it has got is passed on, to user code.
    Panics::in_drop(|| drop(party.disarm()));
    Ok(LineSlot::join(party.side(), &Arc::new(Ticket::for_task()), 0, place, true)?)
}
