//! Contenders and limits in turn, round after round, so that every ratio is between figures taken within moments.
//!
//! ```text
//!   round 1    floor  A B C D  floor         a round whose floors disagree, or from which time was stolen,
//!   round 2    floor  B C D A  floor         does not count
//!   round 3    floor  C D A B  floor
//! ```
//!
//! Before the first round each contender runs until its number of messages fits the wanted time: that is the warm-up.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::env::stolen_seconds;
use crate::error::{Error, Fault};
use crate::limits::Probe;
use crate::outcome::Outcome;
use crate::place::Place;
use crate::progress::Progress;
use crate::record::{Contestant, Details, Kind, Parameter, Round, Session};
use crate::stats::{Conditions, doubt};
use crate::warnings::Warning;

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

    fn timed(&self) -> Result<Outcome, Error> {
        self.named((self.run)(self.contestant.units_per_run))
    }

    fn named<T>(&self, result: Result<T, Fault>) -> Result<T, Error> {
        result.map_err(|fault| Error::Broken { contender: self.contestant.name.clone(), fault })
    }

    /// Finds the number of units for a run of the wanted length, which warms everything up as well.
    fn calibrate(&mut self) -> Result<(), Fault> {
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

/// Everything that runs in one session.
pub struct Plan {
    pub scenario: String,
    pub about: String,
    pub parameter: Option<Parameter>,
    pub place: Place,
    pub rounds: u32,
    /// Runs at both ends of a round, and is a limit like the others as well.
    pub floor: Contender,
    /// The name of the limit that ranks; the floor or one of the contenders.
    pub limit: &'static str,
    pub contenders: Vec<Contender>,
}

impl Plan {
    /// Runs the progress will be told about.
    pub fn steps(&self) -> u64 {
        (self.contenders.len() as u64 + 2) * (u64::from(self.rounds) + 1) - 1
    }

    pub fn measure(mut self, progress: &Progress, warnings: &mut Vec<Warning>) -> Result<Session, Error> {
        self.warm_up(progress, warnings)?;
        let mut rounds = Vec::new();
        let (mut sound, mut doubtful) = (BTreeMap::new(), BTreeMap::new());
        for number in 0..self.rounds as usize {
            let (round, outcomes) = self.round(number, progress)?;
            let details = if round.dropped.is_none() { &mut sound } else { &mut doubtful };
            outcomes.into_iter().for_each(|(name, outcome)| keep(details, name, outcome));
            rounds.push(round);
        }
        // If every round is doubtful, all of them count.
        let details = if rounds.iter().all(|round: &Round| round.dropped.is_some()) { doubtful } else { sound };
        let mut contenders = vec![self.floor.contestant];
        contenders.extend(self.contenders.into_iter().map(|contender| contender.contestant));
        let session = Session {
            scenario: self.scenario,
            about: self.about,
            parameter: self.parameter,
            floor: contenders[0].name.clone(),
            limit: self.limit.to_owned(),
            contenders,
            rounds,
            details,
        };
        warnings.extend(doubts(&session));
        Ok(session)
    }

    /// Whoever cannot run on this machine is left out with a warning; whoever breaks its word ends everything.
    fn warm_up(&mut self, progress: &Progress, warnings: &mut Vec<Warning>) -> Result<(), Error> {
        progress.step(&self.floor.contestant.name);
        let warm = self.floor.calibrate();
        self.floor.named(warm)?;
        let mut able = Vec::new();
        for mut contender in std::mem::take(&mut self.contenders) {
            progress.step(&contender.contestant.name);
            match contender.calibrate() {
                Ok(()) => able.push(contender),
                Err(Fault::System(cause)) => {
                    let name = contender.contestant.name;
                    warnings.push(Warning::Unavailable { name, cause: cause.to_string() });
                }
                Err(fault) => return contender.named(Err(fault)),
            }
        }
        self.contenders = able;
        Ok(())
    }

    fn round(&self, number: usize, progress: &Progress) -> Result<(Round, Outcomes), Error> {
        let cpus =
            if self.place.one_cpu() { vec![self.place.first] } else { vec![self.place.first, self.place.second] };
        let stolen_before = stolen_seconds(&cpus);
        let start = Instant::now();
        let floor = || -> Result<f64, Error> {
            progress.step(&self.floor.contestant.name);
            Ok(self.floor.timed()?.nanoseconds)
        };

        let floor_before = floor()?;
        let mut order = Vec::new();
        let (mut nanoseconds, mut metrics, mut outcomes) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        for at in 0..self.contenders.len() {
            let contender = &self.contenders[(at + number) % self.contenders.len()];
            let name = &contender.contestant.name;
            progress.step(name);
            order.push(name.clone());
            let mut outcome = contender.timed()?;
            nanoseconds.insert(name.clone(), outcome.nanoseconds);
            let taken = std::mem::take(&mut outcome.metrics);
            if !taken.is_empty() {
                metrics.insert(name.clone(), taken);
            }
            outcomes.push((name.clone(), outcome));
        }
        let floor_after = floor()?;
        nanoseconds.insert(self.floor.contestant.name.clone(), (floor_before + floor_after) / 2.0);

        let seconds = start.elapsed().as_secs_f64();
        let stolen_seconds = stolen_seconds(&cpus).zip(stolen_before).map(|(after, before)| after - before);
        let stolen = stolen_seconds.map(|stolen| (stolen, seconds * cpus.len() as f64));
        let dropped = doubt(Conditions { floors: (floor_before, floor_after), stolen });
        let round = Round { order, floor_before, floor_after, seconds, stolen_seconds, dropped, nanoseconds, metrics };
        Ok((round, outcomes))
    }
}

type Outcomes = Vec<(String, Outcome)>;

/// Distributions add up over the rounds; of single messages the last run is kept.
fn keep(details: &mut BTreeMap<String, Details>, name: String, outcome: Outcome) {
    if outcome.distributions.is_empty() && outcome.traces.is_empty() {
        return;
    }
    let kept = details.entry(name).or_default();
    for (series, distribution) in outcome.distributions {
        kept.distributions.entry(series).or_default().add(&distribution);
    }
    kept.traces.extend(outcome.traces);
}

fn doubts(session: &Session) -> Option<Warning> {
    let reasons: Vec<String> = session.rounds.iter().filter_map(|round| round.dropped.clone()).collect();
    let (scenario, dropped, of) = (session.scenario.clone(), reasons.len(), session.rounds.len());
    match dropped {
        0 => None,
        _ if dropped == of => Some(Warning::AllRoundsDoubtful { scenario, of, reasons }),
        _ => Some(Warning::RoundsDropped { scenario, dropped, of, reasons }),
    }
}

#[cfg(test)]
mod tests;
