//! The spsc and mpsc channels: handles with a queue of their own. Messages are written, read and disposed of in its
//! slots. One code serves messages of all classes: see [`message`](crate::message).

use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use ysuite::in_place::{RecvInPlace, RecvWindow, SendInPlace, SendWindow, Stop, mpsc_of, spsc_of};
use ysuite::signal::Attach;
use ysuite::{RecvTimeoutError, SendTimeoutError, Spin, TryRecvError, TryReserveError};
use ysuite::{mpsc, spsc};

use crate::code::{Answer, YS_CLOSED, YS_EMPTY, YS_ETOOMANY, YS_FULL, YS_OK, YS_TIMEOUT, count_or, ys_code};
use crate::disposal;
use crate::limit::{Clock, Limit};
use crate::message::{At8, At16, Class, Message, Placed, copy, copy_out, for_class, place};
use crate::options::Wanted;
use crate::rx::{RxInner, ys_rx};
use crate::side::Inner;
use crate::steps::{RxSteps, TxSteps, rx_steps, tx_steps};
use crate::tx::{TxInner, ok_or, ys_tx};

pub(crate) type Ends = (Box<dyn TxInner>, Box<dyn RxInner>);

pub(crate) fn pipe(wanted: &Wanted) -> Ends {
    let shape = Messages::of(wanted);
    let (sender, receiver) = spsc_of(shape.class.slots(), bound(wanted.capacity));
    (Box::new(PipeTx { sender, shape }), Box::new(PipeRx { receiver, shape }))
}

pub(crate) fn funnel(wanted: &Wanted) -> Ends {
    let shape = Messages::of(wanted);
    let senders = (wanted.senders != 0).then_some(wanted.senders);
    let (sender, receiver) = mpsc_of(shape.class.slots(), bound(wanted.capacity), senders);
    (Box::new(FunnelTx { sender, shape }), Box::new(FunnelRx { receiver, shape }))
}

/// A slot that is free.
#[inline(always)]
fn slot(free: NonNull<MaybeUninit<Placed>>) -> *mut u8 {
    place(free.as_ptr().cast())
}

/// As the library says it: `None` is no bound.
fn bound(capacity: usize) -> Option<usize> {
    (capacity != 0).then_some(capacity)
}

/// The messages of a channel.
#[derive(Clone, Copy)]
struct Messages {
    class: Class,
    /// How many bytes one has.
    size: usize,
}

impl Messages {
    fn of(wanted: &Wanted) -> Self {
        Self { class: wanted.class, size: wanted.size }
    }

    /// Whether they fill their slots: a run of them is copied as one.
    fn fill(self) -> bool {
        self.size == self.class.stride
    }
}

/// Copies `count` messages of `size` bytes, which are `step` apart, to where they are `to_step` apart.
///
/// # Safety
/// The messages are there, and so is room for them.
#[inline(never)]
unsafe fn copy_each(size: usize, from: *const u8, step: usize, to: *mut u8, to_step: usize, count: usize) {
    for index in 0..count {
        // SAFETY: by the caller.
        unsafe { copy(from.wrapping_add(index * step), to.wrapping_add(index * to_step), size) };
    }
}

/// What an attempt to receive says that has found nothing.
pub(crate) fn nothing(error: TryRecvError) -> ys_code {
    match error {
        TryRecvError::Empty => YS_EMPTY,
        TryRecvError::Disconnected => YS_CLOSED,
    }
}

/// What a batch of none says, which takes none even where there are messages.
pub(crate) fn none(received: Result<usize, TryRecvError>) -> isize {
    received.map_or_else(|error| isize::from_code(nothing(error)), |_| 0)
}

/// What a receive says whose time is up, or whose channel was stopped, or is closed.
pub(crate) fn too_late(error: RecvTimeoutError) -> ys_code {
    if error.is_timeout() { YS_TIMEOUT } else { YS_CLOSED }
}

/// What a send says that may have run out of time.
#[inline(always)]
pub(crate) fn in_time<T>(sent: Result<(), SendTimeoutError<T>>) -> c_int {
    let code = if sent.as_ref().is_err_and(SendTimeoutError::is_timeout) { YS_TIMEOUT } else { YS_CLOSED };
    ok_or(sent, code)
}

/// Moves a message to the caller.
///
/// # Safety
/// There is room for it.
#[inline(always)]
pub(crate) unsafe fn deliver<M: Message>(received: Result<M, ys_code>, to: *mut u8, size: usize) -> c_int {
    match received {
        Ok(message) => {
            // SAFETY: by the caller.
            unsafe { copy_out(message, to, size, copy) };
            c_int::from_code(YS_OK)
        }
        Err(code) => c_int::from_code(code),
    }
}

/// What the handles of all channels with a queue do alike: their methods have the same names.
macro_rules! handle_calls {
    ($handle:ident) => {
        fn close(&mut self) -> bool {
            self.$handle.close()
        }

        fn is_closed(&self) -> bool {
            self.$handle.is_disconnected()
        }

        fn len(&self) -> Option<usize> {
            Some(self.$handle.len())
        }

        // MUTANT: Speed only: how a handle spins.
        fn set_spin(&mut self, spin: Spin) -> bool {
            self.$handle.set_spin(spin);
            true
        }

        fn attachable(&mut self) -> Option<&mut dyn Attach> {
            Some(&mut self.$handle)
        }
    };
}
pub(crate) use handle_calls;

/// What their senders do alike.
macro_rules! wait_closed {
    () => {
        fn wait_closed(&mut self, limit: Limit, stop: &Stop) -> bool {
            match limit {
                Limit::Now => self.sender.is_disconnected(),
                _ => self.sender.wait_closed_or_stop(limit.timeout(), stop),
            }
        }
    };
}
pub(crate) use wait_closed;

/// Whether a sender has room, after it seemed to have none: a check as in a try to send, so that an attached sender
/// takes its id down.
macro_rules! look_for_room {
    ($this:ident) => {
        match $this.sender.try_reserve() {
            Ok(_) => Ok(()),
            Err(TryReserveError::Disconnected) => Err(YS_CLOSED),
            Err(_) => Err(YS_FULL),
        }
    };
}

macro_rules! lane_tx {
    ($tx:ident, $channel:ident $(, $try_clone:item)?) => {
        struct $tx {
            sender: $channel::Sender<Placed>,
            shape: Messages,
        }

        impl $tx {
            /// Copies messages into the channel while there is room, and sends them. Returns how many, and whether the channel
            /// is closed.
            ///
            /// # Safety
            /// `count` messages are there.
            unsafe fn send_some(&mut self, messages: *const u8, count: usize) -> (usize, bool) {
                let (Messages { class, size }, is_one) = (self.shape, self.shape.fill());
                let fill = move |made, first: NonNull<MaybeUninit<Placed>>, count| {
                    let from = messages.wrapping_add(made * size);
                    // SAFETY: by the caller. The slots are free, lie elsewhere, and have room for a message each.
                    unsafe {
                        if is_one {
                            slot(first).copy_from_nonoverlapping(from, count * size);
                        } else {
                            copy_each(size, from, size, slot(first), class.stride, count);
                        }
                    }
                };
                // SAFETY: every slot is filled. What is sent is the caller's no more, by the contract of the call.
                unsafe { self.sender.send_made(count, fill) }
            }

            /// Sends a copy of the message, if there is room.
            ///
            /// # Safety
            /// A message is there.
            #[inline(always)]
            unsafe fn send_here(&mut self, message: *const u8) -> Option<c_int> {
                let size = self.shape.size;
                // SAFETY: by the caller; the slot has room for it.
                let is_sent = unsafe { self.sender.send_made_here(|to| copy(message, slot(to), size)) };
                is_sent.map(|is_sent| c_int::from_code(if is_sent { YS_OK } else { YS_CLOSED }))
            }
        }

        impl Inner<ys_tx> for $tx {
            fn steps(&self) -> Option<&'static TxSteps> {
                let Messages { class, size } = self.shape;
                Some(for_class!(class, tx_steps(size)))
            }

            #[inline]
            fn window(&mut self) -> SendWindow {
                SendInPlace::window(&mut self.sender)
            }

            #[inline]
            unsafe fn resume(&mut self, window: &SendWindow) {
                // SAFETY: by the caller.
                unsafe { SendInPlace::resume(&mut self.sender, window) };
            }

            $($try_clone)?

            handle_calls!(sender);
        }

        impl TxInner for $tx {
            wait_closed!();

            #[inline]
            unsafe fn send(&mut self, message: *const u8, stop: &Stop) -> c_int {
                // SAFETY: by the caller.
                unsafe { self.send_here(message).unwrap_or_else(|| self.send_for(message, Limit::Never, stop)) }
            }

            unsafe fn send_for(&mut self, message: *const u8, limit: Limit, stop: &Stop) -> c_int {
                loop {
                    // SAFETY: by the caller.
                    if let Some(code) = unsafe { self.send_here(message) } {
                        return code;
                    }
                    let room = self.wait_room(limit, stop);
                    if room != c_int::from_code(YS_OK) {
                        return room;
                    }
                }
            }

            fn answer(&mut self, count: usize) -> isize {
                count_or(SendInPlace::answer(&mut self.sender, count), YS_CLOSED)
            }

            unsafe fn send_batch(&mut self, messages: *const u8, count: usize, limit: Limit, stop: &Stop) -> isize {
                let mut clock = Clock::new(limit);
                let mut sent = 0;
                loop {
                    let rest = messages.wrapping_add(sent * self.shape.size);
                    // SAFETY: by the caller this many are left, from there on.
                    let (some, is_over) = unsafe { self.send_some(rest, count - sent) };
                    sent += some;
                    if sent == count || is_over {
                        return count_or(sent, YS_CLOSED);
                    }
                    if limit.is_now() {
                        match look_for_room!(self) {
                            Ok(()) => continue,
                            Err(code) => return count_or(sent, code),
                        }
                    }
                    match self.sender.wait_room(clock.left(), stop) {
                        Ok(()) => {}
                        Err(error) if error.is_timeout() => return count_or(sent, YS_TIMEOUT),
                        Err(_) => return count_or(sent, YS_CLOSED),
                    }
                }
            }

            #[inline]
            unsafe fn write(&mut self, message: *const u8, stop: &Stop) -> c_int {
                while self.sender.free_run().is_empty() {
                    let room = self.wait_room(Limit::Never, stop);
                    if room != c_int::from_code(YS_OK) {
                        return room;
                    }
                }
                // SAFETY: by the caller; the slot has room for it.
                unsafe { copy(message, place(self.sender.free_run().as_ptr().cast()), self.shape.size) };
                // There is room: it is hidden where it was copied to.
                in_time(self.sender.write_or_stop(Placed, stop))
            }

            fn flush(&mut self) -> c_int {
                let was_over = self.sender.is_disconnected();
                // The channel may close at any time: what is disposed of here shows whether it has got them.
                let before = disposal::disposed();
                self.sender.flush();
                let is_lost = was_over || disposal::disposed() != before;
                c_int::from_code(if is_lost { YS_CLOSED } else { YS_OK })
            }

            fn reserves(&self) -> bool {
                true
            }

            fn reserve(&mut self, at: &mut *mut u8) -> isize {
                // The slots are there all the same.
                if self.sender.is_disconnected() {
                    return isize::from_code(YS_CLOSED);
                }
                let mut run = self.sender.free_run();
                if run.is_empty() {
                    if let Err(code) = look_for_room!(self) {
                        return isize::from_code(code);
                    }
                    run = self.sender.free_run();
                }
                *at = place(run.as_ptr().cast());
                count_or(run.len(), YS_FULL)
            }

            unsafe fn commit(&mut self, count: usize) -> isize {
                // SAFETY: by the caller.
                count_or(unsafe { self.sender.commit_run(count) }, YS_CLOSED)
            }

            fn wait_room(&mut self, limit: Limit, stop: &Stop) -> c_int {
                if limit.is_now() {
                    return c_int::from_code(look_for_room!(self).err().unwrap_or(YS_OK));
                }
                in_time(SendInPlace::wait_room(&mut self.sender, limit.timeout(), stop))
            }
        }
    };
}

macro_rules! lane_rx {
    ($rx:ident, $channel:ident, |$shape:ident| $steps:expr) => {
        struct $rx {
            receiver: $channel::Receiver<Placed>,
            shape: Messages,
        }

        impl $rx {
            /// The result if there seemed to be nothing, after a last check.
            fn empty_or_closed(&mut self) -> Result<(), ys_code> {
                if !self.receiver.is_disconnected() {
                    return Err(YS_EMPTY);
                }
                // What was sent before the disconnect is visible now.
                if self.receiver.peek().is_some() { Ok(()) } else { Err(YS_CLOSED) }
            }

            /// Moves out what is there, at most `max`.
            ///
            /// # Safety
            /// There is room for this many.
            unsafe fn recv_some(&mut self, messages: *mut u8, max: usize) -> Result<usize, TryRecvError> {
                let (Messages { class, size }, is_one, mut to) = (self.shape, self.shape.fill(), messages);
                self.receiver.recv_runs(max, &mut move |from: NonNull<Placed>, count| {
                    // SAFETY: the messages are there; by the caller there is room. They are moved out once.
                    unsafe {
                        if is_one {
                            to.copy_from_nonoverlapping(place(from.as_ptr()), count * size);
                        } else {
                            copy_each(size, place(from.as_ptr()), class.stride, to, size, count);
                        }
                    }
                    to = to.wrapping_add(count * size);
                })
            }

            /// Moves a message to the caller.
            ///
            /// # Safety
            /// It is there, and is the caller's; there is room for it.
            #[inline(always)]
            unsafe fn hand_over(&self, from: NonNull<Placed>, to: *mut u8) -> c_int {
                // SAFETY: by the caller.
                unsafe { copy(place(from.as_ptr()), to, self.shape.size) };
                c_int::from_code(YS_OK)
            }
        }

        impl Inner<ys_rx> for $rx {
            fn steps(&self) -> Option<&'static RxSteps> {
                let $shape = self.shape;
                $steps
            }

            #[inline]
            fn window(&mut self) -> RecvWindow {
                RecvInPlace::window(&mut self.receiver)
            }

            #[inline]
            unsafe fn resume(&mut self, window: &RecvWindow) {
                // SAFETY: by the caller.
                unsafe { RecvInPlace::resume(&mut self.receiver, window) };
            }

            handle_calls!(receiver);
        }

        impl RxInner for $rx {
            #[inline]
            unsafe fn recv(&mut self, to: *mut u8, stop: &Stop) -> c_int {
                match self.receiver.take_or_stop(None, stop) {
                    // SAFETY: it was taken just now; by the caller there is room.
                    Ok(message) => unsafe { self.hand_over(message, to) },
                    Err(error) => c_int::from_code(too_late(error)),
                }
            }

            unsafe fn recv_for(&mut self, to: *mut u8, limit: Limit, stop: &Stop) -> c_int {
                let received = match limit {
                    Limit::Now => self.receiver.take_in_place().map_err(nothing),
                    _ => self.receiver.take_or_stop(limit.timeout(), stop).map_err(too_late),
                };
                match received {
                    // SAFETY: as above.
                    Ok(message) => unsafe { self.hand_over(message, to) },
                    Err(code) => c_int::from_code(code),
                }
            }

            fn recv_none(&mut self) -> isize {
                none(self.receiver.try_recv_batch(&mut Vec::new(), 0))
            }

            fn credit(&mut self) {
                RecvInPlace::credit(&mut self.receiver);
            }

            unsafe fn recv_batch(&mut self, messages: *mut u8, max: usize, limit: Limit, stop: &Stop) -> isize {
                loop {
                    // SAFETY: by the caller.
                    match unsafe { self.recv_some(messages, max) } {
                        Ok(taken) => return taken as isize,
                        Err(TryRecvError::Empty) if !limit.is_now() => {}
                        Err(error) => return isize::from_code(nothing(error)),
                    }
                    // After a message has come nothing can take it away: this waits once.
                    if let Err(error) = self.receiver.wait_message(limit.timeout(), stop) {
                        return isize::from_code(too_late(error));
                    }
                }
            }

            fn shows(&self) -> bool {
                true
            }

            fn peek(&mut self, at: &mut *mut u8) -> isize {
                if self.receiver.peek().is_none() {
                    if let Err(code) = self.empty_or_closed() {
                        return isize::from_code(code);
                    }
                }
                let run = self.receiver.peek_run();
                *at = place(run.as_ptr());
                run.len() as isize
            }

            fn consume(&mut self, count: usize) -> c_int {
                self.receiver.release(count);
                c_int::from_code(YS_OK)
            }

            fn take(&mut self, at: &mut *mut u8, limit: Limit, stop: &Stop) -> c_int {
                loop {
                    match self.receiver.take_in_place() {
                        Ok(message) => {
                            *at = place(message.as_ptr());
                            return c_int::from_code(YS_OK);
                        }
                        Err(TryRecvError::Empty) if !limit.is_now() => {}
                        Err(error) => return c_int::from_code(nothing(error)),
                    }
                    if let Err(error) = self.receiver.wait_message(limit.timeout(), stop) {
                        return c_int::from_code(too_late(error));
                    }
                }
            }

            fn wait(&mut self, limit: Limit, stop: &Stop) -> c_int {
                let outcome = match limit {
                    // As a try to receive that finds nothing: an attached receiver takes its id down.
                    Limit::Now if self.receiver.peek().is_some() => Ok(()),
                    Limit::Now => self.empty_or_closed(),
                    _ => self.receiver.wait_message(limit.timeout(), stop).map_err(too_late),
                };
                c_int::from_code(outcome.err().unwrap_or(YS_OK))
            }
        }
    };
}

lane_tx!(PipeTx, spsc);
lane_tx!(
    FunnelTx,
    mpsc,
    fn try_clone(&self) -> Result<Box<dyn TxInner>, ys_code> {
        let sender = self.sender.try_clone().map_err(|_| YS_ETOOMANY)?;
        Ok(Box::new(Self { sender, shape: self.shape }))
    }
);
lane_rx!(PipeRx, spsc, |shape| Some(for_class!(shape.class, rx_steps(shape.size))));
// Its messages are in many lanes.
lane_rx!(FunnelRx, mpsc, |_shape| None);
