//! How long an end looks before it sleeps, remembered where several threads may use the end at once.
//!
//! Wait-free. Two threads that learn at the same time may lose what one of them has learned.

use super::backoff::{Backoff, Spin};
// Not the façade's: it guards nothing, and a model need not explore it.
use core::sync::atomic::{AtomicU64, Ordering};

pub(crate) struct SharedBackoff(AtomicU64);

impl SharedBackoff {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(Backoff::new().to_bits()))
    }

    /// For a clone of the end.
    pub(crate) fn again(&self) -> Self {
        // ORDERING: Relaxed here and below; it guards nothing.
        Self(AtomicU64::new(self.0.load(Ordering::Relaxed)))
    }

    pub(crate) fn set(&self, spin: Spin) {
        let mut backoff = self.recall();
        backoff.set(spin);
        self.keep(backoff);
    }

    pub(crate) fn recall(&self) -> Backoff {
        Backoff::from_bits(self.0.load(Ordering::Relaxed))
    }

    pub(crate) fn keep(&self, backoff: Backoff) {
        self.0.store(backoff.to_bits(), Ordering::Relaxed);
    }
}
