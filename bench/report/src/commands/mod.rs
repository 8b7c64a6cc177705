//! The commands: the default one, `run`, `report`, `list`, and two hidden ones that a measurement starts as separate
//! processes. Larger commands are modules of their own.

pub mod default;
pub mod report;
pub mod run;

use ybench_measure::error::Error;
use ybench_measure::footprint;
use ybench_measure::limits;
use ybench_measure::registry;
use ybench_measure::scenario::{self, carried, cells};
use ybench_measure::transport::{Shape, Traits, kernel};

use crate::output::say;
use crate::{article, table};

/// Lists everything that can be named on the command line.
pub fn list() {
    say("Scenarios (`ybench`):");
    for scenario in scenario::all() {
        say(format_args!("  {:<20} {}.", scenario.name, scenario.about));
    }
    say("\nTransports (`ybench --transport NAME`):");
    for entry in registry::all() {
        let traits = entry.traits;
        let beside_sockets = if traits.works_with_epoll { "; works in epoll" } else { "" };
        let hidden = match (traits.hidden, traits.variant) {
            (true, _) => "; only if named",
            (false, true) => "; not in the default comparison",
            (false, false) => "",
        };
        let waits = traits.waits.in_words();
        let most = most_bytes(&traits);
        let missing = if (traits.available)().is_err() { "; not on this machine" } else { "" };
        say(format_args!("  {:<20} {} ({waits}{beside_sockets}{most}{hidden}{missing}).", traits.name, traits.about));
    }
    say("\nCurrent limits of the kernel's own mechanisms:");
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
    say("\nCases (`ybench competitors`):");
    for cell in cells::all() {
        say(format_args!("  {:<20} {}.", cell.scenario.name, cell.scenario.about));
    }
    say("\nKinds of channels (`ybench footprint --kind NAME`):");
    for kind in footprint::all() {
        say(format_args!("  {:<20} {}.", kind.name, kind.about));
    }
    say("\nBaselines (`ybench limits`):");
    for probe in limits::all() {
        say(format_args!("  {:<28} {}.", probe.name, probe.about));
    }
    say("\nClocks (`ybench clock`):");
    say(format_args!("  {:<20} {}.", "clock", crate::clock::command::ABOUT));
    say("\nTargets (`ybench goals`):");
    say(format_args!("  {:<20} The project's own targets, each measured and compared with its target value.", "goals"));
}

/// Names the largest message, if some messages are too large for it.
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

/// Prints the bytes per message of `backlog` messages in an unbounded transport. `burst` starts this as a separate
/// process.
pub fn held(transport: &str, backlog: u64) -> Result<(), Error> {
    let named = registry::named(transport).filter(|entry| (scenario::burst::SCENARIO.able)(&entry.traits));
    let entry =
        named.ok_or_else(|| Error::Refused(format!("There is no transport without a bound called '{transport}'.")))?;
    let bytes = (entry.held)(backlog).map_err(|fault| Error::Broken { contender: transport.to_owned(), fault })?;
    say(bytes);
    Ok(())
}

/// The same with messages of `bytes` bytes, and the bytes still held after all are received. The case `burst` starts
/// it.
pub fn taken(transport: &str, bytes: u64, backlog: u64) -> Result<(), Error> {
    let refuse = || Error::Refused(format!("There is no such burst of '{transport}' with messages of {bytes} bytes."));
    let taken = cells::drivers::taken(transport, bytes, backlog).ok_or_else(refuse)?;
    let taken = taken.map_err(|fault| Error::Broken { contender: transport.to_owned(), fault })?;
    say(format_args!("{} {}", taken.held, taken.left));
    Ok(())
}
