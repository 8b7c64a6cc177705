//! What any thread may query of a handle, of either side, while another thread uses the handle: the properties of
//! its channel, and a stopper. It reads what all handles of the channel share, not the handle itself, and never
//! changes it. Wait-free, except for the stopper, which allocates.
//!
//! Cannot: access the handle itself.

use core::ffi::{c_int, c_void};
use std::sync::Arc;

use crate::channel::Channel;
use crate::code::Answer;
use crate::handle::{self, Content, Handle};
use crate::stopper::{self, ys_stopper};

/// A handle, by the type that callers see.
pub(crate) trait End {
    /// The content of its handle.
    type Content: Content<Shared = Arc<Channel>>;

    /// The name of the function that returns whether it has messages of a size and an alignment.
    const EXPECT: &'static str;
}

/// # Safety
/// As of [`handle::look_beside`].
#[inline]
unsafe fn look<E: End, A: Answer>(end: *const E, look: impl FnOnce(&Arc<Channel>) -> A) -> A {
    // SAFETY: by the caller. What is shared never changes.
    unsafe { handle::look_beside(end.cast::<Handle<E::Content>>(), look) }
}

/// How far apart the channel's slots are.
///
/// # Safety
/// As of [`handle::look_beside`].
pub(crate) unsafe fn stride<E: End>(end: *const E) -> usize {
    // SAFETY: by the caller.
    unsafe { look(end, |channel| channel.stride) }
}

/// How many bytes a message has.
///
/// # Safety
/// As of [`handle::look_beside`].
pub(crate) unsafe fn message_size<E: End>(end: *const E) -> usize {
    // SAFETY: by the caller.
    unsafe { look(end, |channel| channel.size) }
}

/// What messages are aligned to.
///
/// # Safety
/// As of [`handle::look_beside`].
pub(crate) unsafe fn message_align<E: End>(end: *const E) -> usize {
    // SAFETY: by the caller.
    unsafe { look(end, |channel| channel.align) }
}

/// Whether the channel is of messages of that size, in slots of that alignment.
///
/// # Safety
/// As of [`handle::look_beside`].
pub(crate) unsafe fn expect<E: End>(end: *const E, size: usize, align: usize) -> c_int {
    // SAFETY: by the caller.
    unsafe { look(end, |channel| channel.expect(E::EXPECT, size, align)) }
}

/// The address of what all handles of the channel share.
///
/// # Safety
/// As of [`handle::look_beside`].
pub(crate) unsafe fn address<E: End>(end: *const E) -> *const c_void {
    // SAFETY: by the caller.
    unsafe { look(end, |channel| Arc::as_ptr(channel).cast::<c_void>()) }
}

/// Makes a stopper for the channel.
///
/// # Safety
/// As of [`stopper::make`].
pub(crate) unsafe fn stopper<E: End>(end: *const E, stopper: *mut *mut ys_stopper) -> c_int {
    // SAFETY: by the caller.
    unsafe { stopper::make(end.cast::<Handle<E::Content>>(), stopper, |channel| channel.clone()) }
}
