//! The features of this project's kinds of channels and of each competitor: a table with a tick only where a test has
//! tried it.
//!
//! A tick comes from one of three places. The transports' own traits are tried by `tests/claims.rs` for each of them.
//! Features that no measurement uses are listed with their tests in `crates/ysuite/tests/family`, for ours and for the
//! libraries in README.md, and for all others here, where `tests/features` has a test for each of those ticks and for no
//! other.
//!
//! A library's ticks are for its own functions, with its default features.

use ybench_measure::registry;
use ybench_measure::transport::{Ends, Traits};

pub use self::names::Feature;
use Feature::*;

#[path = "../../../crates/ysuite/tests/family/features.rs"]
mod names;

/// Those with a column in the table.
pub fn columns() -> impl Iterator<Item = Feature> {
    Feature::ALL.iter().copied().filter(|feature| !feature.column().is_empty())
}

/// Whether the transports' own traits state it.
fn stated(feature: Feature, traits: &Traits) -> bool {
    let shared = traits.senders == Ends::Many || traits.receivers == Ends::Many;
    match feature {
        Sleeps => traits.waits.sleeps(),
        Spins => !traits.waits.sleeps(),
        Batches => traits.batches,
        Bounded => traits.bounded,
        Unbounded => !traits.bounded,
        Senders => traits.senders == Ends::Many,
        Receivers => traits.receivers == Ends::Many,
        OneOrder => shared && traits.one_order,
        _ => false,
    }
}

/// A kind of channel of ours, or a competitor.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub name: &'static str,
    /// The measurable transports of it: a feature of one of them is a feature of the kind.
    pub transports: &'static [&'static str],
    /// Its further features, where README.md does not compare it.
    pub beside: &'static [Feature],
}

impl Kind {
    pub fn has(&self, feature: Feature) -> bool {
        let one = |name: &&str| registry::named(name).is_some_and(|entry| stated(feature, &entry.traits));
        self.beside.contains(&feature) || feature.tried().contains(&self.name) || self.transports.iter().any(one)
    }
}

const fn kind(name: &'static str, transports: &'static [&'static str], beside: &'static [Feature]) -> Kind {
    Kind { name, transports, beside }
}

/// Ours, then the others.
pub static KINDS: [Kind; 25] = [
    kind("ysuite::spsc", &["spsc", "spsc-forever", "spsc-bounded", "spsc-batch"], &[]),
    kind("ysuite::mpsc", &["mpsc", "mpsc-forever", "mpsc-bounded"], &[]),
    kind("ysuite::mpmc", &["mpmc", "mpmc-spin", "mpmc-unbounded"], &[]),
    kind("ysuite::broadcast", &["broadcast"], &[]),
    kind("ysuite::mailbox", &["mailbox", "mailbox-bounded"], &[]),
    kind("ysuite::hub", &["hub"], &[]),
    kind("std::sync::mpsc", &["std-channel", "std-sync-channel"], &[]),
    kind("crossbeam-channel", &["crossbeam-unbounded", "crossbeam-bounded"], &[]),
    kind("tokio::sync::mpsc", &["tokio-mpsc", "tokio-mpsc-bounded"], &[]),
    kind("flume", &["flume-unbounded", "flume-bounded"], &[]),
    kind("kanal", &["kanal-unbounded", "kanal-bounded"], &[]),
    kind("async-channel", &["async-channel-unbounded", "async-channel-bounded"], &[]),
    kind(
        "crossfire",
        &["crossfire-spsc", "crossfire-mpsc-1k", "crossfire-mpmc", "crossfire-mpmc-1k"],
        &[Tasks, Select, Timeouts, Weak],
    ),
    // A feature for tasks only is not measured between threads.
    kind("rapidfire", &[], &[Sleeps, Tasks, Bounded, Unbounded, Senders, Receivers, OneOrder, Close]),
    kind("tachyonix", &[], &[Sleeps, Tasks, Bounded, Senders, OneOrder, Close]),
    kind("fanring", &["fanring-mpsc-1k"], &[Timeouts]),
    kind("nexus-channel", &["nexus-channel-1k"], &[Timeouts]),
    kind("nexus-queue", &["nexus-queue-64k", "nexus-queue-mpsc-1k"], &[]),
    kind("gil", &["gil-64k", "gil-parking-64k", "gil-mpsc-1k", "gil-mpmc-1k"], &[InPlace]),
    kind("thingbuf", &["thingbuf-1k"], &[Tasks, Timeouts, InPlace, Permits]),
    kind("rtrb", &["rtrb-64k"], &[InPlace, Permits]),
    kind("ringbuf", &["ringbuf-64k"], &[InPlace]),
    kind("yring", &["yring-64k"], &[Close]),
    kind("concurrent-queue", &["concurrent-queue-unbounded", "concurrent-queue-1k"], &[Close]),
    kind("disruptor", &["disruptor-64k", "disruptor-mpsc-64k"], &[]),
];
