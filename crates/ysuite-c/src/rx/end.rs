//! The operations of a receiver, of any channel and any class of messages. A receiver does not support what it does
//! not implement.

use core::ffi::c_int;

use ysuite::channel::Spin;
use ysuite::in_place::{RecvWindow, Stop};
use ysuite::signal::Attach;

use crate::code::{Answer, YS_ENOTSUP, ys_code};
use crate::limit::Limit;
use crate::steps::RxSteps;

/// A receiver. Addresses are those of room for whole messages, aligned or not. A wait is over when `stop` is set,
/// as if the time were up.
pub(crate) trait RxEnd: Send {
    /// What can be done by a window, if this handle has one.
    fn steps(&self) -> Option<&'static RxSteps> {
        None
    }

    /// Where the caller may receive by itself until the next call.
    fn window(&mut self) -> RecvWindow {
        RecvWindow::shut()
    }

    /// Takes the window back.
    ///
    /// # Safety
    /// As of `RecvInPlace::resume`.
    unsafe fn resume(&mut self, _: &RecvWindow) {}

    /// After inline takes: wakes a sender that waits for room.
    fn credit(&mut self) {}

    /// Moves a message out; waits for one.
    ///
    /// # Safety
    /// There is room for a message.
    unsafe fn recv(&mut self, message: *mut u8, stop: &Stop) -> c_int;

    /// Moves a message out.
    ///
    /// # Safety
    /// There is room for a message.
    unsafe fn recv_for(&mut self, message: *mut u8, limit: Limit, stop: &Stop) -> c_int;

    /// Moves messages out: waits for the first, and takes what is there, at most `max`, which is not 0.
    ///
    /// # Safety
    /// There is room for this many messages, as far apart as they are long.
    unsafe fn recv_batch(&mut self, messages: *mut u8, max: usize, limit: Limit, stop: &Stop) -> isize;

    /// A batch of none: 0, or that nothing more will come. What is shown stays so.
    fn recv_none(&mut self) -> isize;

    /// Whether it can show messages where they lie, and `consume` them.
    fn shows(&self) -> bool {
        false
    }

    /// The next messages where they lie.
    fn peek(&mut self, _: &mut *mut u8) -> isize {
        isize::from_code(YS_ENOTSUP)
    }

    /// Takes the first `count` of those, which exist.
    fn consume(&mut self, _: usize) -> c_int {
        c_int::from_code(YS_ENOTSUP)
    }

    /// Receives a message in place.
    fn take(&mut self, _: &mut *mut u8, _: Limit, _: &Stop) -> c_int {
        c_int::from_code(YS_ENOTSUP)
    }

    /// Waits for a message without taking it.
    fn wait(&mut self, _: Limit, _: &Stop) -> c_int {
        c_int::from_code(YS_ENOTSUP)
    }

    fn try_clone(&self) -> Result<Box<dyn RxEnd>, ys_code> {
        Err(YS_ENOTSUP)
    }

    /// True: it was open.
    fn close(&mut self) -> bool;

    fn is_closed(&self) -> bool;

    fn len(&self) -> usize;

    /// True: it waits so from now on.
    fn set_spin(&mut self, _: Spin) -> bool {
        false
    }

    /// This handle as a set sees it.
    fn attachable(&mut self) -> &mut dyn Attach;
}
