//! `ybench goals`: the project's own targets for speed and size, each measured and compared with its target value.

use std::time::Duration;

use ybench_measure::error::Error;
use ybench_measure::record::Report;
use ybench_measure::rounds::Length;
use ybench_measure::{goals, plan};

use crate::measure;
use crate::request::Request;

const ROUNDS: u32 = 7;
const RUN: Duration = Duration::from_millis(100);
/// The approximate number of runs in one round of all plans.
const RUNS: u64 = 90;

pub fn run(request: &Request) -> Result<Report, Error> {
    if request.place.one_cpu() {
        let sentence = "The project's targets need two CPUs: their baselines spin.";
        return Err(Error::Refused(sentence.to_owned()));
    }
    let rounds = request.rounds.unwrap_or(ROUNDS);
    let mut report = measure::begin(goals::COMMAND, request, rounds);
    measure::print_heading(&report);
    // Must come before the other plans' threads allocate and free memory.
    report.counts = goals::counts::measured(request.place, request.messages, rounds)?;
    let length = request.seconds.map_or(RUN, |seconds| plan::run_length(seconds, rounds, RUNS));
    measure::measure(request, goals::plans(request.frame(rounds, Length::Time(length))), &mut report)?;
    Ok(report)
}
