//! Pools: messages of any length up to a bound, which go through channels by their address.

use core::ffi::{c_int, c_void};
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};
use core::slice;
use std::sync::Arc;

use ysuite::in_place::Stop;
use ysuite::pool::{Message, Pool, PoolError};

use crate::code::{Answer, YS_EINVAL, YS_ENOMEM, YS_ETOOMANY, YS_OK, ys_code};
use crate::errno;
use crate::handle::{self, Content, Everyones, Handle};
use crate::limit::Limit;
use crate::loans::{self, GUARD};
use crate::stopper::{self, Stops, ys_stopper};

/// A pool of blocks for messages of any length up to a bound. Any number of threads at once. Freed by ys_pool_free.
pub struct ys_pool {
    _opaque: [u8; 0],
}

/// One size of a pool's blocks.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ys_pool_class {
    /// How many bytes each has.
    pub bytes: usize,
    /// How many there are.
    pub blocks: usize,
}

/// The content of the handle.
struct Blocks {
    pool: Pool,
    stop: Arc<PoolStop>,
}

/// What stops the threads that wait for a block, or some of them.
struct PoolStop(Stop);

impl PoolStop {
    fn of(pool: &Pool) -> Arc<Self> {
        let waits_there = pool.clone();
        Arc::new(Self(Stop::with(Some(Box::new(move || waits_there.wake_all())))))
    }
}

impl Stops for PoolStop {
    fn stop(&self) {
        self.0.set();
    }

    fn is_stopped(&self) -> bool {
        self.0.is_set()
    }
}

impl Content for Blocks {
    const FREE: &'static str = "ys_pool_free";

    type Shared = Arc<PoolStop>;

    fn share(&self) -> Arc<PoolStop> {
        self.stop.clone()
    }
}

impl Everyones for Blocks {}

impl Blocks {
    fn new(pool: Pool) -> Self {
        let stop = PoolStop::of(&pool);
        Self { pool, stop }
    }
}

/// The smallest block. The library aligns smaller ones to 8 only, and messages of C are to be aligned to 16.
const SMALLEST: usize = 64;

// MUTANT: No array has that many classes; the library refuses it as well.
/// Opens a pool. Allocates all its memory. A message begins with what its block last held, or zeros.
///
/// @param classes its sizes, each with bytes and blocks of at least 1, no two of the same bytes. Blocks of less than 64 bytes are
///     made 64, together with all such
/// @param n how many classes, at least 1
/// @param pool where the pool is put; NULL is put there after an error
/// @return YS_OK; YS_EINVAL; YS_ENOMEM
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_pool_open(classes: *const ys_pool_class, n: usize, pool: *mut *mut ys_pool) -> c_int {
    if pool.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { *pool = ptr::null_mut() };
    if classes.is_null() || n == 0 || n > isize::MAX as usize / size_of::<ys_pool_class>() {
        return c_int::from_code(YS_EINVAL);
    }
    handle::make(|| {
        // SAFETY: by the caller that many are there.
        let classes = unsafe { slice::from_raw_parts(classes, n) };
        match sizes(classes).and_then(|sizes| Pool::new(&sizes).map_err(refusal)) {
            Ok(made) => {
                // SAFETY: by the caller.
                unsafe { *pool = Handle::make(Blocks::new(made)).cast() };
                c_int::from_code(YS_OK)
            }
            Err(code) => c_int::from_code(code),
        }
    })
}

/// The classes as the library takes them.
fn sizes(classes: &[ys_pool_class]) -> Result<Vec<(usize, usize)>, ys_code> {
    let mut sizes: Vec<(usize, usize)> = Vec::with_capacity(classes.len());
    for (index, class) in classes.iter().enumerate() {
        let is_double = classes[..index].iter().any(|other| other.bytes == class.bytes);
        // MUTANT: The library refuses it as well.
        if class.bytes == 0 || class.blocks == 0 || is_double {
            return Err(YS_EINVAL);
        }
        let bytes = class.bytes.max(SMALLEST).checked_add(GUARD).ok_or(YS_EINVAL)?;
        match sizes.iter_mut().find(|(of, _)| *of == bytes) {
            Some((_, blocks)) => *blocks = blocks.checked_add(class.blocks).ok_or(YS_EINVAL)?,
            None => sizes.push((bytes, class.blocks)),
        }
    }
    Ok(sizes)
}

fn refusal(error: PoolError) -> ys_code {
    match error {
        PoolError::OutOfMemory { .. } => YS_ENOMEM,
        _ => YS_EINVAL,
    }
}

/// Takes a message out of the pool: a block of the smallest class that has the room. Waits for one where none is free. Lock-free
/// where one is. Any number of threads at once.
///
/// @param pool the pool
/// @param len how many bytes the message has, at most those of the largest class
/// @param ns nanoseconds; 0: never waits; less than 0: for ever
/// @return the address of its first byte, aligned to 16, to be freed by ys_msg_free on any thread. NULL with the cause in errno:
///     EAGAIN (where ns is 0) or ETIMEDOUT, as YS_EMPTY and YS_TIMEOUT elsewhere: no block is free; ECANCELED, as YS_STOPPED: likewise,
///     and ys_stop was called for the pool; EMSGSIZE: it is too long; EINVAL: no pool
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_pool_take(pool: *mut ys_pool, len: usize, ns: i64) -> *mut c_void {
    // SAFETY: by the caller.
    unsafe { take(pool, len, ns, || false) }
}

/// As ys_pool_take, and the wait also ends by a stopper of ys_pool_wait_stopper: that of this call, not those of others.
///
/// @param pool the pool
/// @param len how many bytes
/// @param ns nanoseconds
/// @param stopper the stopper; NULL: none
/// @return as ys_pool_take; ECANCELED in errno also if ys_stop was called for the stopper, and no block is free
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_pool_take_or_stop(
    pool: *mut ys_pool,
    len: usize,
    ns: i64,
    stopper: *const ys_stopper,
) -> *mut c_void {
    // SAFETY: by the caller. Any thread may use a stopper.
    unsafe { take(pool, len, ns, || !stopper.is_null() && stopper::ys_is_stopped(stopper) == 1) }
}

/// # Safety
/// As of [`handle::look`].
unsafe fn take(pool: *mut ys_pool, len: usize, ns: i64, is_stopped_here: impl Fn() -> bool) -> *mut c_void {
    let limit = Limit::from_nanoseconds(ns);
    let take = |Blocks { pool, stop: waits }: &Blocks| {
        if len > pool.bound() - GUARD {
            errno::set(libc::EMSGSIZE);
            return ptr::null_mut();
        }
        let is_stopped = || waits.is_stopped() || is_stopped_here();
        let taken = match limit {
            Limit::Now => pool.try_take(len + GUARD),
            _ => pool.take_or_stop(len + GUARD, limit.timeout(), &is_stopped),
        };
        match taken {
            Some(mut message) => {
                message.truncate(len);
                let capacity = message.capacity() - GUARD;
                loans::lent(message, capacity).as_ptr().cast::<c_void>()
            }
            None => {
                errno::set(match limit {
                    _ if is_stopped() => libc::ECANCELED,
                    Limit::Now => libc::EAGAIN,
                    _ => libc::ETIMEDOUT,
                });
                ptr::null_mut()
            }
        }
    };
    // SAFETY: by the caller. Any thread may use a pool.
    unsafe { handle::look(pool.cast_const().cast::<Handle<Blocks>>(), take) }
}

/// Runs a call on a message that stays the caller's.
///
/// # Safety
/// NULL, or a message of a pool, which no other thread uses.
#[inline(always)]
unsafe fn with<A: Answer>(function: &str, message: *const c_void, call: impl FnOnce(&mut Message) -> A) -> A {
    let Some(first) = NonNull::new(message.cast_mut().cast::<u8>()) else { return A::from_code(YS_EINVAL) };
    // SAFETY: by the caller; it is not dropped here.
    unsafe {
        loans::check(function, first);
        call(&mut ManuallyDrop::new(Message::from_raw(first)))
    }
}

/// How many bytes a pool's message has. Wait-free.
///
/// @param message the message
/// @return bytes; 0 with EINVAL in errno: NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_msg_len(message: *const c_void) -> usize {
    // SAFETY: by the caller.
    unsafe { with("ys_msg_len", message, |message| message.len()) }
}

/// How many bytes a pool's message can have: those of its block. Wait-free.
///
/// @param message the message
/// @return bytes; 0 with EINVAL in errno: NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_msg_capacity(message: *const c_void) -> usize {
    // SAFETY: by the caller.
    unsafe { with("ys_msg_capacity", message, |message| message.capacity() - GUARD) }
}

/// Changes how many bytes a pool's message has. It stays where it is; bytes that are new are 0.
///
/// @param message the message
/// @param len how many bytes, at most ys_msg_capacity
/// @return YS_OK; YS_EINVAL: NULL; YS_ETOOMANY: its block is smaller, and nothing has changed
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_msg_resize(message: *mut c_void, len: usize) -> c_int {
    let resize = |message: &mut Message| {
        let is_done = len <= message.capacity() - GUARD && message.resize(len, 0).is_ok();
        c_int::from_code(if is_done { YS_OK } else { YS_ETOOMANY })
    };
    // SAFETY: by the caller.
    unsafe { with("ys_msg_resize", message, resize) }
}

/// Gives a message back to its pool, and wakes a thread that waits for it. Any thread; never blocks. The callback of a channel
/// whose messages are addresses of messages may call it.
///
/// A message that was freed before ends the process with a sentence, as long as the block was not taken again and
/// its pool exists: a word in front of each block shows it, which ys_msg_len, ys_msg_capacity and ys_msg_resize
/// check as well. The checked build also finds an address that is no message of a pool, and writes after the block.
///
/// @param message the message, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_msg_free(message: *mut c_void) {
    if let Some(first) = NonNull::new(message.cast::<u8>()) {
        // SAFETY: by the caller it is a message of a pool, and it is not used any more.
        handle::make(|| drop(unsafe { loans::given_back("ys_msg_free", first) }));
    }
}

/// Makes a stopper for the pool, by which any thread ends the waits for a block: see ys_stop. Allocates. Any
/// thread.
///
/// @param pool the pool
/// @param stopper where it is put, to be freed by ys_stopper_free; the pool's memory lives as long. NULL is put there after an
///     error
/// @return YS_OK; YS_EINVAL: a null pointer
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_pool_stopper(pool: *const ys_pool, stopper: *mut *mut ys_stopper) -> c_int {
    // SAFETY: by the caller.
    unsafe { stopper::make(pool.cast::<Handle<Blocks>>(), stopper, Arc::clone) }
}

/// Makes a stopper for those waits that it is given to, by ys_pool_take_or_stop: see ys_stop. Allocates. Any thread.
///
/// @param pool the pool
/// @param stopper where it is put, to be freed by ys_stopper_free; the pool's memory lives as long. NULL is put there after an
///     error
/// @return YS_OK; YS_EINVAL: a null pointer
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_pool_wait_stopper(pool: *const ys_pool, stopper: *mut *mut ys_stopper) -> c_int {
    let give = |blocks: &Blocks| {
        // SAFETY: by the caller.
        unsafe { stopper::give(stopper, PoolStop::of(&blocks.pool)) }
    };
    // SAFETY: by the caller. Any thread may use a pool.
    unsafe { stopper::at(stopper, || handle::look(pool.cast::<Handle<Blocks>>(), give)) }
}

/// Frees a pool. Its memory lives until the last of its messages is freed.
///
/// @param pool the pool, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_pool_free(pool: *mut ys_pool) {
    // SAFETY: by the caller.
    unsafe { handle::free(pool.cast::<Handle<Blocks>>()) }
}
