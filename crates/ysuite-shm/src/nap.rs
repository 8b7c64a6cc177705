//! How one end goes to sleep while the other publishes, without a word that both write.
//!
//! The sleeper stores the number of its sleep in its own page, runs a barrier, looks once more, and sleeps. The publisher
//! loads that number after each publication. Either the look finds the publication, or the load finds the number, and
//! then the publisher wakes the sleeper, once for each number.
//!
//! A store followed by a load needs a fence on both sides. A publisher that streams does without: it says so in its
//! page, and the sleeper then runs the fence in the publisher's process too ([`heavy`]). It promises its fence again
//! once it has woken somebody, because a system call for each sleep would cost more than the fence.
//!
//! What is loaded of the peer may be anything. The worst that comes of it is a wake-up without a reason, or none for the
//! liar. No word is lost with its taker: `answered` is private. One thread for each half; nothing here blocks.

use crate::os::{heavy, light};
use crate::sync::{AtomicU64, Ordering, Step, fence, is_left_out};

/// This number of publications in a row that wake nobody is a stream.
const WINDOW: u32 = if cfg!(ysuite_loom) { 2 } else { 64 };

/// The publisher's half.
pub(crate) struct Waker {
    /// The sleep for which the sleeper has been woken, or 0 as it was last found awake.
    answered: u64,
    /// A fence runs after each publication, and the own page says so.
    fenced: bool,
    /// It always does: one side cannot use the barrier.
    keeps: bool,
    idle: u32,
}

impl Waker {
    /// The own page must say that fences are promised.
    pub(crate) fn new() -> Self {
        Self { answered: 0, fenced: true, keeps: true, idle: 0 }
    }

    /// From now on fences may be given up: this process is registered, and the sleeper can interrupt it.
    pub(crate) fn may_give_up_fences(&mut self) {
        self.keeps = false;
    }

    /// After each publication: whether [`attend`](Self::attend) must be called.
    #[inline(always)]
    pub(crate) fn must_attend(&self, asleep: &AtomicU64) -> bool {
        light();
        // ORDERING: Relaxed; without a promised fence the sleeper runs `heavy` after it has stored its number, which
        // pairs with `light` above: this load finds the number, or the sleeper's look finds the publication.
        self.fenced || asleep.load(Ordering::Relaxed) != self.answered
    }

    /// True: the sleeper must be woken. `own_fenced` is in the own page, `asleep` in the sleeper's.
    #[cold]
    #[inline(never)]
    pub(crate) fn attend(&mut self, own_fenced: &AtomicU64, asleep: &AtomicU64) -> bool {
        if self.fenced {
            publisher_fence();
        }
        // ORDERING: Relaxed; after the fence above, or as in `must_attend`.
        let found = asleep.load(Ordering::Relaxed);
        if found != self.answered {
            return self.answer(found, own_fenced);
        }
        if !self.fenced || self.keeps {
            return false;
        }
        self.idle += 1;
        self.idle >= WINDOW && self.withdraw(own_fenced, asleep)
    }

    fn answer(&mut self, found: u64, own_fenced: &AtomicU64) -> bool {
        self.answered = found;
        if found == 0 {
            return false;
        }
        self.idle = 0;
        if !self.fenced {
            self.fenced = true;
            // ORDERING: Relaxed; what was published before it is followed by the wake-up that is due, and what is
            // published after it by a fence.
            own_fenced.store(1, Ordering::Relaxed);
        }
        true
    }

    /// Gives the fences up. A sleeper that has still found them promised has stored its number before: it is found here.
    fn withdraw(&mut self, own_fenced: &AtomicU64, asleep: &AtomicU64) -> bool {
        self.idle = 0;
        self.fenced = false;
        // ORDERING: Relaxed; the fence below orders it before the load. It pairs with the sleeper's fence between its
        // number and its load of this word: that load finds 0, or the load below finds the number.
        own_fenced.store(0, Ordering::Relaxed);
        if is_left_out(Step::LookAfterWithdrawal) {
            return false;
        }
        withdrawal_fence();
        // ORDERING: Relaxed; after the fence.
        let found = asleep.load(Ordering::Relaxed);
        found != self.answered && self.answer(found, own_fenced)
    }
}

fn publisher_fence() {
    if is_left_out(Step::PublisherFence) {
        return;
    }
    // ORDERING: SeqCst pairs with the fence in `Sleeper::arm`: the load after it finds the sleeper's number, or the
    // sleeper's look finds what was published before it.
    fence(Ordering::SeqCst);
}

fn withdrawal_fence() {
    if is_left_out(Step::FenceAfterWithdrawal) {
        return;
    }
    // ORDERING: SeqCst pairs with the fence in `Sleeper::arm`, as `withdraw` says.
    fence(Ordering::SeqCst);
}

/// The sleeper's half.
pub(crate) struct Sleeper {
    /// The number of the last sleep.
    sleeps: u64,
}

impl Sleeper {
    pub(crate) fn new() -> Self {
        Self { sleeps: 0 }
    }

    /// Says that this end is about to sleep; it must look once more before it does. False: the kernel has refused the
    /// barrier, so a publication may go unnoticed and the sleep must be short. `own_asleep` is in the own page, `fenced`
    /// in the publisher's.
    pub(crate) fn arm(&mut self, own_asleep: &AtomicU64, fenced: &AtomicU64) -> bool {
        self.sleeps += 1;
        // ORDERING: Relaxed; the fence below orders it before the loads that follow.
        own_asleep.store(self.sleeps, Ordering::Relaxed);
        if !is_left_out(Step::SleeperFence) {
            // ORDERING: SeqCst pairs with the fences of `Waker::attend` and `Waker::withdraw`.
            fence(Ordering::SeqCst);
        }
        // ORDERING: Relaxed; after the fence. A publisher that has withdrawn its promise is found here, or it finds the
        // number above.
        fenced.load(Ordering::Relaxed) == 1 || heavy()
    }

    /// It is awake: publishers need not wake it.
    pub(crate) fn disarm(&self, own_asleep: &AtomicU64) {
        // ORDERING: Relaxed; a publisher that finds the old number wakes it without a reason.
        own_asleep.store(0, Ordering::Relaxed);
    }
}

#[cfg(all(test, ysuite_loom))]
mod models;
