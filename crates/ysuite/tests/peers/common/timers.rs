//! Timers as channels. Those that are never due in a test are due in a minute.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ysuite::signal::ReadySet;
use ysuite::timer::{self, Timer};
use ysuite::{RecvTimeoutError, TryRecvError};

use crate::tools::{LONG, SHORT, each};

/// How a timer is made: `after` or `tick`.
pub(crate) type Make = fn(Duration) -> Timer;

/// A tick is received when it is due, not before, and says when that was.
pub(crate) fn fires(make: Make) {
    let start = Instant::now();
    let late = make(LONG);
    assert_eq!(late.try_recv(), Err(TryRecvError::Empty));
    let soon = make(SHORT * 5);
    let fired = soon.recv().unwrap();
    assert!(start + SHORT * 5 <= fired && fired <= Instant::now());
    assert_eq!(late.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(first_of(&[&late, &make(SHORT)], LONG), Some(1));
    assert_eq!(first_of(&[&late], Duration::ZERO), None);
}

/// The index of one that has given its tick to this wait; `None` when the time is up.
pub(crate) fn first_of(timers: &[&Timer], limit: Duration) -> Option<usize> {
    let mut select = ReadySet::with_capacity(timers.len().max(1));
    let ids: Vec<_> = timers.iter().map(|timer| select.add_timer(timer).unwrap()).collect();
    let deadline = Instant::now() + limit;
    loop {
        let id = select.wait_deadline(deadline)?;
        let named = ids.iter().position(|&other| other == id).expect("a timer of this wait");
        if timers[named].try_recv().is_ok() {
            return Some(named);
        }
    }
}

/// Room for one tick, at any time.
pub(crate) fn room_for_one(make: Make) {
    for milliseconds in 0..10 {
        assert_eq!(make(Duration::from_millis(milliseconds)).capacity(), Some(1));
    }
}

/// Empty before, full when it is due, empty again when it has been received.
pub(crate) fn empty_and_full(make: Make) {
    let says = |timer: &Timer| (timer.len(), timer.is_empty(), timer.is_full());
    let late = make(LONG);
    assert_eq!(says(&late), (0, true, false));
    let soon = make(SHORT * 200);
    while soon.is_empty() {
        thread::sleep(SHORT);
    }
    assert_eq!(says(&soon), (1, false, true));
    let taken = soon.try_recv().unwrap();
    while says(&soon) != (0, true, false) {
        assert_later(&soon, taken);
    }
}

/// A tick that is there when `taken` has been is a later one: a thread that was kept waiting may find another at any moment.
fn assert_later(timer: &Timer, taken: Instant) {
    if let Ok(due) = timer.try_recv() {
        assert!(due > taken && due <= Instant::now());
    }
}

/// Asked before it is due and afterwards; each tick is there once.
pub(crate) fn asked(make: Make) {
    let late = make(LONG);
    assert!(late.try_recv().is_err());
    let soon = make(SHORT * 200);
    thread::sleep(SHORT * 200);
    let taken = soon.try_recv().unwrap();
    assert_later(&soon, taken);
    assert!(late.try_recv().is_err());
}

/// Waiting with a limit: too short, long enough.
pub(crate) fn waited_for(make: Make) {
    let start = Instant::now();
    assert_eq!(make(LONG).recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
    let soon = make(SHORT * 20);
    let fired = soon.recv_timeout(LONG).unwrap();
    assert!(fired >= start + SHORT * 20);
    assert!(soon.recv_deadline(fired).is_err() || soon.recv().is_ok());
}

/// Two threads, each waiting for either of two timers: each has one tick.
pub(crate) fn two_for_two(make: Make) {
    let (a, b) = (make(SHORT * 5), make(SHORT * 5));
    each(0..2, |_| assert!(first_of(&[&a, &b], LONG).is_some()));
}

/// The timer that is due first is reported first, at any position.
pub(crate) fn the_sooner(make: Make) {
    assert_eq!(first_of(&[&make(SHORT), &make(LONG)], LONG), Some(0));
    assert_eq!(first_of(&[&make(LONG), &make(SHORT)], LONG), Some(1));
}

/// Without waiting: what is due at once is found, what is not is not.
pub(crate) fn without_waiting(make: Make) {
    for _ in 0..10 {
        assert_eq!(first_of(&[&make(Duration::ZERO)], LONG), Some(0));
        assert_eq!(first_of(&[&make(LONG)], Duration::ZERO), None);
    }
}

/// Several threads take the single ticks of many timers, until there are none: each is taken once.
pub(crate) fn many_timers_many_threads() {
    const TIMERS: u32 = 100;
    let timers: Vec<_> = (0..TIMERS).map(|at| timer::after(SHORT * at / 10)).collect();
    let all: Vec<_> = timers.iter().collect();
    let hits = AtomicUsize::new(0);
    each(0..4, |_| {
        // The last is not taken; it is due long after all others.
        while first_of(&all, SHORT * 50).is_some() {
            hits.fetch_add(1, Ordering::Relaxed);
        }
    });
    assert_eq!(hits.into_inner() + timers.iter().flat_map(Timer::try_iter).count(), TIMERS as usize);
}

/// Several threads take the ticks of many periods, until a number of ticks.
pub(crate) fn many_periods_many_threads() {
    const TICKS: usize = 400;
    let timers: Vec<_> = (1..=20).map(|at| timer::tick(Duration::from_micros(50 * at))).collect();
    let all: Vec<_> = timers.iter().collect();
    each(0..4, |_| (0..TICKS / 4).for_each(|_| assert!(first_of(&all, LONG).is_some())));
}

/// Clones come and go on many threads: one tick in all.
pub(crate) fn clones_share_the_tick() {
    for round in 0..50 {
        let timer = timer::after(Duration::from_micros(round));
        let ticks = AtomicUsize::new(0);
        each(0..4, |_| {
            let own = timer.clone();
            for _ in 0..20 {
                ticks.fetch_add(usize::from(own.try_recv().is_ok()), Ordering::Relaxed);
                drop(own.clone());
                thread::yield_now();
            }
        });
        assert_eq!(ticks.into_inner() + usize::from(timer.recv_timeout(SHORT).is_ok()), 1);
    }
}

/// Of several that are due each has its turn: none has less than half its share.
pub(crate) fn each_has_its_turn(make: Make) {
    const ROUNDS: usize = 400;
    let mut hits = [0; 2];
    for _ in 0..ROUNDS {
        let (a, b) = (make(Duration::ZERO), make(Duration::ZERO));
        thread::sleep(Duration::from_micros(1));
        hits[first_of(&[&a, &b], LONG).unwrap()] += 1;
    }
    assert!(hits.iter().all(|&hits| hits >= ROUNDS / 4), "{hits:?}");
}

/// The same timer several times in one wait: each place has its turn.
pub(crate) fn places_have_their_turns(make: Make) {
    const ROUNDS: usize = 500;
    let mut hits = [0; 5];
    for _ in 0..ROUNDS {
        let timer = make(Duration::ZERO);
        thread::sleep(Duration::from_micros(1));
        hits[first_of(&[&timer; 5], LONG).unwrap()] += 1;
    }
    assert!(hits.iter().all(|&hits| hits >= ROUNDS / 10), "{hits:?}");
}

/// Timers that are clones are equal, and no others are.
pub(crate) fn clones_are_equal(make: Make) {
    let hash = |timer: &Timer| {
        let mut state = DefaultHasher::new();
        timer.hash(&mut state);
        state.finish()
    };
    let (one, two) = (make(LONG), make(LONG));
    let clone = one.clone();
    assert!(one.same_channel(&clone) && one == clone && hash(&one) == hash(&clone));
    assert!(!one.same_channel(&two) && one != two && two == two.clone());
}
