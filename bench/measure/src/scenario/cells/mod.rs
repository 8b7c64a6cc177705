//! Competitors compared with each other: the same cases for all, with messages of 8, 24, 64 and 256 bytes, and the
//! groups of comparable ones.
//!
//! A case is a scenario like the others, for transports whose drivers were [offered](drivers::offer). Its loops are
//! those of the scenarios. In addition it has the groups of comparable competitors, and the figures that count.
//!
//! | file | contents |
//! |---|---|
//! | `drivers` | the loops of each transport, for messages of each size |
//! | `groups` | the groups of comparable competitors |
//! | `contenders` | each transport as a competitor of a case |
//! | `asked` | a stream's use of the system: calls, context switches |
//! | `tasks` | streams between tasks of tokio |
//! | `calls` | the counting of system calls in other libraries' code |

mod asked;
mod calls;
mod contenders;
pub mod drivers;
pub mod groups;
pub(crate) mod tasks;

use self::contenders::RATE;
use self::drivers::SIZES;
use self::groups::Group;
use super::{Quick, Scenario, carried, timetable};
use crate::figures::{figure, grouped};
use crate::limits;
use crate::outcome::Metric;
use crate::record::{self, Session};
use crate::stats::Figures;
use crate::transport::{Shape, Traits};

/// One measurement of all comparable competitors.
pub struct Cell {
    pub scenario: Scenario,
    pub groups: &'static [Group],
    pub figures: &'static [Figure],
}

/// One of the figures of a case; less is better.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// With its unit.
    pub name: &'static str,
    /// `None`: the time that ranks.
    pub metric: Option<Metric>,
    pub form: fn(f64) -> String,
    /// Whether a winner is called by it.
    pub judged: bool,
}

impl Figure {
    const fn time(name: &'static str) -> Self {
        Self { name, metric: None, form: figure, judged: true }
    }

    const fn metric(name: &'static str, metric: Metric) -> Self {
        Self { metric: Some(metric), ..Self::time(name) }
    }

    /// Reported in addition to the others.
    const fn beside(name: &'static str, metric: Metric, form: fn(f64) -> String) -> Self {
        Self { name, metric: Some(metric), form, judged: false }
    }

    /// Of one competitor, in each round that counts.
    pub fn series(&self, session: &Session, name: &str) -> Figures {
        match self.metric {
            None => session.series(name),
            Some(metric) => session.counted().map(|round| round.metrics.get(name)?.get(&metric).copied()).collect(),
        }
    }
}

const STREAM: &[Figure] = &[Figure::time("ns a message")];
const ONE_WAY: &[Figure] = &[Figure::time("ns one way")];
const IN_A_CROWD: &[Figure] = &[
    Figure::metric("ns one way, half of the round trip, p50", Metric::Median),
    Figure::metric("ns one way, half of the round trip, p99", Metric::P99),
    Figure::metric("ns one way, half of the round trip, p99.9", Metric::P999),
];
const ON_TIME: &[Figure] = &[
    Figure::metric("ns from due to there, p50", Metric::Median),
    Figure::metric("ns from due to there, p99", Metric::P99),
    Figure::metric("ns from due to there, p99.9", Metric::P999),
    Figure::beside("CPU of the receiver, percent", Metric::ReceiverCpu, share_of_a_cpu),
    Figure::beside("CPU of the sender, percent, including its polling of the clock", Metric::SenderCpu, share_of_a_cpu),
    Figure::beside("context switches of the receiver for 1,000 messages", Metric::ReceiverSwitches, for_a_thousand),
];
const BACKLOG: &[Figure] = &[
    Figure::time("ns a message, in and out"),
    Figure::metric("bytes a message while all are in the queue", Metric::BytesHeld),
    Figure::beside("bytes a message still resident when all are out", Metric::BytesLeft, figure),
];
const ASKED: &[Figure] = &[
    Figure::beside("system calls for 1,000 messages", Metric::Calls, for_a_thousand),
    Figure::beside("context switches for 1,000 messages", Metric::Switches, for_a_thousand),
];

/// CPU time per message at this number of messages a second.
fn share_of_a_cpu(nanoseconds: f64) -> String {
    figure(nanoseconds * RATE / 1e9 * 100.0)
}

fn for_a_thousand(each: f64) -> String {
    let thousand = each * 1e3;
    if thousand >= 100.0 { grouped(thousand) } else { figure(thousand) }
}

/// Both threads on CPUs of their own, one by one.
const ONE_BY_ONE: Scenario = Scenario {
    name: "one-by-one",
    about: "Messages sent one by one, as fast as the other thread takes them",
    parameters: SIZES,
    in_quick: Quick::No,
    one_cpu: false,
    shape: |_| Shape::ONE_TO_ONE,
    needs_two_cpus: false,
    able: |traits| traits.one_by_one && takes_part(traits, groups::STREAMS),
    limit: carried::limit,
    beside: &[],
    contender: contenders::stream,
};

const fn batches<const LENGTH: usize>(name: &'static str, about: &'static str) -> Cell {
    let scenario = Scenario {
        name,
        about,
        able: |traits| traits.batches && takes_part(traits, groups::BATCHES),
        contender: contenders::batches::<LENGTH>,
        ..ONE_BY_ONE
    };
    Cell { scenario, groups: groups::BATCHES, figures: STREAM }
}

const fn senders<const SENDERS: usize>(name: &'static str, about: &'static str) -> Cell {
    let scenario = Scenario {
        name,
        about,
        shape: |_| Shape::new(SENDERS, 1),
        able: |traits| traits.one_by_one && takes_part(traits, groups::SENDERS),
        contender: contenders::between::<SENDERS, 1>,
        ..ONE_BY_ONE
    };
    Cell { scenario, groups: groups::SENDERS, figures: STREAM }
}

const fn square<const SIDE: usize>(name: &'static str, about: &'static str) -> Cell {
    let scenario = Scenario {
        name,
        about,
        shape: |_| Shape::square(SIDE),
        able: |traits| traits.one_by_one && takes_part(traits, groups::MANY),
        contender: contenders::between::<SIDE, SIDE>,
        ..ONE_BY_ONE
    };
    Cell { scenario, groups: groups::MANY, figures: STREAM }
}

const PING_PONG: Scenario = Scenario {
    name: "ping-pong",
    about: "One message bounced between two threads: the time one way",
    needs_two_cpus: true,
    able: |traits| traits.one_by_one && takes_part(traits, groups::SINGLE),
    limit: |frame, _| frame.floor(),
    contender: contenders::ping_pong,
    ..ONE_BY_ONE
};

const ON_ONE_WORKER: Scenario = Scenario {
    name: "tasks-one-worker",
    about: "Messages sent one by one from one task of tokio to another, in a runtime of one thread",
    able: |traits| tasks::able(traits) && takes_part(traits, groups::TASKS),
    limit: |frame, parameter| tasks::limit(frame, parameter, 1),
    contender: contenders::tasks::<1, 1>,
    ..ONE_BY_ONE
};

const ON_TWO_WORKERS: Scenario = Scenario {
    name: "tasks-two-workers",
    about: "Messages sent one by one from one task of tokio to another, in a runtime of two threads",
    needs_two_cpus: true,
    limit: |frame, parameter| tasks::limit(frame, parameter, 2),
    contender: contenders::tasks::<1, 2>,
    ..ON_ONE_WORKER
};

const FROM_FOUR_TASKS: Scenario = Scenario {
    name: "tasks-4-to-1",
    about: "Streams from four tasks of tokio to one, through one transport, in a runtime of two threads",
    shape: |_| Shape::new(4, 1),
    able: |traits| tasks::able(traits) && takes_part(traits, groups::TASKS_THAT_SEND),
    contender: contenders::tasks::<4, 2>,
    ..ON_TWO_WORKERS
};

static CELLS: [Cell; 20] = [
    Cell { scenario: ONE_BY_ONE, groups: groups::STREAMS, figures: STREAM },
    batches::<32>("batches-32", "Messages sent 32 at a time, by those that can"),
    batches::<256>("batches-256", "Messages sent 256 at a time, by those that can"),
    senders::<2>("2-to-1", "Streams from two threads to one, through one transport"),
    senders::<4>("4-to-1", "Streams from four threads to one, through one transport"),
    senders::<16>("16-to-1", "Streams from sixteen threads to one, through one transport"),
    square::<2>("2-to-2", "Two threads send and two receive, through one transport"),
    square::<3>("3-to-3", "Three threads send and three receive, through one transport"),
    square::<8>("8-to-8", "Eight threads send and eight receive, through one transport"),
    Cell { scenario: PING_PONG, groups: groups::SINGLE, figures: ONE_WAY },
    Cell {
        scenario: Scenario {
            name: "one-cpu",
            about: "One message bounced between two threads that share a CPU: the time one way",
            one_cpu: true,
            needs_two_cpus: false,
            able: |traits| traits.one_by_one && takes_part(traits, groups::SHARING),
            ..PING_PONG
        },
        groups: groups::SHARING,
        figures: ONE_WAY,
    },
    Cell {
        scenario: Scenario {
            name: "crowd",
            about: "Streams between eight pairs of threads on these CPUs, each through a channel of its own",
            able: |traits| (super::crowd::SCENARIO.able)(traits) && !traits.apart && takes_part(traits, groups::CROWD),
            limit: |_, _| &limits::EVERY_CPU,
            contender: contenders::crowd,
            ..ONE_BY_ONE
        },
        groups: groups::CROWD,
        figures: STREAM,
    },
    Cell {
        scenario: Scenario {
            name: "crowd-ping-pong",
            about: "One message bounced between each of eight pairs of threads on these CPUs: half of the round trip",
            able: |traits| traits.one_by_one && takes_part(traits, groups::SHARING),
            limit: |_, _| &limits::FUTEX_ONE_CPU,
            contender: contenders::crowd_ping_pong,
            ..ONE_BY_ONE
        },
        groups: groups::SHARING,
        figures: IN_A_CROWD,
    },
    Cell {
        scenario: Scenario {
            name: "night-watchman",
            about: "One message after 10 ms of silence: the time one way, median",
            able: |traits| timetable::able(traits) && !traits.apart && takes_part(traits, groups::SINGLE),
            limit: |frame, _| timetable::limit(frame),
            contender: contenders::night_watchman,
            ..ONE_BY_ONE
        },
        groups: groups::SINGLE,
        figures: ONE_WAY,
    },
    Cell {
        scenario: Scenario {
            name: "fixed-rate",
            about: "10,000 messages a second: the time since each was due, and the CPU time that it takes",
            able: |traits| timetable::able(traits) && !traits.apart && takes_part(traits, groups::SINGLE),
            limit: |frame, _| timetable::limit(frame),
            contender: contenders::fixed_rate,
            ..ONE_BY_ONE
        },
        groups: groups::SINGLE,
        figures: ON_TIME,
    },
    Cell {
        scenario: Scenario {
            name: "burst",
            about: "100,000 messages sent while the receiver is held back, then taken out, by those without a bound",
            able: |traits| {
                (super::burst::SCENARIO.able)(traits) && !traits.apart && takes_part(traits, groups::BACKLOG)
            },
            limit: |_, _| &limits::ONE_THREAD,
            contender: contenders::burst,
            ..ONE_BY_ONE
        },
        groups: groups::BACKLOG,
        figures: BACKLOG,
    },
    Cell {
        scenario: Scenario {
            name: "calls",
            about: "System calls and context switches of both threads, while messages stream one by one",
            able: |traits| !traits.apart && (ONE_BY_ONE.able)(traits),
            contender: contenders::asked,
            ..ONE_BY_ONE
        },
        groups: groups::STREAMS,
        figures: ASKED,
    },
    Cell { scenario: ON_ONE_WORKER, groups: groups::TASKS, figures: STREAM },
    Cell { scenario: ON_TWO_WORKERS, groups: groups::TASKS, figures: STREAM },
    Cell { scenario: FROM_FOUR_TASKS, groups: groups::TASKS_THAT_SEND, figures: STREAM },
];

/// Every case.
pub fn all() -> &'static [Cell] {
    &CELLS
}

/// The case of that name.
pub fn named(name: &str) -> Option<&'static Cell> {
    CELLS.iter().find(|cell| cell.scenario.name == name)
}

/// Whether it is a variant of ours that represents us in some group.
pub fn is_ours(name: &str) -> bool {
    CELLS.iter().flat_map(|cell| cell.groups).any(|group| group.ours.contains(&name))
}

/// Whether it can be measured here, and is in one of these groups.
fn takes_part(traits: &Traits, groups: &[Group]) -> bool {
    let stands = |group: &Group| group.stands(traits);
    drivers::of(traits.name).is_some() && !traits.hidden && !traits.invents && groups.iter().any(stands)
}

impl Group {
    /// Of ours, the ones that represent us here; of others, the ones that belong here.
    fn stands(&self, traits: &Traits) -> bool {
        if is_ours(traits.name) { self.ours.contains(&traits.name) } else { (self.has)(traits) }
    }
}

/// The groups of one session, by the names of the measured transports. Groups without a competitor are left out, and so
/// is one with the same members as an earlier one. `traits` are those of a name.
pub fn grouped_as(cell: &Cell, session: &Session, traits: fn(&str) -> Option<Traits>) -> Vec<record::Group> {
    let mut groups: Vec<record::Group> = Vec::new();
    for group in cell.groups {
        let stand = |name: &&str| traits(name).is_some_and(|traits| group.stands(&traits));
        let members: Vec<&str> = session.transports().map(|one| one.name.as_str()).filter(stand).collect();
        let (ours, competitors): (Vec<&str>, Vec<&str>) = members.into_iter().partition(|name| is_ours(name));
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
        let group = record::Group { name: group.name.to_owned(), ours: owned(ours), competitors: owned(competitors) };
        let told = groups.iter().any(|other| other.ours == group.ours && other.competitors == group.competitors);
        if !told && !group.ours.is_empty() && !group.competitors.is_empty() {
            groups.push(group);
        }
    }
    groups
}
