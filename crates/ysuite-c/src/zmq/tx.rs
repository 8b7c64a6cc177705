//! What a program sends by a bridge.

use core::ffi::{c_int, c_void};

use ysuite::signal::YSocketpair;
use ysuite::{SendTimeoutError, TrySendError, spsc};
use ysuite_zmq::{Published, Topic};

use super::parts::{self, Outgoing};
use super::{Attaches, Watched, arm, fd};
use crate::code::{Answer, YS_CLOSED, YS_EINVAL, YS_ENOTSUP, YS_FULL, YS_OK, YS_TIMEOUT, ys_code};
use crate::ends::{Kind, bytes, enter, free};
use crate::limit::Limit;

/// Sends by a bridge: of ys_zmq_push_open, ys_zmq_publish_open or ys_zmq_duplex_open. One thread at a time; it may move between
/// threads. Freed by ys_zmq_tx_free.
pub struct ys_zmq_tx {
    _opaque: [u8; 0],
}

impl Kind for ys_zmq_tx {
    const FREE: &'static str = "ys_zmq_tx_free";

    type End = Watched<Out>;
}

/// A part of a message: `length` bytes at this address, which is NULL where there are none.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ys_zmq_part {
    /// The first byte.
    pub bytes: *const c_void,
    /// How many.
    pub length: usize,
}

/// The channel to the bridge.
pub(crate) enum Out {
    Plain(spsc::Sender<Vec<u8>>),
    /// With the last topic: most often the next one.
    Published(spsc::Sender<Published<Vec<u8>>>, Topic),
    Lists(spsc::Sender<Vec<Vec<u8>>>),
    PublishedLists(spsc::Sender<Published<Vec<Vec<u8>>>>, Topic),
}

impl Attaches for Out {
    fn attach(&mut self, set: &mut YSocketpair) -> bool {
        match self {
            Self::Plain(sender) => set.attach(sender, 0).is_ok(),
            Self::Published(sender, _) => set.attach(sender, 0).is_ok(),
            Self::Lists(sender) => set.attach(sender, 0).is_ok(),
            Self::PublishedLists(sender, _) => set.attach(sender, 0).is_ok(),
        }
    }
}

fn given<T>(to: &mut spsc::Sender<T>, message: T, limit: Limit) -> ys_code {
    match limit {
        Limit::Now => match to.try_send(message) {
            Ok(()) => YS_OK,
            Err(TrySendError::Full(_)) => YS_FULL,
            Err(TrySendError::Disconnected(_)) => YS_CLOSED,
        },
        Limit::Within(time) => match to.send_timeout(message, time) {
            Ok(()) => YS_OK,
            Err(SendTimeoutError::Timeout(_)) => YS_TIMEOUT,
            Err(SendTimeoutError::Disconnected(_)) => YS_CLOSED,
        },
        Limit::Never => to.send(message).map_or(YS_CLOSED, |()| YS_OK),
    }
}

fn sent<M: Outgoing>(to: &mut spsc::Sender<M>, parts: &[&[u8]], limit: Limit) -> ys_code {
    M::of(parts).map_or(YS_ENOTSUP, |message| given(to, message, limit))
}

fn published<M: Outgoing>(
    to: &mut spsc::Sender<Published<M>>,
    last: &mut Topic,
    topic: &[u8],
    parts: &[&[u8]],
    limit: Limit,
) -> ys_code {
    let Some(message) = M::of(parts) else { return YS_ENOTSUP };
    // MUTANT: Memory only: the same topic once more.
    if last.as_ref() != topic {
        *last = topic.into();
    }
    given(to, Published::new(last.clone(), message), limit)
}

impl Out {
    fn send(&mut self, topic: &[u8], parts: &[&[u8]], limit: Limit) -> ys_code {
        match self {
            Self::Plain(_) | Self::Lists(_) if !topic.is_empty() => YS_ENOTSUP,
            Self::Plain(sender) => sent(sender, parts, limit),
            Self::Lists(sender) => sent(sender, parts, limit),
            Self::Published(sender, last) => published(sender, last, topic, parts, limit),
            Self::PublishedLists(sender, last) => published(sender, last, topic, parts, limit),
        }
    }
}

/// Sends a message: copies it into the channel to the bridge, from where it goes on. Of a publisher, with the empty topic.
///
/// @param tx the sender
/// @param message its bytes; NULL if there are none
/// @param length how many
/// @param ns nanoseconds to wait while the channel is full; 0: never waits; less than 0: for ever
/// @return YS_OK; YS_EINVAL; YS_FULL (where ns is 0), YS_TIMEOUT: there was no room; YS_CLOSED: the bridge has ended
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_send(tx: *mut ys_zmq_tx, message: *const c_void, length: usize, ns: i64) -> c_int {
    // SAFETY: by the caller.
    unsafe { ys_zmq_publish(tx, core::ptr::null(), 0, message, length, ns) }
}

/// Publishes a message, as ys_zmq_send, to those that have subscribed to a beginning of its topic.
///
/// @param tx the sender, of a publisher
/// @param topic its bytes; NULL if there are none
/// @param topic_length how many
/// @param message its bytes; NULL if there are none
/// @param length how many
/// @param ns as of ys_zmq_send
/// @return as ys_zmq_send; YS_ENOTSUP: the bridge is no publisher, and has no topics
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_publish(
    tx: *mut ys_zmq_tx,
    topic: *const c_void,
    topic_length: usize,
    message: *const c_void,
    length: usize,
    ns: i64,
) -> c_int {
    // SAFETY: by the caller.
    let (Some(topic), Some(message)) = (unsafe { (bytes(topic, topic_length), bytes(message, length)) }) else {
        return c_int::from_code(YS_EINVAL);
    };
    let send = |out: &mut Watched<Out>| c_int::from_code(out.end.send(topic, &[message], Limit::from_nanoseconds(ns)));
    // SAFETY: by the caller.
    unsafe { enter(tx, send) }
}

/// Sends a message of several parts, as ys_zmq_send: it arrives as a whole. The bridge was opened with `parts`.
///
/// @param tx the sender
/// @param parts the parts, which are copied
/// @param count how many, at least 1
/// @param ns as of ys_zmq_send
/// @return as ys_zmq_send; YS_ENOTSUP: messages have one part here
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_send_parts(
    tx: *mut ys_zmq_tx,
    parts: *const ys_zmq_part,
    count: usize,
    ns: i64,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { ys_zmq_publish_parts(tx, core::ptr::null(), 0, parts, count, ns) }
}

/// Publishes a message of several parts, as ys_zmq_publish. The topic is none of them.
///
/// @param tx the sender, of a publisher
/// @param topic its bytes; NULL if there are none
/// @param topic_length how many
/// @param parts the parts, which are copied
/// @param count how many, at least 1
/// @param ns as of ys_zmq_send
/// @return as ys_zmq_publish; YS_ENOTSUP also: messages have one part here
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_publish_parts(
    tx: *mut ys_zmq_tx,
    topic: *const c_void,
    topic_length: usize,
    parts: *const ys_zmq_part,
    count: usize,
    ns: i64,
) -> c_int {
    // SAFETY: by the caller.
    let Some(topic) = (unsafe { bytes(topic, topic_length) }) else { return c_int::from_code(YS_EINVAL) };
    let publish = |parts: &[&[u8]]| {
        let send = |out: &mut Watched<Out>| c_int::from_code(out.end.send(topic, parts, Limit::from_nanoseconds(ns)));
        // SAFETY: by the caller.
        unsafe { enter(tx, send) }
    };
    // SAFETY: by the caller.
    unsafe { parts::with(parts, count, publish) }
}

/// The descriptor of the sender, for poll and epoll, after ys_zmq_tx_arm. It stays the sender's: never read, written or closed.
///
/// @param tx the sender
/// @return the descriptor; YS_ESYSTEM with the cause in errno: there are no descriptors
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_tx_fd(tx: *mut ys_zmq_tx) -> c_int {
    // SAFETY: by the caller.
    unsafe { fd(tx) }
}

/// Says that an event loop, which has sent until YS_FULL, is about to sleep: the descriptor becomes readable when there is room, or
/// the bridge has ended.
///
/// @param tx the sender
/// @return 1: sleep; 0: do not, there may be something to be done now; or an error, as of ys_zmq_tx_fd
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_tx_arm(tx: *mut ys_zmq_tx) -> c_int {
    // SAFETY: by the caller.
    unsafe { arm(tx) }
}

/// Frees a sender. What was sent still leaves, as long as the bridge is there; the receiver of the other side of a duplex sees
/// YS_CLOSED after it.
///
/// @param tx the sender, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_tx_free(tx: *mut ys_zmq_tx) {
    // SAFETY: by the caller.
    unsafe { free(tx) }
}
