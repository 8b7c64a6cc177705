//! The rows of a comparison by turns, from the results of all starts. Pure.

use ybench_measure::record::{Report, Round, Session};
use ybench_measure::stats::change::{Change, Threshold, by_turns};
use ybench_measure::stats::{Interval, Spread, same_state};

use crate::compare::{Comparison, Row, comparable};

/// The results of both programs from one start.
pub(super) type Start = [Report; 2];

pub(super) fn comparison(starts: &[Start], threshold: Threshold) -> Comparison {
    let mut made = Comparison { threshold, rows: Vec::new(), only_new: 0, only_old: 0 };
    let Some([old, new]) = starts.first() else { return made };
    for session in &new.sessions {
        let earlier = old.sessions.iter().find(|earlier| comparable(earlier, session));
        for one in session.transports() {
            match earlier.filter(|earlier| earlier.contestant(&one.name).is_some()) {
                Some(_) => made.rows.extend(row(starts, session, &one.name, threshold)),
                None => made.only_new += 1,
            }
        }
    }
    let all: usize = old.sessions.iter().map(|session| session.transports().count()).sum();
    made.only_old = all.saturating_sub(made.rows.len());
    made
}

/// One transport in one scenario, from every start.
fn row(starts: &[Start], like: &Session, name: &str, threshold: Threshold) -> Option<Row> {
    let session = |report: &'_ Report| report.sessions.iter().position(|session| comparable(session, like));
    let (mut factors, mut times, mut busy) = (Vec::new(), [Vec::new(), Vec::new()], false);
    for [old, new] in starts {
        if old.is_busy() || new.is_busy() {
            busy = true;
            continue;
        }
        let (Some(before), Some(after)) = (session(old), session(new)) else { continue };
        let pairs = pairs(&old.sessions[before], &new.sessions[after], name);
        factors.extend(Spread::of(&pairs.iter().map(|[old, new]| new / old).collect::<Vec<_>>()).map(|all| all.median));
        for pair in pairs {
            times.iter_mut().zip(pair).for_each(|(all, time)| all.push(time));
        }
    }
    let [old, new] = times.map(|all| Spread::of(&all).map_or(f64::NAN, |all| all.median));
    let nothing = Interval { low: f64::NAN, median: f64::NAN, high: f64::NAN };
    let (change, times) = by_turns(&factors, threshold).unwrap_or((Change::TooFewRounds, nothing));
    Some(Row {
        scenario: like.scenario.clone(),
        parameter: like.parameter,
        name: name.to_owned(),
        old_name: None,
        old,
        new,
        times,
        change: if busy && change == Change::TooFewRounds { Change::Busy } else { change },
    })
}

/// The times of both in each pair of rounds that counts: neither has a warning, and the machine was in one state.
fn pairs(old: &Session, new: &Session, name: &str) -> Vec<[f64; 2]> {
    let floor = |session: &Session, round: &Round| round.nanoseconds.get(&session.floor).copied();
    let pair = |(before, after): (&Round, &Round)| {
        let sound = before.dropped.is_none() && after.dropped.is_none();
        let one_state = same_state(floor(old, before)?, floor(new, after)?);
        let times = [*before.nanoseconds.get(name)?, *after.nanoseconds.get(name)?];
        (sound && one_state).then_some(times)
    };
    old.rounds.iter().zip(&new.rounds).filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ybench_measure::record::{Contestant, Kind};
    use ybench_measure::warnings::Warning;

    /// A start on a machine that is `slow` times slower, with three rounds of each.
    fn start(slow: f64, times: f64, dice: &mut fastrand::Rng) -> Start {
        let report = |times: f64, dice: &mut fastrand::Rng| {
            let contender = |name: &str, kind| Contestant { name: name.into(), kind, ..Contestant::default() };
            let round = |dice: &mut fastrand::Rng| {
                let noise = 1.0 + 0.1 * (dice.f64() - 0.5);
                let nanoseconds = [("floor", 10.0 * slow), ("spsc", 30.0 * slow * times * noise)];
                let nanoseconds = nanoseconds.map(|(name, time)| (name.to_owned(), time));
                Round { nanoseconds: nanoseconds.into(), ..Round::default() }
            };
            let session = Session {
                scenario: "latency".into(),
                floor: "floor".into(),
                limit: "floor".into(),
                contenders: vec![contender("floor", Kind::Limit), contender("spsc", Kind::Transport)],
                rounds: (0..3).map(|_| round(dice)).collect(),
                ..Session::default()
            };
            Report { sessions: vec![session], ..Report::default() }
        };
        [report(1.0, dice), report(times, dice)]
    }

    /// Twenty starts, each on a machine in another state.
    fn starts(times: f64, seed: u64) -> Vec<Start> {
        let mut dice = fastrand::Rng::with_seed(seed);
        (0..20).map(|_| start(1.0 + 2.0 * dice.f64(), times, &mut dice)).collect()
    }

    fn called(times: f64) -> Vec<Change> {
        let one = |seed| comparison(&starts(times, seed), Threshold::beyond(0.05)).rows[0].change;
        (0..100).map(one).collect()
    }

    #[test]
    fn a_machine_that_changes_from_start_to_start_hides_no_tenth_and_makes_none() {
        assert_eq!(called(1.1), [Change::Slower; 100]);
        assert_eq!(called(1.0 / 1.1), [Change::Faster; 100]);
        assert_eq!(called(1.0), [Change::NoneSeen; 100]);
    }

    #[test]
    fn a_pair_on_a_machine_in_two_states_does_not_count() {
        let mut starts = starts(1.0, 1);
        for [_, new] in &mut starts {
            for round in &mut new.sessions[0].rounds {
                round.nanoseconds.values_mut().for_each(|time| *time *= 2.0);
            }
        }
        assert_eq!(comparison(&starts, Threshold::ANY).rows[0].change, Change::TooFewRounds);
    }

    #[test]
    fn starts_on_a_busy_machine_do_not_count_and_are_the_reason() {
        let mut starts = starts(2.0, 1);
        let loaded = Warning::Loaded { load: 1.5, cpus: 2 };
        starts.iter_mut().take(15).for_each(|[old, _]| old.warnings.push(loaded.clone()));
        let row = |starts: &[Start]| comparison(starts, Threshold::ANY).rows[0].change;
        assert_eq!((row(&starts), row(&starts[..19])), (Change::Slower, Change::Busy));
    }

    #[test]
    fn what_only_one_of_them_has_is_counted() {
        let mut starts = starts(1.0, 1);
        for [old, _] in &mut starts {
            old.sessions[0].contenders[1].name = "older".into();
        }
        let made = comparison(&starts, Threshold::ANY);
        assert_eq!((made.rows.len(), made.only_new, made.only_old), (0, 1, 1));
        assert!(comparison(&[], Threshold::ANY).rows.is_empty());
    }
}
