//! **The exchange**: many senders, many receivers, one bounded channel, one total order.
//!
//! Both ends can be cloned and shared (`&self`), and each message goes to exactly one receiver. Messages are received in
//! the order in which they were sent, by any senders: a message whose `send` returned before another `send` began comes out
//! first.
//!
//! ```
//! use ysuite::mpmc;
//!
//! let (sender, receiver) = mpmc::bounded(64);
//! let workers: Vec<_> = (0..3)
//!     .map(|_| {
//!         let receiver = receiver.clone();
//!         std::thread::spawn(move || receiver.iter().sum::<u64>())
//!     })
//!     .collect();
//! for number in 0..100 {
//!     sender.send(number).unwrap();
//! }
//! drop(sender);
//! assert_eq!(workers.into_iter().map(|worker| worker.join().unwrap()).sum::<u64>(), 4950);
//! ```
//!
//! # When to use it
//!
//! Where several threads, tasks or event loops share the work of one queue. A message wakes one of the receivers that wait;
//! a receiver that is woken and goes without the message (its time is up, its future or the receiver is dropped) wakes the
//! next.
//!
//! # When not to use it
//!
//! * One sender and one receiver: [`spsc`](crate::spsc) is several times as fast, and has no bound if you want none.
//! * A receiver that must get *all* messages: each message is received once, by the receiver that comes first.
//! * Without a bound: all cells are allocated when the channel is made.
//!
//! # Several receivers in event loops
//!
//! Each receiver, and each clone of one, can be attached to an id of its own, in a set of its own:
//! [`YSocketpair::attach`](crate::signal::YSocketpair::attach). An id that is *down* belongs to a receiver that waits, and
//! will be notified when its turn comes. An id that is *up* says that there may be a message, and stays up until that
//! receiver finds none ([`try_recv`](Receiver::try_recv), until it returns `Empty`). One message notifies one of the
//! receivers that wait, attached or asleep. The message may be gone when that receiver looks, because any receiver may take
//! any message. That is harmless: the receiver finds nothing, its id goes down, and it waits again. No receiver is forgotten
//! while messages remain: a notified receiver that takes a message, or goes, notifies the next if there are more.
//!
//! A notified receiver that neither looks nor goes keeps others from being notified of *that* message. They may take it all
//! the same, and are notified of the next.
//!
//! # Foreign code
//!
//! When the last receiver goes, the messages are dropped on its thread; where a message's `Drop` panics, the others are
//! dropped all the same, and then the panic goes on. Where a waker panics, the operation that woke it has been completed and
//! the other wakers are woken too. No slot and no message is lost but those that the interrupted call was returning.
//!
//! # Preempted peers
//!
//! A sender may lose its CPU between claiming its cell in the order and putting its message there. Until that sender goes
//! on, the messages behind it cannot be received, not even those whose `send` has returned: a waiting receiver sleeps, and
//! the sender wakes one when it has finished. [`try_recv`](Receiver::try_recv) spins for a moment, yields its CPU a few
//! times, and then returns `Empty`. So `Empty` says that no message can be had now, not that none has been sent.
//! [`is_empty`](Receiver::is_empty), which counts messages that are being put in, tells the two apart. A thread that must
//! have a message of which it knows that it has been sent uses [`recv`](Receiver::recv). Likewise a receiver that has not
//! finished taking a message out leaves its cell full. No operation ever spins until another thread goes on. The order of
//! messages is linearizable, and so is every answer but these two (`Empty`, and `Full` of
//! [`try_send`](Sender::try_send)), which are the price of that.
//!
//! # Futures
//!
//! A future that is dropped notifies the next waiter if it had been notified. A future that is *forgotten* (`mem::forget`)
//! while it waits keeps its slot as long as the channel lives, and swallows one wake-up.

mod receiver;
mod sender;
mod shared;
mod watcher;

pub use self::receiver::{Iter, Receiver, TryIter};
pub use self::sender::Sender;
pub use super::error::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};

use self::shared::MpmcShared;
pub(in crate::channel) use self::shared::{Readers, Writers};
use crate::sync::Arc;

/// Gives an end its settings and its looks at the channel. `$end` has fields `shared: Arc<MpmcShared<T>>` and
/// `backoff: SharedBackoff`. The documents of three methods depend on the end. Any thread; all methods are wait-free, and
/// their answers may be out of date at once, because other ends send and receive meanwhile.
macro_rules! impl_mpmc_api {
    ($end:ident: $(#[$spin:meta])+ set_spin, $(#[$len:meta])+ len, $(#[$disconnected:meta])+ is_disconnected $(,)?) => {
        impl<T> $end<T> {
            $(#[$spin])+
            pub fn set_spin(&self, spin: $crate::channel::Spin) {
                self.backoff.set(spin);
            }

            $(#[$len])+
            #[must_use]
            pub fn len(&self) -> usize {
                self.shared.ring.len()
            }

            /// Whether no message is in the channel.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Whether there is no room for another message.
            #[must_use]
            pub fn is_full(&self) -> bool {
                self.len() == self.shared.capacity()
            }

            /// How many messages can be in the channel. Never `None`, which channels without a bound return.
            #[must_use]
            pub fn capacity(&self) -> Option<usize> {
                Some(self.shared.capacity())
            }

            $(#[$disconnected])+
            #[must_use]
            pub fn is_disconnected(&self) -> bool {
                self.shared.is_disconnected()
            }
        }
    };
}

use impl_mpmc_api;

/// A channel for at most `capacity` messages, exactly; a sender that finds it full waits. All its memory is allocated
/// here, but for 3 KiB the first time that 1, 65, 129 .. senders, or as many receivers, wait at once.
///
/// With a capacity of 0 it is a [rendezvous](super#rendezvous): a message is handed over, and none is ever in between. Ends
/// that wait are served in turn.
///
/// # Panics
/// Where that many messages could never fit into memory.
#[must_use]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(MpmcShared::new(capacity));
    (Sender::new(shared.clone()), Receiver::new(shared))
}
