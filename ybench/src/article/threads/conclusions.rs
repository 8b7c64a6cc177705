//! What the article concluded, and what this machine says.

use ybench_core::record::Report;
use ybench_core::scenario::latency;

use super::published::{BLUE, GREEN, PINK, RED};
use crate::article::conclusion::{self, Ratio};
use crate::report::part::Part;

/// "The main factor is wake-up time": what sleeps takes at least so many times as long as what does the same and never does.
const MAIN: f64 = 2.0;

/// "Nearly twice" as fast as D's mailboxes, which the article gives as 3 and 5 us: 1.67 times.
const NEARLY_TWICE: f64 = 1.5;

/// "Not bad at all": 4.3 us where the condition variable takes 3, which is 1.43 times.
const NOT_BAD: f64 = 1.5;

pub(super) fn parts(report: &Report) -> Vec<Part> {
    let one_by_one = [report.session(latency::SCENARIO.name)];
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
    ])
}
