//! Senders that any number of threads use at once: of the kinds whose senders share a queue, or a value.
//!
//! Any thread, any number at once; progress is that of the channel's sends.
//!
//! Cannot: be made of an spsc or mpsc sender, which has a queue of its own, or of a oneshot; be attached to a set.

use core::ffi::{c_int, c_void};
use core::ptr;
use std::sync::Arc;

use ysuite::in_place::Stop;

use crate::channel::{Channel, Found};
use crate::code::{Answer, YS_EINVAL, YS_OK};
use crate::disposal;
use crate::handle::{self, Content, Everyones, Handle};
use crate::limit::Limit;
use crate::side;
use crate::stopper::{self, ys_stopper};
use crate::tx::ys_tx;

/// A sender that any number of threads use at once. Freed by ys_shared_free.
pub struct ys_shared {
    _opaque: [u8; 0],
}

/// What can be sent by any thread.
pub(crate) trait SharesSends: Send + Sync {
    /// # Safety
    /// A message is there.
    unsafe fn send_by_any(&self, message: *const u8, limit: Limit, stop: &Stop) -> c_int;

    /// Whether nothing that is sent would be received.
    fn is_over(&self) -> bool;
}

pub(crate) type Shares = Box<dyn SharesSends>;

struct Shared {
    shares: Shares,
    channel: Arc<Channel>,
}

impl Content for Shared {
    const FREE: &'static str = "ys_shared_free";

    type Shared = ();

    fn share(&self) {}

    fn disposal(&self) -> Option<disposal::Disposal> {
        self.channel.disposal
    }
}

impl Everyones for Shared {}

/// # Safety
/// As of [`handle::look`].
unsafe fn look<A: Answer>(shared: *const ys_shared, call: impl FnOnce(&dyn SharesSends, &Channel) -> A) -> A {
    let call = |shared: &Shared| {
        // A send may drop what it replaces.
        let _restore = shared.channel.disposal.map(disposal::begin);
        call(&*shared.shares, &shared.channel)
    };
    // SAFETY: by the caller.
    unsafe { handle::look(shared.cast::<Handle<Shared>>(), call) }
}

/// Makes a sender that any number of threads may use at once, of the same channel. It counts as a sender until it is
/// freed. Allocates. mpmc, broadcast and watch only: the senders of spsc and mpsc have queues of their own.
///
/// @param tx the sender
/// @param shared where it is put; NULL is put there after an error
/// @return YS_OK; YS_EINVAL: a null pointer; YS_ENOTSUP
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_share(tx: *mut ys_tx, shared: *mut *mut ys_shared) -> c_int {
    if shared.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe {
        *shared = ptr::null_mut();
        side::enter(tx, |tx| match tx.call(|inner| inner.share()) {
            Ok(shares) => {
                let content = Shared { shares, channel: tx.channel().clone() };
                *shared = Handle::make(content).cast();
                c_int::from_code(YS_OK)
            }
            Err(code) => c_int::from_code(code),
        })
    }
}

/// Sends a message, as ys_send_for does. Any thread.
///
/// @param shared the sender
/// @param message the address of the message, which is copied
/// @param ns nanoseconds; 0: never waits; less than 0: for ever
/// @return YS_OK: the channel has the message; any other code: it is still the caller's. YS_FULL (where ns is 0), YS_TIMEOUT,
///     YS_CLOSED, YS_STOPPED
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shared_send_for(shared: *const ys_shared, message: *const c_void, ns: i64) -> c_int {
    if message.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { look(shared, |shares, channel| send(shares, message, ns, &channel.stop)) }
}

/// As ys_shared_send_for, and the wait also ends by a stopper of ys_shared_wait_stopper: that of this call, not those of other threads.
///
/// @param shared the sender
/// @param message the address of the message, which is copied
/// @param ns nanoseconds
/// @param stopper the stopper, made for a sender of this channel
/// @return as ys_shared_send_for; YS_STOPPED also if ys_stop was called for the stopper, and there is no room; YS_EINVAL: another stopper
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shared_send_or_stop(
    shared: *const ys_shared,
    message: *const c_void,
    ns: i64,
    stopper: *const ys_stopper,
) -> c_int {
    if message.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    let with = |stop: Option<&Stop>| match stop {
        // SAFETY: by the caller.
        Some(stop) => unsafe { look(shared, |shares, _| send(shares, message, ns, stop)) },
        None => c_int::from_code(YS_EINVAL),
    };
    // SAFETY: by the caller. Any thread may use a stopper.
    unsafe { stopper::with_wait(stopper, with) }
}

/// # Safety
/// A message is there.
unsafe fn send(shares: &dyn SharesSends, message: *const c_void, ns: i64, stop: &Stop) -> c_int {
    // SAFETY: by the caller.
    let answer = unsafe { shares.send_by_any(message.cast(), Limit::from_nanoseconds(ns), stop) };
    if answer.is_nothing() && stop.is_set() { c_int::stopped() } else { answer }
}

/// Makes a stopper for those waits that it is given to, by ys_shared_send_or_stop: see ys_stop. Allocates. Any thread.
///
/// @param shared the sender
/// @param stopper where it is put, to be freed by ys_stopper_free; NULL is put there after an error
/// @return YS_OK; YS_EINVAL: a null pointer
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shared_wait_stopper(shared: *const ys_shared, stopper: *mut *mut ys_stopper) -> c_int {
    // SAFETY: by the caller there is a place, as `at` has found.
    let give = |_: &dyn SharesSends, channel: &Channel| unsafe { stopper::give(stopper, channel.wait_stop()) };
    // SAFETY: by the caller.
    unsafe { stopper::at(stopper, || look(shared, give)) }
}

/// Whether nothing that is sent would be received. Never blocks. Any thread.
///
/// @param shared the sender
/// @return 1 or 0, or an error
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shared_is_closed(shared: *const ys_shared) -> c_int {
    // SAFETY: by the caller.
    unsafe { look(shared, |shares, _| c_int::from(shares.is_over())) }
}

/// An address that all handles of the channel share, and no other channel has. For comparison only. Any thread.
///
/// @param shared the sender
/// @return the address; NULL with EINVAL in errno: no handle
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shared_channel(shared: *const ys_shared) -> *const c_void {
    let channel = |shared: &Shared| Arc::as_ptr(&shared.channel).cast::<c_void>();
    // SAFETY: by the caller.
    unsafe { handle::look(shared.cast::<Handle<Shared>>(), channel) }
}

/// Frees the sender, which no thread uses any more. The channel stays open while it has another.
///
/// @param shared the handle, which must not be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shared_free(shared: *mut ys_shared) {
    // SAFETY: by the caller.
    unsafe { handle::free(shared.cast::<Handle<Shared>>()) }
}
