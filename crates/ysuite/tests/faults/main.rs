//! Faults, as far as they can be made: what the kernel, the machine and other code of the process may do to threads that use
//! channels. Each fault is applied to [all channels](flows), and every message must still arrive once and in its
//! sender's order. Other promises that hold wherever a thread was stopped are tested here too, one instruction after
//! another ([`steps`]).
//!
//! Faults are the process's, so most of these tests run in a process of their own. The short form takes seconds;
//! `ci/steps/faults` is the long one.
#![cfg(all(target_os = "linux", not(ysuite_loom), not(miri)))]

mod allocating;
mod clocks;
mod crowds;
mod flows;
mod forked;
mod hub_timers;
mod interrupted;
mod panicking;
mod processors;
#[cfg(target_arch = "x86_64")]
mod real_time;
mod refused;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[path = "../support/sandbox.rs"]
mod sandbox;
#[cfg(target_arch = "x86_64")]
mod steps;
#[cfg(target_arch = "x86_64")]
mod stood_still;
mod stopped;
#[path = "../support/mod.rs"]
mod support;
#[cfg(target_arch = "x86_64")]
mod wait_free;

/// Whether the long form was asked for.
fn is_long() -> bool {
    std::env::var("YSUITE_STRESS").is_ok_and(|form| form == "long")
}

/// How many messages each sender of a flow sends: many times more in the long form.
fn messages(few: u64) -> u64 {
    if is_long() { few * 200 } else { few }
}
