//! Listeners, and connecting to them.

use core::ffi::{c_char, c_int};
use core::time::Duration;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd};

use ysuite_shm::Listener;

use super::options::ys_shm_options;
use super::{Kind, Uncancelled, code_of, enter, fd, free, open, text};
use crate::code::Answer;
use crate::handle;
use crate::limit::{Clock, Limit};

/// Listens at a name. One thread at a time; it may move between threads. Freed by ys_shm_listener_free.
pub struct ys_shm_listener {
    _opaque: [u8; 0],
}

impl Kind for ys_shm_listener {
    const FREE: &'static str = "ys_shm_listener_free";

    type End = Listener;
}

/// Listens at a name: an abstract one, which vanishes with this process, or a path if it contains a slash. A peer that connects
/// gets a socket, of which either end of a channel is made; this side makes the other.
///
/// Waits at most a second, for others that bind or free a name in the same folder.
///
/// @param name the name, in UTF-8
/// @param options who may connect; NULL: the defaults
/// @param listener where it is put; NULL is put there after an error
/// @return YS_OK; YS_EINVAL; YS_REFUSED_IN_USE, YS_REFUSED_NAME, YS_REFUSED_TIME; YS_ESYSTEM with the cause in errno
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_listener_open(
    name: *const c_char,
    options: *const ys_shm_options,
    listener: *mut *mut ys_shm_listener,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { open(listener, || ys_shm_options::read(options)?.listen(text(name)?).map_err(code_of)) }
}

// WAITS: for a stranger, or the deadline; it accepts, and sleeps until the socket is readable, which stays so.
/// The next process that has connected and is allowed to: a socket for ys_shm_tx_open or ys_shm_rx_open, which takes it over;
/// close it if it is given to neither. Waits for one. A stranger holds nobody up: what it says is not waited for here.
///
/// @param listener the listener
/// @param ns nanoseconds; 0: never waits; less than 0: for ever
/// @return a descriptor; YS_EMPTY (where ns is 0), YS_TIMEOUT: nobody has connected; YS_ESYSTEM with the cause in errno:
///     no descriptors are left, for example
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_accept(listener: *mut ys_shm_listener, ns: i64) -> c_int {
    let accept = |listener: &mut Listener| {
        let limit = Limit::from_nanoseconds(ns);
        let mut clock = Clock::new(limit);
        loop {
            match listener.try_accept() {
                Ok(Some(stranger)) => return stranger.into_raw_fd(),
                Ok(None) => {}
                Err(error) => return c_int::from_code(code_of(error)),
            }
            let left = clock.left();
            if left == Some(Duration::ZERO) {
                return c_int::from_code(limit.empty());
            }
            // MUTANT: Without it this looks again at once.
            wait_readable(listener.as_fd(), left);
        }
    };
    // SAFETY: by the caller.
    unsafe { enter(listener, accept) }
}

// MUTANT: As above.
/// Blocks until a descriptor is readable, the time is up, or a signal comes.
fn wait_readable(of: BorrowedFd<'_>, limit: Option<Duration>) {
    // Rounded up, and at most a day: then it is called again.
    let limit = limit.map_or(-1, |limit| limit.as_nanos().div_ceil(1_000_000).min(86_400_000) as c_int);
    let mut descriptor = libc::pollfd { fd: of.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, which lives as long as the call.
    unsafe { libc::poll(&raw mut descriptor, 1, limit) };
}

/// The descriptor of the listener, for poll and epoll: readable when somebody has connected. It stays the listener's.
///
/// @param listener the listener
/// @return the descriptor
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_listener_fd(listener: *mut ys_shm_listener) -> c_int {
    // SAFETY: by the caller.
    unsafe { fd(listener) }
}

/// Frees a listener, and takes its name away. Those that have connected and were not accepted are disconnected.
///
/// @param listener the listener, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_listener_free(listener: *mut ys_shm_listener) {
    // SAFETY: by the caller.
    unsafe { free(listener) }
}

/// Connects to the process that listens at a name: returns a socket for ys_shm_tx_open or ys_shm_rx_open, which takes it over.
/// Only the handle that is made of it learns whether it was refused. Waits at most a second, if too many wait to be accepted. Any
/// thread.
///
/// @param name the name, in UTF-8
/// @param options who may listen; NULL: the defaults
/// @return a descriptor; YS_EINVAL; YS_ESYSTEM with the cause in errno: ECONNREFUSED or ENOENT if nobody listens there;
///     YS_REFUSED_USER, YS_REFUSED_NAME, YS_REFUSED_TIME
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_connect(name: *const c_char, options: *const ys_shm_options) -> c_int {
    let _inside = Uncancelled::begin();
    // SAFETY: by the caller.
    let connect = || unsafe { ys_shm_options::read(options)?.connect(text(name)?).map_err(code_of) };
    handle::make(|| connect().map_or_else(c_int::from_code, IntoRawFd::into_raw_fd))
}
