//! A competitor: a name, a closure that runs it, and the number of units for a run of the wanted length.

use std::time::{Duration, Instant};

use crate::error::{Error, Fault};
use crate::limits::Probe;
use crate::outcome::Outcome;
use crate::place::Place;
use crate::record::{Contestant, Kind};

/// The length of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// This number of units, in any time.
    Units(u64),
    /// About this time.
    Time(Duration),
    /// About this time, and never fewer units than that.
    TimeAndUnits(Duration, u64),
}

impl Length {
    /// The same, but never shorter than `time` or fewer units than that. A fixed number of units takes precedence over
    /// the time.
    pub fn at_least(self, time: Duration, units: u64) -> Self {
        match self {
            Self::Units(fixed) => Self::Units(fixed.max(units)),
            Self::Time(wanted) => Self::TimeAndUnits(wanted.max(time), units),
            Self::TimeAndUnits(wanted, least) => Self::TimeAndUnits(wanted.max(time), least.max(units)),
        }
    }
}

/// No run has more units than this: an unbounded queue whose reader is delayed must still fit into memory.
pub const MOST: u64 = 32_000_000;

/// The function of one name. Called with the number of units. The inner loop is compiled for it alone.
pub type Run = Box<dyn Fn(u64) -> Result<Outcome, Fault>>;

pub struct Contender {
    pub contestant: Contestant,
    pub length: Length,
    pub run: Run,
}

impl Contender {
    pub fn limit(probe: &Probe, place: Place, length: Length) -> Self {
        let run = probe.run;
        let contestant = Contestant {
            name: probe.name.to_owned(),
            kind: Kind::Limit,
            unit: probe.unit,
            explained: probe.about.to_owned(),
            ..Contestant::default()
        };
        Self { contestant, length, run: Box::new(move |units| Ok(run(place, units)?.into())) }
    }

    pub(super) fn timed(&self) -> Result<Outcome, Error> {
        self.named((self.run)(self.contestant.units_per_run))
    }

    pub(super) fn named<T>(&self, result: Result<T, Fault>) -> Result<T, Error> {
        result.map_err(|fault| Error::Broken { contender: self.contestant.name.clone(), fault })
    }

    /// Finds the number of units for a run of the wanted length. This warms everything up as well.
    pub(super) fn calibrate(&mut self) -> Result<(), Fault> {
        let (wanted, least) = match self.length {
            Length::Units(units) => {
                (self.run)(units.min(1_000))?;
                self.contestant.units_per_run = units;
                return Ok(());
            }
            Length::Time(wanted) => (wanted, 1),
            Length::TimeAndUnits(wanted, least) => (wanted, least),
        };
        let took = |units| {
            let start = Instant::now();
            (self.run)(units)?;
            Ok(start.elapsed())
        };
        self.contestant.units_per_run = fitting(wanted, took)?.max(least);
        Ok(())
    }
}

/// The shortest run that is tried.
const FIRST: u64 = 64;

/// On a busy machine two threads may take this long to start. A longer run is slow itself.
const SLOW_START: Duration = Duration::from_millis(20);

/// The number of units that takes the wanted time, where `took` runs a number of units and returns its time.
///
/// Starting two threads takes time as well, often more than a short run: the time of the first size is subtracted from
/// the others. And a thread that waits for its CPU looks like slow messages: each size runs twice, and the quicker run
/// counts. If the number were too small, the run would measure only noise.
fn fitting(wanted: Duration, took: impl Fn(u64) -> Result<Duration, Fault>) -> Result<u64, Fault> {
    let quicker = |units| -> Result<f64, Fault> { Ok(took(units)?.min(took(units)?).as_secs_f64()) };
    let (wanted, slow) = (wanted.as_secs_f64(), wanted.max(SLOW_START).as_secs_f64());
    let first = quicker(FIRST)?;
    if first >= slow {
        return Ok(((FIRST as f64 * wanted / first) as u64).max(1));
    }
    let mut units = 2 * FIRST;
    loop {
        let worked = (quicker(units)? - first).max(1e-9);
        let fitting = ((units - FIRST) as f64 * wanted / worked) as u64;
        if worked * 4.0 >= wanted || units >= MOST {
            return Ok(fitting.clamp(1, MOST));
        }
        units = fitting.clamp(units * 2, units * 32).min(MOST);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A fixed time to start, and a time for each unit. Every other run is delayed.
    fn found(start_us: f64, unit_ns: f64, held_up_us: f64, wanted_us: u64) -> u64 {
        let runs = Cell::new(0u32);
        let took = |units: u64| {
            runs.set(runs.get() + 1);
            let held_up = if runs.get().is_multiple_of(2) { held_up_us } else { 0.0 };
            Ok(Duration::from_secs_f64((start_us + held_up) * 1e-6 + unit_ns * 1e-9 * units as f64))
        };
        fitting(Duration::from_micros(wanted_us), took).unwrap()
    }

    #[test]
    fn the_start_of_threads_is_no_part_of_the_run() {
        for wanted in [1_000, 30_000] {
            let units = found(200.0, 3.0, 0.0, wanted);
            let exact = wanted as f64 * 1e3 / 3.0;
            assert!((units as f64 / exact - 1.0).abs() < 0.01, "{units} {exact}");
        }
        assert_eq!(found(8_000.0, 3.0, 0.0, 1_000), found(200.0, 3.0, 0.0, 1_000));
        // Almost no time for a unit: no run is longer than there is room for.
        assert_eq!(found(200.0, 0.0, 0.0, 1_000), MOST);
    }

    #[test]
    fn a_run_that_was_held_up_does_not_make_all_others_short() {
        assert_eq!(found(200.0, 3.0, 10_000.0, 1_000), found(200.0, 3.0, 0.0, 1_000));
    }

    #[test]
    fn slow_units_are_few_and_at_least_one() {
        assert_eq!(found(0.0, 100_000.0, 0.0, 1_000), 10);
        assert_eq!(found(0.0, 1e9, 0.0, 1_000), 1);
    }
}
