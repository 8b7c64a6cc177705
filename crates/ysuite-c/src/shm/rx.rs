//! The receiver of a pipe of bytes between processes.

use core::ffi::{c_int, c_void};

use ysuite_shm::BytesReceiver;

use super::many::{limited, tried};
use super::options::ys_shm_options;
use super::{Kind, buffer, close, code_of, enter, fd, free, into_fd, open_over};
use crate::code::{Answer, YS_EINVAL, YS_OK, ys_code};
use crate::limit::Limit;

/// The receiver of a pipe of bytes between processes. One thread at a time; it may move between threads. Freed by
/// ys_shm_rx_free.
pub struct ys_shm_rx {
    _opaque: [u8; 0],
}

impl Kind for ys_shm_rx {
    const FREE: &'static str = "ys_shm_rx_free";

    type End = BytesReceiver;
}

/// Makes the receiver of a pipe of bytes over a socket: of ys_shm_connect, ys_shm_accept or ys_shm_tx_into_fd, or an inherited
/// one. Never blocks: the peer need not be there yet.
///
/// @param fd the socket, which is the handle's from now on, and no child inherits; after any error it is closed. Less than
///     0, as ys_shm_connect and ys_shm_accept return: that error is returned
/// @param options how it treats its peer; NULL: the defaults
/// @param rx receives the receiver; NULL after an error
/// @return YS_OK; YS_EINVAL; YS_REFUSED_PACKET: no such socket; YS_ESYSTEM with the cause in errno: EBADF, no memory or no
///     descriptors
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_rx_open(fd: c_int, options: *const ys_shm_options, rx: *mut *mut ys_shm_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { open_over(fd, rx, |socket| ys_shm_options::read(options)?.bytes_receiver(socket).map_err(code_of)) }
}

/// # Safety
/// As of [`handle::enter`](crate::handle::enter); a buffer, and a place for a length, or NULL.
unsafe fn recv(rx: *mut ys_shm_rx, to: *mut c_void, room: usize, length: *mut usize, limit: Limit) -> c_int {
    // SAFETY: by the caller.
    let (Some(to), false) = (unsafe { buffer(to, room) }, length.is_null()) else {
        return c_int::from_code(YS_EINVAL);
    };
    // SAFETY: by the caller.
    unsafe { *length = 0 };
    let recv = |end: &mut BytesReceiver| {
        let room = to.len();
        let found = match limit {
            Limit::Now => tried(end.try_recv_slice(to)),
            Limit::Within(time) => limited(end.recv_slice_timeout(to, time)),
            Limit::Never => end.recv_slice(to).map_err(code_of),
        };
        c_int::from_code(match found {
            Ok(found) => {
                // SAFETY: by the caller.
                unsafe { *length = found };
                if found <= room { YS_OK } else { ys_code::YS_ETOOLONG }
            }
            Err(code) => code,
        })
    };
    // SAFETY: by the caller.
    unsafe { enter(rx, recv) }
}

/// Receives a message, which is copied out of the channel; waits while there is none.
///
/// A message that does not fit stays whole in the channel, and `length` says how much room it needs. With a room of 0 this
/// waits for a message, and returns its length.
///
/// @param rx the receiver
/// @param to where its bytes are put; NULL if there is no room
/// @param room how many bytes there is room for
/// @param length receives how many bytes the message has; 0 after any other error than YS_ETOOLONG
/// @return YS_OK; YS_EINVAL; YS_ETOOLONG: the message does not fit, and stays; or the channel is empty and has ended:
///     YS_CLOSED, YS_DIED, YS_BROKEN, YS_ESYSTEM, or YS_REFUSED and the codes behind it
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_recv(rx: *mut ys_shm_rx, to: *mut c_void, room: usize, length: *mut usize) -> c_int {
    // SAFETY: by the caller.
    unsafe { recv(rx, to, room, length, Limit::Never) }
}

/// Receives a message if there is one. Never waits.
///
/// @param rx the receiver
/// @param to where its bytes are put; NULL if there is no room
/// @param room how many bytes there is room for
/// @param length receives how many bytes the message has; 0 after any other error than YS_ETOOLONG
/// @return YS_OK; YS_EMPTY; otherwise as ys_shm_recv
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_try_recv(
    rx: *mut ys_shm_rx,
    to: *mut c_void,
    room: usize,
    length: *mut usize,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { recv(rx, to, room, length, Limit::Now) }
}

/// Receives a message; waits for so long at most.
///
/// @param rx the receiver
/// @param to where its bytes are put; NULL if there is no room
/// @param room how many bytes there is room for
/// @param length receives how many bytes the message has; 0 after any other error than YS_ETOOLONG
/// @param ns nanoseconds; 0: as ys_shm_try_recv; less than 0: for ever
/// @return YS_OK; YS_EMPTY (where ns is 0), YS_TIMEOUT: there was none; otherwise as ys_shm_recv
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_recv_for(
    rx: *mut ys_shm_rx,
    to: *mut c_void,
    room: usize,
    length: *mut usize,
    ns: i64,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { recv(rx, to, room, length, Limit::from_nanoseconds(ns)) }
}

/// The descriptor of the receiver, for poll and epoll, after ys_shm_rx_arm. It stays the receiver's: never read, written or
/// closed.
///
/// @param rx the receiver
/// @return the descriptor; YS_CLOSED: the handle was closed or given away
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_rx_fd(rx: *mut ys_shm_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { fd(rx) }
}

/// Says that the receiver is about to sleep in an event loop: if there is no message, the descriptor becomes readable when
/// there is, or when the channel ends. Some system calls.
///
/// @param rx the receiver
/// @return 1: sleep; 0: do not, there is something to be done now; YS_CLOSED: the handle was closed or given away
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_rx_arm(rx: *mut ys_shm_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(rx, |end| c_int::from(end.arm())) }
}

/// Gives the socket of a receiver that was not used away, for ys_shm_rx_open in another process. Only a descriptor without
/// FD_CLOEXEC is inherited: clear it in the child. The handle is as one that was closed.
///
/// @param rx the receiver
/// @return a descriptor, which is the caller's; YS_EINVAL: it was used; YS_CLOSED: it was closed or given away before
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_rx_into_fd(rx: *mut ys_shm_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { into_fd(rx, BytesReceiver::into_fd) }
}

/// Closes the receiver: nothing is received any more, and the sender is told. Frees its memory and descriptors; every later
/// call returns YS_CLOSED.
///
/// @param rx the receiver
/// @return YS_OK; YS_CLOSED: it was closed or given away before
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_rx_close(rx: *mut ys_shm_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { close(rx) }
}

/// Frees a receiver, and closes it. Also in a forked child, for a handle of its parent: there it closes descriptors only.
///
/// @param rx the receiver, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_rx_free(rx: *mut ys_shm_rx) {
    // SAFETY: by the caller.
    unsafe { free(rx) }
}
