//! One figure of one group at every size: each transport's ratio to the best of ours, formed within the rounds. Pure.

use ybench_measure::outcome::Metric;
use ybench_measure::record::{Group, Session};
use ybench_measure::scenario::cells::Figure;
use ybench_measure::stats::{self, Spread};

/// A competitor below this multiple is near.
pub(super) const FAR: f64 = 1.5;

/// The members of a group in one session.
pub(super) struct Beside {
    /// Bytes in a message.
    pub(super) bytes: f64,
    /// Rounds that count.
    pub(super) rounds: usize,
    /// The best of ours, if one of them has the figure.
    pub(super) best: Option<String>,
    pub(super) members: Vec<Member>,
}

pub(super) struct Member {
    pub(super) name: String,
    pub(super) competitor: bool,
    pub(super) value: Spread,
    /// To the best of ours.
    pub(super) ratio: Option<Spread>,
    /// Its receiver's CPU time as a multiple of ours, if it is reported.
    pub(super) cpu: Option<f64>,
}

impl Beside {
    pub(super) fn of(session: &Session, group: &Group, figure: &Figure) -> Self {
        let value = |name: &str| {
            let figures: Vec<f64> = figure.series(session, name).into_iter().flatten().collect();
            Spread::of(&figures)
        };
        let ours = group.ours.iter().filter_map(|name| Some((name, value(name)?)));
        let best = ours.min_by(|one, other| one.1.median.total_cmp(&other.1.median)).map(|(name, _)| name.clone());
        let ratio = |name: &str| {
            let spread = stats::ratio(&figure.series(session, name), &figure.series(session, best.as_ref()?))?;
            (figure.judged && spread.median.is_finite()).then_some(spread)
        };
        let receivers = Figure { metric: Some(Metric::ReceiverCpu), ..*figure };
        let cpu = |name: &str| {
            let spread = stats::ratio(&receivers.series(session, name), &receivers.series(session, best.as_ref()?))?;
            Some(spread.median)
        };
        let member = |name: &String, competitor: bool| {
            Some(Member { name: name.clone(), competitor, value: value(name)?, ratio: ratio(name), cpu: cpu(name) })
        };
        let ours = group.ours.iter().filter_map(|name| member(name, false));
        let members = ours.chain(group.competitors.iter().filter_map(|name| member(name, true))).collect();
        Self { bytes: session.parameter.map_or(0.0, |size| size.value), rounds: session.sound(), best, members }
    }

    pub(super) fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.name == name)
    }

    /// The competitors by their ratio to the best of ours, the fastest first.
    pub(super) fn competitors(&self) -> Vec<(&Member, Spread)> {
        let competitors = self.members.iter().filter(|member| member.competitor);
        let mut competitors: Vec<(&Member, Spread)> =
            competitors.filter_map(|member| Some((member, member.ratio?))).collect();
        competitors.sort_by(|one, other| one.1.median.total_cmp(&other.1.median));
        competitors
    }
}
