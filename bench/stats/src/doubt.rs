//! Whether a round counts: its baseline must be steady and the CPUs must not be taken away meanwhile. Pure.
//!
//! Cannot detect an event in the middle of a round that was over at its end.

/// The largest difference of two baselines, as a share of the smaller one.
pub const FLOOR_MAY_MOVE: f64 = 0.10;

/// The largest share of the time of the CPUs in use that the hypervisor may take.
pub const STEAL_MAY_BE: f64 = 0.02;

/// Less than this, in seconds, is within the coarse ticks in which the system counts stolen time.
pub const STEAL_IS_SEEN_FROM: f64 = 0.02;

/// The conditions of one round.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// The baseline at the beginning and at the end, in nanoseconds per message.
    pub floors: (f64, f64),
    /// Seconds stolen from the CPUs in use, and their total seconds. Nothing where the system does not report them.
    pub stolen: Option<(f64, f64)>,
}

/// The reason why a round should not count, in words. Nothing if it should.
pub fn doubt(conditions: Conditions) -> Option<String> {
    let (before, after) = conditions.floors;
    let moved = (before - after).abs() / before.min(after);
    if moved.is_nan() || moved > FLOOR_MAY_MOVE {
        let by = match 1.0 + moved {
            times if times <= 2.0 => format!("moved by {:.0} %", moved * 100.0),
            times if after > before => format!("became {times:.1} times as slow"),
            times => format!("became {times:.1} times as quick"),
        };
        return Some(format!("the baseline {by} ({before:.1} to {after:.1} ns)"));
    }
    let (stolen, had) = conditions.stolen?;
    let share = stolen / had;
    if stolen >= STEAL_IS_SEEN_FROM && share > STEAL_MAY_BE {
        return Some(format!("the hypervisor took {:.0} % of the time", share * 100.0));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_whose_baselines_agree_counts() {
        assert_eq!(doubt(Conditions { floors: (100.0, 109.0), stolen: Some((0.0, 2.0)) }), None);
        assert_eq!(doubt(Conditions { floors: (109.0, 100.0), stolen: None }), None);
    }

    #[test]
    fn a_round_whose_baseline_moved_does_not_count() {
        let doubt = |floors| super::doubt(Conditions { floors, stolen: None }).unwrap();
        assert_eq!(doubt((100.0, 120.0)), "the baseline moved by 20 % (100.0 to 120.0 ns)");
        assert_eq!(doubt((58.0, 339.3)), "the baseline became 5.9 times as slow (58.0 to 339.3 ns)");
        assert_eq!(doubt((300.0, 100.0)), "the baseline became 3.0 times as quick (300.0 to 100.0 ns)");
    }

    #[test]
    fn a_round_with_stolen_time_does_not_count() {
        let doubt = doubt(Conditions { floors: (100.0, 100.0), stolen: Some((0.1, 2.0)) }).unwrap();
        assert_eq!(doubt, "the hypervisor took 5 % of the time");
    }

    #[test]
    fn a_single_tick_in_a_short_round_is_not_a_robbery() {
        assert_eq!(doubt(Conditions { floors: (100.0, 100.0), stolen: Some((0.01, 0.1)) }), None);
    }

    #[test]
    fn a_baseline_that_is_no_number_does_not_count() {
        assert!(doubt(Conditions { floors: (f64::NAN, 100.0), stolen: None }).is_some());
    }
}
