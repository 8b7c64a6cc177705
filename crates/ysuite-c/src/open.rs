//! Opening channels.

use core::alloc::Layout;
use core::ffi::{c_int, c_void};
use core::ptr;

use ysuite::mpsc::MAX_SENDERS;

use crate::broadcast::broadcast;
use crate::channel::Channel;
use crate::code::{Answer, YS_EINVAL, YS_ENOMEM, YS_OK, ys_code};
use crate::exchange::exchange;
use crate::handle;
use crate::lanes::{Ends, funnel, pipe};
use crate::message::{At8, At16, for_value};
use crate::oneshot::oneshot;
use crate::options::{Wanted, ys_options};
use crate::rx::ys_rx;
use crate::side;
use crate::tx::ys_tx;
use crate::value::watch;

/// Opens an spsc channel: one sender, one receiver, in order. The fastest channel, and the default choice.
///
/// Allocates; if memory runs out later, while messages queue up without a bound, the process ends. Never blocks.
/// Both handles must be freed, in any order, by ys_tx_free and ys_rx_free.
///
/// @param options what it is to be like; senders must be 0
/// @param tx receives the sender; NULL after an error
/// @param rx receives the receiver; NULL after an error
/// @return YS_OK; YS_EINVAL: a null pointer, or options that cannot be; YS_ENOMEM
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_pipe_open(options: *const ys_options, tx: *mut *mut ys_tx, rx: *mut *mut ys_rx) -> c_int {
    let make = |wanted: &Wanted| {
        refuse(wanted.senders != 0)?;
        Ok(pipe(wanted))
    };
    // SAFETY: by the caller.
    unsafe { open(options, tx, rx, make) }
}

/// Opens an mpsc channel: many senders, one receiver. Each sender has a lane of its own. Its messages keep their
/// order there. ys_tx_clone makes another sender.
///
/// Allocates; if memory runs out later, while messages queue up for the first time, the process ends. Never blocks.
///
/// @param options what it is to be like; capacity is of each sender, senders without a capacity must be 0
/// @param tx receives the first sender; NULL after an error
/// @param rx receives the receiver; NULL after an error
/// @return YS_OK; YS_EINVAL: a null pointer, or options that cannot be; YS_ENOMEM
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_funnel_open(options: *const ys_options, tx: *mut *mut ys_tx, rx: *mut *mut ys_rx) -> c_int {
    let make = |wanted: &Wanted| {
        refuse(wanted.senders != 0 && wanted.capacity == 0 || wanted.senders > MAX_SENDERS)?;
        Ok(funnel(wanted))
    };
    // SAFETY: by the caller.
    unsafe { open(options, tx, rx, make) }
}

/// Opens an mpmc channel: many senders, many receivers, one order. Each message goes to exactly one receiver.
/// ys_tx_clone and ys_rx_clone make more handles. Messages are moved as bytes, so a message must not hold its own
/// address.
///
/// Allocates: with a capacity, room for all messages at once. Never blocks.
///
/// @param options what it is to be like; senders must be 0
/// @param tx receives the first sender; NULL after an error
/// @param rx receives the first receiver; NULL after an error
/// @return YS_OK; YS_EINVAL: a null pointer, or options that cannot be; YS_ENOMEM
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_exchange_open(
    options: *const ys_options,
    tx: *mut *mut ys_tx,
    rx: *mut *mut ys_rx,
) -> c_int {
    let make = |wanted: &Wanted| {
        refuse(wanted.senders != 0)?;
        has_memory(wanted)?;
        Ok(for_value!(wanted.class, exchange(wanted)))
    };
    // SAFETY: by the caller.
    unsafe { open(options, tx, rx, make) }
}

/// Opens a oneshot: one message, once, such as a reply. The message is moved as bytes, so it must not hold its own
/// address.
///
/// Allocates. Never blocks.
///
/// @param options what it is to be like; capacity and senders must be 0
/// @param tx receives the sender; NULL after an error
/// @param rx receives the receiver; NULL after an error
/// @return YS_OK; YS_EINVAL: a null pointer, or options that cannot be
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_oneshot_open(
    options: *const ys_options,
    tx: *mut *mut ys_tx,
    rx: *mut *mut ys_rx,
) -> c_int {
    let make = |wanted: &Wanted| {
        refuse(wanted.senders != 0 || wanted.capacity != 0)?;
        Ok(oneshot(wanted))
    };
    // SAFETY: by the caller.
    unsafe { open(options, tx, rx, make) }
}

/// Opens a broadcast: many senders, many receivers, one order; every receiver gets every message, as a copy. See
/// `clone` in ys_options. Receivers by ys_rx_clone and ys_tx_subscribe. A sender waits for the slowest receiver.
///
/// Allocates room for all messages at once. Never blocks.
///
/// @param options what it is to be like; capacity must not be 0, senders must be 0; with drop, clone
/// @param tx receives the first sender; NULL after an error
/// @param rx receives the first receiver; NULL after an error
/// @return YS_OK; YS_EINVAL: a null pointer, or options that cannot be; YS_ENOMEM
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_broadcast_open(
    options: *const ys_options,
    tx: *mut *mut ys_tx,
    rx: *mut *mut ys_rx,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { open(options, tx, rx, |wanted| open_broadcast(wanted, false)) }
}

/// Opens a broadcast whose senders do not wait: a receiver that is more than the capacity behind loses the oldest
/// messages. Its next receive returns YS_LAGGED, once, and then goes on. Otherwise as ys_broadcast_open.
///
/// @param options what it is to be like; capacity must not be 0, senders must be 0; with drop, clone
/// @param tx receives the first sender; NULL after an error
/// @param rx receives the first receiver; NULL after an error
/// @return YS_OK; YS_EINVAL: a null pointer, or options that cannot be; YS_ENOMEM
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_broadcast_lossy_open(
    options: *const ys_options,
    tx: *mut *mut ys_tx,
    rx: *mut *mut ys_rx,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { open(options, tx, rx, |wanted| open_broadcast(wanted, true)) }
}

/// Opens a watch: one value, of which every receiver gets the newest, as a copy, once for each change. See `clone` in
/// ys_options. Sending replaces the value, and never waits for a receiver. Receivers by ys_rx_clone and ys_tx_subscribe;
/// ys_watch_get copies the value at any time. Closing a handle does not close the others.
///
/// Allocates. Never blocks.
///
/// @param options what it is to be like; capacity and senders must be 0; with drop, clone
/// @param value the address of the first value, which is copied: after YS_OK it is the channel's. It counts as seen
/// @param tx receives the first sender; NULL after an error
/// @param rx receives the first receiver; NULL after an error
/// @return YS_OK; YS_EINVAL: a null pointer, or options that cannot be
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_watch_open(
    options: *const ys_options,
    value: *const c_void,
    tx: *mut *mut ys_tx,
    rx: *mut *mut ys_rx,
) -> c_int {
    let make = |wanted: &Wanted| {
        refuse(value.is_null() || wanted.senders != 0 || wanted.capacity != 0 || !is_copied(wanted))?;
        // SAFETY: by the caller.
        Ok(unsafe { watch(wanted, value.cast()) })
    };
    // SAFETY: by the caller.
    unsafe { open(options, tx, rx, make) }
}

fn open_broadcast(wanted: &Wanted, is_lossy: bool) -> Result<Ends, ys_code> {
    refuse(wanted.senders != 0 || wanted.capacity == 0 || !is_copied(wanted))?;
    // Cells are a power of two, and some more in a lossy one.
    let capacity = wanted.capacity.checked_mul(4).ok_or(YS_EINVAL)?;
    has_memory(&Wanted { capacity, ..*wanted })?;
    Ok(broadcast(wanted, is_lossy))
}

/// What has a destructor needs a copy constructor.
fn is_copied(wanted: &Wanted) -> bool {
    wanted.disposal.is_none_or(|disposal| disposal.drop.is_none() || disposal.clone.is_some())
}

fn refuse(is_wrong: bool) -> Result<(), ys_code> {
    if is_wrong { Err(YS_EINVAL) } else { Ok(()) }
}

// MUTANT: Only how much memory is asked for as a trial; the allocation fails when there is none.
/// Whether there is room for all messages of an exchange with a bound, which are allocated at once. The library would end the
/// process.
fn has_memory(wanted: &Wanted) -> Result<(), ys_code> {
    /// Below this, a process without so much memory is past help.
    const SMALL: usize = 1 << 20;
    /// The largest bound of an mpmc channel: `ysuite::mpmc::bounded` panics beyond it.
    const MOST: u64 = 1 << 36;
    // A cell has a word next to its message.
    let (size, align) = for_value!(wanted.class, size_and_align());
    let cell = size + align;
    let bytes = wanted.capacity.checked_mul(cell).ok_or(YS_EINVAL)?;
    let layout = Layout::from_size_align(bytes, 64).map_err(|_| YS_EINVAL)?;
    if wanted.capacity as u64 > MOST {
        return Err(YS_ENOMEM);
    }
    if bytes > SMALL {
        // SAFETY: the layout is not empty. What is allocated is given back at once; no page of it was touched.
        unsafe {
            // Out of the compiler's sight, which may take away what is allocated for nothing, and say that it was there.
            let memory = core::hint::black_box(std::alloc::alloc(layout));
            if memory.is_null() {
                return Err(YS_ENOMEM);
            }
            std::alloc::dealloc(memory, layout);
        }
    }
    Ok(())
}

fn size_and_align<M>() -> (usize, usize) {
    (size_of::<M>(), align_of::<M>())
}

/// Makes a channel, and gives the caller its handles.
///
/// # Safety
/// Each pointer is NULL, or what it says.
unsafe fn open(
    options: *const ys_options,
    tx: *mut *mut ys_tx,
    rx: *mut *mut ys_rx,
    make: impl FnOnce(&Wanted) -> Result<Ends, ys_code>,
) -> c_int {
    // SAFETY: by the caller, where they are not NULL.
    unsafe {
        if !tx.is_null() {
            *tx = ptr::null_mut();
        }
        if !rx.is_null() {
            *rx = ptr::null_mut();
        }
    }
    if tx.is_null() || rx.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    let Some(wanted) = (unsafe { ys_options::read(options) }) else { return c_int::from_code(YS_EINVAL) };
    handle::make(|| match make(&wanted) {
        Ok((sending, receiving)) => {
            let channel = std::sync::Arc::new(Channel::new(&wanted, sending.waker_of_all()));
            // SAFETY: by the caller.
            unsafe {
                *tx = side::make(sending, channel.clone());
                *rx = side::make(receiving, channel);
            }
            c_int::from_code(YS_OK)
        }
        Err(code) => c_int::from_code(code),
    })
}
