//! What any thread may query of a handle, of either side, while another thread uses the handle: the properties of
//! its channel, and a stopper. It reads what all handles of the channel share, not the handle itself, and never
//! changes it. Wait-free, except for the stopper, which allocates.
//!
//! Cannot: access the handle itself.

use core::ffi::{c_int, c_void};
use std::sync::Arc;

use crate::channel::Channel;
use crate::code::Answer;
use crate::handle::{self, Handle};
use crate::side::{Kind, Side};
use crate::stopper::{self, ys_stopper};

/// # Safety
/// As of [`handle::look_beside`].
#[inline]
unsafe fn look<K: Kind, A: Answer>(end: *const K, look: impl FnOnce(&Arc<Channel>) -> A) -> A {
    // SAFETY: by the caller. What is shared never changes.
    unsafe { handle::look_beside(end.cast::<Handle<Side<K>>>(), look) }
}

/// How far apart the channel's slots are.
///
/// # Safety
/// As of [`handle::look_beside`].
pub(crate) unsafe fn stride<K: Kind>(end: *const K) -> usize {
    // SAFETY: by the caller.
    unsafe { look(end, |channel| channel.stride) }
}

/// How many bytes a message has.
///
/// # Safety
/// As of [`handle::look_beside`].
pub(crate) unsafe fn message_size<K: Kind>(end: *const K) -> usize {
    // SAFETY: by the caller.
    unsafe { look(end, |channel| channel.size) }
}

/// What messages are aligned to.
///
/// # Safety
/// As of [`handle::look_beside`].
pub(crate) unsafe fn message_align<K: Kind>(end: *const K) -> usize {
    // SAFETY: by the caller.
    unsafe { look(end, |channel| channel.align) }
}

/// Whether the channel is of messages of that size, in slots of that alignment.
///
/// # Safety
/// As of [`handle::look_beside`].
pub(crate) unsafe fn expect<K: Kind>(end: *const K, size: usize, align: usize) -> c_int {
    // SAFETY: by the caller.
    unsafe { look(end, |channel| channel.expect(K::EXPECT, size, align)) }
}

/// The address of what all handles of the channel share.
///
/// # Safety
/// As of [`handle::look_beside`].
pub(crate) unsafe fn address<K: Kind>(end: *const K) -> *const c_void {
    // SAFETY: by the caller.
    unsafe { look(end, |channel| Arc::as_ptr(channel).cast::<c_void>()) }
}

/// Makes a stopper for the channel.
///
/// # Safety
/// As of [`stopper::make`].
pub(crate) unsafe fn stopper<K: Kind>(end: *const K, stopper: *mut *mut ys_stopper) -> c_int {
    // SAFETY: by the caller.
    unsafe { stopper::make(end.cast::<Handle<Side<K>>>(), stopper, |channel| channel.clone()) }
}
