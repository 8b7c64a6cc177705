//! The oneshot: a handle that sends once, and a handle that receives once. The message is moved by its bytes, in
//! and out.

use core::ffi::c_int;

use ysuite::RecvTimeoutError;
use ysuite::in_place::{Stop, StopOnce, StopWaiting};
use ysuite::oneshot;
use ysuite::signal::Attach;

use crate::code::{Answer, YS_CLOSED, YS_OK, ys_code};
use crate::lanes::{Ends, deliver};
use crate::limit::Limit;
use crate::message::{At8, At16, Class, Message, copy, copy_in};
use crate::options::Wanted;
use crate::rx::{RxInner, ys_rx};
use crate::side::Inner;
use crate::tx::{TxInner, ok_or, ys_tx};

/// A pointer goes as one; any other message has the room of the largest: there are few of them at a time.
pub(crate) fn oneshot(wanted: &Wanted) -> Ends {
    match wanted.class {
        Class { stride: 8, align: 8 } => ends::<At8<8>>(wanted),
        _ => ends::<At16<128>>(wanted),
    }
}

fn ends<M: Message>(wanted: &Wanted) -> Ends {
    let (sender, receiver) = oneshot::channel::<M>();
    let size = wanted.size;
    (Box::new(OneshotTx { sender: Some(sender), size }), Box::new(OneshotRx { receiver, kept: None, size }))
}

struct OneshotTx<M: Message> {
    /// None once it has sent or closed.
    sender: Option<oneshot::Sender<M>>,
    size: usize,
}

struct OneshotRx<M: Message> {
    receiver: oneshot::Receiver<M>,
    /// The message, where it was waited for and not received so far: a oneshot cannot wait without taking.
    kept: Option<M>,
    size: usize,
}

impl<M: Message> Inner<ys_tx> for OneshotTx<M> {
    fn close(&mut self) -> bool {
        self.sender.take().is_some_and(|sender| !sender.is_disconnected())
    }

    fn is_closed(&self) -> bool {
        self.sender.as_ref().is_none_or(oneshot::Sender::is_disconnected)
    }

    /// What has been sent is out of sight.
    fn len(&self) -> Option<usize> {
        None
    }
}

impl<M: Message> TxInner for OneshotTx<M> {
    unsafe fn send(&mut self, message: *const u8, _: &Stop) -> c_int {
        match self.sender.take() {
            // SAFETY: by the caller.
            Some(sender) => ok_or(sender.send(unsafe { copy_in(message, self.size, copy) }), YS_CLOSED),
            None => c_int::from_code(YS_CLOSED),
        }
    }

    unsafe fn send_for(&mut self, message: *const u8, _: Limit, stop: &Stop) -> c_int {
        // SAFETY: by the caller.
        unsafe { self.send(message, stop) }
    }

    unsafe fn send_batch(&mut self, messages: *const u8, _: usize, _: Limit, stop: &Stop) -> isize {
        // SAFETY: by the caller there is at least one.
        match unsafe { self.send(messages, stop) } {
            0 => 1,
            code => code as isize,
        }
    }

    fn wait_closed(&mut self, limit: Limit, stop: &Stop) -> bool {
        self.sender.as_mut().is_none_or(|sender| match limit {
            Limit::Now => sender.is_disconnected(),
            _ => StopWaiting::wait_closed_or_stop(sender, limit.timeout(), stop),
        })
    }
}

impl<M: Message> OneshotRx<M> {
    fn receive(&mut self, limit: Limit, stop: &Stop) -> Result<M, ys_code> {
        match self.kept.take() {
            Some(message) => Ok(message),
            None => StopOnce::recv_or_stop(&mut self.receiver, limit.timeout(), stop).map_err(|error| match error {
                RecvTimeoutError::Timeout => limit.empty(),
                RecvTimeoutError::Disconnected => YS_CLOSED,
            }),
        }
    }

    /// As [`receive`](Self::receive). An attached handle that finds nothing takes its id down.
    fn try_receive(&mut self) -> Result<M, ys_code> {
        match self.kept.take() {
            Some(message) => Ok(message),
            None => {
                let nothing = |error: ysuite::TryRecvError| {
                    if error.is_empty() { Limit::Now.empty() } else { YS_CLOSED }
                };
                self.receiver.try_recv().map_err(nothing)
            }
        }
    }

    fn receive_for(&mut self, limit: Limit, stop: &Stop) -> Result<M, ys_code> {
        if limit.is_now() { self.try_receive() } else { self.receive(limit, stop) }
    }
}

impl<M: Message> Inner<ys_rx> for OneshotRx<M> {
    fn close(&mut self) -> bool {
        self.receiver.close()
    }

    fn is_closed(&self) -> bool {
        self.receiver.is_disconnected()
    }

    fn len(&self) -> Option<usize> {
        Some(usize::from(self.kept.is_some() || !self.receiver.is_empty()))
    }

    fn attachable(&mut self) -> Option<&mut dyn Attach> {
        Some(&mut self.receiver)
    }
}

impl<M: Message> RxInner for OneshotRx<M> {
    unsafe fn recv(&mut self, to: *mut u8, stop: &Stop) -> c_int {
        // SAFETY: by the caller.
        unsafe { self.recv_for(to, Limit::Never, stop) }
    }

    unsafe fn recv_for(&mut self, to: *mut u8, limit: Limit, stop: &Stop) -> c_int {
        let received = self.receive_for(limit, stop);
        // SAFETY: by the caller.
        unsafe { deliver(received, to, self.size) }
    }

    unsafe fn recv_batch(&mut self, messages: *mut u8, _: usize, limit: Limit, stop: &Stop) -> isize {
        // SAFETY: by the caller there is room for at least one.
        match unsafe { self.recv_for(messages, limit, stop) } {
            0 => 1,
            code => code as isize,
        }
    }

    fn recv_none(&mut self) -> isize {
        // In this order: a sender that has sent is gone as well.
        let is_over = self.kept.is_none() && self.receiver.is_disconnected() && self.receiver.is_empty();
        if is_over { isize::from_code(YS_CLOSED) } else { 0 }
    }

    fn wait(&mut self, limit: Limit, stop: &Stop) -> c_int {
        match self.receive_for(limit, stop) {
            Ok(message) => {
                self.kept = Some(message);
                c_int::from_code(YS_OK)
            }
            Err(code) => c_int::from_code(code),
        }
    }
}
