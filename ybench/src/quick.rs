//! `ybench` with no command: a look at everything in less than a minute, on one screen; the tables are in the report.

use crate::cli::Request;
use crate::error::Error;
use crate::plan;
use crate::report::terminal;
use crate::rounds::Length;
use crate::run;
use crate::run::say;
use crate::scenario::{self, Quick};

const SECONDS: f64 = 45.0;
/// Where the number of messages is fixed, and the time with it.
const ROUNDS: u32 = 7;

pub fn run(request: &Request) -> Result<(), Error> {
    let rounds = request.likely_rounds(ROUNDS);
    let seconds = request.seconds.unwrap_or(SECONDS);
    let mut report = run::begin("quick", request, request.known_rounds(ROUNDS));
    let plans = |length, warnings: &mut Vec<_>| -> Vec<_> {
        let frame = request.frame(rounds, length);
        let chosen = scenario::all().iter().filter_map(|scenario| match scenario.in_quick {
            Quick::No => None,
            Quick::Whole => plan::of(scenario, None, &request.entries, frame, warnings),
            Quick::At(parameter) => plan::of(scenario, Some(parameter), &request.entries, frame, warnings),
        });
        chosen.collect()
    };
    // The plans are made twice: how many runs there are decides how long each may be.
    let length = plan::shared_length(seconds, rounds, &plans(Length::Units(1), &mut Vec::new()));
    let mut plans = plans(length, &mut report.warnings);
    request.adapt(&mut plans, seconds);
    if plans.is_empty() {
        let sentence = "None of these transports can be measured with both threads on one CPU.";
        return Err(Error::Refused(sentence.to_owned()));
    }

    run::print_heading(&report);
    run::measure(plans, &mut report)?;
    if !report.sessions.is_empty() {
        say(terminal::screen(&report));
    }
    run::finish_with_page(&report, request)
}
