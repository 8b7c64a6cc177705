//! The groups of comparable competitors, in the same rounds.
//!
//! A transport whose receiver never sleeps is compared with ours that does not either. One that puts all messages in
//! one order is compared with ours that does. So a competitor may be in several groups of a case.

use crate::transport::{Ends, Traits, Waits};

/// Some of the transports in a case, and the variants of ours that represent us among them.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// Their common property.
    pub name: &'static str,
    /// The best of them is the reference of all others.
    pub ours: &'static [&'static str],
    /// Whether a competitor belongs here.
    pub has: fn(&Traits) -> bool,
}

const fn group(name: &'static str, ours: &'static [&'static str], has: fn(&Traits) -> bool) -> Group {
    Group { name, ours, has }
}

fn spins(traits: &Traits) -> bool {
    !traits.waits.sleeps()
}

fn sleeps(traits: &Traits) -> bool {
    traits.waits.sleeps()
}

fn sleeps_with_a_bound(traits: &Traits) -> bool {
    traits.waits.sleeps() && traits.bounded
}

fn sleeps_in_one_order(traits: &Traits) -> bool {
    sleeps(traits) && traits.one_order
}

fn spins_in_one_order(traits: &Traits) -> bool {
    spins(traits) && traits.one_order
}

fn sleeps_between_many(traits: &Traits) -> bool {
    traits.waits.sleeps() && traits.receivers == Ends::Many
}

const SPINS: &str = "never sleep";
const SLEEPS: &str = "can sleep";
const WITH_A_BOUND: &str = "can sleep, with a bound";
const BETWEEN_MANY: &str = "can sleep, made for many receivers";
const SPINS_IN_ONE_ORDER: &str = "never sleep, one order of all messages";
const IN_ONE_ORDER: &str = "can sleep, one order of all messages";

/// From one thread to one, one by one.
pub(super) const STREAMS: &[Group] = &[
    group(SPINS, &["spsc-forever", "spsc-bounded-forever", "spsc-64k-forever"], spins),
    group(SLEEPS, &["spsc", "spsc-bounded", "spsc-64k"], sleeps),
    group(WITH_A_BOUND, &["spsc-bounded", "spsc-64k"], sleeps_with_a_bound),
    group(BETWEEN_MANY, &["mpmc", "mpmc-64k", "mpmc-unbounded"], sleeps_between_many),
];

/// From one thread to one in batches. Ours with batches can sleep: it is also compared with those that cannot.
pub(super) const BATCHES: &[Group] = &[
    group(SPINS, &["spsc-batch", "spsc-batch-bounded", "spsc-batch-64k"], spins),
    group(SLEEPS, &["spsc-batch", "spsc-batch-bounded", "spsc-batch-64k"], sleeps),
    group(WITH_A_BOUND, &["spsc-batch-bounded", "spsc-batch-64k"], sleeps_with_a_bound),
    group(BETWEEN_MANY, &["mpmc", "mpmc-64k", "mpmc-unbounded"], sleeps_between_many),
];

/// From several threads to one.
pub(super) const SENDERS: &[Group] = &[
    group(SPINS, &["mpsc-forever", "mpsc-bounded-forever"], spins),
    group(SLEEPS, &["mpsc", "mpsc-bounded"], sleeps),
    group(WITH_A_BOUND, &["mpsc-bounded"], sleeps_with_a_bound),
    group(IN_ONE_ORDER, &["mpmc", "mpmc-unbounded"], sleeps_in_one_order),
];

/// From several threads to several.
pub(super) const MANY: &[Group] = &[
    group(SPINS_IN_ONE_ORDER, &["mpmc-spin", "mpmc-unbounded-spin"], spins_in_one_order),
    group(SPINS, &["mpmc-spin", "mpmc-unbounded-spin"], spins),
    group(IN_ONE_ORDER, &["mpmc", "mpmc-unbounded"], sleeps_in_one_order),
    group(SLEEPS, &["mpmc", "mpmc-unbounded"], sleeps),
    group(WITH_A_BOUND, &["mpmc"], sleeps_with_a_bound),
];

/// One message at a time: only the receiver's way of waiting matters.
pub(super) const SINGLE: &[Group] = &[
    group("never sleep", &["spsc-forever"], spins),
    group("spin, then sleep", &["spsc"], |traits| traits.waits == Waits::LooksThenSleeps),
    group("sleep at once", &["spsc-none"], |traits| traits.waits == Waits::Sleeps),
];

/// The same where threads share a CPU: no thread may spin.
pub(super) const SHARING: &[Group] = &[SINGLE[1], SINGLE[2]];

/// Between pairs of many threads. Transports whose both sides spin are left out.
pub(super) const CROWD: &[Group] = &[group(SPINS, &["spsc-forever"], spins), STREAMS[1], STREAMS[2]];

/// Without a bound.
pub(super) const BACKLOG: &[Group] = &[
    group(SPINS, &["spsc-forever"], spins),
    group(SLEEPS, &["spsc"], sleeps),
    group("can sleep, made for many senders", &["mpsc"], |traits| {
        traits.waits.sleeps() && traits.senders == Ends::Many
    }),
    group(BETWEEN_MANY, &["mpmc-unbounded"], sleeps_between_many),
];

fn bounded(traits: &Traits) -> bool {
    traits.bounded
}

fn unbounded(traits: &Traits) -> bool {
    !traits.bounded
}

const BOUND: &str = "have a bound";
const NO_BOUND: &str = "have no bound";

/// From one task to one. Transports made for several handles are also compared with those made for one.
pub(super) const TASKS: &[Group] = &[
    group(BOUND, &["spsc-bounded-tasks"], bounded),
    group(NO_BOUND, &["spsc-tasks"], unbounded),
    group("have a bound, made for many senders", &["mpsc-bounded-tasks"], |traits| {
        traits.bounded && traits.senders == Ends::Many
    }),
    group("have no bound, made for many senders", &["mpsc-tasks"], |traits| {
        !traits.bounded && traits.senders == Ends::Many
    }),
    group("have a bound, made for many receivers", &["mpmc-tasks"], |traits| {
        traits.bounded && traits.receivers == Ends::Many
    }),
    group("have no bound, made for many receivers", &["mpmc-unbounded-tasks"], |traits| {
        !traits.bounded && traits.receivers == Ends::Many
    }),
];

/// From several tasks to one.
pub(super) const TASKS_THAT_SEND: &[Group] = &[
    group(BOUND, &["mpsc-bounded-tasks"], bounded),
    group(NO_BOUND, &["mpsc-tasks"], unbounded),
    group("have a bound and one order of all messages", &["mpmc-tasks"], |traits| traits.bounded && traits.one_order),
    group("have no bound and one order of all messages", &["mpmc-unbounded-tasks"], |traits| {
        !traits.bounded && traits.one_order
    }),
];
