//! Suite: crossbeam-channel tests/tick.rs; upstream 14, carried over here 14, excluded 0.

use std::thread;
use std::time::Instant;

use ysuite::TryRecvError;
use ysuite::timer::{self, tick};

use crate::common::timers;
use crate::tools::SHORT;

carried! {
    fire => timers::fires(tick);
    intervals => ticks_that_were_missed;
    capacity => timers::room_for_one(tick);
    len_empty_full => timers::empty_and_full(tick);
    try_recv => timers::asked(tick);
    recv => several_in_a_row;
    recv_timeout => timers::waited_for(tick);
    recv_two => timers::two_for_two(tick);
    recv_race => timers::the_sooner(tick);
    stress_default => timers::without_waiting(tick);
    select => timers::many_periods_many_threads;
    ready => timers::many_periods_many_threads;
    fairness => timers::each_has_its_turn(tick);
    fairness_duplicates => timers::places_have_their_turns(tick);
}

/// Of the missed ticks one is there, the first; the next is the first one in the future.
fn ticks_that_were_missed() {
    let period = SHORT * 100;
    let ticks = timer::tick(period);
    let first = ticks.recv().unwrap();
    let asleep = Instant::now();
    thread::sleep(period * 3);
    let awake = Instant::now();
    let second = ticks.try_recv().unwrap();
    assert!(second > first && second <= asleep + period, "the first of those that were missed");
    let next = ticks.recv().unwrap();
    assert!(next > awake && next >= first + period * 4, "three periods were slept away");
    for tick in [second, next] {
        assert_eq!((tick - first).as_nanos() % period.as_nanos(), 0);
    }
}

/// Ticks come one by one, each one or several periods after the last.
fn several_in_a_row() {
    let period = SHORT * 2;
    let ticks = timer::tick(period);
    let mut last = ticks.recv().unwrap();
    for tick in ticks.iter().take(5) {
        assert!(tick >= last + period);
        last = tick;
    }
    let never = timer::never();
    assert_eq!(never.try_recv(), Err(TryRecvError::Empty));
}
