//! The asymmetric pair of barriers: [`light`] and the platform's `heavy` together replace one full fence on each side
//! of a store-then-load handshake. The light side is free where the kernel executes the barrier on its behalf
//! (`membarrier(2)`, see `linux/membarrier.rs`). Any thread; `heavy` makes one system call.

// MUTANT: A compiler barrier that this build does not need. Killed only by the model
// `send_against_a_receiver_going_to_sleep`.
/// The side that runs for every message: costs no instruction, keeps the compiler from reordering.
/// Valid only against a `heavy` on the other side.
#[inline(always)]
#[cfg_attr(ysuite_loom, track_caller)]
pub(crate) fn light() {
    // ORDERING: SeqCst for the compiler; for the processor `heavy` on the other side runs the fence.
    #[cfg(not(ysuite_loom))]
    core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
    #[cfg(ysuite_loom)]
    model::light();
}

/// The kernel's barrier for others in a model: weaker than the real one, and as strong as callers may rely on.
///
/// Each thread has a word of its own. `light` is a read-modify-write of the caller's word, `heavy` is one of every
/// thread's word: so each pair of the two has an order. A `light` that comes first hands over what its thread did
/// before it; one that comes second gets what the caller of `heavy` did before that. Two `light`s hand nothing over to
/// each other, neither call orders atomics elsewhere, and `light` is no fence: where a fence is needed a model finds it
/// missing.
#[cfg(ysuite_loom)]
pub(super) mod model {
    use std::sync::atomic::AtomicUsize as PlainUsize;

    use loom::sync::atomic::{AtomicUsize, Ordering, fence};

    use crate::sync::weakened;

    /// A model has at most this many threads.
    const THREADS: usize = if cfg!(ysuite_shuttle) { 8 } else { 5 };

    struct Barriers {
        words: [AtomicUsize; THREADS],
        /// The number of threads that have a word. Not an atomic of the model: that would order the threads.
        given: PlainUsize,
    }

    loom::lazy_static! {
        static ref BARRIERS: Barriers = Barriers {
            words: std::array::from_fn(|_| AtomicUsize::new(0)),
            given: PlainUsize::new(0),
        };
    }

    // THREAD EXIT: `OWN`, in models alone: `light` is a fence; by construction: `try_with`
    loom::thread_local! {
        // ORDERING: Relaxed; a read-modify-write gives each thread a number of its own, and the number guards nothing.
        static OWN: usize = BARRIERS.given.fetch_add(1, Ordering::Relaxed);
    }

    // MUTANT: Models only.
    #[track_caller]
    pub(super) fn light() {
        if weakened::is_left_out() {
            return;
        }
        // ORDERING: AcqRel pairs with the read-modify-write of the same word in `heavy`: the second of the two gets
        // what the thread of the first did before. A thread whose thread-locals are dropped runs a fence instead.
        if OWN.try_with(|&own| BARRIERS.words[own].fetch_add(0, Ordering::AcqRel)).is_err() {
            fence(Ordering::SeqCst);
        }
    }

    // MUTANT: Models only.
    #[track_caller]
    pub(crate) fn heavy() {
        if weakened::is_left_out() {
            return;
        }
        // ORDERING: SeqCst; `membarrier` is a full fence of the calling thread when it begins.
        fence(Ordering::SeqCst);
        for word in &BARRIERS.words {
            // ORDERING: AcqRel pairs with the read-modify-write of the same word in `light`: whichever comes second
            // gets what the thread of the first did before. Includes the words of threads that have not called `light`
            // yet.
            word.fetch_add(0, Ordering::AcqRel);
        }
        // ORDERING: SeqCst; `membarrier` is a full fence of the calling thread when it returns.
        fence(Ordering::SeqCst);
    }
}
