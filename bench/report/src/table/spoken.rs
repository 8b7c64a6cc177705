//! A session in one sentence for quoting: the fastest transport that can sleep, with its time, and how many times as
//! long the best of every other kind takes, or that there is no significant difference. Each factor is the quotient of
//! two times in the table, and the one round by round is added where it is another one. Transports that never sleep
//! have a sentence of their own in the verdict: a comparison with them would only compare the ways of waiting.

use std::mem;

use ybench_measure::record::Session;
use ybench_measure::stats::{Distance, LEAST_ROUNDS, factor};
use ybench_measure::transport::{Family, Waits};

use super::standing::{Standing, standings};
use super::{grouped, time};

/// `None` if too few rounds count, or if there is no transport.
pub fn spoken(session: &Session) -> Option<String> {
    let sleeps = |one: &Standing| session.contestant(&one.name).is_some_and(|one| one.waits.is_some_and(Waits::sleeps));
    let (sleepers, others): (Vec<Standing>, Vec<Standing>) = standings(session).into_iter().partition(sleeps);
    let (those, standings) = match (sleepers.is_empty(), others.is_empty()) {
        (true, _) => ("", others),
        (false, true) => ("", sleepers),
        (false, false) => ("Of the transports that can sleep, ", sleepers),
    };
    let leader = standings.first()?;
    let takes = session.density(&leader.name)?.median;
    let family = |one: &Standing| session.contestant(&one.name)?.family;
    let best_of = |wanted: Family| {
        let best = standings.iter().find(|one| family(one) == Some(wanted))?;
        let distance = Distance::of(&session.ratios(&best.name, &leader.name), session.sound());
        Some((session.density(&best.name)?.median / takes, distance, wanted.spoken()))
    };
    let others = Family::ALL.into_iter().filter(|other| family(leader) != Some(*other));
    let mut others: Vec<(f64, Distance, &str)> = others.filter_map(best_of).collect();
    others.sort_by(|a, b| a.0.total_cmp(&b.0));
    let enough = session.sound() >= LEAST_ROUNDS;
    if !enough && others.iter().all(|(_, distance, _)| *distance == Distance::Unsure) {
        return None;
    }
    let mut told = format!("{those}{} takes {} {}", leader.name, time(takes), session.unit().spoken());
    // The verb and the unit are said once: with the first, and with the first number.
    let (mut mark, mut takes, mut long) = (";", " takes", " times as long");
    for (shown, distance, who) in others {
        let (mark, takes) = (mem::replace(&mut mark, ","), mem::take(&mut takes));
        told += &match distance {
            Distance::Behind(times) => {
                format!("{mark} {who}{takes} {}{}", factor(shown, times, rounded), mem::take(&mut long))
            }
            Distance::Close => format!("{mark} {who}{takes} as long"),
            Distance::Unsure => format!("{mark} {who}: no significant difference"),
        };
    }
    Some(told + ".")
}

/// In two digits, and without decimals from 10 on.
fn rounded(times: f64) -> String {
    if times >= 9.95 { grouped(times) } else { format!("{times:.1}") }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use ybench_measure::record::{Contestant, Round};

    fn session(rounds: usize) -> Session {
        let those = [
            ("a", Family::Ours, Waits::Sleeps, 2.0),
            ("b", Family::Std, Waits::LooksThenSleeps, 20.0),
            ("c", Family::Std, Waits::Sleeps, 40.0),
            ("d", Family::Crates, Waits::Spins, 1.0),
            ("e", Family::Mutex, Waits::Sleeps, 100.0),
        ];
        let contenders = those.map(|(name, family, waits, _)| Contestant {
            name: name.into(),
            family: Some(family),
            waits: Some(waits),
            ..Contestant::default()
        });
        let mut nanoseconds: BTreeMap<String, f64> = those.map(|(name, .., time)| (name.to_owned(), time)).into();
        nanoseconds.insert("limit".to_owned(), 1.0);
        Session {
            limit: "limit".to_owned(),
            contenders: contenders.into(),
            rounds: vec![Round { nanoseconds, ..Round::default() }; rounds],
            ..Session::default()
        }
    }

    #[test]
    fn the_fastest_that_can_sleep_has_a_time_and_the_best_of_each_other_kind_a_multiple() {
        let said = spoken(&session(LEAST_ROUNDS)).unwrap();
        assert_eq!(
            said,
            "Of the transports that can sleep, a takes 2 ns a message; std takes 10 times as long, a mutex 50."
        );
    }

    #[test]
    fn a_scattered_transport_has_no_multiple() {
        let mut scattered = session(6);
        for (round, time) in scattered.rounds.iter_mut().zip([2.0, 40.0, 2.0, 40.0, 20.0, 20.0]) {
            round.nanoseconds.extend([("b".to_owned(), time), ("c".to_owned(), 2.0 * time)]);
        }
        let said = spoken(&scattered).unwrap();
        assert!(
            said.ends_with("a takes 2 ns a message; std: no significant difference, a mutex 50 times as long."),
            "{said}"
        );
    }

    #[test]
    fn from_few_rounds_only_what_is_far_is_repeated() {
        assert_eq!(spoken(&session(LEAST_ROUNDS - 1)), spoken(&session(LEAST_ROUNDS)));
        let mut near = session(LEAST_ROUNDS - 1);
        for round in &mut near.rounds {
            round.nanoseconds.extend([("b", 2.1), ("c", 2.1), ("e", 2.1)].map(|(name, time)| (name.to_owned(), time)));
        }
        assert_eq!(spoken(&near), None);
    }

    #[test]
    fn a_factor_that_differs_from_the_table_says_so() {
        let mut session = session(5);
        for (round, slow) in session.rounds.iter_mut().zip([1.0, 1.0, 1.0, 30.0, 30.0]) {
            // std: 40, 400, 400, 1,200, 1,200, and ten times as long in most rounds.
            let times = [("a", 4.0 * slow), ("b", 40.0 * slow), ("c", 900.0 * slow)];
            round.nanoseconds.extend(times.map(|(name, time)| (name.to_owned(), time)));
        }
        session.rounds[2].nanoseconds.insert("b".to_owned(), 400.0);
        session.rounds[1].nanoseconds.insert("b".to_owned(), 400.0);
        let said = spoken(&session).unwrap();
        assert!(said.ends_with(", std 100 (10 round by round) times as long."), "{said}");
    }
}
