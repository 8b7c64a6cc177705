//! The sender of an mpsc channel. One thread at a time.

mod permits;
mod tasks;

use core::fmt;
use core::num::NonZeroU32;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::time::Instant;

pub use self::tasks::SendFuture;
use super::shared::{LANE, MpscShared};
use super::shared_sender::SharedSender;
use super::weak::WeakSender;
use super::{MAX_SENDERS, SendError, SendTimeoutError, TrySendError};
use crate::channel::closed::AwaitedEnd;
use crate::channel::closed::EndWatchers;
use crate::channel::coop::poll_within_budget;
use crate::channel::future::{Closable, ClosedFuture, UntilReady};
use crate::channel::rendezvous::MeetingEnd;
#[cfg(feature = "select")]
use crate::channel::select::{self, SelectSend, pipe::PipeOutlet};
use crate::channel::send::{LeftLane, PipeSender, SenderLink, Sending};
use crate::channel::task_batch::Sends;
use crate::os::Deadline;
use crate::passive::Passive;
use crate::queue::ypipe::Writer;
use crate::signal::{Attach, AttachError, Registration};
use crate::sync::{Arc, window};
use crate::wait::WakeTarget;

/// A sender of the [channel](super), with a lane of its own. Its drop publishes the hidden messages. The receiver gets
/// all that was sent. When the last sender has disconnected, it gets the disconnection.
///
/// Sends take `&mut self`, so it cannot send from an `Arc`, a `static` or behind any other `&`. What can is its
/// [`share`](Self::share):
///
/// ```
/// use std::sync::Arc;
/// use ysuite::mpsc;
///
/// let (sender, receiver) = mpsc::unbounded();
/// let shared = Arc::new(sender.share());
/// drop(sender);
/// let other = shared.clone();
/// std::thread::spawn(move || other.send(1).unwrap());
/// shared.send(1).unwrap();
/// drop(shared);
/// assert!(receiver.into_iter().eq([1, 1]));
/// ```
#[doc = cost!(mpsc DROP)]
pub struct Sender<T> {
    inner: Sending<T, SenderLane<T>>,
}

/// What a sender knows of its lane, in addition to the queue.
pub(in crate::channel) struct SenderLane<T> {
    shared: Arc<MpscShared<T>>,
    /// The lane's id, plus 1, which leaves room for the flag next to it. None where the channel was closed when the
    /// sender connected, and after this sender is closed.
    id_and_one: Option<NonZeroU32>,
    /// The id has no lane: it was claimed for a set. This sender frees it, as the receiver never will.
    is_bare: bool,
    /// Counted among the senders, from its creation until it is closed.
    is_counted: bool,
}

impl<T> SenderLane<T> {
    fn id(&self) -> Option<u32> {
        self.id_and_one.map(|id| id.get() - 1)
    }

    /// A publication has found these tokens: raises the lane's id if the lane was armed (true).
    fn raise(&self, tokens: u32) -> bool {
        // MUTANT: `activate` ignores the id of a lane that is active or free.
        let armed = self.id().filter(|_| tokens & LANE != 0);
        armed.inspect(|&id| self.shared.ready.raise(id as usize)).is_some()
    }

    /// The sender has left its set: frees an id that has no lane.
    fn give_bare_back(&mut self) {
        if core::mem::take(&mut self.is_bare) {
            self.id_and_one.take().inspect(|id| self.shared.give_back(id.get() as usize - 1));
        }
    }
}

impl<T> SenderLink<T> for SenderLane<T> {
    const CROWDED: bool = true;

    // MUTANT: An extra notification is harmless: the receiver checks and parks again. Killed only by
    // `flush_says_false_exactly_when_the_receiver_had_armed`.
    fn wake(&self, _: &Passive, tokens: u32) -> bool {
        let was_armed = self.raise(tokens);
        window();
        was_armed && self.shared.parker.wake()
    }

    fn forget(&self) -> Option<Waker> {
        self.id().and_then(|id| self.shared.forget(id))
    }

    // MUTANT: An extra notification is harmless: the receiver checks and parks again. Killed only by
    // `lanes_of_a_rendezvous_are_free_when_their_senders_have_gone`, and by the model
    // `the_last_senders_end_in_an_active_lane`.
    fn close(&mut self, _: &Passive, tokens: u32) {
        let was_armed = match self.id().filter(|_| self.shared.meeting.is_some()) {
            // A lane of a rendezvous never has a message, so the receiver has no reason to poll it: the sender frees
            // it.
            Some(id) => {
                self.shared.finish(id as usize);
                false
            }
            None => self.raise(tokens),
        };
        self.give_bare_back();
        // The receiver may give the id to another lane from now on.
        self.id_and_one = None;
        // This sender is uncounted before it wakes the receiver. That wake-up may panic, because a waker is user code.
        if self.is_counted && self.shared.disconnect() || was_armed {
            self.shared.parker.wake();
        }
    }

    fn leave(&mut self) {
        self.give_bare_back();
    }

    fn lane(&self) -> Option<u32> {
        let is_ever_left = !self.is_bare && self.shared.meeting.is_none();
        self.id().filter(|_| is_ever_left && self.shared.keeps_lanes())
    }

    fn leave_lane(&self, lane: &mut Option<LeftLane>) {
        self.shared.leave_lane(lane);
    }

    fn unused_lane(&self) -> Option<u32> {
        // After the last sender there can be no other.
        let is_last = || self.is_counted && self.shared.sender_count() == 1;
        self.id().filter(|_| !self.is_bare && self.shared.meeting.is_none() && !is_last())
    }

    fn leave_unused(&mut self, lane: &mut Option<LeftLane>) -> bool {
        let is_left = self.shared.leave_unused(lane);
        if is_left {
            // The lane belongs to another sender from now on.
            self.id_and_one = None;
        }
        is_left
    }

    // MUTANT: A parked receiver has armed every lane, so any sender's drop wakes it. Killed only by the model
    // `the_last_senders_end_in_an_active_lane`.
    fn uncount(&mut self) {
        if self.is_counted && self.shared.disconnect() {
            self.shared.parker.wake();
        }
    }

    fn end_watchers(&self) -> &EndWatchers {
        &self.shared.end_watchers
    }

    fn target(&self) -> &WakeTarget {
        self.shared.sender(self.id())
    }

    /// A sender that has never waited has no target yet. A closed sender, or one that connected after the receiver had
    /// disconnected, has not even an id. It keeps the id that it gets here until it is dropped or closed.
    fn prepare(&mut self) -> bool {
        if self.id_and_one.is_none() {
            self.id_and_one = self.shared.claim().and_then(|id| NonZeroU32::new(id as u32 + 1));
            self.is_bare = self.id_and_one.is_some();
        }
        self.id().is_some_and(|id| {
            self.shared.make_target(id);
            true
        })
    }
}

impl<T> Sender<T> {
    // USER CODE: the allocator; nothing is claimed that a panic would leave; re-entrance: none; by construction: a
    //     failed allocation aborts, it does not panic
    pub(in crate::channel) fn connect(shared: &Arc<MpscShared<T>>) -> Result<Self, TooManySenders> {
        let sender = Self::counted(shared)?;
        shared.count();
        Ok(sender)
    }

    /// A sender that is counted already.
    pub(super) fn counted(shared: &Arc<MpscShared<T>>) -> Result<Self, TooManySenders> {
        let mut sender = Self::uncounted(shared)?;
        sender.inner.end.link.is_counted = true;
        Ok(sender)
    }

    /// A sender that is not counted: its user is counted instead.
    pub(super) fn uncounted(shared: &Arc<MpscShared<T>>) -> Result<Self, TooManySenders> {
        let (writer, id) = shared.connect().ok_or(TooManySenders)?;
        Ok(Self::of(shared, writer, id, false))
    }

    /// The sender of a channel's [first lane](MpscShared::with_first_lane).
    pub(super) fn first(shared: &Arc<MpscShared<T>>, writer: Writer<T>) -> Self {
        Self::of(shared, writer, Some(0), true)
    }

    fn of(shared: &Arc<MpscShared<T>>, writer: Writer<T>, id: Option<u32>, is_counted: bool) -> Self {
        let lane = SenderLane {
            shared: shared.clone(),
            id_and_one: id.and_then(|id| NonZeroU32::new(id + 1)),
            is_bare: false,
            is_counted,
        };
        Self { inner: Sending::new(writer, lane, MeetingEnd::new(shared.meeting.as_ref())) }
    }

    /// A sender that can send nothing, and is not counted.
    pub(super) fn closed_from_birth(shared: &Arc<MpscShared<T>>) -> Self {
        let mut writer = shared.orphaned_lane();
        writer.close();
        let (shared, id_and_one) = (shared.clone(), None);
        let lane = SenderLane { shared, id_and_one, is_bare: false, is_counted: false };
        Self { inner: Sending::new(writer, lane, MeetingEnd(None)) }
    }

    /// Sends the message that is in `place`; waits for room. After an error it is still there; so in the next two.
    #[inline(always)]
    pub(super) fn send_place(&mut self, place: &mut Option<T>) -> Result<(), SendError<()>> {
        self.inner.send_place(place)
    }

    #[inline(always)]
    pub(super) fn try_send_place(&mut self, place: &mut Option<T>) -> Result<(), TrySendError<()>> {
        self.inner.try_send_place(place)
    }

    pub(super) fn send_place_until(
        &mut self,
        place: &mut Option<T>,
        deadline: Deadline,
    ) -> Result<(), SendTimeoutError<()>> {
        self.inner.send_place_until(place, || deadline)
    }

    /// Another sender, with a lane of its own. It is a lane that another sender has left without having sent anything,
    /// or a new one, with a slot for it where there have never been this many senders at once. See [How many
    /// senders](super#how-many-senders) for the amount of memory, and that it is kept.
    #[doc = cost!(mpsc CLONE)]
    ///
    /// # Errors
    /// When the channel has the maximal number of senders: [`MAX_SENDERS`](super::MAX_SENDERS), or the `senders` of
    /// [`bounded_for`](super::bounded_for).
    pub fn try_clone(&self) -> Result<Self, TooManySenders> {
        let shared = &self.inner.end.link.shared;
        // A closed sender is no longer counted, so its clone must not be counted either.
        if self.inner.end.writer.has_ended() { Ok(Self::closed_from_birth(shared)) } else { Self::connect(shared) }
    }

    /// A sender of this channel that any number of threads can share, each with a lane of its own. Counts as a sender,
    /// in addition to this one.
    #[doc = cost!(mpsc SHARE)]
    #[must_use]
    pub fn share(&self) -> SharedSender<T>
    where
        T: 'static,
    {
        SharedSender::new(&self.inner.end.link.shared, !self.inner.end.writer.has_ended())
    }

    /// A weak sender, which knows the channel and does not keep it open.
    #[doc = cost!(mpsc SHARE)]
    #[must_use]
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender::new(&self.inner.end.link.shared)
    }

    /// The number of senders, without weak and closed ones. It may be out of date while senders are made and dropped.
    #[must_use]
    pub fn sender_count(&self) -> usize {
        self.inner.end.link.shared.sender_count()
    }
}

impl<T> Clone for Sender<T> {
    /// Another sender, with a lane of its own. Messages that this sender has hidden stay hidden in its lane. A clone of
    /// a [closed](Sender::close) sender is closed.
    ///
    /// A clone is a lane, so much more than the clone of a handle. It allocates some 350 bytes and takes about 0.3 µs,
    /// unless another sender has left a lane in which nothing was sent. Its first message costs the same again for the
    /// lane's first chunk. Where there have never been this many senders at once the tables grow as well. See [How many
    /// senders](super#how-many-senders) for the amount of memory, and that it is kept. A sender that only has to be
    /// reachable from anywhere is better [shared](Sender::share) than cloned for each message.
    #[doc = cost!(mpsc CLONE)]
    ///
    /// # Panics
    /// When the channel has the maximal number of senders; [`try_clone`](Sender::try_clone) returns an error instead.
    #[track_caller]
    fn clone(&self) -> Self {
        match self.try_clone() {
            Ok(sender) => sender,
            Err(error) => panic!("{error}"),
        }
    }
}

// FINAL: `TooManySenders` and `AttachError` are not: an id may come free; test: tests/suite/select.rs:
//     refusals_change_nothing
/// The channel has the maximal number of simultaneous senders: [`MAX_SENDERS`](super::MAX_SENDERS), or the `senders` of
/// [`bounded_for`](super::bounded_for).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManySenders;

impl fmt::Display for TooManySenders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the channel has its maximal number of senders: {MAX_SENDERS}, or the number it was made for")
    }
}

impl std::error::Error for TooManySenders {}

impl<T> Sender<T> {
    /// Sends a message. It is visible at once, together with the hidden messages. Without a bound this never
    /// waits. With a bound it blocks the thread, and all its tasks, until there is room. A task uses
    /// [`send_async`](Self::send_async).
    #[doc = cost!(mpsc SEND)]
    #[doc = cost!(mpsc SEND_ROOM)]
    #[doc = cost!(mpsc SEND_WAIT)]
    ///
    /// # Errors
    /// When the receiver has disconnected or has closed the channel, and when this sender is closed. A message
    /// that is sent just before the receiver disconnects is dropped with it.
    #[inline(always)]
    #[doc(alias = "blocking_send")]
    pub fn send(&mut self, message: T) -> Result<(), SendError<T>> {
        self.inner.send(message)
    }

    /// Sends a message if there is room. An attached sender that finds no room flushes the hidden messages and
    /// takes its id down.
    #[doc = cost!(mpsc SEND)]
    #[doc = cost!(mpsc SEND_ROOM)]
    #[doc = cost!(mpsc TRY_SEND_REFUSED)]
    ///
    /// # Errors
    /// When there is no room, and as [`send`](Self::send).
    #[inline(always)]
    pub fn try_send(&mut self, message: T) -> Result<(), TrySendError<T>> {
        self.inner.try_send(message)
    }

    /// Sends a message; waits for room for at most `timeout`. `Duration::MAX` means no limit.
    #[doc = cost!(sender LIKE_SEND)]
    ///
    /// # Errors
    /// When the timeout has passed, and as [`send`](Self::send).
    pub fn send_timeout(&mut self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.inner.send_until(message, || Deadline::after(timeout))
    }

    /// Sends a message; waits for room until `deadline` at most. Where there is room the message is sent even
    /// after the deadline.
    #[doc = cost!(sender LIKE_SEND)]
    ///
    /// # Errors
    /// When the deadline has passed, and as [`send`](Self::send).
    pub fn send_deadline(&mut self, message: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        self.inner.send_until(message, || Deadline::At(deadline))
    }

    /// Sends a message; the task waits until there is room. Needs no particular runtime.
    #[doc = cost!(mpsc SEND_TASK)]
    ///
    /// # Errors
    /// As [`send`](Self::send).
    #[inline]
    pub fn send_async(&mut self, message: T) -> SendFuture<'_, T> {
        SendFuture(self.inner.send_async(message))
    }

    /// Ready when there is room for a message, or when the receiver has disconnected. Otherwise registers the
    /// task to be woken then. Where there is no room, hidden messages are flushed. Only the task that polled
    /// last is woken. Its waker is kept until it is woken, another task polls, or this sender is dropped.
    #[doc = cost!(sender READY)]
    pub fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()> {
        poll_within_budget(context, |context| self.inner.poll_ready(context))
    }

    /// Adds a message to the batch. It is hidden until [`flush`](Self::flush), [`send`](Self::send) or the drop
    /// of the sender. Where a bound leaves no room, this flushes the batch and waits for room.
    #[doc = cost!(sender LIKE_SEND)]
    ///
    /// # Errors
    /// When there is no room and the receiver has disconnected. Where there is room, only
    /// [`is_disconnected`](Self::is_disconnected) and the next send report a disconnected receiver.
    #[inline(always)]
    pub fn write(&mut self, message: T) -> Result<(), SendError<T>> {
        self.inner.write(message)
    }

    /// Takes back the newest hidden message of the batch, if there is one.
    #[doc = cost!(sender UNWRITE)]
    pub fn unwrite(&mut self) -> Option<T> {
        self.inner.end.writer.unwrite()
    }

    /// Makes the whole batch visible at once. False: the receiver was asleep and has been woken. Where the
    /// receiver has disconnected or has closed the channel, the batch is dropped.
    #[doc = cost!(sender FLUSH)]
    ///
    /// # Panics
    /// When the drop of a message panics. All other messages are dropped before the panic continues.
    #[inline]
    pub fn flush(&mut self) -> bool {
        self.inner.flush()
    }

    /// Sends all the messages of an iterator as one batch. They become visible together. Where a bound leaves
    /// no room, they are sent in several parts, with a wait in between. Returns the number of messages.
    ///
    /// If the iterator panics, the messages that it had returned until then are sent.
    #[doc = cost!(sender LIKE_SEND)]
    ///
    /// # Errors
    /// As [`send`](Self::send). The error holds the messages that were taken from the iterator and that the
    /// receiver certainly does not get. The iterator is dropped with the messages that it has not returned.
    #[inline]
    pub fn send_batch(&mut self, messages: impl IntoIterator<Item = T>) -> Result<usize, SendError<Vec<T>>> {
        self.inner.send_batch(messages)
    }

    /// Sets how this sender spins before it sleeps when there is no room, from the next wait on. The default is
    /// [`Spin::Adaptive`](crate::Spin::Adaptive).
    pub fn set_spin(&mut self, spin: crate::channel::Spin) {
        self.inner.backoff.spin = spin
    }

    /// The number of this sender's messages that are in the channel. Hidden messages do not count.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.end.writer.len()
    }

    /// Whether no message of this sender is in the channel.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inner.end.writer.is_empty()
    }

    /// Whether there is no room for another message.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.capacity().is_some_and(|capacity| self.inner.end.writer.occupied() >= capacity)
    }

    /// The maximal number of this sender's messages in the channel; `None` without a bound.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.inner.end.writer.capacity()
    }

    /// Whether the receiver has disconnected or has closed the channel, or this sender has been closed. Then no
    /// message that is sent will be received.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        self.inner.is_over()
    }

    /// Takes this sender out of its set: its id is down, and free. False: it was in no set. It can be attached
    /// again, to any set.
    #[doc = cost!(signal DETACH)]
    ///
    /// A receiver that was about to raise the id may still do so once. The next owner of the id must treat that
    /// as a spurious signal.
    pub fn detach(&mut self) -> bool {
        self.inner.detach()
    }
}

/// Sends all the messages of an iterator, as [`send_batch`](Self::send_batch) does; waits for room. It reports nothing:
/// messages that nobody receives any more are dropped.
impl<T> Extend<T> for Sender<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, messages: I) {
        drop(self.send_batch(messages));
    }
}

/// The id of an attached sender is up while there may be room, or when the receiver has disconnected. A
/// `try_send` that finds no room takes it down. Without a bound it is always up.
impl<T> Attach for Sender<T> {
    fn attach_registration(&mut self, registration: Registration) -> Result<(), AttachError> {
        self.inner.attach(registration)
    }

    fn with_registration(&self, look: &mut dyn FnMut(&Registration)) {
        self.inner.with_registration(look);
    }

    fn detach(&mut self) -> bool {
        Sender::detach(self)
    }
}

impl<T> core::fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Sender").field("len", &self.len()).field("capacity", &self.capacity()).finish()
    }
}

impl<T> Sender<T> {
    /// Closes this sender, as its drop does. Publishes the hidden messages. The receiver gets all that was sent, and
    /// the disconnection when all senders are closed or dropped. Afterwards sending fails here, and in clones that are
    /// made later. Other senders continue, because no sender can take away the room of another's lane. Only the
    /// receiver can close the whole channel. True: this sender could send until now. False: it was closed before, or
    /// the receiver has disconnected or has closed the channel.
    ///
    /// A sender that is attached to a set leaves it, as when it is dropped.
    ///
    #[doc = cost!(sender CLOSE)]
    ///
    /// # Panics
    /// When the receiver's waker panics, or, after the receiver has disconnected, the drop of a hidden message. This
    /// sender is closed then.
    pub fn close(&mut self) -> bool {
        self.inner.close()
    }

    /// Waits as a task until the receiver has disconnected or has closed the channel: until nothing can be sent
    /// any more. Returns at once where this sender is [closed](Self::close) itself. Needs no particular
    /// runtime.
    ///
    /// Any number of tasks and threads may wait, each by a borrowed sender. The receiver's work is not slowed
    /// by them.
    #[doc = cost!(sender CLOSED)]
    pub fn closed(&self) -> ClosedFuture<'_, Self> {
        ClosedFuture::new(self.inner.closed())
    }

    /// As [`closed`](Self::closed), for a thread: blocks, and sleeps in the kernel at once.
    #[doc = cost!(sender WAIT_CLOSED)]
    pub fn wait_closed(&self) {
        self.inner.wait_closed(|| Deadline::Never);
    }

    /// As [`wait_closed`](Self::wait_closed), for at most `timeout`. False: the timeout has passed.
    /// `Duration::MAX` means no limit.
    #[doc = cost!(sender WAIT_CLOSED)]
    pub fn wait_closed_timeout(&self, timeout: Duration) -> bool {
        self.inner.wait_closed(|| Deadline::after(timeout))
    }
}

impl<T> Closable for Sender<T> {
    type Wait<'a>
        = UntilReady<AwaitedEnd<'a, T, SenderLane<T>>>
    where
        Self: 'a;
}

#[cfg(feature = "statistics")]
impl<T> Sender<T> {
    /// An observer of the messages that go through this channel. It works on any thread, also after all handles
    /// are dropped: see [`statistics`](crate::statistics). With the feature `statistics` only.
    #[doc = cost!(statistics OBSERVER)]
    #[must_use]
    pub fn observer(&self) -> crate::statistics::Observer {
        self.inner.end.link.shared.meter.observer()
    }
}

impl<T> Sender<T> {
    /// Whether both are handles of the same channel. So does `==`, and the hash is the channel's. Wait-free.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        self.channel_address() == other.channel_address()
    }

    fn channel_address(&self) -> usize {
        Arc::as_ptr(&self.inner.end.link.shared).addr()
    }
}

/// By the channel: clones are equal.
impl<T> PartialEq for Sender<T> {
    fn eq(&self, other: &Self) -> bool {
        self.same_channel(other)
    }
}

impl<T> Eq for Sender<T> {}

impl<T> core::hash::Hash for Sender<T> {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.channel_address().hash(state);
    }
}

#[cfg(feature = "futures")]
impl<T> crate::channel::Feed for Sender<T> {
    type Message = T;

    fn poll_room(
        &mut self,
        fed: &mut crate::channel::Fed<T>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<()>>> {
        poll_within_budget(context, |context| self.inner.poll_room(fed, context))
    }

    fn feed(&mut self, fed: &mut crate::channel::Fed<T>, message: T) -> Result<(), SendError<()>> {
        self.inner.feed(fed, message)
    }

    fn poll_shown(
        &mut self,
        fed: &mut crate::channel::Fed<T>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<()>>> {
        self.inner.poll_shown(fed, context)
    }

    fn finish(&mut self) {
        self.close();
    }

    fn give_up(&mut self, fed: &mut crate::channel::Fed<T>) {
        self.inner.give_up(fed);
    }
}

impl<T> Sends for Sender<T> {
    type Message = T;
}

impl<T> PipeSender for Sender<T> {
    type Link = SenderLane<T>;

    #[inline(always)]
    fn sending(&mut self) -> &mut Sending<T, Self::Link> {
        &mut self.inner
    }
}

#[cfg(feature = "select")]
impl<'a, T> SelectSend for &'a mut Sender<T> {
    type Message = T;
    type Outlet = PipeOutlet<'a, Sender<T>>;

    #[inline]
    fn into_outlet(self) -> Self::Outlet {
        select::pipe::outlet(self)
    }
}
