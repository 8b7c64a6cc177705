//! `ybench limits`: the bare primitives of the kernel and the CPU, without a queue: the baselines of all other tables.

use ybench_measure::env;
use ybench_measure::error::Error;
use ybench_measure::limits;
use ybench_measure::plan;
use ybench_measure::record::Report;
use ybench_measure::rounds::Length;

use crate::report::Study;
use crate::request::Request;
use crate::table::Part;
use crate::{measure, table};

const SECONDS: f64 = 20.0;
const ROUNDS: u32 = 7;

/// Measures the baselines.
pub fn run(request: &Request) -> Result<Report, Error> {
    let rounds = request.rounds.unwrap_or(ROUNDS);
    let seconds = request.seconds.unwrap_or(SECONDS);
    let mut report = measure::begin("limits", request, rounds);
    measure::print_heading(&report);

    let runs = limits::all().len() as u64 + 1;
    let length = Length::Time(plan::run_length(seconds, rounds, runs));
    let plan = plan::of_limits(request.frame(rounds, length));
    measure::measure(request, vec![plan], &mut report)?;
    let cpus = &report.environment.allowed_cpus;
    if cpus.len() > 2 && !report.interrupted {
        let measured = limits::pairs::pairs(cpus);
        report.pairs = measured.map_err(|fault| Error::Broken { contender: "a pair of CPUs".to_owned(), fault })?;
    }
    Ok(report)
}

/// The baselines, the distances between the CPUs, and advice for steadier times.
pub fn study(report: &Report) -> Option<Study> {
    if report.command != "limits" {
        return None;
    }
    let mut parts: Vec<Part> = Vec::new();
    for session in &report.sessions {
        parts.push(Part::Table(String::new(), table::limits_grid(session)));
    }
    if !report.pairs.is_empty() {
        parts.push(Part::Table("One word from one CPU to another, ns".to_owned(), table::pairs(&report.pairs)));
    }
    let advice = env::advice(&report.environment, report.cpus);
    if !advice.is_empty() {
        parts.push(Part::Heading("How to get steadier times".to_owned()));
        parts.extend(advice.into_iter().map(|(fact, what)| Part::Said(format!("{fact} {what}"))));
    }
    Some(Study { title: "Baselines", parts, ..Study::default() })
}
