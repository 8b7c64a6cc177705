//! What a sending end can do, whatever its channel and its class of messages. What an end does not implement it cannot do.

use core::ffi::c_int;

use ysuite::channel::Spin;
use ysuite::in_place::{SendWindow, Stop};
use ysuite::signal::Attach;

use crate::code::{Answer, YS_EINVAL, YS_ENOTSUP, YS_OK, ys_code};
use crate::limit::Limit;
use crate::steps::TxSteps;

/// A sending end. Addresses are those of whole messages, aligned or not. What waits is over when `stop` is set, as if the time were
/// up.
pub(crate) trait TxEnd: Send {
    /// What can be done by a window, where this end has any.
    fn steps(&self) -> Option<&'static TxSteps> {
        None
    }

    /// Where the caller may send by itself until the next call.
    fn window(&mut self) -> SendWindow {
        SendWindow::shut()
    }

    /// Takes the window back.
    ///
    /// # Safety
    /// As of `SendInPlace::resume`.
    unsafe fn resume(&mut self, _: &SendWindow) {}

    /// Answers an inline publication of so many messages that has found the receiver asleep or gone. How many were sent.
    fn answer(&mut self, _: usize) -> isize {
        isize::from_code(YS_EINVAL)
    }

    /// Sends a copy of a message; waits for room.
    ///
    /// # Safety
    /// A message lies there.
    unsafe fn send(&mut self, message: *const u8, stop: &Stop) -> c_int;

    /// Sends a copy of a message.
    ///
    /// # Safety
    /// A message lies there.
    unsafe fn send_for(&mut self, message: *const u8, limit: Limit, stop: &Stop) -> c_int;

    /// Sends copies of `count` messages, at least 1.
    ///
    /// # Safety
    /// So many messages lie there, as far apart as they are long.
    unsafe fn send_batch(&mut self, messages: *const u8, count: usize, limit: Limit, stop: &Stop) -> isize;

    /// Hides a copy of a message; waits for room.
    ///
    /// # Safety
    /// A message lies there.
    unsafe fn write(&mut self, _: *const u8, _: &Stop) -> c_int {
        c_int::from_code(YS_ENOTSUP)
    }

    fn flush(&mut self) -> c_int {
        c_int::from_code(YS_ENOTSUP)
    }

    /// Whether it can show free slots, and `commit` what is made there.
    fn reserves(&self) -> bool {
        false
    }

    /// The next free slots.
    fn reserve(&mut self, _: &mut *mut u8) -> isize {
        isize::from_code(YS_ENOTSUP)
    }

    /// Sends what is in the first slots of those.
    ///
    /// # Safety
    /// The last call but those that only look was `reserve`; it has answered no less, and messages are in as many slots.
    unsafe fn commit(&mut self, _: usize) -> isize {
        isize::from_code(YS_ENOTSUP)
    }

    fn wait_room(&mut self, _: Limit, _: &Stop) -> c_int {
        c_int::from_code(YS_ENOTSUP)
    }

    fn try_clone(&self) -> Result<Box<dyn TxEnd>, ys_code> {
        Err(YS_ENOTSUP)
    }

    /// True: it was open.
    fn close(&mut self) -> bool;

    /// True: it is closed.
    fn wait_closed(&mut self, limit: Limit, stop: &Stop) -> bool;

    fn is_closed(&self) -> bool;

    /// How many messages are in the channel, if this end can tell.
    fn len(&self) -> Option<usize>;

    /// True: it waits so from now on.
    fn set_spin(&mut self, _: Spin) -> bool {
        false
    }

    /// What wakes those that wait in the channel where its `Stop` does not see them.
    fn waker_of_all(&self) -> Option<Box<dyn Fn() + Send + Sync>> {
        None
    }

    /// This end as a set sees it.
    fn attachable(&mut self) -> Option<&mut dyn Attach> {
        None
    }
}

/// What a call says that has answered `Ok` or not.
#[inline(always)]
pub(crate) fn ok_or<T>(outcome: Result<(), T>, code: ys_code) -> c_int {
    match outcome {
        Ok(()) => c_int::from_code(YS_OK),
        // What has not been sent is the caller's still.
        Err(message) => {
            core::mem::forget(message);
            c_int::from_code(code)
        }
    }
}
