//! Passive synchronisation: one word by which a sleeper tells whoever publishes next that it wants to be woken.
//!
//! Two threads share a word: the *publisher* looks at it after each publication, the *sleeper* arms it before it
//! sleeps. Every operation is wait-free; none makes a system call but the sleeper's heavy barrier.
//!
//! The handshake is the store-then-load one: publish, barrier, look at the word, against arm, barrier, look at the
//! queue. One of the two sees the other. The publisher's barrier is free for a stream (a compiler barrier, against the
//! sleeper's `membarrier`), and a fence for a while after each wake-up (against the sleeper's fence): a thread that is
//! woken for every message never pays for a `membarrier`, a stream never pays for a fence. The bit `FENCED` says which of
//! the two holds, and it lives in the word itself, so that both learn it with the very access they need anyway.
//!
//! Where many threads publish, each on a word of its own, the sleeper marks all these words and pays for one
//! [`Barrier`]. A word that many threads *call* ([`Passive::called`]) keeps the promise of a fence for ever.
//!
//! Cannot: serve two sleepers at once, or two publishers that use [`Passive::published`].
//! Sources: Y-suite (ØMQ 0.2) for the idea; liburcu, folly and C++ P1202 for the asymmetric barriers.

use crate::os::{asymmetric, heavy, light};
use crate::sync::{AtomicU32, Ordering, fence, window};

/// The publisher promises a full fence between its publication and its look at this word.
const FENCED: u32 = 1 << 31;
/// The sleeping side is gone for good.
pub(crate) const GONE: u32 = 1 << 30;
/// Everything else is the sleeper's own: how it sleeps, opaque here.
const TOKENS: u32 = !(FENCED | GONE);

/// Publications without a sleeper after which the fence is given up for the free barrier.
#[cfg(not(ysuite_loom))]
const FENCE_WINDOW: u32 = 64;
#[cfg(ysuite_loom)]
const FENCE_WINDOW: u32 = 1;

/// The sleeper's half of the barrier, owed for words it has marked: one pays for all of them.
#[must_use = "until it is passed, a publication may be missed"]
pub(crate) struct Barrier {
    /// What all those words have in common.
    words: u32,
}

impl Barrier {
    /// Owed to nobody so far.
    pub(crate) const fn none() -> Self {
        Self { words: FENCED }
    }

    /// Owed for one more word.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { words: self.words & other.words }
    }

    pub(crate) fn pass(self) {
        window();
        if self.words & FENCED != 0 {
            // ORDERING: pairs with the fence in `attend`, which every publisher has promised for its next look, and with
            // the one in `called`.
            fence(Ordering::SeqCst);
        } else {
            // Pairs with `light()` in `published`, and, being a full barrier of this thread as well, with the fences of
            // those who have promised one.
            heavy();
        }
    }
}

/// The word, and the publisher's memory of how long nobody has slept.
pub(crate) struct Passive {
    /// Armed by the sleeper, taken by the publisher.
    word: AtomicU32,
    /// Owned by the publisher; atomic only so that this can be shared.
    idle_publications: AtomicU32,
}

impl Passive {
    pub(crate) fn new() -> Self {
        // A new pair starts fenced: whoever sends one message a minute never makes the kernel interrupt other CPUs.
        Self { word: AtomicU32::new(FENCED), idle_publications: AtomicU32::new(0) }
    }

    /// A word that is armed from the start: nobody has published yet.
    pub(crate) fn armed(tokens: u32) -> Self {
        Self { word: AtomicU32::new(FENCED | tokens), idle_publications: AtomicU32::new(0) }
    }

    /// A word on which nobody will ever sleep.
    pub(crate) fn unused() -> Self {
        Self { word: AtomicU32::new(0), idle_publications: AtomicU32::new(0) }
    }

    /// The word to sleep on, for a wait that compares it.
    pub(crate) fn word(&self) -> &AtomicU32 {
        &self.word
    }

    /// Publisher, after each publication: the tokens of a sleeper that wants to be woken, or 0. May contain [`GONE`].
    #[inline(always)]
    pub(crate) fn published(&self) -> u32 {
        light();
        // ORDERING: Relaxed; a non-zero word is looked at again in `attend`. Where it is 0 the publisher is not fenced,
        // so a sleeper that armed before this load was performed has run `heavy()` in `arm`, which pairs with `light()`.
        if self.word.load(Ordering::Relaxed) == 0 { 0 } else { self.attend() }
    }

    /// The word is not 0: somebody sleeps, or is gone, or the publisher has promised a fence.
    #[cold]
    #[inline(never)]
    fn attend(&self) -> u32 {
        // ORDERING: pairs with the fence or `heavy()` in `arm`: either the load below sees the token, or the sleeper's
        // second look sees what was published before this fence.
        fence(Ordering::SeqCst);
        // ORDERING: Relaxed; whoever takes tokens does so with the read-modify-write in `take`.
        let word = self.word.load(Ordering::Relaxed);
        window();
        if word & (TOKENS | GONE) != 0 {
            return self.take();
        }
        if word & FENCED != 0 && asymmetric() {
            // ORDERING: Relaxed twice; only the publisher touches it.
            let idle_publications = self.idle_publications.load(Ordering::Relaxed) + 1;
            self.idle_publications
                .store(if idle_publications < FENCE_WINDOW { idle_publications } else { 0 }, Ordering::Relaxed);
            if idle_publications >= FENCE_WINDOW {
                // ORDERING: SeqCst read-modify-write on the word that `arm` modifies so as well: one that arms later sees
                // the bit gone and uses `heavy()`; one that has armed since the load above has its token in the word,
                // where the next look finds it by coherence alone, and has seen all that is published so far.
                self.word.fetch_and(!FENCED, Ordering::SeqCst);
            }
        }
        0
    }

    /// Takes all tokens, at most once each, and promises fences again.
    fn take(&self) -> u32 {
        // ORDERING: Relaxed; only the publisher touches it.
        self.idle_publications.store(0, Ordering::Relaxed);
        // ORDERING: Acquire side pairs with the release of `arm`, so that what the token stands for (a waker, a
        // registration) is visible to whoever rings it; SeqCst keeps it in one order with `arm` and `attend`.
        let before = self.word.swap(FENCED, Ordering::SeqCst);
        if before & GONE != 0 {
            // ORDERING: Relaxed; only this thread reads the bit, and its sleeper will not touch the word again.
            self.word.fetch_or(GONE, Ordering::Relaxed);
        }
        window();
        before & (TOKENS | GONE)
    }

    /// Any number of threads, each after what it did somewhere else: the tokens of a sleeper that wants to be woken, or
    /// 0. Only for words on which nobody [publishes](Self::published).
    pub(crate) fn called(&self) -> u32 {
        // ORDERING: pairs with the fence in `Barrier::pass`: either the load below sees the token, or the sleeper's second
        // look sees what was done before this fence.
        fence(Ordering::SeqCst);
        // ORDERING: Relaxed; whoever takes tokens does so with the read-modify-write below.
        if self.word.load(Ordering::Relaxed) & TOKENS == 0 {
            return 0;
        }
        window();
        // ORDERING: as in `take`; FENCED stays, so all callers and the sleeper go on using fences.
        self.word.fetch_and(!TOKENS, Ordering::SeqCst) & TOKENS
    }

    /// Sleeper: leaves `tokens` beside those already there. Afterwards the queue must be looked at once more before
    /// sleeping.
    pub(crate) fn arm(&self, tokens: u32) {
        self.mark(tokens).pass();
    }

    /// Sleeper: as [`arm`](Self::arm), but the barrier is still owed.
    pub(crate) fn mark(&self, tokens: u32) -> Barrier {
        debug_assert!(tokens != 0 && tokens & !TOKENS == 0);
        // ORDERING: release side pairs with `take`; SeqCst puts it in one order with `attend`'s change of FENCED.
        Barrier { words: self.word.fetch_or(tokens, Ordering::SeqCst) }
    }

    /// Sleeper: takes `tokens` back; returns those that nobody had taken. A wake-up already under way is harmless.
    pub(crate) fn disarm(&self, tokens: u32) -> u32 {
        // ORDERING: Acquire pairs with `take`: a token found gone means its publication is visible.
        self.word.fetch_and(!tokens, Ordering::AcqRel) & tokens
    }

    /// Sleeper: the word as it stands: its own tokens that nobody has taken yet, and other bits that are not its
    /// business. To be slept on as a whole, for as long as the token is in it.
    pub(crate) fn look(&self) -> u32 {
        // ORDERING: Acquire pairs with `take`: a token found gone means its publication is visible.
        self.word.load(Ordering::Acquire)
    }

    /// Sleeper: will never come back. From now on every publication is answered with [`GONE`].
    pub(crate) fn leave(&self) {
        self.go().pass();
    }

    /// Sleeper: as [`leave`](Self::leave), but the barrier is still owed.
    pub(crate) fn go(&self) -> Barrier {
        // ORDERING: as in `mark`: the sleeper's last look at the queue comes after it.
        Barrier { words: self.word.fetch_or(GONE, Ordering::SeqCst) }
    }

    /// Whether the sleeping side has left.
    pub(crate) fn is_gone(&self) -> bool {
        // ORDERING: Acquire pairs with `leave`.
        self.word.load(Ordering::Acquire) & GONE != 0
    }
}
