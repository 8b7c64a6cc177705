//! Signal handlers that run on every thread a thousand times a second, while it sends, receives and waits in every way.
//! An interrupted system call fails (without SA_RESTART) or restarts (with it), and some fail with both.
//!
//! Claim: Unix signals at a thousand per second to every thread, with and without `SA_RESTART`, lose, duplicate or
//! reorder no message.

use std::thread;
use std::time::Duration;

use super::flows::FAMILY;
use super::messages;
use super::support::interrupt::Interruptions;
use super::support::process::alone;

fn every_flow_goes_on_under(interruptions: &Interruptions) {
    for make in FAMILY {
        let flow = make(messages(3_000));
        let before = interruptions.count();
        flow.run(
            |_| {},
            |threads| {
                threads.iter().for_each(|thread| interruptions.once(thread));
                thread::sleep(Duration::from_millis(1));
            },
        );
        assert!(interruptions.count() > before, "no handler has run");
    }
}

#[test]
fn handlers_that_end_system_calls() {
    if alone("interrupted::handlers_that_end_system_calls") {
        every_flow_goes_on_under(&Interruptions::new());
    }
}

#[test]
fn handlers_that_begin_system_calls_anew() {
    if alone("interrupted::handlers_that_begin_system_calls_anew") {
        every_flow_goes_on_under(&Interruptions::that_restart());
    }
}
