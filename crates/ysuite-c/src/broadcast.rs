//! The broadcast: every receiver gets every message, as a copy that the channel's `clone` callback makes.

use core::cell::Cell;
use core::ffi::c_int;
use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use std::sync::Arc;

use ysuite::broadcast::{self, RecvError, TryRecvError};
use ysuite::in_place::Stop;
use ysuite::signal::Attach;
use ysuite::{SendTimeoutError, Spin, TrySendError};

use crate::code::{Answer, YS_CLOSED, YS_EMPTY, YS_FULL, YS_LAGGED, YS_OK, YS_TIMEOUT, count_or, ys_code};
use crate::lanes::{Ends, deliver};
use crate::limit::Limit;
use crate::message::{At8, At16, Copied, Message, copy, copy_in, for_copied};
use crate::options::Wanted;
use crate::parked::{self, Sleepers};
use crate::rx::{RxInner, ys_rx};
use crate::shared::{Shares, SharesSends};
use crate::side::Inner;
use crate::tx::{TxInner, ok_or, one_by_one, ys_tx};

pub(crate) fn broadcast(wanted: &Wanted, is_lossy: bool) -> Ends {
    for_copied!(wanted.class, ends(wanted, is_lossy))
}

fn ends<M: Message>(wanted: &Wanted, is_lossy: bool) -> Ends {
    let make = if is_lossy { broadcast::lossy } else { broadcast::bounded };
    let (sender, receiver) = make(wanted.capacity);
    let (size, sleepers) = (wanted.size, Arc::<Sleepers>::default());
    let tx = BroadcastTx::<M> { sender, size, sleepers: sleepers.clone() };
    (Box::new(tx), Box::new(BroadcastRx { receiver, size, sleepers, has_lagged: false }))
}

struct BroadcastTx<M: Message> {
    sender: broadcast::Sender<Copied<M>>,
    size: usize,
    sleepers: Arc<Sleepers>,
}

struct BroadcastRx<M: Message> {
    receiver: broadcast::Receiver<Copied<M>>,
    size: usize,
    sleepers: Arc<Sleepers>,
    /// A batch has found out, and has returned what it had.
    has_lagged: bool,
}

impl<M: Message> BroadcastTx<M> {
    fn another(&self) -> Self {
        Self { sender: self.sender.clone(), size: self.size, sleepers: self.sleepers.clone() }
    }

    /// Waits for room.
    fn send_later(&self, message: Copied<M>, limit: Limit, stop: &Stop) -> c_int {
        let is_over = Cell::new(false);
        let over = poll_fn(|_| if is_over.get() { Poll::Ready(()) } else { Poll::Pending });
        let mut sending = pin!(self.sender.send_async_until(message, over));
        let mut outcome = parked::wait(&self.sleepers, limit, stop, |context| sending.as_mut().poll(context));
        is_over.set(true);
        loop {
            match outcome {
                Some(Ok(())) => return c_int::from_code(YS_OK),
                Some(Err(SendTimeoutError::Timeout(message))) => return ok_or(Err(message), YS_TIMEOUT),
                Some(Err(SendTimeoutError::Disconnected(message))) => return ok_or(Err(message), YS_CLOSED),
                // The message comes back from the future alone: dropped there, it would be disposed of.
                None => match sending.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                    Poll::Ready(ended) => outcome = Some(ended),
                    Poll::Pending => std::thread::yield_now(),
                },
            }
        }
    }
}

impl<M: Message> SharesSends for BroadcastTx<M> {
    unsafe fn send_by_any(&self, message: *const u8, limit: Limit, stop: &Stop) -> c_int {
        // SAFETY: by the caller.
        match self.sender.try_send(unsafe { copy_in(message, self.size, copy) }) {
            Ok(()) => c_int::from_code(YS_OK),
            Err(TrySendError::Disconnected(message)) => ok_or(Err(message), YS_CLOSED),
            Err(TrySendError::Full(message)) if limit.is_now() => ok_or(Err(message), YS_FULL),
            Err(TrySendError::Full(message)) => self.send_later(message, limit, stop),
        }
    }

    fn is_over(&self) -> bool {
        self.sender.is_disconnected()
    }
}

impl<M: Message> Inner<ys_tx> for BroadcastTx<M> {
    fn try_clone(&self) -> Result<Box<dyn TxInner>, ys_code> {
        Ok(Box::new(self.another()))
    }

    fn close(&mut self) -> bool {
        self.sender.close()
    }

    fn is_closed(&self) -> bool {
        self.is_over()
    }

    fn len(&self) -> Option<usize> {
        Some(self.sender.len())
    }

    // MUTANT: Speed only: how a handle spins.
    fn set_spin(&mut self, spin: Spin) -> bool {
        self.sender.set_spin(spin);
        true
    }
}

impl<M: Message> TxInner for BroadcastTx<M> {
    unsafe fn send(&mut self, message: *const u8, stop: &Stop) -> c_int {
        // SAFETY: by the caller.
        unsafe { self.send_by_any(message, Limit::Never, stop) }
    }

    unsafe fn send_for(&mut self, message: *const u8, limit: Limit, stop: &Stop) -> c_int {
        // SAFETY: by the caller.
        unsafe { self.send_by_any(message, limit, stop) }
    }

    unsafe fn send_batch(&mut self, messages: *const u8, count: usize, limit: Limit, stop: &Stop) -> isize {
        let size = self.size;
        // SAFETY: by the caller, for each index below the count.
        one_by_one(count, limit, |index, limit| unsafe {
            self.send_by_any(messages.wrapping_add(index * size), limit, stop)
        })
    }

    fn wait_closed(&mut self, limit: Limit, stop: &Stop) -> bool {
        let mut closed = pin!(self.sender.closed());
        parked::wait(&self.sleepers, limit, stop, |context| closed.as_mut().poll(context)).is_some()
    }

    fn waker_of_all(&self) -> Option<Box<dyn Fn() + Send + Sync>> {
        Some(self.sleepers.waker())
    }

    fn subscribe(&self) -> Result<Box<dyn RxInner>, ys_code> {
        let (size, sleepers) = (self.size, self.sleepers.clone());
        Ok(Box::new(BroadcastRx { receiver: self.sender.subscribe(), size, sleepers, has_lagged: false }))
    }

    fn share(&self) -> Result<Shares, ys_code> {
        Ok(Box::new(self.another()))
    }
}

impl<M: Message> BroadcastRx<M> {
    fn try_receive(&mut self) -> Result<Copied<M>, ys_code> {
        if core::mem::take(&mut self.has_lagged) {
            return Err(YS_LAGGED);
        }
        self.receiver.try_recv().map_err(|error| match error {
            TryRecvError::Empty => YS_EMPTY,
            TryRecvError::Disconnected => YS_CLOSED,
            TryRecvError::Lagged(_) => YS_LAGGED,
        })
    }

    fn receive(&mut self, limit: Limit, stop: &Stop) -> Result<Copied<M>, ys_code> {
        match self.try_receive() {
            Err(YS_EMPTY) if !limit.is_now() => {}
            found => return found,
        }
        let receiver = &mut self.receiver;
        match parked::wait(&self.sleepers, limit, stop, |context| receiver.poll_recv(context)) {
            Some(Ok(message)) => Ok(message),
            Some(Err(RecvError::Disconnected)) => Err(YS_CLOSED),
            Some(Err(RecvError::Lagged(_))) => Err(YS_LAGGED),
            None => Err(YS_TIMEOUT),
        }
    }
}

impl<M: Message> Inner<ys_rx> for BroadcastRx<M> {
    fn try_clone(&self) -> Result<Box<dyn RxInner>, ys_code> {
        let (size, sleepers) = (self.size, self.sleepers.clone());
        Ok(Box::new(Self { receiver: self.receiver.clone(), size, sleepers, has_lagged: self.has_lagged }))
    }

    fn close(&mut self) -> bool {
        self.receiver.close()
    }

    fn is_closed(&self) -> bool {
        self.receiver.is_disconnected()
    }

    fn len(&self) -> Option<usize> {
        Some(self.receiver.len())
    }

    // MUTANT: Speed only: how a handle spins.
    fn set_spin(&mut self, spin: Spin) -> bool {
        self.receiver.set_spin(spin);
        true
    }

    fn attachable(&mut self) -> Option<&mut dyn Attach> {
        Some(&mut self.receiver)
    }
}

impl<M: Message> RxInner for BroadcastRx<M> {
    unsafe fn recv(&mut self, to: *mut u8, stop: &Stop) -> c_int {
        // SAFETY: by the caller.
        unsafe { self.recv_for(to, Limit::Never, stop) }
    }

    unsafe fn recv_for(&mut self, to: *mut u8, limit: Limit, stop: &Stop) -> c_int {
        let received = self.receive(limit, stop);
        // SAFETY: by the caller.
        unsafe { deliver(received, to, self.size) }
    }

    unsafe fn recv_batch(&mut self, messages: *mut u8, max: usize, limit: Limit, stop: &Stop) -> isize {
        let mut received = self.receive(limit, stop);
        for taken in 0..max {
            let to = messages.wrapping_add(taken * self.size);
            match received {
                // SAFETY: by the caller there is room.
                Ok(message) => unsafe { deliver(Ok(message), to, self.size) },
                Err(code) => {
                    self.has_lagged = taken > 0 && code == YS_LAGGED;
                    return count_or(taken, code);
                }
            };
            received = if taken + 1 < max { self.try_receive() } else { Err(YS_EMPTY) };
        }
        max as isize
    }

    fn recv_none(&mut self) -> isize {
        // In this order: what was sent before the disconnect is visible then.
        let is_over = self.receiver.is_disconnected() && self.receiver.is_empty();
        if is_over { isize::from_code(YS_CLOSED) } else { 0 }
    }

    fn missed(&self) -> Option<u64> {
        Some(self.receiver.missed())
    }
}
