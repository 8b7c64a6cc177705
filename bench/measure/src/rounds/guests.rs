//! A watchdog for third-party competitors: one that hangs, loses a message or panics does not end the run of all
//! others.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::Run;
use crate::error::Fault;
use crate::stage::{self, Patience};

/// Longer than any first run, and than any pause of the machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// A run may be this many times slower per unit than the one before.
const SLOWER: f64 = 20.0;

/// The same run. Every failure in it is the competitor's, and its time limit is seconds, not minutes.
pub fn watched(run: Run) -> Run {
    // Seconds for a unit, in the last run.
    let pace = Cell::new(None::<f64>);
    Box::new(move |units| {
        let expected = |pace: f64| Duration::try_from_secs_f64(pace * SLOWER * units as f64).unwrap_or(Duration::MAX);
        let patience = match pace.get() {
            // The first run is short, unless its timetable says otherwise.
            None => Patience { base: PATIENCE, ..Patience::USUAL },
            Some(pace) => Patience { base: PATIENCE.saturating_add(expected(pace)), each: Duration::ZERO },
        };
        let start = Instant::now();
        let ran = catch_unwind(AssertUnwindSafe(|| stage::with_patience(patience, || run(units))));
        pace.set(Some(start.elapsed().as_secs_f64() / units.max(1) as f64));
        match ran {
            Ok(Ok(outcome)) => Ok(outcome),
            // That it cannot run here is not a failure.
            Ok(Err(Fault::System(cause))) => Err(Fault::System(cause)),
            Ok(Err(fault)) => Err(Fault::OfGuest(fault.to_string())),
            Err(panic) => Err(Fault::OfGuest(format!("panicked: {}", said(&*panic)))),
        }
    })
}

/// The message of a panic.
fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("nothing that is text")
}
