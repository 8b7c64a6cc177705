//! The priorities of POSIX queues: sent with them, and their cost.

use ybench_measure::frame::Frame;
use ybench_measure::limits::priorities::{ONE, RISING};
use ybench_measure::plan;
use ybench_measure::record::Report;
use ybench_measure::rounds::Plan;

use crate::article::cases::Cases;
use crate::article::conclusion::Conclusion;
use crate::table::figure;

pub(super) const SCENARIO: &str = "priorities";

pub(super) fn plan(frame: Frame) -> Plan {
    let about = "Eight messages into a POSIX queue and out of it on one thread, with priorities and without";
    plan::plan(SCENARIO, about, None, frame, &ONE, [&ONE, &RISING].map(|probe| frame.limit(probe)).into())
}

pub(super) fn conclusion(report: &Report) -> Conclusion {
    let session = report.session(SCENARIO);
    let time = |name: &str| session.and_then(|session| session.density(name)).map(|time| figure(time.median));
    let mut cost = Cases::default();
    session.into_iter().for_each(|session| cost.no_slower(session, RISING.name, ONE.name));
    Conclusion {
        claim: "POSIX queues have priorities for messages as well.",
        here: match (time(ONE.name), time(RISING.name)) {
            (Some(one), Some(rising)) => format!(
                "each of eight messages ahead of those before it, received the highest first: {rising} ns for a message in \
                 and out, {one} ns with one priority; that priorities cost nothing: {}",
                cost.verdict()
            ),
            _ => "not tried".to_owned(),
        },
        // A queue that is not in the order of its priorities ends the run.
        verdict: if time(RISING.name).is_some() { "holds" } else { "not measured" }.to_owned(),
    }
}
