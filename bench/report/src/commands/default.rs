//! `ybench` without a command: compares all transports in less than a minute, on one screen. The report has the tables.

use ybench_measure::error::Error;
use ybench_measure::plan;
use ybench_measure::record::Report;
use ybench_measure::scenario::{self, Quick};

use crate::measure;
use crate::request::Request;

const SECONDS: f64 = 40.0;
/// If the number of messages is fixed, and so the time.
const ROUNDS: u32 = 7;

pub fn run(request: &Request) -> Result<Report, Error> {
    let nobody = "None of these transports can be measured with both threads on one CPU.";
    let usual = measure::Usual { command: "quick", seconds: SECONDS, rounds: ROUNDS, nobody };
    measure::in_rounds(request, usual, |frame, warnings| {
        let chosen = scenario::all().iter().filter_map(|scenario| match scenario.in_quick {
            Quick::No => None,
            Quick::Whole => plan::of(scenario, None, &request.entries, frame, warnings),
            Quick::At(parameter) => plan::of(scenario, Some(parameter), &request.entries, frame, warnings),
        });
        chosen.collect()
    })
}
