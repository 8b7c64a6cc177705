//! The table of features: each tick that no measurement shows is tried here, and every tried feature has its tick.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use ybench_competitors::features::{Feature, KINDS};

/// A tick: a feature, and its owner.
pub(crate) type Tick = (Feature, &'static str);

/// A module for each feature with a test for each kind that has it, guarded against hanging.
macro_rules! tried {
    ($($module:ident $feature:ident { $($test:ident $name:literal $tried:block)+ })+) => {
        pub(crate) const TRIED: &[$crate::Tick] = &[$($((ybench_competitors::features::Feature::$feature, $name),)+)+];

        $(mod $module {
            #[allow(unused_imports)]
            use super::*;

            $(#[test]
            fn $test() {
                $crate::guarded(|| $tried);
            })+
        })+
    };
}

mod ends;
mod room;
mod tasks;
mod waiting;

pub(crate) const SOON: Duration = Duration::from_millis(1);

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

/// Runs a future on this thread.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime").block_on(future)
}

#[test]
fn every_tick_is_tried_and_whatever_is_tried_has_its_tick() {
    let tried: Vec<Tick> = [waiting::TRIED, room::TRIED, ends::TRIED, tasks::TRIED].concat();
    let listed: BTreeSet<Tick> =
        KINDS.iter().flat_map(|kind| kind.beside.iter().map(|&feature| (feature, kind.name))).collect();
    assert_eq!(tried.iter().copied().collect::<BTreeSet<_>>(), listed);
    assert_eq!(tried.len(), listed.len(), "a tick that is tried twice");
}

#[test]
fn all_names_in_the_table_can_be_measured() {
    let guests = ybench_competitors::entries();
    for name in KINDS.iter().flat_map(|kind| kind.transports) {
        let guest = guests.iter().any(|entry| entry.traits.name == *name);
        assert!(guest || ybench_measure::registry::named(name).is_some(), "{name}");
    }
}
