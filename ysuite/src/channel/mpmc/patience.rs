//! How long an end looks before it sleeps, remembered where several threads may use the end at once.
//!
//! Wait-free. Two threads that learn at the same time may lose what one of them has learned.

use crate::channel::Spin;
use crate::channel::spin::Spinner;
// Not the façade's: it guards nothing, and a model need not explore it.
use core::sync::atomic::{AtomicU64, Ordering};

pub(crate) struct Patience(AtomicU64);

impl Patience {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(Spinner::new().to_bits()))
    }

    /// For a clone of the end.
    pub(super) fn again(&self) -> Self {
        // ORDERING: Relaxed here and below; it guards nothing.
        Self(AtomicU64::new(self.0.load(Ordering::Relaxed)))
    }

    pub(super) fn set(&self, spin: Spin) {
        let mut spinner = self.recall();
        spinner.set(spin);
        self.keep(spinner);
    }

    pub(super) fn recall(&self) -> Spinner {
        Spinner::from_bits(self.0.load(Ordering::Relaxed))
    }

    pub(super) fn keep(&self, spinner: Spinner) {
        self.0.store(spinner.to_bits(), Ordering::Relaxed);
    }
}
