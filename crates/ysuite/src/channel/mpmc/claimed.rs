//! A message that a receiver of an mpmc channel has claimed, wherever it is: what receives are made of that are compiled
//! into every loop.

use super::receiver::Receiver;
use crate::foreign::Panics;
use crate::queue::exchange::{ClaimedMessage, ClaimedSlot};
use crate::queue::ypipe::InSlot;

/// A message of more bytes is in memory anyway: a copy of it would only need stack.
const LARGE: usize = 256;

/// A message to be taken at once. Slow paths return it, and not the message: the caller reads it at one point, where it
/// lies. For the reason see `Receiving::take_or`.
pub(super) enum Claimed<'a, T> {
    InRing(ClaimedMessage<'a, T>, &'a Receiver<T>),
    InSegment(ClaimedSlot<'a, T>),
    /// In the frame of the receive.
    Loose(InSlot<T>),
}

impl<T> Claimed<'_, T> {
    // MUTANT: Speed only: an early exit. The list itself finds, after its fence, that no slot is armed.
    #[inline(always)]
    pub(super) fn take(self) -> T {
        let slot = match &self {
            Self::InRing(claimed, _) => claimed.slot(),
            Self::InSegment(claimed) => claimed.slot(),
            Self::Loose(message) => message.slot(),
        };
        // SAFETY: there is a message, this is the right to it, and it is read once: its place is emptied below.
        let message = slot.with(|message| unsafe { (*message).assume_init_read() });
        match self {
            Self::InRing(claimed, receiver) => {
                claimed.emptied();
                if receiver.shared.popped_any() {
                    if let Some(panics) = tell_of_room(receiver) {
                        if const { size_of::<T>() > LARGE } {
                            panics.resume_behind(message);
                        }
                        // A copy of its own: a message whose address is passed on could not stay in registers.
                        panics.resume_behind(Some(message));
                    }
                }
            }
            Self::InSegment(claimed) => claimed.emptied(),
            Self::Loose(message) => message.emptied(),
        }
        message
    }
}

// USER CODE: a sender's waker; the message is taken, and its cell empty; re-entrance: any operation; panic: the message is
//     dropped, then it continues; by construction: `Panics`
/// A sender may wait for the room of the message that was taken. Returns the panic of its waker.
#[cold]
#[inline(never)]
fn tell_of_room<T>(receiver: &Receiver<T>) -> Option<Panics> {
    let mut panics = Panics::none();
    panics.catch(|| receiver.shared.popped());
    panics.some()
}
