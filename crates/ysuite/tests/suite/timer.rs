//! Channels of time: ticks, their receivers, and what happens to unreceived ones. And timers together with receivers.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ysuite::iter::Receive;
use ysuite::signal::{AttachError, ReadySet};
use ysuite::timer::{self, Timer};
use ysuite::{RecvTimeoutError, TryRecvError};
use ysuite::{mpsc, spsc};

use crate::support::{calls, guarded};

const MOMENT: Duration = Duration::from_millis(2);
/// Longer than any test runs.
const LONG: Duration = Duration::from_secs(100_000);

fn state(timer: &Timer) -> (usize, bool, bool, Option<usize>) {
    (timer.len(), timer.is_empty(), timer.is_full(), timer.capacity())
}

/// Claim: A tick is never early and comes once.
#[test]
fn a_tick_is_never_early_and_comes_once() {
    guarded(|| {
        let before = Instant::now();
        let timer = timer::after(MOMENT);
        let due = timer.recv().unwrap();
        assert!(due >= before + MOMENT && due <= Instant::now());
        assert_eq!((timer.try_recv(), state(&timer)), (Err(TryRecvError::Empty), (0, true, false, Some(1))));
        assert_eq!(timer.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
        assert_eq!(timer.recv_deadline(Instant::now() + MOMENT), Err(RecvTimeoutError::Timeout));
        // At a moment that has passed: at once, and also after the deadline of the wait.
        let timer = timer::at(before);
        assert_eq!(state(&timer), (1, false, true, Some(1)));
        assert_eq!(timer.recv_deadline(before), Ok(before));
        assert_eq!((timer.try_recv(), timer.try_iter().count()), (Err(TryRecvError::Empty), 0));
        // One that is due before the wait is over.
        assert!(timer::after(MOMENT).recv_timeout(LONG).is_ok());
        assert!(timer::after(MOMENT).recv_timeout(Duration::MAX).is_ok());
        assert_eq!(timer::after(LONG).recv_timeout(MOMENT), Err(RecvTimeoutError::Timeout));
    });
}

#[test]
fn what_never_comes() {
    for timer in [timer::never(), timer::after(Duration::MAX), timer::tick(Duration::MAX), timer::after(LONG)] {
        assert_eq!((timer.try_recv(), state(&timer)), (Err(TryRecvError::Empty), (0, true, false, Some(1))));
        assert_eq!(timer.recv_timeout(Duration::from_nanos(1)), Err(RecvTimeoutError::Timeout));
    }
}

/// Claim: Missed ticks are skipped and do not shift later ones.
#[test]
fn ticks_that_are_missed_are_not_made_up_for_and_do_not_drift() {
    guarded(|| {
        let timer = timer::tick(MOMENT);
        let first = timer.recv().unwrap();
        let mut last = first;
        for _ in 0..5 {
            thread::sleep(3 * MOMENT);
            let before = Instant::now();
            // The first unreceived one, and none of those after it.
            let due = timer.try_recv().unwrap();
            assert!(due > last && due < before);
            last = timer.recv().unwrap();
            assert!(last > before, "a tick of the past");
            for tick in [due, last] {
                assert_eq!((tick - first).as_nanos() % MOMENT.as_nanos(), 0);
            }
        }
    });
}

/// Claim: Timer periods of zero and of centuries do not overflow.
#[test]
fn periods_of_nothing_and_of_centuries() {
    let timer = timer::tick(Duration::ZERO);
    // Another nanosecond each time the clock is read; the clock may stop in between.
    let ticks: HashSet<_> = (0..1_000).filter_map(|_| timer.try_recv().ok()).collect();
    assert!(ticks.len() > 1);
    assert_eq!(timer.iter().take(100).collect::<HashSet<_>>().len(), 100);
    assert!(timer::tick(Duration::from_secs(1 << 33)).is_empty());
    assert!(timer::tick(Duration::from_secs(1 << 60)).is_empty());
}

#[test]
fn clones_share_the_ticks() {
    guarded(|| {
        let timer = timer::at(Instant::now());
        let threads: Vec<_> = (0..8)
            .map(|_| timer.clone())
            .map(|timer| thread::spawn(move || timer.recv_timeout(MOMENT).is_ok()))
            .collect();
        assert_eq!(threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum::<usize>(), 1);
        // Several wait for each tick: no two get the same.
        let timer = timer::tick(Duration::from_micros(200));
        let threads: Vec<_> = (0..4)
            .map(|_| timer.clone())
            .map(|timer| thread::spawn(move || timer.into_iter().take(50).collect::<Vec<_>>()))
            .collect();
        let ticks: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        assert_eq!((ticks.len(), ticks.iter().collect::<HashSet<_>>().len()), (200, 200));
        let other = timer::tick(MOMENT);
        assert!(timer == timer.clone() && timer != other && other.same_channel(&other.clone()));
        assert_eq!(HashSet::from([&timer, &timer.clone(), &other]).len(), 2);
        let hash = |timer: &Timer| BuildHasherDefault::<DefaultHasher>::default().hash_one(timer);
        assert!(hash(&timer) == hash(&timer.clone()) && hash(&timer) != hash(&other));
        assert!(format!("{:?}", timer::never()).starts_with("Timer { due: None"));
    });
}

/// Claim: Taking all due ticks ends, even if more become due meanwhile.
#[test]
fn a_timer_is_read_as_receivers_are() {
    let mut timer = timer::tick(Duration::from_nanos(1));
    assert!((&timer).into_iter().zip(timer.clone()).take(5).all(|(one, other)| one < other));
    assert!(timer.next_waiting() < timer.next_waiting());
    while !timer.has_message() {}
    let mut over = timer::at(Instant::now());
    assert!(over.has_message() && over.look().is_some() && over.look().is_none());
    assert_eq!((over.try_next(), over.has_message()), (Err(TryRecvError::Empty), false));
    assert!(format!("{over:?}").starts_with("Timer { due: None"), "{over:?}");
    assert_eq!(timer::at(Instant::now()).try_iter().count(), 1);
    // What becomes due while it polls is for the next time, which begins when it has reported that there is none.
    let quick = timer::tick(Duration::ZERO);
    let mut ticks = quick.try_iter();
    for _ in 0..3 {
        thread::sleep(Duration::from_millis(1));
        assert!(ticks.next().is_some() && ticks.next().is_none());
    }
}

#[test]
fn a_wait_for_a_tick_sleeps() {
    let (never, before) = (timer::never(), calls());
    // A thread that is preempted before it sleeps has nothing left to wait for.
    assert!((0..100).any(|_| never.recv_timeout(MOMENT).is_err() && calls() != before));
}

/// Claim: A select ends at the earliest of its timers.
#[test]
fn a_select_ends_at_the_earliest_timer() {
    guarded(|| {
        let (mut sender, mut receiver) = spsc::unbounded();
        let [late, never] = [timer::after(LONG), timer::never()];
        let mut select = ReadySet::new();
        let message = select.add(&mut receiver).unwrap();
        let [late_id, never_id] = [&late, &never].map(|timer| select.add_timer(timer).unwrap());
        assert_eq!((select.wait(), receiver.try_recv().is_err()), (message, true), "every receiver is named at first");
        assert_eq!((select.try_wait(), select.wait_timeout(Duration::ZERO)), (None, None));
        let soon = timer::after(MOMENT);
        let soon_id = select.add_timer(&soon).unwrap();
        assert_eq!(HashSet::from([message, soon_id, late_id, never_id]).len(), 4);
        assert_eq!(select.wait(), soon_id);
        assert!(soon.is_full());
        // Named until its tick has been received, in turn with the receiver.
        sender.send(1).unwrap();
        let named: Vec<_> = (0..6).map(|_| select.wait()).collect();
        assert_eq!(named.iter().filter(|&&id| id == soon_id).count(), 3);
        assert_eq!(named.iter().filter(|&&id| id == message).count(), 3);
        assert!(soon.try_recv().is_ok());
        assert!((0..3).all(|_| select.wait() == message));
        assert_eq!((receiver.try_iter().count(), select.wait_timeout(MOMENT)), (1, None));
        // A message ends a wait for a timer.
        let thread = thread::spawn(move || {
            thread::sleep(MOMENT);
            sender.send(2).unwrap();
            sender
        });
        assert_eq!(
            (select.wait_timeout(LONG), receiver.try_recv(), receiver.try_iter().count()),
            (Some(message), Ok(2), 0)
        );
        assert_eq!(select.remove_timer(&late), Some(late_id));
        assert_eq!((select.remove_timer(&late), select.try_wait()), (None, None));
        drop(thread.join().unwrap());
    });
}

#[test]
fn timers_alone_and_the_same_one_twice() {
    guarded(|| {
        // Nothing but timers, none of them due: by the clock alone, however late this thread comes to ask.
        let (never, mut idle) = (timer::never(), ReadySet::new());
        idle.add_timer(&never).unwrap();
        assert_eq!((idle.try_wait(), idle.wait_deadline(Instant::now())), (None, None));
        let (beats, end) = (timer::tick(MOMENT), timer::after(10 * MOMENT));
        let mut select = ReadySet::with_capacity(3);
        let (first, second) = (select.add_timer(&beats).unwrap(), select.add_timer(&beats).unwrap());
        let over = select.add_timer(&end).unwrap();
        assert_eq!(select.add_timer(&end), Err(AttachError::IdTaken { id: 2 }));
        let (_sender, mut receiver) = mpsc::unbounded::<u8>();
        assert!(select.add(&mut receiver).is_err());
        let mut named = [0; 3];
        loop {
            let id = select.wait();
            named[id] += 1;
            if id == over {
                if named[first] > 0 && named[second] > 0 {
                    break;
                }
                continue;
            }
            // Only now and then: it is named again, by both ids.
            if named[id] % 3 == 0 {
                assert!(beats.try_recv().is_ok());
            }
        }
        // The first of both, then the other; an id that is free is used again.
        assert_eq!([select.remove_timer(&beats), select.remove_timer(&beats)].map(|id| id.is_some()), [true; 2]);
        assert_eq!((select.remove_timer(&beats), select.remove_timer(&end)), (None, Some(over)));
        assert!(select.add(&mut receiver).is_ok() && select.add_timer(&end).is_ok());
        assert!(end.is_full() && end.recv().is_ok());
    });
}

/// Several threads, each with a select of its own, share a timer: each tick is received once, and no thread hangs for
/// one that another has received.
#[test]
fn selects_share_a_timer() {
    guarded(|| {
        const TICKS: usize = 100;
        let beats = timer::tick(Duration::from_micros(300));
        let taken = Arc::new(AtomicUsize::new(0));
        let (mut stop, threads): (Vec<_>, Vec<_>) = (0..3)
            .map(|_| {
                let (sender, mut stopped) = spsc::unbounded::<()>();
                let (beats, taken) = (beats.clone(), taken.clone());
                let thread = thread::spawn(move || {
                    let mut select = ReadySet::new();
                    let (stop, beat) = (select.add(&mut stopped).unwrap(), select.add_timer(&beats).unwrap());
                    let mut mine = Vec::new();
                    loop {
                        match select.wait() {
                            id if id == beat => mine.extend(beats.try_recv()),
                            id => {
                                assert_eq!(id, stop);
                                if stopped.try_recv().is_ok() {
                                    return mine;
                                }
                            }
                        }
                        taken.store(taken.load(Ordering::Relaxed).max(mine.len()), Ordering::Relaxed);
                    }
                });
                (sender, thread)
            })
            .unzip();
        while taken.load(Ordering::Relaxed) < TICKS {
            thread::yield_now();
        }
        stop.iter_mut().for_each(|sender| sender.send(()).unwrap());
        let ticks: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        assert_eq!(ticks.iter().collect::<HashSet<_>>().len(), ticks.len());
    });
}

#[test]
fn hundreds_of_timers_in_one_select_are_each_named_for_their_tick() {
    const TIMERS: usize = 500;
    guarded(|| {
        let now = Instant::now();
        // Some are due, some soon, and some not before the end of the test.
        let timers: Vec<_> = (0..TIMERS)
            .map(|number| match number % 3 {
                0 => timer::at(now),
                1 => timer::at(now + Duration::from_micros(number as u64 * 10)),
                _ => timer::after(LONG),
            })
            .collect();
        let mut select = ReadySet::with_capacity(TIMERS);
        let ids: Vec<_> = timers.iter().map(|timer| select.add_timer(timer).unwrap()).collect();
        let mut named = HashSet::new();
        while named.len() < TIMERS.div_ceil(3) * 2 {
            let id = select.wait();
            let at = ids.iter().position(|one| *one == id).expect("nobody has this id");
            assert!(timers[at].try_recv().is_ok_and(|due| due <= Instant::now()), "it is named when it is due");
            assert!(at % 3 != 2 && named.insert(at), "each is named once");
        }
        assert_eq!(select.try_wait(), None);
    });
}
