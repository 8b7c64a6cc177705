//! The article's conclusions, and the verdicts of this machine.

use std::collections::BTreeMap;
use std::ops::Range;

use ybench_measure::outcome::{Metric, Series};
use ybench_measure::record::{Report, Session};
use ybench_measure::scenario::{latency, neighbours, ping_pong};
use ybench_measure::stats;

use super::published::{BLUE, DESIGNS, GREEN, PINK, RED, USLEEPS, WITHOUT_LOCKS, YIELDS};
use super::{naive, times};
use crate::article::cases::Cases;
use crate::article::conclusion::{self, Conclusion, Ratio};
use crate::table::{Part, figure};

/// "The main factor is wake-up time": with sleep a message takes at least this many times as long as without.
const MAIN: f64 = 2.0;

/// "Nearly twice" as fast as D's mailboxes, which the article gives as 3 and 5 us.
const NEARLY_TWICE: f64 = 5.0 / 3.0;

/// "Not bad at all": 4.3 us where the condition variable takes 3, which is 1.43 times.
const NOT_BAD: f64 = 1.5;

/// "A very real competitor", for which the article gives no number: below this multiple.
const COMPETITOR: f64 = 1.5;

/// "Guaranteed to increase the response time to at least 40 microseconds."
const USLEEP_NS: f64 = 40e3;

/// "Unpredictably", for which the article gives no number: the distance of the slowest tenth from the median, as a
/// multiple of a sleeping reader's.
const UNPREDICTABLE: f64 = 2.0;

/// "2-3 messages per 1000": from half of that to twice as many.
const TAIL: Range<f64> = 1.0..6.0;

pub(super) fn parts(report: &Report) -> Vec<Part> {
    let one_by_one = [report.session(latency::SCENARIO.name)];
    let beside_others = [neighbours::SCENARIO.name, ping_pong::ON_ONE_CPU.name].map(|name| report.session(name));
    conclusion::parts([
        Ratio {
            claim: "Neither mutexes nor copying decide how fast a message is, but the time to wake its reader.",
            read: "a condition variable over a reader that never sleeps, both at the same queue; decisive from 2 times on",
            above: RED,
            below: BLUE,
        }
        .at_least(MAIN, &one_by_one),
        Ratio {
            claim: "A mutex and a condition variable are nearly twice as fast as D's mailboxes (3 and 5 us).",
            read: "our mailboxes, asleep at once, over a condition variable; nearly twice from 1.1 to 2.5 times",
            above: PINK,
            below: RED,
        }
        .about(NEARLY_TWICE, &one_by_one),
        Ratio {
            claim: "An event loop that is given functions is not bad at all (4.3 us, where a condition variable takes 3).",
            read: "our event loop, asleep in epoll, over a condition variable; not bad below 1.5 times",
            above: GREEN,
            below: RED,
        }
        .within(NOT_BAD, &one_by_one),
        Ratio {
            claim: "A mutex and a condition variable are a very real competitor to queues that do not block.",
            read: "the same over our queue without locks, both asleep at once; a competitor below 1.5 times",
            above: RED,
            below: WITHOUT_LOCKS,
        }
        .within(COMPETITOR, &one_by_one),
        naive::conclusion(report),
        tail(one_by_one[0]),
        Ratio {
            claim: "A reader that never sleeps slips where others want its CPU.",
            read: "its time over a condition variable's, of single messages with greedy neighbours (90th percentile) \
                   and of a bounce with both threads on one CPU",
            above: BLUE,
            below: RED,
        }
        .slower(&beside_others),
        unpredictable(beside_others[0]),
        usleep(one_by_one[0]),
        Ratio {
            claim: "yield() is slightly better than usleep() on small loads.",
            read: "a reader that sleeps for 1 us over one that yields, one message at a time",
            above: USLEEPS,
            below: YIELDS,
        }
        .slower(&one_by_one),
        Ratio {
            claim: "yield() tends to share the CPU with anyone.",
            read: "a reader that yields over a condition variable, of single messages with greedy neighbours \
                   (90th percentile)",
            above: YIELDS,
            below: RED,
        }
        .slower(&beside_others[..1]),
    ])
}

fn unpredictable(session: Option<&Session>) -> Conclusion {
    let mut cases = Cases::default();
    if let Some(session) = session {
        let [spinning, sleeping] = [BLUE, RED].map(|name| tails(session, name));
        cases.above(session, &stats::ratios(&spinning, &sleeping), UNPREDICTABLE);
    }
    Conclusion {
        claim: "And it slips unpredictably.",
        here: format!(
            "from the median to the 90th percentile of single messages with greedy neighbours, over the same of a \
             condition variable; unpredictable from {UNPREDICTABLE:.0} times on: {}",
            cases.times()
        ),
        verdict: cases.verdict(),
    }
}

/// The distance of the slowest tenth of the messages from the median, in each round.
fn tails(session: &Session, name: &str) -> Vec<Option<f64>> {
    // A sleeping reader may have no such distance.
    let of =
        |metrics: &BTreeMap<Metric, f64>| Some((metrics.get(&Metric::P90)? - metrics.get(&Metric::Median)?).max(1.0));
    session.counted().map(|round| round.metrics.get(name).and_then(of)).collect()
}

/// Judged by the one-way time, as in the article. In a bounce each reader begins to sleep while the other still sleeps.
/// So the way there and back together is one sleep and a little more.
fn usleep(session: Option<&Session>) -> Conclusion {
    let mut cases = Cases::default();
    let figures = session.map_or(Vec::new(), |session| session.figures(USLEEPS));
    session.into_iter().for_each(|session| cases.above(session, &figures, USLEEP_NS));
    let median = |series| Some(figure(session?.distribution(USLEEPS, series)?.median() / 1e3));
    let told = match (median(Series::Latency), median(Series::RoundTrip)) {
        (Some(there), Some(back)) => {
            format!("{there} one way, which is what the article times and what is judged; {back} there and back")
        }
        (None, Some(back)) => format!("{back} there and back, half of which is judged"),
        _ => "not measured".to_owned(),
    };
    Conclusion {
        claim: "usleep() increases the response time to at least 40 us.",
        here: format!("a reader that sleeps for 1 us between two polls, median in us: {told}"),
        verdict: cases.verdict(),
    }
}

/// How many of 1,000 messages took more than ten times the median, for each of the article's designs.
fn tail(session: Option<&Session>) -> Conclusion {
    let mut cases = Cases::default();
    let mut told = Vec::new();
    for (design, session) in DESIGNS.iter().filter_map(|design| Some((design, session?))) {
        let (Some(colour), Some(times)) = (design.colour, times(session, design)) else { continue };
        cases.between(session, &session.metrics(design.transport, Metric::SlowOfThousand), TAIL);
        told.push(format!("{colour} {}", figure(times.slow_of_thousand())));
    }
    let told = if told.is_empty() { "not measured".to_owned() } else { told.join(", ") };
    Conclusion {
        claim: "2 or 3 messages of 1,000 are processed abnormally long.",
        here: format!(
            "messages of 1,000 that took more than ten times the median, the same from {} to {}: {told}",
            TAIL.start, TAIL.end
        ),
        verdict: cases.verdict(),
    }
}
