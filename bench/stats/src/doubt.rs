//! Whether a round counts: its baseline must be steady and the CPUs must not be taken away meanwhile, neither by the
//! hypervisor nor by other programs. Pure.
//!
//! Cannot detect an event in the middle of a round that was over at its end.

/// The largest difference of two baselines, as a share of the smaller one: of a word between two spinning threads.
pub const FLOOR_MAY_MOVE: f64 = 0.10;

/// The same of wake-ups and of streams, which move by more on a machine that is in one state.
pub const OTHERS_MAY_MOVE: f64 = 0.25;

/// The largest share of the time of the CPUs in use that other programs may take.
pub const WORK_OF_OTHERS_MAY_BE: f64 = 0.10;

/// Less than this, in seconds, is within the ticks in which the system counts the work of all programs.
pub const WORK_OF_OTHERS_IS_SEEN_FROM: f64 = 0.05;

/// The largest share of the time of the CPUs in use that the hypervisor may take.
pub const STEAL_MAY_BE: f64 = 0.02;

/// Less than this, in seconds, is within the coarse ticks in which the system counts stolen time.
pub const STEAL_IS_SEEN_FROM: f64 = 0.02;

/// The conditions of one round.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// The baseline at the beginning and at the end, in nanoseconds per message.
    pub floors: (f64, f64),
    /// The largest difference of them, as a share of the smaller one.
    pub may_move: f64,
    /// Seconds stolen from the CPUs in use, and their total seconds. Nothing where the system does not report them.
    pub stolen: Option<(f64, f64)>,
    /// Seconds in which other programs were on them, and their total seconds. Nothing where it is not known.
    pub others: Option<(f64, f64)>,
}

/// The reason why a round should not count, in words. Nothing if it should.
pub fn doubt(conditions: Conditions) -> Option<String> {
    let (before, after) = conditions.floors;
    let moved = (before - after).abs() / before.min(after);
    if moved.is_nan() || moved > conditions.may_move {
        let by = match 1.0 + moved {
            times if times <= 2.0 => format!("moved by {:.0} %", moved * 100.0),
            times if after > before => format!("became {times:.1} times as slow"),
            times => format!("became {times:.1} times as quick"),
        };
        return Some(format!("the baseline {by} ({before:.1} to {after:.1} ns)"));
    }
    let takers = [
        (conditions.stolen, STEAL_IS_SEEN_FROM, STEAL_MAY_BE, "the hypervisor"),
        (conditions.others, WORK_OF_OTHERS_IS_SEEN_FROM, WORK_OF_OTHERS_MAY_BE, "other programs"),
    ];
    takers.into_iter().find_map(|(taken, seen_from, may_be, who)| {
        let (taken, had) = taken?;
        let share = taken / had;
        (taken >= seen_from && share > may_be).then(|| {
            let verb = if who == "other programs" { "were on the CPUs for" } else { "took" };
            format!("{who} {verb} {:.0} % of the time", share * 100.0)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Conditions =
        Conditions { floors: (100.0, 100.0), may_move: FLOOR_MAY_MOVE, stolen: None, others: None };

    #[test]
    fn a_round_whose_baselines_agree_counts() {
        assert_eq!(doubt(Conditions { floors: (100.0, 109.0), stolen: Some((0.0, 2.0)), ..QUIET }), None);
        assert_eq!(doubt(Conditions { floors: (109.0, 100.0), ..QUIET }), None);
    }

    #[test]
    fn a_round_whose_baseline_moved_does_not_count() {
        let doubt = |floors| super::doubt(Conditions { floors, ..QUIET }).unwrap();
        assert_eq!(doubt((100.0, 120.0)), "the baseline moved by 20 % (100.0 to 120.0 ns)");
        assert_eq!(doubt((58.0, 339.3)), "the baseline became 5.9 times as slow (58.0 to 339.3 ns)");
        assert_eq!(doubt((300.0, 100.0)), "the baseline became 3.0 times as quick (300.0 to 100.0 ns)");
    }

    #[test]
    fn a_round_with_stolen_time_does_not_count() {
        let doubt = doubt(Conditions { stolen: Some((0.1, 2.0)), ..QUIET }).unwrap();
        assert_eq!(doubt, "the hypervisor took 5 % of the time");
    }

    #[test]
    fn a_single_tick_in_a_short_round_is_not_a_robbery() {
        assert_eq!(doubt(Conditions { stolen: Some((0.01, 0.1)), ..QUIET }), None);
    }

    #[test]
    fn a_baseline_that_is_no_number_does_not_count() {
        assert!(doubt(Conditions { floors: (f64::NAN, 100.0), ..QUIET }).is_some());
    }

    #[test]
    fn a_round_beside_other_programs_does_not_count() {
        let doubt = |others| super::doubt(Conditions { others: Some(others), ..QUIET });
        assert_eq!(doubt((0.5, 2.0)).unwrap(), "other programs were on the CPUs for 25 % of the time");
        assert_eq!([doubt((0.2, 2.0)), doubt((0.04, 0.1)), doubt((-0.1, 2.0))], [None, None, None]);
    }

    #[test]
    fn a_baseline_of_another_kind_may_move_by_more() {
        let doubt = |may_move| super::doubt(Conditions { floors: (100.0, 120.0), may_move, ..QUIET });
        assert!(doubt(FLOOR_MAY_MOVE).is_some() && doubt(OTHERS_MAY_MOVE).is_none());
    }
}
