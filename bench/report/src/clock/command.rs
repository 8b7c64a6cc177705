//! `ybench clock`: the cost of reading a clock on this machine, and what the clock in use can time.

use ybench_measure::clock::Facts;
use ybench_measure::error::Error;
use ybench_measure::record::Report;
use ybench_measure::scenario::latency;

use crate::measure;
use crate::request::Request;

/// One sentence, without its full stop.
pub const ABOUT: &str = "What it costs to read a clock, and whether the clocks of the two CPUs are in step";

pub fn run(request: &Request) -> Result<Report, Error> {
    let mut report = measure::begin("clock", request, None);
    measure::print_heading(&report);
    let overhead_ns = latency::overhead(request.place).ok();
    let facts = Facts { overhead_ns, ..Facts::in_full(request.place) };
    report.clock = Some(facts);
    Ok(report)
}
