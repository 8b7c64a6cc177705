//! What the sink of a broadcast sender needs. One task at a time for each sender.
//!
//! As in an mpmc channel, another sender may take the room between the two steps of a sink. So the first step waits for
//! no room. A message that finds no room is kept until there is some, and the next message waits for that. The sink has
//! the slot of its task, so a sender that is no sink pays nothing for it. Lock-free.

use core::task::{Context, Poll, ready};

use super::{SendError, Sender};
use crate::channel::coop::poll_within_budget;
use crate::channel::rendezvous;
use crate::channel::sink::{Fed, Feed, alive};
use crate::foreign::{Foreign, Lent, Panics};
use crate::queue::exchange::Rejected;

impl<T> Sender<T> {
    // USER CODE: wakers of receivers, `Clone` of the sink's waker, `Drop` of the message that a sent one displaces; a
    //     message is in the channel or with the sink; re-entrance: any operation; panic: the message is where it was, or
    //     sent; by construction: only the push takes it out
    /// Ready when what was fed is in the channel.
    fn poll_fed(&self, fed: &mut Fed<T>, context: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
        if fed.held.is_none() {
            return Poll::Ready(Ok(()));
        }
        let Fed { held, subscriptions, .. } = fed;
        let subscriptions = subscriptions.get_or_insert_default();
        let outcome = ready!(rendezvous::poll(self.shared.speaker(), subscriptions, false, context, &mut || {
            // User code comes after the message has left: where that panics, it counts as sent.
            let mut place = Foreign::new(held.take());
            match self.shared.push(&mut place) {
                Ok(()) => Some(Ok(())),
                Err(Rejected::Closed(())) => Some(Err(SendError(()))),
                Err(Rejected::Full(())) => {
                    place.move_over(held);
                    None
                }
            }
        }));
        self.forget(fed);
        Poll::Ready(outcome)
    }

    /// The sink waits for room no longer.
    fn forget(&self, fed: &mut Fed<T>) {
        if let Some(mut subscriptions) = fed.subscriptions.take() {
            subscriptions.unregister(self.shared.speaker());
        }
    }
}

impl<T> Feed for Sender<T> {
    type Message = T;

    fn poll_room(&mut self, fed: &mut Fed<T>, context: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
        poll_within_budget(context, |context| {
            ready!(self.poll_fed(fed, context))?;
            Poll::Ready(alive(self.is_disconnected()))
        })
    }

    fn feed(&mut self, fed: &mut Fed<T>, message: T) -> Result<(), SendError<()>> {
        fed.push_or_keep(message, |place| Ok(self.shared.push(place)?))
    }

    fn poll_shown(&mut self, fed: &mut Fed<T>, context: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
        self.poll_fed(fed, context)
    }

    /// Nothing: the channel is not this sender's alone.
    fn finish(&mut self) {}

    fn give_up(&mut self, fed: &mut Fed<T>) {
        let held = fed.held.take();
        let mut panics = Panics::none();
        panics.catch(|| self.forget(fed));
        panics.catch(|| drop(held));
    }
}
