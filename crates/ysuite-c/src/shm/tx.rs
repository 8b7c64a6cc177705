//! The sender of a pipe of bytes between processes.

use core::ffi::{c_int, c_void};
use core::ptr;

use ysuite_shm::{BytesSender, SendError, SendTimeoutError, TrySendError};

use super::options::ys_shm_options;
use super::rx::ys_shm_rx;
use super::{Kind, bytes, close, code_of, enter, fd, free, into_fd, open, open_over};
use crate::code::{Answer, YS_EINVAL, YS_FULL, YS_OK, YS_TIMEOUT, ys_code};
use crate::limit::Limit;

/// The sender of a pipe of bytes between processes. One thread at a time; it may move between threads. Freed by
/// ys_shm_tx_free.
pub struct ys_shm_tx {
    _opaque: [u8; 0],
}

impl Kind for ys_shm_tx {
    const FREE: &'static str = "ys_shm_tx_free";

    type End = BytesSender;
}

/// Opens a pipe of bytes: one sender, one receiver, in two processes or in one. Either handle can be given to another process,
/// by ys_shm_tx_into_fd or ys_shm_rx_into_fd, as long as it was not used. Never blocks.
///
/// @param capacity how many bytes the messages have together; each takes 8 more than it has, rounded up to whole words
/// @param options how the ends treat each other; NULL: the defaults
/// @param tx receives the sender; NULL after an error
/// @param rx receives the receiver; NULL after an error
/// @return YS_OK; YS_EINVAL; YS_REFUSED_CAPACITY: 8 or fewer, or more than can be; YS_ESYSTEM with the cause in errno: no
///     memory or no descriptors
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_pipe_open(
    capacity: usize,
    options: *const ys_shm_options,
    tx: *mut *mut ys_shm_tx,
    rx: *mut *mut ys_shm_rx,
) -> c_int {
    let mut receiver = None;
    // SAFETY: by the caller.
    unsafe {
        if !tx.is_null() {
            *tx = ptr::null_mut();
        }
        if rx.is_null() {
            return c_int::from_code(YS_EINVAL);
        }
        *rx = ptr::null_mut();
        let code = open(tx, || {
            let (sending, receiving) = ys_shm_options::read(options)?.pipe_bytes(capacity).map_err(code_of)?;
            receiver = Some(receiving);
            Ok(sending)
        });
        // It is there if the sender is.
        receiver.map_or(code, |receiver| open(rx, || Ok(receiver)))
    }
}

/// Makes the sender of a pipe of bytes over a socket: of ys_shm_connect, ys_shm_accept or ys_shm_rx_into_fd, or an inherited one.
/// Never blocks: the peer need not be there yet, and until it is, messages are sent as long as there is room.
///
/// @param fd the socket, which is the handle's from now on, and no child inherits; after any error it is closed. Less than
///     0, as ys_shm_connect and ys_shm_accept return: that error is returned
/// @param capacity how many bytes the messages have together; each takes 8 more than it has, rounded up to whole words
/// @param options how it treats its peer; NULL: the defaults
/// @param tx receives the sender; NULL after an error
/// @return YS_OK; YS_EINVAL; YS_REFUSED_CAPACITY: 8 or fewer, or more than can be; YS_REFUSED_PACKET: no such socket;
///     YS_ESYSTEM with the cause in errno: EBADF, no memory or no descriptors
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_tx_open(
    fd: c_int,
    capacity: usize,
    options: *const ys_shm_options,
    tx: *mut *mut ys_shm_tx,
) -> c_int {
    // SAFETY: by the caller.
    unsafe {
        open_over(fd, tx, |socket| ys_shm_options::read(options)?.bytes_sender(socket, capacity).map_err(code_of))
    }
}

/// # Safety
/// As of [`handle::enter`](crate::handle::enter); that many bytes are there.
unsafe fn send(tx: *mut ys_shm_tx, message: *const c_void, length: usize, limit: Limit) -> c_int {
    // SAFETY: by the caller.
    let Some(message) = (unsafe { bytes(message, length) }) else { return c_int::from_code(YS_EINVAL) };
    let send = |end: &mut BytesSender| {
        if message.len() > end.largest() {
            return c_int::from_code(ys_code::YS_ETOOLONG);
        }
        c_int::from_code(match limit {
            Limit::Now => match end.try_send(message) {
                Ok(()) => YS_OK,
                Err(TrySendError::Full(())) => YS_FULL,
                Err(TrySendError::Ended((), error)) => code_of(error),
            },
            Limit::Within(time) => match end.send_timeout(message, time) {
                Ok(()) => YS_OK,
                Err(SendTimeoutError::Timeout(())) => YS_TIMEOUT,
                Err(SendTimeoutError::Ended((), error)) => code_of(error),
            },
            Limit::Never => match end.send(message) {
                Ok(()) => YS_OK,
                Err(SendError((), error)) => code_of(error),
            },
        })
    };
    // SAFETY: by the caller.
    unsafe { enter(tx, send) }
}

/// Sends a message, which is copied into the channel; waits while there is no room for it.
///
/// @param tx the sender
/// @param message its bytes; NULL if there are none
/// @param length how many
/// @return YS_OK; YS_EINVAL; YS_ETOOLONG: longer than ys_shm_tx_largest; or the channel has ended: YS_CLOSED, YS_DIED,
///     YS_BROKEN, YS_ESYSTEM, or YS_REFUSED and the codes behind it
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_send(tx: *mut ys_shm_tx, message: *const c_void, length: usize) -> c_int {
    // SAFETY: by the caller.
    unsafe { send(tx, message, length, Limit::Never) }
}

/// Sends a message if there is room for it. Never waits.
///
/// @param tx the sender
/// @param message its bytes; NULL if there are none
/// @param length how many
/// @return YS_OK; YS_FULL; otherwise as ys_shm_send
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_try_send(tx: *mut ys_shm_tx, message: *const c_void, length: usize) -> c_int {
    // SAFETY: by the caller.
    unsafe { send(tx, message, length, Limit::Now) }
}

/// Sends a message; waits for so long at most.
///
/// @param tx the sender
/// @param message its bytes; NULL if there are none
/// @param length how many
/// @param ns nanoseconds; 0: as ys_shm_try_send; less than 0: for ever
/// @return YS_OK; YS_FULL (where ns is 0), YS_TIMEOUT: there was no room; otherwise as ys_shm_send
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_send_for(tx: *mut ys_shm_tx, message: *const c_void, length: usize, ns: i64) -> c_int {
    // SAFETY: by the caller.
    unsafe { send(tx, message, length, Limit::from_nanoseconds(ns)) }
}

/// The most bytes that a message may have.
///
/// @param tx the sender
/// @return how many; 0 after an error, with EINVAL in errno
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_tx_largest(tx: *mut ys_shm_tx) -> usize {
    // SAFETY: by the caller.
    unsafe { enter(tx, |end| end.largest()) }
}

/// Whether the channel has ended: nothing sent now would be received. One system call.
///
/// @param tx the sender
/// @return 1 or 0, or an error: YS_CLOSED if the handle itself was closed or given away
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_tx_is_closed(tx: *mut ys_shm_tx) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(tx, |end| c_int::from(end.is_disconnected())) }
}

/// The descriptor of the sender, for poll and epoll, after ys_shm_tx_arm. It stays the sender's: never read, written or closed.
///
/// @param tx the sender
/// @return the descriptor; YS_CLOSED: the handle was closed or given away
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_tx_fd(tx: *mut ys_shm_tx) -> c_int {
    // SAFETY: by the caller.
    unsafe { fd(tx) }
}

/// Says that the sender is about to sleep in an event loop: if there is no room for a message of this length, the descriptor
/// becomes readable when there is, or when the channel ends. Some system calls.
///
/// @param tx the sender
/// @param length how many bytes
/// @return 1: sleep; 0: do not, there is something to be done now; YS_ETOOLONG; YS_CLOSED: the handle was closed or given
///     away
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_tx_arm(tx: *mut ys_shm_tx, length: usize) -> c_int {
    let arm = |end: &mut BytesSender| {
        if length > end.largest() { c_int::from_code(ys_code::YS_ETOOLONG) } else { c_int::from(end.arm(length)) }
    };
    // SAFETY: by the caller.
    unsafe { enter(tx, arm) }
}

/// Gives the socket of a sender that was not used away, for ys_shm_tx_open in another process. Only a descriptor without
/// FD_CLOEXEC is inherited: clear it in the child. The handle is as one that was closed.
///
/// @param tx the sender
/// @return a descriptor, which is the caller's; YS_EINVAL: it was used; YS_CLOSED: it was closed or given away before
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_tx_into_fd(tx: *mut ys_shm_tx) -> c_int {
    // SAFETY: by the caller.
    unsafe { into_fd(tx, BytesSender::into_fd) }
}

/// Closes the sender: what was sent is still received, and then YS_CLOSED. Frees its memory and descriptors; every later
/// call returns YS_CLOSED.
///
/// @param tx the sender
/// @return YS_OK; YS_CLOSED: it was closed or given away before
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_tx_close(tx: *mut ys_shm_tx) -> c_int {
    // SAFETY: by the caller.
    unsafe { close(tx) }
}

/// Frees a sender, and closes it. Also in a forked child, for a handle of its parent: there it closes descriptors only.
///
/// @param tx the sender, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_tx_free(tx: *mut ys_shm_tx) {
    // SAFETY: by the caller.
    unsafe { free(tx) }
}
