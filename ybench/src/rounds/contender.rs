//! Who takes part: a name, a closure that runs it, and how many units make a run of the wanted length.

use std::time::{Duration, Instant};

use crate::error::{Error, Fault};
use crate::limits::Probe;
use crate::outcome::Outcome;
use crate::place::Place;
use crate::record::{Contestant, Kind};

/// How long one run is.
#[derive(Clone, Copy, Debug)]
pub enum Length {
    /// So many units, whatever time they take.
    Units(u64),
    /// About so long.
    Time(Duration),
    /// About so long, and never fewer units than that.
    TimeAndUnits(Duration, u64),
}

/// No run has more units than this: an unbounded queue whose reader is held up must still fit into memory.
const MOST: u64 = 32_000_000;

/// What runs for one name. Called for so many units; the inner loop is compiled for it alone.
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
            units_per_run: 0,
            limit: None,
            waits: None,
            batch: None,
        };
        Self { contestant, length, run: Box::new(move |units| Ok(run(place, units)?.into())) }
    }

    pub(super) fn timed(&self) -> Result<Outcome, Error> {
        self.named((self.run)(self.contestant.units_per_run))
    }

    pub(super) fn named<T>(&self, result: Result<T, Fault>) -> Result<T, Error> {
        result.map_err(|fault| Error::Broken { contender: self.contestant.name.clone(), fault })
    }

    /// Finds the number of units for a run of the wanted length, which warms everything up as well.
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
        let mut units = 64;
        loop {
            let start = Instant::now();
            (self.run)(units)?;
            let took = start.elapsed().max(Duration::from_nanos(1));
            let fitting = (units as f64 * wanted.as_secs_f64() / took.as_secs_f64()) as u64;
            if took * 4 >= wanted || units >= MOST {
                self.contestant.units_per_run = fitting.clamp(1, MOST).max(least);
                return Ok(());
            }
            // Starting two threads is part of what a short run takes: approach in steps.
            units = fitting.clamp(units * 2, units * 32).min(MOST);
        }
    }
}
