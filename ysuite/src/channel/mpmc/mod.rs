//! **The exchange**: many senders, many receivers, one channel, with a bound or without, one total order.
//!
//! Both ends can be cloned and shared (`&self`), and each message goes to exactly one receiver. Messages are received
//! in the order in which they were sent, by any senders: a message whose `send` returned before another `send` began
//! comes out first.
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
//! Where several threads, tasks or event loops share the work of one queue. A message wakes one of the receivers that
//! wait; a receiver that is woken and goes without the message (its time is up, its future or the receiver is dropped)
//! wakes the next.
//!
//! # When not to use it
//!
//! * One sender and one receiver: [`spsc`](crate::spsc) is several times as fast.
//! * A receiver that must get *all* messages: each message is received once, by the receiver that comes first.
//!
//! # Memory
//!
//! A channel with a bound allocates all its cells when it is made, and nothing for any message afterwards. In both
//! kinds of channel the ends that wait are listed: the first time that 1, 65, 129 .. of one side wait at once, 3 KiB
//! are allocated, and kept until the channel ends.
//!
//! # Without a bound
//!
//! [`unbounded`] has no capacity, `is_full` is never true, and sending never waits, so no `send` can fail for lack of
//! room. In all else it is the same channel: one total order, the same ways of waiting, and no operation waits for a
//! preempted peer. A message takes its own size, one byte, and at most an eighth more (9.2 bytes for one of 8); while
//! it is being received, one more. Messages lie in segments of 64 KiB (where a message is larger than that, of one
//! message). A segment that has been read is used again; as many are kept as the channel is long, and at least four,
//! and the others' pages go back to the kernel (on Linux; elsewhere the memory is kept until the channel ends). A
//! receiver that has been preempted in the middle of a receive keeps the one segment it is in from being used again;
//! while the thread that looks after those that are read has lost its, none is, and new ones are made. The addresses of
//! all segments that the channel ever needed at once stay reserved until the channel ends. There can be 16,777,200 of
//! them; a send that would need more panics. Where there is no memory the process ends, as with any allocation.
//!
//! # The end
//!
//! The channel ends when the last sender or the last receiver is dropped, or when any end [closes](Sender::close) it.
//! Afterwards nothing can be sent. What was sent before is received, unless there is no receiver any more.
//! [Weak](WeakSender) ends do not count. Senders can wait for the end: [`closed`](Sender::closed),
//! [`wait_closed`](Sender::wait_closed).
//!
//! # Where there is no room
//!
//! A sender waits, or goes without ([`try_send`](Sender::try_send)), or waits for some time, or puts its message into
//! the oldest one's place ([`force_send`](Sender::force_send)). It may also wait for room before it makes the message:
//! [`reserve`](Sender::reserve) returns a [`Permit`], which is a place that nobody else can have. A message's turn is
//! decided when it is sent, not when its place is reserved, so a permit that is kept for long holds nothing up but its
//! own place.
//!
//! ```
//! use ysuite::mpmc;
//!
//! let (sender, receiver) = mpmc::bounded(2);
//! let permit = sender.reserve()?;
//! sender.try_send("at once")?;
//! assert!(sender.try_send("no room beside the permit").is_err());
//! permit.send("later")?;
//! assert_eq!(sender.force_send("newest")?, Some("at once"));
//! assert!(sender.close());
//! assert!(receiver.iter().eq(["later", "newest"]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Several receivers in event loops
//!
//! Each receiver, and each clone of one, can be attached to an id of its own, in a set of its own:
//! [`YSocketpair::attach`](crate::signal::YSocketpair::attach). An id that is *down* belongs to a receiver that waits,
//! and will be notified when its turn comes. An id that is *up* says that there may be a message, and stays up until
//! that receiver finds none ([`try_recv`](Receiver::try_recv), until it returns `Empty`). One message notifies one of
//! the receivers that wait, attached or asleep. The message may be gone when that receiver looks, because any receiver
//! may take any message. That is harmless: the receiver finds nothing, its id goes down, and it waits again. No
//! receiver is forgotten while messages remain: a notified receiver that takes a message, or goes, notifies the next if
//! there are more.
//!
//! A notified receiver that neither looks nor goes keeps others from being notified of *that* message. They may take it
//! all the same, and are notified of the next. The same is true of one attached end that threads share. One thread
//! waits in `recv`; another's `try_recv` finds nothing and puts the set in line again. The next message may notify the
//! set instead of the waiting thread. So let a thread look at the set, or give the waiting thread a clone. Sending is
//! alike.
//!
//! # User code
//!
//! When the last receiver goes, the messages are dropped on its thread; where a message's `Drop` panics, the others are
//! dropped all the same, and then the panic goes on. Where a waker panics, the operation that woke it has been
//! completed and the other wakers are woken too. No slot and no message is lost but those that the interrupted call was
//! returning.
//!
//! # Preempted peers
//!
//! A sender may be preempted between claiming its cell in the order and putting its message there. Until that sender
//! goes on, the messages behind it cannot be received, not even those whose `send` has returned: a waiting receiver
//! sleeps, and the sender wakes one when it has finished. [`try_recv`](Receiver::try_recv) spins for a moment, yields
//! its CPU a few times, and then returns `Empty`. So `Empty` says that no message can be had now, not that none has
//! been sent. [`is_empty`](Receiver::is_empty), which counts messages that are being put in, tells the two apart. A
//! thread that must have a message of which it knows that it has been sent uses [`recv`](Receiver::recv). That holds
//! for what it has sent itself, too: a thread that sends, and then asks, is told `Empty` where an older message's
//! sender is still inside `send`, and only there. In a history of calls this is the one liberty of `Empty`: *a message
//! whose sender is still inside `send` may be overtaken by "empty", and so may what is behind it*. Likewise a receiver
//! that has not finished taking a message out leaves its cell full. No operation ever spins until another thread goes
//! on, except for [`force_send`](Sender::force_send), which must have that very cell, and yields its CPU, or sleeps;
//! and a permit's [`send`](Permit::send), where it is a `force_send` that has not gone on. The order of messages is
//! linearizable, and so is every answer but these two (`Empty`, and `Full` of [`try_send`](Sender::try_send)), which
//! are the price of that. A `force_send` that is overtaken by a [`close`](Sender::close) and by a receiver which takes
//! the message that was to make way may leave one message more than the capacity to be received.
//!
//! # Futures
//!
//! A future that is dropped notifies the next waiter if it had been notified. A future that is *forgotten*
//! (`mem::forget`) while it waits keeps its slot as long as the channel lives, and swallows one wake-up; one of
//! [`reserve_many_async`](Sender::reserve_many_async) may keep the places that it has gathered as well, and the right
//! to gather: others that want several then wait for good. In a
//! [rendezvous](crate::channel#rendezvous) it stays in line: a future of [`recv_async`](Receiver::recv_async) swallows
//! a message there, and its sender is told that it was received.

mod closed;
mod force;
mod holding;
mod permit;
mod receiver;
mod reserve;
mod sender;
mod shared;
#[cfg(feature = "futures")]
mod sink;
mod tasks;
mod watcher;
mod weak;

pub use self::permit::{OwnedPermit, Permit, Permits};
pub use self::receiver::{Iter, Receiver, TryIter};
pub use self::sender::Sender;
pub use self::weak::{WeakReceiver, WeakSender};
pub use super::error::{
    RecvError, RecvTimeoutError, ReserveError, SendError, SendTimeoutError, TryRecvError, TryReserveError, TrySendError,
};

use self::shared::MpmcShared;
pub(in crate::channel) use self::shared::{Readers, Writers};
use crate::sync::Arc;

/// Gives an end its settings and its looks at the channel. `$end` has fields `shared: Arc<MpmcShared<T>>` and
/// `backoff: SharedBackoff`. The documents of three methods depend on the end. Any thread; all methods are wait-free,
/// and their answers may be out of date at once, because other ends send and receive meanwhile.
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

            /// Whether there is no room for another message: as many are in the channel, or have a place
            /// [held](crate::mpmc::Sender::reserve) for them, as it can hold. Without a bound, never.
            #[must_use]
            pub fn is_full(&self) -> bool {
                self.shared.is_full()
            }

            /// How many messages can be in the channel; `None` without a bound.
            #[must_use]
            pub fn capacity(&self) -> Option<usize> {
                self.shared.capacity()
            }

            $(#[$disconnected])+
            #[must_use]
            pub fn is_disconnected(&self) -> bool {
                self.shared.is_disconnected()
            }

            /// How many senders there are, those of [owned permits](super::OwnedPermit) included.
            #[must_use]
            pub fn sender_count(&self) -> usize {
                self.shared.writers.count()
            }

            /// How many receivers there are.
            #[must_use]
            pub fn receiver_count(&self) -> usize {
                self.shared.readers.count()
            }

            /// Closes the channel for all its ends. Nothing more can be sent, not even by a [permit](super::Permit), as
            /// if all receivers were gone; senders that wait are woken, and get their messages back. Receivers get what
            /// was sent before, and then learn that nothing more will come, as if all senders were gone. True: this
            /// call closed it; false: it was closed, or all ends of one side are gone.
            ///
            /// A message that a sender is [still putting in](super#preempted-peers) counts as sent: receivers wait for
            /// it.
            ///
            /// Any thread; lock-free; wakes every end that waits, with a system call for each thread that sleeps.
            pub fn close(&self) -> bool {
                self.shared.close()
            }
        }
    };
}

/// Ends, strong or weak, are equal where they belong to the same channel. `$end` has a field `shared:
/// Arc<MpmcShared<T>>`.
macro_rules! impl_same_channel {
    ($end:ident) => {
        impl<T> $end<T> {
            /// Whether both belong to the same channel. So does `==`, and the hash is the channel's.
            #[must_use]
            pub fn same_channel(&self, other: &Self) -> bool {
                core::ptr::eq(&raw const *self.shared, &raw const *other.shared)
            }
        }

        impl<T> PartialEq for $end<T> {
            fn eq(&self, other: &Self) -> bool {
                self.same_channel(other)
            }
        }

        impl<T> Eq for $end<T> {}

        impl<T> core::hash::Hash for $end<T> {
            fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
                (&raw const *self.shared).hash(state);
            }
        }
    };
}

use {impl_mpmc_api, impl_same_channel};

/// A channel for at most `capacity` messages, exactly; a sender that finds it full waits. All its memory is allocated
/// here, except for 3 KiB the first time that 1, 65, 129 .. senders, or as many receivers, wait at once.
///
/// With a capacity of 0 it is a [rendezvous](super#rendezvous): a message is handed over, and none is ever in between.
/// Ends that wait are served in turn.
///
/// # Panics
/// Where there is no memory for that many messages.
#[must_use]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    joined(Some(capacity))
}

/// A channel without a bound: sending never waits. The first 64 KiB of addresses are taken here, and their pages as
/// messages come; then memory is taken 64 KiB at a time, is used again while the channel is busy, and goes back to the
/// system as the channel [empties](self#without-a-bound).
///
/// # Panics
/// Where a message could never fit into memory.
#[must_use]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    joined(None)
}

fn joined<T>(capacity: Option<usize>) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(MpmcShared::new(capacity));
    (Sender::new(shared.clone()), Receiver::new(shared))
}
