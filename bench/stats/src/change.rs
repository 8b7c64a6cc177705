//! Whether a competitor has become slower or faster from one run of the program to another, or from one of two sessions
//! of one run to the other. Pure.
//!
//! Two runs share no rounds. The compared figure is the ratio to the baseline that both runs have measured. Its
//! confidence comes from drawing the rounds of both again and again. The plain time must have changed in the same
//! direction: a ratio alone also moves when only its baseline does.
//!
//! Medians alone also move when a machine disturbs one run more than the other, and a disturbance makes slower. So the
//! quicker rounds must have changed in the same direction: the quarter is compared in addition to the medians.
//!
//! If a baseline itself has moved by more than a quarter, the machine was in another state (for example its two CPUs
//! are now on other cores), and times move with that, each in its own way. Then a change is called only if the state
//! does not explain it: the time has changed against the state, or by more than the square of the state's change. A
//! message takes several ways between the CPUs, some of them waiting for others, so times move by more than the
//! baseline. Wake-ups have states of their own, which no baseline shows: there the competitors of others show them. A
//! common change of all of them is no change of one.
//!
//! What changes from one run of the program to the next on an unchanged machine is in no interval, but the unrelated
//! competitors show it as well. A change must be larger than theirs, and so certain that hundreds of comparisons do not
//! call one by chance: an interval half as wide again must exclude that there is none. Where too few others show it, only a
//! factor of two is called: on a quiet virtual machine two runs of one binary were up to 1.7 times apart. Turns show less,
//! because there each factor is that of two rounds within moments.

use crate::{DIFFERENCE, Interval, LEAST_ROUNDS, Rank, Spread};

/// The difference between the baselines of two runs, as a share of the smaller one, that makes another state.
pub const STATE_MAY_MOVE: f64 = 0.25;

/// The figures of one run for one competitor.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The ratio to the baseline, in each round that counts.
    pub ratios: Vec<f64>,
    /// Nanoseconds per unit, in each round that counts.
    pub times: Vec<f64>,
    /// Nanoseconds of both baselines: the state of the machine.
    pub floor: f64,
    pub limit: f64,
    /// Rounds without a warning.
    pub sound: usize,
    /// Whether other programs or the hypervisor took the CPUs away.
    pub busy: bool,
}

/// The share by which a competitor must have changed, and up to which there may be a change where none is called.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    pub called: f64,
    pub unseen: f64,
}

impl Threshold {
    /// A change of any size that can be told from chance; and none, if it is no more than what nobody calls slower,
    /// twice.
    pub const ANY: Self = Self { called: 0.05, unseen: 2.0 * DIFFERENCE };

    /// More than this share, as the user wants it.
    pub const fn beyond(share: f64) -> Self {
        Self { called: share, unseen: 2.0 * share }
    }
}

/// The factors of other, unrelated competitors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Others {
    /// By which the machine has changed for all of them.
    pub median: f64,
    /// The least factor that can be told from the differences among them.
    pub apart: f64,
    /// Whether they are enough to show what the machine did.
    pub enough: bool,
}

impl Others {
    /// Fewer than this say nothing about the machine.
    const ENOUGH: usize = 5;

    /// What may change from one run to the next without anybody seeing it.
    const UNSEEN: f64 = 2.0;

    /// A change that is as large as that of one in ten of the others is nothing special.
    const NINE_TENTHS: f64 = 0.9;

    /// With less than this much between the change and theirs, it may be the next in their row.
    const BEYOND_THEM: f64 = 1.5;

    pub fn of(times: &[f64]) -> Self {
        let Some(median) = Spread::of(times).filter(|_| times.len() >= Self::ENOUGH).map(|spread| spread.median) else {
            return Self { median: 1.0, apart: Self::UNSEEN, enough: false };
        };
        let mut far: Vec<f64> = times.iter().map(|one| (one / median).ln().abs()).collect();
        far.sort_by(f64::total_cmp);
        let at = ((far.len() as f64 * Self::NINE_TENTHS).ceil() as usize).clamp(1, far.len()) - 1;
        Self { median, apart: (far[at] * Self::BEYOND_THEM).exp(), enough: true }
    }

    /// Whether this factor is as ordinary as theirs.
    fn include(self, factor: f64) -> bool {
        (factor / self.median).ln().abs() <= self.apart.ln()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Faster,
    Slower,
    /// Less than the threshold allows unseen, or a move of the baseline alone. That does not rule out a change.
    NoneSeen,
    /// Both runs have the same figures: they are one.
    Same,
    /// The machine had other work in one of the runs.
    Busy,
    /// The figures scatter so that there may have been a change, or the ratio and the time contradict each other.
    Unclear,
    /// Either run has too few rounds without a warning.
    TooFewRounds,
    /// The machine's own times have moved, and may have moved everything else with it.
    OtherState,
    /// The machine may have done it, and too few others took part to show that.
    Alone,
}

impl Change {
    /// Whether it is no verdict.
    pub fn is_undecided(self) -> bool {
        matches!(self, Self::Unclear | Self::TooFewRounds | Self::OtherState | Self::Alone | Self::Busy)
    }

    pub fn in_words(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "SLOWER",
            Self::NoneSeen => "no change called",
            Self::Same => "no change: the same figures",
            Self::Busy => "cannot tell: the machine was busy",
            Self::Unclear => "cannot tell: the figures scatter or contradict each other",
            Self::TooFewRounds => "cannot tell: too few rounds",
            Self::OtherState => "cannot tell: the machine was in another state",
            Self::Alone => "cannot tell from two results (ybench ab can)",
        }
    }
}

/// The verdict, and the factor by which the ratio to the baseline has grown. `None` if either run has no figures.
pub fn change(old: &Measured, new: &Measured, others: Others, threshold: Threshold) -> Option<(Change, Interval)> {
    let times = Interval::of_quotient(&new.ratios, &old.ratios)?;
    if (&old.ratios, &old.times) == (&new.ratios, &new.times) {
        return Some((Change::Same, Interval { low: 1.0, median: 1.0, high: 1.0 }));
    }
    let without_a_verdict = match () {
        () if old.busy || new.busy => Some(Change::Busy),
        () if old.sound.min(new.sound) < LEAST_ROUNDS => Some(Change::TooFewRounds),
        () => None,
    };
    if let Some(undecided) = without_a_verdict {
        return Some((undecided, times));
    }
    let quick = Interval::quotient(&new.ratios, &old.ratios, Rank::Quarter)?;
    let plain = Interval::of_quotient(&new.times, &old.times)?;
    let agreed = |threshold| match (relative([times, quick], others, threshold), direction(plain, threshold)) {
        (called @ (Change::Slower | Change::Faster), _) if towards(plain) == called => called,
        (undecided @ (Change::OtherState | Change::Alone), _) => undecided,
        (Change::Unclear, _) | (_, Change::Unclear) => Change::Unclear,
        (Change::Slower, Change::Faster) | (Change::Faster, Change::Slower) => Change::Unclear,
        _ => Change::NoneSeen,
    };
    if same_state(old.floor, new.floor) && same_state(old.limit, new.limit) {
        return Some((agreed(threshold), times));
    }
    let (floor, limit) = (new.floor / old.floor, new.limit / old.limit);
    let moved = if floor.ln().abs() > limit.ln().abs() { floor } else { limit };
    let against = if moved < 1.0 { Change::Slower } else { Change::Faster };
    let explained = moved.max(1.0 / moved).powi(2);
    let beyond_that = Threshold {
        called: (1.0 + threshold.called) * explained - 1.0,
        unseen: (1.0 + threshold.unseen) * explained - 1.0,
    };
    let change = match (agreed(threshold), agreed(beyond_that)) {
        (change, _) if change == against => change,
        (_, change @ (Change::Slower | Change::Faster)) => change,
        _ => Change::OtherState,
    };
    Some((change, times))
}

/// The change of the ratio to the baseline, by its median and by its quarter.
fn relative([times, quick]: [Interval; 2], others: Others, threshold: Threshold) -> Change {
    let called = match direction(times, threshold) {
        called @ (Change::Slower | Change::Faster) => called,
        seen => return seen,
    };
    match called {
        _ if towards(half_as_wide_again(times)) != called || towards(quick) != called => Change::Unclear,
        _ if direction(times.over(others.median), threshold) != called => Change::OtherState,
        _ if others.include(times.median) => {
            if others.enough {
                Change::OtherState
            } else {
                Change::Alone
            }
        }
        called => called,
    }
}

/// The verdict on pairs of rounds by turns, from one factor for each start of both programs. In the interval of its median
/// is whatever changes from start to start.
pub fn by_turns(factors: &[f64], threshold: Threshold) -> Option<(Change, Interval)> {
    let times = Interval::of(factors)?;
    let change = match direction(times, threshold) {
        _ if factors.len() < LEAST_ROUNDS => Change::TooFewRounds,
        called @ (Change::Slower | Change::Faster) if towards(half_as_wide_again(times)) != called => Change::Unclear,
        change => change,
    };
    Some((change, times))
}

/// The interval of a factor at one and a half times the distance.
fn half_as_wide_again(times: Interval) -> Interval {
    let Interval { low, median, high } = times;
    let further = |bound: f64| bound * (bound / median).sqrt();
    Interval { low: further(low), median, high: further(high) }
}

/// The direction of a change of whatever size.
fn towards(times: Interval) -> Change {
    direction(times, Threshold { called: 0.0, unseen: 0.0 })
}

/// The same for two sessions of one run, measured in direct sequence: their plain times are compared, and rounds with
/// warnings count as well. With the factor by which `new` takes longer by the medians.
pub fn within_a_run(old: &Measured, new: &Measured, threshold: f64) -> Option<(Change, f64)> {
    let times = Interval::of_quotient(&new.times, &old.times)?;
    let change = match direction(times, Threshold::beyond(threshold)) {
        _ if old.times.len().min(new.times.len()) < LEAST_ROUNDS => Change::TooFewRounds,
        _ if !same_state(old.floor, new.floor) => Change::OtherState,
        change => change,
    };
    Some((change, times.median))
}

/// Whether baselines of these nanoseconds are those of a machine in one state.
pub fn same_state(one: f64, other: f64) -> bool {
    (one - other).abs() / one.min(other) <= STATE_MAY_MOVE
}

/// A change is called when the whole interval is beyond the threshold. "None" is called when the interval excludes a
/// change that must not be unseen: half as long again or a third shorter is not the same.
fn direction(times: Interval, threshold: Threshold) -> Change {
    let (more, much_more) = (1.0 + threshold.called, 1.0 + threshold.unseen);
    match times {
        times if times.low > more => Change::Slower,
        times if times.high < 1.0 / more => Change::Faster,
        times if times.high > much_more || times.low < 1.0 / much_more => Change::Unclear,
        _ => Change::NoneSeen,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TENTH: Threshold = Threshold::beyond(DIFFERENCE);
    /// Others that have not changed at all.
    const STILL: Others = Others { median: 1.0, apart: 1.0, enough: true };

    /// A run of 12 rounds: a competitor that takes `time`, on a machine that is `slow` times slower, with a baseline of
    /// 10.
    fn run(dice: &mut fastrand::Rng, time: f64, slow: f64) -> Measured {
        let mut times = Vec::new();
        let mut noisy = |value: f64| value * slow * (1.0 + 0.12 * (dice.f64() - 0.5));
        let ratios = (0..12).map(|_| {
            times.push(noisy(time));
            times[times.len() - 1] / noisy(10.0)
        });
        Measured { ratios: ratios.collect(), times, floor: 10.0 * slow, limit: 10.0 * slow, sound: 12, busy: false }
    }

    fn called(change_by: f64, slow: f64) -> Vec<Change> {
        let one = |seed| {
            let mut dice = fastrand::Rng::with_seed(seed);
            let (old, new) = (run(&mut dice, 30.0, 1.0), run(&mut dice, 30.0 * change_by, slow));
            change(&old, &new, STILL, TENTH).unwrap().0
        };
        (0..100).map(one).collect()
    }

    #[test]
    fn what_has_not_changed_is_not_called_in_100_of_100() {
        assert_eq!(called(1.0, 1.0), [Change::NoneSeen; 100]);
        // Within the state that counts as the same.
        assert_eq!(called(1.0, 1.2), [Change::NoneSeen; 100]);
    }

    #[test]
    fn a_regression_of_30_percent_is_called_in_100_of_100() {
        assert_eq!(called(1.3, 1.0), [Change::Slower; 100]);
        assert_eq!(called(1.0 / 1.3, 1.0), [Change::Faster; 100]);
    }

    #[test]
    fn what_another_state_may_have_done_is_not_called() {
        // Slower in both measures, on a slower machine; slower in one and quicker in the other.
        for (change_by, slow) in [(1.0, 2.0), (1.6, 1.5), (0.6, 0.5), (1.6, 0.5), (1.0, 0.5)] {
            assert_eq!(called(change_by, slow), [Change::OtherState; 100], "{change_by} {slow}");
        }
    }

    #[test]
    fn what_has_changed_against_the_state_is_called() {
        assert_eq!(called(2.4, 0.6), [Change::Slower; 100]);
        assert_eq!(called(0.4, 1.6), [Change::Faster; 100]);
    }

    #[test]
    fn what_no_state_explains_is_called() {
        assert_eq!(called(4.0, 1.4), [Change::Slower; 100]);
        assert_eq!(called(0.25, 0.7), [Change::Faster; 100]);
    }

    #[test]
    fn a_baseline_that_has_moved_alone_is_no_change_of_the_competitor() {
        let mut dice = fastrand::Rng::with_seed(3);
        let (old, mut new) = (run(&mut dice, 30.0, 1.0), run(&mut dice, 30.0, 1.0));
        new.ratios.iter_mut().for_each(|ratio| *ratio *= 1.4);
        assert_eq!(change(&old, &new, STILL, TENTH).unwrap().0, Change::NoneSeen);
    }

    #[test]
    fn a_ratio_and_a_time_that_contradict_each_other_are_not_taken_for_equal() {
        let mut dice = fastrand::Rng::with_seed(3);
        let (old, mut new) = (run(&mut dice, 30.0, 1.0), run(&mut dice, 30.0, 1.0));
        new.ratios.iter_mut().for_each(|ratio| *ratio *= 1.4);
        new.times.iter_mut().for_each(|time| *time /= 1.4);
        assert_eq!(change(&old, &new, STILL, TENTH).unwrap().0, Change::Unclear);
    }

    #[test]
    fn what_scatters_is_not_taken_for_equal() {
        let mut dice = fastrand::Rng::with_seed(4);
        let (old, mut new) = (run(&mut dice, 30.0, 1.0), run(&mut dice, 30.0, 1.0));
        for (at, (ratio, time)) in new.ratios.iter_mut().zip(&mut new.times).enumerate() {
            let scattered = if at % 2 == 0 { 0.6 } else { 5.0 };
            (*ratio, *time) = (*ratio * scattered, *time * scattered);
        }
        assert_eq!(change(&old, &new, STILL, TENTH).unwrap().0, Change::Unclear);
    }

    #[test]
    fn a_run_that_was_disturbed_more_is_not_slower_where_its_quick_rounds_are_not() {
        let mut dice = fastrand::Rng::with_seed(5);
        let (old, mut new) = (run(&mut dice, 30.0, 1.0), run(&mut dice, 30.0, 1.0));
        for (ratio, time) in new.ratios.iter_mut().zip(&mut new.times).skip(4) {
            (*ratio, *time) = (*ratio * 2.0, *time * 2.0);
        }
        assert_eq!(change(&old, &new, STILL, TENTH).unwrap().0, Change::Unclear);
    }

    #[test]
    fn what_all_others_have_done_as_well_is_no_change_of_one() {
        let mut dice = fastrand::Rng::with_seed(6);
        let (old, new) = (run(&mut dice, 30.0, 1.0), run(&mut dice, 45.0, 1.0));
        let beside = |median| change(&old, &new, Others { median, ..STILL }, TENTH).unwrap().0;
        assert_eq!([1.0, 1.45, 0.7].map(beside), [Change::Slower, Change::OtherState, Change::Slower]);
    }

    #[test]
    fn what_is_no_more_than_the_others_have_done_is_not_called() {
        let quiet = Others::of(&[0.99, 1.0, 1.01, 1.02, 0.98, 1.0]);
        assert!(quiet.apart > 1.02 && quiet.apart < 1.04, "{quiet:?}");
        let restless = Others::of(&[0.7, 1.0, 1.5, 1.0, 1.02, 0.98]);
        assert!(restless.include(1.5) && !restless.include(2.0), "{restless:?}");
        // Too few to show what the machine does: only a factor of two is called.
        let few = Others::of(&[1.0; 4]);
        let mut dice = fastrand::Rng::with_seed(8);
        let called = [1.7, 2.6].map(|times| {
            let (old, new) = (run(&mut dice, 30.0, 1.0), run(&mut dice, 30.0 * times, 1.0));
            change(&old, &new, few, TENTH).unwrap().0
        });
        assert_eq!(called, [Change::Alone, Change::Slower]);
        assert!(Change::Alone.is_undecided());
        let mut dice = fastrand::Rng::with_seed(8);
        let (old, new) = (run(&mut dice, 30.0, 1.0), run(&mut dice, 45.0, 1.0));
        let beside = |others| change(&old, &new, others, TENTH).unwrap().0;
        assert_eq!([quiet, restless].map(beside), [Change::Slower, Change::OtherState]);
    }

    #[test]
    fn a_busy_machine_tells_nothing_and_one_run_is_the_same_as_itself() {
        let mut dice = fastrand::Rng::with_seed(9);
        let (old, new) = (run(&mut dice, 30.0, 1.0), run(&mut dice, 300.0, 1.0));
        let call = |old: &Measured, new: &Measured| change(old, new, STILL, TENTH).unwrap().0;
        let busy = |one: &Measured| Measured { busy: true, ..one.clone() };
        assert_eq!(call(&old, &new), Change::Slower);
        assert_eq!([call(&busy(&old), &new), call(&old, &busy(&new))], [Change::Busy; 2]);
        assert_eq!([call(&old, &old), call(&busy(&old), &busy(&old))], [Change::Same; 2]);
        let few = Measured { sound: 1, ..old.clone() };
        assert_eq!(call(&few, &few), Change::Same);
        assert!(Change::Busy.is_undecided() && !Change::Same.is_undecided());
    }

    #[test]
    fn a_limit_in_another_state_is_a_state() {
        let mut dice = fastrand::Rng::with_seed(7);
        let (old, new) = (run(&mut dice, 30.0, 1.0), run(&mut dice, 45.0, 1.0));
        let new = Measured { limit: 14.0, ..new };
        assert_eq!(change(&old, &new, STILL, TENTH).unwrap().0, Change::OtherState);
    }

    #[test]
    fn by_turns_every_start_is_one_figure() {
        let even = [1.02, 0.97, 1.0, 1.03, 0.99, 1.01, 0.98, 1.0];
        let called = |times: f64| by_turns(&even.map(|one| one * times), Threshold::beyond(0.05)).unwrap().0;
        assert_eq!([1.0, 1.1, 1.0 / 1.1].map(called), [Change::NoneSeen, Change::Slower, Change::Faster]);
        // One start in another state hides nothing and makes nothing, and half of them decide nothing.
        let with = |times: f64, few: usize| {
            let factors: Vec<f64> = (0..10).map(|at| if at < few { times } else { even[at % 8] }).collect();
            by_turns(&factors, Threshold::beyond(0.05)).unwrap().0
        };
        assert_eq!([with(3.0, 1), with(3.0, 5)], [Change::NoneSeen, Change::Unclear]);
        assert_eq!(by_turns(&[2.0; 4], Threshold::ANY).unwrap().0, Change::TooFewRounds);
        assert!(by_turns(&[], Threshold::ANY).is_none());
    }

    #[test]
    fn few_rounds_say_nothing_and_none_even_less() {
        let mut dice = fastrand::Rng::with_seed(1);
        let (old, mut new) = (run(&mut dice, 30.0, 1.0), run(&mut dice, 300.0, 1.0));
        new.sound = LEAST_ROUNDS - 1;
        assert_eq!(change(&old, &new, STILL, TENTH).unwrap().0, Change::TooFewRounds);
        new.ratios.clear();
        assert!(change(&old, &new, STILL, TENTH).is_none());
    }

    fn of(times: &[f64]) -> Measured {
        Measured { ratios: Vec::new(), times: times.to_vec(), floor: 50.0, limit: 50.0, sound: 0, busy: false }
    }

    fn beside(old: &[f64], new: &[f64]) -> Change {
        within_a_run(&of(old), &of(new), DIFFERENCE).unwrap().0
    }

    #[test]
    fn in_one_run_what_lies_apart_is_called_however_far_its_outliers_lie() {
        let (low, high) = ([10.0, 11.0, 12.0, 13.0, 10.5], [20.0, 21.0, 400.0, 23.0, 19.0]);
        assert_eq!(beside(&high, &low), Change::Faster);
        assert_eq!(beside(&low, &high), Change::Slower);
        // Of nine, one may be on the other side.
        let but_one = [10.0, 11.0, 12.0, 13.0, 10.5, 12.5, 11.5, 13.5, 40.0];
        assert_eq!(beside(&but_one, &high), Change::Slower);
    }

    #[test]
    fn in_one_run_what_is_mixed_or_nearly_the_same_is_not_called() {
        assert_eq!(beside(&[10.0, 30.0, 20.0, 25.0, 12.0], &[15.0, 22.0, 9.0, 40.0, 13.0]), Change::Unclear);
        assert_eq!(beside(&[10.0; 5], &[10.5; 5]), Change::NoneSeen);
        assert_eq!(beside(&[10.0; 5], &[10.0; 5]), Change::NoneSeen);
    }

    #[test]
    fn in_one_run_few_rounds_and_another_state_are_said() {
        assert_eq!(beside(&[1.0; 4], &[2.0; 9]), Change::TooFewRounds);
        let moved = Measured { floor: 100.0, ..of(&[2.0; 5]) };
        assert_eq!(within_a_run(&of(&[1.0; 5]), &moved, DIFFERENCE).unwrap().0, Change::OtherState);
        assert!(within_a_run(&of(&[]), &of(&[1.0; 5]), DIFFERENCE).is_none());
    }

    #[test]
    fn the_threshold_decides_and_the_interval_is_around_the_truth() {
        let mut dice = fastrand::Rng::with_seed(2);
        let (old, new) = (run(&mut dice, 30.0, 1.0), run(&mut dice, 39.0, 1.0));
        let (verdict, times) = change(&old, &new, STILL, Threshold::beyond(0.5)).unwrap();
        assert_eq!(verdict, Change::NoneSeen);
        assert!(times.low < 1.3 && 1.3 < times.high, "{times:?}");
    }
}
