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
    /// Only in the checked build: another thread is inside this handle.
    YS_EBUSY = -14,
    /// Only in the checked build: the handle was freed.
    YS_EFREED = -15,
    /// It would have had to wait, and ys_stop has ended that.
    YS_STOPPED = -16,
    /// Messages of a broadcast are lost, because this receiver was too slow: ys_rx_missed. The next call goes on with
    /// the oldest that is there.
    YS_LAGGED = -17,
}

pub(crate) use ys_code::{
    YS_CLOSED, YS_EATTACHED, YS_EBUSY, YS_EFREED, YS_EINVAL, YS_EMPTY, YS_ENOMEM, YS_ENOTSUP, YS_EPANIC, YS_ERANGE,
    YS_ESYSTEM, YS_ETAKEN, YS_ETOOMANY, YS_FULL, YS_LAGGED, YS_OK, YS_STOPPED, YS_TIMEOUT,
};

const ALL: [(ys_code, &CStr); 18] = [
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
