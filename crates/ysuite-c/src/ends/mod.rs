//! Handles of what reaches beyond the process: channels between processes, and bridges. The features `shm` and `zmq`, on Linux.
//!
//! One thread at a time uses a handle, as with those within a process, and the checked build finds out likewise. A handle
//! outlives its end: one that was closed or given away answers YS_CLOSED.

mod cancel;

use core::cell::RefCell;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use core::slice;
use std::ffi::CString;

pub(crate) use self::cancel::Uncancelled;
use crate::code::{Answer, YS_CLOSED, YS_EINVAL, YS_OK, ys_code};
use crate::handle::{self, Content, Handle};
use crate::watch::IS_CHECKED;

/// A handle, by the type that callers see.
pub(crate) trait Kind: Sized + 'static {
    /// The name of the function that frees it.
    const FREE: &'static str;

    /// A message that did not fit is replaced by a newer one.
    #[cfg(feature = "shm")]
    const REPLACES: bool = false;

    /// What it has, until it is closed or given away. A handle may move between threads.
    type End: Send + 'static;
}

pub(crate) struct Slot<K: Kind> {
    end: Option<K::End>,
    /// The process that has the end's memory, which a forked child has not. 0 in a build that is not checked.
    process: u32,
}

impl<K: Kind> Content for Slot<K> {
    const FREE: &'static str = K::FREE;

    type Shared = ();

    fn share(&self) {}
}

// MUTANT: The checked build alone compares it. Killed only by `a_mistake_ends_the_process_with_a_sentence`.
fn process() -> u32 {
    if IS_CHECKED { std::process::id() } else { 0 }
}

/// Puts a handle of what `make` makes where the caller wants it; after an error NULL.
///
/// # Safety
/// `to` is NULL, or a place for a handle.
pub(crate) unsafe fn open<K: Kind>(to: *mut *mut K, make: impl FnOnce() -> Result<K::End, ys_code>) -> c_int {
    if to.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { *to = ptr::null_mut() };
    let _inside = Uncancelled::begin();
    handle::make(|| match make() {
        Ok(end) => {
            // SAFETY: by the caller.
            unsafe { *to = Handle::make(Slot::<K> { end: Some(end), process: process() }).cast() };
            c_int::from_code(YS_OK)
        }
        Err(code) => c_int::from_code(code),
    })
}

/// Runs a call with the place of the end.
///
/// # Safety
/// As of [`handle::enter`].
pub(crate) unsafe fn place<K: Kind, A: Answer>(handle: *mut K, call: impl FnOnce(&mut Option<K::End>) -> A) -> A {
    let inside = |slot: &mut Slot<K>| {
        // MUTANT: As above.
        if slot.process != process() {
            eprintln!("ysuite: a forked child has used a handle of its parent; it may only call {}.", K::FREE);
            // MUTANT: As above.
            std::process::abort();
        }
        call(&mut slot.end)
    };
    let _inside = Uncancelled::begin();
    // SAFETY: by the caller.
    unsafe { handle::enter(handle.cast::<Handle<Slot<K>>>(), inside) }
}

/// Runs a call with the end.
///
/// # Safety
/// As of [`handle::enter`].
pub(crate) unsafe fn enter<K: Kind, A: Answer>(handle: *mut K, call: impl FnOnce(&mut K::End) -> A) -> A {
    // SAFETY: by the caller.
    unsafe { place(handle, |end| end.as_mut().map_or_else(|| A::from_code(YS_CLOSED), call)) }
}

/// # Safety
/// As of [`handle::free`].
pub(crate) unsafe fn free<K: Kind>(handle: *mut K) {
    let _inside = Uncancelled::begin();
    // SAFETY: by the caller.
    unsafe { handle::free(handle.cast::<Handle<Slot<K>>>()) }
}

/// A text of the caller.
///
/// # Safety
/// NULL, or a string of C that stays for as long as the result is used.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, ys_code> {
    if text.is_null() {
        return Err(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| YS_EINVAL)
}

/// A message of the caller.
///
/// # Safety
/// NULL, or that many bytes are there, which nobody changes for as long as the result is used.
pub(crate) unsafe fn bytes<'a>(message: *const c_void, length: usize) -> Option<&'a [u8]> {
    match (message.is_null(), length) {
        (_, 0) => Some(&[]),
        (true, _) => None,
        // SAFETY: by the caller. No message has more bytes than an address can be away from another.
        (false, length) => Some(unsafe { slice::from_raw_parts(message.cast(), length.min(isize::MAX as usize)) }),
    }
}

thread_local! {
    /// Why this thread's last call was refused.
    static REFUSAL: RefCell<CString> = RefCell::default();
}

/// Remembers why this thread's call is refused.
#[cold]
pub(crate) fn refuse(why: &dyn ToString) {
    // A thread that ends may have lost its variable already: then nobody reads it.
    let _ = REFUSAL.try_with(|refusal| refusal.replace(CString::new(why.to_string()).unwrap_or_default()));
}

/// Why this thread's last call was refused.
pub(crate) fn refusal() -> *const c_char {
    REFUSAL.try_with(|refusal| refusal.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}
