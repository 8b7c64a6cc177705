//! What the article concluded, and what this machine says.

use ybench_core::distribution::Distribution;
use ybench_core::outcome::{Metric, Series};
use ybench_core::record::{Parameter, Report, Session};
use ybench_core::registry;
use ybench_core::scenario::{density, latency, overrun, paced};
use ybench_core::stats::{DIFFERENCE, Interval, Spread};
use ybench_core::trace::Trace;

use super::rates;
use crate::article::cases::{Cases, Said};
use crate::article::conclusion::{self, Conclusion};
use crate::table::{Part, figure, grouped};

/// "Will distort the results by 20 %", the most that the article accepts.
const SMALL: f64 = 0.20;

/// "Very deterministic", where the article's deviation is 1.4 % of its median: below so much of it.
const DETERMINISTIC: f64 = 0.05;

/// "Fairly accurate": neither so many times the other.
const FAIRLY: f64 = 2.0;

/// An ever-growing latency is, at the end, at least so many times what it was in the middle; twice, if it grows evenly.
const GROWS: f64 = 1.5;

/// "Differ significantly between the runs": the slowest over the quickest.
const SIGNIFICANTLY: f64 = 2.0;

pub(super) fn parts(report: &Report, names: &[&str]) -> Vec<Part> {
    let all = [
        overhead(report, names),
        layered(),
        deterministic(report, names),
        peaks(report, names),
        sender(report, names),
        batches(report, names),
        growing(report, names),
        slowed(report, names),
        matched(report, names),
        rates::conclusion(report, names),
    ];
    conclusion::parts(all)
}

fn told(those: Vec<String>) -> String {
    if those.is_empty() { "not measured".to_owned() } else { those.join(", ") }
}

fn share_of(share: f64) -> String {
    format!("{} %", figure(share * 100.0))
}

fn times<'a>(
    report: &'a Report,
    scenario: &str,
    name: &str,
    series: Series,
) -> Option<(&'a Session, &'a Distribution)> {
    let session = report.session(scenario)?;
    Some((session, session.distribution(name, series)?))
}

fn overhead(report: &Report, names: &[&str]) -> Conclusion {
    let (mut cases, mut shares) = (Cases::default(), Vec::new());
    if let Some(session) = report.session(density::SCENARIO.name) {
        for name in names {
            cases.below(session, &session.metrics(name, Metric::Distortion), SMALL);
            let share = session.metric(name, Metric::Distortion);
            shares.extend(share.map(|share| format!("{name} {}", share_of(share.median))));
        }
    }
    Conclusion {
        claim: "Reading the counter is quick enough not to make the results irrelevant.",
        here: format!("a stream takes longer when every message is timed, irrelevant from 20 % on: {}", told(shares)),
        verdict: cases.verdict(),
    }
}

fn layered() -> Conclusion {
    Conclusion {
        claim: "A messaging library over TCP adds almost no latency to it.",
        here: "nothing of this project's own is layered on TCP".to_owned(),
        verdict: "not measured".to_owned(),
    }
}

fn deterministic(report: &Report, names: &[&str]) -> Conclusion {
    let (mut cases, mut here) = (Cases::default(), Vec::new());
    for name in names {
        let Some((session, times)) = times(report, latency::SCENARIO.name, name, Series::Latency) else { continue };
        let share = times.standard_deviation() / times.median();
        cases.single(session, share, share < DETERMINISTIC);
        here.push(format!("{name} {}", share_of(share)));
    }
    Conclusion {
        claim: "The latencies of single messages are very deterministic.",
        here: format!("their standard deviation, as a share of the median, very from below 5 %: {}", told(here)),
        verdict: cases.verdict(),
    }
}

fn peaks(report: &Report, names: &[&str]) -> Conclusion {
    let ratio = |name: &str| {
        let (session, sent) = times(report, density::SCENARIO.name, name, Series::SendDensity)?;
        Some((session, sent.mean() / sent.median()))
    };
    let claim = "Most sends take the same, and few irregular peaks raise the mean (208 ns, where the median is 140).";
    more(claim, "the mean over the median of the sender's density", names, ratio)
}

fn sender(report: &Report, names: &[&str]) -> Conclusion {
    let ratio = |name: &str| {
        let of = |series| times(report, density::SCENARIO.name, name, series);
        let ((session, sent), (_, received)) = of(Series::SendDensity).zip(of(Series::ReceiveDensity))?;
        Some((session, received.mean() / sent.mean()))
    };
    let claim = "The sender is quicker than the receiver (208 and 367 ns).";
    more(claim, "the mean density of the receiver over that of the sender", names, ratio)
}

/// Whether a ratio of each of them is above 1, beyond the tenth that is never called.
fn more<'a>(
    claim: &'static str,
    read: &str,
    names: &[&str],
    ratio: impl Fn(&str) -> Option<(&'a Session, f64)>,
) -> Conclusion {
    let mut cases = Cases::default();
    for (session, ratio) in names.iter().filter_map(|name| ratio(name)) {
        cases.single(session, ratio, ratio > 1.0 + DIFFERENCE);
    }
    Conclusion { claim, here: format!("{read}: {}", cases.times()), verdict: cases.verdict() }
}

fn batches(report: &Report, names: &[&str]) -> Conclusion {
    let (mut cases, mut lengths) = (Cases::default(), Vec::new());
    if let Some(session) = report.session(density::SCENARIO.name) {
        for name in names {
            let [gaps, ready] = [Metric::MeanBatch, Metric::MeanReady].map(|metric| session.metrics(name, metric));
            let ratios: Vec<f64> = gaps.iter().zip(&ready).map(|(gaps, ready)| gaps / ready).collect();
            cases.judge(session, &ratios, |ratio: Interval| match ratio {
                ratio if ratio.high < FAIRLY && ratio.low > 1.0 / FAIRLY => Said::Yes,
                ratio if ratio.low >= FAIRLY || ratio.high <= 1.0 / FAIRLY => Said::No,
                _ => Said::TooClose,
            });
            let ready = session.metric(name, Metric::MeanReady);
            lengths.extend(ready.map(|ready| format!("{name} {}", grouped(ready.median))));
        }
    }
    Conclusion {
        claim: "Densities above 1 microsecond tell the number of batches fairly accurately.",
        here: format!(
            "lengths told by them over true ones, which are the messages that were there when the receiver asked ({}): {}",
            told(lengths),
            cases.times()
        ),
        verdict: cases.verdict(),
    }
}

fn bounded(name: &str) -> bool {
    registry::named(name).is_some_and(|entry| entry.traits.bounded)
}

/// How many times as long a message waits at the end of a run as in its middle: the medians of a tenth of it.
fn growth(trace: &Trace) -> Option<f64> {
    let tenth = trace.points.len() / 10;
    let middle = |from: usize| {
        let times: Vec<f64> = trace.points.get(from..from + tenth)?.iter().map(|(_, time)| *time).collect();
        Some(Spread::of(&times)?.median)
    };
    Some(middle(trace.points.len() - tenth)? / middle(trace.points.len() / 2 - tenth / 2)?)
}

fn growing(report: &Report, names: &[&str]) -> Conclusion {
    let (mut cases, mut without, mut with) = (Cases::default(), Vec::new(), Vec::new());
    let session = report.session(overrun::SCENARIO.name);
    for (session, name) in session.iter().flat_map(|session| names.iter().map(move |name| (session, name))) {
        let Some(times) = session.trace(name, Series::Latency).and_then(growth) else { continue };
        let most = session.metric(name, Metric::MostUnderWay).map_or(0.0, |most| most.median);
        let told = format!("{name} {} (at most {} under way)", figure(times), grouped(most));
        if bounded(name) {
            with.push(told);
        } else {
            cases.single(session, times, times >= GROWS);
            without.push(told);
        }
    }
    let bounds = match with.is_empty() {
        true => String::new(),
        false => format!("; sockets have a bound, at which their senders wait, and show none: {}", told(with)),
    };
    Conclusion {
        claim: "While the sender is quicker than the receiver, latency grows with every message.",
        here: format!("at the end of the stream over its middle, growing from 1.5 times on: {}{bounds}", told(without)),
        verdict: cases.verdict(),
    }
}

fn at(report: &Report, load: Parameter) -> Option<&Session> {
    report.sessions.iter().find(|one| one.scenario == paced::SCENARIO.name && one.parameter == Some(load))
}

fn slowed(report: &Report, names: &[&str]) -> Conclusion {
    let mut cases = Cases::default();
    if let Some(session) = at(report, paced::SLOWED) {
        for name in names {
            let [wanted, reached] =
                [Metric::RateWanted, Metric::RateReached].map(|metric| session.metrics(name, metric));
            let ratios: Vec<f64> = reached.iter().zip(&wanted).map(|(reached, wanted)| reached / wanted).collect();
            cases.judge(session, &ratios, |ratio: Interval| match ratio {
                ratio if ratio.low > 1.0 / (1.0 + DIFFERENCE) && ratio.high < 1.0 + DIFFERENCE => Said::Yes,
                ratio if ratio.high < 1.0 / (1.0 + DIFFERENCE) || ratio.low > 1.0 + DIFFERENCE => Said::No,
                _ => Said::TooClose,
            });
        }
    }
    Conclusion {
        claim: "With a slowed sender the throughput is the sender's own rate, and says nothing of the transport.",
        here: format!(
            "the rate received over the sender's, which pauses to be half as quick as it could: {}",
            cases.times()
        ),
        verdict: cases.verdict(),
    }
}

/// Also what differs with a slowed sender says nothing of the matched one: it must differ more.
fn matched(report: &Report, names: &[&str]) -> Conclusion {
    let (mut cases, mut slow) = (Cases::default(), Cases::default());
    let apart = |load, name: &str| {
        let session = at(report, load)?;
        let runs = session.density(name)?;
        Some((session, runs.max / runs.min))
    };
    for name in names {
        let slowed = apart(paced::SLOWED, name);
        let least = slowed.map_or(SIGNIFICANTLY, |(_, ratio)| ratio.max(SIGNIFICANTLY));
        slowed.into_iter().for_each(|(session, ratio)| slow.single(session, ratio, ratio >= SIGNIFICANTLY));
        let matched = apart(paced::MATCHED, name);
        matched.into_iter().for_each(|(session, ratio)| cases.single(session, ratio, ratio >= least));
    }
    Conclusion {
        claim: "With a sender as quick as its receiver the figures differ significantly between the runs.",
        here: format!(
            "the latency of the slowest run over that of the quickest, significantly from {SIGNIFICANTLY} times on and above \
             that with a slowed sender: {}; with a slowed sender: {}",
            cases.times(),
            slow.times()
        ),
        verdict: cases.verdict(),
    }
}

/// What the densities hold of the clock.
pub(super) fn cost_of_the_clock(report: &Report) -> Option<String> {
    let facts = report.clock.as_ref()?;
    Some(format!(
        "Every density holds one reading of the clock, {} ns here. Less that it is the transport's own; 'hidden' is what \
         takes no longer than the reading.",
        figure(facts.cost_ns)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latency_that_grows_evenly_is_at_the_end_nearly_twice_that_of_the_middle() {
        let trace = |time: fn(u64) -> f64| Trace { of: 1_000, points: (0..1_000).map(|at| (at, time(at))).collect() };
        let evenly = growth(&trace(|at| at as f64)).unwrap();
        assert!((1.8..2.0).contains(&evenly), "{evenly}");
        assert_eq!(growth(&trace(|_| 7.0)), Some(1.0));
        assert_eq!(growth(&Trace::default()), None);
    }

    #[test]
    fn what_was_not_measured_is_said() {
        let text = crate::table::part::terminal(&parts(&Report::default(), &["spsc"]));
        assert_eq!(text.matches("\n  not measured.").count(), 10);
    }
}
