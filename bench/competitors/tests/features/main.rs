//! The table of features: each tick that no measurement shows is tried here, or in `crates/ysuite/tests/family` for the
//! libraries that README.md compares. Every tried feature has its tick.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

pub(crate) use checks::{SOON, in_tokio};
pub(crate) use ybench_competitors::features::Feature;
use ybench_competitors::features::{KINDS, columns};

/// A tick: a feature, and its owner.
pub(crate) type Tick = (Feature, &'static str);

#[macro_use]
#[path = "../../../../crates/ysuite/tests/family/checks.rs"]
mod checks;
mod libraries;

pub(crate) fn guarded(tried: impl FnOnce() + Send + 'static) {
    const PATIENCE: Duration = Duration::from_secs(60);
    let (done, is_done) = channel();
    let trying = thread::spawn(move || {
        let _done = done;
        tried();
    });
    // Nothing is sent: a thread that ends, however it does, drops its end.
    match is_done.recv_timeout(PATIENCE) as Result<(), _> {
        Err(RecvTimeoutError::Timeout) => panic!("it hangs"),
        _ => trying.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
    }
}

#[test]
fn every_tick_is_tried_and_whatever_is_tried_has_its_tick() {
    let tried: BTreeSet<Tick> = libraries::TRIED.iter().copied().collect();
    let listed: BTreeSet<Tick> =
        KINDS.iter().flat_map(|kind| kind.beside.iter().map(|&feature| (feature, kind.name))).collect();
    assert_eq!(tried, listed);
    assert_eq!(libraries::TRIED.len(), listed.len(), "a tick that is tried twice");
}

#[test]
fn what_is_tried_for_the_readme_has_its_tick_here() {
    let mut tried = columns().flat_map(|feature| feature.tried());
    assert_eq!(tried.find(|name| KINDS.iter().all(|kind| kind.name != **name)), None);
}

#[test]
fn all_names_in_the_table_can_be_measured() {
    let guests = ybench_competitors::entries();
    for name in KINDS.iter().flat_map(|kind| kind.transports) {
        let guest = guests.iter().any(|entry| entry.traits.name == *name);
        assert!(guest || ybench_measure::registry::named(name).is_some(), "{name}");
    }
}
