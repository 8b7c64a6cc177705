//! **The exchange**: many senders, many receivers, one bounded channel, one total order.
//!
//! Both ends can be cloned and shared (`&self`), and each message goes to exactly one receiver. Messages are received in
//! the order in which they were sent, whoever sent them: what one `send` has put in before another began comes out first.
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
//! Where several threads, tasks or event loops share the work of one queue. A message wakes one of those who wait for it;
//! one that is woken and leaves without it (its time is up, its future or the receiver is dropped) wakes the next.
//!
//! # When not to use it
//!
//! * One sender and one receiver: [`spsc`](crate::spsc) is several times as fast, and has no bound if you want none.
//! * A receiver that must get *all* messages: each is received once, by whoever comes first.
//! * Without a bound, or as a rendezvous: the capacity is at least 1, and all its cells are allocated when it is made.
//!
//! # Several receivers in event loops
//!
//! Each receiver (a clone is one of its own) can be attached to an id of its own, in sets of its own:
//! [`YSocketpair::attach`](crate::signal::YSocketpair::attach). An id that is *down* belongs to a receiver that waits: it
//! will be told when its turn comes. An id that is *up* says that there may be a message, and stays up until that receiver
//! finds none ([`try_recv`](Receiver::try_recv), until it says `Empty`). One message tells one of those who wait, be it
//! attached or asleep; it may be gone when that one looks, because any receiver may take any message. That is harmless: it
//! finds nothing, its id goes down, and it waits again. Nobody is forgotten while messages remain: one that was told and
//! takes a message, or goes, tells the next if there are more.
//!
//! A receiver that was told and neither looks nor goes keeps others from being told of *that* message. They may take it
//! all the same, and are told of the next.
//!
//! # Foreign code
//!
//! When the last receiver goes, the messages are dropped on its thread; where a message's `Drop` panics, the others are
//! dropped all the same, and the panic goes on. A waker that panics does so after its work is done: those behind it are
//! woken too, and no place or message is lost but what the interrupted call had in its hands.
//!
//! # Preempted peers
//!
//! A sender may lose its CPU between claiming its place in the order and putting its message there. Until it goes on, the
//! messages behind it cannot be received, not even those whose `send` has returned: a waiting receiver sleeps, and the
//! sender wakes one when it has finished. [`try_recv`](Receiver::try_recv) looks for a moment, gives its CPU away a few
//! times, and then says `Empty`. So `Empty` says that nothing can be had now, not that nothing has been sent:
//! [`is_empty`](Receiver::is_empty), which counts what is being put in, tells the two apart, and whoever must have a message
//! that it knows to have been sent uses [`recv`](Receiver::recv). Likewise a receiver that has not finished taking a message
//! out leaves its place full. Nothing here ever spins until another thread goes on: the order of messages is linearizable,
//! and so is every answer but these two, which are the price of that.
//!
//! # Futures
//!
//! A future that is dropped passes on what it was told. One that is *forgotten* (`mem::forget`) while it waits keeps its
//! place for ever, and swallows one wake-up.

mod receiver;
mod sender;
mod shared;

pub use self::receiver::{Iter, Receiver, TryIter};
pub use self::sender::Sender;
pub use super::error::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};

use self::shared::MpmcShared;
use crate::sync::Arc;

/// Gives an end its settings and its looks at the channel. `$end` has fields `shared: Arc<MpmcShared<T>>` and `backoff: SharedBackoff`.
/// What is said of three of them depends on the end. Any thread; all of it is wait-free, and says nothing of what is about
/// to happen: others send and receive meanwhile.
macro_rules! impl_mpmc_api {
    ($end:ident: $(#[$spin:meta])+ set_spin, $(#[$len:meta])+ len, $(#[$disconnected:meta])+ is_disconnected $(,)?) => {
        impl<T> $end<T> {
            $(#[$spin])+
            pub fn set_spin(&self, spin: Spin) {
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
                self.len() == self.shared.ring.capacity()
            }

            /// How many messages there may be: never `None`, as in channels that have no bound.
            #[must_use]
            pub fn capacity(&self) -> Option<usize> {
                Some(self.shared.ring.capacity())
            }

            $(#[$disconnected])+
            #[must_use]
            pub fn is_disconnected(&self) -> bool {
                self.shared.ring.is_closed()
            }
        }
    };
}

use impl_mpmc_api;

/// A channel for at most `capacity` messages, exactly; a sender that finds it full waits. All its memory is allocated
/// here, but for 3 KiB the first time that 1, 65, 129 .. of one side's ends wait at once.
///
/// # Panics
/// Where `capacity` is 0, since there is no rendezvous here, or where its messages could never fit into memory.
#[must_use]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(MpmcShared::new(capacity));
    (Sender::new(shared.clone()), Receiver::new(shared))
}
