//! A session in one sentence that can be repeated aloud: who is quickest, in time, and how many times as long the best of
//! every other kind takes.

use ybench_core::record::Session;
use ybench_core::stats::LEAST_ROUNDS;
use ybench_core::transport::Family;

use super::standing::{Standing, standings};
use super::{figure, time};

/// Nothing where too few rounds count, or where there is nobody.
pub fn spoken(session: &Session) -> Option<String> {
    let standings = standings(session);
    let leader = standings.first().filter(|_| session.sound() >= LEAST_ROUNDS)?;
    let family = |one: &Standing| session.contestant(&one.name)?.family;
    let best_of = |wanted: Family| {
        let best = standings.iter().find(|one| family(one) == Some(wanted))?;
        let times = session.ratio(&best.name, &leader.name)?.median;
        Some((times, format!("{} {} ({})", wanted.in_words(), figure(times), best.name)))
    };
    let others = Family::ALL.into_iter().filter(|other| family(leader) != Some(*other));
    let mut others: Vec<(f64, String)> = others.filter_map(best_of).collect();
    others.sort_by(|a, b| a.0.total_cmp(&b.0));
    let others: Vec<String> = others.into_iter().map(|(_, told)| told).collect();
    let takes = format!("{} takes {} a message", leader.name, time(session.density(&leader.name)?.median));
    Some(match others.is_empty() {
        true => format!("{takes}."),
        false => format!("{takes}. Times as long, the best of the others: {}.", others.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use ybench_core::record::{Contestant, Round};

    fn session(rounds: usize) -> Session {
        let those = [("a", Some(Family::Ours), 2.0), ("b", Some(Family::Std), 20.0), ("c", Some(Family::Std), 40.0)];
        let contenders =
            those.map(|(name, family, _)| Contestant { name: name.into(), family, ..Contestant::default() });
        let mut nanoseconds: BTreeMap<String, f64> = those.map(|(name, _, time)| (name.to_owned(), time)).into();
        nanoseconds.insert("limit".to_owned(), 1.0);
        Session {
            limit: "limit".to_owned(),
            contenders: contenders.into(),
            rounds: vec![Round { nanoseconds, ..Round::default() }; rounds],
            ..Session::default()
        }
    }

    #[test]
    fn the_quickest_is_told_in_time_and_the_best_of_each_other_kind_beside_it() {
        let said = spoken(&session(LEAST_ROUNDS)).unwrap();
        assert_eq!(said, "a takes 2 ns a message. Times as long, the best of the others: std 10.0 (b).");
    }

    #[test]
    fn from_few_rounds_nothing_is_repeated() {
        assert_eq!(spoken(&session(LEAST_ROUNDS - 1)), None);
    }
}
