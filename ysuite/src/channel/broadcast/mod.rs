//! **The broadcast**: many senders, many receivers, and every receiver gets every message, in one total order.
//!
//! A receiver gets all messages that are sent while it is there: those after its [`subscribe`](Sender::subscribe), or
//! from where its original was when it was [cloned](Receiver#impl-Clone-for-Receiver<T>). All receivers see the same
//! order, and the messages of one sender in the order in which it sent them.
//!
//! ```
//! use ysuite::broadcast;
//!
//! let (sender, receiver) = broadcast::bounded(64);
//! let listeners: Vec<_> = (0..3)
//!     .map(|_| {
//!         let mut receiver = receiver.clone();
//!         std::thread::spawn(move || receiver.iter().sum::<u64>())
//!     })
//!     .collect();
//! // Or nobody would ever take its messages.
//! drop(receiver);
//! for number in 0..100 {
//!     sender.send(number).unwrap();
//! }
//! drop(sender);
//! assert!(listeners.into_iter().all(|listener| listener.join().unwrap() == 4950));
//! ```
//!
//! # A slow receiver
//!
//! What becomes of it is chosen when the channel is made:
//!
//! * [`bounded`]: it holds the senders up. Nothing is lost, and the slowest receiver sets the pace, also one that is
//!   kept somewhere and never asked. [`Sender::slowest`] and [`Sender::lags`] say which it is, by its
//!   [`id`](Receiver::id), and [`Sender::evict`] ends it.
//! * [`lossy`]: it loses the oldest messages, and is told how many: [`RecvError::Lagged`]. Senders do not wait for it.
//!
//! # Messages
//!
//! Receivers copy messages by `Clone`, several of them the same message at the same time. So the ends can be sent to
//! other threads where `T` is `Send` *and* `Sync`; large messages are best sent as an `Arc`. A receiver that is the
//! only one takes messages out, without a clone.
//!
//! A message lies in its place until another takes that place, one lap later, or the channel goes; also one that every
//! receiver has had. It is dropped then, by the sender whose message displaces it, after that has been sent. So at most
//! as many old messages are kept as the channel has places: `capacity`, and up to the next power of two (lossy: an
//! eighth more before that).
//!
//! # When to use it
//!
//! For events, prices, settings, frames: where every listener needs all of them. Senders and receivers share one ring,
//! and a receiver costs a sender nothing but a look at its position, once a lap, and a wake-up if it sleeps.
//!
//! # When not to use it
//!
//! * Each message for one receiver: [`mpmc`](crate::mpmc), or [`mpsc`](crate::mpsc) for the only one.
//! * Without a bound: no receiver may fall behind without end.
//!
//! # Preempted peers
//!
//! A sender may be preempted between claiming its place in the order and putting its message there. Until it goes on,
//! the messages behind it cannot be received: a waiting receiver sleeps, and [`try_recv`](Receiver::try_recv) spins for
//! a moment, yields its CPU a few times, and then returns `Empty`, even to a thread that has just sent a message
//! itself. Senders go on until they come to that place again, one lap later; there [`try_send`](Sender::try_send)
//! likewise returns `Full`, and [`send`](Sender::send) waits. In a lossy channel a receiver that is in the middle of
//! copying a message keeps its place in the same way: senders that come to it, at least an eighth of the capacity
//! later, find no room until the copy is made. So a sender of a lossy channel waits in one case only: a receiver's
//! `Clone`, or a thread that has been preempted, still has the place when the sender comes to it again. A thread that
//! is about to [subscribe](Sender::subscribe) counts as a receiver that has had nothing yet. No operation ever spins
//! until another thread goes on.
//!
//! # User code
//!
//! `Clone` runs while its message is held in place, and nothing else is: it may use any end of any channel but the
//! receiver that it runs for. A `Clone` that sends to its own channel waits for itself if it comes to the end of the
//! room there. Where it panics, the receiver has had that message and goes on with the next. Where a waker or the drop
//! of an old message panics, the message that was sent is in the channel, all others are woken, and then the panic goes
//! on.
//!
//! # Futures
//!
//! A future of a sender that is dropped notifies the next sender if it had been notified. A future that is *forgotten*
//! (`mem::forget`) while it waits keeps its slot as long as the channel lives; one of a sender swallows one wake-up.

/// Makes ends of one channel equal. `$end` has a field `shared: Arc<BroadcastShared<T>>`.
macro_rules! impl_same_channel {
    ($end:ident) => {
        /// Two are equal if they are ends of one channel, as [`same_channel`](Self::same_channel).
        impl<T> PartialEq for $end<T> {
            fn eq(&self, other: &Self) -> bool {
                self.same_channel(other)
            }
        }

        impl<T> Eq for $end<T> {}

        impl<T> core::hash::Hash for $end<T> {
            fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
                core::ptr::hash(core::ptr::from_ref(&*self.shared), state);
            }
        }
    };
}

mod error;
mod receiver;
mod sender;
mod shared;

pub use self::error::{RecvError, RecvTimeoutError, TryRecvError};
pub use self::receiver::{Receiver, ReceiverLag};
pub use self::sender::Sender;
pub use super::error::{SendError, SendTimeoutError, TrySendError};

use self::shared::BroadcastShared;
use crate::sync::Arc;

/// A channel whose senders wait for the slowest receiver: none is ever more than `capacity` messages behind, exactly.
/// Allocates the places, except for 3 KiB the first time that 1, 65, 129 .. of one side wait at once, and some bytes
/// for 8, 24, 56 .. receivers.
///
/// # Panics
/// Where `capacity` is 0, or where there is no memory for that many messages.
#[must_use]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    pair(capacity, false)
}

/// A channel whose receivers lose the oldest messages where they are more than `capacity` behind, exactly, and are told
/// how many. Allocates as [`bounded`] does.
///
/// # Panics
/// Where `capacity` is 0, or where there is no memory for that many messages.
#[must_use]
pub fn lossy<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    pair(capacity, true)
}

fn pair<T>(capacity: usize, is_lossy: bool) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(BroadcastShared::new(capacity, is_lossy));
    let seat = shared.ring.sit_down();
    (Sender::new(shared.clone()), Receiver::new(shared, seat))
}
