//! Who leads a session and who cannot be told from the leader: the one place where tables and pictures ask the
//! statistics for a judgement.

use ybench_core::record::{Contestant, Parameter, Session};
use ybench_core::stats::{Spread, few, listed};

use super::grid::Tone;
use super::spoken::spoken;
use crate::judgement::Judgement;

/// A contender's place.
#[derive(Clone, Debug)]
pub struct Standing {
    pub name: String,
    /// Its time as a multiple of the limit.
    pub ratio: Spread,
    pub tone: Tone,
}

/// The transports of a session, the quickest first.
pub fn standings(session: &Session) -> Vec<Standing> {
    let verdict = Judgement::of(session).all;
    let leaders = verdict.leaders();
    let tone = |name: &String| match leaders.iter().position(|leader| leader == name) {
        Some(0) => Tone::Leader,
        Some(_) => Tone::Tied,
        None => Tone::Plain,
    };
    let standing = |one: &Contestant| {
        let ratio = session.ratio(&one.name, &session.limit)?;
        Some(Standing { name: one.name.clone(), ratio, tone: tone(&one.name) })
    };
    let mut standings: Vec<Standing> = session.transports().filter_map(standing).collect();
    standings.sort_by(|a, b| a.ratio.median.total_cmp(&b.ratio.median));
    standings
}

/// The ratio to the limit with the interval its median lies in.
pub fn sureness(session: &Session, name: &str) -> Option<Spread> {
    let interval = session.interval(name, &session.limit)?;
    Some(Spread { median: interval.median, min: interval.low, max: interval.high })
}

/// The sentence that can be repeated aloud, and who else cannot be told from the quickest.
pub fn answer(session: &Session) -> String {
    match spoken(session) {
        Some(spoken) => format!("{spoken} {}", Judgement::of(session).all),
        None => judgement(session).replace('\n', " "),
    }
}

/// One sentence for all transports, and one for those that can sleep where it says something else.
pub fn judgement(session: &Session) -> String {
    Judgement::of(session).to_string()
}

/// The sentences of a scenario: those of its only session, or one for each group of leaders over all its sessions.
pub fn judgements(sessions: &[&Session]) -> Vec<String> {
    if let [only] = sessions {
        return judgement(only).lines().map(str::to_owned).collect();
    }
    let mut groups: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    for session in sessions {
        let leading = leaders(session);
        let place = session.parameter.map_or_else(|| session.scenario.clone(), Parameter::short);
        match groups.iter_mut().find(|(names, _)| *names == leading) {
            Some((_, places)) => places.push(place),
            None => groups.push((leading, vec![place])),
        }
    }
    let told = |texts: &[String]| few(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let everywhere = |places: &[String]| match places.len() == sessions.len() {
        true => "throughout".to_owned(),
        false => format!("at {}", listed(&places.iter().map(String::as_str).collect::<Vec<_>>())),
    };
    let sentence = |(names, places): &(Vec<String>, Vec<String>)| match names.as_slice() {
        [] => format!("Too few rounds to call {}.", everywhere(places)),
        [only] => format!("{only} is the fastest {}.", everywhere(places)),
        several => format!("{} tied {}: {}.", several.len(), everywhere(places), told(several)),
    };
    groups.iter().map(sentence).collect()
}

/// The leader and those too close to it, in the order in which the session has them.
fn leaders(session: &Session) -> Vec<String> {
    let verdict = Judgement::of(session).all;
    let leads = |name: &String| verdict.leaders().contains(name);
    session.transports().map(|one| one.name.clone()).filter(leads).collect()
}
