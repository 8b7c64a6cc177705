//! **broadcast**: many senders, many receivers. Every receiver gets every message, in one total order.
//!
//! A receiver gets all messages that are sent during its lifetime: those after its [`subscribe`](Sender::subscribe), or
//! from the position of its original when it was [cloned](Receiver#impl-Clone-for-Receiver<T>). All receivers see the
//! same order, and the messages of one sender in the order in which it sent them.
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
//! // Without this drop, no thread would take this receiver's messages.
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
//! The channel's constructor decides:
//!
//! * [`bounded`]: it delays the senders. Nothing is lost, and the slowest receiver determines the speed, also a
//!   receiver that is kept but never polled. [`Sender::slowest`] and [`Sender::lags`] name it by its
//!   [`id`](Receiver::id), and [`Sender::evict`] disconnects it.
//! * [`lossy`]: it loses the oldest messages, and gets their number: [`RecvError::Lagged`]. Senders do not wait for it.
//!
//! # Messages
//!
//! Receivers copy messages by `Clone`, several of them the same message at the same time. So the handles can be sent to
//! other threads where `T` is `Send` *and* `Sync`. Large messages are best sent as an `Arc`. An only receiver takes
//! messages out, without a clone.
//!
//! A message stays in its cell until another replaces it, one lap later, or the channel is dropped. That holds also for
//! a message that every receiver has got, and for one that no receiver will get, as the last one has gone: senders keep
//! the channel, and a [`subscribe`](Sender::subscribe) may follow. The sender of the new message drops the old one, after
//! it has sent. So at most as many old messages are kept as the channel has cells: `capacity`, rounded up to a power of
//! two (lossy: an eighth more before that).
//!
//! # Cost
//!
//! A sender checks the position of each receiver once for each lap (bounded), or at least for each eighth of a lap
//! (lossy). A receiver's time does not depend on the number of receivers. The first time that 1, 65, 129 .. handles of
//! one side wait at once, 3 KiB are allocated.
//!
//! # When to use it
//!
//! For events, prices, settings, frames: where every receiver needs all messages. Senders and receivers share one ring.
//! A receiver costs a sender nothing but one check of its cursor per lap, and a wake-up if it sleeps.
//!
//! # When not to use it
//!
//! * Each message for one receiver: [`mpmc`](crate::mpmc), or [`mpsc`](crate::mpsc) for an only receiver.
//! * Without a bound: no receiver may lag without limit.
//!
//! # Permits
//!
//! A [permit](Permit) is room for a message that is yet to be made. It is no position: its message comes after all that
//! have been sent until then, and it delays no other. Once a channel has had a permit, each send counts the room, which
//! takes some instructions more. A lossy channel always has room. There a permit takes none from others, and its send
//! waits as any other: for a peer that has not finished with the cell.
//!
//! # Preempted peers
//!
//! A sender may be preempted between claiming its cell in the order and writing its message there. Until it continues,
//! the messages after it cannot be received. A waiting receiver sleeps. [`try_recv`](Receiver::try_recv) spins for a
//! moment, yields the CPU a few times, and then returns `Empty`, even in a thread that has just sent a message itself.
//! Senders continue until they come to that cell again, one lap later. There [`try_send`](Sender::try_send) likewise
//! returns `Full`, and [`send`](Sender::send) waits.
//!
//! In a lossy channel a receiver that is in the middle of copying a message keeps its cell in the same way. Senders
//! that come to it, at least an eighth of the capacity later, find no room until the copy is made. So a sender of a
//! lossy channel waits in one case only: a receiver's `Clone`, or a preempted thread, still has the cell when the
//! sender comes to it again. A thread that is about to [subscribe](Sender::subscribe) counts as a receiver that has had
//! nothing yet. No operation ever spins until another thread continues.
//!
//! # User code
//!
//! `Clone` runs while its message is held in its cell, and nothing else is held. It may use any handle of any channel,
//! except the receiver that it runs for. A `Clone` that sends to its own channel waits for itself when there is no more
//! room. Where it panics, the receiver has had that message and continues with the next. Where a waker or the drop of
//! an old message panics, the sent message is in the channel, and all other waiters are woken. Then the panic
//! continues.
//!
//! # Futures
//!
//! A dropped future of a sender notifies the next sender if it had been notified. A future that is *forgotten*
//! (`mem::forget`) while it waits keeps its slot as long as the channel exists. A forgotten future of a sender also
//! swallows one wake-up.

mod error;
mod operations;
mod permit;
mod receiver;
mod reserve;
mod sender;
mod shared;
#[cfg(feature = "futures")]
mod sink;
mod weak;

pub use self::error::{RecvError, RecvTimeoutError, TryRecvError};
pub use self::permit::{OwnedPermit, Permit, Permits};
pub use self::receiver::{Receiver, ReceiverLag, RecvFuture};
pub use self::sender::{SendFuture, Sender};
pub use self::weak::WeakSender;
use super::error::{ReserveError, SendError, SendTimeoutError, TryReserveError, TrySendError};

use self::shared::BroadcastShared;
use crate::sync::Arc;

/// Makes a channel whose senders wait for the slowest receiver: none ever lags by more than `capacity` messages,
/// exactly. Allocates the cells here. Allocates 3 KiB the first time that 1, 65, 129 .. handles of one side wait at
/// once, and some bytes for 8, 24, 56 .. receivers.
///
/// # Panics
/// When `capacity` is 0, or when there is no memory for that many messages.
#[must_use]
#[track_caller]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    pair(capacity, false)
}

/// Makes a channel whose receivers lose the oldest messages where they lag by more than `capacity`, exactly, and get
/// the number of lost messages. Allocates as [`bounded`] does.
///
/// # Panics
/// When `capacity` is 0, or when there is no memory for that many messages.
#[doc(alias("channel", "set_overflow"))]
#[must_use]
#[track_caller]
pub fn lossy<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    pair(capacity, true)
}

#[track_caller]
fn pair<T>(capacity: usize, is_lossy: bool) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(BroadcastShared::new(capacity, is_lossy));
    let seat = shared.ring.sit_down();
    (Sender::new(shared.clone()), Receiver::new(shared, seat))
}
