//! What all ends of an mpmc channel share: the ring, and for receivers and senders each their number and their wait list.
//!
//! Any thread; lock-free. The thread that publishes (a message, room, the last end's going) looks at the wait list of the
//! opposite ends afterwards, and notifies a waiter there.

use crossbeam_utils::CachePadded;

use crate::channel::rendezvous::Meeting;
use crate::foreign::Panics;
use crate::queue::exchange::{Rejected, Ring, Staging};
use crate::sync::{AtomicUsize, Ordering};
use crate::wait::WaitList;
use crate::wait::many::{SharedEnd, notify, notify_all};

pub(super) struct MpmcShared<T> {
    /// Of a rendezvous, one cell that is never used: closed from the beginning.
    pub(super) ring: Ring<T>,
    pub(super) meeting: Option<Box<Meeting<T>>>,
    pub(super) readers: Ends,
    pub(super) writers: Ends,
}

/// All receivers, or all senders.
pub(super) struct Ends {
    /// Those of them that wait.
    list: WaitList,
    count: CachePadded<AtomicUsize>,
}

impl Ends {
    fn new() -> Self {
        Self { list: WaitList::new(), count: CachePadded::new(AtomicUsize::new(1)) }
    }

    /// Another end is made, on the thread that clones one.
    pub(super) fn add(&self) {
        // ORDERING: Relaxed; the calling thread clones an end that is counted, so the count cannot fall to 0 meanwhile.
        self.count.fetch_add(1, Ordering::Relaxed);
    }
}

/// The ends that wait: with `ROOM` the senders, for room; otherwise the receivers, for messages.
pub(in crate::channel) struct WaitingSide<'a, T, const ROOM: bool>(&'a MpmcShared<T>);

pub(in crate::channel) type Readers<'a, T> = WaitingSide<'a, T, false>;
pub(in crate::channel) type Writers<'a, T> = WaitingSide<'a, T, true>;

impl<T, const ROOM: bool> Clone for WaitingSide<'_, T, ROOM> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, const ROOM: bool> Copy for WaitingSide<'_, T, ROOM> {}

impl<T, const ROOM: bool> SharedEnd for WaitingSide<'_, T, ROOM> {
    fn list(&self) -> &WaitList {
        if let Some(meeting) = &self.0.meeting {
            return meeting.list(ROOM);
        }
        if ROOM { &self.0.writers.list } else { &self.0.readers.list }
    }

    fn is_ready(&self) -> bool {
        if let Some(meeting) = &self.0.meeting {
            return meeting.side::<ROOM>().is_ready();
        }
        let ring = &self.0.ring;
        (if ROOM { ring.is_writable() } else { ring.is_readable() }) || ring.is_closed()
    }

    fn supply(&self) -> usize {
        if let Some(meeting) = &self.0.meeting {
            return meeting.side::<ROOM>().supply();
        }
        let ring = &self.0.ring;
        if ROOM { ring.capacity() - ring.len() } else { ring.len() }
    }
}

impl<T> MpmcShared<T> {
    pub(super) fn new(capacity: usize) -> Self {
        let meeting = (capacity == 0).then(|| Box::new(Meeting::new()));
        let ring = Ring::new(capacity.max(1));
        if meeting.is_some() {
            ring.close();
        }
        Self { ring, meeting, readers: Ends::new(), writers: Ends::new() }
    }

    pub(super) fn capacity(&self) -> usize {
        if self.meeting.is_some() { 0 } else { self.ring.capacity() }
    }

    /// Whether one side is gone.
    pub(super) fn is_disconnected(&self) -> bool {
        self.meeting.as_ref().map_or_else(|| self.ring.is_closed(), |meeting| meeting.is_closed())
    }

    pub(super) fn readers(&self) -> Readers<'_, T> {
        WaitingSide(self)
    }

    /// One side or the other.
    pub(super) fn side<const ROOM: bool>(&self) -> WaitingSide<'_, T, ROOM> {
        WaitingSide(self)
    }

    pub(super) fn writers(&self) -> Writers<'_, T> {
        WaitingSide(self)
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

    /// Receives as many messages as there are, `most` at most. `None`: there is none.
    pub(super) fn pop_many(&self, to: &mut Vec<T>, most: usize) -> Option<usize> {
        let taken = Some(self.ring.pop_many(to, most)).filter(|&taken| taken != 0)?;
        if self.writers.list.published() {
            self.announce_room(taken);
        }
        Some(taken)
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

    /// A sender goes.
    pub(super) fn remove_writer(&self) {
        // ORDERING: AcqRel: each sender releases what it has sent; the last one acquires that before it closes the ring.
        if self.writers.count.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.ring.close();
            let mut panics = Panics::none();
            panics.catch(|| self.meeting.iter().for_each(|meeting| meeting.senders_are_gone()));
            panics.catch(|| notify_all(&self.readers.list));
            // No sender waits any more, but a select may watch for room.
            panics.catch(|| notify_all(&self.writers.list));
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
            panics.catch(|| self.meeting.iter().for_each(|meeting| meeting.receivers_are_gone()));
            panics.catch(|| notify_all(&self.writers.list));
            // No receiver waits any more, but a select may watch for messages.
            panics.catch(|| notify_all(&self.readers.list));
            // A sender that has claimed its cell is either seen by the drain, or finds GONE and drains the ring itself.
            self.readers.list.go();
            panics.catch(|| self.ring.drain());
        }
    }
}
