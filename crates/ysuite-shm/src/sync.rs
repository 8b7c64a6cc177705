//! The atomics of this crate, by one set of names for `std` and `loom`, so that the models run the code that ships.

#[cfg(not(ysuite_loom))]
pub(crate) use std::sync::atomic::{AtomicU64, Ordering, fence};

#[cfg(ysuite_loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering, fence};

/// The word at this address of a mapping. No model has a mapping.
///
/// # Safety
/// As for [`std::sync::atomic::AtomicU64::from_ptr`].
#[inline(always)]
pub(crate) unsafe fn word_at<'a>(address: *mut u64) -> &'a AtomicU64 {
    #[cfg(not(ysuite_loom))]
    // SAFETY: by the caller.
    return unsafe { AtomicU64::from_ptr(address) };
    #[cfg(ysuite_loom)]
    unreachable!("a model with a word at {address:?}")
}

/// A step of the protocol that a model leaves out, to see that it is needed.
#[cfg_attr(not(ysuite_loom), allow(dead_code, reason = "only the models do without some of them"))]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    None,
    Light,
    Heavy,
    SleeperFence,
    PublisherFence,
    LookAfterWithdrawal,
    FenceAfterWithdrawal,
    SecondLook,
    FenceAfterMark,
    FenceAfterCopy,
    FenceAfterConsumed,
    FenceAfterTable,
}

/// Whether the model that runs leaves this step out. A program leaves none out.
#[cfg(not(ysuite_loom))]
#[inline(always)]
pub(crate) const fn is_left_out(_: Step) -> bool {
    false
}

#[cfg(ysuite_loom)]
pub(crate) use self::model::is_left_out;

/// The two barriers in a model: weaker than the real ones, and as strong as callers may rely on.
///
/// Each thread has a word of its own. `light` is a read-modify-write of the caller's word, `heavy` is one of every
/// thread's word. So each pair of the two has an order, and whichever comes second gets what the thread of the first did
/// before. `light` is no fence.
#[cfg(ysuite_loom)]
pub(crate) mod model {
    use std::cell::Cell;
    use std::sync::atomic::AtomicUsize as PlainUsize;

    use loom::sync::atomic::{AtomicUsize, Ordering, fence};

    use super::Step;

    const THREADS: usize = 3;

    loom::lazy_static! {
        static ref WORDS: [AtomicUsize; THREADS] = std::array::from_fn(|_| AtomicUsize::new(0));
        static ref GIVEN: PlainUsize = PlainUsize::new(0);
    }

    loom::thread_local! {
        // ORDERING: Relaxed; the number guards nothing.
        static OWN: usize = GIVEN.fetch_add(1, Ordering::Relaxed);
    }

    std::thread_local! {
        static LEFT_OUT: Cell<Step> = const { Cell::new(Step::None) };
    }

    /// Leaves this step out of the models that this thread runs from now on.
    pub(crate) fn leave_out(step: Step) {
        LEFT_OUT.set(step);
    }

    pub(crate) fn is_left_out(step: Step) -> bool {
        LEFT_OUT.get() == step
    }

    pub(crate) fn light() {
        if !is_left_out(Step::Light) {
            // ORDERING: AcqRel pairs with the read-modify-write of the same word in `heavy`.
            OWN.with(|&own| WORDS[own].fetch_add(0, Ordering::AcqRel));
        }
    }

    pub(crate) fn heavy() {
        if is_left_out(Step::Heavy) {
            return;
        }
        // ORDERING: SeqCst; `membarrier` is a full fence of its caller when it begins, and when it returns.
        fence(Ordering::SeqCst);
        for word in WORDS.iter() {
            // ORDERING: AcqRel pairs with the read-modify-write of the same word in `light`.
            word.fetch_add(0, Ordering::AcqRel);
        }
        fence(Ordering::SeqCst);
    }
}
