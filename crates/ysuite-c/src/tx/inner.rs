//! The operations of a sender, of any channel and any class of messages. A sender does not support what it does not
//! implement.

use core::ffi::c_int;

use ysuite::in_place::Stop;

use super::ys_tx;
use crate::code::{Answer, YS_EINVAL, YS_ENOTSUP, YS_FULL, YS_OK, ys_code};
use crate::limit::{Clock, Limit};
use crate::rx::RxInner;
use crate::shared::Shares;
use crate::side::Inner;

/// A sender. Addresses are those of whole messages, aligned or not. A wait is over when `stop` is set, as if the
/// time were up.
pub(crate) trait TxInner: Inner<ys_tx> {
    /// Completes an inline publication of this many messages that has found the receiver asleep or gone. Returns how
    /// many were sent.
    fn answer(&mut self, _: usize) -> isize {
        isize::from_code(YS_EINVAL)
    }

    /// Sends a copy of a message; waits for room.
    ///
    /// # Safety
    /// A message is there.
    unsafe fn send(&mut self, message: *const u8, stop: &Stop) -> c_int;

    /// Sends a copy of a message.
    ///
    /// # Safety
    /// A message is there.
    unsafe fn send_for(&mut self, message: *const u8, limit: Limit, stop: &Stop) -> c_int;

    /// Sends copies of `count` messages, at least 1.
    ///
    /// # Safety
    /// This many messages are there, as far apart as they are long.
    unsafe fn send_batch(&mut self, messages: *const u8, count: usize, limit: Limit, stop: &Stop) -> isize;

    /// Hides a copy of a message; waits for room.
    ///
    /// # Safety
    /// A message is there.
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
    /// The last call except read-only ones was `reserve`; it has returned no less, and messages are in that many slots.
    unsafe fn commit(&mut self, _: usize) -> isize {
        isize::from_code(YS_ENOTSUP)
    }

    fn wait_room(&mut self, _: Limit, _: &Stop) -> c_int {
        c_int::from_code(YS_ENOTSUP)
    }

    /// True: it is closed.
    fn wait_closed(&mut self, limit: Limit, stop: &Stop) -> bool;

    /// Sends a copy of a message; where there is no room it replaces the oldest, which is moved to `displaced`, or
    /// dropped if that is NULL. 1: it has done so.
    ///
    /// # Safety
    /// A message is there, and room for one.
    unsafe fn force_send(&mut self, _message: *const u8, _displaced: *mut u8) -> c_int {
        c_int::from_code(YS_ENOTSUP)
    }

    /// A receiver that gets what is sent from now on.
    fn subscribe(&self) -> Result<Box<dyn RxInner>, ys_code> {
        Err(YS_ENOTSUP)
    }

    /// Another sender, for any number of threads.
    fn share(&self) -> Result<Shares, ys_code> {
        Err(YS_ENOTSUP)
    }

    /// What wakes those that wait in the channel where its `Stop` does not see them.
    fn waker_of_all(&self) -> Option<Box<dyn Fn() + Send + Sync>> {
        None
    }
}

/// The code of a call that has returned `Ok` or not.
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

// MUTANT: A wait for no time gives the same code.
/// A batch whose messages are sent one after the other: `send` gets the index of each, and how long it may wait.
pub(crate) fn one_by_one(count: usize, limit: Limit, mut send: impl FnMut(usize, Limit) -> c_int) -> isize {
    let mut clock = Clock::new(limit);
    for index in 0..count {
        // The clock is read only if there is no room.
        let mut code = send(index, Limit::Now);
        if code == c_int::from_code(YS_FULL) && !limit.is_now() {
            code = send(index, clock.left().map_or(Limit::Never, Limit::Within));
        }
        if code != c_int::from_code(YS_OK) {
            return if index == 0 { code as isize } else { index as isize };
        }
    }
    count as isize
}
