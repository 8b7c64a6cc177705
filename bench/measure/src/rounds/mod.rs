//! Competitors and baselines in turn, round after round, so that every ratio is between figures taken within moments.
//!
//! ```text
//!   round 1    baseline  A D B C  baseline   a round whose baselines disagree, or with stolen time,
//!   round 2    baseline  B A C D  baseline   does not count
//!   round 3    baseline  C B D A  baseline
//! ```
//!
//! Before the first round each competitor runs until its number of messages fits the wanted time: that is the warm-up.
//! The order of each round is shuffled, so that none always runs after the same neighbour; the result has the order.
//! Sessions that are to be compared with each other take turns, a round of each: a change of the machine affects all of
//! them. Between two runs, and only there, the user may interrupt it: complete rounds are kept. A third-party
//! competitor that fails validation is taken out, with all its figures in the session, and takes no part in later
//! sessions; the others go on.

mod contender;
mod ending;
pub mod guests;

use std::collections::BTreeMap;
use std::time::Instant;

pub use self::contender::{Contender, Length, MOST, Run};
pub use self::ending::{LIKELY_ROUNDS, MOST_ROUNDS, Rounds, TIGHT, share};
use crate::error::{Error, Fault};
use crate::limits;
use crate::outcome::Outcome;
use crate::place::Place;
use crate::record::{Details, Kind, Parameter, Round, Session, Stopped};
use crate::stats::{Conditions, doubt, same_state};
use crate::warnings::Warning;

/// Runs of the baseline at each end of a round. Every disturbance makes the baseline slower, and none makes it quicker,
/// so the least of several short runs is its natural estimate.
const FLOOR_RUNS: u64 = 3;

/// Everything that runs in one session.
pub struct Plan {
    pub scenario: String,
    pub about: String,
    pub parameter: Option<Parameter>,
    pub place: Place,
    pub rounds: Rounds,
    /// Runs at both ends of a round, and is a baseline like the others as well.
    pub floor: Contender,
    /// The name of the baseline that ranks: that of both ends or one of the competitors.
    pub limit: &'static str,
    pub contenders: Vec<Contender>,
}

/// The state that sessions share while they are measured.
pub struct Course<'a> {
    /// Gets the name of the next run, between two runs.
    pub progress: &'a dyn Fn(&str),
    pub warnings: &'a mut Vec<Warning>,
    /// Shuffles the order.
    pub dice: fastrand::Rng,
    /// Called between two runs: whether the user wants to stop.
    pub interrupted: &'a dyn Fn() -> bool,
    /// Called at both ends of a round: seconds that the hypervisor has taken from these CPUs so far.
    pub stolen: &'a dyn Fn(&[usize]) -> Option<f64>,
    /// Rounds of each session that are measured first and do not count.
    pub warm_up: u32,
    /// The same of other programs on these CPUs.
    pub others: &'a dyn Fn(&[usize]) -> Option<f64>,
    /// Called before the competitors are warmed up, and before each round: whether to go on. It may take its time.
    pub turn: &'a dyn Fn() -> bool,
}

impl Course<'_> {
    fn taken(&self, cpus: &[usize]) -> [Option<f64>; 2] {
        [(self.stolen)(cpus), (self.others)(cpus)]
    }

    fn broke_its_word(&self, name: &str) -> bool {
        self.warnings.iter().any(|warning| matches!(warning, Warning::TakenOut { name: broken, .. } if broken == name))
    }
}

impl Plan {
    /// Runs that the progress will be notified of, for the likely number of rounds.
    pub fn steps(&self) -> u64 {
        (self.contenders.len() as u64 + 2) * (u64::from(self.rounds.likely()) + 1) - 1
    }

    /// Leaves out the baselines that neither rank nor guard.
    pub fn keep_one_baseline(&mut self) {
        self.contenders.retain(|one| one.contestant.kind != Kind::Limit || one.contestant.name == self.limit);
    }

    /// Nothing if it was interrupted before the end of the first round.
    pub fn measure(self, course: &mut Course<'_>) -> Result<Option<Session>, Error> {
        Ok(together(vec![self], course)?.pop())
    }

    /// The state before the first round.
    fn session(&self) -> Session {
        let all = std::iter::once(&self.floor).chain(&self.contenders);
        Session {
            scenario: self.scenario.clone(),
            about: self.about.clone(),
            parameter: self.parameter,
            floor: self.floor.contestant.name.clone(),
            limit: self.limit.to_owned(),
            contenders: all.map(|contender| contender.contestant.clone()).collect(),
            ..Session::default()
        }
    }

    /// The baseline and all remaining competitors.
    fn names(&self) -> Vec<&str> {
        let all = std::iter::once(&self.floor).chain(&self.contenders);
        all.map(|contender| contender.contestant.name.as_str()).collect()
    }

    /// A competitor that cannot run on this machine is left out with a warning. So is a third-party competitor that
    /// fails validation. A failure of any other ends the whole run.
    fn warm_up(&mut self, course: &mut Course<'_>) -> Result<Option<()>, Error> {
        (course.progress)(&self.floor.contestant.name);
        let warm = self.floor.calibrate();
        self.floor.named(warm)?;
        self.floor.contestant.units_per_run = self.floor.contestant.units_per_run.div_ceil(FLOOR_RUNS);
        let mut able = Vec::new();
        self.contenders.retain(|contender| !course.broke_its_word(&contender.contestant.name));
        for mut contender in std::mem::take(&mut self.contenders) {
            if (course.interrupted)() {
                return Ok(None);
            }
            (course.progress)(&contender.contestant.name);
            match contender.calibrate() {
                Ok(()) => able.push(contender),
                Err(Fault::System(cause)) => {
                    let name = contender.contestant.name;
                    let unavailable = Warning::Unavailable { name, cause: cause.to_string() };
                    Warning::add_once(course.warnings, Some(unavailable));
                }
                Err(Fault::OfGuest(sentence)) => {
                    let name = contender.contestant.name;
                    course.warnings.push(Warning::TakenOut { scenario: self.scenario.clone(), name, sentence });
                }
                Err(fault) => return contender.named(Err(fault)),
            }
        }
        self.contenders = able;
        Ok(Some(()))
    }

    /// Nothing if it was interrupted: part of a round is no round.
    fn round(&mut self, course: &mut Course<'_>) -> Result<Option<(Round, Outcomes)>, Error> {
        let mut cpus = self.place.cpus();
        cpus.extend(self.contenders.iter().flat_map(|one| &one.contestant.cpus));
        cpus.sort_unstable();
        cpus.dedup();
        let mut shuffled: Vec<&Contender> = self.contenders.iter().collect();
        course.dice.shuffle(&mut shuffled);
        let taken_before = course.taken(&cpus);
        let start = Instant::now();

        let Some(floor_before) = self.floor(course)? else { return Ok(None) };
        let (mut order, mut out) = (Vec::new(), Vec::new());
        let (mut nanoseconds, mut metrics, mut outcomes) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        for contender in shuffled {
            if (course.interrupted)() {
                return Ok(None);
            }
            let name = &contender.contestant.name;
            (course.progress)(name);
            let mut outcome = match contender.timed() {
                Err(Error::Broken { contender: name, fault: Fault::OfGuest(sentence) }) => {
                    course.warnings.push(Warning::TakenOut {
                        scenario: self.scenario.clone(),
                        name: name.clone(),
                        sentence,
                    });
                    out.push(name);
                    continue;
                }
                timed => timed?,
            };
            order.push(name.clone());
            nanoseconds.insert(name.clone(), outcome.nanoseconds);
            let taken = std::mem::take(&mut outcome.metrics);
            if !taken.is_empty() {
                metrics.insert(name.clone(), taken);
            }
            outcomes.push((name.clone(), outcome));
        }
        self.contenders.retain(|contender| !out.contains(&contender.contestant.name));
        let Some(floor_after) = self.floor(course)? else { return Ok(None) };
        nanoseconds.insert(self.floor.contestant.name.clone(), (floor_before + floor_after) / 2.0);

        let seconds = start.elapsed().as_secs_f64();
        let [stolen_seconds, seconds_of_others] = since(taken_before, course.taken(&cpus));
        let of_all = |taken: Option<f64>| Some((taken?, seconds * cpus.len() as f64));
        let dropped = doubt(Conditions {
            floors: (floor_before, floor_after),
            may_move: limits::may_move(&self.floor.contestant.name),
            stolen: of_all(stolen_seconds),
            others: of_all(seconds_of_others),
        });
        let round = Round {
            order,
            floor_before,
            floor_after,
            seconds,
            stolen_seconds,
            seconds_of_others,
            cpus: Some(cpus.len()),
            dropped,
            nanoseconds,
            metrics,
        };
        Ok(Some((round, outcomes)))
    }

    fn floor(&self, course: &Course<'_>) -> Result<Option<f64>, Error> {
        (course.progress)(&self.floor.contestant.name);
        let mut least = f64::INFINITY;
        for _ in 0..FLOOR_RUNS {
            if (course.interrupted)() {
                return Ok(None);
            }
            least = least.min(self.floor.timed()?.nanoseconds);
        }
        Ok(Some(least))
    }
}

/// Measures these plans in turn, a round of each until each has enough of them. Plans that were interrupted before the
/// end of their first round are left out.
pub fn together(plans: Vec<Plan>, course: &mut Course<'_>) -> Result<Vec<Session>, Error> {
    let mut all = Vec::new();
    for plan in plans {
        let Some(begun) = Begun::of(plan, course)? else { break };
        all.push(begun);
    }
    while all.iter().any(Begun::goes_on) {
        for one in all.iter_mut().filter(|one| one.goes_on()) {
            one.round(course)?;
        }
    }
    Ok(all.into_iter().filter_map(|one| one.ended(course)).collect())
}

/// A plan between two of its rounds.
struct Begun {
    plan: Plan,
    session: Session,
    sound: BTreeMap<String, Details>,
    doubtful: BTreeMap<String, Details>,
    start: Instant,
}

impl Begun {
    /// Nothing if it was interrupted.
    fn of(mut plan: Plan, course: &mut Course<'_>) -> Result<Option<Self>, Error> {
        let start = Instant::now();
        if !(course.turn)() || plan.warm_up(course)?.is_none() {
            return Ok(None);
        }
        for _ in 0..course.warm_up {
            if plan.round(course)?.is_none() {
                return Ok(None);
            }
        }
        let session = plan.session();
        Ok(Some(Self { plan, session, sound: BTreeMap::new(), doubtful: BTreeMap::new(), start }))
    }

    fn goes_on(&self) -> bool {
        self.session.stopped.is_none()
    }

    fn round(&mut self, course: &mut Course<'_>) -> Result<(), Error> {
        let measured = if (course.turn)() { self.plan.round(course)? } else { None };
        let Some((round, outcomes)) = measured else {
            self.session.stopped = Some(Stopped::Interrupted);
            return Ok(());
        };
        keep_only(&self.plan, &mut self.session);
        let details = if round.dropped.is_none() { &mut self.sound } else { &mut self.doubtful };
        outcomes.into_iter().for_each(|(name, outcome)| keep(details, name, outcome));
        self.session.rounds.push(round);
        self.session.stopped = self.plan.rounds.ended(&self.session, self.start.elapsed());
        Ok(())
    }

    /// Nothing if it has no round.
    fn ended(mut self, course: &mut Course<'_>) -> Option<Session> {
        if self.session.rounds.is_empty() {
            return None;
        }
        // If every round has a warning, all of them count.
        self.session.details = if self.session.sound() == 0 { self.doubtful } else { self.sound };
        keep_only(&self.plan, &mut self.session);
        course.warnings.extend(doubts(&self.session));
        Some(self.session)
    }
}

type Outcomes = Vec<(String, Outcome)>;

/// A competitor that has been taken out leaves no trace: it has no figures in the following rounds.
fn keep_only(plan: &Plan, session: &mut Session) {
    let names = plan.names();
    session.keep_only(|name| names.contains(&name));
}

/// From before to after, of each.
fn since(before: [Option<f64>; 2], after: [Option<f64>; 2]) -> [Option<f64>; 2] {
    let difference = |at: usize| Some(after[at]? - before[at]?);
    [difference(0), difference(1)]
}

/// Distributions add up over the rounds. Of single messages the last run is kept.
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

fn doubts(session: &Session) -> impl Iterator<Item = Warning> {
    dropped(session).into_iter().chain(states(session))
}

/// The two ends of a round may agree although two rounds differ.
fn states(session: &Session) -> Option<Warning> {
    let floor = session.density(&session.floor)?;
    let (scenario, least, most) = (session.scenario.clone(), floor.min, floor.max);
    (!same_state(least, most)).then_some(Warning::SeveralStates { scenario, least, most })
}

fn dropped(session: &Session) -> Option<Warning> {
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
