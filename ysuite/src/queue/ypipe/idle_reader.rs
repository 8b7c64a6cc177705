//! A reading end at rest: nobody reads the pipe, which costs nothing, until its writer is found to have published.
//!
//! One owner, the reading side, one thread at a time. Everything is wait-free, but for what dropping messages does.

use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ptr;

use super::core::PipeCore;
use super::reader::Reader;
use crate::passive::{Barrier, Passive};
use crate::sync::{Arc, AtomicPtr, Ordering};

/// The reading end of a lane, while nobody reads. Dropping it neither ends reading nor drops messages: the writer goes on
/// writing for nobody. End it with [`go`](Self::go) and [`dispose`](Self::dispose) instead.
pub(crate) struct IdleReader<T> {
    core: Arc<PipeCore<T>>,
}

impl<T> IdleReader<T> {
    pub(super) fn new(core: Arc<PipeCore<T>>) -> Self {
        Self { core }
    }

    /// A reader, if anything has ever been written. It is to be put to rest again with [`rest`](Self::rest), or to end.
    ///
    /// # Safety
    /// There is no reader, and no end has been begun.
    pub(crate) unsafe fn wake(&self) -> Option<Reader<T>> {
        // SAFETY: by the caller.
        unsafe { self.core.wake_cursor() }.map(|cursor| Reader::new(self.core.clone(), cursor))
    }

    /// Puts a reader to rest.
    pub(crate) fn rest(reader: Reader<T>) {
        reader.into_rest();
    }

    /// Whether the writer is gone. What it published may still be here.
    pub(crate) fn is_closed(&self) -> bool {
        self.core.is_closed()
    }

    /// How many messages are published, counting no further than it takes to reach `enough`.
    ///
    /// # Safety
    /// There is no reader, none begins meanwhile, and no end has been begun.
    pub(crate) unsafe fn len_up_to(&self, enough: usize) -> usize {
        // SAFETY: by the caller.
        unsafe { self.core.resting_len(enough) }
    }

    /// Begins the end of reading: once the barrier is passed, every publication is answered with
    /// [`GONE`](crate::passive::GONE).
    pub(crate) fn go(&self) -> Barrier {
        self.core.read_mostly.reader.go()
    }

    /// After the end has begun: the tokens of a writer that waits for room.
    pub(crate) fn released(&self) -> u32 {
        self.core.read_mostly.writer.published()
    }

    /// How the writer sleeps while it waits for room.
    pub(crate) fn writer_passive(&self) -> &Passive {
        &self.core.read_mostly.writer
    }

    /// After the end has begun: drops what is there.
    pub(crate) fn dispose(&self) {
        self.core.dispose(|_, message| drop(message));
    }
}

/// Room for one resting end, or none. Any thread puts one in and takes it out; who may look is for the owner to say.
pub(crate) struct AtomicSlot<T> {
    core: AtomicPtr<PipeCore<T>>,
    /// What is in it is owned.
    owned: PhantomData<IdleReader<T>>,
}

impl<T> AtomicSlot<T> {
    pub(crate) fn empty() -> Self {
        Self { core: AtomicPtr::new(ptr::null_mut()), owned: PhantomData }
    }

    /// Puts an end into an empty berth.
    pub(crate) fn put(&self, resting: IdleReader<T>) {
        // ORDERING: Release pairs with the Acquire in `take` and `look`. A read-modify-write, since `take` is one that may
        // come at the same time: so there is one order of all changes, also for a model checker that has a weaker notion
        // of it for stores.
        let before = self.core.swap(Arc::into_raw(resting.core).cast_mut(), Ordering::Release);
        debug_assert!(before.is_null(), "a berth for one");
    }

    /// Takes the end out, if there is one and nobody else is faster.
    pub(crate) fn take(&self) -> Option<IdleReader<T>> {
        // ORDERING: Acquire pairs with the Release in `put`.
        let core = self.core.swap(ptr::null_mut(), Ordering::Acquire);
        // SAFETY: it came from `into_raw` in `put`, and whoever swaps it out is the only one.
        (!core.is_null()).then(|| IdleReader { core: unsafe { Arc::from_raw(core) } })
    }

    /// Looks at the end that is in, if there is one.
    ///
    /// # Safety
    /// Nobody takes it out meanwhile.
    pub(crate) unsafe fn look<R>(&self, look: impl FnOnce(&IdleReader<T>) -> R) -> Option<R> {
        // ORDERING: Acquire pairs with the Release in `put`.
        let core = self.core.load(Ordering::Acquire);
        // SAFETY: by the caller the berth goes on owning it; this copy is not dropped.
        (!core.is_null()).then(|| look(&ManuallyDrop::new(IdleReader { core: unsafe { Arc::from_raw(core) } })))
    }
}

impl<T> Drop for AtomicSlot<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use std::sync::Arc;

    use super::super::lane;

    #[test]
    fn what_was_written_for_nobody_is_dropped_with_the_pipe() {
        // Nothing was written, some messages that nobody has looked for, and some of which a reader took the first.
        for (written, read) in [(0, 0), (3, 0), (300, 1)] {
            let message = Arc::new(());
            let (mut writer, resting) = lane(None, 1);
            (0..written).for_each(|_| assert!(writer.write(message.clone()).is_ok()));
            writer.flush();
            if read != 0 {
                // SAFETY: there is no reader yet, and no end.
                let mut reader = unsafe { resting.wake() }.unwrap();
                drop(reader.read());
                super::IdleReader::rest(reader);
            }
            drop(resting);
            assert!(writer.write(message.clone()).is_ok());
            assert_eq!(Arc::strong_count(&message), 2 + written - read);
            drop(writer);
            assert_eq!(Arc::strong_count(&message), 1);
        }
    }
}
