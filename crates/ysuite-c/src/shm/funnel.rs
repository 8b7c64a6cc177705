//! The receiver of many senders of bytes between processes.

use core::ffi::{c_char, c_int, c_void};
use std::os::fd::{AsFd, AsRawFd};

use ysuite_shm::{Bytes, Funnel};

use super::many::{Kept, Place, named, next_ended, next_of, numbered_seat, recv};
use super::options::ys_shm_options;
use super::{Kind, code_of, enter, free, open};
use crate::code::{Answer, YS_EINVAL};
use crate::limit::Limit;

/// The receiver of many senders, each of which is a ys_shm_tx in a process of its own. One thread at a time; it may move
/// between threads. Freed by ys_shm_funnel_free.
pub struct ys_shm_funnel {
    _opaque: [u8; 0],
}

impl Kind for ys_shm_funnel {
    const FREE: &'static str = "ys_shm_funnel_free";

    type End = Kept<Funnel<Bytes>, (u64, Bytes)>;
}

/// Opens a funnel: a receiver of many senders, which connect by its name, by ys_shm_connect, or inherit a
/// ys_shm_funnel_seat. Messages of one sender arrive in order; the senders take turns. They come and go; one that dies ends its own
/// lane alone. Accepting them is part of receiving.
///
/// Who connects by the name has a second to say hello, which a sender does when it is used first; after that it is sent away:
/// YS_REFUSED_BY_PEER. One that has nothing to send yet calls ys_shm_tx_is_closed.
///
/// @param name the name, as of ys_shm_listener_open; NULL: none
/// @param options how it treats its peers, and who may connect; NULL: the defaults
/// @param funnel where it is put; NULL is put there after an error
/// @return YS_OK; YS_EINVAL; YS_REFUSED_IN_USE, YS_REFUSED_NAME, YS_REFUSED_TIME; YS_ESYSTEM with the cause in errno
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_funnel_open(
    name: *const c_char,
    options: *const ys_shm_options,
    funnel: *mut *mut ys_shm_funnel,
) -> c_int {
    let make = || {
        // SAFETY: by the caller.
        let (options, name) = unsafe { (ys_shm_options::read(options)?, named(name)?) };
        let opened = match name {
            Some(name) => options.funnel(name),
            None => options.funnel_without_name(),
        };
        Ok(Kept::new(opened.map_err(code_of)?))
    };
    // SAFETY: by the caller.
    unsafe { open(funnel, make) }
}

/// A place for one more sender: a socket for ys_shm_tx_open, for a child to inherit. Only a descriptor without FD_CLOEXEC is
/// inherited: clear it in the child.
///
/// @param funnel the funnel
/// @param sender receives the number of that sender
/// @return a descriptor, which is the caller's; YS_EINVAL; YS_ESYSTEM with the cause in errno: no memory or no descriptors
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_funnel_seat(funnel: *mut ys_shm_funnel, sender: *mut u64) -> c_int {
    if sender.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { enter(funnel, |kept| numbered_seat(kept.end.seat(), sender)) }
}

/// # Safety
/// As of [`recv`]; a place for a number, or NULL.
unsafe fn recv_until(funnel: *mut ys_shm_funnel, place: Place, sender: *mut u64, limit: Limit) -> c_int {
    let found = |(by, _): &(u64, Bytes)| {
        if !sender.is_null() {
            // SAFETY: by the caller.
            unsafe { *sender = *by };
        }
    };
    // SAFETY: by the caller.
    unsafe { recv(funnel, place, |funnel, _| next_of(funnel, limit), found) }
}

/// Receives a message of any sender, as ys_shm_recv; waits while there is none.
///
/// @param funnel the funnel
/// @param to where its bytes are put; NULL if there is no room
/// @param room how many bytes there is room for
/// @param length receives how many bytes the message has; 0 after any other error than YS_ETOOLONG
/// @param sender receives the number of its sender; NULL: it is not asked for
/// @return YS_OK; YS_EINVAL; YS_ETOOLONG: the message does not fit, and is the next one again; YS_CLOSED: all senders of a
///     funnel without a name are gone
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_funnel_recv(
    funnel: *mut ys_shm_funnel,
    to: *mut c_void,
    room: usize,
    length: *mut usize,
    sender: *mut u64,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { recv_until(funnel, Place { to, room, length }, sender, Limit::Never) }
}

/// Receives a message if there is one. Never waits. If there is none it asks the kernel once for more.
///
/// @param funnel the funnel
/// @param to where its bytes are put; NULL if there is no room
/// @param room how many bytes there is room for
/// @param length receives how many bytes the message has; 0 after any other error than YS_ETOOLONG
/// @param sender receives the number of its sender; NULL: it is not asked for
/// @return YS_OK; YS_EMPTY; otherwise as ys_shm_funnel_recv
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_funnel_try_recv(
    funnel: *mut ys_shm_funnel,
    to: *mut c_void,
    room: usize,
    length: *mut usize,
    sender: *mut u64,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { recv_until(funnel, Place { to, room, length }, sender, Limit::Now) }
}

/// Receives a message; waits for so long at most.
///
/// @param funnel the funnel
/// @param to where its bytes are put; NULL if there is no room
/// @param room how many bytes there is room for
/// @param length receives how many bytes the message has; 0 after any other error than YS_ETOOLONG
/// @param sender receives the number of its sender; NULL: it is not asked for
/// @param ns nanoseconds; 0: as ys_shm_funnel_try_recv; less than 0: for ever
/// @return YS_OK; YS_EMPTY (where ns is 0), YS_TIMEOUT: there was none; otherwise as ys_shm_funnel_recv
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_funnel_recv_for(
    funnel: *mut ys_shm_funnel,
    to: *mut c_void,
    room: usize,
    length: *mut usize,
    sender: *mut u64,
    ns: i64,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { recv_until(funnel, Place { to, room, length }, sender, Limit::from_nanoseconds(ns)) }
}

/// Finds the next sender that has ended since this was called last, in order. All that it had sent was received before, unless
/// it is YS_BROKEN. The last few hundred are remembered. Receiving is what notices an end. Never waits.
///
/// @param funnel the funnel
/// @param sender receives its number
/// @param why receives YS_CLOSED, YS_DIED, YS_BROKEN, YS_ESYSTEM, or YS_REFUSED or one of the codes behind it
/// @return YS_OK; YS_EMPTY: none has ended; YS_EINVAL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_funnel_next_ended(
    funnel: *mut ys_shm_funnel,
    sender: *mut u64,
    why: *mut c_int,
) -> c_int {
    if sender.is_null() || why.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { enter(funnel, |kept| next_ended(kept.end.next_ended(), sender, why)) }
}

/// How many senders there are, with those that have connected and have not said yet what they are.
///
/// @param funnel the funnel
/// @return how many, or an error
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_funnel_senders(funnel: *mut ys_shm_funnel) -> isize {
    // SAFETY: by the caller.
    unsafe { enter(funnel, |kept| kept.end.senders() as isize) }
}

/// The descriptor of the funnel, for poll and epoll, after ys_shm_funnel_arm. It stays the funnel's: never read, written or
/// closed.
///
/// @param funnel the funnel
/// @return the descriptor
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_funnel_fd(funnel: *mut ys_shm_funnel) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(funnel, |kept| kept.end.as_fd().as_raw_fd()) }
}

/// Says that the funnel is about to sleep in an event loop, which has received until YS_EMPTY and then asked for senders that
/// have ended: if there is no message, the descriptor becomes readable when there is, or when a sender comes or goes. Some system
/// calls.
///
/// @param funnel the funnel
/// @return 1: sleep; 0: do not, there is something to be done now
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_funnel_arm(funnel: *mut ys_shm_funnel) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(funnel, |kept| c_int::from(kept.message.is_none() && kept.end.arm())) }
}

/// Frees a funnel, and takes its name away. Its senders are told that it is closed. Also in a forked child, for a handle of its
/// parent: there it closes descriptors only.
///
/// @param funnel the funnel, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_funnel_free(funnel: *mut ys_shm_funnel) {
    // SAFETY: by the caller.
    unsafe { free(funnel) }
}
