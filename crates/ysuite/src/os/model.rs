//! The platform of the model checker: one lock and one condition variable for all words of an execution.
//!
//! A timed wait lets the other threads run for as long as the explorer chooses, and then ends: by a wake-up if one
//! has come, else by its time-out. So the model explores every race between the two.

use core::time::Duration;

use loom::sync::{Condvar, Mutex};

use super::Waited;
use crate::sync::{AtomicU32, Ordering};

pub(crate) use super::barrier::model::heavy;

struct Lot {
    lock: Mutex<()>,
    changed: Condvar,
}

loom::lazy_static! {
    static ref LOT: Lot = Lot { lock: Mutex::new(()), changed: Condvar::new() };
}

pub(crate) fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) -> Waited {
    if timeout.is_some() {
        loom::thread::yield_now();
        // ORDERING: Relaxed; a load of an old value is a time-out that comes at the same time as the wake-up.
        return if word.load(Ordering::Relaxed) == expected { Waited::TimedOut } else { Waited::Look };
    }
    let guard = LOT.lock.lock().expect("no model panics while it holds this lock");
    // ORDERING: Relaxed; the lock orders this load against `wake`, whose caller has changed the word before.
    if word.load(Ordering::Relaxed) == expected {
        drop(LOT.changed.wait(guard).expect("no model panics while it holds this lock"));
    }
    Waited::Look
}

pub(crate) fn wake(_word: &AtomicU32, _sleepers: u32) {
    let guard = LOT.lock.lock().expect("no model panics while it holds this lock");
    LOT.changed.notify_all();
    drop(guard);
}

/// The models run with fences on both sides *and* through the switch to the light side: see
/// [`barrier::model`](super::barrier::model) for the kernel's barrier in a model.
pub(crate) fn asymmetric() -> bool {
    true
}

/// As if fences had cost enough already: a model has few.
pub(crate) fn may_give_up_fences(_executed: u32) -> bool {
    true
}

pub(crate) fn may_become_asymmetric() -> bool {
    true
}

pub(crate) fn prepare() {}

pub(crate) fn known_cpus() -> usize {
    cpus()
}

pub(crate) fn cpus() -> usize {
    1
}
