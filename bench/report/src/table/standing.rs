//! The leader of a session and the transports not distinguishable from it. Only here do tables and pictures ask the
//! statistics for a verdict.

use ybench_measure::record::{Contestant, Parameter, Session};
use ybench_measure::stats::{Spread, Verdict, few, listed};

use super::grid::Tone;
use super::spoken::spoken;
use crate::judgement::Judgement;

/// A transport's position.
#[derive(Clone, Debug)]
pub struct Standing {
    pub name: String,
    /// Its time as a multiple of the baseline.
    pub ratio: Spread,
    pub tone: Tone,
}

/// The transports of a session, by their median times as the verdict: the fastest first.
pub fn standings(session: &Session) -> Vec<Standing> {
    let verdict = Judgement::of(session).all;
    // A single transport is not the fastest of anything.
    let leaders: &[String] = if alone(&verdict) { &[] } else { verdict.leaders() };
    let tone = |name: &String| match leaders.iter().position(|leader| leader == name) {
        Some(0) => Tone::Leader,
        Some(_) if verdict.unsure().contains(name) => Tone::Unsure,
        Some(_) => Tone::Tied,
        None => Tone::Plain,
    };
    let standing = |one: &Contestant| {
        let ratio = session.ratio(&one.name, &session.limit)?;
        let time = session.density(&one.name)?.median;
        Some((time, Standing { name: one.name.clone(), ratio, tone: tone(&one.name) }))
    };
    let mut standings: Vec<(f64, Standing)> = session.transports().filter_map(standing).collect();
    standings.sort_by(|a, b| a.0.total_cmp(&b.0));
    standings.into_iter().map(|(_, standing)| standing).collect()
}

/// The ratio to the baseline, with the interval of its median.
pub fn sureness(session: &Session, name: &str) -> Option<Spread> {
    let interval = session.interval(name, &session.limit)?;
    Some(Spread { median: interval.median, min: interval.low, max: interval.high })
}

/// The sentence for quoting, and the transports not distinguishable from the fastest.
pub fn answer(session: &Session) -> String {
    match spoken(session) {
        Some(spoken) => format!("{spoken} {}", Judgement::of(session).all),
        None => judgement(session).replace('\n', " "),
    }
}

/// One sentence for all transports, and another one for those that can sleep if it differs.
pub fn judgement(session: &Session) -> String {
    Judgement::of(session).to_string()
}

/// The sentences of a scenario: those of its only session, or one for each group of leaders over all its sessions.
pub fn judgements(sessions: &[&Session]) -> Vec<String> {
    if let [only] = sessions {
        return judgement(only).lines().map(str::to_owned).collect();
    }
    let mut groups: Vec<(Leading, Vec<String>)> = Vec::new();
    for session in sessions {
        let leading = Leading::of(session);
        let place = session.parameter.map_or_else(|| session.scenario.clone(), Parameter::short);
        match groups.iter_mut().find(|(others, _)| others.are(&leading)) {
            Some((others, places)) => {
                others.unsure |= leading.unsure;
                places.push(place);
            }
            None => groups.push((leading, vec![place])),
        }
    }
    let told = |texts: &[String]| few(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let everywhere = |places: &[String]| match places.len() == sessions.len() {
        true => "throughout".to_owned(),
        false => format!("at {}", listed(&places.iter().map(String::as_str).collect::<Vec<_>>())),
    };
    let sentence = |(leading, places): &(Leading, Vec<String>)| match leading.names.as_slice() {
        [only] if leading.alone => format!("{only} was the only transport {}.", everywhere(places)),
        [] => format!("Too few rounds to call {}.", everywhere(places)),
        [only] => format!("{only} is the fastest {}.", everywhere(places)),
        several => {
            let how = if leading.unsure { "tied, or not distinguishable," } else { "tied" };
            format!("{} {how} {}: {}.", several.len(), everywhere(places), told(several))
        }
    };
    groups.iter().map(sentence).collect()
}

/// The leaders of a session.
struct Leading {
    /// The leader and the transports too close to it, in the order of the session.
    names: Vec<String>,
    alone: bool,
    /// Whether the figures of one of them scatter.
    unsure: bool,
}

impl Leading {
    fn of(session: &Session) -> Self {
        let verdict = Judgement::of(session).all;
        let leads = |name: &String| verdict.leaders().contains(name);
        let names = session.transports().map(|one| one.name.clone()).filter(leads).collect();
        let unsure = matches!(&verdict, Verdict::TooClose { unsure, .. } if !unsure.is_empty());
        Self { names, alone: alone(&verdict), unsure }
    }

    /// Whether another session has the same leaders.
    fn are(&self, others: &Self) -> bool {
        self.names == others.names && self.alone == others.alone
    }
}

/// Whether there was only one transport.
fn alone(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Only { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ybench_measure::record::{Quantity, Round};

    fn session(bytes: f64, times: &[(&str, f64)]) -> Session {
        let nanoseconds = times.iter().chain(&[("limit", 1.0)]).map(|(name, time)| ((*name).to_owned(), *time));
        let round = Round { nanoseconds: nanoseconds.collect(), ..Round::default() };
        let contestant = |(name, _): &(&str, f64)| Contestant { name: (*name).to_owned(), ..Contestant::default() };
        Session {
            limit: "limit".to_owned(),
            parameter: Some(Parameter { quantity: Quantity::BytesByValue, value: bytes }),
            contenders: times.iter().map(contestant).collect(),
            rounds: vec![round; 6],
            ..Session::default()
        }
    }

    #[test]
    fn whoever_is_alone_is_not_the_fastest() {
        let alone = [session(8.0, &[("a", 2.0)]), session(64.0, &[("a", 3.0)])];
        assert_eq!(judgements(&alone.each_ref()), ["a was the only transport throughout."]);
        assert!(standings(&alone[0]).iter().all(|one| one.tone == Tone::Plain));
        let beaten = [session(8.0, &[("a", 2.0)]), session(64.0, &[("a", 2.0), ("b", 3.0)])];
        let due = ["a was the only transport at 8 B value.", "a is the fastest at 64 B value."];
        assert_eq!(judgements(&beaten.each_ref()), due);
        assert_eq!(standings(&beaten[1])[0].tone, Tone::Leader);
    }

    #[test]
    fn a_competitor_that_scatters_is_not_tied() {
        let tied = session(8.0, &[("a", 2.0), ("b", 2.0)]);
        let mut scattered = session(64.0, &[("a", 2.0), ("b", 2.0)]);
        for round in &mut scattered.rounds[..2] {
            round.nanoseconds.insert("b".to_owned(), 9.0);
        }
        assert_eq!(judgements(&[&tied, &tied]), ["2 tied throughout: a and b."]);
        let due = "2 tied, or not distinguishable, throughout: a and b.";
        assert_eq!(judgements(&[&tied, &scattered]), [due]);
        assert_eq!(judgements(&[&scattered, &tied]), [due]);
    }
}
