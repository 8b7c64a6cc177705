//! A sender that threads share: `Sync`, by `&self`, for statics and for values in an `Arc`. Each thread that sends by
//! it has a lane of its own, which it finds in a table of the thread. Finding is wait-free; a thread's first send
//! allocates its lane.
//!
//! Cannot: wait for room as a task. A lane wakes one waiter, and the tasks of a thread would share it; a task that
//! moves would leave it. A task has a [`Sender`] of its own.

use core::any::Any;
use core::cell::{Cell, RefCell};
use core::fmt;
use core::time::Duration;
use std::time::Instant;

use super::shared::MpscShared;
use super::{SendError, SendTimeoutError, Sender, TooManySenders, TrySendError, WeakSender};
use crate::channel::error;
use crate::channel::lane_table::{GivenUp, LaneTable, ThreadLane, end_lanes};
use crate::foreign::{Foreign, Panics};
use crate::os::Deadline;
use crate::sync::{Arc, thread_local};

/// A sender of the [channel](super) that any number of threads use at once, each by a lane of its own. Made by
/// [`Sender::share`]. Messages of one thread arrive in order, also through clones. Counts as one sender until it is
/// dropped.
#[doc = cost!(mpsc SHARED_DROP)]
///
/// ```
/// use std::sync::OnceLock;
/// use ysuite::mpsc::{self, SharedSender};
///
/// static LOG: OnceLock<SharedSender<String>> = OnceLock::new();
///
/// let (sender, mut receiver) = mpsc::unbounded();
/// LOG.set(sender.share()).unwrap();
/// std::thread::spawn(|| LOG.get().unwrap().send("from anywhere".into()).unwrap()).join().unwrap();
/// assert_eq!(receiver.recv().unwrap(), "from anywhere");
/// ```
///
/// # Cost
///
/// Finding the lane takes 57 instructions for each message. A [`Sender`]'s send and its receive take 63 together
/// (x86-64, 8 bytes, no bound, counted by callgrind). It is one access to a thread-local, without atomic operations. A
/// thread that sends by several shared senders in turn uses a hash table. A lane costs the same as that of a
/// [clone](Sender#impl-Clone-for-Sender<T>).
///
/// A lane is dropped when its thread ends, and at the first send that finds the receiver disconnected. In a thread that
/// sends by more than 64 shared senders it is also dropped when it has not been used for long. Until then it is open,
/// whether or not there is a shared sender left, and keeps no receiver waiting.
///
/// # In thread-locals' destructors
///
/// A thread that ends may still send. After its table is destroyed, each message has a lane to itself, and no order.
/// The same holds for a message that is sent from within a send of the same thread, by a waker or a message's `Drop`.
pub struct SharedSender<T: 'static> {
    shared: Arc<MpscShared<T>>,
    /// The number of the channel.
    number: u64,
    /// Counted as a sender: made from a sender that was not closed.
    is_counted: bool,
}

/// The lane of this thread in one channel.
struct SharedLane {
    number: u64,
    used: Cell<bool>,
    place: Box<dyn LanePlace>,
}

/// The lane's location, once the thread has a lane: messages of any type.
trait LanePlace {
    fn is_idle(&self, unused: bool) -> bool;
    fn as_any(&self) -> &dyn Any;
}

type LaneCell<T> = RefCell<Option<Sender<T>>>;

impl<T: 'static> LanePlace for LaneCell<T> {
    fn is_idle(&self, unused: bool) -> bool {
        match self.try_borrow().as_deref() {
            // MUTANT: Speed only: the lane of a finished channel is freed at the next sweep, or with its thread.
            Ok(Some(sender)) => sender.is_disconnected() || unused && sender.is_empty(),
            Ok(None) => true,
            Err(_) => false,
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

// THREAD EXIT: `LANES`: before it is destroyed, `SharedSender::send` and its variants work as before; afterwards each
//     message has a lane of its own, without order; test: tests/suite/mpsc/shared.rs:
//     thread_locals_that_are_destroyed_may_send
// THREAD EXIT: its destructor drops each lane by itself; a panic is not resumed; test: tests/suite/mpsc/shared.rs:
//     threads_that_end_give_their_lanes_back
thread_local! {
    static LANES: LaneTable<SharedLane> = LaneTable::new();
}

impl ThreadLane for SharedLane {
    fn number(&self) -> u64 {
        self.number
    }

    fn used(&self) -> &Cell<bool> {
        &self.used
    }

    fn is_idle(&self, unused: bool) -> bool {
        self.place.is_idle(unused)
    }
}

/// Why a message was not sent. It is in its place.
enum Unsent {
    Disconnected,
    Full,
    /// The channel has the maximal number of lanes.
    NoLane,
}

impl From<TrySendError<()>> for Unsent {
    fn from(error: TrySendError<()>) -> Self {
        match error {
            TrySendError::Full(()) => Self::Full,
            TrySendError::Disconnected(()) => Self::Disconnected,
        }
    }
}

impl From<SendTimeoutError<()>> for Unsent {
    fn from(error: SendTimeoutError<()>) -> Self {
        match error {
            SendTimeoutError::Timeout(()) => Self::Full,
            SendTimeoutError::Disconnected(()) => Self::Disconnected,
        }
    }
}

impl From<SendError<()>> for Unsent {
    fn from(_: SendError<()>) -> Self {
        Self::Disconnected
    }
}

/// How long a message waits for room in a lane. These are types, not closures: a send is compiled into its caller,
/// whatever other code is compiled with it.
trait Patience<T> {
    fn send(self, sender: &mut Sender<T>, place: &mut Option<T>) -> Result<(), Unsent>;
}

/// Until there is room.
struct Waits;

/// Does not wait.
struct Tries;

impl<T> Patience<T> for Waits {
    #[inline(always)]
    fn send(self, sender: &mut Sender<T>, place: &mut Option<T>) -> Result<(), Unsent> {
        Ok(sender.send_place(place)?)
    }
}

impl<T> Patience<T> for Tries {
    #[inline(always)]
    fn send(self, sender: &mut Sender<T>, place: &mut Option<T>) -> Result<(), Unsent> {
        Ok(sender.try_send_place(place)?)
    }
}

impl<T> Patience<T> for Deadline {
    fn send(self, sender: &mut Sender<T>, place: &mut Option<T>) -> Result<(), Unsent> {
        Ok(sender.send_place_until(place, self)?)
    }
}

impl<T: 'static> SharedSender<T> {
    /// `is_open`: this sender is made from one that is not closed, and so is counted.
    pub(super) fn new(shared: &Arc<MpscShared<T>>, is_open: bool) -> Self {
        if is_open {
            shared.count();
        }
        Self { shared: shared.clone(), number: shared.number(), is_counted: is_open }
    }

    /// Sends a message by this thread's lane. Without a bound this never waits. With a bound it blocks the thread until
    /// there is room in that lane.
    #[doc = cost!(mpsc SHARED_SEND)]
    ///
    /// # Errors
    /// When the receiver has disconnected or has closed the channel.
    ///
    /// # Panics
    /// When this thread has no lane yet and the channel has the maximal number of lanes; [`try_send`](Self::try_send)
    /// returns an error instead. The message is dropped.
    #[inline]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        let mut place = Foreign::some(message);
        match self.by_lane(&mut place, Waits) {
            Ok(()) => Ok(()),
            Err(Unsent::NoLane) => no_lane(&mut place),
            Err(Unsent::Disconnected | Unsent::Full) => error::of_send(Err(SendError(())), &mut place),
        }
    }

    /// Sends a message if there is room in this thread's lane.
    #[doc = cost!(mpsc SHARED_TRY_SEND)]
    ///
    /// # Errors
    /// When there is no room, also where this thread has no lane yet and the channel has the maximal number of lanes.
    /// And when the receiver has disconnected or has closed the channel.
    #[inline]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let mut place = Foreign::some(message);
        let error = match self.by_lane(&mut place, Tries) {
            Ok(()) => return Ok(()),
            Err(Unsent::Disconnected) => TrySendError::Disconnected(()),
            Err(Unsent::Full | Unsent::NoLane) => TrySendError::Full(()),
        };
        error::of_try_send(Err(error), &mut place)
    }

    /// As [`send`](Self::send); waits for room for at most `timeout`. `Duration::MAX` means no limit.
    #[doc = cost!(mpsc SHARED_SEND)]
    ///
    /// # Errors
    /// When the timeout has passed, and when the receiver has disconnected or has closed the channel.
    ///
    /// # Panics
    /// As [`send`](Self::send).
    pub fn send_timeout(&self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.send_until(message, Deadline::after(timeout))
    }

    /// As [`send`](Self::send); waits for room until `deadline` at most.
    #[doc = cost!(mpsc SHARED_SEND)]
    ///
    /// # Errors
    /// When the deadline has passed, and when the receiver has disconnected or has closed the channel.
    ///
    /// # Panics
    /// As [`send`](Self::send).
    pub fn send_deadline(&self, message: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        self.send_until(message, Deadline::At(deadline))
    }

    fn send_until(&self, message: T, deadline: Deadline) -> Result<(), SendTimeoutError<T>> {
        let mut place = Foreign::some(message);
        let outcome = match self.by_lane(&mut place, deadline) {
            Ok(()) => return Ok(()),
            Err(Unsent::NoLane) => no_lane(&mut place),
            Err(Unsent::Full) => Err(SendTimeoutError::Timeout(())),
            Err(Unsent::Disconnected) => Err(SendTimeoutError::Disconnected(())),
        };
        error::of_send_timeout(outcome, &mut place)
    }

    /// Calls a function with a message and this thread's lane.
    #[inline]
    fn by_lane(&self, place: &mut Option<T>, patience: impl Patience<T>) -> Result<(), Unsent> {
        if !self.is_counted {
            return Err(Unsent::Disconnected);
        }
        match LANES.try_with(|lanes| lanes.take_recent(self.number)) {
            Ok(Some(lane)) => {
                let sent = self.by(&lane, place, patience);
                // MUTANT: Speed only: the lane is found in the table instead.
                // After an error the lane may have been forgotten.
                if sent.is_err() {
                    return end_lanes(sent, lane, GivenUp::new());
                }
                let _ = LANES.try_with(|lanes| lanes.put_back(lane));
                sent
            }
            _ => self.by_other_lane(place, patience),
        }
    }

    /// By another lane than the recent one.
    #[cold]
    #[inline(never)]
    fn by_other_lane(&self, place: &mut Option<T>, patience: impl Patience<T>) -> Result<(), Unsent> {
        let make =
            || SharedLane { number: self.number, used: Cell::new(true), place: Box::new(LaneCell::<T>::default()) };
        let Ok((lane, given_up)) = LANES.try_with(|lanes| lanes.find(self.number, make)) else {
            return self.by_lane_of_its_own(place, patience);
        };
        let sent = self.by(&lane, place, patience);
        end_lanes(sent, lane, given_up)
    }

    // USER CODE: what a send runs: wakers, messages' `Drop`; the thread's lane is borrowed; re-entrance: a send to the
    //     same channel by a shared sender uses a lane of its own for that message; panic: propagates; test:
    //     tests/suite/mpsc/shared.rs: a_waker_may_send_from_within_a_send
    #[inline(always)]
    fn by(&self, lane: &SharedLane, place: &mut Option<T>, patience: impl Patience<T>) -> Result<(), Unsent> {
        let cell: &LaneCell<T> = lane.place.as_any().downcast_ref().expect("a number is that of one channel");
        let Ok(mut sender) = cell.try_borrow_mut() else {
            // A send of this thread is in progress, and user code in it sends.
            return self.by_lane_of_its_own(place, patience);
        };
        if sender.is_none() {
            *sender = self.connect();
        }
        let Some(sender) = &mut *sender else { return Err(Unsent::NoLane) };
        patience.send(sender, place).inspect_err(|unsent| {
            if matches!(unsent, Unsent::Disconnected) {
                self.forget_lane();
            }
        })
    }

    #[cold]
    fn by_lane_of_its_own(&self, place: &mut Option<T>, patience: impl Patience<T>) -> Result<(), Unsent> {
        match self.connect() {
            Some(mut sender) => {
                let sent = patience.send(&mut sender, place);
                // User code.
                Panics::in_drop(|| drop(sender));
                sent
            }
            None => Err(Unsent::NoLane),
        }
    }

    /// A lane, or none where the channel has the maximal number of lanes.
    #[cold]
    fn connect(&self) -> Option<Sender<T>> {
        Sender::uncounted(&self.shared).ok()
    }

    /// The receiver has disconnected: the lane, which its user still holds, is useless.
    #[cold]
    #[inline(never)]
    fn forget_lane(&self) {
        let _ = LANES.try_with(|lanes| lanes.forget(self.number));
    }

    /// A sender with a lane of its own, for a thread or task that sends much, or that waits as a task.
    #[doc = cost!(mpsc CLONE)]
    ///
    /// # Errors
    /// When the channel has the maximal number of senders.
    pub fn sender(&self) -> Result<Sender<T>, TooManySenders> {
        if self.is_counted { Sender::connect(&self.shared) } else { Ok(Sender::closed_from_birth(&self.shared)) }
    }

    /// A weak sender, which knows the channel and does not keep it open.
    #[doc = cost!(mpsc SHARE)]
    #[must_use]
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender::new(&self.shared)
    }

    /// The number of senders: each [`Sender`] and each `SharedSender` is one, however many threads use it.
    #[must_use]
    pub fn sender_count(&self) -> usize {
        self.shared.sender_count()
    }

    /// The maximal number of messages of each thread in the channel; `None` without a bound.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.shared.bound()
    }

    /// Whether the receiver has disconnected or has closed the channel. Then no message that is sent will be received.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        !self.is_counted || self.shared.is_over()
    }
}

#[cold]
fn no_lane<T, R>(place: &mut Option<T>) -> R {
    drop(place.take());
    panic!("{TooManySenders}")
}

impl<T: 'static> Clone for SharedSender<T> {
    /// Another handle of the same channel. Each thread uses the same lane with it.
    #[doc = cost!(mpsc SHARE)]
    fn clone(&self) -> Self {
        Self::new(&self.shared, self.is_counted)
    }
}

// USER CODE: the receiver's waker, where this is the last sender; so also in `upgrade` of `channel/mpsc/weak.rs`. The
//     sender is counted out; re-entrance: any operation; panic: propagates; test: tests/suite/mpsc/shared.rs:
//     the_last_shared_sender_wakes_a_receiver_that_waits
impl<T: 'static> Drop for SharedSender<T> {
    fn drop(&mut self) {
        // MUTANT: The receiver is woken without a reason, finds senders and parks again.
        if self.is_counted && self.shared.disconnect() {
            Panics::in_drop(|| {
                self.shared.parker.wake();
            });
        }
    }
}

impl<T: 'static> SharedSender<T> {
    /// Whether both are handles of the same channel. So does `==`, and the hash is the channel's. Wait-free.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        self.channel_address() == other.channel_address()
    }

    fn channel_address(&self) -> usize {
        Arc::as_ptr(&self.shared).addr()
    }
}

/// By the channel: clones are equal.
impl<T: 'static> PartialEq for SharedSender<T> {
    fn eq(&self, other: &Self) -> bool {
        self.same_channel(other)
    }
}

impl<T: 'static> Eq for SharedSender<T> {}

impl<T: 'static> core::hash::Hash for SharedSender<T> {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.channel_address().hash(state);
    }
}

#[cfg(feature = "statistics")]
impl<T: 'static> SharedSender<T> {
    /// An observer of the messages that go through this channel. It works on any thread, also after all handles
    /// are dropped: see [`statistics`](crate::statistics). With the feature `statistics` only.
    #[doc = cost!(statistics OBSERVER)]
    #[must_use]
    pub fn observer(&self) -> crate::statistics::Observer {
        self.shared.meter.observer()
    }
}

impl<T: 'static> fmt::Debug for SharedSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedSender").field("capacity", &self.capacity()).finish_non_exhaustive()
    }
}
