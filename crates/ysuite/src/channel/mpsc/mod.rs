//! **mpsc**: many senders, one receiver. Each sender has a lane of its own, a queue to the receiver like that of
//! [`spsc`](crate::spsc). So no sender waits for another, and a stream of messages runs at the speed of `spsc`.
//!
//! A clone of a sender has a new lane. The messages of one sender arrive in order. The receiver visits the lanes in
//! turn, so messages of different senders arrive in the order of these visits. A message is delivered or dropped
//! exactly once, whichever handle is dropped first.
//!
//! A sent message is there. Where a `send` has returned, and the receiver's thread knows it,
//! [`try_recv`](Receiver::try_recv) does not return `Empty` before that message was received. Operations of other
//! senders that are in progress do not change that.
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
//! Up to [`MAX_SENDERS`] at a time. The receiver polls only lanes that have messages, or have had some lately. So an
//! idle lane costs no time, and at most 512 bytes of memory (with 64-bit addresses and 64-byte cache lines). A lane
//! that has been used keeps what it needs for its next messages: a few chunks of at most 8 KiB each, or of one message.
//! The chunk in use can have up to 31 KiB, where the lane had got long. Senders are made and dropped at any time, on
//! any thread, without a lock.
//!
//! Tables hold the lanes by number. They grow to the maximal number of simultaneous senders, and are kept as long as
//! the channel. They take up to 256 bytes for each of these senders, the most where all were active at once. Numbers
//! are used again, so senders that follow one another take no more memory, however long a program runs. A clone for
//! each request is fine.
//!
//! The lane of a dropped sender stays until the receiver has taken its last message and visits it once more. That is no
//! later than the lane's next turn. Messages may pile up in such lanes until no lane is free. Then a new sender
//! continues in the lane of a dropped one, after the messages that are left there. So dropped senders never make a
//! clone fail.
//!
//! A sender that is dropped without having sent anything leaves its lane to the next. So clones that send nothing take
//! no memory, even if the receiver never polls. Up to 60 such lanes are kept as long as the channel. Where more senders
//! are dropped at once, the other lanes stay until the receiver polls.
//!
//! # Cost
//!
//! A lane allocates as it fills for the first time, with a bound too. No receiver allocates for messages. A receive
//! frees the lanes of dropped senders, and arms lanes that have long been empty: at most one barrier for all of them.
//! With senders that stay and stream it does neither.
//!
//! # Fairness
//!
//! The receiver takes up to [`TURN`] messages from a lane, and then visits all other lanes with messages before it
//! returns. Lanes are in a queue. A lane that gets its first message joins at the back, and each lane goes to the back
//! after its turn. So a message in an empty lane is received after at most (*n* + 1) times `TURN` others. Here *n* is
//! the number of other lanes with messages when the current turn ends: the rest of that turn, and a turn of each lane.
//! Senders whose first message comes after that are served later, however many there are. So are senders that are made
//! and dropped meanwhile. Receiving in batches keeps this order, too.
//!
//! # When to use it
//!
//! For threads that report to one receiver: a few that stream, or thousands that send now and then. For a server whose
//! threads start and end often. In place of `std::sync::mpsc`.
//!
//! # When not to use it
//!
//! Where messages of different senders must be received in the order in which they were sent: there is no such order
//! here. Where one bound must hold for all senders together: [`bounded`] gives each sender its own. For one sender
//! only: [`spsc`](crate::spsc) is smaller and a little faster. For several receivers.
//!
//! A sender that is sent into its own channel keeps the channel from disconnecting, as in `std`.

mod lanes;
mod left;
mod receiver;
mod sender;
mod shared;
mod shared_sender;
mod weak;

pub(super) use self::lanes::Lanes;
pub use self::lanes::TURN;
pub use self::receiver::{Receiver, RecvFuture};
pub use self::sender::{SendFuture, Sender, TooManySenders};
use self::shared::ChannelParker;
pub(super) use self::shared::MpscShared;
pub use self::shared_sender::SharedSender;
pub use self::weak::WeakSender;
use super::error::{
    RecvError, RecvTimeoutError, ReserveError, SendError, SendTimeoutError, TryRecvError, TryReserveError, TrySendError,
};
use super::permit::{Permit, Permits};

use super::rendezvous::SharedMeetingOf;
use crate::queue::ypipe::SlotClass;
use crate::statistics::Meter;
use crate::sync::Arc;
use crate::wait::Parker;

/// The maximal number of simultaneous senders of a channel: 262,080. A sender that was [closed](Sender::close) and is
/// kept counts until the receiver has taken its last message, and has polled once more. A dropped sender does not
/// count: see [How many senders](self#how-many-senders).
pub const MAX_SENDERS: usize = crate::queue::MOST;

/// Makes a channel without a bound: sending never waits. Memory grows as messages queue up, and is freed as they are
/// received, except for a small reserve for each sender that has sent. It is the allocator's: glibc's keeps what a burst
/// has freed for the next use, since the newest messages are at the end of its heap (`malloc_trim` gives it back).
#[doc(alias("channel", "unbounded_channel"))]
#[must_use]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    of_class(SlotClass::default(), None, None)
}

/// Makes a channel in which each sender has its own bound: at most `capacity_per_sender` messages of each sender,
/// exactly. A sender with that many messages in the channel waits. The bound of the whole channel is
/// `capacity_per_sender` times the number of senders, which has no limit; [`bounded_for`] sets one. Memory grows as a
/// lane fills for the first time, and is then kept. `usize::MAX` is no bound.
///
/// With a capacity of 0 it is a [rendezvous](crate#rendezvous): a sender hands each message to the receiver, and the
/// channel holds none. Waiting senders are served in turn.
#[doc = cost!(rendezvous TRY)]
#[doc = cost!(rendezvous WAIT)]
#[doc = cost!(rendezvous TASK)]
#[doc(alias("channel", "sync_channel", "rendezvous"))]
#[must_use]
pub fn bounded<T>(capacity_per_sender: usize) -> (Sender<T>, Receiver<T>) {
    match capacity_per_sender {
        // Only here: a program that makes no rendezvous links none.
        0 => ends(SlotClass::default(), Some(0), None, Some(SharedMeetingOf::new)),
        _ => of_class(SlotClass::default(), Some(capacity_per_sender), None),
    }
}

/// As [`bounded`], for at most `senders` simultaneous senders. So there are never more than `capacity_per_sender` times
/// `senders` messages in the channel. Beyond that [`Sender::clone`] panics, and [`Sender::try_clone`] returns an error.
/// Each thread that sends by a [`SharedSender`] is one of the senders. A sender that was [closed](Sender::close) and is
/// kept counts until the receiver has taken its last message, and has polled once more.
///
/// A dropped sender does not count. But its messages take up room until they are received. When there are already
/// `senders` lanes, a new sender continues in the lane of a dropped one. It gets the lane with the fewest messages, and
/// the room that is left there.
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
/// When one of the two is 0, or when `senders` is more than [`MAX_SENDERS`].
#[must_use]
#[track_caller]
pub fn bounded_for<T>(capacity_per_sender: usize, senders: usize) -> (Sender<T>, Receiver<T>) {
    assert!(capacity_per_sender > 0, "a channel needs a capacity of at least 1 for each sender");
    assert!((1..=MAX_SENDERS).contains(&senders), "a channel needs 1 sender and has at most {MAX_SENDERS}");
    of_class(SlotClass::default(), Some(capacity_per_sender), Some(senders))
}

/// A channel with slots of a class, which is no rendezvous.
pub(super) fn of_class<T>(class: SlotClass, bound: Option<usize>, senders: Option<usize>) -> (Sender<T>, Receiver<T>) {
    ends(class, bound, senders, None)
}

#[inline]
fn ends<T>(
    class: SlotClass,
    bound: Option<usize>,
    senders: Option<usize>,
    meeting: Option<fn(&Meter) -> SharedMeetingOf<T>>,
) -> (Sender<T>, Receiver<T>) {
    let meter = Meter::new();
    let parker = ChannelParker::Own(Parker::new(meter.clone()));
    let (shared, writer) = MpscShared::with_first_lane(class, bound, senders, parker, meter, meeting);
    let shared = Arc::new(shared);
    (Sender::first(&shared, writer), Receiver::new(shared))
}

/// A channel without a bound, for a receiver that reads several queues and sleeps on `parker`. It begins without
/// senders, and having none does not close it. Code that shares `shared` makes them: see [`Sender::connect`].
pub(super) fn shared<T>(parker: &Arc<Parker>) -> (Arc<MpscShared<T>>, Lanes<T>) {
    let shared = Arc::new(MpscShared::new(None, None, ChannelParker::Shared(parker.clone()), Meter::default()));
    (shared.clone(), Lanes::new(shared))
}
