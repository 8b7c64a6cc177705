//! The article's conclusions, and the verdicts of this machine.

use ybench_measure::outcome::Metric;
use ybench_measure::record::{Report, Session};
use ybench_measure::transport::Waits;

use super::published::{SOCKETS, SOCKETS_POLLED, TRANSPORTS, WITH_POLLING, WITHOUT_POLLING};
use super::{delay, signals, sweep};
use crate::article::cases::Cases;
use crate::article::conclusion::{self, Conclusion, Ratio};
use crate::table::{Part, figure};

/// "Almost seven times", in the article's table.
const ALMOST_SEVEN: f64 = 6.6;

/// "Almost twice", in the article's table.
const ALMOST_TWICE: f64 = 1.79;

/// "Not very high (about 10 %)": 11 and 15 % in the article's tables.
const NOT_HIGH: f64 = 1.25;

/// Switches per message from which on each message counts as waited for asleep: all but one in twenty.
const EACH: f64 = 0.95;

pub(super) fn parts(report: &Report) -> Vec<Part> {
    let (worst, streamed) = (report.session("ping-pong"), report.session("throughput"));
    let ratio = |claim, read, above, below| Ratio { claim, read, above, below };
    let mut all = vec![
        ratio(
            "Y-suite is almost seven times faster than local sockets where the load is high.",
            "local sockets over the ypipe with its ypollset, messages pushed one by one; almost seven from 4.4 to 9.9 times",
            SOCKETS,
            WITH_POLLING,
        )
        .about(ALMOST_SEVEN, &[streamed]),
        ratio(
            "Even in the worst case it is almost twice as fast.",
            "local sockets over the ypipe with its ypollset, one message bounced; almost twice from 1.2 to 2.7 times",
            SOCKETS,
            WITH_POLLING,
        )
        .about(ALMOST_TWICE, &[worst]),
        ratio(
            "Local sockets with a real poll are worse still.",
            "with a poll before each read over without, bounced and pushed",
            SOCKETS_POLLED,
            SOCKETS,
        )
        .slower(&[worst, streamed]),
        ratio(
            "What two threads gain without polling is not very much (about 10 %).",
            "the ypollset over the ysemaphore, bounced and pushed; not very much below 1.25 times",
            WITH_POLLING,
            WITHOUT_POLLING,
        )
        .within(NOT_HIGH, &[worst, streamed]),
    ];
    all.extend(worst.map(asleep));
    all.extend(signals::conclusions(report));
    all.extend(report.session(sweep::SCENARIO).map(sweep::conclusions).into_iter().flatten());
    all.extend(delay::conclusions(report));
    conclusion::parts(all)
}

/// A reader that sleeps for each message is switched out once per message.
fn asleep(worst: &Session) -> Conclusion {
    let mut cases = Cases::default();
    let mut told = Vec::new();
    for name in TRANSPORTS.into_iter().filter(|name| sleeps(worst, name)) {
        cases.above(worst, &worst.metrics(name, Metric::Switches), EACH);
        told.extend(worst.metric(name, Metric::Switches).map(|count| format!("{name} {}", figure(count.median))));
    }
    Conclusion {
        claim: "A message that is sent alone finds its receiver asleep.",
        here: match told.is_empty() {
            true => "switches of threads are not reported here".to_owned(),
            false => format!("switches for each message, of readers that do not poll first: {}", told.join(", ")),
        },
        verdict: cases.verdict(),
    }
}

/// A reader that polls first is not asleep when the reply is fast.
fn sleeps(session: &Session, name: &str) -> bool {
    let waits = session.contestant(name).and_then(|one| one.waits);
    waits.is_some_and(|waits| waits.sleeps() && waits != Waits::LooksThenSleeps)
}
