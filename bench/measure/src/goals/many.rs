//! The targets of many threads: mpsc and mpmc compared with competitors, and with themselves with fewer threads.

use std::time::Instant;

use ysuite::mpsc;

use super::targets::{Ratio, least_of, most};
use super::those;
use crate::allocations::held;
use crate::frame::Frame;
use crate::limits;
use crate::record::Session;
use crate::rounds::{Contender, Plan};
use crate::scenario::Entry;
use crate::scenario::{idle_senders, many, senders};
use crate::stats::Spread;
use crate::transport::Shape;

pub(super) const MPSC: &str = "targets: senders of mpsc";
pub(super) const MPMC: &str = "targets: threads at mpmc";

const ONE: &str = "mpsc, 1 sender";
const SIXTY_FOUR: &str = "mpsc, 64 senders";
const IDLE: &str = "mpsc, 1,023 idle";

const BLOCKING: [&str; 4] = [
    "std-channel, 2 senders",
    "std-sync-channel, 2 senders",
    "crossbeam-unbounded, 2 senders",
    "crossbeam-bounded, 2 senders",
];

pub(super) static RATIOS: [Ratio; 7] = [
    least_of(
        "two senders: mpsc is times faster than the fastest of std and crossbeam",
        MPSC,
        &BLOCKING,
        "mpsc, 2 senders",
        3.0,
    ),
    most("one of 1,024 senders active: times the only sender", MPSC, &[IDLE], ONE, 1.5),
    most("64 senders, all active: times one", MPSC, &[SIXTY_FOUR], ONE, 2.0),
    least_of("mpmc 2x2: times faster than crossbeam bounded", MPMC, &["crossbeam-bounded 2x2"], "mpmc 2x2", 1.5),
    least_of("mpmc 3x3: times faster than crossbeam bounded", MPMC, &["crossbeam-bounded 3x3"], "mpmc 3x3", 1.5),
    least_of(
        "mpmc without a bound 2x2: times faster than crossbeam unbounded",
        MPMC,
        &["crossbeam-unbounded 2x2"],
        "mpmc-unbounded 2x2",
        1.5,
    ),
    most("mpmc 8x8: times its own 2x2", MPMC, &["mpmc 8x8"], "mpmc 2x2", 3.0),
];

/// The names whose slowest round is compared with the quickest.
pub(super) const STEADY: [(&str, &str); 2] = [
    ("mpmc 2x2: the slowest round, times the quickest", "mpmc 2x2"),
    ("mpmc 3x3: the slowest round, times the quickest", "mpmc 3x3"),
];

pub(super) const SPREAD: f64 = 2.0;

pub(super) fn spread(session: &Session, name: &str) -> Option<Spread> {
    let rounds = session.density(name)?;
    Spread::of(&[rounds.max / rounds.min])
}

fn called(mut contender: Contender, name: String) -> Contender {
    contender.contestant.name = name;
    contender
}

pub(super) fn plans(frame: Frame) -> Vec<Plan> {
    let two = Shape::new(2, 1);
    let blocking = ["mpsc", "std-channel", "std-sync-channel", "crossbeam-unbounded", "crossbeam-bounded"];
    let name = |entry: &Entry| format!("{}, 2 senders", entry.traits.name);
    let mut mpsc: Vec<Contender> =
        those(&blocking).map(|entry| called(many::contender(entry, two, None, frame), name(entry))).collect();
    for entry in those(&["mpsc"]) {
        mpsc.push(called(senders::contender(entry, Shape::ONE_TO_ONE, frame), ONE.to_owned()));
        mpsc.push(called(senders::contender(entry, Shape::new(64, 1), frame), SIXTY_FOUR.to_owned()));
        mpsc.push(called(idle_senders::contender(entry, 1_023, frame), IDLE.to_owned()));
    }
    let mut mpmc = Vec::new();
    let (bounded, unbounded) = (["mpmc", "crossbeam-bounded"], ["mpmc-unbounded", "crossbeam-unbounded"]);
    for (names, threads) in [(&bounded[..], 2), (&unbounded, 2), (&bounded, 3), (&["mpmc"], 8)] {
        let shape = Shape::square(threads);
        let name = |entry: &Entry| format!("{} {shape}", entry.traits.name);
        mpmc.extend(those(names).map(|entry| called(many::contender(entry, shape, None, frame), name(entry))));
    }
    [(MPSC, "Streams from several threads to one", mpsc), (MPMC, "Streams from several threads to several", mpmc)]
        .map(|(scenario, about, mut contenders)| {
            contenders.push(frame.limit(&limits::HAND_OVER));
            super::plan::plan(scenario, about, None, frame, &limits::HAND_OVER, contenders)
        })
        .into()
}

/// Senders that are made in one go, to be measured.
pub(super) const SENDERS: usize = 10_000;

/// Bytes of an idle sender of mpsc, and microseconds to make it.
pub(super) fn idle_sender() -> Vec<f64> {
    let (sender, _receiver) = mpsc::unbounded::<usize>();
    let mut all: Vec<mpsc::Sender<usize>> = Vec::with_capacity(SENDERS);
    let before = held();
    let start = Instant::now();
    (0..SENDERS).for_each(|_| all.push(sender.clone()));
    let took = start.elapsed();
    let beside = (held() - before) as f64 / SENDERS as f64;
    vec![beside + size_of::<mpsc::Sender<usize>>() as f64, took.as_secs_f64() * 1e6 / SENDERS as f64]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_that_of_the_slowest_to_the_quickest_round() {
        let round = |time: f64| crate::record::Round {
            nanoseconds: [("mpmc 2x2".to_owned(), time)].into(),
            ..Default::default()
        };
        let session = Session { rounds: [30.0, 20.0, 50.0].map(round).into(), ..Session::default() };
        assert_eq!(spread(&session, "mpmc 2x2").unwrap().median, 2.5);
        assert_eq!(spread(&session, "unknown"), None);
    }

    #[test]
    fn a_sender_takes_something() {
        let idle = idle_sender();
        assert!((64.0..=512.0).contains(&idle[0]) && idle[1] > 0.0, "{idle:?}");
    }
}
