//! The article's conclusions, and the verdicts of this machine.

use ybench_measure::outcome::Metric;
use ybench_measure::record::{Parameter, Report, Session};
use ybench_measure::registry;
use ybench_measure::scenario::{density, latency, overrun, paced};
use ybench_measure::stats::{self, DIFFERENCE, Spread};

use super::rates;
use crate::article::cases::Cases;
use crate::article::conclusion::{self, Conclusion};
use crate::table::{Part, figure, grouped};

/// "Will distort the results by 20 %", the most that the article accepts.
const SMALL: f64 = 0.20;

/// "Very deterministic", with a deviation of 1.4 % of the median in the article: below this share of it.
const DETERMINISTIC: f64 = 0.05;

/// "Fairly accurate": neither is this multiple of the other.
const FAIRLY: f64 = 2.0;

/// An ever-growing latency is, at the end, at least this multiple of that in the middle; twice, if it grows evenly.
const GROWS: f64 = 1.5;

/// "Differ significantly between the runs": the slowest over the fastest.
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

/// One figure over another, in each round that counts and has both.
fn over(session: &Session, name: &str, [above, below]: [Metric; 2]) -> Vec<f64> {
    let of = |metric: Metric| -> Vec<Option<f64>> {
        session.counted().map(|round| round.metrics.get(name)?.get(&metric).copied()).collect()
    };
    stats::ratios(&of(above), &of(below))
}

fn overhead(report: &Report, names: &[&str]) -> Conclusion {
    let mut cases = Cases::default();
    for (session, name) in of_each(report.session(density::SCENARIO.name), names) {
        cases.below(session, &session.metrics(name, Metric::Distortion), SMALL);
    }
    let shares = super::distortions(report, names);
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
    for (session, name) in of_each(report.session(latency::SCENARIO.name), names) {
        let shares = over(session, name, [Metric::Deviation, Metric::Median]);
        cases.below(session, &shares, DETERMINISTIC);
        here.extend(Spread::of(&shares).map(|share| format!("{name} {}", share_of(share.median))));
    }
    Conclusion {
        claim: "The latencies of single messages are very deterministic.",
        here: format!("their standard deviation, as a share of the median, very from below 5 %: {}", told(here)),
        verdict: cases.verdict(),
    }
}

fn peaks(report: &Report, names: &[&str]) -> Conclusion {
    let claim = "Most sends take the same, and few irregular peaks raise the mean (208 ns, where the median is 140).";
    more(
        claim,
        "the mean over the median of the sender's density",
        report,
        names,
        [Metric::SendMean, Metric::SendMedian],
    )
}

fn sender(report: &Report, names: &[&str]) -> Conclusion {
    let claim = "The sender is quicker than the receiver (208 and 367 ns).";
    let read = "the mean density of the receiver over that of the sender";
    more(claim, read, report, names, [Metric::ReceiveMean, Metric::SendMean])
}

/// Each transport with its session, if it was measured.
fn of_each<'a>(session: Option<&'a Session>, names: &'a [&str]) -> impl Iterator<Item = (&'a Session, &'a str)> {
    session.into_iter().flat_map(|session| names.iter().map(move |name| (session, *name)))
}

/// Whether a ratio of each transport is above 1, by more than the tenth that has no verdict.
fn more(claim: &'static str, read: &str, report: &Report, names: &[&str], metrics: [Metric; 2]) -> Conclusion {
    let mut cases = Cases::default();
    for (session, name) in of_each(report.session(density::SCENARIO.name), names) {
        cases.above(session, &over(session, name, metrics), 1.0 + DIFFERENCE);
    }
    Conclusion { claim, here: format!("{read}: {}", cases.times()), verdict: cases.verdict() }
}

fn batches(report: &Report, names: &[&str]) -> Conclusion {
    let (mut cases, mut lengths) = (Cases::default(), Vec::new());
    if let Some(session) = report.session(density::SCENARIO.name) {
        for name in names {
            let ratios = over(session, name, [Metric::MeanBatch, Metric::MeanReady]);
            cases.between(session, &ratios, 1.0 / FAIRLY..FAIRLY);
            let ready = session.metric(name, Metric::MeanReady);
            lengths.extend(ready.map(|ready| format!("{name} {}", grouped(ready.median))));
        }
    }
    Conclusion {
        claim: "Densities above 1 microsecond tell the number of batches fairly accurately.",
        here: format!(
            "lengths computed from them over true ones, the messages in the queue when the receiver polled ({}): {}",
            told(lengths),
            cases.times()
        ),
        verdict: cases.verdict(),
    }
}

fn bounded(name: &str) -> bool {
    registry::named(name).is_some_and(|entry| entry.traits.bounded)
}

fn growing(report: &Report, names: &[&str]) -> Conclusion {
    let (mut cases, mut without, mut with) = (Cases::default(), Vec::new(), Vec::new());
    for (session, name) in of_each(report.session(overrun::SCENARIO.name), names) {
        let growth = session.metrics(name, Metric::Growth);
        let Some(times) = Spread::of(&growth) else { continue };
        let most = session.metric(name, Metric::MostUnderWay).map_or(0.0, |most| most.median);
        let told = format!("{name} {} (at most {} under way)", figure(times.median), grouped(most));
        if bounded(name) {
            with.push(told);
        } else {
            cases.above(session, &growth, GROWS);
            without.push(told);
        }
    }
    let bounds = match with.is_empty() {
        true => String::new(),
        false => format!("; with a bound, where the sender waits, not judged: {}", told(with)),
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
            let ratios = over(session, name, [Metric::RateReached, Metric::RateWanted]);
            cases.between(session, &ratios, 1.0 / (1.0 + DIFFERENCE)..1.0 + DIFFERENCE);
        }
    }
    Conclusion {
        claim: "With a slowed sender the throughput is the sender's own rate, and says nothing of the transport.",
        here: format!(
            "the rate received over the sender's, which pauses to be half as fast as it could: {}",
            cases.times()
        ),
        verdict: cases.verdict(),
    }
}

/// A difference that is as large with a slowed sender says nothing about the matched one: the latter must differ more.
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
            "the latency of the slowest run over the fastest, significantly from {SIGNIFICANTLY} times on and above \
             that with a slowed sender: {}; with a slowed sender: {}",
            cases.times(),
            slow.times()
        ),
        verdict: cases.verdict(),
    }
}

/// The share of the clock in the densities.
pub(super) fn cost_of_the_clock(report: &Report) -> Option<String> {
    let facts = report.clock.as_ref()?;
    Some(format!(
        "Every density holds one reading of the clock, {} ns here. Without it the density is the transport's own; \
         'hidden' means no longer than the reading.",
        figure(facts.cost_ns)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_measured_is_said() {
        let text = crate::table::part::terminal(&parts(&Report::default(), &["spsc"]));
        assert_eq!(text.matches("\n  not measured.").count(), 10);
    }
}
