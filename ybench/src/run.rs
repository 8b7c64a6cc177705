//! What all commands share: a report that fills up, the warnings that go with it, and its way out.

use std::fmt::Display;
use std::io::{self, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::cli::Request;
use crate::clock;
use crate::env::Environment;
use crate::error::Error;
use crate::frame::Frame;
use crate::keep;
use crate::progress::Progress;
use crate::record::{Report, SCHEMA};
use crate::rounds::{Length, Plan};
use crate::table;
use crate::warnings::Warning;

/// With a fixed number of messages the user wants a short run, and limits need not take longer.
const LIMIT_BESIDE_FIXED_MESSAGES: Duration = Duration::from_millis(10);

impl Request {
    /// The frame of plans whose runs are as long as given, unless the user fixed the number of messages.
    pub fn frame(&self, rounds: u32, length: Length) -> Frame {
        let (transports, limits) = match (self.messages, length) {
            (Some(messages), _) => (Length::Units(messages), Length::Time(LIMIT_BESIDE_FIXED_MESSAGES)),
            (None, Length::TimeAndUnits(time, _)) => (length, Length::Time(time)),
            (None, length) => (length, length),
        };
        Frame { place: self.place, rounds, transports, limits }
    }
}

/// A report as it is before anything has been measured.
pub fn begin(command: &str, request: &Request, rounds: impl Into<Option<u32>>) -> Report {
    let environment = Environment::capture();
    let clock = clock::Facts::of(request.place);
    let mut warnings = Warning::beforehand(&environment, request.place, rounds.into());
    warnings.extend(Warning::of_clock(&clock));
    Report {
        schema: SCHEMA,
        command: command.to_owned(),
        started: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        environment,
        cpus: [request.place.first, request.place.second],
        clock: Some(clock),
        sessions: Vec::new(),
        goals: Vec::new(),
        warnings,
    }
}

/// Measures the plans one after the other.
pub fn measure(plans: Vec<Plan>, report: &mut Report) -> Result<(), Error> {
    let progress = Progress::new(Some(plans.iter().map(Plan::steps).sum()));
    for plan in plans {
        let session = plan.measure(&progress, &mut report.warnings)?;
        report.sessions.push(session);
    }
    report.warnings.retain(|warning| !matches!(warning, Warning::TimeStolen { .. }));
    report.warnings.extend(Warning::of_stolen_time(report));
    Ok(())
}

/// Prints the doubts and keeps the report where it was asked for.
pub fn finish(report: &Report, request: &Request) -> Result<(), Error> {
    if !report.warnings.is_empty() {
        say("Doubts:");
        for warning in &report.warnings {
            say(format_args!("  {warning} {}", warning.advice()));
        }
    }
    if let Some(path) = &request.json {
        keep::write_report(path, report)?;
        say(format_args!("Kept in {}.", path.display()));
    }
    Ok(())
}

/// To stdout, which may be a pipe whose reader has seen enough: that must not keep a result from being kept.
pub fn say(text: impl Display) {
    match writeln!(io::stdout(), "{text}") {
        Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => eprintln!("The output cannot be written: {cause}."),
        _ => {}
    }
}

pub fn print_heading(report: &Report) {
    say(table::heading(report));
}
