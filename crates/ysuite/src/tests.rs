//! What the library's own tests share.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::task::Wake;

/// A task that counts how often it is woken.
#[derive(Default)]
pub(crate) struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        // ORDERING: Relaxed; each test that asks runs on one thread.
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Woken {
    pub(crate) fn times(&self) -> usize {
        // ORDERING: Relaxed; as above.
        self.0.load(Ordering::Relaxed)
    }
}

/// A task whose waking panics.
pub(crate) struct Explosive;

impl Wake for Explosive {
    fn wake(self: Arc<Self>) {
        panic!("this waker panics");
    }
}
