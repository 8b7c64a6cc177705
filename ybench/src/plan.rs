//! Who takes part in which scenario, beside which limits.
//!
//! Throughput is ranked by the memory hand-over and ping-pong by the two-line floor. In ping-pong each contender also
//! has the limit of its own kind: a bare futex for those that sleep at once, eventfd with epoll for those that sleep in
//! poll. Where both threads share a CPU nothing can spin, so limits that spin give way to those that do not.

use std::time::Duration;

use crate::error::Fault;
use crate::limits::{self, Probe};
use crate::outcome::Outcome;
use crate::place::Place;
use crate::record::{Contestant, Kind, Unit};
use crate::rounds::{Contender, Length, Plan};
use crate::scenario::{BATCH, Scenario};
use crate::transport::Waits;
use crate::transport::registry::Entry;
use crate::warnings::Warning;

/// What all plans of one request have in common.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub place: Place,
    pub rounds: u32,
    /// How long a run of a transport is.
    pub transports: Length,
    /// How long a run of a limit is.
    pub limits: Length,
}

impl Frame {
    pub fn limit(&self, probe: &Probe) -> Contender {
        Contender::limit(probe, self.place, self.limits)
    }

    /// The limit measured at both ends of each round, where nothing else is asked for.
    pub fn floor(&self) -> &'static Probe {
        if self.place.one_cpu() { &limits::FUTEX_ONE_CPU } else { &limits::TWO_LINE_FLOOR }
    }

    /// The limit of throughput.
    pub fn stream_limit(&self) -> &'static Probe {
        if self.place.one_cpu() { &limits::ONE_THREAD } else { &limits::HAND_OVER }
    }

    /// Beside the floor, which is there already, and which on one CPU is the bare futex.
    fn those_that_fit(&self, probes: &[&'static Probe]) -> Vec<Contender> {
        let floor = self.floor().name;
        let there = |name: &str| name == floor || (self.place.one_cpu() && name == limits::FUTEX.name);
        let fitting = probes.iter().filter(|probe| probe.fits(self.place) && !there(probe.name));
        fitting.map(|probe| self.limit(probe)).collect()
    }
}

/// The plan of a scenario, or nothing if nobody can take part.
pub fn of(scenario: Scenario, entries: &[&'static Entry], frame: Frame, warnings: &mut Vec<Warning>) -> Option<Plan> {
    let able: Vec<&'static Entry> = entries.iter().copied().filter(|entry| able(scenario, entry)).collect();
    let frame = if scenario == Scenario::OneCpu { Frame { place: frame.place.together(), ..frame } } else { frame };
    // With one CPU the ping-pong is the other scenario already.
    if able.is_empty() || (scenario == Scenario::PingPong && frame.place.one_cpu()) {
        return None;
    }
    let able = without_spinners(scenario, able, frame, warnings);
    let (mut contenders, limit) = match scenario {
        Scenario::PingPong | Scenario::OneCpu => {
            let others = [&limits::ONE_LINE_FLOOR, &limits::FUTEX, &limits::EVENTFD, &limits::EPOLL]
                .map(|probe: &'static _| probe);
            (frame.those_that_fit(&others), frame.floor().name)
        }
        Scenario::Throughput | Scenario::Batches => {
            (frame.those_that_fit(&[&limits::HAND_OVER, &limits::ONE_THREAD]), frame.stream_limit().name)
        }
    };
    contenders.extend(able.iter().map(|entry| contender(scenario, entry, frame)));
    Some(Plan {
        scenario: scenario.name().to_owned(),
        about: scenario.about().to_owned(),
        parameter: None,
        place: frame.place,
        rounds: frame.rounds,
        floor: frame.limit(frame.floor()),
        limit,
        contenders,
    })
}

fn able(scenario: Scenario, entry: &Entry) -> bool {
    match scenario {
        Scenario::Batches => entry.traits.batches,
        Scenario::OneCpu => entry.traits.one_by_one && entry.traits.waits != Waits::Spins,
        Scenario::PingPong | Scenario::Throughput => entry.traits.one_by_one,
    }
}

fn without_spinners(
    scenario: Scenario,
    able: Vec<&'static Entry>,
    frame: Frame,
    warnings: &mut Vec<Warning>,
) -> Vec<&'static Entry> {
    if !frame.place.one_cpu() {
        return able;
    }
    let (spinners, sleepers): (Vec<&Entry>, Vec<&Entry>) =
        able.into_iter().partition(|entry| entry.traits.waits == Waits::Spins);
    if !spinners.is_empty() {
        let names = spinners.iter().map(|entry| entry.traits.name.to_owned()).collect();
        warnings.push(Warning::SpinnersLeftOut { scenario: scenario.name().to_owned(), names });
    }
    sleepers
}

fn contender(scenario: Scenario, entry: &'static Entry, frame: Frame) -> Contender {
    match scenario {
        Scenario::PingPong | Scenario::OneCpu => ping_pong(entry, frame),
        Scenario::Throughput => throughput(entry, frame),
        Scenario::Batches => batches(entry, BATCH, frame),
    }
}

pub fn ping_pong(entry: &'static Entry, frame: Frame) -> Contender {
    let limit = match entry.traits.waits {
        _ if frame.place.one_cpu() => &limits::FUTEX_ONE_CPU,
        Waits::Spins | Waits::LooksThenSleeps => &limits::TWO_LINE_FLOOR,
        Waits::Sleeps => &limits::FUTEX,
        Waits::SleepsInPoll => &limits::EPOLL,
    };
    let place = frame.place;
    // One message each way is what makes two.
    let run = move |messages: u64| (entry.ping_pong)(place, messages.div_ceil(2));
    transport(entry, limit, frame.transports, run)
}

pub fn throughput(entry: &'static Entry, frame: Frame) -> Contender {
    let place = frame.place;
    transport(entry, frame.stream_limit(), frame.transports, move |messages| (entry.throughput)(place, messages))
}

pub fn batches(entry: &'static Entry, batch: usize, frame: Frame) -> Contender {
    let place = frame.place;
    let run = move |messages| (entry.batches)(place, messages, batch);
    let mut contender = transport(entry, frame.stream_limit(), frame.transports, run);
    contender.contestant.batch = Some(batch);
    contender
}

fn transport<Made: Into<Outcome>>(
    entry: &'static Entry,
    limit: &Probe,
    length: Length,
    run: impl Fn(u64) -> Result<Made, Fault> + 'static,
) -> Contender {
    let run = move |units| run(units).map(Into::into);
    let contestant = Contestant {
        name: entry.traits.name.to_owned(),
        kind: Kind::Transport,
        unit: Unit::Message,
        units_per_run: 0,
        limit: Some(limit.name.to_owned()),
        waits: Some(entry.traits.waits),
        batch: None,
    };
    Contender { contestant, length, run: Box::new(run) }
}

/// Every limit that makes sense at this place, and nothing else.
pub fn of_limits(frame: Frame) -> Plan {
    let floor = frame.floor();
    let others = limits::all().iter().filter(|probe| probe.fits(frame.place) && probe.name != floor.name);
    Plan {
        scenario: "limits".to_owned(),
        about: "What the machine itself cannot do faster".to_owned(),
        parameter: None,
        place: frame.place,
        rounds: frame.rounds,
        floor: frame.limit(floor),
        limit: floor.name,
        contenders: others.map(|probe| frame.limit(probe)).collect(),
    }
}

/// How long one run may be so that `runs` of them in each of `rounds` rounds take `seconds`.
pub fn run_length(seconds: f64, rounds: u32, runs: u64) -> Duration {
    // Finding the numbers of messages takes about as long as a round and a half.
    let slices = (f64::from(rounds) + 1.5) * runs.max(1) as f64;
    Duration::from_secs_f64((seconds / slices).clamp(0.000_5, 0.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::registry;

    fn frame(place: Place) -> Frame {
        Frame { place, rounds: 1, transports: Length::Units(1), limits: Length::Units(1) }
    }

    fn names(scenario: Scenario, place: Place) -> (Vec<String>, Vec<Warning>) {
        let entries: Vec<_> = registry::all().iter().collect();
        let mut warnings = Vec::new();
        let plan = of(scenario, &entries, frame(place), &mut warnings);
        let contenders = plan.map_or(Vec::new(), |plan| plan.contenders);
        (contenders.into_iter().map(|contender| contender.contestant.name).collect(), warnings)
    }

    #[test]
    fn two_cpus_have_everybody_who_can() {
        let (names, warnings) = names(Scenario::Throughput, Place { first: 0, second: 1 });
        assert!(warnings.is_empty());
        for entry in registry::all().iter().filter(|entry| entry.traits.one_by_one) {
            assert!(names.iter().any(|name| name == entry.traits.name), "{}", entry.traits.name);
        }
        assert!(names.iter().any(|name| name == limits::HAND_OVER.name));
    }

    #[test]
    fn one_cpu_leaves_out_whatever_spins_and_says_so() {
        let (names, warnings) = names(Scenario::Throughput, Place { first: 0, second: 0 });
        assert!(!names.iter().any(|name| name.starts_with("rtrb") || name == limits::HAND_OVER.name), "{names:?}");
        assert!(matches!(&warnings[..], [Warning::SpinnersLeftOut { .. }]));
    }

    #[test]
    fn no_limit_is_there_twice() {
        for scenario in Scenario::ALL {
            for place in [Place { first: 0, second: 1 }, Place { first: 0, second: 0 }] {
                let entries: Vec<_> = registry::all().iter().collect();
                let Some(plan) = of(scenario, &entries, frame(place), &mut Vec::new()) else { continue };
                let mut names: Vec<_> = plan.contenders.iter().map(|one| one.contestant.name.as_str()).collect();
                names.push(&plan.floor.contestant.name);
                assert!(names.contains(&plan.limit), "{scenario:?}");
                let all = names.len();
                names.sort_unstable();
                names.dedup();
                assert_eq!(names.len(), all, "{scenario:?}");
            }
        }
    }

    #[test]
    fn the_time_is_shared_among_the_runs() {
        assert_eq!(run_length(10.0, 8, 100), Duration::from_secs_f64(10.0 / 950.0));
        assert_eq!(run_length(1e9, 7, 1), Duration::from_millis(100));
    }
}
