//! Bridges to other programs and machines over ØMQ: what `ysuite_zmq.h` declares. The feature `zmq`, on Linux.

mod answer;
mod ask;
mod bridge;
mod open;
mod options;
mod parts;
mod refusal;
mod rx;
mod tx;

use core::ffi::{c_int, c_void};
use core::ptr;
use std::os::fd::{AsFd, AsRawFd};

use ysuite::signal::{Wait, YSocketpair};
use ysuite::{RecvTimeoutError, TryRecvError, spsc};
use ysuite_zmq::{Error, Failure};

pub use self::answer::{
    ys_zmq_question, ys_zmq_question_answer, ys_zmq_question_answer_parts, ys_zmq_question_bytes, ys_zmq_question_free,
    ys_zmq_question_part, ys_zmq_questions, ys_zmq_questions_arm, ys_zmq_questions_fd, ys_zmq_questions_free,
    ys_zmq_questions_recv,
};
pub use self::ask::{
    ys_zmq_asker, ys_zmq_asker_arm, ys_zmq_asker_arm_to_ask, ys_zmq_asker_ask, ys_zmq_asker_ask_parts,
    ys_zmq_asker_call, ys_zmq_asker_clone, ys_zmq_asker_fd, ys_zmq_asker_free, ys_zmq_asker_give_up, ys_zmq_asker_part,
    ys_zmq_asker_recv,
};
pub use self::bridge::{
    ys_zmq_bridge, ys_zmq_bridge_address, ys_zmq_bridge_admit, ys_zmq_bridge_close, ys_zmq_bridge_event,
    ys_zmq_bridge_free, ys_zmq_bridge_statistics, ys_zmq_bridge_subscribe, ys_zmq_bridge_unsubscribe,
    ys_zmq_bridge_wait_subscribers, ys_zmq_event, ys_zmq_statistics,
};
pub use self::open::{
    ys_zmq_answer_open, ys_zmq_ask_open, ys_zmq_duplex_open, ys_zmq_key_pair, ys_zmq_publish_open, ys_zmq_pull_open,
    ys_zmq_push_open, ys_zmq_subscribe_open,
};
pub use self::options::{ys_zmq_options, ys_zmq_when_full};
pub use self::refusal::ys_zmq_refusal;
pub use self::rx::{
    ys_zmq_recv, ys_zmq_rx, ys_zmq_rx_arm, ys_zmq_rx_fd, ys_zmq_rx_free, ys_zmq_rx_part, ys_zmq_rx_topic,
};
pub use self::tx::{
    ys_zmq_part, ys_zmq_publish, ys_zmq_publish_parts, ys_zmq_send, ys_zmq_send_parts, ys_zmq_tx, ys_zmq_tx_arm,
    ys_zmq_tx_fd, ys_zmq_tx_free,
};
use crate::code::{Answer, YS_CLOSED, YS_EINVAL, YS_ENOTSUP, YS_ESYSTEM, YS_OK, ys_code};
use crate::ends::{Kind, enter, refuse};
use crate::errno;
use crate::limit::Limit;

/// An end of a channel that is attached to a set when the program asks for a descriptor.
pub(crate) trait Attaches {
    /// Whether it could be.
    fn attach(&mut self, set: &mut YSocketpair) -> bool;
}

impl<T> Attaches for spsc::Receiver<T> {
    fn attach(&mut self, set: &mut YSocketpair) -> bool {
        set.attach(self, 0).is_ok()
    }
}

/// An end, and the set by whose descriptor an event loop waits for it.
pub(crate) struct Watched<E> {
    end: E,
    /// Dropped after the end.
    set: Option<YSocketpair>,
}

impl<E: Attaches> Watched<E> {
    fn new(end: E) -> Self {
        Self { end, set: None }
    }

    fn set(&mut self) -> Result<&mut YSocketpair, ys_code> {
        if self.set.is_none() {
            let mut set = YSocketpair::with_capacity(1).map_err(|cause| {
                errno::set_from(&cause);
                YS_ESYSTEM
            })?;
            // MUTANT: The end is the library's own, and attached nowhere else.
            if !self.end.attach(&mut set) {
                return Err(ys_code::YS_EATTACHED);
            }
            self.set = Some(set);
        }
        self.set.as_mut().ok_or(YS_ESYSTEM)
    }

    fn fd(&mut self) -> c_int {
        self.set().map_or_else(c_int::from_code, |set| set.as_fd().as_raw_fd())
    }

    /// Whether an event loop may sleep; the descriptor becomes readable then when it must not any more.
    fn arm(&mut self) -> c_int {
        self.set().map_or_else(c_int::from_code, |set| c_int::from(set.check().next().is_none()))
    }
}

/// # Safety
/// As of [`handle::enter`](crate::handle::enter).
unsafe fn fd<K: Kind<End = Watched<E>>, E: Attaches>(handle: *mut K) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(handle, Watched::fd) }
}

/// # Safety
/// As of [`handle::enter`](crate::handle::enter).
unsafe fn arm<K: Kind<End = Watched<E>>, E: Attaches>(handle: *mut K) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(handle, Watched::arm) }
}

/// Receives from the channel of a bridge.
fn received<T>(from: &mut spsc::Receiver<T>, limit: Limit) -> Result<T, ys_code> {
    match limit {
        Limit::Now => from.try_recv().map_err(|error| match error {
            TryRecvError::Empty => limit.empty(),
            TryRecvError::Disconnected => YS_CLOSED,
        }),
        Limit::Within(time) => from.recv_timeout(time).map_err(|error| match error {
            RecvTimeoutError::Timeout => limit.empty(),
            RecvTimeoutError::Disconnected => YS_CLOSED,
        }),
        Limit::Never => from.recv().map_err(|_| YS_CLOSED),
    }
}

/// Where the address and the length of bytes are put that a handle keeps.
#[derive(Clone, Copy)]
struct Lent {
    bytes: *mut *const c_void,
    length: *mut usize,
}

impl Lent {
    /// Nothing, until there is something. `None`: a null pointer.
    ///
    /// # Safety
    /// NULL, or places.
    unsafe fn open(self) -> Option<Self> {
        if self.bytes.is_null() || self.length.is_null() {
            return None;
        }
        // SAFETY: by the caller.
        unsafe { (*self.bytes, *self.length) = (ptr::null(), 0) };
        Some(self)
    }

    /// # Safety
    /// Places, as `open` has found.
    unsafe fn put(self, bytes: &[u8]) {
        // SAFETY: by the caller.
        unsafe { (*self.bytes, *self.length) = (bytes.as_ptr().cast(), bytes.len()) };
    }
}

/// The code of a call that went well, or did not.
fn code(result: Result<(), ys_code>) -> c_int {
    c_int::from_code(result.err().unwrap_or(YS_OK))
}

/// A failure of the system, or of libzmq, whose own numbers are no errno.
fn failed(cause: &Failure) -> ys_code {
    errno::set(if cause.errno() < LIBZMQ { cause.errno() } else { libc::EPROTO });
    YS_ESYSTEM
}

/// The first of libzmq's own error numbers.
const LIBZMQ: i32 = 156_384_712;

/// Why a bridge could not be opened, or cannot do that.
#[cold]
fn code_of(error: &Error) -> ys_code {
    refuse(error);
    match error {
        Error::Address { .. } => ys_code::YS_REFUSED_NAME,
        Error::InUse { .. } => ys_code::YS_REFUSED_IN_USE,
        Error::TooMany(cause) | Error::Zmq(cause) => failed(cause),
        Error::System(cause) => {
            errno::set_from(cause);
            YS_ESYSTEM
        }
        Error::NoCurve | Error::NotServer | Error::NotSubscriber => YS_ENOTSUP,
        Error::Ended => YS_CLOSED,
        _ => YS_EINVAL,
    }
}
