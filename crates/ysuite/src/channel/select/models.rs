//! The sleeper under the model checker: a call that arrives while its thread checks, and a call that has arrived
//! before.
//!
//! Claim: A notification that arrives while a select polls is kept, with everything that happened before it.

use loom::thread;
use std::sync::Arc;
use std::task::Wake;

use super::sleeper::Sleeper;
use crate::os::Deadline;
use crate::runner::model;
use crate::sync::{AtomicBool, Handed, Ordering};

/// The sleeper, and the object that its thread is woken for.
#[derive(Default)]
struct Call {
    sleeper: Arc<Sleeper>,
    memory: Handed,
    has_come: AtomicBool,
}

// SAFETY: there is nothing in the memory; the model checker says where it is used without an order.
unsafe impl Send for Call {}
// SAFETY: as above.
unsafe impl Sync for Call {}

fn call(call: &Arc<Call>) -> thread::JoinHandle<()> {
    let call = call.clone();
    thread::spawn(move || {
        call.memory.written();
        // ORDERING: Relaxed; the sleeper must order it.
        call.has_come.store(true, Ordering::Relaxed);
        call.sleeper.wake_by_ref();
    })
}

#[test]
fn a_call_that_has_come_is_seen_with_what_it_is_for() {
    model(|| {
        let calls = Arc::new(Call::default());
        let thread = call(&calls);
        if calls.sleeper.is_woken() {
            calls.memory.read();
        }
        thread.join().unwrap();
    });
}

#[test]
fn a_call_against_a_thread_that_goes_to_sleep() {
    model(|| {
        let calls = Arc::new(Call::default());
        let thread = call(&calls);
        assert!(calls.sleeper.sleep(Deadline::Never));
        calls.memory.read();
        thread.join().unwrap();
    });
}

/// A call that is forgotten was for what the next check finds.
#[test]
fn a_call_against_a_thread_that_begins_anew() {
    model(|| {
        let calls = Arc::new(Call::default());
        let thread = call(&calls);
        calls.sleeper.reset();
        // ORDERING: Relaxed, as in `call`.
        if !calls.has_come.load(Ordering::Relaxed) {
            assert!(calls.sleeper.sleep(Deadline::Never));
        }
        thread.join().unwrap();
    });
}
