//! What a program receives by a bridge.

use core::ffi::{c_int, c_void};
use core::ptr;

use ysuite::signal::YSocketpair;
use ysuite::{RecvTimeoutError, TryRecvError, mpmc, spsc};
use ysuite_zmq::{Frame, Published, Topic};

use super::parts::{self, Message};
use super::{Attaches, Lent, Watched, arm, code, fd, received};
use crate::code::{Answer, YS_CLOSED, YS_EINVAL, ys_code};
use crate::ends::{Kind, enter, free};
use crate::limit::Limit;

/// Receives by a bridge: of ys_zmq_pull_open, ys_zmq_subscribe_open or ys_zmq_duplex_open. One thread at a time; it may move between
/// threads. Freed by ys_zmq_rx_free.
pub struct ys_zmq_rx {
    _opaque: [u8; 0],
}

impl Kind for ys_zmq_rx {
    const FREE: &'static str = "ys_zmq_rx_free";

    type End = Watched<In>;
}

/// A message, and what it is about.
pub(crate) trait Incoming: Send + 'static {
    fn opened(self) -> (Topic, Message);
}

impl Incoming for Frame {
    fn opened(self) -> (Topic, Message) {
        (Topic::default(), self.into())
    }
}

impl Incoming for Vec<Frame> {
    fn opened(self) -> (Topic, Message) {
        (Topic::default(), self.into())
    }
}

impl<M: Into<Message> + Send + 'static> Incoming for Published<M> {
    fn opened(self) -> (Topic, Message) {
        (self.topic, self.message.into())
    }
}

/// The channel of the bridge, of any kind.
pub(crate) trait Channel: Attaches + Send {
    fn next(&mut self, limit: Limit) -> Result<(Topic, Message), ys_code>;
}

impl<M: Incoming> Channel for spsc::Receiver<M> {
    fn next(&mut self, limit: Limit) -> Result<(Topic, Message), ys_code> {
        received(self, limit).map(M::opened)
    }
}

impl<M: Incoming> Attaches for mpmc::Receiver<M> {
    fn attach(&mut self, set: &mut YSocketpair) -> bool {
        set.attach(self, 0).is_ok()
    }
}

/// One that keeps the newest.
impl<M: Incoming> Channel for mpmc::Receiver<M> {
    fn next(&mut self, limit: Limit) -> Result<(Topic, Message), ys_code> {
        let found = match limit {
            Limit::Now => self.try_recv().map_err(|error| match error {
                TryRecvError::Empty => limit.empty(),
                TryRecvError::Disconnected => YS_CLOSED,
            }),
            Limit::Within(time) => self.recv_timeout(time).map_err(|error| match error {
                RecvTimeoutError::Timeout => limit.empty(),
                RecvTimeoutError::Disconnected => YS_CLOSED,
            }),
            Limit::Never => self.recv().map_err(|_| YS_CLOSED),
        };
        found.map(M::opened)
    }
}

/// The receiver, and the message that the program was lent.
pub(crate) struct In {
    channel: Box<dyn Channel>,
    topic: Topic,
    message: Message,
}

impl In {
    pub(super) fn new(channel: impl Channel + 'static) -> Self {
        Self { channel: Box::new(channel), topic: Topic::default(), message: Message::default() }
    }
}

impl Attaches for In {
    fn attach(&mut self, set: &mut YSocketpair) -> bool {
        self.channel.attach(set)
    }
}

/// Receives a message. Nothing is copied: its bytes are lent until the next call of this function for this receiver. Of several parts these
/// are the first; ys_zmq_rx_part has the others.
///
/// @param rx the receiver
/// @param message receives the address of its first byte; NULL after an error
/// @param length receives how many bytes it has; 0 after an error
/// @param ns nanoseconds to wait while there is none; 0: never waits; less than 0: for ever
/// @return YS_OK; YS_EINVAL; YS_EMPTY (where ns is 0), YS_TIMEOUT: there was none; YS_CLOSED: nothing more will come, as the bridge was
///     closed or has ended, or, of a duplex, the other side's sender was freed
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_recv(
    rx: *mut ys_zmq_rx,
    message: *mut *const c_void,
    length: *mut usize,
    ns: i64,
) -> c_int {
    // SAFETY: by the caller.
    let Some(lent) = (unsafe { Lent { bytes: message, length }.open() }) else { return c_int::from_code(YS_EINVAL) };
    let recv = |receiving: &mut Watched<In>| {
        let receiving = &mut receiving.end;
        let next = receiving.channel.next(Limit::from_nanoseconds(ns));
        code(next.map(|(topic, message)| {
            (receiving.topic, receiving.message) = (topic, message);
            // SAFETY: by the caller. The message stays where it is until the next one.
            unsafe { lent.put(receiving.message.first()) };
        }))
    };
    // SAFETY: by the caller.
    unsafe { enter(rx, recv) }
}

/// A part of the message that was received last, lent as that is. Of a bridge that was opened without `parts` there is one only.
///
/// @param rx the receiver
/// @param at its index; 0: that which ys_zmq_recv has lent
/// @param length receives how many bytes it has; 0 where there is none
/// @return the address of its first byte; NULL: there are no more parts, or with EINVAL in errno: an error
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_rx_part(rx: *mut ys_zmq_rx, at: usize, length: *mut usize) -> *const c_void {
    // SAFETY: by the caller.
    let lend = |receiving: &mut Watched<In>| unsafe { receiving.end.message.lend(at, length) };
    // SAFETY: by the caller.
    unsafe { parts::part(length, || enter(rx, lend)) }
}

/// The topic of the message that was received last, lent as that is.
///
/// @param rx the receiver
/// @param length receives how many bytes it has: 0 of what is no subscriber
/// @return the address of its first byte; NULL after an error, with EINVAL in errno
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_rx_topic(rx: *mut ys_zmq_rx, length: *mut usize) -> *const c_void {
    if length.is_null() {
        return Answer::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { *length = 0 };
    let topic = |receiving: &mut Watched<In>| {
        let topic = receiving.end.topic.as_ref();
        // SAFETY: by the caller.
        unsafe { *length = topic.len() };
        ptr::from_ref(topic).cast::<c_void>()
    };
    // SAFETY: by the caller.
    unsafe { enter(rx, topic) }
}

/// The descriptor of the receiver, for poll and epoll, after ys_zmq_rx_arm. It stays the receiver's: never read, written or closed.
///
/// @param rx the receiver
/// @return the descriptor; YS_ESYSTEM with the cause in errno: there are no descriptors
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_rx_fd(rx: *mut ys_zmq_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { fd(rx) }
}

/// Says that an event loop, which has received until YS_EMPTY, is about to sleep: the descriptor becomes readable when there is a
/// message, or nothing more will come.
///
/// @param rx the receiver
/// @return 1: sleep; 0: do not, there may be something to be done now; or an error, as of ys_zmq_rx_fd
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_rx_arm(rx: *mut ys_zmq_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { arm(rx) }
}

/// Frees a receiver, and the message that it has lent. The bridge takes no more from the network then.
///
/// @param rx the receiver, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_rx_free(rx: *mut ys_zmq_rx) {
    // SAFETY: by the caller.
    unsafe { free(rx) }
}
