//! The segments in use, linked from the oldest to the newest. Any thread; lock-free.
//!
//! *Finding* a segment begins at one that the caller remembers, or at the oldest, and follows the links. *Extending*
//! sets the last link. *Retiring* unlinks the oldest segments when all their messages have been claimed, and keeps them
//! for reuse when all readers have finished. One thread retires at a time; another that comes meanwhile leaves a
//! request, and the first repeats its work for it, so no work is left over. A reader that has been preempted in a
//! segment keeps that one from being reused, and no other.
//!
//! Cannot: retire the last segment, so a queue that has been used keeps one at least. Nor reuse any while the thread
//! that retires is preempted: until it continues, new segments are made.

#[cfg(all(test, ysuite_loom))]
mod models;

use super::directory::Directory;
use super::layout::Flag;
use super::segment::{Behind, Link, Segment};
use crate::queue::FEW_BYTES;
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, window};

/// In this order: what is used once for a segment is last.
#[repr(C)]
pub(super) struct Chain<T> {
    directory: Directory<T>,
    /// The oldest segment. There always is one. Only the thread that retires changes this.
    oldest: Link,
    /// The number of threads that have requested retirement since the thread that retires began; 0: no thread does.
    retiring: AtomicUsize,
    /// One more than the index of the segment that was unlinked last and has readers, or had; 0: none. Used by the
    /// thread that retires.
    spent: AtomicU32,
    /// A segment has been retired since a reader last slept.
    has_retired: AtomicBool,
    /// Where a reader last slept.
    calm_at: AtomicU64,
}

/// Where a walk along the chain has led.
pub(super) enum Walk<'a> {
    Found(&'a Segment),
    /// The chain ends before the segment; this link will lead on to the segment of this number.
    End(&'a Link, u64),
    /// The segment has been retired: the position is an old one.
    Past,
}

impl<T> Chain<T> {
    /// From here on a chain has what is used once for a segment.
    #[cfg(not(ysuite_loom))]
    #[allow(dead_code, reason = "Rust 1.85 does not see that a constant check uses it")]
    pub(super) const RARE: usize = core::mem::offset_of!(Self, directory) + Directory::<T>::RARE;

    /// A chain of one segment, which has no memory yet.
    pub(super) fn new() -> Self {
        Self {
            directory: Directory::new(),
            oldest: Link::at(0),
            retiring: AtomicUsize::new(0),
            spent: AtomicU32::new(0),
            has_retired: AtomicBool::new(false),
            calm_at: AtomicU64::new(0),
        }
    }

    /// For a reader: whether any segment has memory, and so may have had a message.
    pub(super) fn has_begun(&self) -> bool {
        self.directory.first().is_begun::<T>()
    }

    // MUTANT: In a race: a walk meets a segment that is retired and reused. Killed only by the model
    // `a_walk_through_a_segment_that_is_used_again_begins_anew`.
    /// Finds the segment of a number. `remembered`: a segment that may have been the right one some time ago. Begins
    /// again only where another thread has retired segments meanwhile.
    pub(super) fn find<'a>(&'a self, remembered: Option<&'a Segment>, number: u64) -> Walk<'a> {
        let mut from = remembered.and_then(|segment| Some((segment, segment.number()?)));
        loop {
            let (mut segment, mut at) = match from.take().filter(|(_, at)| *at <= number) {
                Some(known) => known,
                None => match self.oldest() {
                    Some((_, at)) if at > number => return Walk::Past,
                    Some(oldest) => oldest,
                    None => continue,
                },
            };
            loop {
                if at == number {
                    return Walk::Found(segment);
                }
                window();
                let behind = segment.next.load();
                if !segment.has(at) {
                    // It was retired, and what has been read is perhaps the link of a later use.
                    break;
                }
                match behind {
                    Behind::Missing(missing) => return Walk::End(&segment.next, missing),
                    Behind::Segment(index) => segment = self.directory.get(index),
                }
                at += 1;
                segment.confirm(at);
            }
        }
    }

    /// The oldest segment and its number; `None` where it has been retired meanwhile.
    fn oldest(&self) -> Option<(&Segment, u64)> {
        match self.oldest.load() {
            Behind::Missing(_) => unreachable!("a chain is made with a segment"),
            Behind::Segment(index) => {
                let segment = self.directory.get(index);
                window();
                let number = segment.number()?;
                // The link once more, after the number, by which this thread has acquired that the link was moved on.
                // If the segment was retired and reused in between, its number is beyond the one that is searched,
                // which would seem to be past. A segment that becomes the oldest in its later use is the oldest with
                // that number.
                let is_oldest = matches!(self.oldest.load(), Behind::Segment(again) if again == index);
                is_oldest.then_some((segment, number))
            }
        }
    }

    // MUTANT: In a race: two threads extend the chain. Populating pages is a hint. Killed only by the model
    // `who_comes_too_late_to_extend_the_chain_puts_its_segment_back`.
    /// Links a segment of this number at the end, unless another thread does so first. False if there are too many.
    pub(super) fn extend(&self, end: &Link, number: u64) -> bool {
        window();
        let Some(segment) = self.directory.take() else { return false };
        // After taking it: a segment that has had exactly this number was linked here before it was retired, and this
        // thread has acquired that with the shelf. If it were prepared for the number once more, a thread that has
        // found the link long ago could confirm it, and then the chain would seem to end there.
        if !end.is_missing(number) {
            self.directory.put_back(segment);
            return true;
        }
        segment.prepare(number);
        window();
        if end.set(number, segment) {
            window();
            segment.confirm(number);
        } else {
            segment.withdraw();
            self.directory.put_back(segment);
        }
        true
    }

    /// Ensures that a segment which is being written has a next one, if one can be made. Does not panic.
    pub(super) fn extend_behind(&self, segment: &Segment, number: u64) {
        let behind = segment.next.load();
        if let (Behind::Missing(missing), true) = (behind, segment.has(number)) {
            self.extend(&segment.next, missing);
        }
    }

    /// Gives back the pages that are kept for the next segments. Any thread.
    pub(super) fn shrink(&self) {
        self.directory.shrink();
    }

    /// For a reader that is about to sleep, at this position, if the queue has had a message since a reader was last here:
    /// gives back what a burst has left, but for a few segments; and these too if there were few messages since.
    pub(super) fn calm(&self, position: u64) {
        // ORDERING: Relaxed throughout; these only decide when pages are given back.
        if self.directory.reserve() == 0 {
            return;
        }
        let taken = position.wrapping_sub(self.calm_at.swap(position, Ordering::Relaxed));
        if taken == 0 {
            return;
        }
        if self.has_retired.load(Ordering::Relaxed) {
            self.has_retired.store(false, Ordering::Relaxed);
            self.directory.trim();
        } else if taken.saturating_mul(size_of::<T>() as u64) < FEW_BYTES as u64 {
            self.shrink();
        }
    }

    /// A reader has emptied the last slot of a segment. `reach`: the number of the segment that is read now, and of the
    /// one that is written.
    pub(super) fn retire(&self, reach: impl Fn() -> (u64, u64)) {
        // ORDERING: AcqRel; Acquire pairs with the Release of the exchange below, by which the last thread has left.
        // Release for the thread that is busy: what this one has finished is visible when that repeats its work.
        if self.retiring.fetch_add(1, Ordering::AcqRel) != 0 {
            return;
        }
        // ORDERING: Relaxed; see `calm`.
        self.has_retired.store(true, Ordering::Relaxed);
        let mut seen = 1;
        loop {
            let (read, written) = reach();
            self.unlink(read);
            // MUTANT: Speed only: one free segment more or less keeps its pages.
            self.reuse(self.directory.reserve().max(written.saturating_sub(read) as usize));
            window();
            // ORDERING: Release; see above. Acquire on failure: what the threads that came meanwhile have finished is
            // visible; so the value that is exchanged has been acquired.
            match self.retiring.compare_exchange(seen, 0, Ordering::Release, Ordering::Acquire) {
                Ok(_) => return,
                Err(found) => seen = found,
            }
        }
    }

    /// Unlinks the segments before the one that is read now.
    fn unlink(&self, read: u64) {
        // Nothing else changes `oldest` once it leads anywhere, so this segment cannot be retired by others.
        while let Behind::Segment(index) = self.oldest.load() {
            let segment = self.directory.get(index);
            // The last one stays, so that the chain has an end.
            let (Some(number), Behind::Segment(next)) = (segment.number(), segment.next.load()) else { return };
            if number >= read {
                return;
            }
            self.directory.get(next).confirm(number + 1);
            self.oldest.advance(next);
            // ORDERING: Relaxed twice; `retiring` hands both over to the next thread that retires.
            segment.below.store(self.spent.load(Ordering::Relaxed), Ordering::Relaxed);
            self.spent.store(index + 1, Ordering::Relaxed);
        }
    }

    /// Keeps those of the unlinked segments whose readers have all finished. The others stay for the next time.
    fn reuse(&self, keep: usize) {
        // ORDERING: Relaxed, here and below: `retiring` hands the list over.
        let (mut at, mut busy) = (self.spent.load(Ordering::Relaxed), 0);
        while let Some(index) = at.checked_sub(1) {
            let segment = self.directory.get(index);
            at = segment.below.load(Ordering::Relaxed);
            if Self::is_emptied(segment) {
                segment.retire();
                // SAFETY: the segment is unlinked, and has been emptied: no thread has a claim in it, and all of its
                // positions are before those that can be claimed. So this thread owns it.
                unsafe { self.directory.put(segment, keep) };
            } else {
                segment.below.store(busy, Ordering::Relaxed);
                busy = index + 1;
            }
        }
        self.spent.store(busy, Ordering::Relaxed);
    }

    /// Whether all slots have been emptied in this lap.
    fn is_emptied(segment: &Segment) -> bool {
        // MUTANT: A segment that is retired has had messages.
        if !segment.is_begun::<T>() {
            return false;
        }
        let lap = segment.lap();
        // From the end: if one is missing it is likely to be one of the last.
        // ORDERING: Acquire pairs with the Release stores of the marks in `Segments::mark`: the messages were read
        // before others are written over them. No fence after the loads, which sanitizers do not understand.
        let is_set = |mark: &Flag| mark.load(Ordering::Acquire) == lap;
        // By eights, of which the compiler makes straight code.
        let eights = segment.marks::<T>().all(segment.extent::<T>()).chunks_exact(8);
        eights.remainder().iter().all(is_set) && eights.rev().all(|eight| eight.iter().all(is_set))
    }

    #[cfg(all(test, not(ysuite_loom)))]
    pub(super) fn exhaust(&self) {
        self.directory.exhaust();
    }

    #[cfg(all(test, not(ysuite_loom)))]
    pub(super) fn made(&self) -> usize {
        self.directory.made()
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::{Chain, Walk};

    /// A thread has linked a segment, and stops before it announces it: the thread that makes that segment the oldest
    /// announces it.
    #[test]
    fn a_segment_has_its_number_when_it_comes_to_be_the_oldest() {
        let chain = Chain::<u64>::new();
        let Walk::End(end, 1) = chain.find(None, 1) else { panic!("there is one segment") };
        let second = chain.directory.take().expect("two are not too many");
        second.prepare(1);
        assert!(end.set(1, second) && second.number().is_none());
        chain.retire(|| (1, 1));
        // Before any walk along the chain, which would say it as well.
        assert_eq!(second.number(), Some(1));
        assert!(matches!(chain.find(None, 1), Walk::Found(found) if found.index() == second.index()));
    }

    /// A thread has linked a segment, and stops before it announces it: a thread that walks along the chain announces
    /// it, and gets beyond.
    #[test]
    fn a_segment_has_its_number_when_a_walk_has_come_to_it() {
        let chain = Chain::<u64>::new();
        let Walk::End(end, 1) = chain.find(None, 1) else { panic!("there is one segment") };
        let second = chain.directory.take().expect("two are not too many");
        second.prepare(1);
        assert!(end.set(1, second) && second.number().is_none());
        assert!(matches!(chain.find(None, 1), Walk::Found(found) if found.index() == second.index()));
        assert_eq!(second.number(), Some(1));
        assert!(matches!(chain.find(None, 2), Walk::End(_, 2)));
    }
}
