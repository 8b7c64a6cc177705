//! What channels have in common of which an end has several peers.

use core::ffi::{c_char, c_int, c_void};
use core::mem::MaybeUninit;
use core::time::Duration;
use std::os::fd::{IntoRawFd, OwnedFd};

use ysuite_shm::{Bytes, Carried, Ended, Error, Funnel, RecvTimeoutError, TryRecvError};

use super::{Kind, buffer, code_of, enter, text};
use crate::code::{Answer, YS_EINVAL, YS_EMPTY, YS_OK, YS_TIMEOUT, ys_code};
use crate::limit::Limit;

/// A receiver, and a message that was taken out of the channel, and did not fit.
pub(crate) struct Kept<E, M = Bytes> {
    pub(super) end: E,
    pub(super) message: Option<M>,
}

impl<E, M> Kept<E, M> {
    pub(super) fn new(end: E) -> Self {
        Self { end, message: None }
    }
}

/// What is received, and whose it is if it has several senders.
pub(super) trait Incoming: 'static {
    fn bytes(&self) -> &[u8];
}

impl Incoming for Bytes {
    fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Incoming for (u64, Bytes) {
    fn bytes(&self) -> &[u8] {
        &self.1.0
    }
}

/// Where the result of a receive is put.
pub(super) struct Place {
    pub(super) to: *mut c_void,
    pub(super) room: usize,
    pub(super) length: *mut usize,
}

impl Place {
    /// The buffer, and the length, which is 0 until a message is put. `None`: a null pointer.
    ///
    /// # Safety
    /// A buffer, and a place for a length, or NULL; nobody else uses them for as long as the result is.
    pub(super) unsafe fn open<'a>(&self) -> Option<Room<'a>> {
        // SAFETY: by the caller.
        let (to, length) = unsafe { (buffer(self.to, self.room)?, self.length.as_mut()?) };
        *length = 0;
        Some(Room { to, length })
    }
}

/// A buffer of the caller.
pub(super) struct Room<'a> {
    to: &'a mut [MaybeUninit<u8>],
    length: &'a mut usize,
}

impl Room<'_> {
    /// Copies a message if it fits; whether it does. Its length is said in either case.
    pub(super) fn put(&mut self, message: &[u8]) -> bool {
        *self.length = message.len();
        let Some(to) = self.to.get_mut(..message.len()) else { return false };
        // SAFETY: of this length, and no other reference is there.
        unsafe { to.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(message.as_ptr(), message.len()) };
        true
    }
}

/// Receives what `next` has, which gets whether something was kept: that is the next message without a call of it, or it
/// decides. A message that does not fit is kept. `found` gets the message in either case.
///
/// # Safety
/// As of [`handle::enter`](crate::handle::enter), and of [`Place::open`].
pub(super) unsafe fn recv<K: Kind<End = Kept<E, M>>, E: 'static, M: Incoming>(
    rx: *mut K,
    place: Place,
    mut next: impl FnMut(&mut E, bool) -> Result<M, ys_code>,
    found: impl FnOnce(&M),
) -> c_int {
    // SAFETY: by the caller.
    let Some(mut room) = (unsafe { place.open() }) else { return c_int::from_code(YS_EINVAL) };
    let recv = |kept: &mut Kept<E, M>| {
        let next = match kept.message.take() {
            Some(message) if !K::REPLACES => Ok(message),
            Some(message) => Ok(next(&mut kept.end, true).unwrap_or(message)),
            None => next(&mut kept.end, false),
        };
        let message = match next {
            Ok(message) => message,
            Err(code) => return c_int::from_code(code),
        };
        found(&message);
        if room.put(message.bytes()) {
            return c_int::from_code(YS_OK);
        }
        kept.message = Some(message);
        c_int::from_code(ys_code::YS_ETOOLONG)
    };
    // SAFETY: by the caller.
    unsafe { enter(rx, recv) }
}

/// What has become of a receive, as a code.
pub(super) fn tried<T>(received: Result<T, TryRecvError>) -> Result<T, ys_code> {
    received.map_err(|error| match error {
        TryRecvError::Empty => YS_EMPTY,
        TryRecvError::Ended(error) => code_of(error),
    })
}

/// As [`tried`], of one with a limit.
pub(super) fn limited<T>(received: Result<T, RecvTimeoutError>) -> Result<T, ys_code> {
    received.map_err(|error| match error {
        RecvTimeoutError::Timeout => YS_TIMEOUT,
        RecvTimeoutError::Ended(error) => code_of(error),
    })
}

/// A message of a funnel, and who has sent it.
pub(super) fn next_of<T: Carried>(funnel: &mut Funnel<T>, limit: Limit) -> Result<(u64, T), ys_code> {
    match limit {
        Limit::Now => tried(funnel.try_recv_from()),
        Limit::Within(time) => limited(funnel.recv_from_timeout(time)),
        Limit::Never => funnel.recv_from().map_err(code_of),
    }
}

/// A socket for a peer to inherit, as a descriptor of the caller.
pub(super) fn seat(seat: Result<OwnedFd, Error>) -> c_int {
    seat.map_or_else(|error| c_int::from_code(code_of(error)), IntoRawFd::into_raw_fd)
}

/// As [`seat`], of an end whose peers have numbers.
///
/// # Safety
/// A place for the number.
pub(super) unsafe fn numbered_seat(found: Result<(u64, OwnedFd), Error>, number: *mut u64) -> c_int {
    seat(found.map(|(peer, socket)| {
        // SAFETY: by the caller.
        unsafe { *number = peer };
        socket
    }))
}

/// Says which peer has ended, and why.
///
/// # Safety
/// Places for both.
pub(super) unsafe fn next_ended(ended: Option<Ended>, number: *mut u64, why: *mut c_int) -> c_int {
    let Some(Ended { sender, error }) = ended else { return c_int::from_code(YS_EMPTY) };
    // SAFETY: by the caller.
    unsafe {
        *number = sender;
        *why = c_int::from_code(code_of(error));
    }
    c_int::from_code(YS_OK)
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
