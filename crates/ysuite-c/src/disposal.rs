//! What happens to messages that are never received: the callback of their channel, and how a message's `Drop`
//! finds it.
//!
//! A message does not know its channel: it has only the caller's bytes. So each call that may drop messages stores
//! meanwhile, in a thread-local variable, how to dispose of them. A callback runs as if outside of any call, and so
//! does a panic's payload when it is dropped: nested calls set the variable again.

use core::cell::Cell;
use core::ffi::c_void;

/// The callback of a channel.
#[derive(Clone, Copy)]
pub(crate) struct Disposal {
    pub(crate) drop: unsafe extern "C-unwind" fn(*mut c_void, *mut c_void),
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
        // SAFETY: the caller that opened the channel has promised that its callback may be called with such a message and
        // its context.
        unsafe { (disposal.drop)(message, disposal.context) };
    }
}

/// How many messages were disposed of on this thread; wraps.
pub(crate) fn disposed() -> usize {
    DISPOSED.get()
}
