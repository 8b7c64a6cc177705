//! Suite: crossbeam-channel tests/never.rs; upstream 7, carried over here 6, excluded 0.

use std::time::Duration;

use ysuite::timer;
use ysuite::{RecvTimeoutError, TryRecvError};

use crate::common::timers::first_of;
use crate::tools::SHORT;

carried! {
    smoke => nothing_is_due;
    optional => in_the_place_of_another;
    tick_n => no_more_ticks;
    len_empty_full => always_empty;
    try_recv => nothing_is_due;
    recv_timeout => waited_for_in_vain;
}

fn nothing_is_due() {
    let never = timer::never();
    assert_eq!(first_of(&[&never], Duration::ZERO), None);
    assert_eq!(never.try_recv(), Err(TryRecvError::Empty));
}

fn in_the_place_of_another() {
    let never = timer::never();
    let due = timer::after(Duration::ZERO);
    for wanted in [Some(&due), None] {
        assert_eq!(first_of(&[wanted.unwrap_or(&never)], SHORT).is_some(), wanted.is_some());
    }
}

fn no_more_ticks() {
    let mut ticks = timer::tick(SHORT);
    let mut steps = 0;
    while steps < 10 {
        ticks.recv().unwrap();
        steps += 1;
        if steps == 10 {
            ticks = timer::never();
        }
    }
    assert_eq!(ticks.recv_timeout(SHORT * 5), Err(RecvTimeoutError::Timeout));
}

fn always_empty() {
    let never = timer::never();
    assert_eq!((never.len(), never.is_empty()), (0, true));
}

fn waited_for_in_vain() {
    let never = timer::never();
    (0..2).for_each(|_| assert_eq!(never.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout)));
}
