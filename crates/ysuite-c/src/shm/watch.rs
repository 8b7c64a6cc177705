//! A watch of bytes between processes: one sender, many receivers, each of which receives the newest value.

use core::ffi::{c_char, c_int, c_void};
use std::os::fd::{AsFd, AsRawFd};

use ysuite_shm::{Bytes, BytesWatchSender, WatchReceiver};

use super::many::{Kept, Place, limited, named, recv, seat, serve, tried};
use super::options::ys_shm_options;
use super::{Kind, bytes, code_of, enter, free, open, open_over};
use crate::code::{Answer, YS_EINVAL, YS_OK, ys_code};
use crate::limit::Limit;

/// The sender of a watch of bytes, whose receivers, each a ys_shm_watch_rx in a process of its own, receive the newest value. One
/// thread at a time; it may move between threads. Freed by ys_shm_watch_free.
pub struct ys_shm_watch {
    _opaque: [u8; 0],
}

impl Kind for ys_shm_watch {
    const FREE: &'static str = "ys_shm_watch_free";

    type End = BytesWatchSender;
}

/// A receiver of a ys_shm_watch. One thread at a time; it may move between threads. Freed by ys_shm_watch_rx_free.
pub struct ys_shm_watch_rx {
    _opaque: [u8; 0],
}

impl Kind for ys_shm_watch_rx {
    const FREE: &'static str = "ys_shm_watch_rx_free";
    const REPLACES: bool = true;

    type End = Kept<WatchReceiver<Bytes>>;
}

/// Opens the sender of a watch, whose receivers connect by its name, by ys_shm_connect, or inherit a ys_shm_watch_seat. They come
/// and go, and none of them holds the sender up.
///
/// @param name the name, as of ys_shm_listener_open; NULL: none
/// @param value the bytes of the first value; NULL if there are none
/// @param length how many
/// @param largest the most bytes of a value; the memory is that of 8 of these or more
/// @param options how it treats its peers, and who may connect; NULL: the defaults
/// @param watch where it is put; NULL is put there after an error
/// @return YS_OK; YS_EINVAL; YS_ETOOLONG: the first value is longer than `largest`; YS_REFUSED_CAPACITY: 0, or more than can
///     be; YS_REFUSED_IN_USE, YS_REFUSED_NAME, YS_REFUSED_TIME; YS_ESYSTEM with the cause in errno
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_watch_open(
    name: *const c_char,
    value: *const c_void,
    length: usize,
    largest: usize,
    options: *const ys_shm_options,
    watch: *mut *mut ys_shm_watch,
) -> c_int {
    let make = || {
        // SAFETY: by the caller.
        let (options, name) = unsafe { (ys_shm_options::read(options)?, named(name)?) };
        // SAFETY: by the caller.
        let value = unsafe { bytes(value, length) }.ok_or(YS_EINVAL)?;
        if value.len() > largest {
            return Err(ys_code::YS_ETOOLONG);
        }
        let opened = match name {
            Some(name) => options.watch_bytes(name, largest, value),
            None => options.watch_bytes_without_name(largest, value),
        };
        opened.map_err(code_of)
    };
    // SAFETY: by the caller.
    unsafe { open(watch, make) }
}

/// A place for one more receiver: a socket for ys_shm_watch_rx_open, for a child to inherit. Only a descriptor without FD_CLOEXEC
/// is inherited: clear it in the child. Until it is used each value costs a system call.
///
/// @param watch the sender
/// @return a descriptor, which is the caller's; YS_ESYSTEM with the cause in errno: no memory or no descriptors
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_watch_seat(watch: *mut ys_shm_watch) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(watch, |sender| seat(sender.seat())) }
}

/// Replaces the value, whether there are receivers or not. Never waits. Those that sleep are woken.
///
/// @param watch the sender
/// @param value its bytes; NULL if there are none
/// @param length how many
/// @return YS_OK; YS_EINVAL; YS_ETOOLONG
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_watch_send(watch: *mut ys_shm_watch, value: *const c_void, length: usize) -> c_int {
    // SAFETY: by the caller.
    let Some(value) = (unsafe { bytes(value, length) }) else { return c_int::from_code(YS_EINVAL) };
    let send = |sender: &mut BytesWatchSender| {
        if value.len() > sender.largest() {
            return c_int::from_code(ys_code::YS_ETOOLONG);
        }
        sender.send(value);
        c_int::from_code(YS_OK)
    };
    // SAFETY: by the caller.
    unsafe { enter(watch, send) }
}

/// As ys_shm_broadcast_serve.
///
/// @param watch the sender
/// @param ns nanoseconds; 0: what there is now; less than 0: for ever
/// @return YS_OK
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_watch_serve(watch: *mut ys_shm_watch, ns: i64) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(watch, |sender| serve(Limit::from_nanoseconds(ns), |limit| sender.serve_timeout(limit))) }
}

/// How many receivers have joined: the newest value, and all later ones, are for them.
///
/// @param watch the sender
/// @return how many, or an error
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_watch_receivers(watch: *mut ys_shm_watch) -> isize {
    // SAFETY: by the caller.
    unsafe { enter(watch, |sender| sender.receivers() as isize) }
}

/// The descriptor of the sender, for poll and epoll, after ys_shm_watch_arm. It stays the sender's: never read, written or
/// closed.
///
/// @param watch the sender
/// @return the descriptor
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_watch_fd(watch: *mut ys_shm_watch) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(watch, |sender| sender.as_fd().as_raw_fd()) }
}

/// For an event loop: serves; then the descriptor becomes readable when a receiver comes or goes. Some system calls.
///
/// @param watch the sender
/// @return 1: sleep; 0: do not, there is something to be done now
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_watch_arm(watch: *mut ys_shm_watch) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(watch, |sender| c_int::from(sender.arm())) }
}

/// Frees a sender, and takes its name away. Its receivers receive the last value, and then YS_CLOSED. Also in a forked child,
/// for a handle of its parent: there it closes descriptors only.
///
/// @param watch the sender, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_watch_free(watch: *mut ys_shm_watch) {
    // SAFETY: by the caller.
    unsafe { free(watch) }
}

/// Makes a receiver of a watch over a socket: of ys_shm_connect or ys_shm_watch_seat. It says hello at once. Never blocks.
///
/// @param fd the socket, which is the handle's from now on, and no child inherits; after any error it is closed. Less than
///     0, as ys_shm_connect returns: that error is returned
/// @param options how it treats its peer; NULL: the defaults
/// @param rx receives the receiver; NULL after an error
/// @return YS_OK; YS_EINVAL; YS_REFUSED_PACKET: no such socket; YS_ESYSTEM with the cause in errno: EBADF, no memory or no
///     descriptors
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_watch_rx_open(
    fd: c_int,
    options: *const ys_shm_options,
    rx: *mut *mut ys_shm_watch_rx,
) -> c_int {
    let make = |socket| {
        // SAFETY: by the caller.
        let receiver = unsafe { ys_shm_options::read(options) }?.watch_receiver(socket);
        Ok(Kept::new(receiver.map_err(code_of)?))
    };
    // SAFETY: by the caller.
    unsafe { open_over(fd, rx, make) }
}

/// The newest value, if it was not received.
fn next(receiver: &mut WatchReceiver<Bytes>, limit: Limit) -> Result<Bytes, ys_code> {
    match limit {
        Limit::Now => tried(receiver.try_recv()),
        Limit::Within(time) => limited(receiver.recv_timeout(time)),
        Limit::Never => receiver.recv().map_err(code_of),
    }
}

/// # Safety
/// As of [`handle::enter`](crate::handle::enter); a buffer, and a place for a length, or NULL.
unsafe fn recv_until(rx: *mut ys_shm_watch_rx, place: Place, limit: Limit) -> c_int {
    // A value that did not fit is replaced by a newer one, for which nobody waits.
    let next = |receiver: &mut _, is_kept| next(receiver, if is_kept { Limit::Now } else { limit });
    // SAFETY: by the caller.
    unsafe { recv(rx, place, next, |_| {}) }
}

/// Receives the newest value; waits until there is one that it has not received. None that was replaced before is received.
///
/// @param rx the receiver
/// @param to where its bytes are put; NULL if there is no room
/// @param room how many bytes there is room for
/// @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
/// @return YS_OK; YS_EINVAL; YS_ETOOLONG: the value does not fit, and may still be received; or there is none, and the channel
///     has ended: YS_CLOSED, YS_DIED, YS_BROKEN, YS_ESYSTEM, or YS_REFUSED and the codes behind it
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_watch_recv(
    rx: *mut ys_shm_watch_rx,
    to: *mut c_void,
    room: usize,
    length: *mut usize,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { recv_until(rx, Place { to, room, length }, Limit::Never) }
}

/// Receives the newest value if it was not received. Never waits.
///
/// @param rx the receiver
/// @param to where its bytes are put; NULL if there is no room
/// @param room how many bytes there is room for
/// @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
/// @return YS_OK; YS_EMPTY; otherwise as ys_shm_watch_recv
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_watch_try_recv(
    rx: *mut ys_shm_watch_rx,
    to: *mut c_void,
    room: usize,
    length: *mut usize,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { recv_until(rx, Place { to, room, length }, Limit::Now) }
}

/// Receives the newest value; waits for so long at most.
///
/// @param rx the receiver
/// @param to where its bytes are put; NULL if there is no room
/// @param room how many bytes there is room for
/// @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
/// @param ns nanoseconds; 0: as ys_shm_watch_try_recv; less than 0: for ever
/// @return YS_OK; YS_EMPTY (where ns is 0), YS_TIMEOUT: there was none; otherwise as ys_shm_watch_recv
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_watch_recv_for(
    rx: *mut ys_shm_watch_rx,
    to: *mut c_void,
    room: usize,
    length: *mut usize,
    ns: i64,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { recv_until(rx, Place { to, room, length }, Limit::from_nanoseconds(ns)) }
}

/// The descriptor of the receiver, for poll and epoll, after ys_shm_watch_rx_arm. It stays the receiver's: never read, written
/// or closed.
///
/// @param rx the receiver
/// @return the descriptor
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_watch_rx_fd(rx: *mut ys_shm_watch_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(rx, |kept| kept.end.as_fd().as_raw_fd()) }
}

/// Says that the receiver is about to sleep in an event loop: if there is no new value, the descriptor becomes readable when
/// there is, or when the channel ends. Some system calls.
///
/// @param rx the receiver
/// @return 1: sleep; 0: do not, there is something to be done now
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_watch_rx_arm(rx: *mut ys_shm_watch_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(rx, |kept| c_int::from(kept.message.is_none() && kept.end.arm())) }
}

/// Frees a receiver. Also in a forked child, for a handle of its parent: there it closes descriptors only.
///
/// @param rx the receiver, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_watch_rx_free(rx: *mut ys_shm_watch_rx) {
    // SAFETY: by the caller.
    unsafe { free(rx) }
}
