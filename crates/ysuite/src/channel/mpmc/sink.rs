//! What the sink of an mpmc sender needs. One task at a time for each sender.
//!
//! Another sender may take the room between the two steps of a sink. So the first step waits for no room. A message
//! that finds no room is kept until there is some, and the next message waits for that. Lock-free.

use core::task::{Context, Poll, ready};

use super::handle::MpmcHandle;
use super::{SendError, Sender};
use crate::channel::coop::poll_within_budget;
use crate::channel::rendezvous;
use crate::channel::sink::{Fed, Feed, alive};
use crate::foreign::Panics;
use crate::queue::exchange::Rejected;

impl<T> Sender<T> {
    // USER CODE: wakers of receivers, `Clone` of the sink's waker; a message is in the channel or with the sink;
    //     re-entrance: any operation; panic: the message is where it was, or sent; by construction: only the offer
    //     takes it out
    /// Ready when what was fed is in the channel.
    fn poll_fed(&mut self, fed: &mut Fed<T>, context: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
        if let Some(meeting) = self.shared.flavour.meeting() {
            return fed.poll_line(meeting.side::<true>(), context);
        }
        if fed.held.is_none() {
            return Poll::Ready(Ok(()));
        }
        let (shared, subscriptions) = (&self.shared, self.subscriptions.get_or_insert_default());
        // What is held stays with the sink if user code panics, except for a message that has been sent by then.
        let outcome = rendezvous::poll(shared.writers(), subscriptions, false, context, &mut || match shared
            .offer(&mut fed.held)
        {
            Ok(()) => Some(Ok(())),
            Err(Rejected::Closed(())) => Some(Err(SendError(()))),
            Err(Rejected::Full(())) => None,
        });
        // A sink has no way to return a message that no receiver can get.
        if matches!(outcome, Poll::Ready(Err(_))) {
            drop(fed.held.take());
        }
        outcome
    }
}

impl<T> Feed for Sender<T> {
    type Message = T;

    fn poll_room(&mut self, fed: &mut Fed<T>, context: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
        poll_within_budget(context, |context| {
            ready!(self.poll_fed(fed, context))?;
            Poll::Ready(alive(self.shared.is_disconnected()))
        })
    }

    fn feed(&mut self, fed: &mut Fed<T>, message: T) -> Result<(), SendError<()>> {
        if let Some(party) = self.parts().party() {
            return fed.stand(&party, message);
        }
        fed.push_or_keep(message, |place| self.push(place))
    }

    fn poll_shown(&mut self, fed: &mut Fed<T>, context: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
        self.poll_fed(fed, context)
    }

    /// Nothing: the channel is not this sender's alone.
    fn finish(&mut self) {}

    fn give_up(&mut self, fed: &mut Fed<T>) {
        let held = fed.held.take();
        let mut panics = Panics::none();
        panics.catch(|| match self.shared.flavour.meeting() {
            // The message that comes back is dropped.
            Some(meeting) => drop(fed.leave(meeting.side::<true>())),
            // Another sender gets a notification of room that has arrived.
            None => {
                let writers = self.shared.writers();
                self.subscriptions.as_mut().into_iter().for_each(|subscriptions| subscriptions.forget_task(writers));
            }
        });
        panics.catch(|| drop(held));
    }
}
