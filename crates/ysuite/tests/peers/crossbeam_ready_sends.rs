//! Suite: crossbeam-channel tests/ready.rs; upstream 24, carried over here 10, excluded 0.
//!
//! Which of several can go on, senders among them: a set that names them, and the operation itself afterwards.

use std::collections::HashSet;
use std::time::Duration;

use ysuite::TrySendError;
use ysuite::mpmc::{self, Receiver};
use ysuite::select;
use ysuite::signal::ReadySet;
use ysuite::timer;

use crate::tools::{LONG, SHORT, both};

carried! {
    default_when_disconnected => ends_are_named;
    both_ready => a_receiver_and_a_sender;
    duplicate_operations => the_same_twice;
    nesting => one_after_the_other;
    stress_send => senders_are_named;
    stress_mixed => mixed;
    send_recv_same_channel => both_ends_of_a_channel;
    channel_through_channel => channels_through_channels;
    fairness1 => every_handle_has_a_turn;
    fairness2 => a_ready_handle_may_be_too_late;
}

fn ends_are_named() {
    for limit in [Duration::ZERO, SHORT, LONG] {
        for bound in [0, 1] {
            let mut set = ReadySet::new();
            let (_, rx) = mpmc::bounded::<i32>(bound);
            let id = set.add_shared(&rx).unwrap();
            assert_eq!(set.wait_timeout(limit), Some(id));
            assert!(rx.try_recv().unwrap_err().is_disconnected());
            let mut set = ReadySet::new();
            let (tx, _) = mpmc::bounded(bound);
            let id = set.add_shared(&tx).unwrap();
            assert_eq!(set.wait_timeout(limit), Some(id));
            assert_eq!(tx.try_send(0), Err(TrySendError::Disconnected(0)));
        }
    }
}

fn a_receiver_and_a_sender() {
    let ((tx_a, a), (tx_b, b)) = (mpmc::bounded(0), mpmc::bounded(0));
    both(
        || {
            tx_a.send(1).unwrap();
            assert_eq!(b.recv(), Ok(2));
        },
        || {
            let mut set = ReadySet::new();
            let (receives, sends) = (set.add_shared(&a).unwrap(), set.add_shared(&tx_b).unwrap());
            let mut done = 0;
            while done < 2 {
                // A handle that may go on is reported: by the time it tries, the other side may have cancelled.
                done += match set.wait() {
                    id if id == receives => usize::from(a.try_recv() == Ok(1)),
                    id if id == sends => usize::from(tx_b.try_send(2).is_ok()),
                    _ => 0,
                };
            }
        },
    );
}

fn the_same_twice() {
    let (tx, rx) = mpmc::bounded(1_000);
    let (mut tx_too, mut rx_too) = (tx.clone(), rx.clone());
    let mut set = ReadySet::new();
    let ids = [
        set.add_shared(&rx).unwrap(),
        set.add(&mut rx_too).unwrap(),
        set.add_shared(&tx).unwrap(),
        set.add(&mut tx_too).unwrap(),
    ];
    let mut named = HashSet::new();
    while named.len() < 4 {
        let id = set.wait();
        let at = ids.iter().position(|&other| other == id);
        let done = match at {
            Some(0) => rx.try_recv().is_ok(),
            Some(1) => rx_too.try_recv().is_ok(),
            Some(2) => tx.try_send(0).is_ok(),
            Some(3) => tx_too.try_send(0).is_ok(),
            _ => false,
        };
        if done {
            named.extend(at);
        }
    }
}

fn one_after_the_other() {
    let (tx, rx) = mpmc::bounded(4);
    for message in 0..2 {
        let mut set = ReadySet::new();
        let id = set.add_shared(&tx).unwrap();
        assert_eq!(set.wait(), id);
        tx.try_send(message).unwrap();
        let mut inner = ReadySet::new();
        let id = inner.add_shared(&rx).unwrap();
        assert_eq!(inner.wait(), id);
        assert_eq!(rx.try_recv(), Ok(message));
    }
}

fn senders_are_named() {
    const ROUNDS: usize = 1_000;
    let ((tx_a, a), (tx_b, b)) = (mpmc::bounded(0), mpmc::bounded(0));
    both(
        || (0..ROUNDS).for_each(|round| assert_eq!((a.recv(), b.recv()), (Ok(round), Ok(round)))),
        || {
            let mut set = ReadySet::new();
            let (first, second) = (set.add_shared(&tx_a).unwrap(), set.add_shared(&tx_b).unwrap());
            for round in 0..ROUNDS {
                let mut sent = 0;
                while sent < 2 {
                    sent += match set.wait() {
                        id if id == first => usize::from(tx_a.try_send(round).is_ok()),
                        id if id == second => usize::from(tx_b.try_send(round).is_ok()),
                        _ => 0,
                    };
                }
            }
        },
    );
}

fn mixed() {
    const ROUNDS: usize = 1_000;
    let ((tx_a, a), (tx_b, b)) = (mpmc::bounded(0), mpmc::bounded(0));
    both(
        || {
            for round in 0..ROUNDS {
                tx_a.send(round).unwrap();
                assert_eq!(b.recv(), Ok(round));
            }
        },
        || {
            let mut set = ReadySet::new();
            let (receives, sends) = (set.add_shared(&a).unwrap(), set.add_shared(&tx_b).unwrap());
            for round in 0..ROUNDS {
                let mut done = 0;
                while done < 2 {
                    done += match set.wait() {
                        id if id == receives => usize::from(a.try_recv().is_ok_and(|message| message == round)),
                        id if id == sends => usize::from(tx_b.try_send(round).is_ok()),
                        _ => 0,
                    };
                }
            }
        },
    );
}

fn both_ends_of_a_channel() {
    let (tx, rx) = mpmc::bounded::<i32>(0);
    let mut set = ReadySet::new();
    set.add_shared(&tx).unwrap();
    set.add_shared(&rx).unwrap();
    assert_eq!(set.wait_timeout(SHORT * 5), None);
    let (tx, rx) = mpmc::bounded::<i32>(1);
    let mut set = ReadySet::new();
    let sends = set.add_shared(&tx).unwrap();
    set.add_shared(&rx).unwrap();
    assert_eq!(set.wait_timeout(LONG), Some(sends));
}

fn channels_through_channels() {
    struct Link(Receiver<Link>);
    for bound in 1..4 {
        let (mut tx, mut rx) = mpmc::bounded::<Link>(bound);
        both(
            move || {
                for _ in 0..200 {
                    let (next_tx, next_rx) = mpmc::bounded(bound);
                    let mut set = ReadySet::new();
                    set.add_shared(&tx).unwrap();
                    set.wait();
                    assert!(tx.try_send(Link(next_rx)).is_ok());
                    tx = next_tx;
                }
            },
            move || {
                for _ in 0..200 {
                    let mut set = ReadySet::new();
                    set.add_shared(&rx).unwrap();
                    set.wait();
                    let Ok(Link(next)) = rx.try_recv() else { panic!("it was named, and it is the only receiver") };
                    drop(set);
                    rx = next;
                }
            },
        );
    }
}

fn every_handle_has_a_turn() {
    const ROUNDS: usize = 2_000;
    let ((tx_a, a), (tx_b, b)) = (mpmc::bounded(ROUNDS), mpmc::bounded(ROUNDS));
    (0..ROUNDS).for_each(|_| [&tx_a, &tx_b].into_iter().for_each(|tx| tx.send(()).unwrap()));
    let mut hits = [0; 4];
    for _ in 0..ROUNDS {
        let (once, often) = (timer::after(Duration::ZERO), timer::tick(Duration::ZERO));
        std::thread::sleep(Duration::from_nanos(1));
        let mut set = ReadySet::new();
        let ids =
            [set.add_shared(&a), set.add_shared(&b), set.add_timer(&once), set.add_timer(&often)].map(Result::unwrap);
        let named = set.wait();
        hits[ids.iter().position(|&id| id == named).unwrap()] += 1;
    }
    assert!(hits.iter().all(|&hits| hits >= ROUNDS / 8), "{hits:?}");
}

/// A sender that selects among three channels, a receiver that is named one and asks: it may be too late, and asks again.
fn a_ready_handle_may_be_too_late() {
    const ROUNDS: usize = 2_000;
    let ends = [mpmc::bounded(ROUNDS), mpmc::bounded(1), mpmc::bounded(0)];
    both(
        || {
            let [a, b, c] = ends.each_ref().map(|(tx, _)| tx);
            for _ in 0..ROUNDS {
                let [mut to_a, mut to_b] = [a, b].map(|tx| tx.is_empty().then_some(()));
                select()
                    .send_from(a, &mut to_a, Result::unwrap)
                    .send_from(b, &mut to_b, Result::unwrap)
                    .send(c, (), Result::unwrap)
                    .wait();
            }
        },
        || {
            let mut hits = [0; 3];
            let mut set = ReadySet::new();
            let ids = ends.each_ref().map(|(_, rx)| set.add_shared(rx).unwrap());
            while hits.iter().sum::<usize>() < ROUNDS {
                let named = set.wait();
                let at = ids.iter().position(|&id| id == named).unwrap();
                hits[at] += usize::from(ends[at].1.try_recv().is_ok());
            }
            assert!(hits.iter().all(|&hits| hits > 0), "{hits:?}");
        },
    );
}
