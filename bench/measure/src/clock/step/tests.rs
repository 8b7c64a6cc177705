use super::*;
use crate::clock;

/// Exchanges as they are seen when the replying thread's clock is ahead by `ahead` nanoseconds. Messages take 60 to
/// 560, different each way, and one in a hundred is delayed for long.
fn faked(ahead: i64, drift: i64) -> Offsets {
    let clock = clock::get();
    let ticks = |nanoseconds: i64| (nanoseconds as f64 / clock.tick()) as i64;
    let mut random = fastrand::Rng::with_seed(7);
    let mut way = || if random.u8(..) < 3 { 4_000_000 } else { random.i64(60..560) };
    let mut offsets = Offsets::ANY;
    let mut now = 1_000_000_000;
    for number in 0..EXCHANGES as i64 {
        let (there, back) = (way(), way());
        let between = now + there + ahead + drift * number;
        let reading = |nanoseconds: i64| ticks(nanoseconds).cast_unsigned();
        offsets.narrow(Exchange {
            before: reading(now),
            between: reading(between),
            after: reading(now + there + back),
        });
        now += 10_000;
    }
    offsets
}

fn judged(offsets: Offsets) -> InStep {
    offsets.judged(clock::get())
}

#[test]
fn clocks_in_step_are_found_in_step() {
    let InStep::Yes { low, high } = judged(faked(0, 0)) else { panic!("{:?}", judged(faked(0, 0))) };
    assert!(low < 0.0 && high > 0.0, "{low} to {high}");
    assert_eq!(judged(faked(0, 0)).one_way(), Ok(()));
}

#[test]
fn an_offset_of_500_ns_is_refused_whichever_clock_is_ahead() {
    for ahead in [500, -500] {
        let answer = judged(faked(ahead, 0));
        let InStep::No { low, high } = answer else { panic!("{answer:?}") };
        assert!(low <= ahead as f64 && ahead as f64 <= high, "{ahead}: {low} to {high}");
        let reason = answer.one_way().unwrap_err();
        assert!(reason.starts_with("One-way times cannot be told: the clocks of the two CPUs are out of step"));
        assert!(reason.ends_with(" ns."), "{reason}");
    }
}

#[test]
fn an_offset_below_the_time_of_a_message_cannot_be_distinguished_from_none() {
    assert!(matches!(judged(faked(30, 0)), InStep::Yes { low, high } if low < 30.0 && high > 30.0));
}

#[test]
fn the_same_is_found_out_from_either_side() {
    let (here, there) = (faked(500, 0), faked(-500, 0));
    let both = here.and_asked_from_the_other_side(there);
    assert!(matches!(judged(both), InStep::No { .. }));
    assert!(both.width() <= here.width());
    // Two sides that contradict each other.
    assert!(matches!(judged(here.and_asked_from_the_other_side(here)), InStep::Drifting { .. }));
    // A side that has seen nothing adds nothing.
    assert_eq!(here.and_asked_from_the_other_side(Offsets::ANY), Offsets { high: here.high, low: here.low });
}

#[test]
fn clocks_of_different_rates_are_refused() {
    let answer = judged(faked(-1_000, 1));
    assert!(matches!(answer, InStep::Drifting { by } if by > 0.0), "{answer:?}");
    assert!(answer.one_way().is_err());
}

#[test]
fn exchanges_that_took_too_long_prove_nothing() {
    let mut offsets = Offsets::ANY;
    assert!(matches!(judged(offsets), InStep::Unproven { .. }));
    let ticks = clock::get().ticks(1_000_000.0);
    offsets.narrow(Exchange { before: ticks, between: 2 * ticks, after: 3 * ticks });
    assert!(matches!(judged(offsets), InStep::Unproven { .. }));
    assert!(judged(offsets).one_way().is_err());
}

#[test]
fn readings_may_wrap_around() {
    let mut offsets = Offsets::ANY;
    offsets.narrow(Exchange { before: u64::MAX - 9, between: 10, after: 30 });
    assert_eq!(offsets, Offsets { low: -20, high: 20 });
}

#[test]
fn one_cpu_is_in_step_with_itself() {
    let place = Place::choose(None).unwrap().together();
    assert_eq!(in_step(place), &InStep::OneCpu);
    assert_eq!(one_way(place), &Ok(()));
}

#[test]
fn the_two_cpus_of_this_machine_are_compared_once() {
    let place = Place::choose(None).unwrap();
    assert!(!matches!(in_step(place), InStep::Untried { .. }), "{}", in_step(place));
    assert!(std::ptr::eq(in_step(place), in_step(place)));
}

#[test]
fn a_cpu_that_is_not_there_is_a_reason() {
    let answer = in_step(Place { first: Place::choose(None).unwrap().first, second: 1_000 });
    assert!(matches!(answer, InStep::Untried { .. }), "{answer:?}");
}
