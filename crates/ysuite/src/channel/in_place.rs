//! Messages that are written, read and dropped in their slots: what a handle offers to a binding for another language.
//! Hidden, behind the feature `in-place`; a promise to `ysuite-c` alone.
//!
//! One thread at a time, as for all operations of a handle. Progress is that of the operations of the same kind: `send`
//! and `recv`.
//!
//! # The window
//!
//! A window gives the other language a handle's position within a chunk of its queue, so that it may send or receive a
//! few messages without a call. Groups of slots, their states and laps are those of
//! [`queue::ypipe`](crate::queue::ypipe). The rules:
//!
//! * It belongs to the caller from [`SendInPlace::window`] until `resume`, which comes before any other call for the
//!   handle.
//! * A sender fills the slot at `next`, moves `next` past it, stores with Release the address of the filled slot plus
//!   `lap` as the state of its group, passes a compiler barrier, and loads `asleep`. If that is not 0, it resumes and
//!   calls [`SendInPlace::answer`]. At `stop`, where the group is full, it may enter the next group if that is before
//!   `end`.
//! * A receiver moves the message at `next` out or drops it there, moves `next` past it, stores with Release one more
//!   in `taken`, passes a compiler barrier, and loads `asleep`. If that is not 0, it resumes and calls
//!   [`RecvInPlace::credit`]. At `known` it loads with Acquire the state of the group, or where that is used up, of the
//!   next one before `end`. Less `lap`, that is the address of the newest published slot, or one before `known` where
//!   nothing is new. Where a group is used up and `marks` is not 0, it writes a byte of each of that group's lines before
//!   it enters the next.
//!
//! # Messages whose size only their opener knows
//!
//! A channel of [`spsc_of`] or [`mpsc_of`] is of a type that has no size. Its slots are of a [`SlotClass`]. One code
//! serves all of these. The opener fills the slots of [`free_run`](SendInPlace::free_run), which lie a class's size
//! apart, and then commits, or sends or writes a message of that type, which is put there and changes nothing. To drop
//! such a message is to drop what is at its address. The address is all that a reference has of it: see
//! [`core::ptr::with_exposed_provenance`].
//!
//! Cannot: be used in a rendezvous, whose messages have no slots, or on an mpmc, whose slots other handles reach as
//! well.

use core::mem::MaybeUninit;
use core::ptr::NonNull;
use core::time::Duration;

use super::closed::AwaitedEnd;
use super::error::{self, RecvTimeoutError, SendTimeoutError, TryRecvError, TrySendError};
use super::mpmc::operations::{MpmcReceive, MpmcSend, RecvRun};
use super::receive::{PipeReceiver, ReadingEnd, Receiving};
use super::send::{PipeSender, SenderLink, Sending};
pub use super::stop::Stop;
use super::stop::{SleepingPlace, Stoppable, StoppableShared, UntilStopped};
use super::{mpmc, mpsc, oneshot, spsc};
use crate::foreign::{Foreign, Panics};
use crate::operation;
use crate::os::Deadline;
use crate::passive::STAYS;
use crate::queue::outline;
pub use crate::queue::ypipe::{RecvWindow, SendWindow, SlotClass};
use crate::wait::many::{ManyWait, SharedEnd};
use crate::wait::one::{self, WaitingEnd};
use crate::wait::{SharedBackoff, Spin};

/// An spsc channel with slots of this class, for at most `bound` messages.
///
/// # Panics
/// If the bound is 0.
#[must_use]
pub fn spsc_of<T>(class: SlotClass, bound: Option<usize>) -> (spsc::Sender<T>, spsc::Receiver<T>) {
    spsc::of_class(class, bound)
}

/// An mpsc channel with slots of this class, for at most `bound` messages of each of at most `senders` senders.
///
/// # Panics
/// If the bound is 0.
#[must_use]
pub fn mpsc_of<T>(
    class: SlotClass,
    bound: Option<usize>,
    senders: Option<usize>,
) -> (mpsc::Sender<T>, mpsc::Receiver<T>) {
    assert!(bound != Some(0), "messages in place need a queue");
    mpsc::of_class(class, bound, senders)
}

/// What a sender with a queue of its own can do in place.
pub trait SendInPlace {
    /// The type of the messages.
    type Message;

    /// The region where the caller may send by itself, until this handle is used again. Shut where it may not.
    /// Wait-free.
    fn window(&mut self) -> SendWindow;

    /// Takes the window back. Wait-free.
    ///
    /// # Safety
    /// It is the last that [`window`](Self::window) has returned, and has been moved on by [its rules](self#the-window)
    /// only. A shut one is as it was.
    unsafe fn resume(&mut self, window: &SendWindow);

    /// Handles a word that was found not to be 0 after the last publication, of `count` messages of one group: wakes
    /// the receiver if it sleeps. Returns how many of them are sent: fewer only when the receiver has disconnected or
    /// has closed the channel. The caller owns the others again, in their slots, until the next call.
    fn answer(&mut self, count: usize) -> usize;

    /// The next free slots that are contiguous; none where there is no room. Wait-free. Does not check for a receiver.
    fn free_run(&mut self) -> &mut [MaybeUninit<Self::Message>];

    /// Sends the messages in the first `count` slots of the run, together with the hidden messages. Returns how many
    /// are sent: fewer only when the receiver has disconnected or has closed the channel. The caller owns the others
    /// again, in their slots, until the next call.
    ///
    /// # Safety
    /// The last call was [`free_run`](Self::free_run), it has returned at least `count` slots, and a message has been
    /// written into each of those.
    unsafe fn commit_run(&mut self, count: usize) -> usize;

    /// Sends `count` messages, as far as there is room, visible together. `fill` gets the number that it has made, the
    /// first of the next slots and how many they are, and makes a message in each. Returns how many are sent, and whether the receiver
    /// has disconnected or has closed the channel. Messages that were made and are not sent are forgotten in their
    /// slots. Wait-free except for `fill`.
    ///
    /// # Safety
    /// `fill` writes a message into every slot that it is given.
    unsafe fn send_made(
        &mut self,
        count: usize,
        fill: impl FnMut(usize, NonNull<MaybeUninit<Self::Message>>, usize),
    ) -> (usize, bool);

    /// Sends a message, which `make` writes into the slot that it gets. Returns whether it is sent: otherwise the
    /// receiver has disconnected or has closed the channel, and the caller owns the message again, in that slot, until the
    /// next call. `None`: there is no room, and nothing was made. Wait-free except for `make`.
    ///
    /// # Safety
    /// `make` writes a message there, and does not panic.
    unsafe fn send_made_here(&mut self, make: impl FnOnce(NonNull<MaybeUninit<Self::Message>>)) -> Option<bool>;

    /// Sends; waits for room for at most `timeout` (`None` means no limit), and until `stop` is set. Otherwise as
    /// `send`.
    ///
    /// # Errors
    /// When the timeout has passed or `stop` is set, and when the receiver has disconnected or has closed the channel.
    fn send_or_stop(
        &mut self,
        message: Self::Message,
        timeout: Option<Duration>,
        stop: &Stop,
    ) -> Result<(), SendTimeoutError<Self::Message>>;

    /// Hides a message; waits for room until `stop` is set. Otherwise as `write`.
    ///
    /// # Errors
    /// The error of a timeout when `stop` is set, and when the receiver has disconnected or has closed the channel.
    fn write_or_stop(&mut self, message: Self::Message, stop: &Stop) -> Result<(), SendTimeoutError<Self::Message>>;

    /// Waits for room for at most `timeout` (`None` means no limit), and until `stop` is set. Hidden messages are
    /// flushed before.
    ///
    /// # Errors
    /// When the timeout has passed or `stop` is set, and when the receiver has disconnected or has closed the channel.
    fn wait_room(&mut self, timeout: Option<Duration>, stop: &Stop) -> Result<(), SendTimeoutError<()>>;

    /// Waits until no message that is sent would be received (true), for at most `timeout` (`None` means no limit), and
    /// until `stop` is set.
    fn wait_closed_or_stop(&mut self, timeout: Option<Duration>, stop: &Stop) -> bool;
}

/// What the only receiver of its queues can do in place.
pub trait RecvInPlace {
    /// The type of the messages.
    type Message;

    /// The region where the caller may receive by itself, until this handle is used again. Shut where it may not.
    /// Wait-free.
    fn window(&mut self) -> RecvWindow;

    /// Takes the window back. Wait-free.
    ///
    /// # Safety
    /// It is the last that [`window`](Self::window) has returned, and has been moved on by [its rules](self#the-window)
    /// only. A shut one is as it was.
    unsafe fn resume(&mut self, window: &RecvWindow);

    /// Handles a word that was found not to be 0 after messages were received: wakes a sender that waits for room.
    fn credit(&mut self);

    /// Receives a message in its slot, if there is one. The caller owns it, and moves it out or drops it before the
    /// next call. Costs the same as `try_recv`.
    ///
    /// # Errors
    /// `Empty` when there is none. `Disconnected` when, in addition, all senders have disconnected.
    fn take_in_place(&mut self) -> Result<NonNull<Self::Message>, TryRecvError>;

    /// Receives the first `count` messages of the run that `peek_run` returned last. The caller owns them, and has
    /// moved them out or dropped them, or does so before the next call.
    ///
    /// # Panics
    /// When the run was shorter.
    fn release(&mut self, count: usize);

    /// Receives the messages that are there, at least one and at most `max`. `each` gets the first of a run and how many
    /// it has, owns them, and moves them out or drops them before it returns. Costs the same as `try_recv_batch`.
    ///
    /// # Errors
    /// `Empty` when there is none. `Disconnected` when, in addition, all senders have disconnected.
    fn recv_runs(
        &mut self,
        max: usize,
        each: &mut impl FnMut(NonNull<Self::Message>, usize),
    ) -> Result<usize, TryRecvError>;

    /// As [`recv_runs`](Self::recv_runs), into `to`.
    ///
    /// # Errors
    /// As of [`recv_runs`](Self::recv_runs).
    fn recv_into(&mut self, to: &mut [MaybeUninit<Self::Message>]) -> Result<usize, TryRecvError> {
        let (room, mut filled) = (to.as_mut_ptr(), 0);
        self.recv_runs(to.len(), &mut |from, count| {
            // SAFETY: there are `count` messages from there on, and room for no fewer: all runs together have no more
            // than `to`. The messages are moved out once.
            unsafe { room.add(filled).cast::<Self::Message>().copy_from_nonoverlapping(from.as_ptr(), count) };
            filled += count;
        })
    }

    /// As [`take_in_place`](Self::take_in_place); waits for at most `timeout` (`None` means no limit), and until `stop`
    /// is set. Otherwise as `recv`.
    ///
    /// # Errors
    /// When the timeout has passed or `stop` is set, and when there is no message and all senders have disconnected.
    fn take_or_stop(
        &mut self,
        timeout: Option<Duration>,
        stop: &Stop,
    ) -> Result<NonNull<Self::Message>, RecvTimeoutError>;

    /// As [`take_or_stop`](Self::take_or_stop), by value.
    ///
    /// # Errors
    /// As of [`take_or_stop`](Self::take_or_stop).
    fn recv_or_stop(&mut self, timeout: Option<Duration>, stop: &Stop) -> Result<Self::Message, RecvTimeoutError> {
        // SAFETY: a message is there, and is this caller's: it is moved out once, and before the next call.
        self.take_or_stop(timeout, stop).map(|place| unsafe { place.read() })
    }

    /// Waits until there is a message, for at most `timeout` (`None` means no limit), and until `stop` is set. Takes
    /// nothing.
    ///
    /// # Errors
    /// When the timeout has passed or `stop` is set, and when there is no message and all senders have disconnected.
    fn wait_message(&mut self, timeout: Option<Duration>, stop: &Stop) -> Result<(), RecvTimeoutError>;
}

/// What a reader needs for this in addition.
pub(super) trait InPlaceEnd: ReadingEnd {
    /// Takes the next message in its slot, if there is one.
    fn take_place(&mut self) -> Option<NonNull<Self::Message>>;
    /// Takes the first messages of the run, in their slots.
    fn skip(&mut self, count: usize);
    /// Takes messages, `most` at most; returns their number. `each` moves them out.
    fn take_runs(&mut self, most: usize, each: &mut impl FnMut(NonNull<Self::Message>, usize)) -> usize;
    fn window(&self) -> RecvWindow;
    /// # Safety
    /// As [`RecvInPlace::resume`], with a window that is not shut.
    unsafe fn resume(&mut self, next: NonNull<u8>, known: NonNull<u8>);
    /// Wakes a sender that waits for room.
    fn credit(&mut self);
    /// Of a message, also where its type has no size.
    fn bytes(&self) -> usize {
        size_of::<Self::Message>()
    }
}

fn deadline(timeout: Option<Duration>) -> Deadline {
    timeout.map_or(Deadline::Never, Deadline::after)
}

impl<S: PipeSender> SendInPlace for S {
    type Message = S::Message;

    #[inline]
    fn window(&mut self) -> SendWindow {
        self.sending().end.writer.window()
    }

    #[inline]
    unsafe fn resume(&mut self, window: &SendWindow) {
        if let Some(next) = NonNull::new(window.next) {
            // SAFETY: by the caller.
            unsafe { self.sending().end.writer.resume(next) };
        }
    }

    fn answer(&mut self, count: usize) -> usize {
        let sending = self.sending();
        let tokens = sending.end.writer.reader_passive().published();
        count - sending.answer_from(tokens, count)
    }

    #[inline]
    fn free_run(&mut self) -> &mut [MaybeUninit<S::Message>] {
        self.sending().end.writer.free_slots(usize::MAX)
    }

    #[inline]
    unsafe fn commit_run(&mut self, count: usize) -> usize {
        let sending = self.sending();
        // SAFETY: by the caller.
        let tokens = unsafe { sending.end.writer.publish_slots(count) };
        count - sending.answer_from(tokens, count)
    }

    // MUTANT: One more attempt for no slots finds none. The publication reports a missing receiver itself.
    #[inline]
    unsafe fn send_made(
        &mut self,
        count: usize,
        mut fill: impl FnMut(usize, NonNull<MaybeUninit<S::Message>>, usize),
    ) -> (usize, bool) {
        let sending = self.sending();
        // SAFETY: by the caller.
        let made = unsafe { sending.end.writer.fill_runs(count, &mut fill) };
        let tokens = sending.end.writer.publish();
        let back = sending.answer_from(tokens, made);
        (made - back, tokens & STAYS != 0 || made == 0 && sending.is_over())
    }

    // MUTANT: Speed only: the slow path finds the same room.
    #[inline(always)]
    unsafe fn send_made_here(&mut self, make: impl FnOnce(NonNull<MaybeUninit<S::Message>>)) -> Option<bool> {
        let sending = self.sending();
        let writer = &mut *sending.end.writer;
        let is_here = writer.may_send_here();
        if !is_here && !writer.has_room() {
            return None;
        }
        // SAFETY: there is room, so this is a slot, which is not at null. By the caller it holds a message then.
        let tokens = unsafe {
            make(NonNull::new_unchecked(writer.slot_here()).cast());
            if is_here {
                writer.sent_here()
            } else {
                writer.written_here();
                writer.publish()
            }
        };
        Some(tokens == 0 || outline(sending, |sending| sending.answer_from(tokens, 1)) == 0)
    }

    #[inline]
    fn send_or_stop(
        &mut self,
        message: S::Message,
        timeout: Option<Duration>,
        stop: &Stop,
    ) -> Result<(), SendTimeoutError<S::Message>> {
        let (sending, mut place) = (self.sending(), Foreign::some(message));
        let outcome = match sending.attempt(&mut place) {
            Err(TrySendError::Full(())) => outline(sending, |sending| {
                let until = deadline(timeout);
                sending.send_by_waiting(&mut place, |sending| sending.wait_or_stop(until, stop))
            }),
            Err(TrySendError::Disconnected(())) => Err(SendTimeoutError::Disconnected(())),
            Ok(()) => return Ok(()),
        };
        error::of_send_timeout(outcome, &mut place)
    }

    fn write_or_stop(&mut self, message: S::Message, stop: &Stop) -> Result<(), SendTimeoutError<S::Message>> {
        let mut place = Foreign::some(message);
        while !self.sending().end.writer.write_from(&mut place) {
            // The waker that this wakes is user code.
            let mut waited = Ok(());
            Panics::in_drop(|| waited = self.wait_room(None, stop));
            if waited.is_err() {
                return error::of_send_timeout(waited, &mut place);
            }
        }
        Ok(())
    }

    fn wait_room(&mut self, timeout: Option<Duration>, stop: &Stop) -> Result<(), SendTimeoutError<()>> {
        let (sending, mut until) = (self.sending(), None);
        loop {
            if sending.is_over() {
                return Err(SendTimeoutError::Disconnected(()));
            }
            if sending.end.writer.has_room() {
                return Ok(());
            }
            // Hidden messages must be published before this waits, or two such handles would wait for each other.
            sending.flush();
            let until = *until.get_or_insert_with(|| deadline(timeout));
            if !sending.wait_or_stop(until, stop) && !sending.end.is_ready() {
                return Err(SendTimeoutError::Timeout(()));
            }
        }
    }

    fn wait_closed_or_stop(&mut self, timeout: Option<Duration>, stop: &Stop) -> bool {
        let sending = self.sending();
        if sending.is_over() {
            return true;
        }
        let end = AwaitedEnd(sending);
        // SAFETY: the list belongs to the channel, which exists as long as the borrowed handle.
        let _enlisted = unsafe { stop.enlist(SleepingPlace::List(NonNull::from(end.list()))) };
        let backoff = SharedBackoff::new();
        backoff.set(Spin::None);
        ManyWait::new(StoppableShared { end, stop }, false).block(&backoff, deadline(timeout)) && sending.is_over()
    }
}

impl<T, L: SenderLink<T>> Sending<T, L> {
    // MUTANT: A count that this build does not keep, or a wake mode without a waiter. An unpublished message goes out
    // with the next one.
    /// The last `count` messages have been published, which has found `tokens`. Returns the number of messages that
    /// came back: they are left in their slots.
    fn answer_from(&mut self, tokens: u32, count: usize) -> usize {
        let mut back = 0;
        if tokens & STAYS != 0 {
            let from = self.end.writer.position().wrapping_sub(count);
            self.end.writer.reclaim(tokens, from, &mut |message| {
                back += 1;
                message.leave();
            });
            // This reports the disconnection, and so does each call from now on.
            self.end.writer.forget_room();
        } else if tokens != 0 {
            self.end.writer.count();
            self.end.link.wake(self.end.writer.reader_passive(), tokens);
        }
        back
    }

    /// Blocks until there may be room (true), or the deadline has passed, or `stop` is set.
    fn wait_or_stop(&mut self, until: Deadline, stop: &Stop) -> bool {
        self.stand_back(until);
        one::block(&mut Stoppable::new(&mut *self.end, stop), &mut self.backoff, until) && !stop.is_set()
    }
}

impl<R: PipeReceiver<End: InPlaceEnd>> RecvInPlace for R {
    type Message = R::Message;

    #[inline]
    fn window(&mut self) -> RecvWindow {
        self.receiving().end.window()
    }

    #[inline]
    unsafe fn resume(&mut self, window: &RecvWindow) {
        if let (Some(next), Some(known)) = (NonNull::new(window.next), NonNull::new(window.known)) {
            // SAFETY: by the caller.
            unsafe { self.receiving().end.resume(next, known) };
        }
    }

    fn credit(&mut self) {
        self.receiving().end.credit();
    }

    #[inline]
    fn take_in_place(&mut self) -> Result<NonNull<R::Message>, TryRecvError> {
        let receiving = self.receiving();
        if let Some(place) = receiving.end.take_place() {
            return Ok(place);
        }
        receiving.find()?;
        receiving.end.take_place().ok_or(TryRecvError::Disconnected)
    }

    #[inline]
    fn release(&mut self, count: usize) {
        self.receiving().end.skip(count);
    }

    fn recv_runs(
        &mut self,
        max: usize,
        each: &mut impl FnMut(NonNull<R::Message>, usize),
    ) -> Result<usize, TryRecvError> {
        if max == 0 {
            return Ok(0);
        }
        let receiving = self.receiving();
        let taken = receiving.end.take_runs(max, each);
        if taken != 0 {
            return Ok(taken);
        }
        receiving.find()?;
        Ok(receiving.end.take_runs(max, each))
    }

    #[inline]
    fn take_or_stop(
        &mut self,
        timeout: Option<Duration>,
        stop: &Stop,
    ) -> Result<NonNull<R::Message>, RecvTimeoutError> {
        let receiving = self.receiving();
        if let Some(place) = receiving.end.take_place() {
            return Ok(place);
        }
        outline(receiving, |receiving| receiving.wait_or_stop(deadline(timeout), stop))?;
        receiving.end.take_place().ok_or(RecvTimeoutError::Disconnected)
    }

    // MUTANT: Speed only: the wait itself checks before it begins.
    fn wait_message(&mut self, timeout: Option<Duration>, stop: &Stop) -> Result<(), RecvTimeoutError> {
        let receiving = self.receiving();
        if receiving.end.has_message() { Ok(()) } else { receiving.wait_or_stop(deadline(timeout), stop) }
    }
}

impl<E: InPlaceEnd> Receiving<E> {
    // MUTANT: Speed only: the wait itself checks before it begins.
    /// As `wait`, also until `stop` is set.
    #[cold]
    #[inline(never)]
    fn wait_or_stop(&mut self, until: Deadline, stop: &Stop) -> Result<(), RecvTimeoutError> {
        let mut in_time = true;
        loop {
            if self.end.has_message() {
                return Ok(());
            }
            // Checks again once the queue is closed: what the sender published before it closed is visible then.
            if self.end.is_closed() {
                return if self.end.has_last() { Ok(()) } else { Err(RecvTimeoutError::Disconnected) };
            }
            if !in_time || stop.is_set() {
                return Err(RecvTimeoutError::Timeout);
            }
            self.backoff.look_away(self.end.position(), until, self.end.bytes());
            in_time = self.backoff.wait(&mut Stoppable::new(&mut self.end, stop), until);
        }
    }
}

/// What handles of an mpmc and of a oneshot can do with a [`Stop`]: when that is set, waits end as at their deadline.
/// `None` means no limit.
pub trait StopSend<T> {
    /// As `send_timeout`.
    ///
    /// # Errors
    /// When the timeout has passed or `stop` is set, and when no receiver is left.
    fn send_or_stop(&self, message: T, timeout: Option<Duration>, stop: &Stop) -> Result<(), SendTimeoutError<T>>;

    /// As `send_batch`. The error holds all messages that were taken from the iterator and not sent.
    ///
    /// # Errors
    /// When `stop` is set, and when no receiver is left.
    fn send_batch_or_stop(
        &self,
        messages: impl IntoIterator<Item = T>,
        stop: &Stop,
    ) -> Result<usize, crate::channel::SendError<Vec<T>>>;

    /// As `wait_closed_timeout`.
    fn wait_closed_or_stop(&self, timeout: Option<Duration>, stop: &Stop) -> bool;

    /// Wakes all that wait in this channel, without a reason. Any thread may call it, at any time.
    fn waker_of_all(&self) -> Box<dyn Fn() + Send + Sync>
    where
        T: Send + 'static;
}

/// As [`StopSend`], for receivers.
pub trait StopRecv<T> {
    /// As `recv_timeout`.
    ///
    /// # Errors
    /// When the timeout has passed or `stop` is set, and when there is no message and all senders have disconnected.
    fn recv_or_stop(&self, timeout: Option<Duration>, stop: &Stop) -> Result<T, RecvTimeoutError>;

    /// As `recv_batch`.
    ///
    /// # Errors
    /// When `stop` is set, and when there is no message and all senders have disconnected.
    fn recv_batch_or_stop(&self, to: &mut Vec<T>, max: usize, stop: &Stop) -> Result<usize, RecvTimeoutError>;
}

impl<T> StopSend<T> for mpmc::Sender<T> {
    #[inline]
    fn send_or_stop(&self, message: T, timeout: Option<Duration>, stop: &Stop) -> Result<(), SendTimeoutError<T>> {
        let mut place = Foreign::some(message);
        let operation = UntilStopped { operation: MpmcSend::until(self, stop), stop };
        let outcome = operation::block(operation, &mut *place, deadline(timeout));
        error::of_send_timeout(error::of_limited(outcome), &mut place)
    }

    fn send_batch_or_stop(
        &self,
        messages: impl IntoIterator<Item = T>,
        stop: &Stop,
    ) -> Result<usize, crate::channel::SendError<Vec<T>>> {
        self.send_batch_by(messages, |run| {
            let operation = UntilStopped { operation: MpmcSend::until(self, stop), stop };
            matches!(operation::block(operation, run, Deadline::Never), Some(Ok(())))
        })
    }

    fn wait_closed_or_stop(&self, timeout: Option<Duration>, stop: &Stop) -> bool {
        self.wait_closed_by(|end| StoppableShared { end, stop }, deadline(timeout))
    }

    fn waker_of_all(&self) -> Box<dyn Fn() + Send + Sync>
    where
        T: Send + 'static,
    {
        let shared = self.shared().clone();
        Box::new(move || shared.wake_all())
    }
}

impl<T> StopRecv<T> for mpmc::Receiver<T> {
    #[inline]
    fn recv_or_stop(&self, timeout: Option<Duration>, stop: &Stop) -> Result<T, RecvTimeoutError> {
        let mut place = Foreign::none();
        let operation = UntilStopped { operation: MpmcReceive::until(self, stop), stop };
        let outcome = operation::block(operation, &mut *place, deadline(timeout));
        error::received(error::of_limited_receive(outcome), &mut place)
    }

    fn recv_batch_or_stop(&self, to: &mut Vec<T>, max: usize, stop: &Stop) -> Result<usize, RecvTimeoutError> {
        if max == 0 {
            return Ok(0);
        }
        let mut batch = RecvRun::new(to, max);
        let operation = UntilStopped { operation: MpmcReceive::until(self, stop), stop };
        let outcome = operation::block(operation, &mut batch, Deadline::Never);
        error::of_limited_receive(outcome).map(|()| batch.taken)
    }
}

/// As for an mpmc, with the only message.
pub trait StopOnce<T> {
    /// As `recv_timeout`.
    ///
    /// # Errors
    /// When the timeout has passed or `stop` is set, and when there will be no message, or it has been returned before.
    fn recv_or_stop(&mut self, timeout: Option<Duration>, stop: &Stop) -> Result<T, RecvTimeoutError>;
}

/// As for an mpmc, with the only sender.
pub trait StopWaiting {
    /// As `wait_closed_timeout`.
    fn wait_closed_or_stop(&mut self, timeout: Option<Duration>, stop: &Stop) -> bool;
}

impl<T> StopOnce<T> for oneshot::Receiver<T> {
    fn recv_or_stop(&mut self, timeout: Option<Duration>, stop: &Stop) -> Result<T, RecvTimeoutError> {
        oneshot::Receiver::recv_or_stop(self, timeout, stop)
    }
}

impl<T> StopWaiting for oneshot::Sender<T> {
    fn wait_closed_or_stop(&mut self, timeout: Option<Duration>, stop: &Stop) -> bool {
        oneshot::Sender::wait_closed_or_stop(self, timeout, stop)
    }
}
