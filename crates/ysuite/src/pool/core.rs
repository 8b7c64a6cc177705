//! The state that all handles, messages and threads of a pool share: the classes, their memory, and when that is freed.
//!
//! Any thread; lock-free. The memory of the blocks is freed when the last handle and the last message are gone.
//! Dropping the last handle gathers all free blocks. A thread that gives a block back later gathers that one. The
//! thread that gathers the last block frees the memory. So nothing is counted while there is a handle.

use core::alloc::Layout;
use core::ptr::NonNull;
// A number for each class: not the façade's, a model need not explore it.
use core::sync::atomic::AtomicUsize as PlainUsize;

use super::block::{LINE, layout};
use super::class::Class;
use super::error::PoolError;
use super::magazine::Entry;
use super::thread_cache::ROW;
use crate::os;
use crate::sync::{Arc, AtomicUsize, Ordering};

pub(super) struct PoolCore {
    /// By size, ascending.
    pub(super) classes: Box<[Class]>,
    /// The block size of each class: choosing a class reads nothing else.
    pub(super) bounds: Box<[usize]>,
    handles: AtomicUsize,
    /// The number of blocks not yet gathered, and one for the last handle.
    left: AtomicUsize,
    memory: NonNull<u8>,
    layout: Layout,
}

// SAFETY: any thread may use the memory behind the pointers: a block belongs to the thread that took its entry.
unsafe impl Send for PoolCore {}
// SAFETY: a block belongs to the thread that took its entry; all fields are atomic or never change.
unsafe impl Sync for PoolCore {}

/// Checks the classes and sorts them; returns them with the layout of their memory.
fn check(classes: &[(usize, usize)]) -> Result<(Vec<(usize, usize)>, Layout), PoolError> {
    if classes.is_empty() {
        return Err(PoolError::NoClasses);
    }
    // One by one: there are few, and the standard library's sort is 3,000 lines of code.
    let mut sorted = Vec::with_capacity(classes.len());
    for class in classes {
        sorted.insert(sorted.partition_point(|before| before < class), *class);
    }
    let mut size = 0_usize;
    for (at, &(block_bytes, blocks)) in sorted.iter().enumerate() {
        if block_bytes == 0 {
            return Err(PoolError::NoBytes);
        }
        if blocks == 0 {
            return Err(PoolError::NoBlocks { block_bytes });
        }
        if at > 0 && sorted[at - 1].0 == block_bytes {
            return Err(PoolError::Duplicate { block_bytes });
        }
        let fits = block_bytes <= u32::MAX as usize && blocks <= Entry::MOST;
        let all = layout(block_bytes).1.filter(|_| fits).and_then(|stride| stride.checked_mul(blocks));
        size = all.and_then(|all| size.checked_add(all)).ok_or(PoolError::TooLarge { block_bytes, blocks })?;
    }
    let (block_bytes, blocks) = sorted[sorted.len() - 1];
    let layout = Layout::from_size_align(size, LINE).map_err(|_| PoolError::TooLarge { block_bytes, blocks })?;
    Ok((sorted, layout))
}

impl PoolCore {
    pub(super) fn new(classes: &[(usize, usize)], zeroed: bool) -> Result<Arc<Self>, PoolError> {
        static CLASSES: PlainUsize = PlainUsize::new(0);
        let (sorted, memory_layout) = check(classes)?;
        let memory =
            os::allocate_zeroed(memory_layout).ok_or(PoolError::OutOfMemory { bytes: memory_layout.size() })?;
        let mut offset = 0;
        let (mut made, mut bounds) = (Vec::with_capacity(sorted.len()), Vec::with_capacity(sorted.len()));
        let mut all_blocks = 0;
        for (bytes, blocks) in sorted {
            // MUTANT: Speed only: how evenly numbers spread classes over a thread's caches.
            // ORDERING: Relaxed; guards nothing, and pairs with nothing: the numbers only have to differ.
            let index_in_row = CLASSES.fetch_add(1, Ordering::Relaxed) % ROW;
            // SAFETY: `check` added up the same strides; `os::allocate_zeroed` returns zeros.
            made.push(unsafe { Class::new(memory.add(offset), bytes, blocks, index_in_row, zeroed) });
            bounds.push(bytes);
            offset += layout(bytes).1.expect("checked") * blocks;
            all_blocks += blocks;
        }
        let mut core = Arc::new(Self {
            classes: made.into_boxed_slice(),
            bounds: bounds.into_boxed_slice(),
            handles: AtomicUsize::new(1),
            left: AtomicUsize::new(all_blocks + 1),
            memory,
            layout: memory_layout,
        });
        let address = Arc::as_ptr(&core);
        let own = Arc::get_mut(&mut core).expect("it is not shared yet");
        own.classes.iter_mut().for_each(|class| class.bind(address));
        // The share of the blocks: given up with their memory.
        core::mem::forget(core.clone());
        Ok(core)
    }

    /// The smallest class with room for `len` bytes.
    #[inline(always)]
    pub(super) fn class_for(&self, len: usize) -> Option<&Class> {
        self.bounds.iter().position(|bound| *bound >= len).map(|at| &self.classes[at])
    }

    pub(super) fn add_handle(&self) {
        // ORDERING: Relaxed; the thread that clones a handle has one, so the count cannot reach 0 meanwhile.
        self.handles.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn remove_handle(&self) {
        // ORDERING: AcqRel pairs with itself: the thread that drops the last handle sees what the others did with
        // theirs.
        if self.handles.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.classes.iter().for_each(Class::close);
            let free: usize = self.classes.iter().map(|class| class.depot.drain()).sum();
            self.gathered(free + 1);
        }
    }

    // USER CODE: the allocator; all blocks are back, and there is no handle; re-entrance: none (nothing of the pool is
    //     left to use); panic: as of `Bank::extend`; test: tests/suite/pool/endings.rs:
    //     the_pool_and_its_last_messages_end_at_once
    /// `blocks` blocks were taken out of the closed pool for good; with the last ones the memory is freed.
    pub(super) fn gathered(&self, blocks: usize) {
        // ORDERING: AcqRel pairs with itself: the thread that gathers the last block sees all that was done with the
        // others.
        if blocks != 0 && self.left.fetch_sub(blocks, Ordering::AcqRel) == blocks {
            // MUTANT: Models only: it reports an access to the model checker.
            self.classes.iter().for_each(|class| class.race_check.touch_all());
            // SAFETY: all blocks were gathered, so no thread has one or can take one.
            unsafe { os::deallocate(self.memory, self.layout) };
            // SAFETY: gives up the share that `new` forgot, by the pointer that every class has from it, and a pool has
            // a class; the caller has a share of its own.
            unsafe { Arc::decrement_strong_count(self.classes[0].core) };
        }
    }

    /// Whether the memory is freed.
    pub(super) fn is_over(&self) -> bool {
        // ORDERING: Relaxed; the caller does not touch the memory, so this pairs with nothing.
        self.left.load(Ordering::Relaxed) == 0
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::*;

    #[cfg(target_pointer_width = "64")]
    #[test]
    fn a_class_of_the_largest_blocks_and_of_the_most_is_allowed_and_none_beyond() {
        let (block_bytes, blocks) = (u32::MAX as usize, Entry::MOST);
        assert_eq!(check(&[(block_bytes, blocks)]).map(|(sorted, _)| sorted), Ok(vec![(block_bytes, blocks)]));
        for (block_bytes, blocks) in [(block_bytes + 1, 1), (1, blocks + 1)] {
            assert_eq!(check(&[(block_bytes, blocks)]).map(drop), Err(PoolError::TooLarge { block_bytes, blocks }));
        }
    }

    #[test]
    fn it_is_over_with_the_last_of_its_handles() {
        let pool = PoolCore::new(&[(8, 5)], false).unwrap();
        pool.add_handle();
        pool.remove_handle();
        assert!(!pool.is_over());
        pool.remove_handle();
        assert!(pool.is_over());
    }

    /// A thread that has given a block back may find that another has gathered it, as the last of all.
    #[test]
    fn who_gathers_nothing_ends_nothing() {
        let pool = PoolCore::new(&[(8, 5)], false).unwrap();
        let (pool, _other) = (pool.clone(), pool);
        pool.remove_handle();
        let shares = Arc::strong_count(&pool);
        pool.gathered(0);
        assert_eq!((pool.is_over(), Arc::strong_count(&pool)), (true, shares));
    }
}
