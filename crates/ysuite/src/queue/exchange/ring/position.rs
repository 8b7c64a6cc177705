//! Positions, and the two forms of the tail. Any thread; wait-free.
//!
//! The tail is usually a plain position, of 61 bits. While *permits* are held, for messages that have not been sent
//! yet, it is special, and counts them:
//!
//! | bit 63 | bit 62 | bit 61 | bits 0 to 60 |
//! |---|---|---|---|
//! | 0 | 0 | 0 | the position |
//! | `SPECIAL` | 0 or `CLOSED` | 0 | the position |
//! | `SPECIAL` | 0 or `CLOSED` | `HELD` | the number of permits, and the lower bits of the position |
//!
//! So position and count change in one exchange, and a writer that knows only the plain form fails while any permit is
//! held. The upper bits of the position are derived from the head, which is never more than a lap and a cell away: the
//! lower bits say how far the tail is from it. The capacity determines how many bits count, at most 24; at least 37 are
//! left for the position. Only while permits are held, the exchange of a stopped thread could wrongly succeed. The stop
//! would have to last for exactly that number of messages: 2 to the power of 37, and of 51 for a capacity below 1024.

use super::{Cell, Ring, RingEnds, SPECIAL};
use crate::sync::Ordering;

/// A flag in a special tail: permits are held.
const HELD: u64 = 1 << 61;
// REUSED: a position in the ring is never reused: 61 bits, which never wrap; by construction
/// The bits of a plain position.
const POSITION: u64 = HELD - 1;
/// The most bits that count permits.
const COUNT_BITS: u32 = 24;

// REUSED: the lower bits of a position, in a tail that counts reserved room; held by a thread that is stopped for
//     exactly 2^37 messages, and of 2^51 where the capacity is below 1024, which would take the tail for unchanged; the
//     head gives the bits above; test: src/queue/exchange/ring/position.rs:
//     places_are_held_while_the_lower_bits_begin_anew
/// The tail as a thread has found it.
#[derive(Clone, Copy)]
pub(super) struct Tail {
    pub(super) word: u64,
    /// Where the next message is written.
    pub(super) position: u64,
    /// The number of the cells from there on that belong to holders of permits. They are free, except those that a
    /// [forced](Ring::force) message has not left yet.
    pub(super) held: usize,
}

/// What one lap of `cells` cells adds to a position.
#[inline]
pub(super) fn lap(cells: usize) -> u64 {
    (cells as u64).next_power_of_two().max(2)
}

/// The number of the tail's bits that are the position's while permits are held, in a ring of `cells` cells. The others
/// count the permits.
#[inline]
pub(super) fn position_bits(cells: usize) -> u32 {
    // MUTANT: At least 37 bits are left for the position either way.
    HELD.trailing_zeros() - (usize::BITS - cells.leading_zeros()).min(COUNT_BITS)
}

impl RingEnds {
    /// Decodes a tail, in which `bits` bits are the position's while permits are held.
    #[inline]
    pub(super) fn read(&self, word: u64, bits: u32) -> Tail {
        if word & HELD == 0 {
            return Tail { word, position: word & POSITION, held: 0 };
        }
        // ORDERING: Relaxed; any head of about the same time will do, also one that is ahead of this tail.
        let head = self.head.load(Ordering::Relaxed);
        // MUTANT: The additional bit is shifted out. The lower bits of the difference, with their sign.
        let ahead = ((word.wrapping_sub(head) << (u64::BITS - bits)) as i64) >> (u64::BITS - bits);
        Tail { word, position: head.wrapping_add_signed(ahead), held: ((word & POSITION) >> bits) as usize }
    }
}

/// A position taken apart.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    position: u64,
    /// That of its cell.
    index: u64,
    /// The stamp of its cell while it may be written: the lap.
    pub(super) free: u64,
    /// The same in the next lap.
    pub(super) next_free: u64,
}

impl<T> Ring<T> {
    /// Takes a position apart. `lap`: the ring's, which the compiler would load again after each load of a stamp.
    #[inline(always)]
    pub(super) fn spot(lap: u64, position: u64) -> Spot {
        let index = position & (lap - 1);
        let free = position - index;
        // Wrapping: `read` may give a position that no ring ever had.
        Spot { position, index, free, next_free: free.wrapping_add(lap) }
    }

    #[inline(always)]
    pub(super) fn cell_of(&self, spot: Spot) -> &Cell<T> {
        debug_assert!((spot.index as usize) < self.cells.len());
        // SAFETY: every position is 0 or comes from `after` or `behind`, whose results have an index below the number
        // of cells. A hint is such a position of this ring, because a handle uses one ring for ever. `read` returns
        // such a position. Where head and tail were loaded too long after each other, it returns one that differs by a
        // power of two. A lap is a divisor of that, so the index is the same.
        unsafe { self.cells.get_unchecked(spot.index as usize) }
    }

    /// The position after this one.
    #[inline(always)]
    pub(super) fn behind(&self, spot: Spot) -> u64 {
        if spot.index + 1 < self.cells.len() as u64 { spot.position + 1 } else { spot.next_free }
    }

    /// The cell of a position.
    #[inline(always)]
    pub(super) fn cell(&self, position: u64) -> &Cell<T> {
        self.cell_of(Self::spot(self.lap, position))
    }

    /// The position `cells` further on. `cells` is at most the capacity.
    #[inline(always)]
    pub(super) fn after(&self, position: u64, cells: usize) -> u64 {
        let capacity = self.cells.len() as u64;
        let next = position + cells as u64;
        // The capacity is at most a lap, so the sum passes the end of its lap only where the index passes the capacity.
        if (position & (self.lap - 1)) + (cells as u64) < capacity { next } else { next + (self.lap - capacity) }
    }

    /// The stamp of a position's cell while it may be written.
    #[inline(always)]
    pub(super) fn free(&self, position: u64) -> u64 {
        position & !(self.lap - 1)
    }

    /// The cells from a position on, as the two contiguous runs that they form: the stamp of a run's cells while they
    /// are free, and the run. `cells` is at most the capacity.
    #[inline(always)]
    pub(super) fn runs(&self, position: u64, cells: usize) -> [(u64, &[Cell<T>]); 2] {
        let Spot { index, free, next_free, .. } = Self::spot(self.lap, position);
        let first = cells.min(self.cells.len() - index as usize);
        let run = &self.cells[index as usize..][..first];
        [(free, run), (next_free, &self.cells[..cells - first])]
    }

    // MUTANT: The difference of the two positions is small and never negative.
    /// The number of messages from one position to another.
    pub(super) fn between(&self, from: u64, to: u64) -> usize {
        let mask = self.lap - 1;
        let laps = ((to & !mask).wrapping_sub(from & !mask) / self.lap).wrapping_mul(self.cells.len() as u64);
        let messages = laps.wrapping_add(to & mask).wrapping_sub(from & mask);
        // The two sides are loaded one after the other: in between either may have moved on.
        if messages > 1 << 63 { 0 } else { messages.min(self.cells.len() as u64) as usize }
    }

    /// The number of permits that can be held at a time: the capacity, as far as the tail can count.
    #[inline]
    pub(crate) fn most_held(&self) -> usize {
        // MUTANT: Needs 16 million permits. Killed only by `both_forms_of_the_tail_say_the_same`.
        self.cells.len().min((1 << COUNT_BITS) - 1)
    }

    // MUTANT: Needs 16 million permits. Killed only by
    // `beside_as_many_places_as_can_be_counted_there_is_room_for_messages`.
    /// Whether no more permits can be held, though there may be room: the tail cannot count more.
    pub(crate) fn is_counted_out(&self) -> bool {
        let most = self.most_held();
        most < self.cells.len() && self.tail().is_ok_and(|tail| tail.held == most)
    }

    /// What a tail says.
    #[inline]
    pub(super) fn read(&self, word: u64) -> Tail {
        self.ends.read(word, self.position_bits)
    }

    /// The tail that says this.
    #[inline]
    pub(super) fn write(&self, position: u64, held: usize) -> u64 {
        debug_assert!(held <= self.most_held() && position <= POSITION);
        if held == 0 {
            return position;
        }
        let bits = self.position_bits;
        SPECIAL | HELD | (held as u64) << bits | position & ((1 << bits) - 1)
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::{Ring, SPECIAL};
    use crate::queue::exchange::{Hint, Rejected, Unforced};
    use crate::sync::{AtomicU64, Ordering};

    /// An empty ring whose next message goes to a position shortly before the lower bits wrap to 0.
    fn late(capacity: usize) -> Ring<u64> {
        let ring = Ring::new(capacity);
        let bits = ring.position_bits;
        // One lap before, at the last cell but one.
        let position = (1 << bits) - ring.lap + (capacity as u64).saturating_sub(2);
        let set = |word: &AtomicU64, value| word.store(value, Ordering::Relaxed);
        set(&ring.ends.head, position);
        set(&ring.ends.tail, position);
        for index in 0..capacity as u64 {
            let is_behind = index < position & (ring.lap - 1);
            set(&ring.cells[index as usize].stamp, ring.free(position) + if is_behind { ring.lap } else { 0 });
        }
        ring
    }

    fn hold(ring: &Ring<u64>, places: usize) {
        assert!(ring.hold(places, places).is_ok_and(|held| held == places));
    }

    #[test]
    fn both_forms_of_the_tail_say_the_same() {
        for capacity in [1, 2, 3, 1_000, 1 << 20, 1 << 24].into_iter().filter(|capacity| !cfg!(miri) || *capacity < 9) {
            let ring = Ring::<()>::new(capacity);
            let bits = ring.position_bits;
            assert!(bits >= 37 && ring.lap < 1 << (bits - 1));
            for laps in [1, (1 << bits) / ring.lap - 1, (1 << bits) / ring.lap, (3 << (bits - 1)) / ring.lap] {
                let head = laps * ring.lap;
                ring.ends.head.store(head, Ordering::Relaxed);
                for cells in [0, 1, capacity / 2, capacity] {
                    let position = ring.after(head, cells);
                    for held in [0, 1, capacity / 2, ring.most_held()] {
                        let tail = ring.read(ring.write(position, held));
                        assert_eq!((tail.position, tail.held), (position, held), "capacity {capacity}");
                        assert_eq!(tail.word & SPECIAL != 0, held != 0);
                        // A head that has been loaded later.
                        ring.ends.head.store(ring.after(position, capacity), Ordering::Relaxed);
                        assert_eq!(ring.read(tail.word).position, position);
                        ring.ends.head.store(head, Ordering::Relaxed);
                    }
                }
            }
        }
    }

    /// Claim: Permits stay valid while the low bits of the position wrap.
    #[test]
    fn places_are_held_while_the_lower_bits_begin_anew() {
        for capacity in [1, 2, 3, 5, 8] {
            let (ring, hint) = (late(capacity), Hint::new());
            let first = ring.place();
            for number in 0..6 * capacity as u64 {
                hold(&ring, 1);
                assert!((2..=capacity).all(|_| ring.offer(number).is_ok()));
                assert!(matches!(ring.offer(0), Err(Rejected::Full(0))));
                assert!(matches!(ring.hold(1, 1), Err(Rejected::Full(()))));
                assert_eq!((ring.len(), ring.room(), ring.is_writable()), (capacity - 1, 0, false));
                if capacity > 1 {
                    let mut place = Some(number);
                    assert!(ring.force(&mut place).is_ok() && place == Some(number));
                } else {
                    assert!(ring.force(&mut Some(number)).err() == Some(Unforced::Held) && ring.is_all_held());
                }
                if number % 2 == 0 {
                    assert!(ring.push_held(number).is_ok());
                } else {
                    assert!(ring.release(1) && ring.push(&hint, number).is_ok());
                }
                assert!(!ring.is_special() && ring.len() == capacity && ring.push(&hint, 0).is_err());
                assert!((0..capacity).all(|_| ring.pop(&hint) == Some(number)) && ring.is_empty());
            }
            assert!(ring.place() > first && ring.has_reached(ring.place()));
        }
    }

    #[test]
    fn a_ring_that_is_closed_while_places_are_held_knows_its_end() {
        let (ring, hint) = (late(3), Hint::new());
        hold(&ring, 2);
        assert!(ring.push(&hint, 1).is_err() && ring.offer(1).is_ok());
        assert!(ring.close() && !ring.close());
        assert!(!ring.is_empty() && !ring.release(2));
        assert!(matches!(ring.push_held(2), Err(Rejected::Closed(2))));
        assert_eq!(ring.force(&mut Some(2)).err(), Some(Unforced::Closed));
        assert_eq!((ring.len(), ring.pop(&hint), ring.pop(&hint)), (1, Some(1), None));
        assert!(ring.is_closed() && ring.is_empty());
    }

    #[cfg(feature = "statistics")]
    #[test]
    fn the_mark_of_a_ring_that_was_found_full_is_its_bound() {
        use crate::statistics::Counted;

        let ring = Ring::new(3);
        (0..3_u64).for_each(|number| assert!(ring.offer(number).is_ok()));
        assert!(matches!(ring.offer(3), Err(Rejected::Full(3))));
        ring.drain();
        let totals = ring.ends.totals();
        assert_eq!((totals.sent, totals.received, totals.high_water), (3, 3, 3));
    }
}
