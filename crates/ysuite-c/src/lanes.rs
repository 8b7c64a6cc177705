//! The spsc and mpsc channels: handles with a queue of their own. Messages are written, read and disposed of in its
//! slots.

use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::slice;

use ysuite::channel::{RecvTimeoutError, SendTimeoutError, Spin, TryRecvError, TryReserveError, TrySendError};
use ysuite::in_place::{RecvInPlace, RecvWindow, SendInPlace, SendWindow, Stop};
use ysuite::signal::Attach;
use ysuite::{mpsc, spsc};

use crate::code::{Answer, YS_CLOSED, YS_EMPTY, YS_ETOOMANY, YS_FULL, YS_OK, YS_TIMEOUT, count_or, ys_code};
use crate::disposal;
use crate::limit::{Clock, Limit};
use crate::message::{Message, copy_in, copy_out};
use crate::options::Wanted;
use crate::rx::{RxInner, ys_rx};
use crate::side::Inner;
use crate::steps::{RxSteps, TxSteps, rx_steps, tx_steps};
use crate::tx::{TxInner, ok_or, ys_tx};

pub(crate) type Ends = (Box<dyn TxInner>, Box<dyn RxInner>);

pub(crate) fn pipe<M: Message>(wanted: &Wanted) -> Ends {
    let (sender, receiver) = match wanted.capacity {
        0 => spsc::unbounded::<M>(),
        capacity => spsc::bounded(capacity),
    };
    let size = wanted.size;
    (Box::new(PipeTx { sender, size }), Box::new(PipeRx { receiver, size }))
}

pub(crate) fn funnel<M: Message>(wanted: &Wanted) -> Ends {
    let (sender, receiver) = match (wanted.capacity, wanted.senders) {
        (0, _) => mpsc::unbounded::<M>(),
        (capacity, 0) => mpsc::bounded(capacity),
        (capacity, senders) => mpsc::bounded_for(capacity, senders),
    };
    let size = wanted.size;
    (Box::new(FunnelTx { sender, size }), Box::new(FunnelRx { receiver, size }))
}

// MUTANT: Speed only: messages are copied one by one.
/// Whether `messages` may be taken for messages of the library as they are: they are as long and as aligned.
fn lie_as<M>(messages: *const u8, size: usize) -> bool {
    size == size_of::<M>() && messages.cast::<M>().is_aligned()
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
            unsafe { copy_out(message, to, size) };
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
macro_rules! tx_calls {
    () => {
        #[inline]
        unsafe fn send(&mut self, message: *const u8, stop: &Stop) -> c_int {
            // SAFETY: by the caller.
            in_time(self.sender.send_or_stop(unsafe { copy_in(message, self.size) }, None, stop))
        }

        // MUTANT: A wait for no time gives the same code.
        unsafe fn send_for(&mut self, message: *const u8, limit: Limit, stop: &Stop) -> c_int {
            // SAFETY: by the caller.
            let message = unsafe { copy_in(message, self.size) };
            if !limit.is_now() {
                return in_time(self.sender.send_or_stop(message, limit.timeout(), stop));
            }
            match self.sender.try_send(message) {
                Ok(()) => c_int::from_code(YS_OK),
                Err(TrySendError::Full(message)) => ok_or(Err(message), YS_FULL),
                Err(TrySendError::Disconnected(message)) => ok_or(Err(message), YS_CLOSED),
            }
        }

        fn wait_closed(&mut self, limit: Limit, stop: &Stop) -> bool {
            match limit {
                Limit::Now => self.sender.is_disconnected(),
                _ => self.sender.wait_closed_or_stop(limit.timeout(), stop),
            }
        }
    };
}
pub(crate) use tx_calls;

/// What their receivers do alike.
macro_rules! rx_calls {
    () => {
        #[inline]
        unsafe fn recv(&mut self, to: *mut u8, stop: &Stop) -> c_int {
            let received = self.receiver.recv_or_stop(None, stop).map_err(too_late);
            // SAFETY: by the caller.
            unsafe { deliver(received, to, self.size) }
        }

        unsafe fn recv_for(&mut self, to: *mut u8, limit: Limit, stop: &Stop) -> c_int {
            let received = match limit {
                Limit::Now => self.receiver.try_recv().map_err(nothing),
                _ => self.receiver.recv_or_stop(limit.timeout(), stop).map_err(too_late),
            };
            // SAFETY: by the caller.
            unsafe { deliver(received, to, self.size) }
        }

        fn recv_none(&mut self) -> isize {
            none(self.receiver.try_recv_batch(&mut Vec::new(), 0))
        }
    };
}
pub(crate) use rx_calls;

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
        struct $tx<M: Message> {
            sender: $channel::Sender<M>,
            size: usize,
        }

        impl<M: Message> $tx<M> {
            /// Copies messages into the channel while there is room, and sends them. Returns how many, and whether the channel
            /// is closed.
            ///
            /// # Safety
            /// `count` messages are there.
            unsafe fn send_some(&mut self, messages: *const u8, count: usize) -> (usize, bool) {
                let (size, sender) = (self.size, &mut self.sender);
                let at = |made: usize| messages.wrapping_add(made * size);
                if lie_as::<M>(messages, size) {
                    let copy = |made, run: &mut [MaybeUninit<M>]| {
                        // SAFETY: by the caller. The slots are free, and lie elsewhere.
                        unsafe { run.as_mut_ptr().cast::<M>().copy_from_nonoverlapping(at(made).cast(), run.len()) };
                    };
                    // SAFETY: every slot is filled. What is sent is the caller's no more, by the contract of the call.
                    return unsafe { sender.send_made(count, copy) };
                }
                let copy = |made, run: &mut [MaybeUninit<M>]| {
                    for (index, slot) in run.iter_mut().enumerate() {
                        // SAFETY: by the caller; a slot has room for a whole message of the class.
                        slot.write(unsafe { copy_in(at(made + index), size) });
                    }
                };
                // SAFETY: as above.
                unsafe { sender.send_made(count, copy) }
            }
        }

        impl<M: Message> Inner<ys_tx> for $tx<M> {
            fn steps(&self) -> Option<&'static TxSteps> {
                Some(tx_steps::<M>(self.size))
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

        impl<M: Message> TxInner for $tx<M> {
            tx_calls!();

            fn answer(&mut self, count: usize) -> isize {
                count_or(SendInPlace::answer(&mut self.sender, count), YS_CLOSED)
            }

            unsafe fn send_batch(&mut self, messages: *const u8, count: usize, limit: Limit, stop: &Stop) -> isize {
                let mut clock = Clock::new(limit);
                let mut sent = 0;
                loop {
                    let rest = messages.wrapping_add(sent * self.size);
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
                // SAFETY: by the caller.
                in_time(self.sender.write_or_stop(unsafe { copy_in(message, self.size) }, stop))
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
                *at = run.as_mut_ptr().cast();
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
    ($rx:ident, $channel:ident, |$size:ident| $steps:expr) => {
        struct $rx<M: Message> {
            receiver: $channel::Receiver<M>,
            size: usize,
        }

        impl<M: Message> $rx<M> {
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
                if lie_as::<M>(messages, self.size) {
                    // SAFETY: by the caller.
                    let to = unsafe { slice::from_raw_parts_mut(messages.cast::<MaybeUninit<M>>(), max) };
                    return self.receiver.recv_into(to);
                }
                let mut taken = 0;
                while taken < max {
                    let run = self.receiver.peek_run();
                    let count = run.len().min(max - taken);
                    if count == 0 {
                        break;
                    }
                    for message in &run[..count] {
                        let to = messages.wrapping_add(taken * self.size);
                        // SAFETY: by the caller there is room; the message is released below, and not dropped.
                        unsafe { to.copy_from_nonoverlapping((&raw const *message).cast(), self.size) };
                        taken += 1;
                    }
                    self.receiver.release(count);
                }
                if taken != 0 {
                    return Ok(taken);
                }
                match self.empty_or_closed() {
                    // SAFETY: by the caller. There is a message.
                    Ok(()) => unsafe { self.recv_some(messages, max) },
                    Err(YS_CLOSED) => Err(TryRecvError::Disconnected),
                    Err(_) => Err(TryRecvError::Empty),
                }
            }
        }

        impl<M: Message> Inner<ys_rx> for $rx<M> {
            fn steps(&self) -> Option<&'static RxSteps> {
                let $size = self.size;
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

        impl<M: Message> RxInner for $rx<M> {
            rx_calls!();

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
                *at = run.as_ptr().cast::<u8>().cast_mut();
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
                            *at = message.as_ptr().cast();
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
        Ok(Box::new(Self { sender, size: self.size }))
    }
);
lane_rx!(PipeRx, spsc, |size| Some(rx_steps::<M>(size)));
// Its messages are in many lanes.
lane_rx!(FunnelRx, mpsc, |_size| None);
