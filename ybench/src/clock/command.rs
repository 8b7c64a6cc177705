//! `ybench clock`: what it costs to read a clock on this machine, and what may be timed with the one in use.

use super::{Facts, table};
use crate::cli::Request;
use crate::error::Error;
use crate::run::{self, say};

/// One sentence, without its full stop.
pub const ABOUT: &str = "What it costs to read a clock, and whether the clocks of the two CPUs are in step";

pub fn run(request: &Request) -> Result<(), Error> {
    let mut report = run::begin("clock", request, None);
    run::print_heading(&report);
    let facts = Facts::in_full(request.place);
    say(table::article(&facts, &report.environment));
    say(table::costs(&facts));
    say(table::sentences(&facts));
    say(table::distortions(&facts, &report.environment));
    report.clock = Some(facts);
    run::finish(&report, request)
}
