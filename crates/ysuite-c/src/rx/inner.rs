//! The operations of a receiver, of any channel and any class of messages. A receiver does not support what it does
//! not implement.

use core::ffi::c_int;

use ysuite::in_place::Stop;

use super::ys_rx;
use crate::code::{Answer, YS_ENOTSUP};
use crate::limit::Limit;
use crate::side::Inner;

/// A receiver. Addresses are those of room for whole messages, aligned or not. A wait is over when `stop` is set,
/// as if the time were up.
pub(crate) trait RxInner: Inner<ys_rx> {
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

    /// How many messages it has lost in all.
    fn missed(&self) -> Option<u64> {
        None
    }

    /// A copy of the newest value, seen or not.
    ///
    /// # Safety
    /// There is room for it.
    unsafe fn newest(&self, _: *mut u8) -> c_int {
        c_int::from_code(YS_ENOTSUP)
    }

    /// Waits for a message without taking it.
    fn wait(&mut self, _: Limit, _: &Stop) -> c_int {
        c_int::from_code(YS_ENOTSUP)
    }
}
