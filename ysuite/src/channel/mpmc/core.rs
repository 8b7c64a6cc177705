//! What all ends of an exchange share: the ring, and for each side its ends and those of them who wait.
//!
//! Any thread. Whatever publishes (a message, room, an end's going) looks at the other side's roster afterwards and wakes
//! one that waits there.

use crossbeam_utils::CachePadded;

use super::bell::Bell;
use crate::foreign::Panics;
use crate::queue::exchange::{Staging, Rejected, Ring, Roster};
use crate::sync::{AtomicUsize, Ordering, fence};

pub(super) struct Core<T> {
    pub(super) ring: Ring<T>,
    readers: Crowd,
    writers: Crowd,
}

/// The ends of one side.
struct Crowd {
    roster: Roster<Bell>,
    ends: CachePadded<AtomicUsize>,
}

/// A side of the exchange, as those who wait see it.
pub(crate) trait Side: Copy {
    /// Those who wait.
    fn roster(&self) -> &Roster<Bell>;
    /// Whether waiting is over: something can be done, or nothing ever will be.
    fn is_ready(&self) -> bool;
    /// For how many there may be something to do.
    fn supply(&self) -> usize;
}

/// Those who wait for messages.
pub(super) struct Readers<'a, T>(&'a Core<T>);
/// Those who wait for room.
pub(super) struct Writers<'a, T>(&'a Core<T>);

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

impl<T> Side for Readers<'_, T> {
    fn roster(&self) -> &Roster<Bell> {
        &self.0.readers.roster
    }

    fn is_ready(&self) -> bool {
        self.0.ring.is_readable() || self.0.ring.is_closed()
    }

    fn supply(&self) -> usize {
        self.0.ring.len()
    }
}

impl<T> Side for Writers<'_, T> {
    fn roster(&self) -> &Roster<Bell> {
        &self.0.writers.roster
    }

    fn is_ready(&self) -> bool {
        self.0.ring.is_writable() || self.0.ring.is_closed()
    }

    fn supply(&self) -> usize {
        self.0.ring.capacity() - self.0.ring.len()
    }
}

impl<T> Core<T> {
    pub(super) fn new(capacity: usize) -> Self {
        let crowd = || Crowd { roster: Roster::new(), ends: CachePadded::new(AtomicUsize::new(1)) };
        Self { ring: Ring::new(capacity), readers: crowd(), writers: crowd() }
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
        if self.readers.roster.published() {
            self.announce_messages(1);
        }
        Ok(())
    }

    /// Sends as many of a batch as there is room for. `None`: nobody will receive any.
    pub(super) fn push_many(&self, pen: &mut Staging<T>) -> Option<usize> {
        let sent = self.ring.push_many(pen)?;
        if sent != 0 && self.readers.roster.published() {
            self.announce_messages(sent);
        }
        Some(sent)
    }

    /// Receives a message if there is one.
    #[inline(always)]
    pub(super) fn pop(&self) -> Option<T> {
        let message = self.ring.pop()?;
        if self.writers.roster.published() {
            self.announce_room(1);
        }
        Some(message)
    }

    pub(super) fn pop_many(&self, to: &mut Vec<T>, most: usize) -> usize {
        let taken = self.ring.pop_many(to, most);
        if taken != 0 && self.writers.roster.published() {
            self.announce_room(taken);
        }
        taken
    }

    #[cold]
    #[inline(never)]
    fn announce_messages(&self, messages: usize) {
        let word = self.readers.roster.attend();
        if word.is_gone() {
            // Claimed before the last receiver went, and published after it had looked for the last time.
            self.ring.drain();
        } else if word.is_armed() {
            call(&self.readers.roster, messages);
        }
    }

    #[cold]
    #[inline(never)]
    fn announce_room(&self, cells: usize) {
        if self.writers.roster.attend().is_armed() {
            call(&self.writers.roster, cells);
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
            call_all(&self.readers.roster);
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
            panics.catch(|| call_all(&self.writers.roster));
            // A writer that has claimed its cell either is seen by the drain, or sees this.
            self.readers.roster.go();
            panics.catch(|| self.ring.drain());
        }
    }
}

/// Something has come for so many: wakes as many as wait. A thread is the last, since it passes on what it leaves; a task
/// or an attached receiver may have other things to do.
pub(crate) fn call(roster: &Roster<Bell>, most: usize) {
    let mut panics = Panics::none();
    for _ in 0..most {
        let Some(called) = roster.call() else { return };
        // A thread sees to what is behind it.
        let is_last = called.is_certain();
        panics.catch(|| called.ring(is_last));
        if is_last {
            return;
        }
    }
}

/// Nothing will ever come: wakes all. One waker that panics does not keep the others asleep.
fn call_all(roster: &Roster<Bell>) {
    // ORDERING: pairs with the fence in `Roster::arm`: a sleeper sees that the ring is closed, or is seen here.
    fence(Ordering::SeqCst);
    let mut panics = Panics::none();
    while let Some(called) = roster.call() {
        panics.catch(|| called.ring(called.is_certain()));
    }
}

/// What one that has been called owes the others once it has taken what it wanted, or leaves: if more can be had than
/// those who are coming will take, one more is woken.
pub(super) fn pass_on(side: impl Side) {
    let roster = side.roster();
    if roster.word().is_armed() && side.is_ready() {
        let supply = side.supply().saturating_sub(roster.coming());
        if supply != 0 {
            call(roster, supply);
        }
    }
}

/// What one that had been called owes, while foreign code runs that may panic: then it is passed on at once.
pub(super) struct Owed<S: Side> {
    pub(super) side: S,
    pub(super) called: bool,
}

impl<S: Side> Drop for Owed<S> {
    fn drop(&mut self) {
        if self.called {
            pass_on(self.side);
        }
    }
}
