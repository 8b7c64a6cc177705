//! The codes that every function returns, and their texts. Any thread; wait-free.

use core::ffi::{CStr, c_char, c_int};

use crate::errno;

/// How a call went. All errors are negative and counts are not, so one return value carries either.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ys_code {
    /// It went well.
    YS_OK = 0,
    /// The channel is closed: nothing sent will be received, or nothing more will come.
    YS_CLOSED = -1,
    /// There is no room now.
    YS_FULL = -2,
    /// There is no message now.
    YS_EMPTY = -3,
    /// The time was up.
    YS_TIMEOUT = -4,
    /// A null pointer, or a size, an alignment, a count or a set of options that cannot be.
    YS_EINVAL = -5,
    /// There is no memory.
    YS_ENOMEM = -6,
    /// The system refuses; `errno` has the cause.
    YS_ESYSTEM = -7,
    /// The handle is attached already; or, when it is taken out, it is not attached here.
    YS_EATTACHED = -8,
    /// The id belongs to another handle.
    YS_ETAKEN = -9,
    /// The set does not have this id.
    YS_ERANGE = -10,
    /// More senders or handles than allowed, or a message longer than its block.
    YS_ETOOMANY = -11,
    /// This kind of channel or set cannot do that.
    YS_ENOTSUP = -12,
    /// A callback has panicked here, now or before. The handle refuses everything from then on, but can be freed.
    YS_EPANIC = -13,
    /// Only in the checked build: another thread is inside this handle. Of a hub in any: a callback that drops a context may not use it.
    YS_EBUSY = -14,
    /// Only in the checked build: the handle was freed.
    YS_EFREED = -15,
    /// It would have had to wait, and ys_stop has ended that.
    YS_STOPPED = -16,
    /// Messages of a broadcast are lost, because this receiver was too slow: ys_rx_missed. The next call goes on with
    /// the oldest that is there, or between processes with the newest.
    YS_LAGGED = -17,
    /// Between processes: the other end's process died, executed another program, or lost its end without a word. All
    /// that it had sent was received before.
    YS_DIED = -18,
    /// Between processes: the other end has written into its memory what no end of this library writes. Nothing of it is
    /// believed any more.
    YS_BROKEN = -19,
    /// Between processes: a message has more bytes than the buffer has room for, and stays in the channel; or more than
    /// the channel has.
    YS_ETOOLONG = -20,
    /// Between processes: there is no connection, for a reason that has no code of its own. For this code and those
    /// called YS_REFUSED_, ys_shm_refusal, or of bridges ys_zmq_refusal, has the reason in full; a system call that has
    /// failed is YS_ESYSTEM.
    YS_REFUSED = -21,
    /// The kernel is older than Linux 5.1.
    YS_REFUSED_KERNEL = -22,
    /// What the peer has sent as its memory is not a memfd of ordinary pages.
    YS_REFUSED_MEMORY = -23,
    /// The peer's memory lacks a seal.
    YS_REFUSED_SEALS = -24,
    /// The peer's memory has another size than its header says, or than this end accepts.
    YS_REFUSED_SIZE = -25,
    /// The peer's memory has pages that are not there yet.
    YS_REFUSED_HOLES = -26,
    /// The peer speaks another protocol.
    YS_REFUSED_MAGIC = -27,
    /// The peer speaks another version of the protocol.
    YS_REFUSED_VERSION = -28,
    /// The peer is the same end of the channel: both send, or both receive.
    YS_REFUSED_ROLE = -29,
    /// The peer's channel is of another kind.
    YS_REFUSED_KIND = -30,
    /// The peer's messages have another size, alignment or name.
    YS_REFUSED_TYPE = -31,
    /// A capacity is too small or too large, here or at the peer: of messages, bytes, slots, calls or jobs.
    YS_REFUSED_CAPACITY = -32,
    /// The peer has sent a malformed packet, or other descriptors than belong to it; or the descriptor is no socket of this kind.
    YS_REFUSED_PACKET = -33,
    /// A process of this user may not be at the other end.
    YS_REFUSED_USER = -34,
    /// The peer has said nothing for too long; or, for a second, a listener's queue stayed full or the folder of a name locked.
    YS_REFUSED_TIME = -35,
    /// Another program listens at this name.
    YS_REFUSED_IN_USE = -36,
    /// The name cannot be used: it is empty, too long, or a file that is no socket.
    YS_REFUSED_NAME = -37,
    /// The peer has refused this end.
    YS_REFUSED_BY_PEER = -38,
    /// Between processes: the question was dropped without an answer. By a bridge: there was none in time. It is no refusal.
    YS_UNANSWERED = -39,
    /// A bridge was closed before everything had left.
    YS_UNSENT = -40,
}

pub(crate) use ys_code::{
    YS_CLOSED, YS_EATTACHED, YS_EBUSY, YS_EFREED, YS_EINVAL, YS_EMPTY, YS_ENOMEM, YS_ENOTSUP, YS_EPANIC, YS_ERANGE,
    YS_ESYSTEM, YS_ETAKEN, YS_ETOOMANY, YS_FULL, YS_LAGGED, YS_OK, YS_STOPPED, YS_TIMEOUT,
};

const ALL: [(ys_code, &CStr); 41] = [
    (YS_OK, c"success"),
    (YS_CLOSED, c"the channel is closed"),
    (YS_FULL, c"the channel is full"),
    (YS_EMPTY, c"there is no message"),
    (YS_TIMEOUT, c"the time was up"),
    (YS_EINVAL, c"a null pointer, or a size, alignment or count out of range"),
    (YS_ENOMEM, c"out of memory"),
    (YS_ESYSTEM, c"the system refuses; errno has the cause"),
    (YS_EATTACHED, c"attached already, or not attached here"),
    (YS_ETAKEN, c"the id is taken"),
    (YS_ERANGE, c"the id is out of range"),
    (YS_ETOOMANY, c"more than there may be"),
    (YS_ENOTSUP, c"not supported by this kind"),
    (YS_EPANIC, c"a callback has panicked"),
    (YS_EBUSY, c"another thread is inside this handle"),
    (YS_EFREED, c"the handle was freed"),
    (YS_STOPPED, c"waiting was stopped"),
    (YS_LAGGED, c"messages were lost: the receiver was too slow"),
    (ys_code::YS_DIED, c"the other end's process has died"),
    (ys_code::YS_BROKEN, c"the other end has broken the protocol"),
    (ys_code::YS_ETOOLONG, c"the message is longer than the buffer or the channel"),
    (ys_code::YS_REFUSED, c"refused"),
    (ys_code::YS_REFUSED_KERNEL, c"refused: the kernel is older than Linux 5.1"),
    (ys_code::YS_REFUSED_MEMORY, c"refused: the peer's memory is not a memfd of ordinary pages"),
    (ys_code::YS_REFUSED_SEALS, c"refused: the peer's memory lacks a seal"),
    (ys_code::YS_REFUSED_SIZE, c"refused: the peer's memory has a wrong size"),
    (ys_code::YS_REFUSED_HOLES, c"refused: the peer's memory has holes"),
    (ys_code::YS_REFUSED_MAGIC, c"refused: the peer speaks another protocol"),
    (ys_code::YS_REFUSED_VERSION, c"refused: the peer speaks another version of the protocol"),
    (ys_code::YS_REFUSED_ROLE, c"refused: the peer is the same end of the channel"),
    (ys_code::YS_REFUSED_KIND, c"refused: the peer's channel is of another kind"),
    (ys_code::YS_REFUSED_TYPE, c"refused: the peer's messages are of another type"),
    (ys_code::YS_REFUSED_CAPACITY, c"refused: a capacity is too small or too large"),
    (ys_code::YS_REFUSED_PACKET, c"refused: the peer's packet is malformed"),
    (ys_code::YS_REFUSED_USER, c"refused: this user may not be at the other end"),
    (ys_code::YS_REFUSED_TIME, c"refused: the peer took too long"),
    (ys_code::YS_REFUSED_IN_USE, c"refused: another program listens at this name"),
    (ys_code::YS_REFUSED_NAME, c"refused: the name is not usable"),
    (ys_code::YS_REFUSED_BY_PEER, c"refused by the peer"),
    (ys_code::YS_UNANSWERED, c"the question was dropped without an answer"),
    (ys_code::YS_UNSENT, c"not everything has left"),
];

/// What a code means, in a few words. Never NULL; static, so never to be freed. A count is a success, and an unknown code says
/// that it is unknown. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn ys_error_text(code: c_int) -> *const c_char {
    let code = code.min(0);
    let text = ALL.iter().find(|(known, _)| *known as c_int == code).map_or(c"unknown code", |(_, text)| text);
    text.as_ptr()
}

/// The return type of an exported function. A type that cannot carry a code returns nothing, and leaves EINVAL in
/// `errno`.
pub(crate) trait Answer {
    fn from_code(code: ys_code) -> Self;
}

impl Answer for c_int {
    #[inline(always)]
    fn from_code(code: ys_code) -> Self {
        code as c_int
    }
}

impl Answer for isize {
    #[inline(always)]
    fn from_code(code: ys_code) -> Self {
        code as c_int as Self
    }
}

impl Answer for usize {
    fn from_code(_: ys_code) -> Self {
        errno::set(libc::EINVAL);
        0
    }
}

impl<T> Answer for *const T {
    fn from_code(_: ys_code) -> Self {
        errno::set(libc::EINVAL);
        core::ptr::null()
    }
}

impl<T> Answer for *mut T {
    fn from_code(_: ys_code) -> Self {
        errno::set(libc::EINVAL);
        core::ptr::null_mut()
    }
}

impl Answer for () {
    fn from_code(_: ys_code) {}
}

/// A count of what has been done; none at all is the code instead.
#[inline]
pub(crate) fn count_or(count: usize, code: ys_code) -> isize {
    if count == 0 { isize::from_code(code) } else { count as isize }
}
