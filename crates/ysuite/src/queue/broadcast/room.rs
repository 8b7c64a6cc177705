//! Room that is reserved for later messages, in a bounded ring. Any thread; lock-free.
//!
//! Without reservations the tail alone says how much room is taken. The first reservation sets a flag in the tail, for
//! ever. From then on no claim succeeds on the fast path, and each writer takes its room in a second word first: the
//! position behind all that has been claimed or reserved. Who has room claims a position later, and finds it below the
//! limit. So a reservation is room and no position, and delays no message.
//!
//! Cannot: reserve room in a lossy ring. There is always room in it, except where a peer has not finished with a cell.

use super::ring::{BroadcastRing, CLOSED, ClaimedPosition, POSITION, RESERVED, look_away};
use crate::queue::exchange::{Rejected, Staging};
use crate::sync::{AtomicU64, Ordering};

/// Which room has been taken, once it is counted.
pub(super) struct TakenRoom {
    /// The position behind all that are claimed or reserved. 0: nothing has been counted yet.
    end: AtomicU64,
    /// How much room has been given back.
    returned: AtomicU64,
}

impl TakenRoom {
    pub(super) fn new() -> Self {
        Self { end: AtomicU64::new(0), returned: AtomicU64::new(0) }
    }

    /// The position behind the room that is taken. `word`: the tail, which the caller has loaded.
    pub(super) fn end(&self, word: u64) -> u64 {
        let tail = word & POSITION;
        if word & RESERVED == 0 {
            return tail;
        }
        // ORDERING: Acquire pairs with the Release of `hold` and of `give_back`: a thread that finds no room is after the one
        //     that took it, and one that finds room that was given back is after what that thread had found.
        match self.end.load(Ordering::Acquire) {
            // The tail has not moved since it has the flag: each claim comes after a count. The first thread begins.
            // ORDERING: Relaxed twice; only the value is used, and each thread finds it in the order of this word.
            0 => self
                .end
                .compare_exchange(0, tail, Ordering::Relaxed, Ordering::Relaxed)
                .map_or_else(|end| end, |_| tail),
            end => end,
        }
    }

    /// See `BroadcastRing::moves`.
    pub(super) fn moves(&self, word: u64) -> u64 {
        // What is returned is counted last by the thread that returns it, and first here: so the sum is not too large.
        // ORDERING: Acquire pairs with the Release in `give_back`: the end has been lowered.
        let returned = self.returned.load(Ordering::Acquire);
        self.end(word) + returned
    }
}

impl<T> BroadcastRing<T> {
    /// Reserves room for that many messages, which must be returned, or used by `claim_held`. `Full`: there is less.
    /// A lossy ring counts nothing.
    pub(crate) fn hold(&self, messages: u64) -> Result<(), Rejected<()>> {
        loop {
            // ORDERING: Acquire, as in `room`.
            let word = self.tail_word().load(Ordering::Acquire);
            if word & CLOSED != 0 {
                return Err(self.refusal(word));
            }
            if self.is_lossy() {
                return if self.readers() == 0 { Err(self.refusal(word)) } else { Ok(()) };
            }
            if word & RESERVED == 0 {
                // ORDERING: Relaxed; a flag, and all writers exchange this word.
                self.tail_word().fetch_or(RESERVED, Ordering::Relaxed);
                continue;
            }
            let end = self.taken().end(word);
            let is_full = end + messages > self.limit();
            if is_full && end + messages <= self.passed(word & POSITION) {
                continue;
            }
            // After the limit: room that is there because the last reader has left is no room.
            if self.readers() == 0 {
                return Err(self.refusal(word));
            }
            if is_full {
                return Err(Rejected::Full(()));
            }
            // ORDERING: Release pairs with the Acquire in `end`. The claim that uses this room hands on what the
            // readers have released: see `claim_held`. Relaxed on failure.
            let taken =
                self.taken().end.compare_exchange_weak(end, end + messages, Ordering::Release, Ordering::Relaxed);
            if taken.is_ok() {
                return Ok(());
            }
            look_away();
        }
    }

    /// Returns room that has been reserved. The caller then notifies writers that wait for room.
    pub(crate) fn give_back(&self, messages: u64) {
        if self.is_lossy() || messages == 0 {
            return;
        }
        // ORDERING: Release pairs with the Acquire in `end`: room that is given back because there is no reader is no room
        // for another sender, which finds that there is none.
        self.taken().end.fetch_sub(messages, Ordering::Release);
        // ORDERING: Release pairs with the Acquire in `moves`.
        self.taken().returned.fetch_add(messages, Ordering::Release);
    }

    /// Claims the cell after all others for a writer that holds room for it. `Full`: a peer has not finished with the
    /// cell. After an error the writer holds that room still.
    pub(crate) fn claim_held(&self) -> Result<ClaimedPosition<'_, T>, Rejected<()>> {
        if self.is_lossy() {
            return self.claim_next();
        }
        // ORDERING: Acquire, as of the exchange below.
        let mut word = self.tail_word().load(Ordering::Acquire);
        loop {
            if word & CLOSED != 0 || self.readers() == 0 {
                return Err(self.refusal(word));
            }
            let tail = word & POSITION;
            let claimed = match self.writable_cell(tail) {
                Ok(claimed) => claimed,
                // Other writers have gone past this cell.
                Err(stamp) if stamp >= tail => {
                    // ORDERING: Acquire, as of the exchange below.
                    word = self.tail_word().load(Ordering::Acquire);
                    continue;
                }
                Err(_) => return Err(Rejected::Full(())),
            };
            // ORDERING: Of the room that has been used, and this writer's, that which was counted last was found below
            // the limit by the thread that took it: with Acquire, so the readers have read what is overwritten here.
            // That thread is this one, or it has claimed a position before: Release hands on what it has acquired, and
            // Acquire receives it. Also as in `claim_next`.
            match self.tail_word().compare_exchange_weak(word, word + 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Ok(claimed),
                Err(found) => word = found,
            }
        }
    }

    /// As [`claim_next`](Self::claim_next), where room is counted: the position, which fits into a register.
    #[cold]
    #[inline(never)]
    pub(super) fn claim_counted(&self) -> Result<u64, Rejected<()>> {
        self.hold(1)?;
        let claimed = self.claim_held();
        if claimed.is_err() {
            self.give_back(1);
        }
        claimed.map(|claimed| claimed.position)
    }

    /// As [`push_many`](Self::push_many), where room is counted.
    pub(super) fn push_many_counted(&self, staging: &mut Staging<T>, displaced: &mut Staging<T>) -> Option<usize> {
        let (mut written, mut is_closed) = (0, false);
        let mut old = core::iter::from_fn(|| {
            while staging.len() != 0 {
                match self.claim_counted() {
                    Ok(position) => {
                        written += 1;
                        let message = staging.next().expect("one is left");
                        if let Some(old) = self.claimed(position).fill(message) {
                            return Some(old);
                        }
                    }
                    Err(rejected) => {
                        is_closed = matches!(rejected, Rejected::Closed(()));
                        break;
                    }
                }
            }
            None
        });
        displaced.fill(&mut old, usize::MAX);
        (written != 0 || !is_closed).then_some(written)
    }
}
