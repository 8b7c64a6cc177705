//! Whether a round counts: its floor must stand still and nobody may take the CPUs away meanwhile. Pure.
//!
//! Cannot see what happened in the middle of a round and was over at its end.

/// How much two floors may differ, as a share of the smaller one.
pub const FLOOR_MAY_MOVE: f64 = 0.10;

/// How much of the time of the CPUs in use may be stolen by the hypervisor.
pub const STEAL_MAY_BE: f64 = 0.02;

/// Less than this, in seconds, is within the coarse ticks in which the system counts stolen time.
pub const STEAL_IS_SEEN_FROM: f64 = 0.02;

/// What is known about the conditions of one round.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// The floor at the beginning and at the end, in nanoseconds per message.
    pub floors: (f64, f64),
    /// Seconds stolen from the CPUs in use, and seconds they had together; nothing where the system does not tell.
    pub stolen: Option<(f64, f64)>,
}

/// Why a round should not count, in words; nothing if it should.
pub fn doubt(conditions: Conditions) -> Option<String> {
    let (before, after) = conditions.floors;
    let moved = (before - after).abs() / before.min(after);
    if moved.is_nan() || moved > FLOOR_MAY_MOVE {
        let by = match 1.0 + moved {
            times if times <= 2.0 => format!("moved by {:.0} %", moved * 100.0),
            times if after > before => format!("became {times:.1} times as slow"),
            times => format!("became {times:.1} times as quick"),
        };
        return Some(format!("the floor {by} ({before:.1} to {after:.1} ns)"));
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
    fn a_round_whose_floors_agree_counts() {
        assert_eq!(doubt(Conditions { floors: (100.0, 109.0), stolen: Some((0.0, 2.0)) }), None);
        assert_eq!(doubt(Conditions { floors: (109.0, 100.0), stolen: None }), None);
    }

    #[test]
    fn a_round_whose_floor_moved_is_doubted() {
        let doubt = |floors| super::doubt(Conditions { floors, stolen: None }).unwrap();
        assert_eq!(doubt((100.0, 120.0)), "the floor moved by 20 % (100.0 to 120.0 ns)");
        assert_eq!(doubt((58.0, 339.3)), "the floor became 5.9 times as slow (58.0 to 339.3 ns)");
        assert_eq!(doubt((300.0, 100.0)), "the floor became 3.0 times as quick (300.0 to 100.0 ns)");
    }

    #[test]
    fn a_round_that_was_robbed_is_doubted() {
        let doubt = doubt(Conditions { floors: (100.0, 100.0), stolen: Some((0.1, 2.0)) }).unwrap();
        assert_eq!(doubt, "the hypervisor took 5 % of the time");
    }

    #[test]
    fn a_single_tick_in_a_short_round_is_not_a_robbery() {
        assert_eq!(doubt(Conditions { floors: (100.0, 100.0), stolen: Some((0.01, 0.1)) }), None);
    }

    #[test]
    fn a_floor_that_is_no_number_is_doubted() {
        assert!(doubt(Conditions { floors: (f64::NAN, 100.0), stolen: None }).is_some());
    }
}
