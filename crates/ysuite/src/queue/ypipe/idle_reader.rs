//! An idle reader: the queue has no reader, which costs nothing, until its writer is found to have published.
//!
//! One owner, the reading side, one thread at a time. All operations are wait-free, except for the drops of messages.

use core::mem::ManuallyDrop;
use core::ptr;

use super::core::{CoreShare, PipeCore};
use super::reader::{Reading, UntypedReader};
use crate::passive::{Barrier, Passive};
use crate::sync::{AtomicPtr, Ordering};

/// The reading side of a lane without a reader. Dropping it neither ends reading nor drops messages: the writer would
/// go on writing messages that no thread reads. End it with [`go`](Self::go) and [`dispose`](Self::dispose) instead.
pub(crate) struct IdleReader {
    core: CoreShare,
}

impl IdleReader {
    pub(super) fn new(core: CoreShare) -> Self {
        Self { core }
    }

    pub(super) fn core(&self) -> &PipeCore {
        &self.core
    }

    /// A reader, if a message has ever been written. The caller puts it to rest again with [`rest`](UntypedReader::rest),
    /// or ends it.
    ///
    /// # Safety
    /// There is no reader, the caller is the only thread that requests one now, and [`go`](Self::go) has not been
    /// called.
    pub(crate) unsafe fn wake(&self) -> Option<UntypedReader> {
        // SAFETY: before GONE the cell belongs to the reading side, which has not left. By the caller no reader has the
        // cursor, and no other thread requests it.
        let cursor = self.core.resting.with_mut(|resting| unsafe { (*resting).take() });
        cursor.or_else(|| self.core.first_cursor()).map(|cursor| Reading::new(self.core.clone(), cursor))
    }

    /// As [`Reading::end_if_closed`].
    pub(crate) fn end_if_closed(&self) -> bool {
        self.core.end_if_closed()
    }

    /// The number of messages that are published, counting no further than it takes to reach `enough`.
    ///
    /// # Safety
    /// There is no reader, none is woken meanwhile, and [`go`](Self::go) has not been called. Several threads may count
    /// at once.
    pub(crate) unsafe fn len_up_to(&self, enough: usize) -> usize {
        if let Some(left) = self.core.left_below_cut() {
            // MUTANT: A lane has a cut only after its receiver has closed; this runs before.
            return left;
        }
        // SAFETY: before GONE the cell belongs to the reading side, which has not left. By the caller no thread takes
        // the cursor or puts one in meanwhile.
        self.core.resting.with(|resting| match unsafe { &*resting } {
            Some(cursor) => cursor.len_up_to(self.core.shape(), enough),
            None => self.core.first_cursor().map_or(0, |cursor| cursor.len_up_to(self.core.shape(), enough)),
        })
    }

    /// Begins the end of reading: once the barrier is passed, every publication returns [`GONE`](crate::passive::GONE).
    pub(crate) fn go(&self) -> Barrier {
        self.core.progress.leave();
        self.core.read_mostly.reader.go()
    }

    /// After [`go`](Self::go): the tokens of a writer that waits for room.
    pub(crate) fn released(&self) -> u32 {
        self.core.read_mostly.writer.published()
    }

    /// How the writer sleeps while it waits for room.
    pub(crate) fn writer_passive(&self) -> &Passive {
        &self.core.read_mostly.writer
    }

    /// After [`go`](Self::go): drops the messages in the queue.
    pub(crate) fn dispose(&self) {
        self.core.drop_all();
    }
}

/// A slot for one idle reader, or none. Any thread may put one in and take it out; the owner decides which threads may
/// use it in place.
pub(crate) struct AtomicSlot {
    core: AtomicPtr<PipeCore>,
}

impl AtomicSlot {
    pub(crate) fn empty() -> Self {
        Self { core: AtomicPtr::new(ptr::null_mut()) }
    }

    /// A slot with a reader, which no other thread has yet.
    pub(crate) fn holding(resting: IdleReader) -> Self {
        Self { core: AtomicPtr::new(resting.core.into_raw()) }
    }

    /// Puts a reader into an empty slot.
    pub(crate) fn put(&self, resting: IdleReader) {
        // ORDERING: Release pairs with the Acquire in `take` and `look`: all that was done with the reader before is
        // visible. A read-modify-write, since `take` is one and may come at the same time: so there is one order of all
        // changes, also for a model checker, whose order of plain stores is weaker.
        let before = self.core.swap(resting.core.into_raw(), Ordering::Release);
        debug_assert!(before.is_null(), "a slot for one");
    }

    /// Takes the reader out, if there is one and no other thread takes it first.
    pub(crate) fn take(&self) -> Option<IdleReader> {
        // ORDERING: Acquire pairs with the Release in `put`: all that was done with the reader before is visible.
        let core = self.core.swap(ptr::null_mut(), Ordering::Acquire);
        // SAFETY: the pointer came from `into_raw` in `put`, and only one thread gets it out by its swap.
        (!core.is_null()).then(|| IdleReader { core: unsafe { CoreShare::from_raw(core) } })
    }

    /// Runs `look` on the reader that is in the slot, if there is one.
    ///
    /// # Safety
    /// No thread takes it out meanwhile.
    pub(crate) unsafe fn look<R>(&self, look: impl FnOnce(&IdleReader) -> R) -> Option<R> {
        // ORDERING: Acquire pairs with the Release in `put`: all that was done with the reader before is visible.
        let core = self.core.load(Ordering::Acquire);
        // SAFETY: the pointer came from `into_raw` in `put`. By the caller the slot still owns it, and this copy is
        // not dropped.
        (!core.is_null()).then(|| look(&ManuallyDrop::new(IdleReader { core: unsafe { CoreShare::from_raw(core) } })))
    }
}

// USER CODE: messages of a lane, where this is its last owner; sender and receiver are gone; re-entrance: anything but
//     this lane; panic: as of `PipeCore`; test: tests/suite/mpsc/endings.rs:
//     a_panicking_drop_in_one_lane_leaves_the_others_in_order
impl Drop for AtomicSlot {
    // MUTANT: Never called: the channel takes its lanes out before it drops the slots.
    fn drop(&mut self) {
        drop(self.take());
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use std::sync::Arc;

    use super::super::lane_of;
    use crate::queue::ypipe::{Reader, Reading};

    #[test]
    fn unread_messages_are_dropped_with_the_pipe() {
        // No message is written; some are, and no reader comes; some are, and a reader takes the first.
        for (written, read) in [(0, 0), (3, 0), (300, 1)] {
            let message = Arc::new(());
            let (mut writer, resting) = lane_of(None);
            (0..written).for_each(|_| assert!(writer.write(message.clone()).is_ok()));
            writer.flush();
            if read != 0 {
                // SAFETY: there is no reader yet, only this thread requests one, and `go` has not been called.
                let mut reader = unsafe { resting.wake() }.unwrap();
                // SAFETY: the lane is for such messages.
                drop(unsafe { Reader::<Arc<()>>::of(&mut reader) }.read());
                Reading::rest(reader);
            }
            drop(resting);
            assert!(writer.write(message.clone()).is_ok());
            assert_eq!(Arc::strong_count(&message), 2 + written - read);
            drop(writer);
            assert_eq!(Arc::strong_count(&message), 1);
        }
    }

    #[test]
    fn a_pipe_without_a_bound_has_room_for_any_number() {
        for bound in [None, Some(usize::MAX)] {
            let (mut writer, _resting) = lane_of(bound);
            assert!(writer.write(1_u8).is_ok() && writer.has_room_for(usize::MAX));
        }
    }
}
