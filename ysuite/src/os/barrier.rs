//! The asymmetric pair of barriers: [`light`] and [`heavy`] together stand for one full fence on each side of a
//! store-then-load handshake. The light side is free where the kernel executes the barrier on its behalf (`membarrier(2)`,
//! see `membarrier.rs`). Any thread; `heavy` makes one system call.

use super::{Native, Platform};

/// Whether the asymmetric pair may be used in this process: decided once, at the first question.
#[inline]
pub(crate) fn asymmetric() -> bool {
    Native::can_bar_others()
}

/// The side that runs for every message: costs no instruction, keeps the compiler from reordering.
/// Valid only against a [`heavy`] on the other side.
#[inline(always)]
pub(crate) fn light() {
    #[cfg(not(ysuite_loom))]
    core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
    #[cfg(ysuite_loom)]
    model::light();
}

/// The side that runs before a sleep: afterwards, every other thread of the process has executed a full fence at some
/// point during the call. Must only be used where [`asymmetric`] has answered true.
pub(crate) fn heavy() {
    Native::bar_others();
}

/// The kernel's barrier for others, as a model sees it: less than it is, and as much as may be relied on.
///
/// Each thread has a word of its own. `light` is a read-modify-write of the caller's word, `heavy` one of everybody's:
/// so each pair of the two has an order. A `light` that comes first hands over what its thread did before it; one that
/// comes second gets what the caller of `heavy` did before that. Nothing passes between two `light`s, nothing to any
/// atomic elsewhere, and none of them is a fence: where a fence is needed a model finds it missing.
#[cfg(ysuite_loom)]
pub(super) mod model {
    use std::sync::atomic::AtomicUsize as PlainUsize;

    use loom::sync::atomic::{AtomicUsize, Ordering, fence};

    /// A model has no more threads.
    const THREADS: usize = 5;

    struct Barriers {
        words: [AtomicUsize; THREADS],
        /// How many threads have a word. Not a model's: that would order them.
        given: PlainUsize,
    }

    loom::lazy_static! {
        static ref BARRIERS: Barriers = Barriers {
            words: std::array::from_fn(|_| AtomicUsize::new(0)),
            given: PlainUsize::new(0),
        };
    }

    loom::thread_local! {
        // ORDERING: Relaxed; a number for each.
        static OWN: usize = BARRIERS.given.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn light() {
        // ORDERING: AcqRel, see above. A thread past its thread-locals has a fence.
        if OWN.try_with(|&own| BARRIERS.words[own].fetch_add(0, Ordering::AcqRel)).is_err() {
            fence(Ordering::SeqCst);
        }
    }

    pub(in crate::os) fn between_threads() {
        // ORDERING: a full fence of the caller's own.
        fence(Ordering::SeqCst);
        // ORDERING: AcqRel, see above; also those of threads that have come to no `light` yet.
        for word in &BARRIERS.words {
            word.fetch_add(0, Ordering::AcqRel);
        }
        fence(Ordering::SeqCst);
    }
}
