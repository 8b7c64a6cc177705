//! The watch of the checked build: a word that says whether a thread is inside a handle, and whether it was freed.
//!
//! Any thread; wait-free except `bury`. A freed handle is kept for ever, so that a later use finds this word, and
//! not memory of another purpose.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::code::{YS_EBUSY, YS_EFREED, ys_code};

const IDLE: u32 = 0;
const ENTERED: u32 = 1;
const FREED: u32 = 2;

/// Where the freed handles are: leak checkers find them here.
static GRAVES: Mutex<Vec<usize>> = Mutex::new(Vec::new());

pub(crate) struct Watch(AtomicU32);

/// A call inside a handle. It is over when this is dropped.
pub(crate) struct Inside<'a>(&'a Watch);

// MUTANT: Checked builds only, whose `checked` tests kill it.
impl Watch {
    pub(crate) const fn new() -> Self {
        Self(AtomicU32::new(IDLE))
    }

    fn step(&self, to: u32) -> Result<(), ys_code> {
        // ORDERING: Acquire pairs with the Release in `Inside::drop`: what the last call did is seen. Correct callers do
        // not need it, but one that hands a handle over without synchronising should see no more than that.
        match self.0.compare_exchange(IDLE, to, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Ok(()),
            Err(FREED) => Err(YS_EFREED),
            Err(_) => Err(YS_EBUSY),
        }
    }

    /// The only thread that may be inside enters.
    pub(crate) fn enter(&self) -> Result<Inside<'_>, ys_code> {
        self.step(ENTERED).map(|()| Inside(self))
    }

    /// One of any number of threads reads the handle.
    pub(crate) fn look(&self) -> Result<(), ys_code> {
        // ORDERING: Relaxed; a use that is not ordered after the free is a mistake that need not be found.
        if self.0.load(Ordering::Relaxed) == FREED { Err(YS_EFREED) } else { Ok(()) }
    }

    /// The handle is being freed. The process ends if it must not be.
    pub(crate) fn end(&self, function: &str) {
        let mistake = match self.step(FREED) {
            Ok(()) => return,
            Err(YS_EFREED) => "was freed before",
            Err(_) => "has a thread inside",
        };
        eprintln!("ysuite: {function} was called for a handle that {mistake}.");
        std::process::abort();
    }

    /// What is left of a handle after it was freed.
    pub(crate) fn bury<T>(handle: Box<T>) {
        let grave = Box::into_raw(handle).expose_provenance();
        GRAVES.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(grave);
    }
}

impl Drop for Inside<'_> {
    // MUTANT: Checked builds only, whose `checked` tests kill it.
    fn drop(&mut self) {
        // ORDERING: Release pairs with the Acquire in `step`.
        self.0.0.store(IDLE, Ordering::Release);
    }
}
