//! What the tests of the C functions have in common: channels of 64-bit numbers, and a callback that counts.

#![allow(dead_code, reason = "each test uses some of it")]

pub(crate) mod inline;

use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use ysuite_c::*;

pub(crate) const OK: c_int = ys_code::YS_OK as c_int;
pub(crate) const CLOSED: c_int = ys_code::YS_CLOSED as c_int;
pub(crate) const FULL: c_int = ys_code::YS_FULL as c_int;
pub(crate) const EMPTY: c_int = ys_code::YS_EMPTY as c_int;
pub(crate) const TIMEOUT: c_int = ys_code::YS_TIMEOUT as c_int;
pub(crate) const EINVAL: c_int = ys_code::YS_EINVAL as c_int;
pub(crate) const ENOMEM: c_int = ys_code::YS_ENOMEM as c_int;
pub(crate) const EATTACHED: c_int = ys_code::YS_EATTACHED as c_int;
pub(crate) const ETAKEN: c_int = ys_code::YS_ETAKEN as c_int;
pub(crate) const ERANGE: c_int = ys_code::YS_ERANGE as c_int;
pub(crate) const ETOOMANY: c_int = ys_code::YS_ETOOMANY as c_int;
pub(crate) const ENOTSUP: c_int = ys_code::YS_ENOTSUP as c_int;
pub(crate) const EPANIC: c_int = ys_code::YS_EPANIC as c_int;
pub(crate) const STOPPED: c_int = ys_code::YS_STOPPED as c_int;

/// As the counts are: an error in their place.
pub(crate) const fn wide(code: c_int) -> isize {
    code as isize
}

/// A time that is up soon, and one that is not up before a test hangs.
pub(crate) const SOON: i64 = 1_000_000;
pub(crate) const LONG: i64 = 60_000_000_000;

pub(crate) type Open = unsafe extern "C" fn(*const ys_options, *mut *mut ys_tx, *mut *mut ys_rx) -> c_int;
pub(crate) const KINDS: [Open; 4] = [ys_pipe_open, ys_funnel_open, ys_exchange_open, ys_oneshot_open];
/// Those whose messages lie in slots of the channel.
pub(crate) const LANES: [Open; 2] = [ys_pipe_open, ys_funnel_open];

pub(crate) fn is(open: Open, kind: Open) -> bool {
    core::ptr::fn_addr_eq(open, kind)
}

pub(crate) fn is_lane(open: Open) -> bool {
    LANES.iter().any(|lane| is(open, *lane))
}

pub(crate) fn options(size: usize, align: usize, capacity: usize) -> ys_options {
    ys_options {
        struct_size: size_of::<ys_options>() as u32,
        window: 0,
        size,
        align,
        capacity,
        senders: 0,
        drop: None,
        context: null_mut(),
        clone: None,
    }
}

pub(crate) fn opened(open: Open, options: &ys_options) -> (*mut ys_tx, *mut ys_rx) {
    let (mut tx, mut rx) = (null_mut(), null_mut());
    // SAFETY: places for both handles, and options.
    assert_eq!(unsafe { open(options, &mut tx, &mut rx) }, OK);
    (tx, rx)
}

/// The handles of a channel of numbers.
pub(crate) fn numbers(open: Open, capacity: usize) -> (*mut ys_tx, *mut ys_rx) {
    opened(open, &options(8, 8, capacity))
}

/// What a C program finds in `errno`.
pub(crate) fn errno() -> c_int {
    #[cfg(not(windows))]
    return errno::errno().0;
    #[cfg(windows)]
    {
        unsafe extern "C" {
            safe fn _errno() -> *mut c_int;
        }
        // SAFETY: the C library's place for the calling thread.
        unsafe { _errno().read() }
    }
}

pub(crate) fn address<T>(value: &T) -> *const c_void {
    (&raw const *value).cast()
}

pub(crate) fn place<T>(value: &mut T) -> *mut c_void {
    (&raw mut *value).cast()
}

pub(crate) fn send(tx: *mut ys_tx, number: u64) -> c_int {
    // SAFETY: the callers use handles that they have opened.
    unsafe { ys_send(tx, address(&number)) }
}

pub(crate) fn try_send(tx: *mut ys_tx, number: u64) -> c_int {
    // SAFETY: the callers use handles that they have opened.
    unsafe { ys_try_send(tx, address(&number)) }
}

pub(crate) fn recv(rx: *mut ys_rx) -> Result<u64, c_int> {
    let mut number = 0_u64;
    // SAFETY: the callers use handles that they have opened.
    match unsafe { ys_recv(rx, place(&mut number)) } {
        OK => Ok(number),
        code => Err(code),
    }
}

pub(crate) fn recv_for(rx: *mut ys_rx, ns: i64) -> Result<u64, c_int> {
    let mut number = 0_u64;
    // SAFETY: the callers use handles that they have opened.
    match unsafe { ys_recv_for(rx, place(&mut number), ns) } {
        OK => Ok(number),
        code => Err(code),
    }
}

pub(crate) fn free(tx: *mut ys_tx, rx: *mut ys_rx) {
    // SAFETY: the callers have opened them, and use them no more.
    unsafe {
        ys_tx_free(tx);
        ys_rx_free(rx);
    }
}

/// What a callback has seen.
#[derive(Default)]
pub(crate) struct Count {
    pub(crate) dropped: AtomicUsize,
    pub(crate) sum: AtomicI64,
    /// How many lay elsewhere than their first word says. Zero there says nothing.
    pub(crate) displaced: AtomicUsize,
    /// At this count the callback panics, once.
    pub(crate) panics_at: AtomicUsize,
}

impl Count {
    pub(crate) fn dropped(&self) -> usize {
        // ORDERING: SeqCst, as all here: the tests need no less, and are not measured.
        self.dropped.load(Ordering::SeqCst)
    }

    pub(crate) fn sum(&self) -> i64 {
        // ORDERING: SeqCst, as above.
        self.sum.load(Ordering::SeqCst)
    }

    pub(crate) fn context(&self) -> *mut c_void {
        address(self).cast_mut()
    }

    /// Options for numbers whose sum is counted.
    pub(crate) fn of_numbers(&self, capacity: usize) -> ys_options {
        ys_options { drop: Some(count_number), context: self.context(), ..options(8, 8, capacity) }
    }
}

/// Counts a number.
///
/// # Safety
/// The message begins with a number, the context is a `Count`.
pub(crate) unsafe extern "C-unwind" fn count_number(message: *mut c_void, context: *mut c_void) {
    // SAFETY: by the caller.
    let (number, count) = unsafe { (message.cast::<i64>().read(), &*context.cast::<Count>()) };
    // ORDERING: SeqCst, as above.
    count.sum.fetch_add(number, Ordering::SeqCst);
    let before = count.dropped.fetch_add(1, Ordering::SeqCst);
    // ORDERING: SeqCst, as above.
    if before + 1 == count.panics_at.load(Ordering::SeqCst) {
        std::panic::resume_unwind(Box::new("a callback panics"));
    }
}

/// Counts a message whose first word is its own address.
///
/// # Safety
/// The context is a `Count`.
pub(crate) unsafe extern "C-unwind" fn count_address(message: *mut c_void, context: *mut c_void) {
    // SAFETY: by the caller.
    let (says, count) = unsafe { (message.cast::<usize>().read(), &*context.cast::<Count>()) };
    // ORDERING: SeqCst, as above.
    count.dropped.fetch_add(1, Ordering::SeqCst);
    if says != message.addr() {
        count.displaced.fetch_add(1, Ordering::SeqCst);
    }
}

/// A handle that moves to another thread.
pub(crate) struct Moved<T>(pub(crate) *mut T);

// SAFETY: a handle may move between threads.
unsafe impl<T> Send for Moved<T> {}

impl<T> Moved<T> {
    pub(crate) fn end(self) -> *mut T {
        self.0
    }
}
