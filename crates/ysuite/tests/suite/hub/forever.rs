//! A hub that polls for long, or never sleeps: it serves everything all the same, and calls the poller seldom.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use ysuite::Spin;
use ysuite::hub::{Hub, Interest, TURN};
use ysuite::{mpmc, mpsc, spsc};

use crate::hub::Notes;
use crate::hub::descriptors::pair;
use crate::support::{calls, guarded};

#[test]
fn a_hub_that_never_sleeps_serves_its_timers() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        hub.set_spin(Spin::Forever);
        hub.after(Duration::from_millis(1), |_| {});
        assert_eq!(hub.run_once(None).unwrap(), 1);
        hub.after(Duration::from_secs(3_600), |_| {});
        assert_eq!(hub.run_once(Duration::from_millis(2)).unwrap(), 0, "its own deadline counts too");
    });
}

#[test]
fn a_hub_that_never_sleeps_serves_its_descriptors() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        hub.set_spin(Spin::Forever);
        let (mut near, far) = pair();
        hub.watch(far, Interest::READABLE, |hub, far, _| {
            far.read_exact(&mut [0]).unwrap();
            hub.stop();
        })
        .unwrap();
        for _ in 0..10 {
            near.write_all(b"x").unwrap();
            hub.run().unwrap();
        }
        // No system call for each poll: many thousands of them, and one call for about a thousand.
        let looking = Arc::new(AtomicUsize::new(0));
        let (asked, before) = (looking.clone(), calls());
        let handle = hub.handle();
        let thread = thread::spawn(move || {
            while asked.load(Ordering::Relaxed) == 0 {
                thread::yield_now();
            }
            thread::sleep(Duration::from_millis(20));
            handle.stop().unwrap();
        });
        looking.store(1, Ordering::Relaxed);
        hub.run().unwrap();
        thread.join().unwrap();
        assert!(calls() > before, "the poller is asked");
    });
}

#[test]
fn a_hub_that_never_sleeps_serves_receivers_that_rest_and_their_ends() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        let notes = Notes::new();
        let (mut pipe, pipe_in) = spsc::unbounded();
        let (mut lane, lane_in) = mpsc::unbounded();
        let (exchange, exchange_in) = mpmc::bounded(4);
        let noted = notes.clone();
        hub.receive(pipe_in, move |_, message: Result<u8, _>| noted.note(message)).unwrap();
        let noted = notes.clone();
        hub.receive(lane_in, move |_, message: Result<u8, _>| noted.note(message)).unwrap();
        let noted = notes.clone();
        hub.receive(exchange_in, move |_, message: Result<u8, _>| noted.note(message)).unwrap();
        // All of them rest.
        hub.set_spin(Spin::None);
        while hub.run_once(Duration::from_micros(1)).unwrap() != 0 {}
        hub.set_spin(Spin::Forever);
        let mut served = || {
            assert_eq!(hub.run_once(None).unwrap(), 1);
            notes.taken()[0].ok()
        };
        for round in 0..3 {
            pipe.send(round).unwrap();
            assert_eq!(served(), Some(round));
            lane.send(round).unwrap();
            assert_eq!(served(), Some(round));
            exchange.send(round).unwrap();
            assert_eq!(served(), Some(round));
        }
        drop(pipe);
        assert_eq!(served(), None);
        drop(lane);
        assert_eq!(served(), None);
        drop(exchange);
        assert_eq!(served(), None);
        assert_eq!(hub.run_once(None).unwrap(), 0, "nothing can ever come");
    });
}

#[test]
fn a_descriptor_waits_no_longer_than_a_turn_of_functions_that_come_one_by_one() {
    guarded(|| {
        for spin in [Spin::Adaptive, Spin::Forever] {
            let mut hub = Hub::new().unwrap();
            hub.set_spin(spin);
            let (mut near, far) = pair();
            let (handle, run) = (hub.handle(), Arc::new(AtomicUsize::new(0)));
            let (seen, waited) = (run.clone(), Notes::new());
            let noted = waited.clone();
            hub.watch(far, Interest::READABLE, move |_, far, _| {
                far.read_exact(&mut [0]).unwrap();
                noted.note(seen.load(Ordering::Relaxed));
            })
            .unwrap();
            // Each comes while the hub polls for it: no turn has more than one, and the hub does not sleep.
            let thread = thread::spawn(move || {
                for number in 0..TURN * 20 {
                    let counted = run.clone();
                    if number == TURN * 10 {
                        near.write_all(b"x").unwrap();
                    }
                    handle
                        .post(move |_| {
                            counted.fetch_add(1, Ordering::Relaxed);
                        })
                        .unwrap();
                    let mut looks = 0;
                    while run.load(Ordering::Relaxed) <= number {
                        // At once, where there is a CPU for each.
                        looks += 1;
                        if looks % 1_000 == 0 { thread::yield_now() } else { std::hint::spin_loop() }
                    }
                }
                handle.stop().unwrap();
                near
            });
            hub.run().unwrap();
            thread.join().unwrap();
            let waited = waited.taken()[0] - TURN * 10;
            assert!(waited < TURN * 2, "{waited} functions while a descriptor was ready");
        }
    });
}

#[test]
fn a_run_asks_the_poller_once_for_a_turn_of_calls() {
    guarded(|| {
        const TURNS: usize = TURN * 100;
        let mut hub = Hub::new().unwrap();
        let (_near, far) = pair();
        hub.watch(far, Interest::READABLE, |_, _, _| {}).unwrap();
        let mut left = TURNS;
        // One call in each turn.
        hub.every(Duration::ZERO, move |hub| {
            left -= 1;
            if left == 0 {
                hub.stop();
            }
        });
        let before = calls();
        hub.run().unwrap();
        let made = calls() - before;
        assert!((50..=110).contains(&made), "{made} calls of the poller in {TURNS} turns");
    });
}

#[test]
fn one_turn_asks_the_poller_once() {
    let mut hub = Hub::new().unwrap();
    let (mut near, far) = pair();
    let handle = hub.handle();
    hub.watch(far, Interest::READABLE, |_, far, _| far.read_exact(&mut [0]).unwrap()).unwrap();
    hub.run_once(Duration::ZERO).unwrap();
    for _ in 0..10 {
        handle.post(|_| {}).unwrap();
        let before = calls();
        assert_eq!(hub.run_once(None).unwrap(), 1);
        assert_eq!(calls() - before, 1);
        handle.post(|_| {}).unwrap();
        near.write_all(b"x").unwrap();
        let before = calls();
        assert_eq!(hub.run_once(None).unwrap(), 2);
        assert_eq!(calls() - before, 2, "asked, and registered anew");
        // Without any: none.
        handle.post(Hub::stop).unwrap();
        let before = calls();
        assert_eq!(hub.run_once(None).unwrap(), 1);
        assert_eq!(calls() - before, 0, "a stopped turn makes no call");
    }
}

#[test]
fn zero_is_served_only_where_nothing_can_come() {
    guarded(|| {
        const MESSAGES: usize = 20_000;
        let mut hub = Hub::new().unwrap();
        let (sender, receiver) = mpmc::bounded(4);
        let taker = receiver.clone();
        let (ended, taken) = (Notes::new(), Arc::new(AtomicUsize::new(0)));
        let (noted, counted) = (ended.clone(), taken.clone());
        hub.receive(receiver, move |_, message: Result<usize, _>| {
            counted.fetch_add(usize::from(message.is_ok()), Ordering::Relaxed);
            message.map_err(|_| noted.note(())).ok();
        })
        .unwrap();
        let sending = thread::spawn(move || {
            for message in 0..MESSAGES {
                sender.send(message).unwrap();
                // Now and then both of them sleep, or poll.
                (0..message % 300).for_each(|_| std::hint::spin_loop());
            }
        });
        let taking = thread::spawn(move || taker.iter().count());
        while ended.len() == 0 {
            assert_ne!(hub.run_once(None).unwrap(), 0);
        }
        sending.join().unwrap();
        assert_eq!(taking.join().unwrap() + taken.load(Ordering::Relaxed), MESSAGES);
        assert_eq!(hub.run_once(None).unwrap(), 0);
    });
}

#[test]
fn a_hub_that_never_sleeps_makes_no_system_call_before_its_timer() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        hub.set_spin(Spin::Forever);
        for _ in 0..5 {
            hub.after(Duration::from_millis(2), |_| {});
            let before = calls();
            assert_eq!(hub.run_once(None).unwrap(), 1);
            assert_eq!(calls(), before);
        }
    });
}

#[test]
fn a_hub_that_never_sleeps_asks_the_poller_once_for_what_it_tells_of() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        hub.set_spin(Spin::Forever);
        let (mut near, far) = pair();
        hub.watch(far, Interest::READABLE, |_, far, _| far.read_exact(&mut [0]).unwrap()).unwrap();
        for _ in 0..3 {
            near.write_all(b"x").unwrap();
            let before = calls();
            assert_eq!(hub.run_once(None).unwrap(), 1);
            assert_eq!(calls() - before, 2, "asked, and registered anew");
        }
    });
}

#[test]
fn a_hub_that_never_sleeps_counts_a_timer_whose_turn_within_was_stopped() {
    guarded(|| {
        let (mut hub, mut peers, mut kept) = (Hub::new().unwrap(), Vec::new(), Vec::new());
        hub.set_spin(Spin::Forever);
        for _ in 0..2 {
            let (near, far) = pair();
            kept.push(near.try_clone().unwrap());
            peers.push(near);
            hub.watch(far, Interest::READABLE, |hub, far, _| {
                far.read_exact(&mut [0]).unwrap();
                hub.stop();
            })
            .unwrap();
        }
        // The hub spins when it rings. The inner turn is notified of both descriptors, and one is left.
        hub.after(Duration::from_millis(1), move |hub| {
            peers.iter_mut().for_each(|near| near.write_all(b"x").unwrap());
            assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 1);
        });
        assert_eq!(hub.run_once(None).unwrap(), 1, "the timer");
        assert_eq!(hub.run_once(None).unwrap(), 1, "the descriptor that was left");
    });
}
