//! The loops in C and C++: `c/binding.h` has these types, field by field.

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
pub(crate) struct Binding {
    pub(crate) bytes: usize,
    open: unsafe extern "C" fn(bool, *mut End, *mut End) -> bool,
    close: unsafe extern "C" fn(End, End),
    pub(crate) inlined: Option<Loop>,
    pub(crate) calls: Option<Loop>,
    pub(crate) runs: Option<Loop>,
    pub(crate) batches: Option<Loop>,
}

/// Of 8, 24, 64 and 128 bytes.
type Bindings = [Binding; 4];

unsafe extern "C" {
    safe fn ybench_binding_c() -> &'static Bindings;
    safe fn ybench_binding_cpp() -> &'static Bindings;
}

pub(crate) fn of_c() -> &'static Bindings {
    ybench_binding_c()
}

pub(crate) fn of_cpp() -> &'static Bindings {
    ybench_binding_cpp()
}

/// Both handles of a channel, for the time of the call of `with`.
pub(crate) struct Ends {
    tx: End,
    rx: End,
}

/// Runs it with a new channel that is used by a window, or by calls only.
pub(crate) fn opened<A>(binding: &Binding, window: bool, with: impl FnOnce(&Ends) -> A) -> A {
    let mut ends = Ends { tx: ptr::null_mut(), rx: ptr::null_mut() };
    // SAFETY: both are written, or the result is false.
    assert!(unsafe { (binding.open)(window, &raw mut ends.tx, &raw mut ends.rx) }, "a channel can be opened");
    let told = with(&ends);
    // SAFETY: they were opened there, and are not used any more.
    unsafe { (binding.close)(ends.tx, ends.rx) };
    told
}

impl Loop {
    pub(crate) fn call(self, ends: &Ends, count: usize, burst: usize, batch: usize) -> bool {
        // SAFETY: the handles are open, of the same table, and used by this thread alone.
        unsafe { (self.0)(ends.tx, ends.rx, count, burst, batch) }
    }
}
