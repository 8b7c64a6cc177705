//! The commands: the default one, `run`, `report`, `list`, and two hidden ones that a measurement starts as separate
//! processes. Larger commands are modules of their own.

pub mod default;
pub mod report;
pub mod run;

use std::path::Path;

use serde_json::json;
use ybench_measure::error::Error;
use ybench_measure::footprint;
use ybench_measure::limits;
use ybench_measure::registry;
use ybench_measure::scenario::{self, carried, cells};
use ybench_measure::transport::{Ends, Shape, Traits, kernel};

use crate::output::say;
use crate::{article, storage, table};

/// Lists everything that can be named on the command line; into a file or to standard output as JSON, if it is named.
pub fn list(json: Option<&Path>) -> Result<(), Error> {
    match json {
        Some(path) if path == Path::new(storage::STANDARD_OUTPUT) => say(listed()),
        Some(path) => {
            storage::check_file(path)?;
            storage::write_told(path, &listed())?;
        }
        None => list_in_words(),
    }
    Ok(())
}

/// The same for programs.
fn listed() -> String {
    let scenario = |one: &scenario::Scenario| json!({"name": one.name, "about": one.about});
    let end = |ends: Ends| if ends == Ends::One { "one" } else { "many" };
    let transport = |entry: &scenario::Entry| {
        let traits = entry.traits;
        json!({
            "name": traits.name, "about": traits.about, "family": traits.family, "waits": traits.waits,
            "bounded": traits.bounded, "works_with_epoll": traits.works_with_epoll,
            "senders": end(traits.senders), "receivers": end(traits.receivers),
            "default": !traits.hidden && !traits.variant, "available": (traits.available)().is_ok(),
        })
    };
    let all = json!({
        "scenarios": scenario::all().iter().map(|one| scenario(one)).collect::<Vec<_>>(),
        "transports": registry::all().iter().map(transport).collect::<Vec<_>>(),
        "cases": cells::all().iter().map(|cell| scenario(&cell.scenario)).collect::<Vec<_>>(),
        "kinds": footprint::all().iter().map(|kind| json!({"name": kind.name, "about": kind.about})).collect::<Vec<_>>(),
        "baselines": limits::all().iter().map(|one| json!({"name": one.name, "about": one.about})).collect::<Vec<_>>(),
        "articles": ["y-suite", "nanosecond", "threads", "linux"],
    });
    format!("{all:#}")
}

fn list_in_words() {
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
