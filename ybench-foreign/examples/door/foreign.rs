//! The loops in C and C++: `c/door.h` has these types, field by field.

use std::ffi::c_void;
use std::ptr;

type End = *mut c_void;

/// A total number of messages, the number at a time, the number by one call. False: not all were received as they were
/// sent.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Loop(unsafe extern "C" fn(End, End, usize, usize, usize) -> bool);

/// For messages of one size.
#[repr(C)]
pub(crate) struct Door {
    pub(crate) bytes: usize,
    open: unsafe extern "C" fn(bool, *mut End, *mut End) -> bool,
    close: unsafe extern "C" fn(End, End),
    pub(crate) inlined: Option<Loop>,
    pub(crate) calls: Option<Loop>,
    pub(crate) runs: Option<Loop>,
    pub(crate) batches: Option<Loop>,
}

/// Of 8, 24, 64 and 128 bytes.
type Doors = [Door; 4];

unsafe extern "C" {
    safe fn ybench_door_c() -> &'static Doors;
    safe fn ybench_door_cpp() -> &'static Doors;
}

pub(crate) fn of_c() -> &'static Doors {
    ybench_door_c()
}

pub(crate) fn of_cpp() -> &'static Doors {
    ybench_door_cpp()
}

/// Both handles of a channel, for the time of the call of `with`.
pub(crate) struct Ends {
    tx: End,
    rx: End,
}

/// Runs it with a new channel that is used by a window, or by calls only.
pub(crate) fn opened<A>(door: &Door, window: bool, with: impl FnOnce(&Ends) -> A) -> A {
    let mut ends = Ends { tx: ptr::null_mut(), rx: ptr::null_mut() };
    // SAFETY: both are written, or the result is false.
    assert!(unsafe { (door.open)(window, &raw mut ends.tx, &raw mut ends.rx) }, "a channel can be opened");
    let told = with(&ends);
    // SAFETY: they were opened there, and are not used any more.
    unsafe { (door.close)(ends.tx, ends.rx) };
    told
}

impl Loop {
    pub(crate) fn call(self, ends: &Ends, count: usize, burst: usize, batch: usize) -> bool {
        // SAFETY: the handles are open, of the same table, and used by this thread alone.
        unsafe { (self.0)(ends.tx, ends.rx, count, burst, batch) }
    }
}
