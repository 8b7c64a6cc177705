//! The sender of an mpsc channel. One thread at a time.

use core::fmt;
use core::future::Future;
use core::num::NonZeroU32;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::time::Instant;

use super::shared::{LANE, MpscShared};
use super::shared_sender::SharedSender;
use super::weak::WeakSender;
use super::{MAX_SENDERS, Permit, Permits, ReserveError, SendError, SendTimeoutError, TryReserveError, TrySendError};
use crate::channel::closed::{EndWatchers, impl_sender_end};
use crate::channel::coop::poll_future;
use crate::channel::identity::impl_identity;
use crate::channel::observed::impl_observer;
use crate::channel::permit::{Reserve, impl_sender_permits};
use crate::channel::pipe::SendTask;
use crate::channel::rendezvous::MeetingEnd;
use crate::channel::send::{LeftLane, SenderLink, Sending, impl_sender_api};
use crate::channel::task_batch::impl_sender_tasks;
use crate::os::Deadline;
use crate::passive::Passive;
use crate::queue::ypipe::Writer;
use crate::signal::{Attach, AttachError, Registration};
use crate::sync::{Arc, window};
use crate::wait::WakeTarget;

/// A sender of the [channel](super), with a lane of its own. Its drop publishes the hidden messages. The receiver gets
/// all that was sent. When the last sender has disconnected, it gets the disconnection.
#[doc = cost!(mpsc DROP)]
pub struct Sender<T> {
    inner: Sending<T, SenderLane<T>>,
}

/// What a sender knows of its lane, in addition to the queue.
struct SenderLane<T> {
    shared: Arc<MpscShared<T>>,
    /// The lane's id, plus 1, which leaves room for the flag next to it. None where the channel was closed when the
    /// sender connected, and after this sender is closed.
    id_and_one: Option<NonZeroU32>,
    /// The id has no lane: it was claimed for a set. This sender frees it, as the receiver never will.
    is_bare: bool,
    /// Counted among the senders, from its creation until it is closed.
    is_counted: bool,
    /// The endpoint of a rendezvous.
    meeting: Option<Box<MeetingEnd<T, true>>>,
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
        let was_armed = match self.id().filter(|_| self.meeting.is_some()) {
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
        let is_ever_left = !self.is_bare && self.meeting.is_none();
        self.id().filter(|_| is_ever_left && self.shared.keeps_lanes())
    }

    fn leave_lane(&self, lane: &mut Option<LeftLane>) {
        self.shared.leave_lane(lane);
    }

    fn unused_lane(&self) -> Option<u32> {
        // After the last sender there can be no other.
        let is_last = || self.is_counted && self.shared.sender_count() == 1;
        self.id().filter(|_| !self.is_bare && self.meeting.is_none() && !is_last())
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

    fn meeting(&self) -> Option<&MeetingEnd<T, true>> {
        self.meeting.as_deref()
    }

    fn meeting_mut(&mut self) -> Option<&mut MeetingEnd<T, true>> {
        self.meeting.as_deref_mut()
    }

    // MUTANT: The rendezvous endpoint is then dropped with the fields of the sender.
    fn leave_meeting(&mut self) -> Option<Box<MeetingEnd<T, true>>> {
        self.meeting.take()
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
            meeting: shared.meeting.as_ref().map(MeetingEnd::sender),
        };
        Self { inner: Sending::new(writer, lane) }
    }

    /// A sender that can send nothing, and is not counted.
    pub(super) fn closed_from_birth(shared: &Arc<MpscShared<T>>) -> Self {
        let mut writer = shared.orphaned_lane();
        writer.close();
        let (shared, id_and_one) = (shared.clone(), None);
        let lane = SenderLane { shared, id_and_one, is_bare: false, is_counted: false, meeting: None };
        Self { inner: Sending::new(writer, lane) }
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
    fn clone(&self) -> Self {
        self.try_clone().unwrap_or_else(|error| panic!("{error}"))
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

/// A send of a task: see [`send_async`](Sender::send_async).
#[must_use = "futures do nothing unless they are polled"]
pub struct SendFuture<'a, T>(SendTask<'a, T, SenderLane<T>>);

impl<T> Future for SendFuture<'_, T> {
    type Output = Result<(), SendError<T>>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        poll_future(&mut self.get_mut().0, context)
    }
}

// No message is ever pinned in place.
impl<T> Unpin for SendFuture<'_, T> {}

impl<T> fmt::Debug for SendFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendFuture").finish_non_exhaustive()
    }
}

impl_sender_api!(mpsc, Sender);
impl_observer!(Sender, |sender| sender.inner.end.link.shared.meter);
impl_identity!(Sender, |sender| &sender.inner.end.link.shared);
impl_sender_permits!(Sender);
impl_sender_tasks!(Sender);
#[cfg(feature = "futures")]
crate::channel::sink::impl_sender_sink!(Sender);
impl_sender_end!(
    Sender,
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
);
#[cfg(feature = "select")]
crate::channel::select::pipe::impl_select_send!(Sender);
#[cfg(feature = "in-place")]
crate::channel::in_place::impl_send_in_place!(Sender);
