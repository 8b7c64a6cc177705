//! Suite: crossbeam-channel tests/golang.rs; upstream 26, carried over here 11, excluded 0.
//!
//! Those of Go's tests that select with sends.

use std::any::Any;
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ysuite::mpmc::{self, Receiver, Sender};
use ysuite::select;

use crate::common::selecting::either_of;
use crate::support::Random;
use crate::tools::{LONG, SHORT, both, each};

carried! {
    doubleselect_main => each_number_goes_one_way;
    select_main => offered_once_each;
    select7_main => every_way_of_sending_to_every_way_of_receiving;
    test_self_select => sending_and_receiving_on_the_same;
    test_select_stress => plain_and_selected_on_four_channels;
    test_select_fairness => an_even_share;
    test_chan_send_interface => offers_without_a_partner;
    test_pseudo_random_send => zeros_and_ones;
    test_select_duplicate_channel => three_waits_and_an_answer;
    chan_main => many_channels_many_selects(0);
    chan1_main => many_channels_many_selects(10);
}

/// Each number is offered to four channels at once: it comes through one of them.
fn each_number_goes_one_way() {
    const NUMBERS: usize = 2_000;
    let ways: [(Sender<usize>, Receiver<usize>); 4] = std::array::from_fn(|_| mpmc::bounded(0));
    let (merged, all) = mpmc::bounded(0);
    let (senders, receivers): (Vec<_>, Vec<_>) = ways.into_iter().unzip();
    thread::scope(|scope| {
        scope.spawn(move || {
            let [a, b, c, d] = &senders[..] else { unreachable!("four of them") };
            for number in 0..NUMBERS {
                select()
                    .send(a, number, Result::unwrap)
                    .send(b, number, Result::unwrap)
                    .send(c, number, Result::unwrap)
                    .send(d, number, Result::unwrap)
                    .wait();
            }
        });
        for rx in receivers {
            let merged = merged.clone();
            scope.spawn(move || rx.iter().for_each(|number| merged.send(number).unwrap()));
        }
        drop(merged);
        let came: Vec<_> = all.iter().collect();
        assert_eq!(came.len(), NUMBERS);
        assert_eq!(came.into_iter().collect::<HashSet<_>>().len(), NUMBERS);
    });
}

/// Two places, each offered a value until it has one: both are sent, and then there is no room.
fn offered_once_each() {
    let ((tx_a, a), (tx_b, b)) = (mpmc::bounded(1), mpmc::bounded(1));
    let offer = |mut to_a: Option<u32>, mut to_b: Option<u32>| {
        let mut sent = 0;
        while select()
            .send_from(&tx_a, &mut to_a, Result::unwrap)
            .send_from(&tx_b, &mut to_b, Result::unwrap)
            .try_now()
            .is_some()
        {
            sent += 1;
        }
        sent
    };
    assert_eq!(offer(Some(1), Some(2)), 2);
    assert_eq!((a.recv(), b.recv()), (Ok(1), Ok(2)));
    assert_eq!((offer(Some(1), None), offer(Some(1), None)), (1, 0));
}

/// Three ways of sending and three of receiving, in all pairs.
fn every_way_of_sending_to_every_way_of_receiving() {
    let sends: [fn(&Sender<i32>); 3] = [
        |tx| tx.send(1).unwrap(),
        |tx| select().send(tx, 1, Result::unwrap).wait(),
        |tx| {
            let (full, _rx) = mpmc::bounded(1);
            full.send(0).unwrap();
            select().send(tx, 1, Result::unwrap).send(&full, 1, |_| panic!("there is no room")).wait();
        },
    ];
    let receives: [fn(&Receiver<i32>); 3] = [
        |rx| assert_eq!(rx.recv(), Ok(1)),
        |rx| assert_eq!(select().recv(rx, |message| message).wait(), Ok(1)),
        |rx| {
            let (_tx, empty) = mpmc::bounded::<i32>(1);
            assert_eq!(either_of(rx, &empty, LONG), Some((0, Ok(1))));
        },
    ];
    for send in sends {
        for receive in receives {
            for bound in [0, 1] {
                let (tx, rx) = mpmc::bounded(bound);
                both(|| receive(&rx), || send(&tx));
            }
        }
    }
}

/// Two threads that send or receive on the same channel, with room or without: no thread pairs with itself in a
/// rendezvous.
fn sending_and_receiving_on_the_same() {
    for bound in [0, 10] {
        let (tx, rx) = mpmc::bounded(bound);
        let left = AtomicUsize::new(2);
        each(0..2, |own| {
            for _ in 0..500 {
                // The last of the two has no partner left.
                while left.load(Ordering::SeqCst) == 2 {
                    let done = select()
                        .send(&tx, own, Result::unwrap)
                        .recv(&rx, |other| assert!(bound != 0 || other != Ok(own)))
                        .wait_timeout(SHORT);
                    if done.is_some() {
                        break;
                    }
                }
            }
            left.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

/// Four channels; a thread for each that sends, one that receives, one that sends to all by selects, one that receives from
/// all: everything that is sent is received.
fn plain_and_selected_on_four_channels() {
    const MESSAGES: usize = 500;
    let ends: [(Sender<()>, Receiver<()>); 4] = [0, 0, 2, 3].map(mpmc::bounded);
    thread::scope(|scope| {
        for (tx, rx) in &ends {
            scope.spawn(move || (0..MESSAGES).for_each(|_| tx.send(()).unwrap()));
            scope.spawn(move || (0..MESSAGES).for_each(|_| rx.recv().unwrap()));
        }
        scope.spawn(|| {
            let mut left = [MESSAGES; 4];
            while left != [0; 4] {
                let mut offers = left.map(|left| (left > 0).then_some(()));
                let [a, b, c, d] = &mut offers;
                let [tx_a, tx_b, tx_c, tx_d] = ends.each_ref().map(|(tx, _)| tx);
                let sent = select()
                    .send_from(tx_d, d, |_| 3)
                    .send_from(tx_c, c, |_| 2)
                    .send_from(tx_a, a, |_| 0)
                    .send_from(tx_b, b, |_| 1)
                    .wait();
                left[sent] -= 1;
            }
        });
        scope.spawn(|| {
            let mut left = [MESSAGES; 4];
            let (_never, nothing) = mpmc::bounded::<()>(1);
            while left != [0; 4] {
                let [a, b, c, d] = std::array::from_fn(|at| if left[at] > 0 { &ends[at].1 } else { &nothing });
                let received = select().recv(a, |_| 0).recv(b, |_| 1).recv(c, |_| 2).recv(d, |_| 3).wait();
                left[received] -= 1;
            }
        });
    });
}

/// Two channels that are always ready, two that never are: the ready ones have about the same share.
fn an_even_share() {
    const TRIALS: usize = 4_000;
    let ((tx_a, a), (tx_b, b)) = (mpmc::bounded(TRIALS + 1), mpmc::bounded(TRIALS + 1));
    for _ in 0..=TRIALS {
        tx_a.send(1).unwrap();
        tx_b.send(2).unwrap();
    }
    let ((_tx_c, c), (_tx_d, d)) = (mpmc::bounded::<u8>(0), mpmc::bounded(0));
    let ((out, all), (done, is_done)) = (mpmc::bounded(0), mpmc::bounded::<()>(0));
    both(
        || loop {
            let next =
                select().recv(&c, |next| next).recv(&d, |next| next).recv(&a, |next| next).recv(&b, |next| next).wait();
            if !select().send(&out, next.unwrap(), |sent| sent.is_ok()).recv(&is_done, |_| false).wait() {
                break;
            }
        },
        || {
            let ones = (0..TRIALS).filter(|_| all.recv() == Ok(1)).count();
            // Five nines of all runs are nearer to a half than this.
            assert!(ones.abs_diff(TRIALS / 2) < 150, "{ones} of {TRIALS}");
            drop(done);
        },
    );
}

fn offers_without_a_partner() {
    struct Thing;
    let (tx, rx) = mpmc::bounded::<Box<dyn Any + Send>>(1);
    let thing = || -> Box<dyn Any + Send> { Box::new(Thing) };
    tx.send(thing()).unwrap();
    assert!(select().send(&tx, thing(), |_| ()).try_now().is_none());
    assert!(select().send(&tx, thing(), |_| ()).send(&tx, thing(), |_| ()).try_now().is_none());
    assert!(rx.recv().unwrap().is::<Thing>());
}

/// A zero or a one, whichever is chosen: both are, for bounds of many sizes.
fn zeros_and_ones() {
    const MESSAGES: usize = 200;
    for bound in [0, 1, 2, 10, 99] {
        let (tx, rx) = mpmc::bounded(bound);
        let (ones, ()) = both(
            || (0..MESSAGES).map(|_| rx.recv().unwrap()).sum::<usize>(),
            || (0..MESSAGES).for_each(|_| select().send(&tx, 1, Result::unwrap).send(&tx, 0, Result::unwrap).wait()),
        );
        assert!((MESSAGES / 10..=MESSAGES * 9 / 10).contains(&ones), "{ones} ones, bound {bound}");
    }
}

/// A thread waits for three channels, another for the first of them; the second brings the message.
fn three_waits_and_an_answer() {
    let ((tx_c, c), (tx_d, d), (tx_e, e)) = (mpmc::bounded(0), mpmc::bounded(0), mpmc::bounded(0));
    thread::scope(|scope| {
        let (c, d, e, tx_e) = (&c, &d, &e, &tx_e);
        scope.spawn(move || {
            let done = select().recv(c, |_| 'c').recv(d, |_| 'd').recv(e, |_| 'e').wait();
            assert_eq!(done, 'd');
            tx_e.send(9).unwrap();
        });
        thread::sleep(SHORT);
        scope.spawn(move || assert_eq!(c.recv(), Ok(8)));
        thread::sleep(SHORT);
        tx_d.send(7).unwrap();
        assert_eq!(e.recv(), Ok(9));
        tx_c.send(8).unwrap();
    });
}

/// Channels with counters that go up by one with each message; plain operations and selects of two channels, in random
/// pairs. Every channel's messages come in order, all of them.
fn many_channels_many_selects(bound: usize) {
    const CHANNELS: usize = 6;
    const MESSAGES: usize = 76;
    let ends: Vec<(Sender<usize>, Receiver<usize>)> = (0..CHANNELS).map(|_| mpmc::bounded(bound)).collect();
    let ((), mut came) = both(
        || {
            // Pairs of channels: one thread sends on either, until both have had all.
            each(0..CHANNELS / 2, |pair| {
                let (a, b) = (&ends[2 * pair].0, &ends[2 * pair + 1].0);
                let mut next = [0; 2];
                let mut random = Random::new(pair as u64);
                while next != [MESSAGES; 2] {
                    random.pause();
                    let [mut to_a, mut to_b] = next.map(|next| (next < MESSAGES).then_some(next));
                    let sent = select().send_from(a, &mut to_a, |_| 0).send_from(b, &mut to_b, |_| 1).wait();
                    next[sent] += 1;
                }
            });
        },
        || {
            // Other pairs: received by selects of channels that are not sent to by the same thread.
            let mut came = vec![0; CHANNELS];
            while came.iter().sum::<usize>() < CHANNELS * MESSAGES {
                let first = (0..CHANNELS).position(|at| came[at] < MESSAGES).expect("there are some to come");
                let last = (0..CHANNELS).rposition(|at| came[at] < MESSAGES).expect("there are some to come");
                let (side, message) = either_of(&ends[first].1, &ends[last].1, LONG).unwrap();
                let at = [first, last][side];
                assert_eq!(message, Ok(came[at]));
                came[at] += 1;
            }
            came
        },
    );
    came.dedup();
    assert_eq!(came, [MESSAGES]);
}
