//! Where a handle of the ring begins its search: the position after its last claim. Any thread; wait-free.
//!
//! A stream of claims that loaded the position before each of them would wait, every time, until its own last exchange
//! is through the pipeline, and only then check the cell. With the position remembered, the check of the cell, and all
//! that follows, no longer depends on that exchange.
//!
//! A hint is a position that the ring once had, so it is at or before the one the ring has now. Nothing more may be
//! relied on: several threads may use one handle, and the other handles move the ring's position as well. A cell's
//! stamp shows whether the position was passed, and the exchange fails where it was. Finding nothing at a hint implies
//! nothing: then the ring's own position is checked.
//!
//! Cannot: serve two rings. A handle uses one, for ever.

// For hints only, so not `crate::sync`'s: a model need not explore it.
use core::sync::atomic::{AtomicU64, Ordering};

/// Positions between two waits from which on a handle is in a stream.
const STREAM: u64 = 8;

/// What a handle remembers of its ring's positions.
pub(crate) struct Hint {
    /// After its last claim.
    position: AtomicU64,
    /// The same when it last had to wait.
    waited: AtomicU64,
}

impl Hint {
    /// The position that every ring begins with.
    pub(crate) const fn new() -> Self {
        Self::at(0)
    }

    pub(super) const fn at(position: u64) -> Self {
        Self { position: AtomicU64::new(position), waited: AtomicU64::new(position) }
    }

    #[inline(always)]
    pub(super) fn recall(&self) -> u64 {
        // ORDERING: Relaxed; the word guards nothing: a cell's stamp, and the exchange of the ring's position, decide.
        self.position.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(in crate::queue::exchange) fn keep(&self, position: u64) {
        // MUTANT: Speed only: where a handle begins its search.
        // ORDERING: Relaxed, as above.
        self.position.store(position, Ordering::Relaxed);
    }

    /// For a handle that has to wait. Whether it was in a stream: the ring has moved on by several positions since its
    /// last wait.
    pub(crate) fn is_stream_over(&self) -> bool {
        let position = self.recall();
        // ORDERING: Relaxed twice; what is lost where several threads use the handle is a wait that is a little shorter
        // or longer.
        let waited = self.waited.load(Ordering::Relaxed);
        self.waited.store(position, Ordering::Relaxed);
        position.wrapping_sub(waited) >= STREAM
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::{Hint, STREAM};
    use crate::queue::exchange::Ring;

    #[test]
    fn an_end_that_others_have_overtaken_finds_what_is_there() {
        for capacity in [1, 2, 3, 5] {
            for overtaken in 0..3 * capacity as u64 {
                let ring = Ring::new(capacity);
                let (mine, theirs) = (Hint::new(), Hint::new());
                for number in 0..overtaken {
                    assert!(ring.push(&theirs, number).is_ok() && ring.pop(&theirs) == Some(number));
                }
                assert_eq!(ring.pop(&mine), None);
                // Both hints of this side lag by up to three laps.
                let (sender, receiver) = (Hint::new(), Hint::new());
                assert!((0..capacity).all(|_| ring.push(&sender, overtaken).is_ok()));
                assert_eq!(ring.push(&mine, 0), Err(0), "capacity {capacity}");
                assert!((0..capacity).all(|_| ring.pop(&receiver) == Some(overtaken)));
                assert_eq!((ring.pop(&receiver), ring.pop(&mine)), (None, None));
            }
        }
    }

    #[test]
    fn an_end_that_is_behind_finds_places_held_and_the_close() {
        let ring = Ring::new(2);
        let (mine, theirs) = (Hint::new(), Hint::new());
        assert!(ring.push(&theirs, 1).is_ok() && ring.pop(&theirs) == Some(1));
        assert!(ring.hold(1, 1).is_ok_and(|held| held == 1));
        assert_eq!(ring.push(&mine, 2), Err(2));
        assert!(ring.release(1) && ring.push(&mine, 2).is_ok() && ring.close());
        assert_eq!((ring.push(&mine, 3), ring.push(&theirs, 3)), (Err(3), Err(3)));
        assert_eq!((ring.pop(&mine), ring.pop(&mine)), (Some(2), None));
    }

    #[test]
    fn a_stream_is_several_positions_between_two_waits() {
        let hint = Hint::new();
        assert!(!hint.is_stream_over());
        for (position, is_stream) in [(STREAM - 1, false), (2 * STREAM - 1, true), (2 * STREAM, false)] {
            hint.keep(position);
            assert_eq!(hint.is_stream_over(), is_stream);
        }
    }
}
