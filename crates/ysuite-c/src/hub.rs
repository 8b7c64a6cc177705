//! The hub: one thread that calls functions which other threads post, timers, and handlers of descriptors. Unix;
//! with the feature `hub`.
//!
//! A hub is used by the thread that runs it, and by the functions that it calls. Those are inside a call for it, and call
//! it again. So at most one *way* to it is open at a time: its own, between calls, or the reference that it lends to the
//! function that it is calling. While none is open, as in a callback that drops a context, a call returns YS_EBUSY.
//!
//! Cannot: receive from handles of channels. A set that they are attached to has a descriptor, which the hub watches.

use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::ptr::{self, NonNull};
use core::time::Duration;
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ysuite::hub::{Handle as Posts, Hub, Interest, Ready, Source, TimerKey};

use crate::code::{Answer, YS_CLOSED, YS_EBUSY, YS_EINVAL, YS_ERANGE, YS_ESYSTEM, YS_OK, ys_code};
use crate::errno;
use crate::handle::{self, Content, Everyones, Handle};
use crate::limit::Limit;

/// One thread's event loop. One thread at a time; it may be opened by one and run by another. Freed by ys_hub_free.
pub struct ys_hub {
    _opaque: [u8; 0],
}

/// Posts functions to a hub. One thread at a time; ys_hub_poster_clone makes one for another thread. Freed by
/// ys_hub_poster_free.
pub struct ys_hub_poster {
    _opaque: [u8; 0],
}

/// What a descriptor is watched for, and what it is ready for: bits.
#[repr(C)]
#[derive(Clone, Copy)]
pub enum ys_hub_ready {
    /// There is something to read, or the end of the input.
    YS_HUB_READABLE = 1,
    /// There is room to write, or the other side is closed.
    YS_HUB_WRITABLE = 2,
    /// The descriptor has failed. Alone: it was closed without being removed, and this call is the last.
    YS_HUB_ERROR = 4,
}

const READABLE: u32 = ys_hub_ready::YS_HUB_READABLE as u32;
const WRITABLE: u32 = ys_hub_ready::YS_HUB_WRITABLE as u32;
const ERROR: u32 = ys_hub_ready::YS_HUB_ERROR as u32;

/// A source or a timer, by the number that the program has.
enum Key {
    Source(Source),
    Timer(TimerKey),
}

#[derive(Default)]
struct Numbers {
    // GROWS: by sources and timers; each goes with its context.
    keys: HashMap<u64, Key>,
    last: u64,
}

/// What a hub shares with the functions that it is to call.
struct Ways {
    hub: Cell<*mut ys_hub>,
    /// The one that is open; null: none is.
    open: Cell<*mut Hub>,
    numbers: Mutex<Numbers>,
}

// SAFETY: the cells are used by the thread that uses the hub, one at a time: of `ys_hub_open`, and in `enter` and
// `Context::lend`. Other threads drop it, and use the numbers.
unsafe impl Sync for Ways {}
// SAFETY: as above; a `Hub` may be sent.
unsafe impl Send for Ways {}

impl Ways {
    fn numbers(&self) -> MutexGuard<'_, Numbers> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens the way before again when it is dropped.
struct Again<'a>(&'a Cell<*mut Hub>, *mut Hub);

impl Drop for Again<'_> {
    fn drop(&mut self) {
        self.0.set(self.1);
    }
}

struct Looped {
    /// Of a box.
    hub: NonNull<Hub>,
    ways: Arc<Ways>,
}

// SAFETY: a `Hub` may be sent, and `ys_hub` is used by one thread at a time.
unsafe impl Sync for Looped {}

impl Content for Looped {
    const FREE: &'static str = "ys_hub_free";

    type Shared = ();

    fn share(&self) {}
}

impl Everyones for Looped {}

impl Drop for Looped {
    fn drop(&mut self) {
        self.ways.open.set(ptr::null_mut());
        // SAFETY: of `ys_hub_open`, and nothing else has it: no call is under way.
        drop(unsafe { Box::from_raw(self.hub.as_ptr()) });
    }
}

/// Runs a call for the hub by the way that is open.
///
/// # Safety
/// NULL, or a hub that was opened and not freed; no other thread uses it.
unsafe fn enter<A: Answer>(hub: *mut ys_hub, call: impl FnOnce(&mut Hub, &Arc<Ways>) -> A) -> A {
    let call = |looped: &Looped| {
        let open = &looped.ways.open;
        let Some(mut way) = NonNull::new(open.replace(ptr::null_mut())) else { return A::from_code(YS_EBUSY) };
        let _again = Again(open, way.as_ptr());
        // SAFETY: the hub lives until it is freed, and no other way is open before this call is over, but that of the
        // reference that the hub lends meanwhile.
        call(unsafe { way.as_mut() }, &looped.ways)
    };
    // SAFETY: by the caller.
    unsafe { handle::look(hub.cast_const().cast::<Handle<Looped>>(), call) }
}

/// A callback that drops a context.
type Drops = Option<unsafe extern "C-unwind" fn(*mut c_void)>;

/// A context of the program, which is dropped with this.
struct Context {
    context: *mut c_void,
    drop: Drops,
    /// Of a source or a timer.
    number: Option<(u64, Arc<Ways>)>,
}

// SAFETY: the program promises that the hub's thread may use the context, and that its callback may be called by any.
unsafe impl Send for Context {}

impl Context {
    fn new(context: *mut c_void, drop: Drops) -> Self {
        Self { context, drop, number: None }
    }

    /// Gives it to a call of the program, which may use the hub by this reference.
    fn lend(&self, ways: &Ways, hub: &mut Hub, call: impl FnOnce(*mut ys_hub, *mut c_void)) {
        let _again = Again(&ways.open, ways.open.replace(ptr::from_mut(hub)));
        call(ways.hub.get(), self.context);
    }

    /// What a hub keeps of a function of the program that gets this.
    fn calling(
        self,
        ways: Arc<Ways>,
        function: unsafe extern "C-unwind" fn(*mut ys_hub, *mut c_void),
    ) -> impl FnMut(&mut Hub) + Send + 'static {
        // SAFETY: by the program it may be called with this context.
        move |hub| self.lend(&ways, hub, |hub, context| unsafe { function(hub, context) })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if let Some((number, ways)) = self.number.take() {
            ways.numbers().keys.remove(&number);
        }
        if let Some(drop) = self.drop {
            // SAFETY: by the program it is of this context. This is the last use of it.
            unsafe { drop(self.context) };
        }
    }
}

/// Gives what `add` adds a number, and puts it.
///
/// # Safety
/// As of [`enter`]; a place, or NULL.
unsafe fn numbered(
    hub: *mut ys_hub,
    at: *mut u64,
    mut context: Context,
    add: impl FnOnce(&mut Hub, Arc<Ways>, Context) -> Result<Key, ys_code>,
) -> c_int {
    if !at.is_null() {
        // SAFETY: by the caller.
        unsafe { *at = 0 };
    }
    let add = |hub: &mut Hub, ways: &Arc<Ways>| {
        let given = {
            let mut numbers = ways.numbers();
            numbers.last += 1;
            numbers.last
        };
        context.number = Some((given, ways.clone()));
        // Not under the lock: a context that is refused gives its number back.
        let key = match add(hub, ways.clone(), context) {
            Ok(key) => key,
            Err(code) => return c_int::from_code(code),
        };
        ways.numbers().keys.insert(given, key);
        if !at.is_null() {
            // SAFETY: by the caller.
            unsafe { *at = given };
        }
        c_int::from_code(YS_OK)
    };
    // SAFETY: by the caller.
    unsafe { enter(hub, add) }
}

/// A descriptor of the program.
struct Borrowed(RawFd);

impl AsFd for Borrowed {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: by the program it is open until it is removed. Of one that is not the hub learns that it is closed.
        unsafe { BorrowedFd::borrow_raw(self.0) }
    }
}

fn interest(bits: u32) -> Option<Interest> {
    match bits {
        READABLE => Some(Interest::READABLE),
        WRITABLE => Some(Interest::WRITABLE),
        bits if bits == READABLE | WRITABLE => Some(Interest::READABLE | Interest::WRITABLE),
        _ => None,
    }
}

fn bits(ready: Ready) -> u32 {
    let when = |is: bool, bit: u32| if is { bit } else { 0 };
    when(ready.is_readable(), READABLE) | when(ready.is_writable(), WRITABLE) | when(ready.is_error(), ERROR)
}

fn failed(cause: &io::Error) -> ys_code {
    errno::set_from(cause);
    YS_ESYSTEM
}

fn count(calls: io::Result<usize>) -> isize {
    calls.map_or_else(|cause| isize::from_code(failed(&cause)), |calls| calls as isize)
}

/// Opens a hub: an event loop of one thread, which calls functions that other threads post, timers, and handlers of descriptors; one at a
/// time, and on the thread that runs it. Unix. Allocates.
///
/// All functions get the hub, and may call whatever is for it: add and remove sources and timers, also their own, stop it, and run it. They
/// must not free it, must not block, and must not throw. With each the program gives a context, and a function that drops it: that is called
/// exactly once, when the context is needed no more; before the call returns, if that returns an error. It may be called on any thread that
/// uses the hub or a poster, and must not throw, nor use the hub, which returns YS_EBUSY there.
///
/// In a turn the hub calls at most 128 posted functions, at most 128 timers that are due, and each descriptor's handler once: no source
/// delays another for longer. With nothing to do it spins for a while, and sleeps in one system call.
///
/// Receivers of channels come to a hub by a set: ys_set_attach_rx, and ys_hub_watch with ys_set_fd.
///
/// @param hub where it is put; NULL is put there after an error
/// @return YS_OK; YS_EINVAL; YS_ESYSTEM with the cause in errno: no descriptors are left
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_hub_open(hub: *mut *mut ys_hub) -> c_int {
    if hub.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { *hub = ptr::null_mut() };
    handle::make(|| {
        let made = match Hub::new() {
            Ok(made) => NonNull::from(Box::leak(Box::new(made))),
            Err(cause) => return c_int::from_code(failed(&cause)),
        };
        let open = Cell::new(made.as_ptr());
        let ways = Arc::new(Ways { hub: Cell::new(ptr::null_mut()), open, numbers: Mutex::default() });
        let handle = Handle::make(Looped { hub: made, ways: ways.clone() }).cast();
        ways.hub.set(handle);
        // SAFETY: by the caller.
        unsafe { *hub = handle };
        c_int::from_code(YS_OK)
    })
}

/// Serves all sources until ys_hub_stop, or until there is no poster, no source and no timer left. Blocks. May be called again afterwards.
/// Inside the handler of a descriptor it is one turn, and does not block.
///
/// @param hub the hub
/// @return YS_OK; YS_EINVAL; YS_EBUSY; YS_ESYSTEM with the cause in errno
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_hub_run(hub: *mut ys_hub) -> c_int {
    let run =
        |hub: &mut Hub, _: &Arc<Ways>| c_int::from_code(hub.run().map_or_else(|cause| failed(&cause), |()| YS_OK));
    // SAFETY: by the caller.
    unsafe { enter(hub, run) }
}

/// Serves what is ready in one turn. If nothing is, waits for so long at most, and serves what is ready then.
///
/// @param hub the hub
/// @param ns nanoseconds; 0: never waits; less than 0: for ever
/// @return how many functions and handlers were called, or an error as of ys_hub_run. 0 where ns is less than 0: there is no poster, no
///     source and no timer left
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_hub_run_once(hub: *mut ys_hub, ns: i64) -> isize {
    let limit = Limit::from_nanoseconds(ns).timeout();
    // SAFETY: by the caller.
    unsafe { enter(hub, |hub, _| count(hub.run_once(limit))) }
}

/// Runs one turn, without waiting: for another event loop that watches ys_hub_fd, waits no longer than ys_hub_timeout, and calls this
/// whenever that wait ends.
///
/// @param hub the hub
/// @return as ys_hub_run_once
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_hub_dispatch(hub: *mut ys_hub) -> isize {
    // SAFETY: by the caller.
    unsafe { enter(hub, |hub, _| count(hub.dispatch())) }
}

/// The descriptor of a hub, for poll and epoll, level-triggered: readable when there is something for ys_hub_dispatch, timers aside. It stays
/// the hub's: never read, written or closed.
///
/// @param hub the hub
/// @return the descriptor, or an error
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_hub_fd(hub: *mut ys_hub) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(hub, |hub, _| hub.as_fd().as_raw_fd()) }
}

/// How long another event loop may wait for ys_hub_fd: until the next timer.
///
/// @param hub the hub
/// @param ns receives nanoseconds; less than 0: for ever
/// @return YS_OK; YS_EINVAL; YS_EBUSY
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_hub_timeout(hub: *mut ys_hub, ns: *mut i64) -> c_int {
    if ns.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    let timeout = |hub: &mut Hub, _: &Arc<Ways>| {
        let left = hub.timeout().map_or(-1, |left| i64::try_from(left.as_nanos()).unwrap_or(i64::MAX));
        // SAFETY: by the caller.
        unsafe { *ns = left };
        c_int::from_code(YS_OK)
    };
    // SAFETY: by the caller.
    unsafe { enter(hub, timeout) }
}

/// Makes ys_hub_run return when the function that calls this is done, or at once if it is called beforehand. Nothing is lost: the rest is
/// served when the hub is run again.
///
/// @param hub the hub
/// @return YS_OK; YS_EINVAL; YS_EBUSY
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_hub_stop(hub: *mut ys_hub) -> c_int {
    let stop = |hub: &mut Hub, _: &Arc<Ways>| {
        hub.stop();
        c_int::from_code(YS_OK)
    };
    // SAFETY: by the caller.
    unsafe { enter(hub, stop) }
}

/// Nanoseconds of a timer.
fn time(ns: i64) -> Option<Duration> {
    u64::try_from(ns).ok().map(Duration::from_nanos)
}

/// Calls a function once, when this time has passed; never early, and up to a millisecond late if the hub sleeps.
///
/// @param hub the hub
/// @param ns nanoseconds from now, at least 0: the next turn
/// @param function what is called
/// @param context what it is called with
/// @param drop called with the context, when it is needed no more; NULL: nothing is
/// @param timer receives its number, for ys_hub_cancel; 0 after an error; NULL: it is not asked for
/// @return YS_OK; YS_EINVAL; YS_EBUSY.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_hub_after(
    hub: *mut ys_hub,
    ns: i64,
    function: Option<unsafe extern "C-unwind" fn(hub: *mut ys_hub, context: *mut c_void)>,
    context: *mut c_void,
    drop: Option<unsafe extern "C-unwind" fn(context: *mut c_void)>,
    timer: *mut u64,
) -> c_int {
    let context = Context::new(context, drop);
    let (Some(function), Some(time)) = (function, time(ns)) else { return c_int::from_code(YS_EINVAL) };
    let add = |hub: &mut Hub, ways: Arc<Ways>, context: Context| {
        Ok(Key::Timer(hub.after(time, context.calling(ways, function))))
    };
    // SAFETY: by the caller.
    unsafe { numbered(hub, timer, context, add) }
}

/// Calls a function again and again: a period from now, and at each further whole number of periods. Of the moments that pass while the hub
/// is busy only the last one counts.
///
/// @param hub the hub
/// @param ns nanoseconds of a period, at least 0: in every turn, and the hub never sleeps
/// @param function what is called
/// @param context what it is called with
/// @param drop called with the context, when it is needed no more; NULL: nothing is
/// @param timer receives its number, for ys_hub_cancel; 0 after an error; NULL: it is not asked for
/// @return YS_OK; YS_EINVAL; YS_EBUSY.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_hub_every(
    hub: *mut ys_hub,
    ns: i64,
    function: Option<unsafe extern "C-unwind" fn(hub: *mut ys_hub, context: *mut c_void)>,
    context: *mut c_void,
    drop: Option<unsafe extern "C-unwind" fn(context: *mut c_void)>,
    timer: *mut u64,
) -> c_int {
    let context = Context::new(context, drop);
    let (Some(function), Some(time)) = (function, time(ns)) else { return c_int::from_code(YS_EINVAL) };
    let add = |hub: &mut Hub, ways: Arc<Ways>, context: Context| {
        Ok(Key::Timer(hub.every(time, context.calling(ways, function))))
    };
    // SAFETY: by the caller.
    unsafe { numbered(hub, timer, context, add) }
}

/// Cancels a timer: its function is not called any more, and its context is dropped; inside that function, when it returns.
///
/// @param hub the hub
/// @param timer its number
/// @return YS_OK; YS_EINVAL; YS_EBUSY; YS_ERANGE: it has fired for the last time, or was cancelled
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_hub_cancel(hub: *mut ys_hub, timer: u64) -> c_int {
    let cancel = |hub: &mut Hub, ways: &Arc<Ways>| {
        let key = match ways.numbers().keys.get(&timer) {
            Some(Key::Timer(key)) => *key,
            _ => return c_int::from_code(YS_ERANGE),
        };
        c_int::from_code(if hub.cancel(key) { YS_OK } else { YS_ERANGE })
    };
    // SAFETY: by the caller.
    unsafe { enter(hub, cancel) }
}

/// Watches a descriptor that does not block: a socket, a pipe, or that of a ys_set. The handler is called once in a turn as long as it is
/// ready: level-triggered. It stays the program's, which removes it before it closes it.
///
/// @param hub the hub
/// @param fd the descriptor
/// @param wanted YS_HUB_READABLE, YS_HUB_WRITABLE or both
/// @param handler called with what the descriptor is ready for, bits of ys_hub_ready; that may, rarely, be wrong
/// @param context what it is called with
/// @param drop called with the context, when it is needed no more; NULL: nothing is
/// @param source receives its number, for ys_hub_remove; 0 after an error; NULL: it is not asked for
/// @return YS_OK; YS_EINVAL; YS_EBUSY; YS_ESYSTEM with the cause in errno: EBADF, EEXIST: it is watched already, EPERM: a file on a disk.
///    
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_hub_watch(
    hub: *mut ys_hub,
    fd: c_int,
    wanted: u32,
    handler: Option<unsafe extern "C-unwind" fn(hub: *mut ys_hub, fd: c_int, ready: u32, context: *mut c_void)>,
    context: *mut c_void,
    drop: Option<unsafe extern "C-unwind" fn(context: *mut c_void)>,
    source: *mut u64,
) -> c_int {
    let context = Context::new(context, drop);
    let (Some(handler), Some(wanted)) = (handler, interest(wanted)) else { return c_int::from_code(YS_EINVAL) };
    if fd < 0 {
        errno::set(libc::EBADF);
        return c_int::from_code(YS_ESYSTEM);
    }
    let add = |hub: &mut Hub, ways: Arc<Ways>, context: Context| {
        let serve = move |hub: &mut Hub, at: &mut Borrowed, ready: Ready| {
            let (fd, ready) = (at.0, bits(ready));
            // SAFETY: by the program.
            context.lend(&ways, hub, |hub, context| unsafe { handler(hub, fd, ready, context) });
        };
        hub.watch(Borrowed(fd), wanted, serve).map(Key::Source).map_err(|refused| failed(&refused.error))
    };
    // SAFETY: by the caller.
    unsafe { numbered(hub, source, context, add) }
}

/// Runs a call for a source.
///
/// # Safety
/// As of [`enter`].
unsafe fn with_source(hub: *mut ys_hub, source: u64, call: impl FnOnce(&mut Hub, Source) -> ys_code) -> c_int {
    let call = |hub: &mut Hub, ways: &Arc<Ways>| {
        let key = match ways.numbers().keys.get(&source) {
            Some(Key::Source(key)) => *key,
            _ => return c_int::from_code(YS_ERANGE),
        };
        c_int::from_code(call(hub, key))
    };
    // SAFETY: by the caller.
    unsafe { enter(hub, call) }
}

/// Watches a descriptor for something else from now on.
///
/// @param hub the hub
/// @param source its number
/// @param wanted YS_HUB_READABLE, YS_HUB_WRITABLE or both
/// @return YS_OK; YS_EINVAL; YS_EBUSY; YS_ERANGE: it was removed, or is closed; YS_ESYSTEM with the cause in errno
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_hub_rewatch(hub: *mut ys_hub, source: u64, wanted: u32) -> c_int {
    let Some(wanted) = interest(wanted) else { return c_int::from_code(YS_EINVAL) };
    let change = |hub: &mut Hub, source: Source| match hub.set_interest(source, wanted) {
        Ok(true) => YS_OK,
        Ok(false) => YS_ERANGE,
        Err(cause) => failed(&cause),
    };
    // SAFETY: by the caller.
    unsafe { with_source(hub, source, change) }
}

/// Watches a descriptor no more: its handler is not called again, and its context is dropped; inside that handler, when it returns.
///
/// @param hub the hub
/// @param source its number
/// @return YS_OK; YS_EINVAL; YS_EBUSY; YS_ERANGE: it was removed
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_hub_remove(hub: *mut ys_hub, source: u64) -> c_int {
    // SAFETY: by the caller.
    unsafe { with_source(hub, source, |hub, source| if hub.remove(source) { YS_OK } else { YS_ERANGE }) }
}

/// Frees a hub, and drops the contexts of all that it has, also of functions that were posted. Not inside one of its functions.
///
/// @param hub the hub, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_hub_free(hub: *mut ys_hub) {
    // SAFETY: by the caller.
    unsafe { handle::free(hub.cast::<Handle<Looped>>()) }
}

struct Poster {
    posts: Posts,
    ways: Arc<Ways>,
}

impl Content for Poster {
    const FREE: &'static str = "ys_hub_poster_free";

    type Shared = ();

    fn share(&self) {}
}

/// Makes what another thread posts by. As long as it is there ys_hub_run goes on. Allocates.
///
/// @param hub the hub
/// @param poster where it is put; NULL is put there after an error
/// @return YS_OK; YS_EINVAL; YS_EBUSY
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_hub_poster_open(hub: *mut ys_hub, poster: *mut *mut ys_hub_poster) -> c_int {
    if poster.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { *poster = ptr::null_mut() };
    let make = |hub: &mut Hub, ways: &Arc<Ways>| {
        let made = Handle::make(Poster { posts: hub.handle(), ways: ways.clone() }).cast();
        // SAFETY: by the caller.
        unsafe { *poster = made };
        c_int::from_code(YS_OK)
    };
    // SAFETY: by the caller.
    unsafe { enter(hub, make) }
}

/// Makes another poster of the same hub, for another thread. Allocates.
///
/// @param poster the poster
/// @param other where it is put; NULL is put there after an error
/// @return YS_OK; YS_EINVAL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_hub_poster_clone(poster: *mut ys_hub_poster, other: *mut *mut ys_hub_poster) -> c_int {
    if other.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { *other = ptr::null_mut() };
    let clone = |poster: &mut Poster| {
        let made = Handle::make(Poster { posts: poster.posts.clone(), ways: poster.ways.clone() }).cast();
        // SAFETY: by the caller.
        unsafe { *other = made };
        c_int::from_code(YS_OK)
    };
    // SAFETY: by the caller.
    unsafe { handle::enter(poster.cast::<Handle<Poster>>(), clone) }
}

/// Posts a function: the hub's thread calls it, behind all that this poster has posted before. Never blocks. A hub that is stopped or not
/// run keeps it until it is run again.
///
/// @param poster the poster
/// @param function what is called
/// @param context what it is called with
/// @param drop called with the context, when it is needed no more; NULL: nothing is
/// @return YS_OK; YS_EINVAL; YS_CLOSED: the hub was freed
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_hub_post(
    poster: *mut ys_hub_poster,
    function: Option<unsafe extern "C-unwind" fn(hub: *mut ys_hub, context: *mut c_void)>,
    context: *mut c_void,
    drop: Option<unsafe extern "C-unwind" fn(context: *mut c_void)>,
) -> c_int {
    let context = Context::new(context, drop);
    let Some(function) = function else { return c_int::from_code(YS_EINVAL) };
    let post = |poster: &mut Poster| {
        let run = context.calling(poster.ways.clone(), function);
        c_int::from_code(poster.posts.post(run).map_or(YS_CLOSED, |()| YS_OK))
    };
    // SAFETY: by the caller.
    unsafe { handle::enter(poster.cast::<Handle<Poster>>(), post) }
}

/// Makes the hub stop, as ys_hub_stop, behind all that this poster has posted before. Never blocks.
///
/// @param poster the poster
/// @return YS_OK; YS_EINVAL; YS_CLOSED: the hub was freed
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_hub_post_stop(poster: *mut ys_hub_poster) -> c_int {
    let stop = |poster: &mut Poster| c_int::from_code(poster.posts.stop().map_or(YS_CLOSED, |()| YS_OK));
    // SAFETY: by the caller.
    unsafe { handle::enter(poster.cast::<Handle<Poster>>(), stop) }
}

/// Frees a poster. What it has posted is called all the same.
///
/// @param poster the poster, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_hub_poster_free(poster: *mut ys_hub_poster) {
    // SAFETY: by the caller.
    unsafe { handle::free(poster.cast::<Handle<Poster>>()) }
}
