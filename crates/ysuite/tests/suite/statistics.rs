//! What observers say of a channel: exact when nothing goes on, never less than before while something does.

mod endings;
mod waiting;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::support::guarded;
use ysuite::statistics::{Observer, Statistics};
use ysuite::{mpmc, mpsc, spsc};

/// `sent`, `received` and `high_water`.
pub(crate) fn flow(observer: &Observer) -> (u64, u64, u64) {
    let Statistics { sent, received, high_water, .. } = observer.statistics();
    (sent, received, high_water)
}

/// `sleeps`, `wakes` and `full`.
pub(crate) fn waits(observer: &Observer) -> (u64, u64, u64) {
    let Statistics { sleeps, wakes, full, .. } = observer.statistics();
    (sleeps, wakes, full)
}

/// Waits until the statistics are as wanted. Call under a guard.
pub(crate) fn until(observer: &Observer, wanted: impl Fn(Statistics) -> bool) {
    while !wanted(observer.statistics()) {
        thread::yield_now();
    }
}

/// Runs a body with a fresh channel of each kind, with a bound and without.
macro_rules! for_every_kind {
    (|$sender:ident, $receiver:ident| $body:block) => {{
        $crate::statistics::for_every_kind!(bounded 1000, |$sender, $receiver| $body);
        for_every_kind!(@ ysuite::spsc::unbounded(), |$sender, $receiver| $body);
        for_every_kind!(@ ysuite::mpsc::unbounded(), |$sender, $receiver| $body);
        for_every_kind!(@ ysuite::mpmc::unbounded(), |$sender, $receiver| $body);
    }};
    (bounded $capacity:expr, |$sender:ident, $receiver:ident| $body:block) => {{
        for_every_kind!(@ ysuite::spsc::bounded($capacity), |$sender, $receiver| $body);
        for_every_kind!(@ ysuite::mpsc::bounded($capacity), |$sender, $receiver| $body);
        for_every_kind!(@ ysuite::mpmc::bounded($capacity), |$sender, $receiver| $body);
    }};
    (@ $ends:expr, |$sender:ident, $receiver:ident| $body:block) => {{
        // The handles of an mpmc channel need no `mut`.
        #[allow(unused_mut)]
        let (mut $sender, mut $receiver) = $ends;
        $body
    }};
}
pub(crate) use for_every_kind;

#[test]
fn a_stream_on_one_thread_is_counted_exactly_and_never_sleeps() {
    for_every_kind!(|sender, receiver| {
        let (one, other) = (sender.observer(), receiver.observer());
        assert_eq!(one.statistics(), Statistics::default());
        for number in 0..10_000_u64 {
            sender.send(number).unwrap();
            assert_eq!(flow(&one), (number + 1, number, 1));
            assert_eq!(receiver.recv(), Ok(number));
            assert_eq!(flow(&other), (number + 1, number + 1, 1));
        }
        assert_eq!(waits(&one), (0, 0, 0));
        assert_eq!(one.statistics(), other.statistics());
    });
}

#[test]
fn batches_are_counted_and_what_is_there_is_the_mark_for_an_observer() {
    for_every_kind!(|sender, receiver| {
        let observer = receiver.observer();
        let mut to = Vec::new();
        assert_eq!(sender.send_batch(0..100), Ok(100));
        assert_eq!(flow(&observer), (100, 0, 100));
        assert_eq!(receiver.recv_batch(&mut to, 30), Ok(30));
        assert_eq!(flow(&observer), (100, 30, 100));
        assert_eq!(sender.send_batch(0..40), Ok(40));
        assert_eq!(flow(&observer), (140, 30, 110));
        assert_eq!(receiver.try_iter().count(), 110);
        assert_eq!(flow(&observer), (140, 140, 110));
    });
}

#[test]
fn hidden_messages_are_counted_when_they_are_flushed_and_never_when_they_are_taken_back() {
    fn check<S>(sender: &mut S, observer: &Observer, write: fn(&mut S, u8), unwrite: fn(&mut S), flush: fn(&mut S)) {
        (0..20).for_each(|number| write(sender, number));
        assert_eq!(flow(observer), (0, 0, 0));
        (0..5).for_each(|_| unwrite(sender));
        flush(sender);
        assert_eq!(flow(observer).0, 15);
        write(sender, 0);
        unwrite(sender);
        flush(sender);
        assert_eq!(flow(observer).0, 15);
    }
    for (mut sender, receiver) in [spsc::unbounded(), spsc::bounded(30)] {
        let (write, unwrite) = (
            |s: &mut spsc::Sender<_>, m| s.write(m).unwrap(),
            |s: &mut spsc::Sender<_>| assert!(s.unwrite().is_some()),
        );
        check(&mut sender, &receiver.observer(), write, unwrite, |sender| _ = sender.flush());
    }
    for (mut sender, receiver) in [mpsc::unbounded(), mpsc::bounded(30)] {
        let (write, unwrite) = (
            |s: &mut mpsc::Sender<_>, m| s.write(m).unwrap(),
            |s: &mut mpsc::Sender<_>| assert!(s.unwrite().is_some()),
        );
        check(&mut sender, &receiver.observer(), write, unwrite, |sender| _ = sender.flush());
    }
}

/// Claim: The high-water mark is at most 64 too low.
#[test]
fn a_mark_that_was_not_read_is_too_low_by_64_at_most() {
    for backlog in [1_u64, 2, 63, 64, 65, 300, 999, 1_000] {
        for_every_kind!(|sender, receiver| {
            (0..50).for_each(|number| {
                sender.send(number).unwrap();
                receiver.recv().unwrap();
            });
            (0..backlog).for_each(|number| sender.send(number).unwrap());
            assert_eq!(receiver.try_iter().count() as u64, backlog);
            let (sent, received, high) = flow(&receiver.observer());
            assert_eq!((sent, received), (backlog + 50, backlog + 50));
            assert!(high >= 1 && high <= backlog && high + 64 >= backlog, "{high} of {backlog}");
        });
    }
}

/// Batches, permits' messages and those that are sent while there is a permit go another way into an mpmc channel than
/// others.
#[test]
fn the_mark_of_an_mpmc_channel_is_too_low_by_64_at_most_however_it_was_filled() {
    const BACKLOG: u64 = 300;
    let ways: [fn(&mpmc::Sender<u64>); 3] = [
        |sender| assert_eq!(sender.send_batch(0..BACKLOG), Ok(BACKLOG as usize)),
        |sender| (0..BACKLOG).for_each(|number| sender.reserve().unwrap().send(number).unwrap()),
        |sender| {
            let _permit = sender.reserve().unwrap();
            (0..BACKLOG).for_each(|number| sender.send(number).unwrap());
        },
    ];
    for (way, fill) in ways.into_iter().enumerate() {
        for (sender, receiver) in [mpmc::bounded(1_000), mpmc::unbounded()] {
            fill(&sender);
            assert!(receiver.try_iter().eq(0..BACKLOG));
            let (sent, received, high) = flow(&receiver.observer());
            assert_eq!((sent, received), (BACKLOG, BACKLOG));
            assert!((BACKLOG - 64..=BACKLOG).contains(&high), "{high} of {BACKLOG}, way {way}");
        }
    }
}

/// A batch as long as from one sample to the next, and messages after it up to the next sample.
#[test]
fn a_batch_that_ends_where_a_check_is_due_is_seen_by_the_mark_of_an_mpmc_channel() {
    for (sender, receiver) in [mpmc::bounded(1_000), mpmc::unbounded()] {
        assert_eq!(sender.send_batch(0..64), Ok(64));
        (64..127).for_each(|number| sender.send(number).unwrap());
        assert!(receiver.try_iter().eq(0..127));
        let (sent, received, high) = flow(&receiver.observer());
        assert_eq!((sent, received), (127, 127));
        assert!((127 - 64..=127).contains(&high), "{high} of 127");
    }
}

#[test]
fn the_mark_of_a_channel_that_was_found_full_is_its_bound() {
    for bound in [1, 2, 7, 63, 64, 65, 100, 1_000_u64] {
        for_every_kind!(bounded bound as usize, |sender, receiver| {
            for number in 0..bound {
                sender.send(number).unwrap();
            }
            assert!(sender.try_send(0).is_err());
            assert_eq!(receiver.try_iter().count() as u64, bound);
            assert_eq!((flow(&receiver.observer()), waits(&receiver.observer())), ((bound, bound, bound), (0, 0, 1)));
        });
    }
}

/// By a sender that wants a place for a message to come.
#[test]
fn the_mark_of_a_full_mpmc_channel_is_its_bound() {
    for bound in [1, 2, 7, 63, 64, 65, 100, 1_000_u64] {
        let (sender, receiver) = mpmc::bounded(bound as usize);
        (0..bound).for_each(|number| sender.send(number).unwrap());
        assert!(sender.try_reserve().is_err());
        assert_eq!(receiver.try_iter().count() as u64, bound);
        assert_eq!((flow(&receiver.observer()), waits(&receiver.observer())), ((bound, bound, bound), (0, 0, 1)));
    }
}

/// Claim: Statistics are exact for everything before the call and never decrease. `sent` is never less than `received`.
/// Also: suite statistics::endings::a_race_between_sends_and_the_receivers_end_is_counted_by_its_answers.
#[test]
fn two_threads_and_their_observers() {
    const MESSAGES: u64 = if cfg!(miri) { 500 } else { 200_000 };
    for_every_kind!(|sender, receiver| {
        let observer = sender.observer();
        let also = observer.clone();
        guarded(move || {
            let done = Arc::new(AtomicBool::new(false));
            let watchers: Vec<_> = (0..2).map(|_| watch(&observer, &done)).collect();
            let thread = thread::spawn(move || (0..MESSAGES).for_each(|number| sender.send(number).unwrap()));
            assert!(receiver.iter().eq(0..MESSAGES));
            thread.join().unwrap();
            done.store(true, Ordering::Release);
            watchers.into_iter().for_each(|watcher| watcher.join().unwrap());
        });
        // Both handles are gone.
        let (sent, received, high) = flow(&also);
        assert_eq!((sent, received), (MESSAGES, MESSAGES));
        assert!((1..=MESSAGES).contains(&high));
    });
}

/// A thread that polls until all is done: nothing may ever become less.
fn watch(observer: &Observer, done: &Arc<AtomicBool>) -> thread::JoinHandle<()> {
    let (observer, done) = (observer.clone(), done.clone());
    thread::spawn(move || {
        let mut before = Statistics::default();
        loop {
            let is_last = done.load(Ordering::Acquire);
            let now = observer.statistics();
            assert!(now.sent >= now.received, "{now:?}");
            let pairs = [
                (before.sent, now.sent),
                (before.received, now.received),
                (before.high_water, now.high_water),
                (before.sleeps, now.sleeps),
                (before.wakes, now.wakes),
                (before.full, now.full),
            ];
            assert!(pairs.iter().all(|(before, now)| before <= now), "{before:?}, then {now:?}");
            before = now;
            if is_last {
                return;
            }
            thread::yield_now();
        }
    })
}

/// Claim: A lane that ends keeps its counts: nothing is counted twice or missed.
/// Also: suite statistics::endings::what_lies_beyond_the_end_of_a_closed_channel_was_not_sent.
#[test]
fn senders_that_come_and_go_leave_their_numbers() {
    const ROUNDS: u64 = if cfg!(miri) { 3 } else { 100 };
    for bound in [None, Some(3)] {
        let (sender, mut receiver) = bound.map_or_else(mpsc::unbounded, mpsc::bounded);
        let observer = receiver.observer();
        let look = observer.clone();
        guarded(move || {
            let done = Arc::new(AtomicBool::new(false));
            let watcher = watch(&observer, &done);
            let senders: Vec<_> = (0..3)
                .map(|_| {
                    let (sender, shared) = (sender.clone(), sender.share());
                    thread::spawn(move || {
                        for number in 0..ROUNDS {
                            let mut clone = sender.clone();
                            (0..number % 10).for_each(|number| clone.send(number).unwrap());
                            shared.send(number).unwrap();
                        }
                    })
                })
                .collect();
            drop(sender);
            let expected = 3 * (ROUNDS + (0..ROUNDS).map(|number| number % 10).sum::<u64>());
            assert_eq!(receiver.iter().count() as u64, expected);
            senders.into_iter().for_each(|sender| sender.join().unwrap());
            assert_eq!((flow(&observer).0, flow(&observer).1), (expected, expected));
            drop(receiver);
            assert_eq!((flow(&observer).0, flow(&observer).1), (expected, expected));
            done.store(true, Ordering::Release);
            watcher.join().unwrap();
        });
        assert!(bound.is_none_or(|bound| flow(&look).2 <= bound as u64));
    }
}

#[test]
fn many_mpmc_senders_and_receivers() {
    const EACH: u64 = if cfg!(miri) { 100 } else { 20_000 };
    for (sender, receiver) in [mpmc::bounded(10), mpmc::unbounded()] {
        guarded(move || {
            let (observer, done) = (sender.observer(), Arc::new(AtomicBool::new(false)));
            let watcher = watch(&observer, &done);
            let senders: Vec<_> = (0..3)
                .map(|_| {
                    let sender = sender.clone();
                    thread::spawn(move || (0..EACH).for_each(|number| sender.send(number).unwrap()))
                })
                .collect();
            drop(sender);
            let receivers: Vec<_> = (0..2)
                .map(|_| {
                    let receiver = receiver.clone();
                    thread::spawn(move || receiver.iter().count() as u64)
                })
                .collect();
            senders.into_iter().for_each(|sender| sender.join().unwrap());
            assert_eq!(receivers.into_iter().map(|receiver| receiver.join().unwrap()).sum::<u64>(), 3 * EACH);
            assert_eq!((flow(&observer).0, flow(&observer).1), (3 * EACH, 3 * EACH));
            assert!(receiver.capacity().is_none_or(|bound| flow(&observer).2 <= bound as u64));
            done.store(true, Ordering::Release);
            watcher.join().unwrap();
        });
    }
}

#[test]
fn permits_are_counted_when_they_send() {
    let (mut sender, _receiver) = spsc::bounded(2);
    let observer = sender.observer();
    sender.reserve().unwrap().send(1).unwrap();
    assert_eq!(flow(&observer).0, 1);
    drop(sender.reserve().unwrap());
    assert!(sender.try_reserve_many(2).is_err());
    assert_eq!((flow(&observer), waits(&observer).2), ((1, 0, 1), 1));

    let (sender, receiver) = mpmc::bounded(2);
    let observer = receiver.observer();
    let permit = sender.reserve().unwrap();
    assert_eq!(flow(&observer), (0, 0, 0));
    sender.send(1).unwrap();
    assert_eq!(flow(&observer), (1, 0, 1));
    assert!(sender.try_reserve().is_err() && sender.try_send(0).is_err());
    permit.send(2).unwrap();
    assert_eq!((flow(&observer), waits(&observer).2), ((2, 0, 2), 2));
}

#[test]
fn a_place_that_is_there_or_never_will_be_is_no_refusal() {
    for_every_kind!(bounded 2, |sender, receiver| {
        let observer = receiver.observer();
        sender.send(1).unwrap();
        drop(sender.try_reserve().unwrap());
        assert!(sender.try_reserve_many(3).is_err());
        drop(receiver);
        assert!(sender.try_reserve().is_err());
        assert_eq!(waits(&observer).2, 0);
    });
}

#[test]
fn a_message_that_makes_way_is_taken_out() {
    let (sender, receiver) = mpmc::bounded(2);
    let observer = receiver.observer();
    (0..10).for_each(|number| _ = sender.force_send(number).unwrap());
    assert_eq!(flow(&observer), (10, 8, 2));
    assert_eq!(receiver.try_iter().count(), 2);
    assert_eq!(flow(&observer), (10, 10, 2));
}

#[test]
fn a_rendezvous_counts_its_meetings() {
    for_every_kind!(bounded 0, |sender, receiver| {
        let observer = sender.observer();
        guarded(move || {
            assert!(sender.try_send(0).is_err() && receiver.try_recv().is_err());
            let thread = thread::spawn(move || (0..500).for_each(|number| sender.send(number).unwrap()));
            assert!(receiver.iter().eq(0..500));
            thread.join().unwrap();
            assert_eq!((flow(&observer), waits(&observer).2), ((500, 500, 0), 0));
        });
    });
}

/// Claim: An observer keeps no channel open and no message alive.
#[test]
fn an_observer_keeps_no_channel_open_and_no_message_alive() {
    for_every_kind!(|sender, receiver| {
        let message = Arc::new(());
        let observer = receiver.observer();
        (0..3).for_each(|_| sender.send(message.clone()).unwrap());
        assert_eq!(flow(&observer), (3, 0, 3));
        drop(sender);
        assert!(receiver.is_disconnected());
        drop(receiver.recv().unwrap());
        drop(receiver);
        assert_eq!(Arc::strong_count(&message), 1);
        assert_eq!(flow(&observer), (3, 1, 3));
        assert!(format!("{observer:?}").contains("sent: 3, received: 1"), "{observer:?}");
    });
}

#[test]
fn messages_need_not_be_static() {
    let text = String::from("borrowed");
    let (mut sender, receiver) = spsc::unbounded::<&str>();
    let observer = sender.observer();
    sender.send(&text).unwrap();
    drop((sender, receiver));
    drop(text);
    assert_eq!(flow(&observer), (1, 0, 1));
}

/// Of lanes that are there, and of lanes that are gone; the mark is the most of one of them.
#[test]
fn the_numbers_of_hundreds_of_lanes_are_added_up() {
    const SENDERS: u64 = 300;
    let (sender, mut receiver) = mpsc::unbounded();
    let observer = receiver.observer();
    let mut senders: Vec<_> = (0..SENDERS).map(|_| sender.clone()).collect();
    for (number, sender) in (1..).zip(&mut senders) {
        assert_eq!(sender.send_batch(0..number), Ok(number));
    }
    let all = SENDERS * (SENDERS + 1) / 2;
    assert_eq!(flow(&observer), (all, 0, SENDERS));
    assert_eq!(receiver.try_iter().take(1_000).count(), 1_000);
    assert_eq!(flow(&observer), (all, 1_000, SENDERS));
    // The last of them have sent most.
    senders.truncate(100);
    assert_eq!(receiver.try_iter().count() as u64, all - 1_000);
    assert_eq!(flow(&observer), (all, all, SENDERS));
    drop((sender, senders));
    assert!(receiver.recv().is_err());
    assert_eq!(flow(&observer), (all, all, SENDERS));
}
