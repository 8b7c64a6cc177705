//! What a broadcast and a watch have in common.

use core::ffi::{c_char, c_int, c_void};
use core::time::Duration;

use ysuite_shm::Bytes;

use super::{Kind, buffer, enter, text};
use crate::code::{Answer, YS_EINVAL, YS_OK, ys_code};
use crate::limit::Limit;

/// A receiver, and a message that was copied out of the memory of the sender, and did not fit.
pub(super) struct Kept<E> {
    pub(super) end: E,
    pub(super) message: Option<Bytes>,
}

impl<E> Kept<E> {
    pub(super) fn new(end: E) -> Self {
        Self { end, message: None }
    }
}

/// Where the result of a receive is put.
pub(super) struct Place {
    pub(super) to: *mut c_void,
    pub(super) room: usize,
    pub(super) length: *mut usize,
}

/// Receives what `next` has, which gets what was kept, if there is something: that is the next message without a call of it, or it
/// decides. A message that does not fit is kept.
///
/// # Safety
/// As of [`handle::enter`](crate::handle::enter); a buffer, and a place for a length, or NULL.
pub(super) unsafe fn recv<K: Kind<End = Kept<E>>, E: 'static>(
    rx: *mut K,
    place: Place,
    mut next: impl FnMut(&mut E, bool) -> Result<Bytes, ys_code>,
) -> c_int {
    let Place { to, room, length } = place;
    // SAFETY: by the caller.
    let (Some(to), false) = (unsafe { buffer(to, room) }, length.is_null()) else {
        return c_int::from_code(YS_EINVAL);
    };
    // SAFETY: by the caller.
    unsafe { *length = 0 };
    let recv = |kept: &mut Kept<E>| {
        let found = match kept.message.take() {
            Some(message) if !K::REPLACES => Ok(message),
            Some(message) => Ok(next(&mut kept.end, true).unwrap_or(message)),
            None => next(&mut kept.end, false),
        };
        let message = match found {
            Ok(message) => message,
            Err(code) => return c_int::from_code(code),
        };
        // SAFETY: by the caller.
        unsafe { *length = message.0.len() };
        let Some(to) = to.get_mut(..message.0.len()) else {
            kept.message = Some(message);
            return c_int::from_code(ys_code::YS_ETOOLONG);
        };
        // SAFETY: of this length, and no other reference is there.
        unsafe { to.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(message.0.as_ptr(), message.0.len()) };
        c_int::from_code(YS_OK)
    };
    // SAFETY: by the caller.
    unsafe { enter(rx, recv) }
}

/// A name, or none.
///
/// # Safety
/// As of [`text`].
pub(super) unsafe fn named<'a>(name: *const c_char) -> Result<Option<&'a str>, ys_code> {
    // SAFETY: by the caller.
    if name.is_null() { Ok(None) } else { unsafe { text(name) }.map(Some) }
}

/// Serves for so long.
pub(super) fn serve(limit: Limit, mut serve: impl FnMut(Duration)) -> c_int {
    match limit.timeout() {
        Some(time) => serve(time),
        None => loop {
            serve(Duration::MAX);
        },
    }
    c_int::from_code(YS_OK)
}
