//! Passive synchronisation: one word by which a sleeper requests a wake-up from the next publisher.
//!
//! Two threads share a word: the *publisher* loads it after each publication, the *sleeper* arms it before it sleeps.
//! Every operation is wait-free; only the sleeper's heavy barrier is a system call, and once in a process a publisher
//! registers for it, which may block for about 10 ms.
//!
//! The handshake is the store-then-load one: publish, barrier, load the word, against arm, barrier, poll the queue. At
//! least one of the two threads sees what the other has stored. The publisher's barrier is free for a stream (a
//! compiler barrier, against the sleeper's `membarrier`), and a fence for a while after each wake-up (against the
//! sleeper's fence): a thread that is woken for every message never pays for a `membarrier`, a stream never pays for a
//! fence. The bit `FENCED` says which of the two holds. It is part of the word itself, so that both threads learn it by
//! an access they need anyway. A process has no `membarrier` before fences have cost as much as its registration
//! (`os/linux/membarrier.rs`): until then each promise is kept, and the word works as on systems without one.
//!
//! Where many threads publish, each on a word of its own, the sleeper marks all these words and pays for one
//! [`Barrier`]. A word that many threads *call* ([`Passive::called`]) keeps the promise of a fence until the end.
//!
//! Cannot: serve two sleepers at once, or two publishers that use [`Passive::published`].
//!
//! Sources: Y-suite (ØMQ 0.2) for the idea; liburcu, folly and C++ P1202 for the asymmetric barriers.

#[cfg(all(test, ysuite_loom))]
mod models;

use crate::os::{heavy, light, may_give_up_fences};
use crate::sync::{AtomicU32, Ordering, fence, window};

/// The publisher promises a full fence between its publication and its next check of this word.
const FENCED: u32 = 1 << 31;
/// The sleeping side is gone for good.
pub(crate) const GONE: u32 = 1 << 30;
/// The sleeping side accepts only what was sent before. Both sides agree elsewhere where the queue ends.
pub(crate) const CUT: u32 = 1 << 29;
/// What is never taken out of the word again.
pub(crate) const STAYS: u32 = GONE | CUT;
/// All other bits are the sleeper's own: they say how to wake it, and are opaque here.
const TOKENS: u32 = !(FENCED | STAYS);

/// Publications without a sleeper after which the publisher gives up the fence for the free barrier, where there is
/// one.
const FENCE_WINDOW: u32 = if cfg!(ysuite_loom) { 1 } else { 64 };

/// The sleeper's half of the barrier, owed for the words it has marked: one barrier pays for all of them.
#[must_use = "until it is passed, a publication may be missed"]
pub(crate) struct Barrier {
    /// The bits that all those words have in common, as they were before they were marked.
    words: u32,
}

impl Barrier {
    /// Owed for no word so far.
    pub(crate) const fn none() -> Self {
        Self { words: FENCED }
    }

    /// Owed for the words of `other` as well.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { words: self.words & other.words }
    }

    // MUTANT: In a race: a publisher takes a wake mode while the waiter arms. Killed only by the model
    // `a_publisher_that_takes_a_token_sees_what_the_sleeper_did_and_is_seen_by_a_look`.
    pub(crate) fn pass(self) {
        window();
        if self.words & FENCED != 0 {
            // ORDERING: SeqCst pairs with the fence in `attend`, which every publisher of a marked word has promised
            // for its next check, and with the fence in `called`.
            fence(Ordering::SeqCst);
        } else {
            // ORDERING: pairs with `light()` in `published`; and as a full barrier of this thread, too, with the fence
            // in `attend` of each publisher that has promised one.
            heavy();
        }
    }
}

/// The word, and the publisher's count of publications without a sleeper.
pub(crate) struct Passive {
    /// Armed by the sleeper, taken by the publisher. Others only wait until it changes, and wake those that do.
    pub(crate) word: AtomicU32,
    /// Owned by the publisher; atomic only so that `Passive` can be shared.
    idle_publications: AtomicU32,
}

impl Passive {
    pub(crate) fn new() -> Self {
        // A new pair starts fenced: a pair with one message a minute never makes the kernel interrupt other CPUs.
        Self { word: AtomicU32::new(FENCED), idle_publications: AtomicU32::new(0) }
    }

    /// A word that is armed from the start: no message has been published yet.
    pub(crate) fn armed(tokens: u32) -> Self {
        Self { word: AtomicU32::new(FENCED | tokens), idle_publications: AtomicU32::new(0) }
    }

    /// A word on which no thread will ever sleep.
    pub(crate) fn unused() -> Self {
        Self { word: AtomicU32::new(0), idle_publications: AtomicU32::new(0) }
    }

    // MUTANT: Speed only: one more check after a fence. Killed only by the model
    // `flush_against_a_reader_going_to_sleep`.
    /// Publisher, after each publication: the tokens of a sleeper that wants to be woken, or 0. May contain [`GONE`]
    /// and [`CUT`].
    #[inline(always)]
    pub(crate) fn published(&self) -> u32 {
        light();
        // ORDERING: Relaxed; `attend` loads a non-zero word again after its fence. Where the word is 0 the publisher
        // has promised no fence, so a sleeper that arms it runs `heavy()` in `Barrier::pass`, which pairs with
        // `light()` above: either this load sees the token, or the sleeper's second poll sees the publication.
        if self.word.load(Ordering::Relaxed) == 0 { 0 } else { self.attend() }
    }

    // MUTANT: Speed only: publishers keep their fence, which is right for every waiter. A word without the bit has
    // nothing to give up.
    /// The word is not 0: the sleeper sleeps or has left, or the publisher has promised a fence.
    #[cold]
    #[inline(never)]
    fn attend(&self) -> u32 {
        // ORDERING: SeqCst pairs with the fence or `heavy()` in `Barrier::pass`: either the load below sees the token,
        // or the sleeper's second poll sees what was published before this fence.
        fence(Ordering::SeqCst);
        // ORDERING: Relaxed; after the fence, and tokens are taken by the read-modify-write in `take`, which acquires.
        let word = self.word.load(Ordering::Relaxed);
        window();
        if word & (TOKENS | STAYS) != 0 {
            return self.take();
        }
        if word & FENCED != 0 {
            // ORDERING: Relaxed; only the publisher uses this counter.
            let idle_publications = self.idle_publications.load(Ordering::Relaxed) + 1;
            let is_stream = idle_publications >= FENCE_WINDOW;
            // ORDERING: Relaxed, as above.
            self.idle_publications.store(if is_stream { 0 } else { idle_publications }, Ordering::Relaxed);
            if is_stream && may_give_up_fences(FENCE_WINDOW) {
                // ORDERING: Relaxed; a read-modify-write of the word that `mark` modifies by one as well, and it hands
                // nothing over. A sleeper that arms later sees the bit gone and runs `heavy()`. A sleeper that has
                // armed since the load above has its token in the word, where the publisher's next load finds it by
                // coherence alone; and it has seen all that is published so far.
                self.word.fetch_and(!FENCED, Ordering::Relaxed);
            }
        }
        0
    }

    // MUTANT: Speed only: a bit that was not there is not added. Killed only by
    // `what_is_flushed_to_a_reader_that_is_gone_is_dropped_at_once`.
    /// Takes all tokens, at most once each, and promises fences again.
    fn take(&self) -> u32 {
        // ORDERING: Relaxed; only the publisher uses this counter.
        self.idle_publications.store(0, Ordering::Relaxed);
        // ORDERING: the Acquire side pairs with the Release side of the `fetch_or` in `mark`, so that what the token
        // represents (a waker, a registration) is visible to the publisher that wakes by it. SeqCst keeps it in one
        // order with `mark` and with `attend`'s change of FENCED.
        let before = self.word.swap(FENCED, Ordering::SeqCst);
        if before & STAYS != 0 {
            // ORDERING: Relaxed; it hands no data over: the swap above has acquired what the sleeper did before it
            // left or cut, and such a sleeper will not arm the word again.
            self.word.fetch_or(before & STAYS, Ordering::Relaxed);
        }
        window();
        before & (TOKENS | STAYS)
    }

    // MUTANT: Speed only: an early exit. At worst a notification without a reason.
    /// Any number of threads, each after it has published elsewhere: the tokens of a sleeper that wants to be woken, or
    /// 0. Only for words on which no thread [publishes](Self::published).
    pub(crate) fn called(&self) -> u32 {
        // ORDERING: SeqCst pairs with the fence or `heavy()` in `Barrier::pass`: either the load below sees the token,
        // or the sleeper's second poll sees what this thread did before this fence.
        fence(Ordering::SeqCst);
        // ORDERING: Relaxed; after the fence, and tokens are taken by the read-modify-write below, which acquires.
        if self.word.load(Ordering::Relaxed) & TOKENS == 0 {
            return 0;
        }
        window();
        // FENCED stays, so all callers and the sleeper continue to use fences.
        // ORDERING: the Acquire side pairs with the Release side of the `fetch_or` in `mark`, so that what the token
        // represents (a waker, a registration) is visible to the caller that wakes by it. SeqCst keeps it in one order
        // with `mark`.
        self.word.fetch_and(!TOKENS, Ordering::SeqCst) & TOKENS
    }

    /// For the sleeper: adds `tokens` to those in the word. Afterwards it must poll the queue once more before it
    /// sleeps.
    pub(crate) fn arm(&self, tokens: u32) {
        self.mark(tokens).pass();
    }

    /// Sleeper: as [`arm`](Self::arm), but the barrier is still owed.
    pub(crate) fn mark(&self, tokens: u32) -> Barrier {
        debug_assert!(tokens != 0 && tokens & !TOKENS == 0);
        // ORDERING: the Release side pairs with the Acquire side of the read-modify-writes in `take` and `called`,
        // which hand the token out; SeqCst puts it in one order with `attend`'s change of FENCED.
        Barrier { words: self.word.fetch_or(tokens, Ordering::SeqCst) }
    }

    /// Sleeper: takes `tokens` back; returns those that no publisher had taken. A wake-up already under way is
    /// harmless.
    pub(crate) fn disarm(&self, tokens: u32) -> u32 {
        // ORDERING: Acquire pairs with the Release side of the swap in `take` and of the `fetch_and` in `called`: where
        // a token is found gone, its publication is visible.
        self.word.fetch_and(!tokens, Ordering::Acquire) & tokens
    }

    /// Sleeper: the whole word: its own tokens that no publisher has taken yet, and bits it ignores. The sleeper waits
    /// for a change of the whole word, for as long as its token is in it.
    pub(crate) fn look(&self) -> u32 {
        // ORDERING: Acquire pairs with the Release side of the swap in `take` and of the `fetch_and` in `called`: where
        // a token is found gone, its publication is visible.
        self.word.load(Ordering::Acquire)
    }

    /// For the sleeper: leaves for good; the barrier is still owed. After it every publication returns [`GONE`].
    pub(crate) fn go(&self) -> Barrier {
        // ORDERING: the Release side pairs with the Acquire side of the swap in `take` and with `is_gone`: all that the
        // sleeper did before is visible. SeqCst puts it in one order with `attend`'s change of FENCED.
        Barrier { words: self.word.fetch_or(GONE, Ordering::SeqCst) }
    }

    /// For the sleeper: accepts no more; the barrier is still owed. After it every publication returns [`CUT`].
    pub(crate) fn cut(&self) -> Barrier {
        // ORDERING: Relaxed; it hands nothing over: what the two sides agree on is elsewhere, after the barrier.
        // Whether `attend` has changed FENCED before is in the word itself.
        Barrier { words: self.word.fetch_or(CUT, Ordering::Relaxed) }
    }

    // MUTANT: A sender in its drop has published everything. Killed only by `hidden_messages_at_the_close`, and by the
    // model `close_against_hidden_messages_and_the_senders_end`.
    /// Publisher: whether the sleeping side wants no more.
    pub(crate) fn is_cut(&self) -> bool {
        // ORDERING: Relaxed; what the two sides agree on is elsewhere, and is acquired there.
        self.word.load(Ordering::Relaxed) & CUT != 0
    }

    /// Whether the sleeping side has left.
    #[inline]
    pub(crate) fn is_gone(&self) -> bool {
        // ORDERING: Acquire pairs with the Release side of the `fetch_or` in `go`: all that the sleeper did before is
        // visible.
        self.word.load(Ordering::Acquire) & GONE != 0
    }
}

#[cfg(all(test, not(ysuite_loom), not(miri)))]
mod tests {
    use super::{FENCE_WINDOW, Passive};
    use crate::os::{asymmetric, calls, prepare};

    fn calls_to_arm(word: &Passive) -> u64 {
        let before = calls();
        word.arm(1);
        calls() - before
    }

    #[test]
    fn only_behind_a_stream_does_it_take_a_call_to_arm() {
        prepare();
        let behind_a_stream = u64::from(asymmetric());
        let word = Passive::new();
        for _ in 0..3 {
            assert_eq!((calls_to_arm(&word), word.published()), (0, 1));
            assert!((1..FENCE_WINDOW).all(|_| word.published() == 0));
        }
        assert_eq!(word.published(), 0);
        assert_eq!((calls_to_arm(&word), word.published()), (behind_a_stream, 1));
        assert_eq!(calls_to_arm(&word), 0);
    }
}
