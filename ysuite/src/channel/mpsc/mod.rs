//! **The funnel**: many senders, one receiver. Each sender has a lane of its own, a queue to the receiver like that of
//! a [pipe](crate::spsc). So senders never meet: none waits for another, and a stream of messages runs at the speed of
//! [`spsc`](crate::spsc).
//!
//! A clone of a sender has a new lane. The messages of one sender arrive in order; those of different senders as the
//! receiver comes to their lanes, in turn. A message is delivered or dropped exactly once, whichever end goes first.
//! What has been sent is there: where a `send` has returned, and the receiver's thread knows,
//! [`try_recv`](Receiver::try_recv) is not `Empty` before that message was received, whatever other senders are in the
//! middle of.
//!
//! ```
//! use ysuite::mpsc;
//!
//! let (mut sender, receiver) = mpsc::unbounded();
//! let threads: Vec<_> = (0..3)
//!     .map(|_| {
//!         let mut sender = sender.clone();
//!         std::thread::spawn(move || (0..100).for_each(|number| sender.send(number).unwrap()))
//!     })
//!     .collect();
//! sender.send(50).unwrap();
//! drop(sender);
//! assert_eq!(receiver.into_iter().sum::<i32>(), 3 * 4950 + 50);
//! threads.into_iter().for_each(|thread| thread.join().unwrap());
//! ```
//!
//! # How many senders
//!
//! Up to [`MAX_SENDERS`] at a time. The receiver looks only at lanes that have messages, or have had some lately. So an
//! idle lane costs no time, and 512 bytes of memory at most (with 64-bit addresses and 64-byte cache lines). A lane
//! that has been used keeps what it needs for its next messages: a few chunks of at most 8 KiB each (the one in use of
//! up to 31 KiB, where the lane had got long), or of one message. Senders come and go at any time, on any thread,
//! without a lock.
//!
//! The tables that hold the lanes by number grow to the most senders there have been at once, and are kept as long as
//! the channel: up to 256 bytes for each of these senders, the most where all were active at once. Numbers are used
//! again, so senders that come and go one after another take nothing more, for as long as a program runs: a clone for
//! each request is fine.
//!
//! The lane of a sender that is gone stays until the receiver has taken its last message and visits it once more. That
//! is no later than the lane's next turn. Where messages pile up in so many such lanes that there is none to spare, a
//! new sender goes on with the lane of one that is gone, behind the messages that are left there. So no clone is
//! refused for the sake of senders that are gone.
//!
//! A sender that goes without having sent anything leaves its lane to the next: clones that come and go in vain take no
//! memory, though the receiver never looks. Up to 60 such lanes are kept as long as the channel; of more that go at
//! once the others stay until the receiver looks.
//!
//! # Whose turn it is
//!
//! The receiver takes up to [`TURN`] messages from a lane, and then visits all other lanes with messages before it
//! comes back. Lanes are in a queue: one that gets its first message joins at the back, and each goes to the back after
//! its turn. So a message of a lane that is empty is received after at most (*n* + 1) times `TURN` others, where *n* is
//! the number of other lanes with messages when the turn that has begun ends: the rest of that turn, and a turn of
//! each. Senders whose first message comes after that, and those that come and go, are behind it, however many there
//! are. Receiving in batches keeps to that, too.
//!
//! # When to use it
//!
//! For threads that report to one receiver: few that stream, or thousands that send now and then. For a server whose
//! threads come and go. In place of `std::sync::mpsc`.
//!
//! # When not to use it
//!
//! Where messages of different senders must be received in the order in which they were sent: there is no such order
//! here. Where one bound must hold for all senders together: [`bounded`] gives each sender its own. For one sender only
//! [`spsc`](crate::spsc) is smaller and a little faster. For several receivers.
//!
//! A sender sent into its own channel keeps the channel from disconnecting, as in `std`.

mod lanes;
mod left;
mod receiver;
mod sender;
mod shared;
mod shared_sender;
mod weak;

pub(super) use self::lanes::Lanes;
pub use self::lanes::TURN;
pub use self::receiver::Receiver;
pub use self::sender::{Sender, TooManySenders};
pub(super) use self::shared::MpscShared;
pub use self::shared_sender::SharedSender;
pub use self::weak::WeakSender;
pub use super::error::{
    RecvError, RecvTimeoutError, ReserveError, SendError, SendTimeoutError, TryRecvError, TryReserveError, TrySendError,
};
pub use super::permit::{Permit, Permits};

use crate::statistics::Meter;
use crate::sync::Arc;
use crate::wait::Parker;

/// How many senders a channel can have at a time: 262,080. A sender that was [closed](Sender::close) and is kept counts
/// until the receiver has taken its last message, and has looked once more. One that is gone does not count: see
/// [How many senders](self#how-many-senders).
pub const MAX_SENDERS: usize = crate::queue::MOST;

/// A channel without a bound: sending never waits. Memory grows as messages queue up, and is freed as they are
/// received, except for a small reserve for each sender that has sent.
#[must_use]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    ends(None, None)
}

/// A channel with a bound that is each sender's own: at most `capacity_per_sender` messages of each sender, exactly; a
/// sender that has as many in the channel waits. The channel as a whole holds as many times more as there are senders,
/// without a limit; [`bounded_for`] sets one. Memory grows as a lane fills for the first time, and is then kept.
/// `usize::MAX` is no bound.
///
/// With a capacity of 0 it is a [rendezvous](super#rendezvous): a message is handed over, and none is ever in between.
/// Senders that wait are served in turn.
#[must_use]
pub fn bounded<T>(capacity_per_sender: usize) -> (Sender<T>, Receiver<T>) {
    ends(Some(capacity_per_sender), None)
}

/// As [`bounded`], for at most `senders` senders at a time: so never more than `capacity_per_sender` times `senders`
/// messages are in the channel. Beyond that [`Sender::clone`] panics, and [`Sender::try_clone`] returns an error. Each
/// thread that sends by a [`SharedSender`] is one of the senders. One that was [closed](Sender::close) and is kept
/// counts until the receiver has taken its last message, and has looked once more.
///
/// A sender that is gone does not count. But what it has sent takes up room until it is received: where there are as
/// many lanes as `senders`, a new sender goes on with the lane of one that is gone, the one with the fewest messages,
/// and has the room that is left there.
///
/// ```
/// let (sender, mut receiver) = ysuite::mpsc::bounded_for(2, 2);
/// let mut first = sender.try_clone().unwrap();
/// assert!(sender.try_clone().is_err(), "there are two");
/// first.send(1).unwrap();
/// drop(first);
/// let mut second = sender.try_clone().unwrap();
/// second.send(2).unwrap();
/// assert!(second.try_send(3).is_err(), "1 and 2 are in its lane");
/// assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
/// ```
///
/// # Panics
/// Where one of the two is 0, or `senders` more than [`MAX_SENDERS`].
#[must_use]
pub fn bounded_for<T>(capacity_per_sender: usize, senders: usize) -> (Sender<T>, Receiver<T>) {
    assert!(capacity_per_sender > 0, "a channel needs a capacity of at least 1 for each sender");
    assert!((1..=MAX_SENDERS).contains(&senders), "a channel needs 1 sender and has at most {MAX_SENDERS}");
    ends(Some(capacity_per_sender), Some(senders))
}

fn ends<T>(bound: Option<usize>, senders: Option<usize>) -> (Sender<T>, Receiver<T>) {
    let meter = Meter::new();
    let parker = Arc::new(Parker::new(meter.clone()));
    let shared = Arc::new(MpscShared::new(bound, senders, parker, meter));
    let Ok(sender) = Sender::connect(&shared) else { unreachable!("there is room for the first sender") };
    (sender, Receiver::new(shared))
}

/// A channel without a bound, for a receiver that reads several queues and sleeps on `parker`. It begins without
/// senders; that it has none does not close it. What they share makes them: see [`Sender::connect`].
pub(super) fn shared<T>(parker: &Arc<Parker>) -> (Arc<MpscShared<T>>, Lanes<T>) {
    let shared = Arc::new(MpscShared::new(None, None, parker.clone(), Meter::default()));
    (shared.clone(), Lanes::new(shared))
}
