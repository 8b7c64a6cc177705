//! What all ends of an mpmc channel share: the ring, and for receivers and senders each their number and their wait list.
//!
//! Any thread; lock-free. The thread that publishes (a message, room, the last end's going) looks at the wait list of the
//! opposite ends afterwards, and notifies a waiter there.

use crossbeam_utils::CachePadded;

use crate::foreign::Panics;
use crate::queue::exchange::{Rejected, Ring, Staging};
use crate::sync::{AtomicUsize, Ordering};
use crate::wait::WaitList;
use crate::wait::many::{SharedEnd, notify, notify_all};

pub(super) struct MpmcShared<T> {
    pub(super) ring: Ring<T>,
    readers: Ends,
    writers: Ends,
}

/// All receivers, or all senders.
struct Ends {
    /// Those of them that wait.
    list: WaitList,
    count: CachePadded<AtomicUsize>,
}

/// The receivers, as ends that wait for messages.
pub(super) struct Readers<'a, T>(&'a MpmcShared<T>);
/// The senders, as ends that wait for room.
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
        let ends = || Ends { list: WaitList::new(), count: CachePadded::new(AtomicUsize::new(1)) };
        Self { ring: Ring::new(capacity), readers: ends(), writers: ends() }
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

    /// Sends as many messages of a batch as there is room for. `None`: all receivers are gone.
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
            // The cells were claimed before the last receiver went, and filled after that receiver had drained the ring.
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
        // ORDERING: Relaxed; the calling thread clones a receiver that is counted, so the count cannot fall to 0 meanwhile.
        self.readers.count.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn add_writer(&self) {
        // ORDERING: Relaxed; the calling thread clones a sender that is counted, so the count cannot fall to 0 meanwhile.
        self.writers.count.fetch_add(1, Ordering::Relaxed);
    }

    /// A sender goes.
    pub(super) fn remove_writer(&self) {
        // ORDERING: AcqRel: each sender releases what it has sent; the last one acquires that before it closes the ring.
        if self.writers.count.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.ring.close();
            notify_all(&self.readers.list);
        }
    }

    /// A receiver goes.
    pub(super) fn remove_reader(&self) {
        // ORDERING: Relaxed: the last receiver relies on nothing that the others have done or seen. Their claims are in the
        // ring's positions and turns. Every sender's message is either seen by the drain, or its sender finds the receivers
        // gone: the barriers in `WaitList::go` and `WaitList::attend` alone see to that.
        if self.readers.count.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.ring.close();
            let mut panics = Panics::none();
            panics.catch(|| notify_all(&self.writers.list));
            // A sender that has claimed its cell is either seen by the drain, or finds GONE and drains the ring itself.
            self.readers.list.go();
            panics.catch(|| self.ring.drain());
        }
    }
}
