//! Receivers of every channel and their handlers.

use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use ysuite::Spin;
use ysuite::hub::{Hub, Interest, Source, TURN};
use ysuite::iter::Receive;
use ysuite::signal::{Attach, AttachError, Registration};
use ysuite::{mpmc, mpsc, spsc};

use crate::hub::Notes;
use crate::hub::descriptors::pair;
use crate::support::{Random, Tally, calls, guarded};

#[test]
fn messages_of_every_channel_and_their_ends() {
    guarded(|| {
        const MESSAGES: usize = 2_000;
        let mut hub = Hub::new().unwrap();
        let notes = Notes::new();
        let (mut pipe, pipe_in) = spsc::bounded(16);
        let (mut lane, funnel_in) = mpsc::unbounded();
        let (exchange, exchange_in) = mpmc::bounded(16);
        macro_rules! serve {
            ($name:literal, $receiver:expr) => {{
                let (noted, mut next) = (notes.clone(), 0);
                hub.receive($receiver, move |_, message| match message {
                    Ok(message) => {
                        assert_eq!(message, next);
                        next += 1;
                    }
                    Err(_) => noted.note(($name, next)),
                })
                .unwrap();
            }};
        }
        serve!("pipe", pipe_in);
        serve!("funnel", funnel_in);
        serve!("exchange", exchange_in);
        let thread = thread::spawn(move || {
            let mut random = Random::new(3);
            for message in 0..MESSAGES {
                pipe.send(message).unwrap();
                lane.send(message).unwrap();
                exchange.send(message).unwrap();
                random.pause();
            }
        });
        // It returns by itself: the receivers go with their senders.
        hub.run().unwrap();
        thread.join().unwrap();
        let mut ends = notes.taken();
        ends.sort_unstable();
        assert_eq!(ends, [("exchange", MESSAGES), ("funnel", MESSAGES), ("pipe", MESSAGES)]);
    });
}

#[test]
fn a_flood_of_messages_leaves_turns_to_others() {
    let mut hub = Hub::new().unwrap();
    let (mut flood, flood_in) = spsc::unbounded();
    let (mut seldom, seldom_in) = spsc::unbounded();
    let notes = Notes::new();
    let (one, other) = (notes.clone(), notes.clone());
    hub.receive(flood_in, move |_, message| one.note(message.is_ok())).unwrap();
    hub.receive(seldom_in, move |_, message: Result<(), _>| {
        assert!(message.is_err() || other.len() <= TURN + 1);
        other.note(true);
    })
    .unwrap();
    flood.send_batch(0..TURN * 10).unwrap();
    seldom.send(()).unwrap();
    assert_eq!(hub.run_once(None).unwrap(), TURN + 1);
    drop((flood, seldom));
    hub.run().unwrap();
    assert_eq!(notes.len(), TURN * 10 + 1 + 2);
}

#[test]
fn an_end_is_noticed_beside_a_stream() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        let handle = hub.handle();
        let (sender, receiver) = spsc::unbounded::<u8>();
        let notes = Notes::new();
        let noted = notes.clone();
        hub.receive(receiver, move |_, message| noted.note(message)).unwrap();
        drop(sender);
        // The hub never sleeps, so it never rests as a whole.
        while notes.len() == 0 {
            handle.post(|_| {}).unwrap();
            hub.run_once(None).unwrap();
        }
        assert!(matches!(notes.taken()[..], [Err(_)]));
    });
}

#[test]
fn handlers_remove_themselves_and_each_other() {
    for victim in 0..2 {
        let mut hub = Hub::new().unwrap();
        let tally = Tally::of(20);
        let sources = Arc::new(Mutex::new(Vec::<Source>::new()));
        let (notes, mut senders) = (Notes::new(), Vec::new());
        for number in 0..2 {
            let (mut sender, receiver) = spsc::unbounded();
            sender.send_batch(tally.some(10)).unwrap();
            let (all, notes) = (sources.clone(), notes.clone());
            let source = hub.receive(receiver, move |hub, message| {
                notes.note(number);
                drop(message);
                // The first to be called removes itself, or the other, whose messages are in this very turn.
                let source = all.lock().unwrap()[if victim == 0 { number } else { 1 - number }];
                if notes.len() == 1 {
                    assert!(hub.remove(source) && !hub.remove(source));
                }
            });
            sources.lock().unwrap().push(source.unwrap());
            senders.push(sender);
        }
        while hub.run_once(Duration::ZERO).unwrap() != 0 {}
        let notes = notes.taken();
        let first = notes[0];
        let gone = if victim == 0 { first } else { 1 - first };
        assert_eq!(notes.iter().filter(|number| **number == gone).count(), usize::from(victim == 0));
        assert_eq!(notes.iter().filter(|number| **number != gone).count(), 10);
        assert!(senders[gone].send(tally.some(0).next().unwrap_or_else(|| Tally::of(1).next())).is_err());
        tally.assert_all_ended();
    }
}

#[test]
fn a_handler_that_removes_itself_may_add_another_at_once() {
    let mut hub = Hub::new().unwrap();
    let (mut first, first_in) = spsc::unbounded();
    let (mut second, second_in) = spsc::unbounded();
    first.send(1).unwrap();
    second.send(2).unwrap();
    let (notes, mut spare) = (Notes::new(), Some(second_in));
    let noted = notes.clone();
    hub.receive(first_in, move |hub, message| {
        noted.note(message);
        let this = hub.current().unwrap();
        assert!(hub.remove(this));
        let noted = noted.clone();
        hub.receive(spare.take().unwrap(), move |_, message| noted.note(message)).unwrap();
    })
    .unwrap();
    assert_eq!(hub.current(), None);
    while notes.len() < 2 {
        hub.run_once(None).unwrap();
    }
    assert_eq!(notes.taken(), [Ok(1), Ok(2)]);
    assert!(first.send(3).is_err() && second.send(3).is_ok());
}

#[test]
fn a_receiver_can_be_taken_back() {
    guarded(|| {
        let (mut one, mut other) = (Hub::new().unwrap(), Hub::new().unwrap());
        let (mut sender, receiver) = spsc::unbounded();
        let notes = Notes::new();
        let noted = notes.clone();
        let source = one.receive(receiver, move |_, message: Result<i32, _>| noted.note(message.ok())).unwrap();
        sender.send(1).unwrap();
        one.run_once(None).unwrap();
        sender.send(2).unwrap();
        assert!(one.take::<spsc::Receiver<u8>>(source).is_none(), "of another type");
        let receiver = one.take::<spsc::Receiver<i32>>(source).unwrap();
        assert!(one.take::<spsc::Receiver<i32>>(source).is_none() && !one.remove(source));
        assert_eq!(one.run_once(Duration::ZERO).unwrap(), 0);
        let noted = notes.clone();
        other.receive(receiver, move |_, message| noted.note(message.ok().map(|number| number * 10))).unwrap();
        let thread = thread::spawn(move || sender.send(3).unwrap());
        other.run().unwrap();
        thread.join().unwrap();
        assert_eq!(notes.taken(), [Some(1), Some(20), Some(30), None]);
    });
}

#[test]
fn a_handler_that_panics_takes_its_receiver_down_and_nothing_else() {
    let mut hub = Hub::new().unwrap();
    let tally = Tally::of(6);
    let (mut bad, bad_in) = spsc::unbounded();
    let (mut good, good_in) = spsc::unbounded();
    bad.send_batch(tally.some(3)).unwrap();
    good.send_batch(tally.some(3)).unwrap();
    let bad_source = hub.receive(bad_in, |_, message| panic!("as the test wants it: {message:?}")).unwrap();
    let notes = Notes::new();
    let noted = notes.clone();
    hub.receive(good_in, move |_, message| noted.note(message.is_ok())).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| hub.run_once(None))).is_err());
    assert!(!hub.remove(bad_source));
    while notes.len() < 3 {
        assert!(hub.run_once(None).unwrap() > 0);
    }
    assert!(bad.is_disconnected() && !good.is_disconnected());
    tally.assert_all_ended();
}

#[test]
fn receivers_come_and_go_by_the_thousand() {
    guarded(|| {
        let mut hub = Hub::with_receivers(5_000).unwrap();
        let mut random = Random::new(1);
        let notes = Notes::new();
        for round in 0..3 {
            let mut ends = Vec::new();
            for number in 0..2_000 {
                let (sender, receiver) = spsc::bounded(4);
                let notes = notes.clone();
                let handler = move |_: &mut Hub, message: Result<usize, _>| {
                    if let Ok(message) = message {
                        notes.note((number, message));
                    }
                };
                ends.push((sender, hub.receive(receiver, handler).unwrap()));
            }
            while hub.run_once(Duration::ZERO).unwrap() != 0 {}
            let mut expected = Vec::new();
            for _ in 0..500 {
                let number = random.below(2_000);
                if ends[number].0.try_send(round).is_ok() {
                    expected.push((number, round));
                }
            }
            while notes.len() < expected.len() {
                hub.run_once(None).unwrap();
            }
            let mut noted = notes.taken();
            noted.sort_unstable();
            expected.sort_unstable();
            assert_eq!(noted, expected);
            for (number, (sender, source)) in ends.into_iter().enumerate() {
                if number % 2 == 0 {
                    assert!(hub.remove(source));
                }
                drop(sender);
            }
            while hub.run_once(Duration::ZERO).unwrap() != 0 {}
        }
        hub.run().unwrap();
    });
}

#[test]
fn a_handler_may_run_its_hub_without_waiting() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        let (mut sender, receiver) = spsc::unbounded();
        let (mut other, other_in) = spsc::unbounded();
        let notes = Notes::new();
        let (one, two) = (notes.clone(), notes.clone());
        hub.receive(receiver, move |hub, message: Result<u8, _>| {
            one.note("begins");
            // More of its own are there, and must not keep this from returning.
            hub.run_once(Duration::ZERO).unwrap();
            hub.run_once(None).unwrap();
            hub.run().unwrap();
            one.note(if message.is_ok() { "ends" } else { "over" });
        })
        .unwrap();
        hub.receive(other_in, move |_, message: Result<u8, _>| {
            two.note(if message.is_ok() { "other" } else { "gone" })
        })
        .unwrap();
        sender.send_batch([1, 2]).unwrap();
        other.send(1).unwrap();
        drop((sender, other));
        hub.run().unwrap();
        let notes = notes.taken();
        assert_eq!(notes.iter().filter(|note| **note == "begins").count(), 3);
        assert_eq!(notes[..2], ["begins", "other"], "the other is served within");
        assert_eq!(notes.last(), Some(&"over"));
    });
}

#[test]
fn a_flood_of_messages_has_one_turn_in_each_turn() {
    let mut hub = Hub::new().unwrap();
    let (mut flood, flood_in) = spsc::unbounded();
    hub.receive(flood_in, |_, _: Result<usize, _>| {}).unwrap();
    flood.send_batch(0..TURN * 10).unwrap();
    // Its signal is up all the while.
    (0..10).for_each(|_| assert_eq!(hub.run_once(None).unwrap(), TURN));
}

/// An spsc receiver that does something when it is queried for a message, and when it is polled for one.
pub(crate) struct Asked {
    pub(crate) receiver: spsc::Receiver<u32>,
    pub(crate) when_asked: Box<dyn FnMut() + Send>,
    pub(crate) when_looked: Box<dyn FnMut() + Send>,
}

impl Receive for Asked {
    type Message = u32;

    fn next_waiting(&mut self) -> Option<u32> {
        self.receiver.next_waiting()
    }

    fn look(&mut self) -> Option<u32> {
        (self.when_looked)();
        self.receiver.look()
    }

    fn has_message(&mut self) -> bool {
        (self.when_asked)();
        Receive::has_message(&mut self.receiver)
    }

    fn try_next(&mut self) -> Result<u32, ysuite::TryRecvError> {
        self.receiver.try_next()
    }
}

impl Attach for Asked {
    fn attach_registration(&mut self, registration: Registration) -> Result<(), AttachError> {
        self.receiver.attach_registration(registration)
    }

    fn with_registration(&self, look: &mut dyn FnMut(&Registration)) {
        self.receiver.with_registration(look);
    }

    fn detach(&mut self) -> bool {
        Attach::detach(&mut self.receiver)
    }
}

#[test]
fn before_it_sleeps_the_hub_looks_at_its_receivers_and_a_message_that_comes_then_costs_no_sleep() {
    if thread::available_parallelism().is_ok_and(|cpus| cpus.get() == 1) {
        // Then nothing can come while it polls, and it does not poll.
        return;
    }
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        let (mut sender, receiver) = spsc::unbounded();
        sender.send(6).unwrap();
        let notes = Notes::new();
        let noted = notes.clone();
        let when_asked = Box::new(move || sender.send(7).unwrap());
        let asked = Asked { receiver, when_asked, when_looked: Box::new(|| {}) };
        hub.receive(asked, move |_, message| noted.note(message)).unwrap();
        // From here on it is active. The first poll asks for the number of CPUs. The time is only for a hub that does
        // not poll.
        assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 1);
        assert_eq!(hub.run_once(Duration::from_secs(1)).unwrap(), 1);
        let before = calls();
        assert_eq!(hub.run_once(Duration::from_secs(1)).unwrap(), 1);
        assert_eq!(calls(), before, "it has neither slept nor been woken");
        assert_eq!(notes.taken(), [Ok(6), Ok(7), Ok(7)]);
    });
}

#[test]
fn a_receiver_that_rests_is_not_asked_and_a_hub_that_does_not_look_asks_none() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        let ((mut sender, receiver), asked) = (spsc::unbounded(), Arc::new(AtomicUsize::new(0)));
        let counted = asked.clone();
        let when_asked = Box::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        hub.receive(Asked { receiver, when_asked, when_looked: Box::new(|| {}) }, |_, _| {}).unwrap();
        // Without time there is no poll before it sleeps.
        assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 0);
        assert_eq!(hub.run_once(Duration::from_millis(1)).unwrap(), 0);
        assert_eq!(asked.load(Ordering::Relaxed), 0);
        hub.set_spin(Spin::None);
        sender.send(1).unwrap();
        assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 1);
        // It is active, and empty.
        assert_eq!(hub.run_once(Duration::from_millis(1)).unwrap(), 0);
        assert_eq!(asked.load(Ordering::Relaxed), 0);
    });
}

/// The number of signals of two levels, less the one of what is posted; and one more, for which there is a third level.
#[test]
fn a_hub_has_as_many_receivers_as_it_was_made_for() {
    for receivers in [1_983, 1_984] {
        guarded(move || {
            let mut hub = if receivers == 1_983 { Hub::new() } else { Hub::with_receivers(receivers) }.unwrap();
            let notes = Notes::new();
            let serve = |hub: &mut Hub, number: usize| {
                let (sender, receiver) = spsc::unbounded::<usize>();
                let notes = notes.clone();
                let handler = move |_: &mut Hub, message: Result<usize, _>| notes.note((number, message.ok()));
                hub.receive(receiver, handler).map(|source| (sender, source)).ok()
            };
            let mut ends: Vec<_> = (0..receivers).map(|number| serve(&mut hub, number).unwrap()).collect();
            assert!(serve(&mut hub, receivers).is_none(), "there is one too many");
            while hub.run_once(Duration::ZERO).unwrap() != 0 {}
            // Each by itself wakes a hub that rests, at and around every border.
            for number in [0, 30, 31, 62, 63, 64, 127, 128, 1_919, 1_920, 1_981, 1_982, receivers - 1] {
                ends[number].0.send(7).unwrap();
                assert_eq!(hub.run_once(None).unwrap(), 1);
                assert_eq!(notes.taken(), [(number, Some(7))]);
            }
            while hub.run_once(Duration::ZERO).unwrap() != 0 {}
            // All of them in one turn.
            ends.iter_mut().for_each(|(sender, _)| sender.send(8).unwrap());
            assert_eq!(hub.run_once(None).unwrap(), receivers);
            let mut noted = notes.taken();
            noted.sort_unstable();
            assert!(noted.into_iter().eq((0..receivers).map(|number| (number, Some(8)))));
            // Those that go make room for others.
            for number in [63, 1_982, 0, 1_920] {
                assert!(hub.remove(ends[number].1));
                ends[number] = serve(&mut hub, number).unwrap();
                assert!(serve(&mut hub, receivers).is_none());
                ends[number].0.send(9).unwrap();
                assert_eq!(hub.run_once(None).unwrap(), 1);
                assert_eq!(notes.taken(), [(number, Some(9))]);
            }
            // They return by themselves, with their senders.
            drop(ends);
            hub.run().unwrap();
            let mut noted = notes.taken();
            noted.sort_unstable();
            assert!(noted.into_iter().eq((0..receivers).map(|number| (number, None))));
        });
    }
}

#[test]
fn receivers_of_the_same_turn_may_be_removed_by_the_dozen() {
    const RECEIVERS: usize = 200;
    let mut hub = Hub::new().unwrap();
    let sources = Arc::new(Mutex::new(Vec::<Source>::new()));
    let (notes, mut senders) = (Notes::new(), Vec::new());
    for number in 0..RECEIVERS {
        let (mut sender, receiver) = spsc::unbounded();
        sender.send(true).unwrap();
        let (all, notes) = (sources.clone(), notes.clone());
        let source = hub.receive(receiver, move |hub, message| {
            notes.note(number);
            if message == Ok(true) && notes.len() == 70 {
                // Those of them that have had their turn, and those that have not.
                let all = all.lock().unwrap();
                assert!((0..RECEIVERS).step_by(2).filter(|at| *at != number).all(|at| hub.remove(all[at])));
            }
        });
        sources.lock().unwrap().push(source.unwrap());
        senders.push(sender);
    }
    while hub.run_once(Duration::ZERO).unwrap() != 0 {}
    let noted = notes.taken();
    let (before, behind) = noted.split_at(70);
    assert!(behind.iter().all(|number| number % 2 == 1), "one was removed before its turn");
    let missing = (0..RECEIVERS).filter(|number| !noted.contains(number));
    assert!(missing.clone().all(|number| number % 2 == 0 && !before.contains(&number)));
    assert_eq!(noted.len() + missing.count(), RECEIVERS);
    // Those that are left go on.
    let left: Vec<_> = (0..RECEIVERS).filter(|&number| senders[number].send(false).is_ok()).collect();
    while hub.run_once(Duration::ZERO).unwrap() != 0 {}
    let mut noted = notes.taken();
    noted.sort_unstable();
    assert!(noted == left && (100..=101).contains(&left.len()));
}

#[test]
fn messages_that_come_while_the_hub_looks_for_them_count_as_any() {
    guarded(|| {
        const MESSAGES: usize = TURN * 10;
        let mut hub = Hub::new().unwrap();
        hub.set_spin(Spin::Forever);
        let ((_near, far), (mut sender, receiver)) = (pair(), spsc::unbounded());
        hub.watch(far, Interest::READABLE, |_, _, _| {}).unwrap();
        // One in each turn: never before the hub checks whether there is one.
        let when_asked = Box::new(move || sender.send(7).unwrap());
        let mut left = MESSAGES;
        let handler = move |hub: &mut Hub, _: Result<u32, _>| {
            left -= 1;
            if left == 0 {
                hub.stop();
            }
        };
        hub.receive(Asked { receiver, when_asked, when_looked: Box::new(|| {}) }, handler).unwrap();
        let before = calls();
        hub.run().unwrap();
        let made = calls() - before;
        assert!((5..=14).contains(&made), "{made} calls of the poller for {MESSAGES} messages");
    });
}

#[test]
fn a_function_that_comes_while_the_hub_looks_for_it_is_counted_beside_what_it_has_told_of() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        hub.set_spin(Spin::Forever);
        let ((_near, far), (_other_near, other), notes) = (pair(), pair(), Notes::new());
        let noted = notes.clone();
        let source = hub.watch(far, Interest::READABLE, move |_, _, ready| noted.note(ready.is_error())).unwrap();
        // Closed without the hub, which the function makes it notice.
        *hub.source_mut::<UnixStream>(source).unwrap() = other;
        let ((_sender, receiver), handle) = (spsc::unbounded(), hub.handle());
        let mut is_first = true;
        let when_asked = Box::new(move || {
            if std::mem::take(&mut is_first) {
                handle.post(move |hub| assert!(hub.set_interest(source, Interest::WRITABLE).is_err())).unwrap();
            }
        });
        hub.receive(Asked { receiver, when_asked, when_looked: Box::new(|| {}) }, |_, _| {}).unwrap();
        assert_eq!(hub.run_once(None).unwrap(), 2, "the function, and the last call of the descriptor's handler");
        assert_eq!(notes.taken(), [true]);
    });
}
