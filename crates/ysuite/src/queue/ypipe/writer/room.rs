//! Room for a writer: the chunks and the credit that its cursor has, and how it gets more. The slow paths of
//! [`WriteCursor`].
//!
//! The writer's thread only. Wait-free, except for the allocator.

use core::ptr::{self, NonNull};

use super::WriteCursor;
use crate::queue::ypipe::chunk::{Chunk, Places, Shape};
use crate::queue::ypipe::core::{PipeCore, UNBOUNDED};
use crate::statistics::COUNTING;
use crate::sync::Ordering;

impl WriteCursor {
    pub(super) fn new(core: &PipeCore, chunk: Chunk) -> Self {
        let shape = core.shape();
        let mut cursor = Self::at(shape, chunk.first(), chunk, chunk.lap(), chunk.end(shape));
        cursor.limit = core.limit(0);
        cursor.set_full(shape, core);
        cursor
    }

    /// A cursor without a chunk: no message is hidden, and the first write takes the slow path, which makes a chunk.
    pub(super) fn idle(shape: &'static Shape) -> Self {
        // An address that is never dereferenced, and at which no group ends.
        let group = NonNull::new(ptr::without_provenance_mut(shape.stride())).expect("not null");
        Self::at(shape, group, Chunk::nowhere(), shape.lap(), group)
    }

    /// A cursor that has written nothing, and has no room as yet.
    fn at(shape: &'static Shape, group: NonNull<u8>, chunk: Chunk, lap: usize, end: NonNull<u8>) -> Self {
        let next = NonNull::new(group.as_ptr().wrapping_add(shape.first())).expect("not null");
        Self {
            next,
            stop: next.as_ptr(),
            group,
            lap,
            full: next,
            hidden_from: 0,
            chunk,
            end,
            before: 0,
            held: None,
            emptied: None,
            limit: 0,
        }
    }

    /// Makes the first chunk of an idle cursor. False: nothing will ever be written here, as the queue is closed or has
    /// no room.
    #[cold]
    pub(super) fn begin(&mut self, core: &PipeCore) -> bool {
        let may_begin = !core.is_closed() && core.read_mostly.capacity != 0;
        if may_begin {
            *self = Self::new(core, core.begin());
        }
        may_begin
    }

    /// Becomes an idle cursor: with the queue closed it has no room, ever. Call only while no message is hidden.
    pub(super) fn end(&mut self, shape: &'static Shape) {
        // MUTANT: The assignment that follows drops the old cursor.
        self.leave_emptied();
        let mut ended = Self::idle(shape);
        ended.before = self.position(shape);
        *self = ended;
    }

    // MUTANT: In-place builds only. Killed only by `in_place::windows_and_calls_are_one_queue`.
    /// Makes room for one more message: the next group, the next chunk, or credit the reader has given. False: full.
    #[inline(never)]
    pub(super) fn room<G: Places>(&mut self, core: &PipeCore) -> bool {
        let shape = G::of(core.shape());
        if self.group == self.end {
            // No group begins at the end of its chunk: this cursor is idle.
            return self.begin(core);
        }
        let position = self.position(shape);
        if self.limit == position {
            self.limit = core.limit(position);
            if self.limit == position {
                return false;
            }
        }
        if self.is_at_end(shape) {
            if self.step(shape) {
                return true;
            }
            if self.is_hiding() {
                self.hold(shape);
            }
            self.before = position;
            // SAFETY: the cursor is in a group of its chunk, so the address after that is at most one past the last
            // group.
            self.group = unsafe { self.group.add(shape.stride()) };
            if self.group == self.end {
                self.next_chunk(core);
            }
            // SAFETY: `FIRST` is less than a group's length, and `group` is one of the chunk's.
            self.next = unsafe { self.group.add(shape.first()) };
        }
        self.set_full(shape, core);
        true
    }

    // MUTANT: With statistics the condition is false anyway. Killed only by
    // `room_that_was_asked_for_is_no_more_than_there_is`, `a_bound_is_exact_and_gives_the_message_back` and
    // `a_mark_that_was_not_read_is_too_low_by_64_at_most`.
    /// Computes up to where this group may be written.
    pub(super) fn set_full(&mut self, shape: impl Places, core: &PipeCore) {
        // Otherwise `room` moves the limit on.
        if !core.is_bounded() && !COUNTING {
            self.limit = self.before.wrapping_add(UNBOUNDED);
        }
        let left = self.limit.wrapping_sub(self.position(shape));
        // SAFETY: the address after the group's last slot is at most one past the group, and `full` is not beyond it.
        unsafe {
            let end = self.group.add(shape.end());
            let slots = shape.slots_in(end.as_ptr().offset_from(self.next.as_ptr()) as usize);
            self.full = self.next.add(left.min(slots) * shape.step());
        }
        if !self.is_hiding() {
            self.stop = self.full.as_ptr();
        }
    }

    // MUTANT: Speed only: without a window each message takes a call; an idle cursor has no slots.
    /// Whether there is no chunk yet: no group begins at the end of its chunk.
    #[cfg(feature = "in-place")]
    pub(in crate::queue::ypipe) fn is_idle(&self) -> bool {
        self.group == self.end
    }

    /// The difference between the states of this chunk's groups and the addresses of their slots.
    #[cfg(feature = "in-place")]
    pub(in crate::queue::ypipe) fn lap(&self) -> usize {
        self.lap
    }

    // MUTANT: Speed only: a window may be confined to fewer groups. Killed only by
    // `in_place::windows_and_calls_are_one_queue`.
    /// One past the last group of this chunk that [`step`](Self::step) may come to from here; null where it may come to
    /// none.
    #[cfg(feature = "in-place")]
    pub(in crate::queue::ypipe) fn whole_groups_end(&self, shape: impl Places) -> *mut u8 {
        let group = self.group.as_ptr();
        if self.full.as_ptr() != group.wrapping_add(shape.end()) {
            return ptr::null_mut();
        }
        let in_chunk = shape.groups_in(self.end.as_ptr().addr() - group.addr());
        let groups = shape.groups_of(self.limit.wrapping_sub(self.before), in_chunk);
        group.wrapping_add(groups * shape.stride())
    }

    // MUTANT: Speed only: the slow path enters the next group.
    /// The group before which a batch may step on by itself, and mark what it leaves as full: there is room for all groups
    /// up to that one. Null where no group is held back.
    #[inline(always)]
    pub(super) fn last_whole(&self, shape: impl Places) -> *mut u8 {
        if self.held.is_none() {
            return ptr::null_mut();
        }
        let in_chunk = shape.groups_in(self.end.as_ptr().addr() - self.group.as_ptr().addr());
        let groups = shape.groups_of(self.limit.wrapping_sub(self.before), in_chunk);
        // Of no groups: one before this, so it steps nowhere.
        self.group.as_ptr().wrapping_add(groups * shape.stride()).wrapping_sub(shape.stride())
    }

    // MUTANT: Speed only: where a batch has not left the cursor's group this changes nothing.
    /// A batch has written up to a place in a group to which [`last_whole`](Self::last_whole) has confined it.
    #[inline(always)]
    pub(super) fn filled_up_to(&mut self, shape: impl Places, group: NonNull<u8>, next: NonNull<u8>) {
        if next == self.next {
            return;
        }
        self.hide(shape);
        if group != self.group {
            let groups = shape.groups_in(group.as_ptr().addr() - self.group.as_ptr().addr());
            self.before = self.before.wrapping_add(groups * shape.slots());
            self.group = group;
            // SAFETY: the group is one of the chunk's.
            self.full = unsafe { group.add(shape.end()) };
        }
        self.next = next;
    }

    // MUTANT: In-place builds only. Killed only by `in_place::windows_and_calls_are_one_queue`.
    /// Continues at `next`, as if the messages before it had been written and published here.
    ///
    /// # Safety
    /// They have been, from this cursor's place on, within its chunk, and no further than [`full`](Self::full)
    /// or [`whole_groups_end`](Self::whole_groups_end) allowed. Nothing is hidden.
    #[cfg(feature = "in-place")]
    pub(in crate::queue::ypipe) unsafe fn move_on(&mut self, shape: impl Places, next: NonNull<u8>, core: &PipeCore) {
        // A group begins with its state, so the byte before `next` is in its group also where it is the first slot.
        let groups = shape.groups_in(next.as_ptr().addr() - 1 - self.group.as_ptr().addr());
        // SAFETY: by the caller that group is in this chunk.
        self.group = unsafe { self.group.add(groups * shape.stride()) };
        self.before = self.before.wrapping_add(groups * shape.slots());
        self.next = next;
        self.set_full(shape, core);
    }

    // MUTANT: Memory only: how fast chunks grow. Killed only by `a_backlog_that_grows_asks_the_system_seldom` and
    // `a_stream_makes_no_system_call`.
    /// A new chunk, greater than the last, up to the size worth keeping; in a long queue of small chunks up to a great
    /// one.
    fn greater_chunk(&self, core: &PipeCore) -> Chunk {
        let (most, great) = (core.groups(), core.shape().great);
        // The counters are loaded only where a great chunk would be greater.
        let is_long = most < great && core.read_mostly.cache.is_long();
        let groups = (self.chunk.groups() * 4).min(if is_long { great } else { most });
        if groups == most {
            core.read_mostly.cache.allocates();
        }
        Chunk::allocate(core.shape(), groups, self.lap)
    }

    #[cold]
    #[inline(never)]
    fn next_chunk(&mut self, core: &PipeCore) {
        let shape = core.shape();
        self.lap = self.lap.wrapping_add(shape.lap());
        let next = if let Some(emptied) = self.emptied {
            self.emptied = emptied.next();
            emptied
        } else {
            // MUTANT: Killed only by `a_burst_is_given_back`.
            core.read_mostly.cache.linked();
            core.read_mostly.cache.leaves(self.chunk, core.groups());
            let spent = core.read_mostly.cache.take().inspect(|spent| spent.renew(shape, self.lap));
            spent.unwrap_or_else(|| self.greater_chunk(core))
        };
        // ORDERING: Relaxed; the Release store of the link below publishes it.
        next.header().next.store(ptr::null_mut(), Ordering::Relaxed);
        next.header().previous.set(self.chunk.as_raw());
        // ORDERING: Release pairs with the Acquire in `ReadCursor::next_chunk` and `len_up_to`: the chunk is
        // initialised, and cleared for this lap where that was needed.
        self.chunk.header().next.store(next.as_raw(), Ordering::Release);
        self.chunk = next;
        self.end = next.end(shape);
        self.group = next.first();
    }
}
