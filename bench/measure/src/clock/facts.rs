//! The properties of the clock, as a result keeps them with the times taken by it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::cost::Row;
use super::step::{self, InStep};
use super::{Clock, cost};
use crate::place::Place;
use crate::stage::solo;

/// The source of a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The processor's counter, read after everything earlier is done.
    OrderedCounter,
    /// The processor's counter, which may be read a little early.
    Counter,
    /// The system's monotonic clock.
    System,
}

impl fmt::Display for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::OrderedCounter => "the processor's counter (lfence; rdtsc)",
            Self::Counter => "the processor's counter",
            Self::System => "the system's monotonic clock",
        })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Facts {
    pub source: Source,
    /// Nanoseconds of one reading.
    pub cost_ns: f64,
    /// The smallest difference between two readings.
    pub resolution_ns: f64,
    /// The smallest step of a stored reading.
    pub tick_ns: f64,
    /// Whether the processor reports a counter of constant rate. Absent where it is not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invariant: Option<bool>,
    /// Whether the clocks of the two CPUs of the run show the same time.
    pub step: InStep,
    /// The cost of every way to read a clock. Measured by `ybench clock` only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub table: Vec<Row>,
    /// The instrument's share of a round trip that carries nothing, readings included. Measured by `ybench clock` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead_ns: Option<f64>,
}

impl Facts {
    /// The properties that a result must state of its clock. Takes a few milliseconds.
    pub fn of(place: Place) -> Self {
        let clock = super::get();
        let (cost_ns, resolution_ns) = on_first_cpu(place, || (cost(), clock.resolution()));
        Self {
            source: clock.source(),
            cost_ns,
            resolution_ns,
            tick_ns: clock.tick(),
            invariant: Clock::invariant(),
            step: step::in_step(place).clone(),
            table: Vec::new(),
            overhead_ns: None,
        }
    }

    /// With the table of the costs of all ways to read a clock. Takes tens of milliseconds.
    pub fn in_full(place: Place) -> Self {
        Self { table: on_first_cpu(place, || cost::table(super::get())), ..Self::of(place) }
    }

    /// Nanoseconds of one reading by the way of this name.
    pub fn cost_of(&self, name: &str) -> Option<f64> {
        self.table.iter().find(|row| row.name == name)?.nanoseconds.map(|spread| spread.median)
    }

    /// The share of its time that two readings add to each message, at `rate` messages a second.
    pub fn distortion(&self, messages_per_second: f64) -> f64 {
        distortion(self.cost_ns, messages_per_second)
    }
}

/// The article's arithmetic: one reading when a message is sent and one when it is received.
pub fn distortion(cost_ns: f64, messages_per_second: f64) -> f64 {
    2.0 * cost_ns * messages_per_second / 1e9
}

/// A thread that cannot be pinned to that CPU measures on any other.
fn on_first_cpu<T: Send>(place: Place, measure: impl Fn() -> T + Sync) -> T {
    solo(place.first, &measure).unwrap_or_else(|_| measure())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_facts_are_all_there_and_come_back_from_json() {
        let facts = Facts::of(Place::choose(None).unwrap().together());
        assert!(facts.cost_ns > 0.0 && facts.resolution_ns > 0.0 && facts.tick_ns > 0.0);
        assert!(facts.table.is_empty());
        let text = serde_json::to_string(&facts).unwrap();
        let back: Facts = serde_json::from_str(&text).unwrap();
        assert_eq!((back.source, &back.step), (facts.source, &facts.step));
    }

    #[test]
    fn the_arithmetic_is_that_of_the_article() {
        let percent = |cost, rate| (distortion(cost, rate) * 1000.0).round() / 10.0;
        // Pentium 4: "20%" and "10%"; Athlon: "4.2%" and "2.1%".
        assert_eq!((percent(33.0, 3e6), percent(33.0, 1.5e6)), (19.8, 9.9));
        assert_eq!((percent(7.0, 3e6), percent(7.0, 1.5e6)), (4.2, 2.1));
    }
}
