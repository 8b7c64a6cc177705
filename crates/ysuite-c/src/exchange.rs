//! The mpmc channel: any number of senders and receivers share a queue. Messages are moved by their bytes, in and
//! out.

use core::ffi::c_int;

use ysuite::in_place::{Stop, StopRecv, StopSend};
use ysuite::mpmc;
use ysuite::signal::Attach;
use ysuite::{SendError, Spin, TryRecvError, TrySendError};

use crate::code::{Answer, YS_CLOSED, YS_EMPTY, YS_FULL, YS_OK, YS_TIMEOUT, count_or, ys_code};
use crate::lanes::{Ends, deliver, handle_calls, in_time, none, nothing, too_late, wait_closed};
use crate::limit::Limit;
use crate::message::{Message, copy, copy_in, copy_out};
use crate::options::Wanted;
use crate::rx::{RxInner, ys_rx};
use crate::shared::{Shares, SharesSends};
use crate::side::Inner;
use crate::tx::{TxInner, ok_or, one_by_one, ys_tx};

/// Messages that are received on their way to the caller at a time, at most.
const PIECE: usize = 256;

pub(crate) fn exchange<M: Message>(wanted: &Wanted) -> Ends {
    let (sender, receiver) = match wanted.capacity {
        0 => mpmc::unbounded::<M>(),
        capacity => mpmc::bounded(capacity),
    };
    let size = wanted.size;
    (Box::new(ExchangeTx { sender, size }), Box::new(ExchangeRx { receiver, size, piece: Vec::new() }))
}

struct ExchangeTx<M: Message> {
    sender: mpmc::Sender<M>,
    size: usize,
}

struct ExchangeRx<M: Message> {
    receiver: mpmc::Receiver<M>,
    size: usize,
    /// Empty between calls; keeps its memory.
    piece: Vec<M>,
}

impl<M: Message> Inner<ys_tx> for ExchangeTx<M> {
    fn try_clone(&self) -> Result<Box<dyn TxInner>, ys_code> {
        Ok(Box::new(Self { sender: self.sender.clone(), size: self.size }))
    }

    handle_calls!(sender);
}

impl<M: Message> SharesSends for ExchangeTx<M> {
    // MUTANT: A wait for no time gives the same code.
    #[inline]
    unsafe fn send_by_any(&self, message: *const u8, limit: Limit, stop: &Stop) -> c_int {
        // Tried first in any case: what waits is built in memory, piece by piece, and read in larger ones.
        // SAFETY: by the caller.
        match self.sender.try_send(unsafe { copy_in::<M>(message, self.size, copy) }) {
            Ok(()) => c_int::from_code(YS_OK),
            Err(TrySendError::Full(message)) if limit.is_now() => ok_or(Err(message), YS_FULL),
            Err(TrySendError::Full(message)) => in_time(self.sender.send_or_stop(message, limit.timeout(), stop)),
            Err(TrySendError::Disconnected(message)) => ok_or(Err(message), YS_CLOSED),
        }
    }

    fn is_over(&self) -> bool {
        self.sender.is_disconnected()
    }
}

impl<M: Message> TxInner for ExchangeTx<M> {
    wait_closed!();

    #[inline]
    unsafe fn send(&mut self, message: *const u8, stop: &Stop) -> c_int {
        // SAFETY: by the caller.
        unsafe { self.send_by_any(message, Limit::Never, stop) }
    }

    unsafe fn send_for(&mut self, message: *const u8, limit: Limit, stop: &Stop) -> c_int {
        // SAFETY: by the caller.
        unsafe { self.send_by_any(message, limit, stop) }
    }

    // MUTANT: A wait for no time gives the same code.
    unsafe fn send_batch(&mut self, messages: *const u8, count: usize, limit: Limit, stop: &Stop) -> isize {
        let size = self.size;
        // SAFETY: by the caller, for each index below the count.
        let message = |index: usize| unsafe { copy_in::<M>(messages.wrapping_add(index * size), size, copy) };
        if matches!(limit, Limit::Never) {
            let mut taken = 0;
            return match self.sender.send_batch_or_stop((0..count).map(message).inspect(|_| taken += 1), stop) {
                Ok(sent) => sent as isize,
                Err(SendError(back)) => {
                    let sent = taken - back.len();
                    back.into_iter().for_each(core::mem::forget);
                    count_or(sent, if self.sender.is_disconnected() { YS_CLOSED } else { YS_TIMEOUT })
                }
            };
        }
        // SAFETY: by the caller, for each index. One that is not sent has been forgotten.
        one_by_one(count, limit, |index, limit| unsafe {
            self.send_for(messages.wrapping_add(index * size), limit, stop)
        })
    }

    unsafe fn force_send(&mut self, message: *const u8, displaced: *mut u8) -> c_int {
        // SAFETY: by the caller.
        match self.sender.force_send(unsafe { copy_in::<M>(message, self.size, copy) }) {
            Ok(None) => c_int::from_code(YS_OK),
            Ok(Some(oldest)) => {
                if !displaced.is_null() {
                    // SAFETY: by the caller there is room.
                    unsafe { copy_out(oldest, displaced, self.size, copy) };
                }
                1
            }
            Err(SendError(message)) => ok_or(Err(message), YS_CLOSED),
        }
    }

    fn share(&self) -> Result<Shares, ys_code> {
        Ok(Box::new(Self { sender: self.sender.clone(), size: self.size }))
    }

    fn waker_of_all(&self) -> Option<Box<dyn Fn() + Send + Sync>> {
        Some(self.sender.waker_of_all())
    }
}

impl<M: Message> Inner<ys_rx> for ExchangeRx<M> {
    fn try_clone(&self) -> Result<Box<dyn RxInner>, ys_code> {
        Ok(Box::new(Self { receiver: self.receiver.clone(), size: self.size, piece: Vec::new() }))
    }

    handle_calls!(receiver);
}

impl<M: Message> RxInner for ExchangeRx<M> {
    #[inline]
    unsafe fn recv(&mut self, to: *mut u8, stop: &Stop) -> c_int {
        // SAFETY: by the caller.
        unsafe { self.recv_for(to, Limit::Never, stop) }
    }

    #[inline]
    unsafe fn recv_for(&mut self, to: *mut u8, limit: Limit, stop: &Stop) -> c_int {
        match self.receiver.try_recv() {
            // Tried first, as in sends.
            Err(TryRecvError::Empty) if !limit.is_now() => {
                let received = self.receiver.recv_or_stop(limit.timeout(), stop).map_err(too_late);
                // SAFETY: by the caller.
                unsafe { deliver(received, to, self.size) }
            }
            // SAFETY: by the caller.
            now => unsafe { deliver(now.map_err(nothing), to, self.size) },
        }
    }

    fn recv_none(&mut self) -> isize {
        none(self.receiver.try_recv_batch(&mut Vec::new(), 0))
    }

    // MUTANT: One more attempt for the rest of a batch. A wait for no time gives the same code.
    unsafe fn recv_batch(&mut self, messages: *mut u8, max: usize, limit: Limit, stop: &Stop) -> isize {
        let mut taken = 0;
        while taken < max {
            let most = (max - taken).min(PIECE);
            let some = match limit {
                Limit::Never if taken == 0 => {
                    self.receiver.recv_batch_or_stop(&mut self.piece, most, stop).map_err(too_late)
                }
                _ => self.receiver.try_recv_batch(&mut self.piece, most).map_err(nothing),
            };
            let to = messages.wrapping_add(taken * self.size);
            match some {
                Ok(some) => {
                    for (index, message) in self.piece.drain(..).enumerate() {
                        // SAFETY: by the caller there is room.
                        unsafe { copy_out(message, to.wrapping_add(index * self.size), self.size, copy) };
                    }
                    taken += some;
                    if some < most {
                        break;
                    }
                }
                Err(YS_EMPTY) if taken == 0 && !limit.is_now() => {
                    // SAFETY: by the caller there is room.
                    let code = unsafe { self.recv_for(to, limit, stop) };
                    if code != c_int::from_code(YS_OK) {
                        return code as isize;
                    }
                    taken = 1;
                }
                Err(code) => return count_or(taken, code),
            }
        }
        taken as isize
    }
}
