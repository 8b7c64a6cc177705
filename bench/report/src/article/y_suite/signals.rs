//! The three signalers by themselves: the cost of a signal and of a poll that finds one, compared with the worst case.

use ybench_measure::frame::Frame;
use ybench_measure::limits::Probe;
use ybench_measure::limits::signals::ALL;
use ybench_measure::plan;
use ybench_measure::record::{Report, Session};
use ybench_measure::rounds::Plan;

use super::published::{WITH_DESCRIPTOR, WITH_POLLING, WITHOUT_POLLING};
use crate::article::cases::Cases;
use crate::article::conclusion::Conclusion;
use crate::table::{Grid, Tone, figure, grouped};

pub(super) const SCENARIO: &str = "signals";

/// The composition for each signaler, in the order of [`ALL`].
const COMPOSED: [&str; 3] = [WITHOUT_POLLING, WITH_POLLING, WITH_DESCRIPTOR];
const NAMES: [&str; 3] = ["ysemaphore", "ypollset", "ysocketpair"];

/// "A few hundred nanoseconds": fewer than this.
const FEW_HUNDRED: f64 = 1_000.0;

pub(super) fn plan(frame: Frame) -> Plan {
    let all: Vec<&'static Probe> = ALL.iter().flatten().collect();
    let about = "A signal alone and a poll that finds one, with no message and no reader asleep";
    plan::plan(SCENARIO, about, None, frame, frame.floor(), frame.those_that_fit(&all, frame.floor().name))
}

pub(super) fn table(report: &Report) -> Option<Grid> {
    let (session, worst) = (report.session(SCENARIO)?, report.session("ping-pong"));
    let heads = ["signaler", ">signal, ns", ">poll, ns", ">signal, two CPUs", ">poll, two CPUs", ">worst case, ns/msg"];
    let mut grid = Grid::new(&heads);
    for ((name, probes), composed) in NAMES.iter().zip(&ALL).zip(COMPOSED) {
        let told = |session: Option<&Session>, name: &str| {
            session.and_then(|session| session.density(name)).map_or("-".to_owned(), |time| figure(time.median))
        };
        let mut cells = vec![(*name).to_owned()];
        cells.extend(probes.iter().map(|probe| told(Some(session), probe.name)));
        cells.push(told(worst, composed));
        grid.push(Tone::Plain, None, cells);
    }
    grid.notes.push("Signal and poll find no sleeper; in the worst case each message wakes its reader.".to_owned());
    Some(grid)
}

pub(super) fn conclusions(report: &Report) -> Vec<Conclusion> {
    let (Some(session), worst) = (report.session(SCENARIO), report.session("ping-pong")) else { return Vec::new() };
    let slower = |claim, read: &str, above: usize, below: usize| {
        let mut cases = Cases::default();
        for (above, below) in ALL[above].iter().zip(&ALL[below]) {
            cases.slower(session, above.name, below.name);
        }
        worst.iter().for_each(|worst| cases.slower(worst, COMPOSED[above], COMPOSED[below]));
        Conclusion { claim, here: format!("{read}: {}", cases.times()), verdict: cases.verdict() }
    };
    vec![
        few_hundred(session, worst),
        slower(
            "Ysemaphore is the fastest way to wake a reader, and ypollset a bit slower.",
            "the ypollset over the ysemaphore, a signal, a poll and one message bounced",
            1,
            0,
        ),
        slower(
            "Ysocketpair, which has a descriptor, is slower than ypollset.",
            "the ysocketpair over the ypollset, a signal, a poll and one message bounced",
            2,
            1,
        ),
    ]
}

/// A signal and the poll that finds it, between two CPUs if there are two.
fn few_hundred(session: &Session, worst: Option<&Session>) -> Conclusion {
    let [alone, poll_alone, signal, poll] = ALL[0].each_ref().map(|probe| session.series(probe.name));
    let sum = |one: &[Option<f64>], other: &[Option<f64>]| -> Vec<f64> {
        one.iter().zip(other).filter_map(|(one, other)| Some((*one)? + (*other)?)).collect()
    };
    let across = sum(&signal, &poll);
    let both = if across.is_empty() { sum(&alone, &poll_alone) } else { across };
    let mut cases = Cases::default();
    cases.below(session, &both, FEW_HUNDRED);
    let median = |figures: &[f64]| ybench_measure::stats::Spread::of(figures).map(|spread| figure(spread.median));
    let asleep = worst.and_then(|worst| worst.density(COMPOSED[0])).map_or(String::new(), |time| {
        format!("; a message that finds its reader asleep takes {} ns", figure(time.median))
    });
    Conclusion {
        claim: "Synchronisation by ysemaphore takes at worst a few hundred nanoseconds.",
        here: format!(
            "a signal and the poll that finds it, fewer than {} ns: {} ns{asleep}",
            grouped(FEW_HUNDRED),
            median(&both).unwrap_or_else(|| "-".to_owned())
        ),
        verdict: cases.verdict(),
    }
}
