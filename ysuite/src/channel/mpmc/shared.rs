//! What all ends of an exchange share: the ring, and for each side its ends and those of them who wait.
//!
//! Any thread. Whatever publishes (a message, room, an end's going) looks at the other side's list afterwards and wakes
//! one that waits there.

use crossbeam_utils::CachePadded;

use crate::foreign::Panics;
use crate::queue::exchange::{Rejected, Ring, Staging};
use crate::sync::{AtomicUsize, Ordering};
use crate::wait::WaitList;
use crate::wait::many::{SharedEnd, notify, notify_all};

pub(super) struct MpmcShared<T> {
    pub(super) ring: Ring<T>,
    readers: SideOfEnds,
    writers: SideOfEnds,
}

/// The ends of one side.
struct SideOfEnds {
    list: WaitList,
    ends: CachePadded<AtomicUsize>,
}

/// Those who wait for messages.
pub(super) struct Readers<'a, T>(&'a MpmcShared<T>);
/// Those who wait for room.
pub(super) struct Writers<'a, T>(&'a MpmcShared<T>);

impl<T> Clone for Readers<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Readers<'_, T> {}
impl<T> Clone for Writers<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Writers<'_, T> {}

impl<T> SharedEnd for Readers<'_, T> {
    fn list(&self) -> &WaitList {
        &self.0.readers.list
    }

    fn is_ready(&self) -> bool {
        self.0.ring.is_readable() || self.0.ring.is_closed()
    }

    fn supply(&self) -> usize {
        self.0.ring.len()
    }
}

impl<T> SharedEnd for Writers<'_, T> {
    fn list(&self) -> &WaitList {
        &self.0.writers.list
    }

    fn is_ready(&self) -> bool {
        self.0.ring.is_writable() || self.0.ring.is_closed()
    }

    fn supply(&self) -> usize {
        self.0.ring.capacity() - self.0.ring.len()
    }
}

impl<T> MpmcShared<T> {
    pub(super) fn new(capacity: usize) -> Self {
        let side = || SideOfEnds { list: WaitList::new(), ends: CachePadded::new(AtomicUsize::new(1)) };
        Self { ring: Ring::new(capacity), readers: side(), writers: side() }
    }

    pub(super) fn readers(&self) -> Readers<'_, T> {
        Readers(self)
    }

    pub(super) fn writers(&self) -> Writers<'_, T> {
        Writers(self)
    }

    /// Sends a message if there is room.
    #[inline(always)]
    pub(super) fn push(&self, message: T) -> Result<(), Rejected<T>> {
        self.ring.push(message)?;
        if self.readers.list.published() {
            self.announce_messages(1);
        }
        Ok(())
    }

    /// Sends as many of a batch as there is room for. `None`: nobody will receive any.
    pub(super) fn push_many(&self, staging: &mut Staging<T>) -> Option<usize> {
        let sent = self.ring.push_many(staging)?;
        if sent != 0 && self.readers.list.published() {
            self.announce_messages(sent);
        }
        Some(sent)
    }

    /// Receives a message if there is one.
    #[inline(always)]
    pub(super) fn pop(&self) -> Option<T> {
        let message = self.ring.pop()?;
        if self.writers.list.published() {
            self.announce_room(1);
        }
        Some(message)
    }

    pub(super) fn pop_many(&self, to: &mut Vec<T>, most: usize) -> usize {
        let taken = self.ring.pop_many(to, most);
        if taken != 0 && self.writers.list.published() {
            self.announce_room(taken);
        }
        taken
    }

    #[cold]
    #[inline(never)]
    fn announce_messages(&self, messages: usize) {
        let word = self.readers.list.attend();
        if word.is_gone() {
            // Claimed before the last receiver went, and published after it had looked for the last time.
            self.ring.drain();
        } else if word.is_armed() {
            notify(&self.readers.list, messages);
        }
    }

    #[cold]
    #[inline(never)]
    fn announce_room(&self, cells: usize) {
        if self.writers.list.attend().is_armed() {
            notify(&self.writers.list, cells);
        }
    }

    pub(super) fn add_reader(&self) {
        // ORDERING: Relaxed; whoever clones an end has one.
        self.readers.ends.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn add_writer(&self) {
        // ORDERING: Relaxed, as above.
        self.writers.ends.fetch_add(1, Ordering::Relaxed);
    }

    /// A sender goes.
    pub(super) fn remove_writer(&self) {
        // ORDERING: AcqRel: the last one comes after all that the others have sent.
        if self.writers.ends.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.ring.close();
            notify_all(&self.readers.list);
        }
    }

    /// A receiver goes.
    pub(super) fn remove_reader(&self) {
        // ORDERING: Relaxed: the last one relies on nothing that the others have done or seen. Their claims are in the ring's
        // positions and turns, and every sender's message either is seen by the drain or finds `go`, by the barriers of
        // those two alone.
        if self.readers.ends.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.ring.close();
            let mut panics = Panics::none();
            panics.catch(|| notify_all(&self.writers.list));
            // A writer that has claimed its cell either is seen by the drain, or sees this.
            self.readers.list.go();
            panics.catch(|| self.ring.drain());
        }
    }
}
