//! The bridge itself: what its owner asks of it, and how it ends.

use core::ffi::{c_char, c_int, c_void};
use core::mem::size_of;
use core::ptr;
use core::time::Duration;
use std::ffi::CString;

use ysuite::mpmc;
use ysuite_zmq::{Closed, Event, Started, Topic};

use super::options::{keys, list};
use super::{code, code_of};
use crate::code::{Answer, YS_CLOSED, YS_EINVAL, YS_EMPTY, YS_OK, YS_TIMEOUT, ys_code};
use crate::ends::{Kind, bytes, enter, free, place};
use crate::limit::Limit;

/// A bridge at work: one thread of its own between a channel of this program and a socket. One thread at a time uses the handle, and need
/// not be one that sends or receives. Freed by ys_zmq_bridge_free.
pub struct ys_zmq_bridge {
    _opaque: [u8; 0],
}

impl Kind for ys_zmq_bridge {
    const FREE: &'static str = "ys_zmq_bridge_free";

    type End = Running;
}

pub(crate) struct Running {
    started: Started,
    events: mpmc::Receiver<Event>,
    addresses: Vec<CString>,
    /// What the program was told last.
    told: CString,
}

impl Running {
    pub(super) fn new(started: Started) -> Self {
        let owned = |address: &String| CString::new(address.as_str()).unwrap_or_default();
        let (events, addresses) = (started.events(), started.addresses().iter().map(owned).collect());
        Self { started, events, addresses, told: CString::default() }
    }
}

/// The longest time that there is.
fn within(ns: i64) -> Duration {
    Limit::from_nanoseconds(ns).timeout().unwrap_or(Duration::MAX)
}

/// Closes a bridge: what was sent still leaves, within a time; nothing more is taken from the network. A thread that waits in a call of its
/// sender, its receiver, its asker or its questions returns with YS_CLOSED, once nothing is left to receive. Waits for about that
/// time at most, or a second longer where libzmq does not end its socket; every later call returns YS_CLOSED.
///
/// @param bridge the bridge
/// @param ns nanoseconds; less than 0: as long as it takes
/// @param unsent receives how many messages have not left; NULL: it is not asked for
/// @return YS_OK: everything has left, and is with the system's network, or, of a duplex, with the other side; YS_UNSENT: the time was
///     over before that, or a connection has ended, with which more may have been lost than was counted; YS_CLOSED: it was closed before
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_bridge_close(bridge: *mut ys_zmq_bridge, ns: i64, unsent: *mut usize) -> c_int {
    let close = |end: &mut Option<Running>| {
        let (left, code) = match end.take().map(|running| running.started.close(within(ns))) {
            Some(Closed::Flushed) => (0, YS_OK),
            Some(Closed::Unsent { messages, .. }) => (messages, ys_code::YS_UNSENT),
            None => (0, YS_CLOSED),
        };
        if !unsent.is_null() {
            // SAFETY: by the caller.
            unsafe { *unsent = left };
        }
        c_int::from_code(code)
    };
    // SAFETY: by the caller.
    unsafe { place(bridge, close) }
}

/// Frees a bridge. One that was not closed ends by itself, and gives what is in transit a second; nobody waits for that.
///
/// @param bridge the bridge, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_bridge_free(bridge: *mut ys_zmq_bridge) {
    // SAFETY: by the caller.
    unsafe { free(bridge) }
}

/// Returns an address at which others can connect: one for each that was bound, with the port that the system has chosen.
///
/// @param bridge the bridge
/// @param at its index
/// @return a text, which stays until the bridge is closed or freed; NULL: there are no more
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_bridge_address(bridge: *mut ys_zmq_bridge, at: usize) -> *const c_char {
    let address = |running: &mut Running| running.addresses.get(at).map_or(ptr::null(), |address| address.as_ptr());
    // SAFETY: by the caller.
    unsafe { enter(bridge, address) }
}

/// Counts of a bridge, from its start on. None of them ever falls.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct ys_zmq_statistics {
    /// Messages that were handed to libzmq.
    pub messages_out: u64,
    /// Messages that were taken from libzmq.
    pub messages_in: u64,
    /// Frames that were handed to libzmq; all parts of a message are one.
    pub frames_out: u64,
    /// Frames that were taken from libzmq.
    pub frames_in: u64,
    /// Their bytes.
    pub bytes_out: u64,
    /// Their bytes.
    pub bytes_in: u64,
    /// Messages that newer ones have replaced, that a subscriber had no room for, or answers that nobody took.
    pub dropped: u64,
    /// Frames that were not what was expected.
    pub malformed: u64,
    /// Messages that a duplex has sent again.
    pub repeated: u64,
    /// Messages and answers that had come before, and were left out.
    pub duplicates: u64,
}

/// Reads the counts of what has gone through a bridge so far.
///
/// @param bridge the bridge
/// @param statistics receives the counts
/// @param size sizeof(ys_zmq_statistics) of the caller's header
/// @return YS_OK; YS_EINVAL; YS_CLOSED: it was closed
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_bridge_statistics(
    bridge: *mut ys_zmq_bridge,
    statistics: *mut ys_zmq_statistics,
    size: usize,
) -> c_int {
    if statistics.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    let read = |running: &mut Running| {
        let counts = running.started.statistics();
        let counts = ys_zmq_statistics {
            messages_out: counts.messages_out,
            messages_in: counts.messages_in,
            frames_out: counts.frames_out,
            frames_in: counts.frames_in,
            bytes_out: counts.bytes_out,
            bytes_in: counts.bytes_in,
            dropped: counts.dropped,
            malformed: counts.malformed,
            repeated: counts.repeated,
            duplicates: counts.duplicates,
        };
        let (from, most) = (ptr::from_ref(&counts).cast::<u8>(), size_of::<ys_zmq_statistics>());
        // SAFETY: by the caller there is room for that many bytes; what is beyond ours is zero.
        unsafe {
            statistics.cast::<u8>().write_bytes(0, size);
            statistics.cast::<u8>().copy_from_nonoverlapping(from, size.min(most));
        }
        c_int::from_code(YS_OK)
    };
    // SAFETY: by the caller.
    unsafe { enter(bridge, read) }
}

/// What has happened to a bridge.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ys_zmq_event {
    /// Something that this header does not know.
    YS_ZMQ_OTHER = 0,
    /// Others can connect to this address.
    YS_ZMQ_LISTENING = 1,
    /// A connection is established, and its handshake has succeeded.
    YS_ZMQ_CONNECTED = 2,
    /// A connection has ended, or was never established.
    YS_ZMQ_DISCONNECTED = 3,
    /// It is tried again.
    YS_ZMQ_RETRYING = 4,
    /// The host of this address is not known.
    YS_ZMQ_UNRESOLVED = 5,
    /// A connection could not be accepted, for want of descriptors most often.
    YS_ZMQ_NOT_ACCEPTED = 6,
    /// The other side does not speak as it must.
    YS_ZMQ_HANDSHAKE_FAILED = 7,
    /// A key was not among those that are admitted.
    YS_ZMQ_REFUSED = 8,
    /// A frame was dropped that is none of ours.
    YS_ZMQ_MALFORMED = 9,
    /// Messages of a duplex were lost with a connection: the text has their number.
    YS_ZMQ_LOST = 10,
    /// A third wanted to take part in a duplex.
    YS_ZMQ_IGNORED = 11,
    /// Another bridge has taken the place of the other side.
    YS_ZMQ_REPLACED = 12,
    /// The bridge has ended, for this reason.
    YS_ZMQ_BROKEN = 13,
}

/// An event as callers see it: which, and the address or the reason in full.
fn seen(event: Event) -> (ys_zmq_event, String) {
    use ys_zmq_event::*;
    match event {
        Event::Listening(address) => (YS_ZMQ_LISTENING, address),
        Event::Connected(address) => (YS_ZMQ_CONNECTED, address),
        Event::Disconnected(address) => (YS_ZMQ_DISCONNECTED, address),
        Event::Retrying(address) => (YS_ZMQ_RETRYING, address),
        Event::Unresolved(address) => (YS_ZMQ_UNRESOLVED, address),
        Event::NotAccepted { address, .. } => (YS_ZMQ_NOT_ACCEPTED, address),
        Event::HandshakeFailed(address) => (YS_ZMQ_HANDSHAKE_FAILED, address),
        Event::Refused(address) => (YS_ZMQ_REFUSED, address),
        Event::Malformed(why) => (YS_ZMQ_MALFORMED, format!("{why:?}")),
        Event::Lost { messages } => (YS_ZMQ_LOST, messages.to_string()),
        Event::Ignored => (YS_ZMQ_IGNORED, String::new()),
        Event::Replaced => (YS_ZMQ_REPLACED, String::new()),
        Event::Broken(cause) => (YS_ZMQ_BROKEN, cause.to_string()),
        other => (YS_ZMQ_OTHER, format!("{other:?}")),
    }
}

/// The next event of a bridge and its connections, from its start on. Never waits. The last 1,024 are kept.
///
/// @param bridge the bridge
/// @param event receives what has happened
/// @param text receives the address of a text, which stays until the next call of this function for this bridge: the address that it is
///     about, the number of messages, or the reason; NULL: it is not asked for
/// @return YS_OK; YS_EMPTY: nothing more has happened; YS_EINVAL; YS_CLOSED: it was closed, or has ended and all was told
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_bridge_event(
    bridge: *mut ys_zmq_bridge,
    event: *mut ys_zmq_event,
    text: *mut *const c_char,
) -> c_int {
    if event.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    let next = |running: &mut Running| match running.events.try_recv() {
        Ok(next) => {
            let (kind, words) = seen(next);
            running.told = CString::new(words).unwrap_or_default();
            // SAFETY: by the caller.
            unsafe {
                *event = kind;
                if !text.is_null() {
                    *text = running.told.as_ptr();
                }
            }
            c_int::from_code(YS_OK)
        }
        Err(error) => c_int::from_code(if error.is_disconnected() { YS_CLOSED } else { YS_EMPTY }),
    };
    // SAFETY: by the caller.
    unsafe { enter(bridge, next) }
}

/// # Safety
/// As of [`handle::enter`](crate::handle::enter); that many bytes are there.
unsafe fn topic(bridge: *mut ys_zmq_bridge, topic: *const c_void, length: usize, asks: bool) -> c_int {
    // SAFETY: by the caller.
    let Some(topic) = (unsafe { bytes(topic, length) }) else { return c_int::from_code(YS_EINVAL) };
    let change = |running: &mut Running| {
        let started = &mut running.started;
        let changed = if asks { started.subscribe(topic) } else { started.unsubscribe(topic) };
        code(changed.map_err(|error| code_of(&error)))
    };
    // SAFETY: by the caller.
    unsafe { enter(bridge, change) }
}

/// Makes a subscriber ask for everything whose topic begins so, too. Waits for a short time at most.
///
/// @param bridge the bridge, of a subscriber
/// @param beginning its bytes; NULL if there are none: everything
/// @param length how many
/// @return YS_OK; YS_EINVAL; YS_ENOTSUP: it is no subscriber; YS_CLOSED: it was closed, or has ended
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_bridge_subscribe(
    bridge: *mut ys_zmq_bridge,
    beginning: *const c_void,
    length: usize,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { topic(bridge, beginning, length, true) }
}

/// Makes a subscriber stop asking for this beginning, unless another one that it asks for reaches the same. Waits for a short
/// time at most.
///
/// @param bridge the bridge, of a subscriber
/// @param beginning its bytes; NULL if there are none
/// @param length how many
/// @return as ys_zmq_bridge_subscribe; YS_OK also where it was not asked for
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_bridge_unsubscribe(
    bridge: *mut ys_zmq_bridge,
    beginning: *const c_void,
    length: usize,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { topic(bridge, beginning, length, false) }
}

/// Waits until a publisher has this number of subscribers that a topic reaches: what is published before one is there never reaches it. A
/// subscriber that is no bridge counts once for each beginning that reaches.
///
/// @param bridge the bridge, of a publisher; any other has none
/// @param topic its bytes; NULL if there are none
/// @param length how many
/// @param subscribers how many there must be
/// @param ns nanoseconds; 0: never waits; less than 0: for ever
/// @return YS_OK; YS_EINVAL; YS_TIMEOUT: they were not there in time, or the bridge has ended; YS_CLOSED: it was closed
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_bridge_wait_subscribers(
    bridge: *mut ys_zmq_bridge,
    topic: *const c_void,
    length: usize,
    subscribers: usize,
    ns: i64,
) -> c_int {
    // SAFETY: by the caller.
    let Some(topic) = (unsafe { bytes(topic, length) }) else { return c_int::from_code(YS_EINVAL) };
    let wait = |running: &mut Running| {
        let there = running.started.wait_for_subscribers_of(Topic::from(topic), subscribers, within(ns));
        c_int::from_code(if there { YS_OK } else { YS_TIMEOUT })
    };
    // SAFETY: by the caller.
    unsafe { enter(bridge, wait) }
}

/// Makes a server of CURVE admit the clients with these keys, and no others, from now on. Connections that are there stay.
///
/// @param bridge the bridge, which was opened with client_keys
/// @param client_keys public keys, and NULL after them
/// @return YS_OK; YS_EINVAL: no list, or what is no key; YS_ENOTSUP: it is no such server; YS_CLOSED: it was closed
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_bridge_admit(bridge: *mut ys_zmq_bridge, client_keys: *const *const c_char) -> c_int {
    // SAFETY: by the caller.
    let all = unsafe { list(client_keys) };
    let admit = |running: &mut Running| {
        let admit = |keys| running.started.admit_keys(keys).map_err(|error| code_of(&error));
        code(all.and_then(|list| list.ok_or(YS_EINVAL)).and_then(|list| keys(&list)).and_then(admit))
    };
    // SAFETY: by the caller.
    unsafe { enter(bridge, admit) }
}
