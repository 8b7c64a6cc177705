//! `ybench clock`: what it costs to read a clock on this machine, and what may be timed with the one in use.

use ybench_core::clock::Facts;
use ybench_core::error::Error;
use ybench_core::scenario::latency;

use super::table;
use crate::cli::Request;
use crate::run::{self, say};

/// One sentence, without its full stop.
pub const ABOUT: &str = "What it costs to read a clock, and whether the clocks of the two CPUs are in step";

pub fn run(request: &Request) -> Result<(), Error> {
    let mut report = run::begin("clock", request, None);
    run::print_heading(&report);
    let overhead_ns = latency::overhead(request.place).ok();
    let facts = Facts { overhead_ns, ..Facts::in_full(request.place) };
    say(table::article(&facts, &report.environment));
    say(table::costs(&facts));
    say(table::sentences(&facts));
    say(table::distortions(&facts, &report.environment));
    report.clock = Some(facts);
    run::finish(&report, request)
}
