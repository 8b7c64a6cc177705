//! A session in one sentence that can be repeated aloud: who is quickest of those that can sleep, in time, and how many times
//! as long the best of every other kind takes. Those that never sleep have a part of their own in the verdict: beside them
//! everybody else would be compared by how it waits.

use ybench_core::record::Session;
use ybench_core::stats::{DIFFERENCE, LEAST_ROUNDS};
use ybench_core::transport::{Family, Waits};

use super::standing::{Standing, standings};
use super::{grouped, time};

/// Nothing where too few rounds count, or where there is nobody.
pub fn spoken(session: &Session) -> Option<String> {
    let sleeps = |one: &Standing| session.contestant(&one.name).is_some_and(|one| one.waits.is_some_and(Waits::sleeps));
    let (sleepers, others): (Vec<Standing>, Vec<Standing>) = standings(session).into_iter().partition(sleeps);
    let (those, standings) = match (sleepers.is_empty(), others.is_empty()) {
        (true, _) => ("", others),
        (false, true) => ("", sleepers),
        (false, false) => ("Of those that can sleep, ", sleepers),
    };
    let leader = standings.first().filter(|_| session.sound() >= LEAST_ROUNDS)?;
    let family = |one: &Standing| session.contestant(&one.name)?.family;
    let best_of = |wanted: Family| {
        let best = standings.iter().find(|one| family(one) == Some(wanted))?;
        Some((session.ratio(&best.name, &leader.name)?.median, wanted.spoken()))
    };
    let others = Family::ALL.into_iter().filter(|other| family(leader) != Some(*other));
    let mut others: Vec<(f64, &str)> = others.filter_map(best_of).collect();
    others.sort_by(|a, b| a.0.total_cmp(&b.0));
    let takes = time(session.density(&leader.name)?.median);
    let mut told = format!("{those}{} takes {takes} a message", leader.name);
    for (at, (times, who)) in others.into_iter().enumerate() {
        let (mark, takes, long) = if at == 0 { (';', " takes", " times as long") } else { (',', "", "") };
        told += &match times {
            near if near < 1.0 + DIFFERENCE => format!("{mark} {who}{takes} as long"),
            times => format!("{mark} {who}{takes} {}{long}", rounded(times)),
        };
    }
    Some(told + ".")
}

/// As one says it: two digits, and none behind the point from 10 on.
fn rounded(times: f64) -> String {
    if times >= 9.95 { grouped(times) } else { format!("{times:.1}") }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use ybench_core::record::{Contestant, Round};

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
    fn the_quickest_that_can_sleep_is_told_in_time_and_the_best_of_each_other_kind_beside_it() {
        let said = spoken(&session(LEAST_ROUNDS)).unwrap();
        assert_eq!(said, "Of those that can sleep, a takes 2 ns a message; std takes 10 times as long, a mutex 50.");
    }

    #[test]
    fn from_few_rounds_nothing_is_repeated() {
        assert_eq!(spoken(&session(LEAST_ROUNDS - 1)), None);
    }
}
