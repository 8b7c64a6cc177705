//! A made-up report with everything a report can have: every kind of scenario and parameter, several rounds, some of
//! them dropped, distributions, single messages, warnings. The same at every call. No figure in it was measured.

use std::collections::BTreeMap;

use fastrand::Rng;
use ybench::clock::step::InStep;
use ybench::clock::{Facts, Source};
use ybench::distribution::Distribution;
use ybench::env::Environment;
use ybench::outcome::{Metric, Series};
use ybench::record::{Contestant, Details, Goal, Kind, Parameter, Quantity, Report, Round, SCHEMA, Session};
use ybench::registry;
use ybench::stats::Spread;
use ybench::trace::Trace;
use ybench::transport::Traits;
use ybench::warnings::Warning;

const ROUNDS: usize = 7;

/// The contents of a session in addition to its ranked figures.
#[derive(Clone, Copy)]
struct Wanted {
    scenario: &'static str,
    about: &'static str,
    limit: &'static str,
    /// Nanoseconds of the baseline.
    base: f64,
    series: &'static [Series],
    /// Whether single messages are stored as well.
    traces: bool,
}

const PLAIN: Wanted =
    Wanted { scenario: "", about: "", limit: "two-line baseline", base: 60.0, series: &[], traces: false };

pub(crate) fn report() -> Report {
    Report {
        schema: SCHEMA,
        command: "quick".to_owned(),
        started: 1_772_368_500,
        environment: Environment {
            cpu_model: Some("Made-up Processor 9000 @ 3.00GHz".to_owned()),
            allowed_cpus: vec![0, 1],
            kernel: Some("6.1.0".to_owned()),
            hypervisor: Some("kvm".to_owned()),
            clock_source: Some("tsc".to_owned()),
            load: Some(1.4),
            compiler: Some("rustc 1.95.0".to_owned()),
            ybench: "0.1.0".to_owned(),
            commit: Some("0123abc".to_owned()),
            ..Environment::default()
        },
        cpus: [0, 1],
        clock: Some(Facts {
            source: Source::OrderedCounter,
            cost_ns: 9.2,
            resolution_ns: 9.0,
            tick_ns: 0.33,
            invariant: Some(true),
            step: InStep::Yes { low: -20.0, high: 30.0 },
            table: Vec::new(),
            overhead_ns: None,
        }),
        seed: 1,
        interrupted: false,
        sessions: sessions(),
        counts: Vec::new(),
        goals: Vec::new(),
        bounds: Vec::new(),
        epoll: Vec::new(),
        pairs: Vec::new(),
        notes: Vec::new(),
        warnings: vec![
            Warning::VirtualMachine { hypervisor: "kvm".to_owned() },
            Warning::Loaded { load: 1.4, cpus: 2 },
            Warning::RoundsDropped {
                scenario: "latency".to_owned(),
                dropped: 1,
                of: ROUNDS,
                reasons: vec!["the baseline moved by 14 % (60.1 to 68.5 ns)".to_owned()],
            },
        ],
    }
}

/// As a result of `ybench` without arguments: one session of each of a few scenarios.
pub(crate) fn one_screen() -> Report {
    let mut report = report();
    let mut seen: Vec<String> = Vec::new();
    report.sessions.retain_mut(|session| {
        let first = !seen.contains(&session.scenario);
        seen.push(session.scenario.clone());
        session.contenders.retain(|one| registry::named(&one.name).is_none_or(|entry| !entry.traits.variant));
        first
    });
    report
}

/// As a result of `ybench scale`: some transports stay level, and others do not.
pub(crate) fn scale() -> Report {
    let mut report = report();
    report.command = "scale".to_owned();
    let mut rng = Rng::with_seed(8);
    let wanted = |scenario, about| Wanted { scenario, about, limit: "memory hand-over", base: 1.2, ..PLAIN };
    let senders = wanted("senders", "Streams from 1 to 1,024 threads to one");
    let idle = wanted("idle-senders", "A stream from one thread with others that are silent");
    let mut sessions = Vec::new();
    for (number, value) in [1.0, 32.0, 1_024.0].into_iter().enumerate() {
        let at = |quantity, value| Some(Parameter { quantity, value });
        sessions.push(session(&mut rng, senders, at(Quantity::Senders, value), [1.0, 1.5, 40.0][number]));
        sessions.push(session(&mut rng, idle, at(Quantity::IdleSenders, value - 1.0), 1.0));
    }
    report.sessions = sessions;
    report
}

/// The smallest report: one transport, one round, nothing else.
pub(crate) fn least() -> Report {
    let mut report = report();
    report.sessions.truncate(1);
    let session = &mut report.sessions[0];
    let kept = [session.limit.clone(), "spsc".to_owned()];
    session.contenders.retain(|one| kept.contains(&one.name));
    session.rounds.truncate(1);
    session.rounds[0].nanoseconds.retain(|name, _| kept.contains(name));
    session.rounds[0].metrics.clear();
    session.details.clear();
    report.warnings.clear();
    report
}

/// The project's own targets, met and missed and not measured.
pub(crate) fn goals() -> Vec<Goal> {
    let goal = |name: &str, median: Option<f64>, met| Goal {
        name: name.to_owned(),
        measured: median.map(|median| Spread { median, min: median * 0.9, max: median * 1.1 }),
        target: 2.0,
        at_least: false,
        met,
    };
    vec![
        goal("throughput, times the hand-over", Some(1.4), Some(true)),
        goal("ping-pong, times the baseline", Some(2.6), Some(false)),
        goal("memory", None, None),
    ]
}

fn sessions() -> Vec<Session> {
    let mut rng = Rng::with_seed(7);
    let mut sessions = Vec::new();
    let mut push = |wanted: Wanted, parameter: Option<Parameter>, factor: f64| {
        sessions.push(session(&mut rng, wanted, parameter, factor));
    };
    let at = |quantity, value| Some(Parameter { quantity, value });
    push(
        Wanted {
            scenario: "latency",
            about: "One message at a time, the next only after the reply: the time of each single message",
            series: &[Series::RoundTrip],
            traces: true,
            ..PLAIN
        },
        None,
        1.0,
    );
    push(
        Wanted {
            scenario: "throughput",
            about: "Messages sent one by one, as fast as the other thread takes them",
            limit: "memory hand-over",
            base: 1.2,
            ..PLAIN
        },
        None,
        1.0,
    );
    push(
        Wanted {
            scenario: "density",
            about: "The time between two sends and between two receipts, at full speed",
            limit: "memory hand-over",
            base: 1.2,
            series: &[Series::SendDensity, Series::ReceiveDensity],
            traces: true,
        },
        None,
        4.0,
    );
    push(
        Wanted {
            scenario: "overrun",
            about: "The latency of each message in a queue that is written faster than it is read",
            limit: "memory hand-over",
            base: 1.2,
            series: &[Series::Latency],
            traces: true,
        },
        None,
        6.0,
    );
    let fixed = Wanted {
        scenario: "fixed-rate",
        about: "Messages at a fixed rate, timed from the moment each was meant to be sent",
        series: &[Series::Latency],
        ..PLAIN
    };
    for rate in [1e3, 1e4, 1e5, 1e6] {
        push(fixed, at(Quantity::Rate, rate), 1.0 + 30.0 / rate.log10());
    }
    let night = Wanted {
        scenario: "night-watchman",
        about: "One message after a long silence",
        limit: "raw futex",
        base: 2_400.0,
        series: &[Series::Latency],
        ..PLAIN
    };
    for silence in [0.001, 0.01, 0.1, 1.0] {
        push(night, at(Quantity::Silence, silence), 1.5 + silence.log10().abs() / 8.0);
    }
    let burst = Wanted {
        scenario: "burst",
        about: "Many messages at once, until the queue is empty again",
        limit: "memory hand-over",
        base: 1.2,
        ..PLAIN
    };
    for backlog in [1e3, 1e4, 1e5, 1e6, 1e7] {
        push(burst, at(Quantity::Backlog, backlog), 2.0 + backlog.log10() / 3.0);
    }
    let crowd =
        Wanted { scenario: "crowd", about: "More threads than CPUs", limit: "raw futex", base: 2_400.0, ..PLAIN };
    for (quantity, value) in
        [(Quantity::ThreadsPerCpu, 2.0), (Quantity::ThreadsPerCpu, 8.0), (Quantity::Neighbours, 1.0)]
    {
        push(crowd, at(quantity, value), value * 2.0);
    }
    let size = Wanted {
        scenario: "size",
        about: "Messages of different sizes",
        limit: "memory hand-over",
        base: 1.2,
        ..PLAIN
    };
    for bytes in [8.0, 64.0, 512.0, 4_096.0, 65_536.0] {
        push(size, at(Quantity::BytesByValue, bytes), 2.0 + bytes / 40.0);
        push(size, at(Quantity::BytesByPointer, bytes), 8.0 + bytes / 90.0);
    }
    push(
        Wanted {
            scenario: "one-cpu",
            about: "One message bounced between two threads that share a CPU: the time one way",
            limit: "raw futex, one CPU",
            base: 1_100.0,
            ..PLAIN
        },
        None,
        1.0,
    );
    sessions
}

fn session(rng: &mut Rng, wanted: Wanted, parameter: Option<Parameter>, factor: f64) -> Session {
    // Not all transports take part everywhere.
    let some = if parameter.is_some() { 8 } else { usize::MAX };
    let compared = |traits: &Traits| !traits.hidden && (traits.one_by_one || traits.batches);
    let entries = registry::all().iter().filter(|entry| compared(&entry.traits)).take(some);
    let mut contenders: Vec<Contestant> = entries
        .map(|entry| Contestant {
            name: entry.traits.name.to_owned(),
            units_per_run: 100_000,
            limit: Some(wanted.limit.to_owned()),
            waits: Some(entry.traits.waits),
            family: Some(entry.traits.family),
            explained: entry.traits.about.to_owned(),
            ..Contestant::default()
        })
        .collect();
    contenders.insert(0, limit(wanted.limit));
    let times: Vec<f64> = (0..contenders.len()).map(|at| wanted.base * speed(at, factor)).collect();
    let mut session = Session {
        scenario: wanted.scenario.to_owned(),
        about: wanted.about.to_owned(),
        parameter,
        floor: wanted.limit.to_owned(),
        limit: wanted.limit.to_owned(),
        contenders,
        ..Session::default()
    };
    for number in 0..ROUNDS {
        let round = round(rng, &session, &times, number, parameter);
        session.rounds.push(round);
    }
    for (one, time) in session.contenders.iter().zip(&times).skip(1) {
        let mut details = Details::default();
        for series in wanted.series {
            let singles = messages(rng, *time, if wanted.traces { 2_000 } else { 1_000 }, wanted.scenario == "overrun");
            details.distributions.insert(*series, singles.iter().copied().collect::<Distribution>());
            if wanted.traces {
                details.traces.insert(*series, Trace::of(&singles));
            }
        }
        if !wanted.series.is_empty() {
            session.details.insert(one.name.clone(), details);
        }
    }
    session
}

fn limit(name: &str) -> Contestant {
    Contestant { name: name.to_owned(), kind: Kind::Limit, units_per_run: 100_000, ..Contestant::default() }
}

/// The first is the baseline itself; the next two are close to each other.
fn speed(at: usize, factor: f64) -> f64 {
    match at {
        0 => 1.0,
        1 => 1.3 * factor.max(1.0),
        at => (1.3 + 0.03 * f64::from(at as u32 - 1)) * factor.max(1.0) * 1.22f64.powi(at as i32 - 2),
    }
}

fn round(rng: &mut Rng, session: &Session, times: &[f64], number: usize, parameter: Option<Parameter>) -> Round {
    let mut nanoseconds = BTreeMap::new();
    let mut metrics = BTreeMap::new();
    for (one, time) in session.contenders.iter().zip(times) {
        let time = time * (0.97 + 0.06 * rng.f64());
        nanoseconds.insert(one.name.clone(), time);
        if one.kind == Kind::Transport {
            metrics.insert(one.name.clone(), of_round(session, time, parameter));
        }
    }
    let moved = session.scenario == "latency" && number == 3;
    Round {
        order: session.contenders.iter().map(|one| one.name.clone()).collect(),
        floor_before: times[0],
        floor_after: times[0] * if moved { 1.14 } else { 1.02 },
        seconds: 0.4,
        seconds_of_others: None,
        stolen_seconds: Some(0.0),
        cpus: Some(2),
        dropped: moved.then(|| "the baseline moved by 14 % (60.1 to 68.5 ns)".to_owned()),
        nanoseconds,
        metrics,
    }
}

fn of_round(session: &Session, time: f64, parameter: Option<Parameter>) -> BTreeMap<Metric, f64> {
    let mut metrics = BTreeMap::new();
    match (session.scenario.as_str(), parameter) {
        ("fixed-rate", Some(parameter)) => {
            metrics.insert(Metric::SenderCpu, time * 0.3);
            metrics.insert(Metric::ReceiverCpu, time * 0.4);
            metrics.insert(Metric::SenderSwitches, 0.001);
            metrics.insert(Metric::ReceiverSwitches, 1e6 / parameter.value / 1_000.0);
            metrics.insert(Metric::RateWanted, parameter.value);
            metrics.insert(Metric::RateReached, parameter.value.min(4.5e8 / time));
        }
        ("burst", Some(_)) => {
            metrics.insert(Metric::Fill, time * 0.6);
            metrics.insert(Metric::Drain, time * 0.4);
            metrics.insert(Metric::BytesHeld, 9.2);
        }
        ("density", _) => {
            metrics.insert(Metric::Batches, 10_768.0);
            metrics.insert(Metric::MeanBatch, 1e6 / 10_768.0);
            metrics.insert(Metric::Distortion, 0.12);
        }
        _ => {}
    }
    metrics
}

/// Most are near the median, some scattered, two or three of a thousand far away; growing if the queue is overrun.
fn messages(rng: &mut Rng, median: f64, count: u32, growing: bool) -> Vec<f64> {
    let one = |number: u32| {
        let noise = 1.0 + 0.12 * (rng.f64() + rng.f64() + rng.f64() - 1.5);
        let tail = match rng.f64() {
            chance if chance < 0.0025 => 20.0 + 300.0 * rng.f64().powi(3),
            chance if chance < 0.03 => 1.5 + 2.0 * rng.f64(),
            _ => 1.0,
        };
        let queue = if growing { 1.0 + f64::from(number) * 0.4 } else { 1.0 };
        median * (noise * tail + queue - 1.0)
    };
    (0..count).map(one).collect()
}
