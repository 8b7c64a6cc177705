//! What the two ends of a ypipe share, and what becomes of messages nobody will read.
//!
//! Wait-free; never sleeps. While the reader lives, reading is its own. When it goes it leaves its cursor here, and from
//! then on whoever publishes disposes of what is left: a message is delivered or dropped, once, and never stranded.

use crossbeam_utils::CachePadded;

use super::chunk::{Chunk, Geometry};
use super::cursor::Cursor;
use super::spare::{Giving, Spare};
use crate::queue::Passive;
use crate::sync::{AtomicBool, AtomicUsize, Ordering, UnsafeCell};

/// A bounded queue makes its chunks at once where that takes at most so many bytes, else as it grows.
const EAGER_BYTES: usize = 1 << 20;

pub(crate) struct Core<T> {
    /// How many messages have been read; wraps. Written by the reader, looked at by the writer when it seems to be out of
    /// room.
    consumed: CachePadded<AtomicUsize>,
    /// Read for every message, written when somebody goes to sleep or ends.
    pub(super) calm: CachePadded<Calm<T>>,
    /// The cursor the reader has left behind; owned by whoever has raised `disposing` from 0.
    orphan: UnsafeCell<Option<Cursor<T>>>,
    /// How many have asked for the disposal of what is left.
    disposing: AtomicUsize,
}

/// The part of the core that hardly changes, in lines of its own.
pub(super) struct Calm<T> {
    /// How the reader sleeps; the writer is the publisher.
    pub(super) reader: Passive,
    /// How the writer sleeps, waiting for room; the reader is the publisher. Unused without a bound.
    pub(super) writer: Passive,
    /// The writer will publish nothing more.
    pub(super) closed: AtomicBool,
    /// How many messages there may be; `usize::MAX` without a bound.
    pub(super) capacity: usize,
    /// The bound as it was asked for.
    pub(super) bound: Option<usize>,
    /// Groups in a chunk that is worth keeping.
    pub(super) groups: usize,
    pub(super) spare: Spare<T>,
}

// SAFETY: the core moves messages from one thread to another, never lends them: `T: Send` is all it takes. The orphaned
// cursor is guarded by `disposing`.
unsafe impl<T: Send> Send for Core<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Core<T> {}

impl<T> Core<T> {
    /// A bound of `usize::MAX` can never be met, and is treated as none. Returns the reader's cursor at the first chunk as
    /// well.
    pub(super) fn new(bound: Option<usize>) -> (Self, Chunk<T>, Cursor<T>) {
        let capacity = bound.unwrap_or(usize::MAX);
        let most = Geometry::<T>::GROUPS;
        let mut giving = Giving::default();
        let (groups, spare, first) = if capacity == usize::MAX {
            // Few messages, little memory: chunks grow until they are worth keeping.
            (most, Spare::growing(), if cfg!(ysuite_loom) { most } else { most.min(16) })
        } else {
            let groups = capacity.div_ceil(Geometry::<T>::SLOTS).div_ceil(2).clamp(1, most);
            // One chunk may be partly read while another is partly written.
            let chunks = (capacity / (groups * Geometry::<T>::SLOTS)).saturating_add(2).min(1 << 16);
            let spare = Spare::keeping(chunks);
            let bytes = groups.saturating_mul(Geometry::<T>::STRIDE).saturating_mul(chunks);
            if bytes <= EAGER_BYTES && !cfg!(ysuite_loom) {
                // One is in use already.
                (1..chunks).for_each(|_| spare.prepare(&mut giving, Chunk::allocate(groups)));
            }
            (groups, spare, groups)
        };
        let calm = Calm {
            reader: Passive::new(),
            writer: if capacity == usize::MAX { Passive::unused() } else { Passive::new() },
            closed: AtomicBool::new(false),
            capacity,
            bound,
            groups,
            spare,
        };
        let chunk = Chunk::allocate(first);
        let core = Self {
            consumed: CachePadded::new(AtomicUsize::new(0)),
            calm: CachePadded::new(calm),
            orphan: UnsafeCell::new(None),
            disposing: AtomicUsize::new(0),
        };
        (core, chunk, Cursor::new(chunk, giving))
    }

    #[inline(always)]
    pub(super) fn is_bounded(&self) -> bool {
        self.calm.capacity != usize::MAX
    }

    /// Reader: has taken so many messages in all.
    #[inline(always)]
    pub(super) fn took(&self, taken: usize) {
        // ORDERING: Release pairs with the Acquire in `consumed`: what is counted as taken has left its slot or will
        // never be looked at there by anybody else.
        self.consumed.store(taken, Ordering::Release);
    }

    /// How many messages have been read; wraps. Never goes back.
    pub(super) fn consumed(&self) -> usize {
        // ORDERING: Acquire pairs with the Release in `took`.
        self.consumed.load(Ordering::Acquire)
    }

    pub(super) fn is_closed(&self) -> bool {
        // ORDERING: Acquire pairs with the Release in `Writer::close`: all that was ever published is visible after it.
        self.calm.closed.load(Ordering::Acquire)
    }

    /// The reader goes, leaving its place. What is in the queue is to be disposed of next.
    pub(super) fn abandon(&self, cursor: Cursor<T>) {
        // SAFETY: the reader's own cursor is the only one until GONE is seen, and only then does anybody look here.
        self.orphan.with_mut(|orphan| unsafe { *orphan = Some(cursor) });
        self.calm.reader.leave();
    }

    /// Disposes of all that is published: `each` is given every message with its position. If somebody else is at it
    /// already, that one will look again, and nothing is given here. Only after [`Passive::is_gone`].
    ///
    /// A panic in `each` (a message's own `Drop`) passes through; the rest is left for the next call or the end.
    pub(super) fn dispose(&self, mut each: impl FnMut(usize, T)) {
        // ORDERING: AcqRel; takes the cursor over from whoever disposed last (`compare_exchange` below), and hands our
        // publication to whoever is at it now.
        if self.disposing.fetch_add(1, Ordering::AcqRel) != 0 {
            return;
        }
        let unwinding = Asked(&self.disposing);
        let mut asked = 1;
        loop {
            // SAFETY: we have raised `disposing` from 0, so the cursor is ours until it is 0 again.
            while let Some((position, message)) = self.orphan.with_mut(|orphan| unsafe {
                let cursor = (*orphan).as_mut()?;
                cursor.take(self).map(|message| (self.consumed(), message))
            }) {
                each(position, message);
            }
            // ORDERING: AcqRel on success releases the cursor to the next disposer; Acquire on failure makes the
            // publication of whoever has asked meanwhile visible to the next round.
            match self.disposing.compare_exchange(asked, 0, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => break,
                Err(now) => asked = now,
            }
        }
        core::mem::forget(unwinding);
    }
}

/// Lets the next one dispose when a message's `Drop` has panicked.
struct Asked<'a>(&'a AtomicUsize);

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        // ORDERING: Release hands the cursor to the next disposer.
        self.0.store(0, Ordering::Release);
    }
}

impl<T> Drop for Core<T> {
    fn drop(&mut self) {
        // What a panicking `Drop` has left behind; and should another one panic here, the memory leaks and nothing worse.
        self.dispose(|_, message| drop(message));
        // SAFETY: both ends are gone, this is the last owner.
        if let Some(cursor) = self.orphan.with_mut(|orphan| unsafe { (*orphan).take() }) {
            cursor.free_chunks();
        }
    }
}
