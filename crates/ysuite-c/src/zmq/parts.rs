//! Messages of one part, and of several.

use core::ffi::{c_int, c_void};
use core::ptr;
use core::slice;

use ysuite_zmq::Frame;

use super::tx::ys_zmq_part;
use crate::code::{Answer, YS_EINVAL};
use crate::ends::bytes;

/// A message as it came, which is lent to the program.
pub(crate) struct Message {
    first: Frame,
    /// Of a message of one part: none, and no memory.
    rest: Vec<Frame>,
}

impl Message {
    pub(super) const fn first(&self) -> &Frame {
        &self.first
    }

    fn part(&self, at: usize) -> Option<&Frame> {
        at.checked_sub(1).map_or(Some(&self.first), |at| self.rest.get(at))
    }

    /// The address of a part, NULL where there is none; and its length, for the caller.
    ///
    /// # Safety
    /// A place.
    pub(super) unsafe fn lend(&self, at: usize, length: *mut usize) -> *const c_void {
        self.part(at).map_or(ptr::null(), |part| {
            // SAFETY: by the caller.
            unsafe { *length = part.len() };
            part.as_ptr().cast()
        })
    }
}

impl Default for Message {
    fn default() -> Self {
        Frame::default().into()
    }
}

impl From<Frame> for Message {
    fn from(first: Frame) -> Self {
        Self { first, rest: Vec::new() }
    }
}

impl From<Vec<Frame>> for Message {
    fn from(mut rest: Vec<Frame>) -> Self {
        // One at least has come.
        let first = if rest.is_empty() { Frame::default() } else { rest.remove(0) };
        Self { first, rest }
    }
}

/// What the program sends: a copy of the caller's parts.
pub(super) trait Outgoing: Send + Sized {
    /// `None`: these are more parts than such a message has.
    fn of(parts: &[&[u8]]) -> Option<Self>;
}

impl Outgoing for Vec<u8> {
    fn of(parts: &[&[u8]]) -> Option<Self> {
        match parts {
            [message] => Some(message.to_vec()),
            _ => None,
        }
    }
}

impl Outgoing for Vec<Vec<u8>> {
    fn of(parts: &[&[u8]]) -> Option<Self> {
        Some(parts.iter().map(|part| part.to_vec()).collect())
    }
}

/// Runs a call with the parts of the caller, one at least.
///
/// # Safety
/// NULL, or that many parts, whose bytes nobody changes meanwhile.
pub(super) unsafe fn with(from: *const ys_zmq_part, count: usize, call: impl FnOnce(&[&[u8]]) -> c_int) -> c_int {
    if from.is_null() || count == 0 {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    let parts: Option<Vec<_>> =
        unsafe { slice::from_raw_parts(from, count).iter().map(|part| bytes(part.bytes, part.length)).collect() };
    parts.map_or_else(|| c_int::from_code(YS_EINVAL), |parts| call(&parts))
}

/// Shows a part of what a handle has lent: `lend` puts its length.
///
/// # Safety
/// NULL, or a place.
pub(super) unsafe fn part(length: *mut usize, lend: impl FnOnce() -> *const c_void) -> *const c_void {
    if length.is_null() {
        return Answer::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { *length = 0 };
    lend()
}
