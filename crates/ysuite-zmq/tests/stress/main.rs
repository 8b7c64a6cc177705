//! Stress tests: bridges under every fault of a network and an operating system, combined and repeated. The promises of
//! each kind of bridge are checked message by message.
//!
//! The short form takes a minute. `YSUITE_STRESS=long cargo test --profile stress -p ysuite-zmq --test stress -- --nocapture`
//! sends a hundred million messages through a duplex and through push and pull.

#[path = "../support/mod.rs"]
mod support;

mod child;
mod exchange;
mod kills;
mod machines;
mod weather;
mod work;

use std::fmt::Display;
use std::sync::LazyLock;

/// The number of messages in the form that was asked for.
fn messages(short: u64, long: u64) -> u64 {
    static IS_LONG: LazyLock<bool> = LazyLock::new(|| std::env::var("YSUITE_STRESS").is_ok_and(|form| form == "long"));
    if *IS_LONG { long } else { short }
}

/// Says a line that a test's output keeps.
fn say(line: impl Display) {
    println!("{line}");
}
