//! Sets of signals, with a descriptor or without, and their signalers.

use core::ffi::c_int;
#[cfg(windows)]
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::{ptr, slice};
use std::sync::Arc;

use ysuite::signal::{AttachError, Signal, SignalSet, Signaler, YPollset};

use crate::code::{
    Answer, YS_EATTACHED, YS_EINVAL, YS_ENOTSUP, YS_ERANGE, YS_ETAKEN, YS_OK, YS_STOPPED, count_or, ys_code,
};
use crate::handle::{self, Content, Everyones, Handle};
use crate::limit::Limit;
use crate::rx::ys_rx;
use crate::side;
use crate::stopper::{self, Owner, OwnersStop, StopEnd, ys_stopper};
use crate::tx::ys_tx;

/// The largest number of ids of a set, and of handles of a select.
pub(crate) const MOST: usize = 1 << 18;

/// A set of signals, which one thread waits for and any thread raises, and to which handles of channels can be
/// attached. One thread at a time; it may move between threads. Freed by ys_set_free.
pub struct ys_set {
    _opaque: [u8; 0],
}

/// Raises signals of a set. Any number of threads at once. Freed by ys_signaler_free.
pub struct ys_signaler {
    _opaque: [u8; 0],
}

/// What a set has for event loops; on Windows the address that the handle of an event is.
#[cfg(not(windows))]
type Descriptor = c_int;
#[cfg(windows)]
type Descriptor = usize;

struct Set {
    set: Box<dyn SignalSet + Send>,
    descriptor: Option<Descriptor>,
    /// How many ids callers have. The next one is that of the stop.
    ids: usize,
    owner: Owner,
    /// After the last id of a result that had no room for all: the next one begins there.
    begin: usize,
}

/// What can be asked for while a thread waits for the set.
struct Shared {
    descriptor: Option<Descriptor>,
    signaler: SetSignaler,
    stop: Arc<OwnersStop>,
}

/// What a signaler is, of the ids that callers have.
#[derive(Clone)]
struct SetSignaler {
    signaler: Signaler,
    ids: usize,
}

impl Content for Set {
    const FREE: &'static str = "ys_set_free";

    type Shared = Shared;

    fn share(&self) -> Shared {
        let signaler = SetSignaler { signaler: self.set.signaler(), ids: self.ids };
        Shared { descriptor: self.descriptor, signaler, stop: self.owner.stop.clone() }
    }
}

impl Set {
    /// A set of one id more than callers have.
    fn make(mut set: Box<dyn SignalSet + Send>, descriptor: Option<Descriptor>, ids: usize) -> Self {
        let owner = Owner::default();
        // The id exists, and no handle has it.
        let attached = set.attach(&mut StopEnd(&owner.stop), ids);
        debug_assert!(attached.is_ok(), "{attached:?}");
        Self { set, descriptor, ids, owner, begin: 0 }
    }

    /// There is room for fewer ids than are up: `room` is filled with the smallest, and `more` and `others` follow.
    /// Reports those whose turn it is, and leaves the others up.
    #[cold]
    fn take_turns(
        &mut self,
        room: &mut [MaybeUninit<usize>],
        more: usize,
        others: impl Iterator<Item = usize>,
    ) -> usize {
        // SAFETY: by the caller it is filled.
        let mut up: Vec<usize> = room.iter().map(|id| unsafe { id.assume_init() }).collect();
        up.push(more);
        up.extend(others);
        let first = up.partition_point(|id| *id < self.begin);
        let first = if first == up.len() { 0 } else { first };
        let reported = first..up.len().min(first + room.len());
        let count = reported.len();
        self.begin = up[reported.end - 1] + 1;
        room.iter_mut().zip(up.drain(reported)).for_each(|(place, id)| {
            place.write(id);
        });
        let signaler = self.set.signaler();
        up.into_iter().for_each(|id| signaler.signal(id));
        count
    }
}

impl Content for SetSignaler {
    const FREE: &'static str = "ys_signaler_free";

    type Shared = ();

    fn share(&self) {}
}

impl Everyones for SetSignaler {}

/// Why a handle cannot be attached.
pub(crate) fn refusal(error: AttachError) -> ys_code {
    match error {
        AttachError::AlreadyAttached => YS_EATTACHED,
        AttachError::IdTaken { .. } => YS_ETAKEN,
        AttachError::IdOutOfRange { .. } => YS_ERANGE,
    }
}

/// # Safety
/// As of [`handle::enter`].
unsafe fn enter<A: Answer>(set: *mut ys_set, call: impl FnOnce(&mut Set) -> A) -> A {
    // SAFETY: by the caller.
    unsafe { handle::enter(set.cast::<Handle<Set>>(), call) }
}

/// # Safety
/// `set` is NULL, or a place for a set.
unsafe fn open(set: *mut *mut ys_set, ids: usize, make: impl FnOnce() -> Result<Set, ys_code>) -> c_int {
    if set.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { *set = ptr::null_mut() };
    if !(1..=MOST).contains(&ids) {
        return c_int::from_code(YS_EINVAL);
    }
    handle::make(|| match make() {
        Ok(made) => {
            // SAFETY: by the caller.
            unsafe { *set = Handle::make(made).cast() };
            c_int::from_code(YS_OK)
        }
        Err(code) => c_int::from_code(code),
    })
}

/// Opens a set with a descriptor, which is readable while something is up: for poll, epoll and every event loop. On Windows with
/// an event, which is signalled then: see ys_set_handle.
///
/// @param ids how many signals: 1 to 262144, numbered from 0
/// @param set where the set is put; NULL is put there after an error
/// @return YS_OK; YS_EINVAL; YS_ESYSTEM with the cause in errno, on Windows in GetLastError: there is no descriptor left, or it is
///     forbidden; YS_ENOTSUP: not on this system
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_set_open(ids: usize, set: *mut *mut ys_set) -> c_int {
    #[cfg(any(unix, windows))]
    let make = || {
        #[cfg(unix)]
        use std::os::fd::AsRawFd;
        #[cfg(windows)]
        use std::os::windows::io::AsRawHandle;

        let made = ysuite::signal::YSocketpair::with_capacity(ids + 1).map_err(|error| {
            crate::errno::set_from(&error);
            crate::code::YS_ESYSTEM
        })?;
        #[cfg(unix)]
        let descriptor = made.as_raw_fd();
        #[cfg(windows)]
        let descriptor = made.as_raw_handle().addr();
        Ok(Set::make(Box::new(made), Some(descriptor), ids))
    };
    #[cfg(not(any(unix, windows)))]
    let make = || Err(YS_ENOTSUP);
    // SAFETY: by the caller.
    unsafe { open(set, ids, make) }
}

/// Opens a set without a descriptor: quicker to sleep on, for a thread that waits for nothing else.
///
/// @param ids how many signals: 1 to 262144, numbered from 0
/// @param set where the set is put; NULL is put there after an error
/// @return YS_OK; YS_EINVAL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_pollset_open(ids: usize, set: *mut *mut ys_set) -> c_int {
    // SAFETY: by the caller.
    unsafe { open(set, ids, || Ok(Set::make(Box::new(YPollset::with_capacity(ids + 1)), None, ids))) }
}

/// The descriptor of the set. Wait for it to be readable, and call ys_set_wait with a time of 0 then; do not read or close it. It
/// may, rarely, be readable with nothing up. Take it out of the event loop before the set is freed.
///
/// @param set the set
/// @return the descriptor; YS_ENOTSUP: the set has none
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_set_fd(set: *const ys_set) -> c_int {
    #[cfg(not(windows))]
    let descriptor = |set: &Shared| set.descriptor.unwrap_or(c_int::from_code(YS_ENOTSUP));
    #[cfg(windows)]
    let descriptor = |_: &Shared| c_int::from_code(YS_ENOTSUP);
    // SAFETY: by the caller. The descriptor never changes.
    unsafe { handle::look_beside(set.cast::<Handle<Set>>(), descriptor) }
}

/// The HANDLE of the set's event, for WaitForMultipleObjects and event loops that wait for handles; only on Windows. It is reset by
/// hand, by the set alone: a wait for it takes nothing away. When it is signalled, call ys_set_wait with a time of 0; do not set,
/// reset or close it. It may, rarely, be signalled with nothing up.
///
/// @param set the set
/// @return the handle; NULL: the set has none, or with EINVAL in errno there is no set
#[cfg(windows)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_set_handle(set: *const ys_set) -> *mut c_void {
    let handle = |set: &Shared| ptr::without_provenance_mut(set.descriptor.unwrap_or(0));
    // SAFETY: by the caller. The handle never changes.
    unsafe { handle::look_beside(set.cast::<Handle<Set>>(), handle) }
}

/// Attaches a receiver: the id is up while it may have a message, and once nothing more will come. It is up at
/// first. It goes down when ys_try_recv, ys_peek, or ys_take or ys_recv_batch with a time of 0 finds nothing.
///
/// Freeing the handle frees the id. Freeing the set leaves its handles attached to a set that is gone: to attach
/// them elsewhere, detach them before.
///
/// @param set the set
/// @param rx the handle, which no other thread is using
/// @param id the id
/// @return YS_OK; YS_EATTACHED: the handle is in a set already; YS_ETAKEN: the id belongs to another handle; YS_ERANGE
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_set_attach_rx(set: *mut ys_set, rx: *mut ys_rx, id: usize) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(set, |set| side::enter(rx, |rx| rx.attach(|end| attach(set, end, id)))) }
}

/// Attaches a sender: the id is up while it may have room, and once there is no receiver any more. It is up at
/// first. It goes down when ys_try_send or ys_reserve finds no room. Otherwise as ys_set_attach_rx.
///
/// @param set the set
/// @param tx the handle, which no other thread is using
/// @param id the id
/// @return YS_OK; YS_EATTACHED: the handle is in a set already; YS_ETAKEN: the id belongs to another handle; YS_ERANGE;
///     YS_ENOTSUP: the sender of a oneshot, a broadcast or a watch
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_set_attach_tx(set: *mut ys_set, tx: *mut ys_tx, id: usize) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(set, |set| side::enter(tx, |tx| tx.attach(|end| attach(set, end, id)))) }
}

fn attach(set: &mut Set, end: &mut dyn ysuite::signal::Attach, id: usize) -> c_int {
    if id >= set.ids {
        return c_int::from_code(YS_ERANGE);
    }
    c_int::from_code(set.set.attach(end, id).map_or_else(refusal, |()| YS_OK))
}

fn detach(set: &mut Set, end: &mut dyn ysuite::signal::Attach) -> c_int {
    c_int::from_code(set.set.detach(end).map_or(YS_EATTACHED, |_| YS_OK))
}

/// Takes a receiver out of the set: its id is down, and free. The id may be reported once more, spuriously, if a
/// sender was about to raise it.
///
/// @param set the set
/// @param rx the handle, which no other thread is using
/// @return YS_OK; YS_EATTACHED: it is not in this set
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_set_detach_rx(set: *mut ys_set, rx: *mut ys_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(set, |set| side::enter(rx, |rx| rx.attach(|end| detach(set, end)))) }
}

/// Takes a sender out of the set, as ys_set_detach_rx.
///
/// @param set the set
/// @param tx the handle, which no other thread is using
/// @return YS_OK; YS_EATTACHED: it is not in this set; YS_ENOTSUP: the sender of a oneshot, a broadcast or a watch
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_set_detach_tx(set: *mut ys_set, tx: *mut ys_tx) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(set, |set| side::enter(tx, |tx| tx.attach(|end| detach(set, end)))) }
}

/// Waits until something is up. Ids raised by a signaler are taken by that; ids of attached handles are reported
/// each time, until the handle finds nothing, or no room.
///
/// An edge-triggered event loop (EPOLLET) calls this with a time of 0 until it returns YS_EMPTY, and serves the
/// reported ids, before it waits again: only after YS_EMPTY is the next edge promised. A level-triggered one may
/// call it once.
///
/// @param set the set
/// @param ids where the ids that are up are put, ascending
/// @param max how many at most, at least 1. What is up beyond that stays up, and has its turn: the next call begins after
///     the last id of this one, and comes back to the smallest when it has reported the largest
/// @param ns nanoseconds; 0: never waits; less than 0: for ever
/// @return how many ids, at least 1; YS_EMPTY (where ns is 0), YS_TIMEOUT: nothing is up; YS_STOPPED: nothing is up, and ys_stop was
///     called for the set or its waits
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_set_wait(set: *mut ys_set, ids: *mut usize, max: usize, ns: i64) -> isize {
    if ids.is_null() || max == 0 {
        return isize::from_code(YS_EINVAL);
    }
    let wait = |set: &mut Set| {
        let limit = Limit::from_nanoseconds(ns);
        let up = match limit {
            Limit::Now => set.set.check(),
            Limit::Within(time) => set.set.wait_timeout(time),
            Limit::Never => set.set.wait(),
        };
        // The stop's own is no caller's.
        let ids_of_callers = set.ids;
        let mut up = up.filter(move |id| *id != ids_of_callers);
        // SAFETY: by the caller there is room for this many; no set has more ids than the largest number.
        let room = unsafe { slice::from_raw_parts_mut(ids.cast::<MaybeUninit<usize>>(), max.min(MOST)) };
        let mut count = 0;
        for (place, id) in room.iter_mut().zip(up.by_ref()) {
            place.write(id);
            count += 1;
        }
        match up.next() {
            Some(more) => set.take_turns(room, more, up) as isize,
            None => {
                set.begin = 0;
                count_or(count, if set.owner.is_stopped() { YS_STOPPED } else { limit.empty() })
            }
        }
    };
    // SAFETY: by the caller.
    unsafe { enter(set, wait) }
}

/// Makes a stopper for the set, by which any thread ends the wait for it: see ys_stop. Allocates. Any thread.
///
/// @param set the set
/// @param stopper where it is put, to be freed by ys_stopper_free; NULL is put there after an error
/// @return YS_OK; YS_EINVAL: a null pointer
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_set_stopper(set: *const ys_set, stopper: *mut *mut ys_stopper) -> c_int {
    // SAFETY: by the caller.
    unsafe { stopper::make(set.cast::<Handle<Set>>(), stopper, |shared| shared.stop.clone()) }
}

/// Makes a stopper for the waits from now on: see ys_stop. To wait anew after it was stopped, make another, which replaces it. The
/// thread that waits for the set calls this; any thread may use the stopper. Allocates.
///
/// @param set the set
/// @param stopper where it is put, to be freed by ys_stopper_free; NULL is put there after an error
/// @return YS_OK; YS_EINVAL: a null pointer
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_set_wait_stopper(set: *mut ys_set, stopper: *mut *mut ys_stopper) -> c_int {
    // SAFETY: by the caller.
    unsafe { stopper::at(stopper, || enter(set, |set| set.owner.wait_stopper(stopper))) }
}

/// Makes a signaler for the set. Allocates.
///
/// @param set the set
/// @param signaler where it is put; NULL is put there after an error
/// @return YS_OK
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_set_signaler(set: *const ys_set, signaler: *mut *mut ys_signaler) -> c_int {
    if signaler.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe {
        *signaler = ptr::null_mut();
        handle::look_beside(set.cast::<Handle<Set>>(), |set| {
            *signaler = Handle::make(set.signaler.clone()).cast();
            c_int::from_code(YS_OK)
        })
    }
}

/// Raises a signal, and wakes the thread that waits for the set, if it sleeps. Any thread, any number of them at once. Wait-free, at
/// most one system call. Without effect once the set is gone.
///
/// @param signaler a signaler of the set
/// @param id the id
/// @return YS_OK; YS_ERANGE
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_signal(signaler: *const ys_signaler, id: usize) -> c_int {
    let signal = |of: &SetSignaler| {
        let is_out = id >= of.ids || of.signaler.try_signal(id).is_err();
        c_int::from_code(if is_out { YS_ERANGE } else { YS_OK })
    };
    // SAFETY: by the caller. Any thread may use a signaler.
    unsafe { handle::look(signaler.cast::<Handle<SetSignaler>>(), signal) }
}

/// Frees a signaler.
///
/// @param signaler the signaler, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_signaler_free(signaler: *mut ys_signaler) {
    // SAFETY: by the caller.
    unsafe { handle::free(signaler.cast::<Handle<SetSignaler>>()) }
}

/// Frees a set. Its descriptor is closed when its signalers and the channels attached to it are gone as well.
///
/// @param set the set, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_set_free(set: *mut ys_set) {
    // SAFETY: by the caller.
    unsafe { handle::free(set.cast::<Handle<Set>>()) }
}
