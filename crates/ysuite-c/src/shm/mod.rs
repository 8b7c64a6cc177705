//! Channels between processes: what `ysuite/shm.h` declares. The feature `shm`, on Linux.

mod broadcast;
mod call;
mod funnel;
mod listener;
mod loan;
mod many;
mod options;
mod refusal;
mod rx;
mod tx;
mod watch;
mod work;

pub use self::broadcast::{
    ys_shm_broadcast, ys_shm_broadcast_arm, ys_shm_broadcast_arm_to_serve, ys_shm_broadcast_fd, ys_shm_broadcast_free,
    ys_shm_broadcast_largest, ys_shm_broadcast_open, ys_shm_broadcast_receivers, ys_shm_broadcast_recv,
    ys_shm_broadcast_recv_for, ys_shm_broadcast_rx, ys_shm_broadcast_rx_arm, ys_shm_broadcast_rx_fd,
    ys_shm_broadcast_rx_free, ys_shm_broadcast_rx_open, ys_shm_broadcast_seat, ys_shm_broadcast_send,
    ys_shm_broadcast_send_for, ys_shm_broadcast_serve, ys_shm_broadcast_try_recv, ys_shm_broadcast_try_send,
};
pub use self::call::{
    ys_shm_caller, ys_shm_caller_arm, ys_shm_caller_arm_to_ask, ys_shm_caller_arm_to_recv, ys_shm_caller_ask,
    ys_shm_caller_ask_for, ys_shm_caller_call, ys_shm_caller_fd, ys_shm_caller_free, ys_shm_caller_give_up,
    ys_shm_caller_is_closed, ys_shm_caller_open, ys_shm_caller_recv, ys_shm_caller_recv_for, ys_shm_caller_try_ask,
    ys_shm_caller_try_recv, ys_shm_question, ys_shm_question_answer, ys_shm_question_bytes, ys_shm_question_free,
    ys_shm_question_length, ys_shm_questions, ys_shm_questions_arm, ys_shm_questions_callers, ys_shm_questions_fd,
    ys_shm_questions_free, ys_shm_questions_next_ended, ys_shm_questions_open, ys_shm_questions_recv,
    ys_shm_questions_recv_for, ys_shm_questions_seat, ys_shm_questions_try_recv,
};
pub use self::funnel::{
    ys_shm_funnel, ys_shm_funnel_arm, ys_shm_funnel_fd, ys_shm_funnel_free, ys_shm_funnel_next_ended,
    ys_shm_funnel_open, ys_shm_funnel_recv, ys_shm_funnel_recv_for, ys_shm_funnel_seat, ys_shm_funnel_senders,
    ys_shm_funnel_try_recv,
};
pub use self::listener::{
    ys_shm_accept, ys_shm_connect, ys_shm_listener, ys_shm_listener_fd, ys_shm_listener_free, ys_shm_listener_open,
};
pub use self::loan::{
    ys_shm_borrowed, ys_shm_borrowed_copy, ys_shm_borrowed_free, ys_shm_borrowed_length, ys_shm_borrowed_sealed,
    ys_shm_borrowed_untrusted, ys_shm_loan, ys_shm_loan_arm, ys_shm_loan_arm_large, ys_shm_loan_arm_to_serve,
    ys_shm_loan_commit, ys_shm_loan_fd, ys_shm_loan_free, ys_shm_loan_held, ys_shm_loan_largest,
    ys_shm_loan_next_ended, ys_shm_loan_numbered_seat, ys_shm_loan_open, ys_shm_loan_receivers, ys_shm_loan_recv,
    ys_shm_loan_recv_for, ys_shm_loan_reserve, ys_shm_loan_reserve_for, ys_shm_loan_reserve_large, ys_shm_loan_rx,
    ys_shm_loan_rx_arm, ys_shm_loan_rx_fd, ys_shm_loan_rx_free, ys_shm_loan_rx_open, ys_shm_loan_seat,
    ys_shm_loan_serve, ys_shm_loan_slowest, ys_shm_loan_try_recv, ys_shm_loan_try_reserve, ys_shm_loan_unused,
};
pub use self::options::ys_shm_options;
pub use self::refusal::ys_shm_refusal;
pub use self::rx::{
    ys_shm_recv, ys_shm_recv_for, ys_shm_rx, ys_shm_rx_arm, ys_shm_rx_close, ys_shm_rx_fd, ys_shm_rx_free,
    ys_shm_rx_into_fd, ys_shm_rx_open, ys_shm_try_recv,
};
pub use self::tx::{
    ys_shm_pipe_open, ys_shm_send, ys_shm_send_for, ys_shm_try_send, ys_shm_tx, ys_shm_tx_arm, ys_shm_tx_close,
    ys_shm_tx_fd, ys_shm_tx_free, ys_shm_tx_into_fd, ys_shm_tx_is_closed, ys_shm_tx_largest, ys_shm_tx_open,
};
pub use self::watch::{
    ys_shm_watch, ys_shm_watch_arm, ys_shm_watch_fd, ys_shm_watch_free, ys_shm_watch_open, ys_shm_watch_receivers,
    ys_shm_watch_recv, ys_shm_watch_recv_for, ys_shm_watch_rx, ys_shm_watch_rx_arm, ys_shm_watch_rx_fd,
    ys_shm_watch_rx_free, ys_shm_watch_rx_open, ys_shm_watch_seat, ys_shm_watch_send, ys_shm_watch_serve,
    ys_shm_watch_try_recv,
};
pub use self::work::{
    ys_shm_work, ys_shm_work_arm, ys_shm_work_arm_to_serve, ys_shm_work_arm_to_settle, ys_shm_work_fd,
    ys_shm_work_finish, ys_shm_work_finished, ys_shm_work_free, ys_shm_work_give_back, ys_shm_work_next_ended,
    ys_shm_work_next_failed, ys_shm_work_numbered_seat, ys_shm_work_open, ys_shm_work_recv, ys_shm_work_recv_for,
    ys_shm_work_rx, ys_shm_work_rx_arm, ys_shm_work_rx_fd, ys_shm_work_rx_free, ys_shm_work_rx_open, ys_shm_work_seat,
    ys_shm_work_send, ys_shm_work_send_for, ys_shm_work_serve, ys_shm_work_settle, ys_shm_work_try_recv,
    ys_shm_work_try_send, ys_shm_work_unfinished, ys_shm_work_workers,
};

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::slice;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd, OwnedFd};

use ysuite_shm::{Error, Why};

use crate::code::{Answer, YS_CLOSED, YS_EINVAL, YS_ESYSTEM, YS_OK, ys_code};
use crate::ends::{Kind, Uncancelled, bytes, enter, free, open, place, refuse, text};
use crate::errno;

/// # Safety
/// As of [`handle::enter`](crate::handle::enter).
unsafe fn close<K: Kind>(handle: *mut K) -> c_int {
    // SAFETY: by the caller.
    unsafe { place(handle, |end| c_int::from_code(end.take().map_or(YS_CLOSED, |_| YS_OK))) }
}

/// The descriptor of an end that was not used, by `give`.
///
/// # Safety
/// As of [`handle::enter`](crate::handle::enter).
unsafe fn into_fd<K: Kind>(handle: *mut K, give: impl FnOnce(K::End) -> Result<OwnedFd, K::End>) -> c_int {
    let give = |place: &mut Option<K::End>| match place.take().map(give) {
        Some(Ok(socket)) => socket.into_raw_fd(),
        Some(Err(end)) => {
            *place = Some(end);
            c_int::from_code(YS_EINVAL)
        }
        None => c_int::from_code(YS_CLOSED),
    };
    // SAFETY: by the caller.
    unsafe { place(handle, give) }
}

/// # Safety
/// As of [`handle::enter`](crate::handle::enter).
unsafe fn fd<K: Kind<End: AsFd>>(handle: *mut K) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(handle, |end| end.as_fd().as_raw_fd()) }
}

/// As [`open`], of a socket of the caller.
///
/// # Safety
/// As of [`open`] and [`adopt`].
unsafe fn open_over<K: Kind>(
    fd: c_int,
    to: *mut *mut K,
    make: impl FnOnce(OwnedFd) -> Result<K::End, ys_code>,
) -> c_int {
    // SAFETY: by the caller.
    let socket = unsafe { adopt(fd) };
    // For the socket: what it is not given to closes it.
    let _inside = Uncancelled::begin();
    // SAFETY: by the caller.
    let code = unsafe { open(to, || make(socket?)) };
    // The error of who was to give a socket.
    if fd < 0 && !to.is_null() { fd } else { code }
}

/// Takes over a descriptor that the program has. No child inherits it.
///
/// # Safety
/// The caller's, which it does not use any more.
unsafe fn adopt(fd: c_int) -> Result<OwnedFd, ys_code> {
    if fd < 0 {
        return Err(YS_EINVAL);
    }
    // SAFETY: a call that takes no memory.
    if unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) } < 0 {
        return Err(YS_ESYSTEM);
    }
    // SAFETY: it is open, and by the caller ours.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A buffer of the caller.
///
/// # Safety
/// NULL, or that many bytes are there, which nobody else uses for as long as the result is.
unsafe fn buffer<'a>(to: *mut c_void, room: usize) -> Option<&'a mut [MaybeUninit<u8>]> {
    match (to.is_null(), room) {
        (_, 0) => Some(&mut []),
        (true, _) => None,
        // SAFETY: by the caller. No buffer has more bytes than an address can be away from another.
        (false, room) => Some(unsafe { slice::from_raw_parts_mut(to.cast(), room.min(isize::MAX as usize)) }),
    }
}

/// The code of an end that can do no more, or of a connection that did not come about.
#[cold]
fn code_of(error: Error) -> ys_code {
    let why = match error {
        Error::Closed => return YS_CLOSED,
        Error::Died => return ys_code::YS_DIED,
        Error::Broken => return ys_code::YS_BROKEN,
        Error::Refused(why) => why,
    };
    refuse(&why);
    match why {
        Why::System(number) => {
            // MUTANT: As a rule the call that has failed has left it there.
            errno::set(number);
            YS_ESYSTEM
        }
        Why::Kernel => ys_code::YS_REFUSED_KERNEL,
        Why::NotMemory => ys_code::YS_REFUSED_MEMORY,
        Why::Seals => ys_code::YS_REFUSED_SEALS,
        Why::Size => ys_code::YS_REFUSED_SIZE,
        Why::Holes => ys_code::YS_REFUSED_HOLES,
        Why::Magic => ys_code::YS_REFUSED_MAGIC,
        Why::Version(_) => ys_code::YS_REFUSED_VERSION,
        Why::Role => ys_code::YS_REFUSED_ROLE,
        Why::Kind => ys_code::YS_REFUSED_KIND,
        Why::Type => ys_code::YS_REFUSED_TYPE,
        Why::Capacity => ys_code::YS_REFUSED_CAPACITY,
        Why::Packet => ys_code::YS_REFUSED_PACKET,
        Why::User(_) => ys_code::YS_REFUSED_USER,
        Why::Time => ys_code::YS_REFUSED_TIME,
        Why::InUse => ys_code::YS_REFUSED_IN_USE,
        Why::Name => ys_code::YS_REFUSED_NAME,
        Why::ByPeer(_) => ys_code::YS_REFUSED_BY_PEER,
        _ => ys_code::YS_REFUSED,
    }
}
