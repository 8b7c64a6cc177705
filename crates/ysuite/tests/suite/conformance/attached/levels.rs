//! The suite of attached receivers: when an id is up, and what that costs.

use std::thread;
use std::time::Duration;

use ysuite::signal::{Attach, Signal, Wait};

use super::{Ends, SetKind, assert_up, attached, send, take};
use crate::conformance::signal::list;
use crate::support::{Random, calls, guarded};

/// Claim: The id of an attached receiver is raised while a message is there and no operation is in progress
/// (level-triggered).
/// Also: model pipe::an_attached_receiver_that_leaves_messages_is_signalled_again.
pub(crate) fn an_id_is_up_until_its_receiver_is_found_empty<K: SetKind, R: Ends>(kind: K, ends: R) {
    guarded(move || {
        let mut set = kind.set();
        for id in kind.corners() {
            let (mut sender, mut receiver) = attached(ends, &mut set, id);
            let is_up = |receiver: &R::Receiver| {
                let mut is_up = None;
                receiver.with_registration(&mut |registration| is_up = Some((registration.id(), registration.is_up())));
                is_up
            };
            for round in 0..=2 * R::WAYS {
                // At first too: there may be messages already.
                for _ in 0..3 {
                    assert_up(&mut set, &[id]);
                    assert_eq!(list(set.wait()), [id]);
                    assert_eq!(list(set.wait_timeout(Duration::ZERO)), [id]);
                }
                assert_eq!(is_up(&receiver), Some((id, true)));
                if round > 0 {
                    assert_eq!(take::<R>(&mut receiver), Some(round));
                    // The receiver does not know that it is empty before it has polled.
                    assert_up(&mut set, &[id]);
                }
                assert_eq!(take::<R>(&mut receiver), None);
                assert_eq!(is_up(&receiver), Some((id, false)));
                assert_up(&mut set, &[]);
                assert!(set.wait_timeout(Duration::from_micros(1)).is_empty());
                let (way, message) = (round / 2, (round + 1, None));
                match round {
                    0 => assert!(R::send(&mut sender, message)),
                    // From this thread, and from one that has not sent before.
                    _ if round % 2 == 0 => R::send_by(&mut sender, way - 1, message),
                    _ => {
                        let send = move || {
                            R::send_by(&mut sender, way, message);
                            sender
                        };
                        sender = thread::spawn(send).join().unwrap();
                    }
                }
            }
            // What is left is dropped with the receiver, and so is its signal.
        }
        assert_up(&mut set, &[]);
    });
}

pub(crate) fn a_receiver_read_half_way_is_reported_again<K: SetKind, R: Ends>(kind: K, ends: R) {
    let mut set = kind.set();
    let last = kind.capacity() - 1;
    let (mut sender, mut receiver) = attached(ends, &mut set, last);
    assert_eq!(take::<R>(&mut receiver), None);
    (0..100).for_each(|number| send::<R>(&mut sender, number));
    for expected in 0..100 {
        assert_eq!(list(set.wait()), [last]);
        assert_eq!(take::<R>(&mut receiver), Some(expected));
    }
    assert_up(&mut set, &[last]);
    assert_eq!(take::<R>(&mut receiver), None);
    assert_up(&mut set, &[]);
}

pub(crate) fn whatever_is_done_the_id_is_up_while_messages_are_there<K: SetKind, R: Ends>(kind: K, ends: R) {
    for seed in 0..20 {
        let mut set = kind.set();
        let (mut sender, mut receiver) = attached(ends, &mut set, 17);
        let mut random = Random::new(seed);
        let mut there = 0;
        for step in 0..500 {
            let mut is_down = false;
            match random.below(10) {
                _ if there >= 80 => (0..80).for_each(|_| there -= usize::from(take::<R>(&mut receiver).is_some())),
                0..=2 => {
                    there += 1;
                    send::<R>(&mut sender, step);
                }
                3 => {
                    let many = random.below(20);
                    there += many;
                    (0..many).for_each(|number| R::send_by(&mut sender, random.below(R::WAYS), (number, None)));
                }
                _ => {
                    let looked = R::look(&mut receiver, &mut random);
                    there -= looked.taken;
                    is_down = looked.is_down;
                }
            }
            let up = list(set.check()) == [17];
            assert!(up || there == 0, "messages that the set does not report, in step {step}, seed {seed}");
            assert!(!is_down || !up, "a receiver that has found itself empty is reported, in step {step}, seed {seed}");
        }
    }
}

pub(crate) fn attached_and_hand_raised_ids_keep_apart<K: SetKind, R: Ends>(kind: K, ends: R) {
    let (mut set, signaler) = kind.pair();
    let ids = kind.corners();
    let (held, free): (Vec<_>, Vec<_>) = ids.iter().copied().partition(|id| ids.binary_search(id).unwrap() % 2 == 0);
    let mut pairs: Vec<_> = held.iter().map(|&id| attached(ends, &mut set, id)).collect();
    free.iter().for_each(|&id| signaler.signal(id));
    assert_up(&mut set, &ids);
    // The ones raised by hand are taken, the others stay.
    assert_up(&mut set, &held);
    free.iter().for_each(|&id| signaler.signal(id));
    pairs.iter_mut().for_each(|(_, receiver)| assert_eq!(take::<R>(receiver), None));
    assert_up(&mut set, &free);
    assert_up(&mut set, &[]);
    pairs.iter_mut().for_each(|(sender, _)| send::<R>(sender, 1));
    assert_eq!(list(set.wait()), held);
    // Raised by hand, an attached id is reported until the receiver finds itself empty.
    pairs.iter_mut().for_each(|(_, receiver)| while take::<R>(receiver).is_some() {});
    signaler.signal(held[0]);
    assert_up(&mut set, &held[..1]);
    assert_up(&mut set, &held[..1]);
    assert_eq!(take::<R>(&mut pairs[0].1), None);
    assert_up(&mut set, &[]);
}

/// Claim: No signal is raised and no descriptor written while an attached receiver is being read.
pub(crate) fn nothing_is_signalled_while_the_receiver_is_read<K: SetKind, R: Ends>(kind: K, ends: R) {
    let mut set = kind.set();
    let (mut sender, mut receiver) = attached(ends, &mut set, 1);
    // At first there are calls that a process, or a channel, makes once.
    for is_counted in [false, true] {
        assert_eq!(take::<R>(&mut receiver), None);
        let before = calls();
        send::<R>(&mut sender, 0);
        assert!(!is_counted || calls() - before <= 1, "one wake-up");
        let before = calls();
        for number in 1..2_000 {
            send::<R>(&mut sender, number);
            assert_up(&mut set, &[1]);
            assert_eq!(list(set.wait()), [1]);
            assert_eq!(take::<R>(&mut receiver), Some(number - 1));
        }
        // Not one for a signal. An unbounded spsc channel may map memory, once, when its chunks grow; an mpmc channel
        // maps a segment and has its first pages put in place, if a segment ends here with the machine's word size.
        assert!(!is_counted || calls() - before <= 2, "{} system calls", calls() - before);
        assert_eq!(take::<R>(&mut receiver), Some(1_999));
    }
}

pub(crate) fn an_idle_attached_receiver_costs_nothing<K: SetKind, R: Ends>(kind: K, ends: R) {
    let mut set = kind.set();
    let (mut sender, mut receiver) = attached(ends, &mut set, 1);
    for messages in 0..100 {
        // Down, and armed: a barrier, and the descriptor where there is one, however long there was a stream before.
        let before = calls();
        assert_eq!(take::<R>(&mut receiver), None);
        assert!(calls() - before <= 1 + K::CALLS_OF_A_TAKE);
        let before = calls();
        for _ in 0..50 {
            assert_eq!(take::<R>(&mut receiver), None);
            assert_up(&mut set, &[]);
        }
        assert_eq!(calls(), before, "polling an empty receiver again must not cost a system call");
        (0..messages).for_each(|number| send::<R>(&mut sender, number));
        (0..messages).for_each(|number| assert_eq!(take::<R>(&mut receiver), Some(number)));
    }
}

pub(crate) fn every_id_may_have_a_receiver<K: SetKind, R: Ends>(kind: K, ends: R) {
    guarded(move || {
        let receivers = kind.capacity().min(1_000);
        let behind = kind.capacity() - receivers;
        let mut set = kind.set();
        let mut pairs: Vec<_> = (0..receivers).map(|index| attached(ends, &mut set, behind + index)).collect();
        pairs.iter_mut().for_each(|(_, receiver)| assert_eq!(take::<R>(receiver), None));
        assert_up(&mut set, &[]);
        let mut random = Random::new(2);
        for _ in 0..20 {
            let mut ids: Vec<_> = (0..random.below(300)).map(|_| behind + random.below(receivers)).collect();
            ids.sort_unstable();
            ids.dedup();
            ids.iter().rev().for_each(|&id| send::<R>(&mut pairs[id - behind].0, id));
            (0..2).for_each(|_| assert_up(&mut set, &ids));
            for &id in &ids {
                let receiver = &mut pairs[id - behind].1;
                assert_eq!((take::<R>(receiver), take::<R>(receiver)), (Some(id), None));
            }
            assert_up(&mut set, &[]);
        }
    });
}
