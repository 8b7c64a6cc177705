//! What happens to messages that are never received: the callback of their channel, and how a message's `Drop`
//! finds it.
//!
//! A message does not know its channel: it has only the caller's bytes. So each call that may drop messages stores
//! meanwhile, in a thread-local variable, how to dispose of them. A callback runs as if outside of any call, and so
//! does a panic's payload when it is dropped: nested calls set the variable again.

use core::cell::Cell;
use core::ffi::c_void;
use core::mem::MaybeUninit;

/// The callbacks of a channel.
#[derive(Clone, Copy)]
pub(crate) struct Disposal {
    pub(crate) drop: Option<unsafe extern "C-unwind" fn(*mut c_void, *mut c_void)>,
    pub(crate) clone: Option<unsafe extern "C-unwind" fn(*mut c_void, *const c_void, *mut c_void)>,
    pub(crate) context: *mut c_void,
}

// SAFETY: the caller that opens a channel promises that its callback may be called with its context on any thread.
unsafe impl Send for Disposal {}
// SAFETY: as above.
unsafe impl Sync for Disposal {}

thread_local! {
    /// Of the channel whose handle is in use.
    static CURRENT: Cell<Option<Disposal>> = const { Cell::new(None) };
    /// How many messages were disposed of on this thread; wraps.
    static DISPOSED: Cell<usize> = const { Cell::new(0) };
}

/// Puts back what was current when it is dropped.
pub(crate) struct Restore(Option<Disposal>);

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

/// Messages that are dropped on this thread are disposed of this way, until the returned value is dropped.
pub(crate) fn begin(disposal: Disposal) -> Restore {
    Restore(CURRENT.replace(Some(disposal)))
}

/// As if outside of any call, until the returned value is dropped: for user code, which may drop messages of other
/// channels.
pub(crate) fn outside() -> Restore {
    Restore(CURRENT.take())
}

// MUTANT: In a race: the receiver is dropped before the flush. The number only has to change.
/// Disposes of the message at this address.
#[cold]
#[inline(never)]
pub(crate) fn dispose(message: *mut c_void) {
    DISPOSED.set(DISPOSED.get().wrapping_add(1));
    if let Some(disposal) = CURRENT.take() {
        let _restore = Restore(Some(disposal));
        if let Some(drop) = disposal.drop {
            // SAFETY: the caller that opened the channel has promised that its callback may be called with such a message and
            // its context.
            unsafe { drop(message, disposal.context) };
        }
    }
}

/// Makes a copy of the message at `from`, which has `size` bytes together with its padding, at `to`.
///
/// # Safety
/// It is there, and there is room for it, elsewhere.
pub(crate) unsafe fn duplicate(from: *const c_void, to: *mut c_void, size: usize) {
    let current = CURRENT.get();
    let Some((disposal, clone)) = current.and_then(|disposal| Some((disposal, disposal.clone?))) else {
        // SAFETY: by the caller. Bytes may be anything, those without a value too.
        return unsafe { to.cast::<MaybeUninit<u8>>().copy_from_nonoverlapping(from.cast(), size) };
    };
    CURRENT.take();
    let _restore = Restore(current);
    // USER CODE: the callback; a cell or the value is held for reading; re-entrance: any other handle; panic: the copy
    //     does not exist, and the handle catches it.
    // SAFETY: as of `drop`; by the caller there is room.
    unsafe { clone(to, from, disposal.context) };
}

/// How many messages were disposed of on this thread; wraps.
pub(crate) fn disposed() -> usize {
    DISPOSED.get()
}
