//! What the article concluded, and what this machine says.

use ybench_core::outcome::Series;
use ybench_core::record::{Report, Session};
use ybench_core::scenario::{latency, neighbours, ping_pong};

use super::naive;
use super::published::{BLUE, GREEN, PINK, RED, USLEEPS, WITHOUT_LOCKS, YIELDS};
use crate::article::cases::Cases;
use crate::article::conclusion::{self, Conclusion, Ratio};
use crate::table::{Part, figure};

/// "The main factor is wake-up time": what sleeps takes at least so many times as long as what does the same and never does.
const MAIN: f64 = 2.0;

/// "Nearly twice" as fast as D's mailboxes, which the article gives as 3 and 5 us: 1.67 times.
const NEARLY_TWICE: f64 = 1.5;

/// "Not bad at all": 4.3 us where the condition variable takes 3, which is 1.43 times.
const NOT_BAD: f64 = 1.5;

/// "A very real competitor", where the article gives no number: below so many times.
const COMPETITOR: f64 = 1.5;

/// "Guaranteed to increase the response time to at least 40 microseconds."
const USLEEP_NS: f64 = 40e3;

/// "Unpredictably", where the article gives no number: one round takes so many times as long as another.
const UNPREDICTABLE: f64 = 2.0;

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
            read: "our mailboxes, asleep as soon as nothing is there, over a condition variable; nearly twice from 1.5 times on",
            above: PINK,
            below: RED,
        }
        .at_least(NEARLY_TWICE, &one_by_one),
        Ratio {
            claim: "An event loop that is given functions is not bad at all (4.3 us, where a condition variable takes 3).",
            read: "our event loop, asleep in epoll, over a condition variable; not bad below 1.5 times",
            above: GREEN,
            below: RED,
        }
        .within(NOT_BAD, &one_by_one),
        Ratio {
            claim: "A mutex and a condition variable are a very real competitor to queues that do not block.",
            read: "the same over our queue without locks, both asleep as soon as nothing is there; a competitor below 1.5 times",
            above: RED,
            below: WITHOUT_LOCKS,
        }
        .within(COMPETITOR, &one_by_one),
        naive::conclusion(report),
        Ratio {
            claim: "A reader that never sleeps slips where others want its CPU.",
            read: "its time over a condition variable's, beside greedy neighbours and with both threads on one CPU",
            above: BLUE,
            below: RED,
        }
        .slower(&beside_others),
        unpredictable(&beside_others),
        usleep(one_by_one[0]),
        Ratio {
            claim: "yield() is slightly better than usleep() on small loads.",
            read: "a reader that sleeps for 1 us over one that gives its CPU away, one message at a time",
            above: USLEEPS,
            below: YIELDS,
        }
        .slower(&one_by_one),
        Ratio {
            claim: "yield() tends to share the CPU with anyone.",
            read: "a reader that gives its CPU away over a condition variable, beside greedy neighbours",
            above: YIELDS,
            below: RED,
        }
        .slower(&beside_others[..1]),
    ])
}

fn unpredictable(sessions: &[Option<&Session>]) -> Conclusion {
    let of = |name| {
        let mut cases = Cases::default();
        sessions.iter().flatten().for_each(|session| cases.unsteady(session, name, UNPREDICTABLE));
        cases
    };
    let (spinning, sleeping) = (of(BLUE), of(RED));
    let read = "the slowest round over the quickest in the same places, unpredictable from 2 times on";
    Conclusion {
        claim: "And it slips unpredictably.",
        here: format!("{read}: {}; a condition variable: {}", spinning.times(), sleeping.times()),
        verdict: spinning.verdict(),
    }
}

/// Read from the way there, as the article times it. Each reader of a bounce begins its sleep while the other's goes on, so
/// the way there and the way back together are one sleep.
fn usleep(session: Option<&Session>) -> Conclusion {
    let mut cases = Cases::default();
    let figures = session.map_or(Vec::new(), |session| session.figures(USLEEPS));
    session.into_iter().for_each(|session| cases.above(session, &figures, USLEEP_NS));
    let told = |time: Option<f64>| time.map_or("not measured".to_owned(), |time| figure(time / 1e3));
    let there = told(session.and_then(|session| Some(session.density(USLEEPS)?.median)));
    let back = told(session.and_then(|session| Some(session.distribution(USLEEPS, Series::RoundTrip)?.median())));
    Conclusion {
        claim: "usleep() increases the response time to at least 40 us.",
        here: format!(
            "a reader that asks for 1 us between two looks, median in us, one way: {there}; and back: {back}"
        ),
        verdict: cases.verdict(),
    }
}
