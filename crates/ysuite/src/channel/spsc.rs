//! **spsc**: one sender, one receiver. The fastest channel of this crate, and the first choice.
//!
//! Both handles take `&mut self`, can be moved to other threads, and cannot be cloned. Messages arrive in order. A
//! message is delivered or dropped exactly once, whichever handle is dropped first.
//!
//! ```
//! use ysuite::spsc;
//!
//! let (mut sender, mut receiver) = spsc::unbounded();
//! let thread = std::thread::spawn(move || {
//!     for number in 0..100 {
//!         sender.send(number).unwrap();
//!     }
//! });
//! assert_eq!(receiver.iter().sum::<i32>(), 4950);
//! thread.join().unwrap();
//! ```
//!
//! # Cost
//!
//! No receiver allocates for messages. A chunk that is freed gives its pages back to the kernel, on Linux 5.18 or later
//! also if the program has locked them (`mlockall`).
//!
//! # When not to use it
//!
//! For several senders or several receivers. To bound memory without back-pressure: [`unbounded`] keeps every message
//! that the receiver does not fetch, and only [`bounded`] makes the sender wait.
//!
//! A handle that is sent into its own channel keeps the channel alive, and itself: both leak, as in `std`.

mod permits;
mod receiver;
mod sender;
mod tasks;

#[cfg(feature = "in-place")]
use core::ptr::NonNull;
use core::task::Waker;

pub use self::tasks::{RecvFuture, SendFuture};
use super::closed::EndWatchers;
use super::error::{
    RecvError, RecvTimeoutError, ReserveError, SendError, SendTimeoutError, TryRecvError, TryReserveError, TrySendError,
};
use super::permit::{Permit, Permits};
use super::receive::{PipeReceiver, ReadingEnd, Receiving};
use super::rendezvous::{MeetingEnd, SharedMeetingOf};
#[cfg(feature = "select")]
use super::select::{
    self, SelectRecv, SelectSend,
    pipe::{PipeOutlet, PipeSource},
};
use super::send::{PipeSender, SenderLink, Sending};
use super::task_batch::Sends;
use crate::foreign::Panics;
use crate::passive::{Passive, STAYS};
#[cfg(feature = "in-place")]
use crate::queue::ypipe::SlotClass;
use crate::queue::ypipe::{self, InSlot, Reader, Writer};
use crate::queue::{RegisterCopy, outline};
use crate::statistics::Meter;
use crate::sync::{Arc, window};
use crate::wait::WakeTarget;
use crate::wait::one::WaitingEnd;

/// What the handles share in addition to the queue: how to wake each other.
pub(super) struct SpscShared {
    receiver: WakeTarget,
    sender: WakeTarget,
    /// The tasks and threads that wait until the receiver disconnects.
    end_watchers: EndWatchers,
}

/// Makes a channel without a bound: sending never waits. Memory grows by chunks of up to 60 KiB as messages queue up,
/// and is freed as they are received, except for what repeated bursts need again: up to 8 MiB, or 24 MiB of messages of 128
/// bytes and more, until the receiver sleeps, and 900 KiB while it does. On Linux the chunks of a backlog of more than half a
/// megabyte come from the kernel by 2 MiB at once: the send that needs them takes as long as the kernel needs to clear
/// them, some tens of microseconds or hundreds. Of these the process keeps 2 MiB until a receiver sleeps after a backlog.
#[doc(alias("channel", "unbounded_channel"))]
#[must_use]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    let meter = Meter::new();
    queue(ypipe::metered(None, &meter), meter)
}

/// Makes a channel for at most `capacity` messages, exactly. A sender that finds it full waits. Where the slots take at
/// most 1 MiB, they are allocated here and nothing is allocated later. A larger channel grows as it fills, and then
/// keeps its memory.
///
/// With a capacity of 0 it is a [rendezvous](crate#rendezvous): the sender hands each message to the receiver, and the
/// channel holds none.
#[doc = cost!(rendezvous TRY)]
#[doc = cost!(rendezvous WAIT)]
#[doc = cost!(rendezvous TASK)]
#[doc(alias("sync_channel", "rendezvous", "ring buffer"))]
#[must_use]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let meter = Meter::new();
    if capacity == 0 {
        let meeting = SharedMeetingOf::new(&meter);
        let sender = MeetingEnd::only_sender(&meeting);
        return ends(ypipe::nothing(), meter, sender, MeetingEnd::new(Some(&meeting)));
    }
    queue(ypipe::metered(Some(capacity), &meter), meter)
}

/// A channel with slots of a class.
#[cfg(feature = "in-place")]
pub(super) fn of_class<T>(class: SlotClass, bound: Option<usize>) -> (Sender<T>, Receiver<T>) {
    let meter = Meter::new();
    queue(ypipe::metered_of(class, bound, &meter), meter)
}

fn queue<T>(pipe: (Writer<T>, Reader<T>), meter: Meter) -> (Sender<T>, Receiver<T>) {
    ends(pipe, meter, MeetingEnd(None), MeetingEnd(None))
}

fn ends<T>(
    (writer, reader): (Writer<T>, Reader<T>),
    meter: Meter,
    sending: MeetingEnd<T, true>,
    receiving: MeetingEnd<T, false>,
) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(SpscShared {
        sender: WakeTarget::metered(meter.for_room()),
        receiver: WakeTarget::metered(meter),
        end_watchers: EndWatchers::none(),
    });
    let sender = Sender { inner: Sending::new(writer, shared.clone(), sending) };
    let receiver = Receiver {
        inner: RegisterCopy::new(Receiving::new(SpscReader { reader, shared }, receiving)),
        #[cfg(feature = "stream")]
        has_ended: false,
    };
    (sender, receiver)
}

/// The sender of the [channel](self). Its drop publishes the hidden messages. The receiver gets all that was sent, and
/// then the disconnection.
pub struct Sender<T> {
    inner: Sending<T, Arc<SpscShared>>,
}

impl<T> SenderLink<T> for Arc<SpscShared> {
    // MUTANT: Called only by a flush whose publication has found a wake mode. Killed only by
    // `flush_says_false_exactly_when_the_receiver_had_armed`.
    fn wake(&self, receiver: &Passive, tokens: u32) -> bool {
        self.receiver.wake(receiver, tokens);
        tokens & !STAYS != 0
    }

    fn forget(&self) -> Option<Waker> {
        self.sender.task.take()
    }

    fn close(&mut self, receiver: &Passive, tokens: u32) {
        self.receiver.wake(receiver, tokens);
    }

    fn end_watchers(&self) -> &EndWatchers {
        &self.end_watchers
    }

    fn target(&self) -> &WakeTarget {
        &self.sender
    }
}

impl<T> Sends for Sender<T> {
    type Message = T;
}

impl<T> PipeSender for Sender<T> {
    type Link = Arc<SpscShared>;

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

/// The receiver of the [channel](self). Its drop drops the messages that are in the channel, and makes sending fail.
/// When the drop of a message panics, the other messages are still dropped, and then the panic continues.
pub struct Receiver<T> {
    inner: RegisterCopy<Receiving<SpscReader<T>>>,
    /// As a stream it has returned `None`.
    #[cfg(feature = "stream")]
    has_ended: bool,
}

/// The reader of the queue. It must wake a sender that waits for room.
pub(super) struct SpscReader<T> {
    reader: Reader<T>,
    shared: Arc<SpscShared>,
}

impl<T> SpscReader<T> {
    // MUTANT: A wake without a mode does nothing.
    /// After messages were taken: wakes a sender that waits for room. Without a bound: nothing.
    #[inline(always)]
    fn credit(&self) {
        let tokens = self.reader.credited();
        if tokens != 0 {
            self.shared.sender.wake(self.reader.writer_passive(), tokens);
        }
    }

    /// A message has been taken, and the sender waits for its room. Its waker is user code; while unwinding, its panic
    /// goes no further.
    #[cold]
    #[inline(never)]
    fn release(&self, tokens: u32) {
        Panics::in_drop(|| self.shared.sender.wake(self.reader.writer_passive(), tokens));
    }

    /// This receiver is being dropped or has closed the channel, and has found `tokens`: notifies all that wait for
    /// room, or for this.
    fn tell(&self, tokens: u32) {
        let mut panics = Panics::none();
        panics.catch(|| self.shared.sender.wake(self.reader.writer_passive(), tokens));
        panics.catch(|| self.shared.end_watchers.tell());
    }
}

impl<T> ReadingEnd for SpscReader<T> {
    type Message = T;

    // MUTANT: A wake without a mode does nothing.
    #[inline(always)]
    fn take_by<R>(&mut self, out: impl Copy + FnOnce(InSlot<T>) -> R) -> Option<R> {
        let message = out(self.reader.read_in_slot()?);
        let tokens = self.reader.credited();
        if tokens != 0 {
            outline(self, |end| end.release(tokens));
        }
        Some(message)
    }

    #[inline]
    fn take_many(&mut self, to: &mut Vec<T>, most: usize) -> usize {
        let taken = self.reader.read_batch(to, most);
        // MUTANT: A queue that was empty is not full: no sender waits for room.
        if taken != 0 {
            self.credit();
        }
        taken
    }

    fn peek(&mut self) -> Option<&T> {
        self.reader.peek()
    }

    fn peek_run(&mut self) -> &[T] {
        self.reader.known_run()
    }

    #[inline]
    fn has_message(&mut self) -> bool {
        self.reader.has_message()
    }

    fn len_up_to(&self, enough: usize) -> usize {
        self.reader.len_up_to(enough)
    }

    fn position(&self) -> usize {
        self.reader.position()
    }

    fn bound(&self) -> Option<usize> {
        self.reader.capacity()
    }

    fn is_closed(&self) -> bool {
        self.reader.is_closed()
    }

    fn has_last(&mut self) -> bool {
        self.reader.has_last()
    }

    fn close(&mut self) {
        self.reader.mark_cut().pass();
        window();
        self.reader.cut();
        self.tell(self.reader.credited());
    }

    fn tell_end(&self) {
        self.shared.end_watchers.tell();
    }
}

#[cfg(feature = "in-place")]
impl<T> super::in_place::InPlaceEnd for SpscReader<T> {
    // MUTANT: In-place builds only. Killed only by `in_place::a_waiter_for_room_is_woken_by_every_way_of_taking` and
    // `in_place::windows_and_calls_are_one_queue`.
    #[inline(always)]
    fn take_place(&mut self) -> Option<NonNull<T>> {
        self.take().map(InSlot::leave)
    }

    // MUTANT: In-place builds only. Killed only by `in_place::a_waiter_for_room_is_woken_by_every_way_of_taking` and
    // `in_place::windows_and_calls_are_one_queue`.
    #[inline(always)]
    fn skip(&mut self, count: usize) {
        self.reader.skip(count);
        SpscReader::credit(self);
    }

    #[inline]
    fn take_runs(&mut self, most: usize, each: &mut impl FnMut(NonNull<T>, usize)) -> usize {
        let taken = self.reader.read_runs(most, each);
        // MUTANT: In-place builds only. Killed only by `in_place::a_waiter_for_room_is_woken_by_every_way_of_taking`.
        SpscReader::credit(self);
        taken
    }

    #[inline(always)]
    fn window(&self) -> super::in_place::RecvWindow {
        self.reader.window()
    }

    // MUTANT: In-place builds only. Killed only by `in_place::windows_and_calls_are_one_queue`.
    #[inline(always)]
    unsafe fn resume(&mut self, next: NonNull<u8>, known: NonNull<u8>) {
        // SAFETY: by the caller.
        unsafe { self.reader.resume(next, known) };
    }

    // MUTANT: In-place builds only. Killed only by `in_place::a_waiter_for_room_is_woken_by_every_way_of_taking`.
    fn credit(&mut self) {
        SpscReader::credit(self);
    }

    fn bytes(&self) -> usize {
        self.reader.slot_bytes()
    }
}

impl<T> WaitingEnd for SpscReader<T> {
    #[inline]
    fn is_ready(&mut self) -> bool {
        self.has_message() || self.is_closed()
    }

    fn passive(&self) -> &Passive {
        self.reader.passive()
    }

    fn target(&self) -> &WakeTarget {
        &self.shared.receiver
    }

    fn arm(&mut self, tokens: u32) {
        self.reader.calm();
        self.reader.passive().arm(tokens);
    }
}

impl<T> PipeReceiver for Receiver<T> {
    type End = SpscReader<T>;

    #[inline(always)]
    fn receiving(&mut self) -> &mut Receiving<SpscReader<T>> {
        &mut self.inner
    }
}

#[cfg(feature = "select")]
impl<'a, T> SelectRecv for &'a mut Receiver<T> {
    type Message = T;
    type Error = RecvError;
    type Source = PipeSource<'a, Receiver<T>>;

    #[inline]
    fn into_source(self) -> Self::Source {
        select::pipe::source(self)
    }
}

// USER CODE: the waker of the sender's task, `Drop` of the receiver's waker, then messages' `Drop`; the reader has been
//     dropped before all of them; re-entrance: may use the sender; panic: propagates after the other messages are
//     dropped; a second panic is not resumed; test: tests/suite/conformance/channel/batches.rs:
//     a_waker_that_panics_when_it_is_dropped_loses_no_end, tests/suite/conformance/channel/panics.rs:
//     panicking_drop_of_an_element_takes_the_rest_along
impl<T> Drop for SpscReader<T> {
    // MUTANT: The rendezvous endpoint ends with the function anyway. Killed only by
    // `a_receiver_that_goes_between_two_wakers_that_panic_is_one_panic`.
    fn drop(&mut self) {
        // SAFETY: this is the receiver, borrowed mutably, so no registration of it is in use.
        unsafe { self.shared.receiver.detach() };
        let waker = self.shared.receiver.task.take();
        let tokens = self.reader.leave();
        // Notified before the messages are dropped, which happens with the reader: any of them may panic.
        let mut panics = Panics::none();
        panics.catch(|| self.tell(tokens));
        // Their drops are user code.
        panics.catch(|| drop(waker));
    }
}
