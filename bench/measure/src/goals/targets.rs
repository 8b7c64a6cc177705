//! The targets of speed: the dividend, the divisor and the required figure.

use crate::limits;
use crate::record::Session;
use crate::stats;

pub(super) const STREAMING: &str = "targets: streaming";
pub(super) const BOUNCING: &str = "targets: bouncing";
pub(super) const SHARING: &str = "targets: sharing a CPU";

pub(super) const STREAMS: [&str; 6] =
    ["spsc", "mpsc", "rtrb-64k", "std-sync-channel", "crossbeam-bounded", "unix-stream"];
pub(super) const BATCHES: [usize; 4] = [8, 32, 128, 1024];
pub(super) const BOUNCED: [&str; 4] = ["spsc-forever", "spsc", "spsc-none", "spsc-epoll"];
pub(super) const ONE_CPU: [&str; 1] = ["spsc"];

/// The name of a batch of `spsc-batch` in its session.
pub(super) fn batch_name(batch: usize) -> String {
    format!("spsc-batch x{batch}")
}

/// A target: the quickest of `above`, divided by `below`, round by round.
pub(super) struct Ratio {
    pub(super) name: &'static str,
    pub(super) session: &'static str,
    above: &'static [&'static str],
    below: &'static str,
    pub(super) target: f64,
    pub(super) at_least: bool,
}

impl Ratio {
    /// All names that it needs a figure of.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.above.iter().copied().chain([self.below])
    }

    /// One ratio for each round that counts and has all names.
    pub(super) fn ratios(&self, session: &Session) -> Vec<f64> {
        let quickest = self.above.iter().map(|name| session.series(name)).reduce(smaller).unwrap_or_default();
        stats::ratios(&quickest, &session.series(self.below))
    }
}

fn smaller(one: Vec<Option<f64>>, other: Vec<Option<f64>>) -> Vec<Option<f64>> {
    one.into_iter().zip(other).map(|(one, other)| Some(one?.min(other?))).collect()
}

const fn least(name: &'static str, above: &'static [&'static str], target: f64) -> Ratio {
    least_of(name, STREAMING, above, "spsc", target)
}

pub(super) const fn least_of(
    name: &'static str,
    session: &'static str,
    above: &'static [&'static str],
    below: &'static str,
    target: f64,
) -> Ratio {
    Ratio { name, session, above, below, target, at_least: true }
}

pub(super) const fn most(
    name: &'static str,
    session: &'static str,
    above: &'static [&'static str],
    below: &'static str,
    target: f64,
) -> Ratio {
    Ratio { at_least: false, ..least_of(name, session, above, below, target) }
}

pub(super) static RATIOS: [Ratio; 13] = [
    least("one by one: times faster than rtrb spinning on 65,536 slots", &["rtrb-64k"], 1.2),
    least(
        "one by one: times faster than the better of std sync_channel and crossbeam bounded",
        &["std-sync-channel", "crossbeam-bounded"],
        6.0,
    ),
    least("one by one: times faster than a unix stream socket", &["unix-stream"], 150.0),
    most("mpsc with one sender, one by one: times spsc", STREAMING, &["mpsc"], "spsc", 1.3),
    most("batches of 8: times the memory hand-over", STREAMING, &["spsc-batch x8"], HAND_OVER, 2.0),
    most("batches of 32: times the memory hand-over", STREAMING, &["spsc-batch x32"], HAND_OVER, 2.0),
    most("batches of 128: times the memory hand-over", STREAMING, &["spsc-batch x128"], HAND_OVER, 2.0),
    most("batches of 1,024: times the memory hand-over", STREAMING, &["spsc-batch x1024"], HAND_OVER, 2.0),
    most("ping-pong, Spin::Forever: times the two-line baseline", BOUNCING, &["spsc-forever"], FLOOR, 1.15),
    most("ping-pong, default: times the two-line baseline", BOUNCING, &["spsc"], FLOOR, 1.35),
    most("ping-pong, Spin::None: times raw futex", BOUNCING, &["spsc-none"], limits::FUTEX.name, 1.15),
    most(
        "ping-pong, ysocketpair in epoll: times raw eventfd + epoll",
        BOUNCING,
        &["spsc-epoll"],
        limits::EPOLL.name,
        1.15,
    ),
    most("ping-pong, default, one CPU: times raw futex there", SHARING, &["spsc"], limits::FUTEX_ONE_CPU.name, 1.3),
];

const HAND_OVER: &str = limits::HAND_OVER.name;
const FLOOR: &str = limits::TWO_LINE_FLOOR.name;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Round;
    use std::collections::BTreeMap;

    fn session(rounds: &[[f64; 3]]) -> Session {
        let round = |figures: &[f64; 3]| Round {
            nanoseconds: BTreeMap::from([
                ("spsc".into(), figures[0]),
                ("std-sync-channel".into(), figures[1]),
                ("crossbeam-bounded".into(), figures[2]),
            ]),
            ..Round::default()
        };
        Session { scenario: STREAMING.into(), rounds: rounds.iter().map(round).collect(), ..Session::default() }
    }

    #[test]
    fn the_better_competitor_is_chosen_in_each_round() {
        let session = session(&[[1.0, 6.0, 9.0], [2.0, 30.0, 14.0]]);
        assert_eq!(RATIOS[1].ratios(&session), [6.0, 7.0]);
    }

    #[test]
    fn what_was_not_measured_has_no_figure() {
        assert_eq!(RATIOS[0].ratios(&session(&[[1.0, 2.0, 3.0]])), [0.0; 0]);
    }
}
