//! A timer under the model checker: each tick has one taker.

use std::time::{Duration, Instant};

use loom::thread;
use ysuite::timer;

use crate::model;

/// Claim: Each tick of a timer has one taker.
/// Also: suite timer::clones_share_the_ticks, suite integrations::tokio::tasks_share_a_timer.
#[test]
fn one_of_several_takers_gets_the_tick() {
    let due = Instant::now();
    model(move || {
        let timer = timer::at(due);
        let threads = [timer.clone(), timer.clone()].map(|timer| thread::spawn(move || timer.try_recv().is_ok()));
        let mine = timer.recv_timeout(Duration::ZERO).is_ok();
        let takers = threads.map(|thread| thread.join().unwrap()).into_iter().filter(|&taken| taken).count();
        assert_eq!(takers + usize::from(mine), 1);
        assert!(timer.is_empty());
    });
}
