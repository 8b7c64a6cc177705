//! Timers: their order, never early, cancelled in every situation, thousands of them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ysuite::hub::{Hub, TURN};

use crate::hub::Notes;
use crate::support::{Random, Tally, guarded};

/// Claim: Timers of the hub fire in order and never early.
#[test]
fn timers_ring_in_their_order_and_never_early() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        let notes = Notes::new();
        let start = Instant::now();
        for (number, micros) in [5_000, 300, 2_000, 0, 700, 2_000].into_iter().enumerate() {
            let (notes, time) = (notes.clone(), Duration::from_micros(micros));
            hub.after(time, move |_| {
                assert!(start.elapsed() >= time, "early");
                notes.note(number);
            });
        }
        // It returns by itself after the last of them.
        hub.run().unwrap();
        assert_eq!(notes.taken(), [3, 1, 4, 2, 5, 0]);
    });
}

#[test]
fn past_and_impossible_moments() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        let notes = Notes::new();
        let (first, second) = (notes.clone(), notes.clone());
        let never = hub.after(Duration::MAX, |_| panic!("the end of time"));
        let seldom = hub.every(Duration::MAX, |_| panic!("the end of time"));
        let past = Instant::now().checked_sub(Duration::from_millis(1)).unwrap();
        hub.at(Instant::now(), move |_| second.note(2));
        hub.at(past, move |_| first.note(1));
        assert_eq!(hub.run_once(Duration::MAX).unwrap(), 2);
        assert_eq!(notes.taken(), [1, 2]);
        assert_eq!(hub.timeout(), None);
        // What will never ring is nothing to wait for.
        hub.run().unwrap();
        assert!(hub.cancel(never) && !hub.cancel(never) && hub.cancel(seldom));
    });
}

/// By their moments they would ring the other way round.
#[test]
fn what_a_turn_sets_for_the_past_rings_in_its_order() {
    let mut hub = Hub::new().unwrap();
    let notes = Notes::new();
    let (first, second, third) = (notes.clone(), notes.clone(), notes.clone());
    let ago = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds)).unwrap();
    let sets = move |hub: &mut Hub| {
        hub.at(ago(1), move |_| first.note(1));
        hub.at(ago(3), move |_| second.note(2));
        hub.at(ago(2), move |_| third.note(3));
    };
    hub.handle().post(sets).unwrap();
    while notes.len() < 3 {
        hub.run_once(None).unwrap();
    }
    assert_eq!(notes.taken(), [1, 2, 3]);
}

#[test]
fn a_timer_set_by_a_timer_is_for_the_next_turn() {
    let mut hub = Hub::new().unwrap();
    let notes = Notes::new();
    fn again(hub: &mut Hub, notes: Notes<()>) {
        notes.note(());
        hub.after(Duration::ZERO, move |hub| again(hub, notes));
    }
    let first = notes.clone();
    hub.after(Duration::ZERO, move |hub| again(hub, first));
    for turns in 1..5 {
        assert_eq!(hub.run_once(None).unwrap(), 1);
        assert_eq!(notes.len(), turns);
    }
}

#[test]
fn a_periodic_timer_rings_until_it_is_cancelled_also_by_itself() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        let notes = Notes::new();
        let noted = notes.clone();
        let start = Instant::now();
        let period = Duration::from_micros(400);
        let timer = hub.every(period, move |hub| {
            noted.note(start.elapsed());
            if noted.len() == 5 {
                let this = hub.current_timer().unwrap();
                assert!(hub.cancel(this));
            }
        });
        hub.run().unwrap();
        let rung = notes.taken();
        assert_eq!(rung.len(), 5);
        assert!(rung.iter().enumerate().all(|(at, time)| *time >= period * (at as u32 + 1)), "early: {rung:?}");
        assert!(!hub.cancel(timer));
    });
}

#[test]
fn moments_that_have_passed_are_left_out() {
    let mut hub = Hub::new().unwrap();
    let notes = Notes::new();
    let noted = notes.clone();
    let timer = hub.every(Duration::from_micros(10), move |_| noted.note(()));
    std::thread::sleep(Duration::from_millis(5));
    hub.run_once(None).unwrap();
    assert_eq!(notes.len(), 1, "once, though hundreds of its moments have passed");
    hub.cancel(timer);
    // A period of nothing is once in every turn.
    let noted = notes.clone();
    hub.every(Duration::ZERO, move |_| noted.note(()));
    (0..3).for_each(|_| assert_eq!(hub.run_once(None).unwrap(), 1));
    assert_eq!(notes.len(), 4);
}

#[test]
fn a_timer_may_cancel_another_that_is_due() {
    let mut hub = Hub::new().unwrap();
    let tally = Tally::of(1);
    let message = tally.next();
    let second = hub.after(Duration::from_nanos(1), move |_| panic!("cancelled: {message:?}"));
    hub.after(Duration::ZERO, move |hub| assert!(hub.cancel(second)));
    // The first was set after the second, for an earlier moment.
    let past = Instant::now().checked_sub(Duration::from_secs(1)).unwrap();
    hub.at(past, move |hub| {
        hub.cancel(second);
    });
    std::thread::sleep(Duration::from_micros(10));
    assert!(catch_unwind(AssertUnwindSafe(|| hub.run_once(None))).is_err(), "cancelling it twice returns false");
    tally.assert_all_ended();
}

#[test]
fn thousands_of_timers_set_and_cancelled_at_random() {
    guarded(|| {
        const TIMERS: usize = 10_000;
        let mut hub = Hub::new().unwrap();
        let notes = Notes::new();
        let tally = Tally::of(TIMERS);
        let mut random = Random::new(7);
        let now = Instant::now();
        let mut set: Vec<_> = (0..TIMERS)
            .map(|number| {
                let (time, notes, message) = (random.below(3_000) as u64, notes.clone(), tally.next());
                let moment = now + Duration::from_micros(time);
                let timer = hub.at(moment, move |_| {
                    // Whole: a field alone would not capture the rest.
                    let message = &message;
                    assert_eq!(message.number, number);
                    notes.note((time, number));
                });
                Some((timer, time, number))
            })
            .collect();
        for _ in 0..TIMERS {
            let timer = random.below(TIMERS);
            if let Some((timer, ..)) = set[timer].take() {
                assert!(hub.cancel(timer));
            }
        }
        let mut expected: Vec<_> = set.into_iter().flatten().map(|(_, time, number)| (time, number)).collect();
        assert_eq!(tally.ended(), TIMERS - expected.len());
        expected.sort_unstable();
        hub.run().unwrap();
        assert_eq!(notes.taken(), expected);
        tally.assert_all_ended();
    });
}

#[test]
fn a_flood_of_timers_leaves_turns_to_others() {
    let mut hub = Hub::new().unwrap();
    let (handle, rung) = (hub.handle(), Arc::new(AtomicUsize::new(0)));
    for _ in 0..TURN * 5 {
        let rung = rung.clone();
        hub.after(Duration::ZERO, move |_| {
            rung.fetch_add(1, Ordering::Relaxed);
        });
    }
    let (notes, at) = (Notes::new(), rung.clone());
    let noted = notes.clone();
    std::thread::sleep(Duration::from_micros(1));
    assert_eq!(hub.run_once(None).unwrap(), TURN);
    handle.post(move |_| noted.note(at.load(Ordering::Relaxed))).unwrap();
    assert_eq!(hub.run_once(None).unwrap(), TURN + 1);
    assert_eq!(notes.taken(), [TURN]);
    drop(handle);
    hub.run().unwrap();
    assert_eq!(rung.load(Ordering::Relaxed), TURN * 5);
}

#[test]
fn a_timer_that_panics_takes_only_itself_down() {
    let mut hub = Hub::new().unwrap();
    let (tally, notes) = (Tally::of(2), Notes::new());
    let (once, every, noted) = (tally.next(), tally.next(), notes.clone());
    hub.after(Duration::ZERO, move |_| panic!("as the test wants it: {once:?}"));
    let periodic = hub.every(Duration::from_nanos(1), move |_| panic!("as the test wants it: {every:?}"));
    hub.after(Duration::from_nanos(2), move |_| noted.note(()));
    std::thread::sleep(Duration::from_micros(1));
    for _ in 0..2 {
        assert!(catch_unwind(AssertUnwindSafe(|| hub.run_once(None))).is_err());
    }
    assert_eq!(hub.run_once(None).unwrap(), 1);
    assert!(!hub.cancel(periodic));
    tally.assert_all_ended();
    assert_eq!(notes.len(), 1);
}

#[test]
fn timers_are_dropped_with_the_hub() {
    let tally = Tally::of(3);
    let mut hub = Hub::new().unwrap();
    let (one, two, three) = (tally.next(), tally.next(), tally.next());
    hub.after(Duration::from_secs(9), move |_| drop(one));
    hub.after(Duration::MAX, move |_| drop(two));
    hub.every(Duration::from_secs(9), move |_| panic!("too early for {three:?}"));
    drop(hub);
    tally.assert_all_ended();
}

#[test]
fn a_moment_missed_leaves_the_others_where_they_were() {
    // Late by half a period, and by more than one.
    for slept in [30, 50] {
        let mut hub = Hub::new().unwrap();
        let (period, before) = (Duration::from_millis(20), Instant::now());
        hub.every(period, |_| {});
        let after = Instant::now();
        std::thread::sleep(Duration::from_millis(slept));
        let mut earliest = after;
        let mut left = Duration::ZERO;
        // On a slow machine the next may have come already.
        while left.is_zero() {
            assert_eq!(hub.run_once(None).unwrap(), 1);
            earliest = Instant::now();
            left = hub.timeout().unwrap();
        }
        let (earliest, latest) = (earliest + left, Instant::now() + left);
        // A whole number of periods from the first, as precisely as that moment can be known.
        assert!(
            (1..100_000).any(|periods| before + period * periods <= latest && after + period * periods >= earliest)
        );
    }
}
