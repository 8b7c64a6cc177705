//! What the article concluded, and what this machine says.

use ybench_core::record::Report;

use super::published::{SOCKETS, SOCKETS_POLLED, WITH_DESCRIPTOR, WITH_POLLING, WITHOUT_POLLING};
use super::sweep;
use crate::article::conclusion::{self, Ratio};

/// "Almost seven times": 6.6 in the article's table.
const ALMOST_SEVEN: f64 = 6.0;

/// "Almost twice": 1.79 in the article's table.
const ALMOST_TWICE: f64 = 1.7;

/// "Not very high (about 10 %)": 11 and 15 % in the article's tables.
const NOT_HIGH: f64 = 1.25;

pub(super) fn text(report: &Report) -> String {
    let (worst, streamed) = (report.session("ping-pong"), report.session("throughput"));
    let ratio = |claim, read, above, below| Ratio { claim, read, above, below };
    let mut all = vec![
        ratio(
            "Y-suite is almost seven times faster than local sockets where the load is high.",
            "local sockets over the ypipe with its ypollset, messages pushed one by one; almost seven from 6 times on",
            SOCKETS,
            WITH_POLLING,
        )
        .at_least(ALMOST_SEVEN, &[streamed]),
        ratio(
            "Even in the worst case it is almost twice as fast.",
            "local sockets over the ypipe with its ypollset, one message bounced; almost twice from 1.7 times on",
            SOCKETS,
            WITH_POLLING,
        )
        .at_least(ALMOST_TWICE, &[worst]),
        ratio(
            "Local sockets with a real poll are worse still.",
            "with a poll before each read over without, bounced and pushed",
            SOCKETS_POLLED,
            SOCKETS,
        )
        .at_least(1.0, &[worst, streamed]),
        ratio(
            "What two threads gain without polling is not very much (about 10 %).",
            "the ypollset over the ysemaphore, bounced and pushed; not very much below 1.25 times",
            WITH_POLLING,
            WITHOUT_POLLING,
        )
        .within(NOT_HIGH, &[worst, streamed]),
        ratio(
            "Ysemaphore is the fastest way to wake a reader, and ypollset a bit slower.",
            "the ypollset over the ysemaphore, one message bounced",
            WITH_POLLING,
            WITHOUT_POLLING,
        )
        .at_least(1.0, &[worst]),
        ratio(
            "Ysocketpair, which has a descriptor, is slower than ypollset.",
            "the ysocketpair over the ypollset, one message bounced",
            WITH_DESCRIPTOR,
            WITH_POLLING,
        )
        .at_least(1.0, &[worst]),
    ];
    all.extend(report.session(sweep::SCENARIO).map(sweep::short_batches));
    conclusion::text(all)
}
