//! A message that is sent whether there is room or not: it takes the oldest message's place. Any thread.
//!
//! In a full ring the cell after the last message is the oldest one's. The thread first claims the position after the
//! last message, as every writer does, though that cell is not free. Then it takes the oldest message out, as every
//! reader does, and puts its own there. So there is one claim on each side. The first decides the order, and that the
//! message is sent, also where the ring is closed at that moment. Of several such threads one at a time gets this far:
//! the next claims only once the head has reached the message that it will take.
//!
//! While permits are held the two cells differ. The message goes to the next cell, which is free, and the cell of the
//! oldest message is the last of those that permits hold from then on.
//!
//! Cannot: go past a peer that is using the same cell: a reader that empties it, a writer that fills it, another thread
//! that takes the oldest message's place. The caller gets [`Unforced::Busy`] then. If a reader takes the oldest message
//! between the two claims, this thread waits for it: the reader has a copy and a store to do. The last receiver, which
//! takes messages out only to drop them, has a drop to do instead of the copy.
//!
//! Source: `ArrayQueue::force_push` of crossbeam, which moves the head first. There, a thread that is stopped after
//! that holds up all writers, and a ring that is closed at that point loses a message.

use super::claims::{Claim, Rejected, Right};
use super::position::Tail;
use super::{FULL, Ring};
use crate::foreign::Lent;
use crate::os::PeerWait;
use crate::sync::{Ordering, spin_loop};

/// The number of polls for a reader to finish, before the thread yields its CPU.
const LOOKS: u32 = if cfg!(any(ysuite_loom, miri)) { 1 } else { 64 };

/// What a message that has been sent anyway has done. The message that it has displaced is in its place.
pub(crate) struct Forced {
    /// Whether there may be room from now on that was not there before: a waiting sender must be notified.
    pub(crate) has_freed: bool,
}

/// Why a message could not even displace another. It is in its place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unforced {
    /// The ring is closed.
    Closed,
    /// All room is held by permits: there is no message that it could displace.
    Held,
    /// Another thread is in the middle of the cell that is needed.
    Busy,
}

impl<T> Ring<T> {
    /// Writes the message that is in `place` into the next cell, or into the oldest message's: then that message comes
    /// out, to `place`.
    pub(crate) fn force(&self, place: &mut Option<T>) -> Result<Forced, Unforced> {
        loop {
            match self.claim(Right::Room, 1) {
                Ok(Claim { position, .. }) => {
                    Self::fill_from(self.cell(position), self.free(position), place);
                    return Ok(Forced { has_freed: false });
                }
                Err(Rejected::Closed(())) => return Err(Unforced::Closed),
                Err(Rejected::Full(())) => {}
            }
            let Ok(tail) = self.tail() else { return Err(Unforced::Closed) };
            if tail.held == self.cells.len() {
                return Err(Unforced::Held);
            }
            let Some(oldest) = self.oldest_of_full(&tail) else { return Err(Unforced::Busy) };
            if self.exchange(&tail, self.write(self.after(tail.position, 1), tail.held)) {
                return Ok(self.displace(&tail, oldest, place));
            }
        }
    }

    /// Whether all room that a message could use is held by permits.
    pub(crate) fn is_all_held(&self) -> bool {
        self.tail().is_ok_and(|tail| tail.held == self.cells.len())
    }

    /// The position of the oldest message, where the ring is full and no peer is in the middle of a cell that is
    /// needed.
    fn oldest_of_full(&self, tail: &Tail) -> Option<u64> {
        let last = self.after(tail.position, tail.held);
        // Below 0 in the first lap: no stamp is like that.
        let oldest = last.wrapping_sub(self.lap);
        // ORDERING: Acquire pairs with the Release store of a full stamp in `fill`: the message is visible.
        let is_written = self.cell(last).stamp.load(Ordering::Acquire) == self.free(oldest) | FULL;
        // Otherwise a reader is emptying the cell, or another thread is here and has not moved the head yet.
        // ORDERING: Relaxed; only a guess: `displace` decides by a read-modify-write.
        let is_oldest = self.ends.head.load(Ordering::Relaxed) == oldest;
        // While permits are held the next cell is free, unless another thread that was here has not left it yet.
        // ORDERING: Acquire pairs with the Release store of the stamp in `empty`: the last message was read.
        let is_free =
            tail.held == 0 || self.cell(tail.position).stamp.load(Ordering::Acquire) == self.free(tail.position);
        (is_written && is_oldest && is_free).then_some(oldest)
    }

    /// Takes the oldest message out, to `place`, and writes the one that is there, whose position is claimed.
    fn displace(&self, tail: &Tail, oldest: u64, place: &mut Option<T>) -> Forced {
        let last = self.after(tail.position, tail.held);
        let cell = self.cell(last);
        // ORDERING: Release as in `pop`: a thread that finds that message gone sees what this thread has sent. Relaxed
        // on failure; a read-modify-write has one winner, and the winner has acquired the cell by its stamp.
        let is_first = self
            .ends
            .head
            .compare_exchange(oldest, self.after(oldest, 1), Ordering::Release, Ordering::Relaxed)
            .is_ok();
        if tail.held != 0 {
            Self::fill_from(self.cell(tail.position), self.free(tail.position), place);
            if is_first {
                *place = Some(Self::empty(cell, self.free(oldest) + self.lap));
            }
            return Forced { has_freed: is_first };
        }
        let mut displaced = None;
        if is_first {
            cell.message.with(|message| {
                // SAFETY: the cell is full, and this thread has claimed it, by the head: it reads the message once. It
                // has claimed the cell by the tail as well, so no other thread touches it before `fill` stores the next
                // stamp.
                displaced = Some(unsafe { (*message).assume_init_read() });
            });
        } else {
            self.wait_until_free(last);
        }
        Self::fill_from(cell, self.free(last), place);
        displaced.move_over(place);
        Forced { has_freed: false }
    }

    /// Waits for a reader that has claimed the cell's message, and has yet to copy or drop it and to stamp the cell.
    #[cold]
    fn wait_until_free(&self, position: u64) {
        let (cell, mut wait) = (self.cell(position), PeerWait::default());
        loop {
            for _ in 0..LOOKS {
                // ORDERING: Acquire pairs with the Release store of the stamp in `empty`: the message was read before
                // another is written over it.
                if cell.stamp.load(Ordering::Acquire) == self.free(position) {
                    return;
                }
                spin_loop();
            }
            wait.wait();
        }
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::{Ordering, Rejected, Right, Ring, Unforced};
    use crate::queue::exchange::Hint;

    /// A ring without room, with `held` permits and `messages` messages. Its messages are the numbers from 0 on.
    fn full(messages: u64, held: usize) -> Ring<u64> {
        let ring = Ring::new(messages as usize + held);
        assert!(ring.hold(held, held).is_ok());
        assert!((0..messages).all(|number| ring.offer(number).is_ok()));
        ring
    }

    /// Whether nothing can make way, because a peer is in the middle of a cell.
    fn is_busy(ring: &Ring<u64>) -> bool {
        let mut place = Some(99);
        ring.force(&mut place).err() == Some(Unforced::Busy) && place == Some(99)
    }

    #[test]
    fn a_message_that_a_receiver_has_claimed_does_not_make_way() {
        for (messages, held) in [(1, 1), (2, 1), (1, 0), (2, 0)] {
            let ring = full(messages, held);
            // What `pop` does first.
            ring.ends.head.store(ring.after(0, 1), Ordering::Relaxed);
            assert!(is_busy(&ring), "{messages} messages, {held} held");
            // The receiver continues, and there is room.
            assert_eq!(Ring::empty(ring.cell(0), ring.free(0) + ring.lap), 0);
            let mut place = Some(7);
            assert!(ring.force(&mut place).is_ok() && place.is_none());
        }
    }

    #[test]
    fn a_message_that_its_sender_has_not_written_yet_does_not_make_way() {
        for held in [1, 0] {
            let ring = full(0, held + 1);
            assert!(ring.release(1));
            // What a sender does first.
            let Ok(claim) = ring.claim(Right::Room, 1) else { panic!("there is room") };
            assert!(is_busy(&ring), "{held} held");
            Ring::fill(ring.cell(claim.position), ring.free(claim.position), 7);
            let mut place = Some(8);
            assert!(ring.force(&mut place).is_ok() && place == Some(7));
        }
    }

    /// A thread has put its message in while a permit is held, and has yet to take the oldest one out. That cell comes
    /// next.
    #[test]
    fn a_cell_that_a_forced_message_has_not_left_yet_is_nobodys() {
        let ring = full(2, 1);
        let Ok(tail) = ring.tail() else { panic!("it is open") };
        let oldest = ring.oldest_of_full(&tail).expect("the ring is full");
        // What `force` does first.
        assert!(ring.exchange(&tail, ring.write(ring.after(tail.position, 1), tail.held)));
        ring.ends.head.store(ring.after(oldest, 1), Ordering::Relaxed);
        Ring::fill(ring.cell(tail.position), ring.free(tail.position), 7);
        // There is no room, and then there is, except for that cell.
        assert!(is_busy(&ring));
        assert_eq!(ring.pop(&Hint::new()), Some(1));
        assert!(matches!(ring.offer(8), Err(Rejected::Full(8))));
        assert!(matches!(ring.push_held(8), Err(Rejected::Full(8))));
        assert_eq!(Ring::empty(ring.cell(oldest), ring.free(oldest) + ring.lap), 0);
        assert!(ring.push_held(8).is_ok() && ring.offer(9).is_ok());
        let hint = Hint::new();
        assert_eq!([(); 4].map(|()| ring.pop(&hint)), [Some(7), Some(8), Some(9), None]);
    }
}
