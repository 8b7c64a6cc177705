//! The two commands that are too short for a room of their own: `limits` and `list`.

use ybench_core::env;
use ybench_core::error::Error;
use ybench_core::limits;
use ybench_core::plan;
use ybench_core::record::Report;
use ybench_core::registry;
use ybench_core::rounds::Length;
use ybench_core::scenario::{self, carried, cells};
use ybench_core::transport::{Shape, Traits, kernel};

use crate::output::say;
use crate::report::Study;
use crate::request::Request;
use crate::table::Part;
use crate::{article, run, table};

const SECONDS: f64 = 20.0;
const ROUNDS: u32 = 7;

/// Measures what the machine itself cannot do faster.
pub fn limits(request: &Request) -> Result<Report, Error> {
    let rounds = request.rounds.unwrap_or(ROUNDS);
    let seconds = request.seconds.unwrap_or(SECONDS);
    let mut report = run::begin("limits", request, rounds);
    run::print_heading(&report);

    let runs = limits::all().len() as u64 + 1;
    let length = Length::Time(plan::run_length(seconds, rounds, runs));
    let plan = plan::of_limits(request.frame(rounds, length));
    run::measure(vec![plan], &mut report)?;
    let cpus = &report.environment.allowed_cpus;
    if cpus.len() > 2 && !report.interrupted {
        let measured = limits::pairs::pairs(cpus);
        report.pairs = measured.map_err(|fault| Error::Broken { contender: "a pair of CPUs".to_owned(), fault })?;
    }
    Ok(report)
}

/// The limits, how far the CPUs are from each other, and what would make all of it steadier.
pub fn study(report: &Report) -> Option<Study> {
    if report.command != "limits" {
        return None;
    }
    let mut parts: Vec<Part> = Vec::new();
    for session in &report.sessions {
        parts.push(Part::Table(String::new(), table::limits_grid(session)));
    }
    if !report.pairs.is_empty() {
        parts.push(Part::Table("A word from one CPU to another, ns".to_owned(), table::pairs(&report.pairs)));
    }
    let advice = env::advice(&report.environment, report.cpus);
    if !advice.is_empty() {
        parts.push(Part::Heading("What would make the times steadier".to_owned()));
        parts.extend(advice.into_iter().map(|(fact, what)| Part::Said(format!("{fact} {what}"))));
    }
    Some(Study { title: "Limits", parts, ..Study::default() })
}

/// Names everything that can be asked for.
pub fn list() {
    say("Scenarios (`ybench`):");
    for scenario in scenario::all() {
        say(format_args!("  {:<20} {}.", scenario.name, scenario.about));
    }
    say("\nTransports (`ybench --transport NAME`):");
    for entry in registry::all() {
        let traits = entry.traits;
        let beside_sockets = if traits.works_with_epoll { "; can stand in epoll" } else { "" };
        let hidden = match (traits.hidden, traits.variant) {
            (true, _) => "; only when named",
            (false, true) => "; not on the one screen",
            (false, false) => "",
        };
        let waits = traits.waits.in_words();
        let most = most_bytes(&traits);
        let missing = if (traits.available)().is_err() { "; not on this machine" } else { "" };
        say(format_args!("  {:<20} {} ({waits}{beside_sockets}{most}{hidden}{missing}).", traits.name, traits.about));
    }
    say("\nLimits of the kernel's own mechanisms, here and now:");
    for line in kernel::report().lines() {
        say(format_args!("  {line}"));
    }
    say("\nArticles (`ybench article NAME`):");
    let articles = [
        ("y-suite", article::y_suite::ABOUT),
        ("nanosecond", article::nanosecond::ABOUT),
        ("threads", article::threads::ABOUT),
        ("linux", article::linux::ABOUT),
    ];
    for (name, about) in articles {
        say(format_args!("  {name:<20} {about}."));
    }
    say("\nCells (`ybench rivals`):");
    for cell in cells::all() {
        say(format_args!("  {:<20} {}.", cell.scenario.name, cell.scenario.about));
    }
    say("\nLimits (`ybench limits`):");
    for probe in limits::all() {
        say(format_args!("  {:<28} {}.", probe.name, probe.about));
    }
    say("\nClocks (`ybench clock`):");
    say(format_args!("  {:<20} {}.", "clock", crate::clock::command::ABOUT));
    say("\nTargets (`ybench goals`):");
    say(format_args!("  {:<20} The project's own targets, each measured and compared with what is wanted.", "goals"));
}

/// Where there are messages too long for it.
fn most_bytes(traits: &Traits) -> String {
    let [alone, several] = [Shape::ONE_TO_ONE, Shape::square(2)].map(|shape| (traits.most_bytes)(shape));
    let longest = carried::PARAMETERS.iter().map(|parameter| parameter.value as usize).max().unwrap_or(0);
    let bytes = |most: usize| table::grouped(most as f64);
    match (alone < longest, several < longest) {
        (false, false) => String::new(),
        (false, true) => format!("; between several threads at most {} bytes by value", bytes(several)),
        (true, _) => format!("; at most {} bytes by value", bytes(alone)),
    }
}

/// Tells what each of so many messages holds in a transport without a bound, in bytes: what `burst` asks a process of
/// its own.
pub fn held(transport: &str, backlog: u64) -> Result<(), Error> {
    let named = registry::named(transport).filter(|entry| (scenario::burst::SCENARIO.able)(&entry.traits));
    let entry =
        named.ok_or_else(|| Error::Refused(format!("There is no transport without a bound called '{transport}'.")))?;
    let bytes = (entry.held)(backlog).map_err(|fault| Error::Broken { contender: transport.to_owned(), fault })?;
    say(bytes);
    Ok(())
}

/// The same with messages of so many bytes, and what stays behind when all of them are out: what the cell of that name asks.
pub fn taken(transport: &str, bytes: u64, backlog: u64) -> Result<(), Error> {
    let refuse = || Error::Refused(format!("There is no such burst of '{transport}' with messages of {bytes} bytes."));
    let taken = cells::drivers::taken(transport, bytes, backlog).ok_or_else(refuse)?;
    let taken = taken.map_err(|fault| Error::Broken { contender: transport.to_owned(), fault })?;
    say(format_args!("{} {}", taken.held, taken.left));
    Ok(())
}
