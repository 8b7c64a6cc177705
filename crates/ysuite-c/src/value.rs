//! The watch: one value, of which every receiver sees the newest, as a copy that the channel's `clone` callback makes.

use core::ffi::c_int;
use core::future::Future;
use core::pin::pin;
use std::sync::Arc;

use ysuite::Spin;
use ysuite::in_place::Stop;
use ysuite::signal::Attach;
use ysuite::watch;

use crate::code::{Answer, YS_CLOSED, YS_EMPTY, YS_OK, YS_TIMEOUT, ys_code};
use crate::lanes::{Ends, deliver};
use crate::limit::Limit;
use crate::message::{At8, At16, Copied, Message, copy, copy_in, for_copied};
use crate::options::Wanted;
use crate::parked::{self, Sleepers};
use crate::rx::{RxInner, ys_rx};
use crate::shared::{Shares, SharesSends};
use crate::side::Inner;
use crate::tx::{TxInner, ok_or, one_by_one, ys_tx};

/// # Safety
/// A value is at `first`, which the channel has from then on.
pub(crate) unsafe fn watch(wanted: &Wanted, first: *const u8) -> Ends {
    for_copied!(wanted.class, ends(wanted, first))
}

fn ends<M: Message>(wanted: &Wanted, first: *const u8) -> Ends {
    let size = wanted.size;
    // SAFETY: by the caller.
    let (sender, receiver) = watch::channel(unsafe { copy_in::<Copied<M>>(first, size, copy) });
    let sleepers = Arc::<Sleepers>::default();
    let tx = WatchTx { sender: Some(sender), size, sleepers: sleepers.clone() };
    (Box::new(tx), Box::new(WatchRx { receiver: Some(receiver), size, sleepers }))
}

struct WatchTx<M: Message> {
    /// None once it is closed.
    sender: Option<watch::Sender<Copied<M>>>,
    size: usize,
    sleepers: Arc<Sleepers>,
}

struct WatchRx<M: Message> {
    /// None once it is closed.
    receiver: Option<watch::Receiver<Copied<M>>>,
    size: usize,
    sleepers: Arc<Sleepers>,
}

impl<M: Message> WatchTx<M> {
    fn another(&self) -> Self {
        Self { sender: self.sender.clone(), size: self.size, sleepers: self.sleepers.clone() }
    }
}

impl<M: Message> SharesSends for WatchTx<M> {
    unsafe fn send_by_any(&self, message: *const u8, _: Limit, _: &Stop) -> c_int {
        let Some(sender) = &self.sender else { return c_int::from_code(YS_CLOSED) };
        // SAFETY: by the caller.
        ok_or(sender.send(unsafe { copy_in(message, self.size, copy) }), YS_CLOSED)
    }

    fn is_over(&self) -> bool {
        self.sender.as_ref().is_none_or(watch::Sender::is_disconnected)
    }
}

impl<M: Message> Inner<ys_tx> for WatchTx<M> {
    fn try_clone(&self) -> Result<Box<dyn TxInner>, ys_code> {
        Ok(Box::new(self.another()))
    }

    fn close(&mut self) -> bool {
        self.sender.take().is_some_and(|sender| !sender.is_disconnected())
    }

    fn is_closed(&self) -> bool {
        self.is_over()
    }

    /// It sends at any time.
    fn len(&self) -> Option<usize> {
        None
    }
}

impl<M: Message> TxInner for WatchTx<M> {
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
        let Some(sender) = &self.sender else { return true };
        let mut closed = pin!(sender.closed());
        parked::wait(&self.sleepers, limit, stop, |context| closed.as_mut().poll(context)).is_some()
    }

    fn waker_of_all(&self) -> Option<Box<dyn Fn() + Send + Sync>> {
        Some(self.sleepers.waker())
    }

    fn subscribe(&self) -> Result<Box<dyn RxInner>, ys_code> {
        let sender = self.sender.as_ref().ok_or(YS_CLOSED)?;
        let (size, sleepers) = (self.size, self.sleepers.clone());
        Ok(Box::new(WatchRx { receiver: Some(sender.subscribe()), size, sleepers }))
    }

    fn share(&self) -> Result<Shares, ys_code> {
        Ok(Box::new(self.another()))
    }
}

impl<M: Message> WatchRx<M> {
    fn receive(&mut self, limit: Limit, stop: &Stop) -> Result<Copied<M>, ys_code> {
        let receiver = self.receiver.as_mut().ok_or(YS_CLOSED)?;
        match receiver.has_changed() {
            Err(_) => return Err(YS_CLOSED),
            Ok(true) => {}
            Ok(false) if limit.is_now() => return Err(YS_EMPTY),
            Ok(false) => {
                let changed = parked::wait(&self.sleepers, limit, stop, |context| {
                    receiver.poll_changed(context).map_err(|_| YS_CLOSED)
                });
                changed.unwrap_or(Err(YS_TIMEOUT))?;
            }
        }
        // USER CODE: the callback `clone` runs while the value is held for reading; re-entrance: any other channel;
        //     panic: caught by the handle, and the value stays.
        Ok(receiver.borrow_and_update().clone())
    }
}

impl<M: Message> Inner<ys_rx> for WatchRx<M> {
    fn try_clone(&self) -> Result<Box<dyn RxInner>, ys_code> {
        Ok(Box::new(Self { receiver: self.receiver.clone(), size: self.size, sleepers: self.sleepers.clone() }))
    }

    fn close(&mut self) -> bool {
        self.receiver.take().is_some_and(|receiver| !receiver.is_disconnected())
    }

    fn is_closed(&self) -> bool {
        self.receiver.as_ref().is_none_or(watch::Receiver::is_disconnected)
    }

    fn len(&self) -> Option<usize> {
        Some(self.receiver.as_ref().map_or(0, |receiver| usize::from(receiver.has_changed() == Ok(true))))
    }

    // MUTANT: Speed only: how a handle spins.
    fn set_spin(&mut self, spin: Spin) -> bool {
        let Some(receiver) = &mut self.receiver else { return false };
        receiver.set_spin(spin);
        true
    }

    fn attachable(&mut self) -> Option<&mut dyn Attach> {
        self.receiver.as_mut().map(|receiver| receiver as &mut dyn Attach)
    }
}

impl<M: Message> RxInner for WatchRx<M> {
    unsafe fn recv(&mut self, to: *mut u8, stop: &Stop) -> c_int {
        // SAFETY: by the caller.
        unsafe { self.recv_for(to, Limit::Never, stop) }
    }

    unsafe fn recv_for(&mut self, to: *mut u8, limit: Limit, stop: &Stop) -> c_int {
        let received = self.receive(limit, stop);
        // SAFETY: by the caller.
        unsafe { deliver(received, to, self.size) }
    }

    unsafe fn recv_batch(&mut self, messages: *mut u8, _: usize, limit: Limit, stop: &Stop) -> isize {
        // SAFETY: by the caller there is room for at least one, and there is never another.
        match unsafe { self.recv_for(messages, limit, stop) } {
            0 => 1,
            code => code as isize,
        }
    }

    fn recv_none(&mut self) -> isize {
        let is_over = self.receiver.as_ref().is_none_or(|receiver| receiver.has_changed().is_err());
        if is_over { isize::from_code(YS_CLOSED) } else { 0 }
    }

    unsafe fn newest(&self, to: *mut u8) -> c_int {
        let Some(receiver) = &self.receiver else { return c_int::from_code(YS_CLOSED) };
        // USER CODE: as in `receive`.
        let newest = receiver.borrow().clone();
        // SAFETY: by the caller.
        unsafe { deliver(Ok(newest), to, self.size) };
        c_int::from_code(YS_OK)
    }
}
