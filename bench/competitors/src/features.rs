//! The features of this project's kinds of channels and of each competitor: a table with a tick only where a test has
//! tried it.
//!
//! A tick comes from one of two places. The transports' own traits are tried by `tests/claims.rs` for each of them.
//! Features that no measurement uses are listed here, and `tests/features` has a test for each of those ticks and for
//! no other.
//!
//! A library's ticks are for its own functions, with its default features.

use ybench_measure::registry;
use ybench_measure::transport::{Ends, Traits};

/// One column: its title in the head of a table, and the meaning of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Feature {
    /// A waiting receiver does not use its CPU.
    Sleeps,
    /// A receiver can spin without end.
    Spins,
    /// Tasks wait on it, in any runtime.
    Tasks,
    /// A thread waits for the first of several channels.
    Select,
    /// An event loop serves its receiver alongside sockets.
    Epoll,
    /// A thread receives with a time limit.
    Timeouts,
    /// Several messages are sent by one call.
    Batches,
    /// A sender waits for room.
    Bounded,
    /// No sender ever waits.
    Unbounded,
    Senders,
    Receivers,
    /// A message that one sender sends after another sender's message arrives after it.
    OneOrder,
    /// Some messages overtake others.
    Priority,
    /// Later sends fail, while both handles still exist.
    Close,
    /// Senders that do not keep a channel open.
    Weak,
    /// A message is read in place, before it is received.
    InPlace,
    /// Room is reserved before the message is made.
    Reserve,
}

use Feature::*;

impl Feature {
    pub const ALL: [Self; 17] = [
        Sleeps, Spins, Tasks, Select, Epoll, Timeouts, Batches, Bounded, Unbounded, Senders, Receivers, OneOrder,
        Priority, Close, Weak, InPlace, Reserve,
    ];

    pub fn in_words(self) -> &'static str {
        match self {
            Sleeps => "sleeps",
            Spins => "spins",
            Tasks => "tasks",
            Select => "select",
            Epoll => "epoll",
            Timeouts => "time limits",
            Batches => "batches",
            Bounded => "bounded",
            Unbounded => "unbounded",
            Senders => "many senders",
            Receivers => "many receivers",
            OneOrder => "one order",
            Priority => "priority",
            Close => "close",
            Weak => "weak senders",
            InPlace => "in place",
            Reserve => "reserved room",
        }
    }

    /// Whether the transports' own traits state it.
    fn of(self, traits: &Traits) -> Option<bool> {
        let shared = traits.senders == Ends::Many || traits.receivers == Ends::Many;
        Some(match self {
            Sleeps => traits.waits.sleeps(),
            Spins => !traits.waits.sleeps(),
            Batches => traits.batches,
            Bounded => traits.bounded,
            Unbounded => !traits.bounded,
            Senders => traits.senders == Ends::Many,
            Receivers => traits.receivers == Ends::Many,
            OneOrder => shared && traits.one_order,
            _ => return None,
        })
    }
}

/// A kind of channel of ours, or a competitor.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub name: &'static str,
    /// The measurable transports of it: a feature of one of them is a feature of the kind.
    pub transports: &'static [&'static str],
    /// Its further features.
    pub beside: &'static [Feature],
}

impl Kind {
    pub fn has(&self, feature: Feature) -> bool {
        let one = |name: &&str| registry::named(name).and_then(|entry| feature.of(&entry.traits)) == Some(true);
        self.beside.contains(&feature) || self.transports.iter().any(one)
    }
}

const fn kind(name: &'static str, transports: &'static [&'static str], beside: &'static [Feature]) -> Kind {
    Kind { name, transports, beside }
}

/// Ours, then the others.
pub static KINDS: [Kind; 25] = [
    kind(
        "ysuite::spsc",
        &["spsc", "spsc-forever", "spsc-bounded", "spsc-batch"],
        &[Tasks, Select, Epoll, Timeouts, Close, InPlace, Reserve],
    ),
    kind(
        "ysuite::mpsc",
        &["mpsc", "mpsc-forever", "mpsc-bounded"],
        &[Tasks, Select, Epoll, Timeouts, Close, Weak, InPlace, Reserve],
    ),
    kind(
        "ysuite::mpmc",
        &["mpmc", "mpmc-spin", "mpmc-unbounded"],
        &[Tasks, Select, Epoll, Timeouts, Close, Weak, Reserve],
    ),
    kind("ysuite::broadcast", &["broadcast"], &[Tasks, Timeouts, Close]),
    kind("ysuite::mailbox", &["mailbox", "mailbox-bounded"], &[Timeouts, Priority]),
    kind("ysuite::hub", &["hub"], &[]),
    kind("std::sync::mpsc", &["std-channel", "std-sync-channel"], &[Timeouts]),
    kind("crossbeam-channel", &["crossbeam-unbounded", "crossbeam-bounded"], &[Select, Timeouts]),
    kind("tokio::sync::mpsc", &["tokio-mpsc", "tokio-mpsc-bounded"], &[Tasks, Close, Weak, Reserve]),
    kind("flume", &["flume-unbounded", "flume-bounded"], &[Tasks, Select, Timeouts, Weak]),
    kind("kanal", &["kanal-unbounded", "kanal-bounded"], &[Tasks, Timeouts, Close]),
    kind("async-channel", &["async-channel-unbounded", "async-channel-bounded"], &[Tasks, Close, Weak]),
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
    kind("thingbuf", &["thingbuf-1k"], &[Tasks, Timeouts, InPlace, Reserve]),
    kind("rtrb", &["rtrb-64k"], &[InPlace, Reserve]),
    kind("ringbuf", &["ringbuf-64k"], &[InPlace]),
    kind("yring", &["yring-64k"], &[Close]),
    kind("concurrent-queue", &["concurrent-queue-unbounded", "concurrent-queue-1k"], &[Close]),
    kind("disruptor", &["disruptor-64k", "disruptor-mpsc-64k"], &[]),
];
