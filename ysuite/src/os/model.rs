//! The platform the model checker sees: one lock and one condition variable for all words of an execution.
//!
//! A timed wait ends at once, at any point the explorer chooses: every race between a wake-up and a time-out is seen.

use core::time::Duration;

use loom::sync::{Condvar, Mutex};

use super::{Platform, Waited};
use crate::sync::{AtomicU32, Ordering, fence};

pub(crate) struct Model;

struct Lot {
    lock: Mutex<()>,
    changed: Condvar,
}

loom::lazy_static! {
    static ref LOT: Lot = Lot { lock: Mutex::new(()), changed: Condvar::new() };
}

impl Platform for Model {
    fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) -> Waited {
        if timeout.is_some() {
            loom::thread::yield_now();
            return Waited::TimedOut;
        }
        let guard = LOT.lock.lock().expect("no model panics while it holds this lock");
        // ORDERING: the lock orders this against `wake`, whose caller changed the word before.
        if word.load(Ordering::Relaxed) == expected {
            drop(LOT.changed.wait(guard).expect("as above"));
        }
        Waited::Look
    }

    fn wake(_word: &AtomicU32, _sleepers: u32) {
        let guard = LOT.lock.lock().expect("as above");
        LOT.changed.notify_all();
        drop(guard);
    }

    /// The models run with fences on both sides *and* through the switch to the light side, whose compiler fence the
    /// façade turns into a fence: what is explored is the protocol, the barrier's own promise is the kernel's.
    fn can_bar_others() -> bool {
        true
    }

    fn bar_others() {
        // ORDERING: pairs with `light()`, which is a fence in a model.
        fence(Ordering::SeqCst);
    }

    fn cpus() -> usize {
        1
    }
}
