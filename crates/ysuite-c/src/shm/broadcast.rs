//! A broadcast of bytes between processes: one sender, many receivers, each of which receives all messages.

use core::ffi::{c_char, c_int, c_void};
use std::os::fd::{AsFd, AsRawFd};

use ysuite_shm::{BroadcastError, BroadcastReceiver, Bytes, BytesBroadcastSender, SendTimeoutError};

use super::many::{Kept, Place, named, recv, seat, serve};
use super::options::ys_shm_options;
use super::{Kind, bytes, code_of, enter, free, open, open_over};
use crate::code::{Answer, YS_EINVAL, YS_EMPTY, YS_FULL, YS_LAGGED, YS_OK, YS_TIMEOUT, ys_code};
use crate::limit::Limit;

/// The sender of a broadcast of bytes, whose receivers, each a ys_shm_broadcast_rx in a process of its own, receive all messages
/// that are sent while they are there. One thread at a time; it may move between threads. Freed by ys_shm_broadcast_free.
pub struct ys_shm_broadcast {
    _opaque: [u8; 0],
}

impl Kind for ys_shm_broadcast {
    const FREE: &'static str = "ys_shm_broadcast_free";

    type End = BytesBroadcastSender;
}

/// A receiver of a ys_shm_broadcast. One thread at a time; it may move between threads. Freed by ys_shm_broadcast_rx_free.
pub struct ys_shm_broadcast_rx {
    _opaque: [u8; 0],
}

impl Kind for ys_shm_broadcast_rx {
    const FREE: &'static str = "ys_shm_broadcast_rx_free";

    type End = Kept<BroadcastReceiver<Bytes>>;
}

/// Opens the sender of a broadcast, whose receivers connect by its name, by ys_shm_connect, or inherit a ys_shm_broadcast_seat.
/// They come and go; one that is slow holds the sender up, one that dies no longer does, and one that is stopped looks alive.
///
/// @param name the name, as of ys_shm_listener_open; NULL: none
/// @param capacity how many bytes the messages have together; each takes 8 more than it has, rounded up to whole words
/// @param lossy not 0: nobody holds the sender up; a receiver that is too slow goes on with the newest message, after
///     YS_LAGGED
/// @param options how it treats its peers, and who may connect; NULL: the defaults
/// @param broadcast where it is put; NULL is put there after an error
/// @return YS_OK; YS_EINVAL; YS_REFUSED_CAPACITY: 8 or fewer, or more than can be; YS_REFUSED_IN_USE, YS_REFUSED_NAME,
///     YS_REFUSED_TIME; YS_ESYSTEM with the cause in errno
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_broadcast_open(
    name: *const c_char,
    capacity: usize,
    lossy: c_int,
    options: *const ys_shm_options,
    broadcast: *mut *mut ys_shm_broadcast,
) -> c_int {
    let make = || {
        // SAFETY: by the caller.
        let (options, name) = unsafe { (ys_shm_options::read(options)?, named(name)?) };
        let options = if lossy == 0 { options } else { options.lossy() };
        let opened = match name {
            Some(name) => options.broadcast_bytes(name, capacity),
            None => options.broadcast_bytes_without_name(capacity),
        };
        opened.map_err(code_of)
    };
    // SAFETY: by the caller.
    unsafe { open(broadcast, make) }
}

/// A place for one more receiver: a socket for ys_shm_broadcast_rx_open, for a child to inherit. Only a descriptor without
/// FD_CLOEXEC is inherited: clear it in the child. Until it is used each message costs a system call.
///
/// @param broadcast the sender
/// @return a descriptor, which is the caller's; YS_ESYSTEM with the cause in errno: no memory or no descriptors
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_broadcast_seat(broadcast: *mut ys_shm_broadcast) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(broadcast, |sender| seat(sender.seat())) }
}

/// # Safety
/// As of [`handle::enter`](crate::handle::enter); a message, or NULL.
unsafe fn send(broadcast: *mut ys_shm_broadcast, message: *const c_void, length: usize, limit: Limit) -> c_int {
    // SAFETY: by the caller.
    let Some(message) = (unsafe { bytes(message, length) }) else { return c_int::from_code(YS_EINVAL) };
    let send = |sender: &mut BytesBroadcastSender| {
        if message.len() > sender.largest() {
            return c_int::from_code(ys_code::YS_ETOOLONG);
        }
        c_int::from_code(match limit {
            Limit::Now => sender.try_send(message).map_or(YS_FULL, |()| YS_OK),
            Limit::Within(time) => match sender.send_timeout(message, time) {
                Ok(()) => YS_OK,
                Err(SendTimeoutError::Timeout(())) => YS_TIMEOUT,
                Err(SendTimeoutError::Ended((), error)) => code_of(error),
            },
            Limit::Never => {
                sender.send(message);
                YS_OK
            }
        })
    };
    // SAFETY: by the caller.
    unsafe { enter(broadcast, send) }
}

/// Sends a message to all receivers, or to none if there are none; waits while one of them has no room, unless it is lossy.
///
/// @param broadcast the sender
/// @param message its bytes; NULL if there are none
/// @param length how many
/// @return YS_OK; YS_EINVAL; YS_ETOOLONG: longer than ys_shm_broadcast_largest
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_broadcast_send(
    broadcast: *mut ys_shm_broadcast,
    message: *const c_void,
    length: usize,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { send(broadcast, message, length, Limit::Never) }
}

/// Sends a message if all receivers have room. Never waits.
///
/// @param broadcast the sender
/// @param message its bytes; NULL if there are none
/// @param length how many
/// @return YS_OK; YS_FULL; otherwise as ys_shm_broadcast_send
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_broadcast_try_send(
    broadcast: *mut ys_shm_broadcast,
    message: *const c_void,
    length: usize,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { send(broadcast, message, length, Limit::Now) }
}

/// Sends a message; waits for so long at most.
///
/// @param broadcast the sender
/// @param message its bytes; NULL if there are none
/// @param length how many
/// @param ns nanoseconds; 0: as ys_shm_broadcast_try_send; less than 0: for ever
/// @return YS_OK; YS_FULL (where ns is 0), YS_TIMEOUT: there was no room; otherwise as ys_shm_broadcast_send
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_broadcast_send_for(
    broadcast: *mut ys_shm_broadcast,
    message: *const c_void,
    length: usize,
    ns: i64,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { send(broadcast, message, length, Limit::from_nanoseconds(ns)) }
}

/// The most bytes that a message may have.
///
/// @param broadcast the sender
/// @return how many; 0 after an error, with EINVAL in errno
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_broadcast_largest(broadcast: *mut ys_shm_broadcast) -> usize {
    // SAFETY: by the caller.
    unsafe { enter(broadcast, |sender| sender.largest()) }
}

/// Accepts receivers that have come, and notices those that have gone, for all of this time: what a sender without news does
/// instead of sleeping. Sending does so now and then.
///
/// @param broadcast the sender
/// @param ns nanoseconds; 0: what there is now; less than 0: for ever
/// @return YS_OK
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_broadcast_serve(broadcast: *mut ys_shm_broadcast, ns: i64) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(broadcast, |sender| serve(Limit::from_nanoseconds(ns), |limit| sender.serve_timeout(limit))) }
}

/// How many receivers have joined: what is sent now is for all of them. One joins when it has said hello, and this end has
/// noticed it.
///
/// @param broadcast the sender
/// @return how many, or an error
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_broadcast_receivers(broadcast: *mut ys_shm_broadcast) -> isize {
    // SAFETY: by the caller.
    unsafe { enter(broadcast, |sender| sender.receivers() as isize) }
}

/// The descriptor of the sender, for poll and epoll, after ys_shm_broadcast_arm. It stays the sender's: never read, written or
/// closed.
///
/// @param broadcast the sender
/// @return the descriptor
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_broadcast_fd(broadcast: *mut ys_shm_broadcast) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(broadcast, |sender| sender.as_fd().as_raw_fd()) }
}

/// Says that the sender is about to sleep in an event loop: if there is no room for a message of this length, the descriptor
/// becomes readable when there may be, or when a receiver comes or goes. Some system calls.
///
/// @param broadcast the sender
/// @param length how many bytes
/// @return 1: sleep; 0: do not, there is something to be done now; YS_ETOOLONG
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_broadcast_arm(broadcast: *mut ys_shm_broadcast, length: usize) -> c_int {
    let arm = |sender: &mut BytesBroadcastSender| {
        if length > sender.largest() {
            return c_int::from_code(ys_code::YS_ETOOLONG);
        }
        c_int::from(sender.arm(length))
    };
    // SAFETY: by the caller.
    unsafe { enter(broadcast, arm) }
}

/// As ys_shm_broadcast_arm, for a sender that waits for receivers, and not for room.
///
/// @param broadcast the sender
/// @return 1: sleep; 0: do not, there is something to be done now
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_broadcast_arm_to_serve(broadcast: *mut ys_shm_broadcast) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(broadcast, |sender| c_int::from(sender.arm_to_serve())) }
}

/// Frees a sender, and takes its name away. Its receivers receive what was sent, and then YS_CLOSED. Also in a forked child,
/// for a handle of its parent: there it closes descriptors only.
///
/// @param broadcast the sender, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_broadcast_free(broadcast: *mut ys_shm_broadcast) {
    // SAFETY: by the caller.
    unsafe { free(broadcast) }
}

/// Makes a receiver of a broadcast, lossy or not, over a socket: of ys_shm_connect or ys_shm_broadcast_seat. It says hello at
/// once, and receives from when the sender has noticed that on. Never blocks.
///
/// @param fd the socket, which is the handle's from now on, and no child inherits; after any error it is closed. Less than
///     0, as ys_shm_connect returns: that error is returned
/// @param options how it treats its peer; NULL: the defaults
/// @param rx receives the receiver; NULL after an error
/// @return YS_OK; YS_EINVAL; YS_REFUSED_PACKET: no such socket; YS_ESYSTEM with the cause in errno: EBADF, no memory or no
///     descriptors
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_broadcast_rx_open(
    fd: c_int,
    options: *const ys_shm_options,
    rx: *mut *mut ys_shm_broadcast_rx,
) -> c_int {
    let make = |socket| {
        // SAFETY: by the caller.
        let receiver = unsafe { ys_shm_options::read(options) }?.broadcast_receiver(socket);
        Ok(Kept::new(receiver.map_err(code_of)?))
    };
    // SAFETY: by the caller.
    unsafe { open_over(fd, rx, make) }
}

/// What there is, or why there is nothing.
fn next(receiver: &mut BroadcastReceiver<Bytes>, limit: Limit, lost: &mut u64) -> Result<Bytes, ys_code> {
    let received = match limit {
        Limit::Now => receiver.try_recv(),
        Limit::Within(time) => receiver.recv_timeout(time),
        Limit::Never => receiver.recv(),
    };
    received.map_err(|error| match error {
        BroadcastError::Lagged(messages) => {
            *lost = messages;
            YS_LAGGED
        }
        BroadcastError::Ended(error) => code_of(error),
        _ if limit.is_now() => YS_EMPTY,
        _ => YS_TIMEOUT,
    })
}

/// # Safety
/// As of [`handle::enter`](crate::handle::enter); a buffer, and places, or NULL.
unsafe fn recv_until(rx: *mut ys_shm_broadcast_rx, place: Place, lost: *mut u64, limit: Limit) -> c_int {
    let mut messages = 0;
    // SAFETY: by the caller.
    let code = unsafe { recv(rx, place, |receiver, _| next(receiver, limit, &mut messages), |_| {}) };
    if !lost.is_null() {
        // SAFETY: by the caller.
        unsafe { *lost = messages };
    }
    code
}

/// Receives a message, which is copied out of the memory that all receivers read; waits while there is none.
///
/// A message that does not fit is the next one again, and `length` says how much room it needs.
///
/// @param rx the receiver
/// @param to where its bytes are put; NULL if there is no room
/// @param room how many bytes there is room for
/// @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
/// @param lost receives how many messages are lost, after YS_LAGGED, and otherwise 0; NULL: it is not asked for
/// @return YS_OK; YS_EINVAL; YS_ETOOLONG: the message does not fit, and is the next one again; YS_LAGGED: messages of a lossy
///     broadcast are lost, and the next call goes on; or there is none, and the channel has ended: YS_CLOSED, YS_DIED,
///     YS_BROKEN, YS_ESYSTEM, or YS_REFUSED and the codes behind it
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_broadcast_recv(
    rx: *mut ys_shm_broadcast_rx,
    to: *mut c_void,
    room: usize,
    length: *mut usize,
    lost: *mut u64,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { recv_until(rx, Place { to, room, length }, lost, Limit::Never) }
}

/// Receives a message if there is one. Never waits.
///
/// @param rx the receiver
/// @param to where its bytes are put; NULL if there is no room
/// @param room how many bytes there is room for
/// @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
/// @param lost receives how many messages are lost, after YS_LAGGED, and otherwise 0; NULL: it is not asked for
/// @return YS_OK; YS_EMPTY; otherwise as ys_shm_broadcast_recv
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_broadcast_try_recv(
    rx: *mut ys_shm_broadcast_rx,
    to: *mut c_void,
    room: usize,
    length: *mut usize,
    lost: *mut u64,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { recv_until(rx, Place { to, room, length }, lost, Limit::Now) }
}

/// Receives a message; waits for so long at most.
///
/// @param rx the receiver
/// @param to where its bytes are put; NULL if there is no room
/// @param room how many bytes there is room for
/// @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
/// @param lost receives how many messages are lost, after YS_LAGGED, and otherwise 0; NULL: it is not asked for
/// @param ns nanoseconds; 0: as ys_shm_broadcast_try_recv; less than 0: for ever
/// @return YS_OK; YS_EMPTY (where ns is 0), YS_TIMEOUT: there was none; otherwise as ys_shm_broadcast_recv
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_broadcast_recv_for(
    rx: *mut ys_shm_broadcast_rx,
    to: *mut c_void,
    room: usize,
    length: *mut usize,
    lost: *mut u64,
    ns: i64,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { recv_until(rx, Place { to, room, length }, lost, Limit::from_nanoseconds(ns)) }
}

/// The descriptor of the receiver, for poll and epoll, after ys_shm_broadcast_rx_arm. It stays the receiver's: never read,
/// written or closed.
///
/// @param rx the receiver
/// @return the descriptor
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_broadcast_rx_fd(rx: *mut ys_shm_broadcast_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(rx, |kept| kept.end.as_fd().as_raw_fd()) }
}

/// Says that the receiver is about to sleep in an event loop: if there is no message, the descriptor becomes readable when there
/// is, or when the channel ends. Some system calls.
///
/// @param rx the receiver
/// @return 1: sleep; 0: do not, there is something to be done now
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_broadcast_rx_arm(rx: *mut ys_shm_broadcast_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(rx, |kept| c_int::from(kept.message.is_none() && kept.end.arm())) }
}

/// Frees a receiver: it no longer holds the sender up. Also in a forked child, for a handle of its parent: there it closes
/// descriptors only.
///
/// @param rx the receiver, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_broadcast_rx_free(rx: *mut ys_shm_broadcast_rx) {
    // SAFETY: by the caller.
    unsafe { free(rx) }
}
