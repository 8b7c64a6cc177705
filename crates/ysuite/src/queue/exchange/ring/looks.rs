//! Checks of the ring, which change nothing. Any thread; wait-free. Their results may be out of date at once.

use super::{Ring, SPECIAL};
use crate::sync::Ordering;

impl<T> Ring<T> {
    /// Whether the oldest message can be taken.
    #[inline]
    pub(crate) fn is_readable(&self) -> bool {
        // ORDERING: Acquire pairs with the Release of claims in `pop` and `pop_many`: what those readers had seen sent
        // is seen here. A stale position is handled below.
        let head = self.ends.head.load(Ordering::Acquire);
        // A later stamp means that the position has moved on: that counts as readable, and the caller polls again.
        // ORDERING: Acquire pairs with the Release store of a full stamp in `fill`: a thread that passes a notification
        // on checks, and then counts what it has found.
        self.cell(head).stamp.load(Ordering::Acquire) > self.free(head)
    }

    // MUTANT: A cell after those of the permits is free in this lap and not yet in the next.
    /// Whether the next cell can be written without using a permit.
    #[inline]
    pub(crate) fn is_writable(&self) -> bool {
        // ORDERING: Acquire pairs with the Release of claims in `push` and `exchange`: what those writers had seen
        // received is seen here. A later stamp counts as writable.
        let tail = self.read(self.ends.tail.load(Ordering::Acquire));
        // ORDERING: Acquire pairs with the Release store of the stamp in `empty`: as in `is_readable`.
        let is_free = |position| self.cell(position).stamp.load(Ordering::Acquire) >= self.free(position);
        is_free(tail.position)
            && (tail.held == 0 || tail.held < self.cells.len() && is_free(self.after(tail.position, tail.held)))
    }

    /// The number of messages that are in the ring: claimed by a writer, and not yet by a reader.
    pub(crate) fn len(&self) -> usize {
        // ORDERING: Acquire on the first load keeps the load of the tail after it: the difference may be too large, but
        // not negative. Relaxed on the second: no load relies on it.
        let head = self.ends.head.load(Ordering::Acquire);
        self.between(head, self.read(self.ends.tail.load(Ordering::Relaxed)).position)
    }

    /// The number of messages that could be sent now: cells with neither a message nor a permit.
    pub(crate) fn room(&self) -> usize {
        // ORDERING: Acquire and Relaxed, as in `len`.
        let head = self.ends.head.load(Ordering::Acquire);
        let tail = self.read(self.ends.tail.load(Ordering::Relaxed));
        self.capacity() - (self.between(head, tail.position) + tail.held).min(self.capacity())
    }

    /// Whether no message is in the ring, nor claimed by a writer.
    pub(crate) fn is_empty(&self) -> bool {
        // ORDERING: Acquire on the first load keeps the load of the tail after it: where that tail equals the head, the
        // ring was empty when the tail was loaded. Relaxed on the second: no load relies on it.
        let head = self.ends.head.load(Ordering::Acquire);
        let tail = self.ends.tail.load(Ordering::Relaxed);
        // MUTANT: Speed only: a plain tail is its position, which differs from the head. As a rule the tail is a plain
        // position.
        head == tail || tail & SPECIAL != 0 && head == self.read(tail).position
    }

    /// Whether the ring is closed, or permits are held: then writers do more than put a message into the next cell.
    #[inline]
    pub(crate) fn is_special(&self) -> bool {
        // ORDERING: Relaxed; a hint: the caller's exchange of this word decides.
        self.ends.tail.load(Ordering::Relaxed) & SPECIAL != 0
    }

    /// The position of the next message to be written.
    pub(crate) fn place(&self) -> u64 {
        // ORDERING: Acquire keeps the caller's further loads after this one. A claim that happened before this call is
        // seen by coherence.
        self.read(self.ends.tail.load(Ordering::Acquire)).position
    }

    /// A number that grows with each claim. While it stays the same, a message that can be taken stays, and so does
    /// room.
    pub(crate) fn moves(&self) -> u64 {
        // ORDERING: Acquire keeps the caller's further loads after this one, as in `place`.
        self.ends.head.load(Ordering::Acquire).wrapping_add(self.place())
    }

    /// Whether readers have got as far as a position. Once true it stays true: positions only grow.
    pub(crate) fn has_reached(&self, place: u64) -> bool {
        // ORDERING: Acquire keeps the caller's further loads after this one.
        self.ends.head.load(Ordering::Acquire) >= place
    }
}
