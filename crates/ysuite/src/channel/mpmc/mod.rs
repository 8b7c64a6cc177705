//! **mpmc**: many senders, many receivers, one channel with one total order. With a bound or without.
//!
//! Both handles can be cloned and shared (`&self`), and each message goes to exactly one receiver. Messages are
//! received in the order in which they were sent, by any senders. If a `send` returns before another `send` begins, its
//! message is received first.
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
//! wait. A woken receiver may not take the message, because its deadline has passed or because its future or the
//! receiver is dropped. Then it wakes the next receiver.
//!
//! # When not to use it
//!
//! * One sender and one receiver: [`spsc`](crate::spsc) is several times as fast.
//! * A receiver that must get *all* messages: each message is received once, by the first receiver that takes it.
//!
//! # Memory
//!
//! A channel with a bound allocates all its cells when it is made, and nothing for any message afterwards. In both
//! kinds of channel the waiting handles are listed. The first time that 1, 65, 129 .. handles of one side wait at once,
//! 3 KiB are allocated, and kept until the channel is dropped. At 65, and for each 4,096 more, a further kilobyte or
//! two.
//!
//! # Without a bound
//!
//! [`unbounded`] has no capacity, `is_full` is never true, and sending never waits, so no `send` fails for lack of
//! room. In all else it is the same channel: one total order, the same ways of waiting, and no operation waits for a
//! preempted peer. A message takes its own size, one byte, and at most an eighth more (9.2 bytes for a message of 8);
//! while it is being received, one byte more.
//!
//! Messages are stored in segments of 32 KiB, or of one message where a message is larger. A segment that has been read
//! is used again. The channel keeps as many segments as it is long; once it has missed them up to 8 MiB, and eight while a
//! receiver waits. The pages of the others go back to the kernel on Linux; elsewhere the memory is kept until the channel
//! is dropped. A receiver that is preempted in the middle of a receive keeps its one segment from being used again. While
//! the thread that recycles read segments is preempted, no segment is used again, and new ones are made.
//!
//! The addresses of all segments that the channel ever needed at once stay reserved until the channel is dropped. There
//! can be 16,777,212 of them; a send that would need more panics. Where there is no memory the process aborts, as with
//! any allocation.
//!
//! # Cost
//!
//! While tasks or attached receivers wait, a batch wakes one of them for each of its messages. Without a bound, the
//! thread that empties the last slot of a segment cleans up the segments that have been read: its own, and those that
//! other threads leave to it meanwhile. That takes some microseconds. While a backlog shrinks, that thread gives back
//! the pages of two segments for each segment that has been read.
//!
//! # Disconnection
//!
//! The channel is disconnected when the last sender or the last receiver is dropped, or when any handle
//! [closes](Sender::close) it. Afterwards nothing can be sent. What was sent before is received, unless there is no
//! receiver any more. [Weak](WeakSender) handles do not count. Senders can wait for the disconnection:
//! [`closed`](Sender::closed), [`wait_closed`](Sender::wait_closed).
//!
//! # Where there is no room
//!
//! A sender can wait, return an error ([`try_send`](Sender::try_send)), wait for some time, or replace the oldest
//! message ([`force_send`](Sender::force_send)). It can also wait for room before it makes the message:
//! [`reserve`](Sender::reserve) returns a [`Permit`], which is room that no other sender can take. A message gets its
//! position in the order when it is sent, not when its room is reserved. So a permit that is kept for long blocks
//! nothing except its own room.
//!
//! ```
//! use ysuite::mpmc;
//!
//! let (sender, receiver) = mpmc::bounded(2);
//! let permit = sender.reserve()?;
//! sender.try_send("at once")?;
//! assert!(sender.try_send("no room next to the permit").is_err());
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
//! and that will be notified in its turn. An id that is *up* says that there may be a message. It stays up until that
//! receiver finds none ([`try_recv`](Receiver::try_recv), until it returns `Empty`). One message notifies one of the
//! receivers that wait, attached or asleep.
//!
//! The notified receiver may find no message, because any receiver may take any message. That is harmless: its id goes
//! down, and it waits again. No receiver is forgotten while messages remain: a notified receiver that takes a message,
//! or is dropped, notifies the next if there are more.
//!
//! A notified receiver that is neither polled nor dropped keeps others from being notified of *that* message. They may
//! take it all the same, and are notified of the next. The same is true of one attached handle that threads share. One
//! thread waits in `recv`; another thread's `try_recv` finds nothing and puts the set in line again. The next message
//! may notify the set instead of the waiting thread. So let a thread poll the set, or give the waiting thread a clone.
//! Sending works alike.
//!
//! # User code
//!
//! When the last receiver is dropped, the messages are dropped on its thread. Where a message's `Drop` panics, the
//! other messages are still dropped, and then the panic continues. Where a waker panics, the operation that woke it has
//! been completed, and the other wakers are woken too. No slot and no message is lost, except those that the
//! interrupted call was returning.
//!
//! # Preempted peers
//!
//! A sender may be preempted between claiming its cell in the order and writing its message there. Until that sender
//! continues, the messages after it cannot be received, not even those whose `send` has returned. A waiting receiver
//! sleeps, and the sender wakes a receiver when it has finished.
//!
//! [`try_recv`](Receiver::try_recv) spins for a moment, yields the CPU a few times, and then returns `Empty`. So
//! `Empty` means that no message can be received now, not that none has been sent. [`is_empty`](Receiver::is_empty),
//! which counts messages that are still being written, distinguishes the two. A thread that needs a message which it
//! knows to have been sent uses [`recv`](Receiver::recv). That also holds for the thread's own messages: after a send
//! its `try_recv` returns `Empty` where the sender of an older message is still inside `send`, and only there. In a
//! history of calls this is the one deviation of `Empty`: *a message whose sender is still inside `send` may be
//! overtaken by "empty", and so may the messages after it*.
//!
//! Likewise a receiver that has not finished taking a message out leaves its cell full. No operation ever spins until
//! another thread continues, with two exceptions. [`force_send`](Sender::force_send) must have that very cell, and
//! yields the CPU, or sleeps. A permit's [`send`](Permit::send) does the same where it finds a preempted `force_send`.
//!
//! The order of messages is linearizable, and so is every result except these two (`Empty`, and `Full` of
//! [`try_send`](Sender::try_send)), which are the price of that. A `force_send` may be overtaken by a
//! [`close`](Sender::close) and by a receiver that takes the message which was to be replaced. Then one message more
//! than the capacity may be left to receive.
//!
//! # Futures
//!
//! A future that is dropped notifies the next waiter if it had been notified. A future that is *forgotten*
//! (`mem::forget`) while it waits keeps its slot as long as the channel exists, and swallows one wake-up. A forgotten
//! future of [`reserve_many_async`](Sender::reserve_many_async) may also keep the room that it has gathered, and the
//! right to gather. Then other senders that reserve several wait for ever. In a [rendezvous](crate#rendezvous)
//! a forgotten future stays in line: a future of [`recv_async`](Receiver::recv_async) swallows a message there, and the
//! `send` of that message returns as if it had been received.

mod claimed;
mod closed;
mod flavour;
mod force;
mod handle;
mod holding;
pub(super) mod operations;
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
pub use self::tasks::{RecvFuture, SendFuture};
pub use self::weak::{WeakReceiver, WeakSender};
use super::error::{
    RecvError, RecvTimeoutError, ReserveError, SendError, SendTimeoutError, TryRecvError, TryReserveError, TrySendError,
};

use self::flavour::MakeMeeting;
pub(in crate::channel) use self::handle::MpmcHandle;
use self::shared::MpmcShared;
pub(in crate::channel) use self::shared::{Readers, WaitingSide, Writers};
use super::rendezvous::MeetingOf;

/// Makes a channel for at most `capacity` messages, exactly. A sender that finds it full waits. All its memory is
/// allocated here, except for 3 KiB the first time that 1, 65, 129 .. senders or receivers wait at once.
///
/// With a capacity of 0 it is a [rendezvous](crate#rendezvous): a sender hands each message to a receiver, and the
/// channel holds none. Waiting handles are served in turn.
#[doc = cost!(rendezvous TRY)]
#[doc = cost!(rendezvous WAIT)]
#[doc = cost!(rendezvous TASK)]
///
/// # Panics
/// When there is no memory for that many messages.
#[doc(alias("channel", "sync_channel", "rendezvous"))]
#[must_use]
#[track_caller]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    // Only here: a program that makes no rendezvous links none.
    joined(Some(capacity), (capacity == 0).then_some(MeetingOf::boxed))
}

/// Makes a channel without a bound: sending never waits. One kilobyte is taken here, for the first messages. After that,
/// memory is taken 32 KiB at a time. It is used again while the channel is busy, and goes back to the system as the
/// channel [empties](self#without-a-bound). Of messages of some hundred bytes and more, of which a segment may have less
/// than 32 KiB, it is kept for the next burst, until the channel is dropped.
///
/// # Panics
/// When a message could never fit into memory.
#[doc(alias("channel", "unbounded_channel"))]
#[must_use]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    joined(None, None)
}

#[track_caller]
fn joined<T>(capacity: Option<usize>, meeting: Option<MakeMeeting<T>>) -> (Sender<T>, Receiver<T>) {
    let shared = MpmcShared::new(capacity, meeting);
    (Sender::new(shared.clone()), Receiver::new(shared))
}
