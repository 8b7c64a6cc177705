//! The commands without a module of their own elsewhere: the default one, `run`, `report`, `list`, and the two hidden ones
//! that a measurement starts as processes of their own.

pub mod default;
pub mod report;
pub mod run;

use ybench_core::error::Error;
use ybench_core::limits;
use ybench_core::registry;
use ybench_core::scenario::{self, carried, cells};
use ybench_core::transport::{Shape, Traits, kernel};

use crate::output::say;
use crate::{article, table};

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
