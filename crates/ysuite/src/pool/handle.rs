//! [`Pool`]: a handle that can be cloned and shared.
//!
//! Any thread. Each method states its cost.

use core::fmt;
use core::time::Duration;
use std::time::Instant;

use super::boxed::PoolBox;
use super::class::{Class, ClassStats};
use super::core::PoolCore;
use super::error::{PoolError, TooLong};
use super::message::Message;
use super::operations::{PoolTake, never};
use super::take::TakeFuture;
#[cfg(feature = "select")]
use super::take::Taking;
use crate::operation;
use crate::os::Deadline;
use crate::sync::Arc;

/// A pool of blocks in classes of one size each. Clones are handles of the same pool; messages may outlive all of them.
pub struct Pool {
    core: Arc<PoolCore>,
}

impl Pool {
    /// Makes a pool with these classes, each `(block_bytes, blocks)`, in any order. Allocates all its memory.
    ///
    /// A new message contains the last content of its block: bytes of an earlier message, or zeros, never uninitialised
    /// memory. If a thread must not see earlier messages, use [`zeroed`](Self::zeroed).
    ///
    /// # Errors
    /// If there are no classes, if a class has blocks of 0 bytes or no blocks, if two classes have the same size, and
    /// if there is not enough memory.
    pub fn new(classes: &[(usize, usize)]) -> Result<Self, PoolError> {
        PoolCore::new(classes, false).map(|core| Self { core })
    }

    /// As [`new`](Self::new), but a message is filled with zeros when it is taken.
    ///
    /// # Errors
    /// As in [`new`](Self::new).
    pub fn zeroed(classes: &[(usize, usize)]) -> Result<Self, PoolError> {
        PoolCore::new(classes, true).map(|core| Self { core })
    }

    /// Takes a message of `len` bytes, if a block is free. Never blocks; does not take a block of a larger class
    /// instead.
    #[doc = cost!(pool TRY_TAKE)]
    ///
    /// # Panics
    /// If `len` is more than the pool's [`bound`](Self::bound). Check lengths of external origin, for example with
    /// [`capacity_for`](Self::capacity_for).
    #[inline]
    #[must_use = "the block goes back to its pool at once if the message is not used"]
    pub fn try_take(&self, len: usize) -> Option<Message> {
        self.class(len).try_take(len).map(Message)
    }

    /// Takes a message of `len` bytes. While no block is free the thread spins for a while, then sleeps in the kernel
    /// until one is given back. Waiting threads are woken in turn, one for each block; a thread that comes later may
    /// still be faster.
    #[doc = cost!(pool TAKE)]
    #[doc = cost!(pool TAKE_WAIT)]
    ///
    /// # Panics
    /// As in [`try_take`](Self::try_take).
    #[inline]
    #[must_use = "the block goes back to its pool at once if the message is not used"]
    pub fn take(&self, len: usize) -> Message {
        let class = self.class(len);
        match class.try_take(len) {
            Some(block) => Message(block),
            None => wait(class, len),
        }
    }

    /// As [`take`](Self::take), but returns `None` if no block has become free within `timeout`. `Duration::MAX` sets
    /// no time limit.
    #[doc = cost!(pool TAKE)]
    #[doc = cost!(pool TAKE_WAIT)]
    ///
    /// # Panics
    /// As in [`try_take`](Self::try_take).
    #[must_use = "the block goes back to its pool at once if the message is not used"]
    pub fn take_timeout(&self, len: usize, timeout: Duration) -> Option<Message> {
        let class = self.class(len);
        class.try_take(len).map(Message).or_else(|| wait_until(class, len, Deadline::after(timeout), never))
    }

    /// As [`take`](Self::take), but returns `None` if no block has become free until `deadline`. A free block is taken
    /// even after the deadline.
    #[doc = cost!(pool TAKE)]
    #[doc = cost!(pool TAKE_WAIT)]
    ///
    /// # Panics
    /// As in [`try_take`](Self::try_take).
    #[must_use = "the block goes back to its pool at once if the message is not used"]
    pub fn take_deadline(&self, len: usize, deadline: Instant) -> Option<Message> {
        let class = self.class(len);
        class.try_take(len).map(Message).or_else(|| wait_until(class, len, Deadline::At(deadline), never))
    }

    /// As [`take`](Self::take), for a task. Needs no particular runtime.
    ///
    /// A future that is dropped takes nothing. If its task had been woken for a block, the next that waits is woken.
    /// Where a message is dropped, the waker of a task may run.
    #[doc = cost!(pool TAKE_TASK)]
    ///
    /// # Panics
    /// As in [`try_take`](Self::try_take).
    pub fn take_async(&self, len: usize) -> TakeFuture<'_> {
        TakeFuture::new(self.class(len), len)
    }

    /// A take as a case of [`select`](crate::select()), to receive from. It takes a message only where it is the case
    /// that is performed, and has no error.
    ///
    /// # Panics
    /// In the select, as in [`try_take`](Self::try_take).
    #[cfg(feature = "select")]
    #[must_use = "it takes nothing by itself"]
    pub fn taking(&self, len: usize) -> Taking<'_> {
        Taking { pool: self, len }
    }

    /// As [`take_timeout`](Self::take_timeout); `None` sets no time limit. Also returns `None` once `is_stopped`: the
    /// thread that makes it true calls [`wake_all`](Self::wake_all).
    ///
    /// # Panics
    /// As in [`try_take`](Self::try_take).
    #[cfg(feature = "in-place")]
    #[doc(hidden)]
    #[must_use = "the block goes back to its pool at once if the message is not used"]
    pub fn take_or_stop(
        &self,
        len: usize,
        timeout: Option<Duration>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Option<Message> {
        let class = self.class(len);
        let deadline = || timeout.map_or(Deadline::Never, Deadline::after);
        class.try_take(len).map(Message).or_else(|| wait_until(class, len, deadline(), is_stopped))
    }

    /// Wakes all threads that wait for a block, without giving them one. Any thread.
    #[cfg(feature = "in-place")]
    #[doc(hidden)]
    pub fn wake_all(&self) {
        self.core.classes.iter().for_each(Class::wake_all);
    }

    // USER CODE: the value's `Drop`, where no class fits and `try_boxed` or `boxed` panics; nothing is taken yet;
    //     re-entrance: any; panic: none is caught, as there is nothing to undo; test: tests/suite/pool/values.rs:
    //     alignment_is_honoured_or_refused
    /// Moves a value into a block of the smallest class that has the room and the alignment, if one is free. Never
    /// blocks.
    #[doc = cost!(pool TRY_TAKE)]
    ///
    /// # Errors
    /// If no block of that class is free: the error is the value.
    ///
    /// # Panics
    /// If the value is larger than the pool's [`bound`](Self::bound), or its alignment is larger than that of the
    /// pool's blocks: 64, or 8 if all have less than 64 bytes.
    #[inline]
    pub fn try_boxed<T>(&self, value: T) -> Result<PoolBox<T>, T> {
        match self.class_of::<T>().try_take(size_of::<T>()) {
            Some(block) => Ok(PoolBox::new(block, value)),
            None => Err(value),
        }
    }

    /// Moves a value into a block; waits for one as [`take`](Self::take) does.
    #[doc = cost!(pool TAKE)]
    #[doc = cost!(pool TAKE_WAIT)]
    ///
    /// # Panics
    /// As in [`try_boxed`](Self::try_boxed).
    #[inline]
    #[must_use]
    pub fn boxed<T>(&self, value: T) -> PoolBox<T> {
        let class = self.class_of::<T>();
        let block = class.try_take(size_of::<T>()).unwrap_or_else(|| wait(class, size_of::<T>()).into_block());
        PoolBox::new(block, value)
    }

    /// Returns the length of the longest possible message: the size of the largest class.
    #[must_use]
    pub fn bound(&self) -> usize {
        self.core.bounds[self.core.bounds.len() - 1]
    }

    /// Returns the [capacity](Message::capacity) that a message of `len` bytes would have.
    ///
    /// # Errors
    /// If `len` is more than the pool's [`bound`](Self::bound).
    pub fn capacity_for(&self, len: usize) -> Result<usize, TooLong> {
        self.core.class_for(len).map(|class| class.bytes).ok_or_else(|| TooLong { len, bound: self.bound() })
    }

    /// Returns the state of each class, by size, ascending. Reads the slot of every block, which takes some
    /// microseconds for each thousand blocks. May be out of date while other threads take and free.
    #[must_use]
    pub fn stats(&self) -> Vec<ClassStats> {
        self.core.classes.iter().map(Class::stats).collect()
    }

    #[inline(always)]
    pub(super) fn class(&self, len: usize) -> &Class {
        self.core.class_for(len).unwrap_or_else(|| too_long(len, self.bound()))
    }

    #[inline(always)]
    fn class_of<T>(&self) -> &Class {
        let fits = |class: &&Class| size_of::<T>() <= class.bytes && align_of::<T>() <= class.align();
        self.core.classes.iter().find(fits).unwrap_or_else(|| does_not_fit::<T>(self.bound()))
    }
}

/// Waits without a deadline.
#[cold]
#[inline(never)]
fn wait(class: &Class, len: usize) -> Message {
    let mut place = None;
    let Ok(()) = operation::perform(PoolTake::new(class, len, never), &mut place);
    place.expect("nothing else ends it")
}

/// Waits for a message until the deadline, or until `is_stopped`. [`Class::wake_all`] wakes the threads that sleep when
/// that changes.
#[cold]
#[inline(never)]
fn wait_until(class: &Class, len: usize, deadline: Deadline, is_stopped: impl Fn() -> bool) -> Option<Message> {
    let mut place = None;
    operation::block(PoolTake::new(class, len, is_stopped), &mut place, deadline);
    place
}

#[cold]
#[inline(never)]
fn too_long(len: usize, bound: usize) -> ! {
    panic!("{}", TooLong { len, bound });
}

#[cold]
#[inline(never)]
fn does_not_fit<T>(bound: usize) -> ! {
    panic!(
        "a value of {} bytes, aligned to {}, fits into no block of a pool with a bound of {bound} bytes",
        size_of::<T>(),
        align_of::<T>()
    );
}

impl Clone for Pool {
    fn clone(&self) -> Self {
        self.core.add_handle();
        Self { core: self.core.clone() }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.core.remove_handle();
    }
}

/// The classes, not their state.
impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let classes: Vec<_> = self.core.classes.iter().map(|class| (class.bytes, class.blocks)).collect();
        f.debug_struct("Pool").field("classes", &classes).finish_non_exhaustive()
    }
}
