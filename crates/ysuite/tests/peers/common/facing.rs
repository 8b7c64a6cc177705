//! Selects against selects, and many of them: the pairs, and fairness.

use std::thread;
use std::time::Duration;

use ysuite::TryRecvError;
use ysuite::mpmc::{self, Receiver, Sender};
use ysuite::select;

use super::selecting::either_of;
use crate::tools::{LONG, both, each};

/// A crowd of threads that each would send or receive on one rendezvous: they pair off, none with itself. An odd one
/// pairs with a plain send.
pub(crate) fn every_thread_finds_a_partner(threads: usize) {
    let (tx, rx) = mpmc::bounded(0);
    thread::scope(|scope| {
        for own in 0..threads {
            let (tx, rx) = (&tx, &rx);
            scope.spawn(move || {
                select().recv(rx, |other| assert_ne!(other, Ok(own))).send(tx, own, Result::unwrap).wait()
            });
        }
        if threads % 2 == 1 {
            tx.send(usize::MAX).unwrap();
        }
    });
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
}

/// Channels through channels, each sent and received by a select.
pub(crate) fn channels_through_channels(bound: usize) {
    struct Link(Receiver<Link>);
    let (mut tx, mut rx) = mpmc::bounded::<Link>(bound);
    both(
        move || {
            for _ in 0..300 {
                let (next_tx, next_rx) = mpmc::bounded(bound);
                select().send(&tx, Link(next_rx), |sent| assert!(sent.is_ok())).wait();
                tx = next_tx;
            }
        },
        move || {
            for _ in 0..300 {
                let Ok(Link(next)) = select().recv(&rx, |link| link).wait() else { panic!("a link") };
                rx = next;
            }
        },
    );
}

/// At every moment one of two channels has something for the thread that asks without waiting: that is what it finds.
pub(crate) fn always_something_at_once(rounds: usize) {
    let try_now = |a: &Receiver<i32>, b: &Receiver<i32>| select().recv(a, |_| ()).recv(b, |_| ()).try_now().is_some();
    always_found(mpmc::bounded(1), mpmc::bounded(1), rounds, try_now);
    always_found(mpmc::unbounded(), mpmc::unbounded(), rounds, try_now);
}

/// As [`always_something_at_once`], where another operation is done if nothing is there.
pub(crate) fn always_something_before_the_default(rounds: usize) {
    let or_default = |a: &Receiver<i32>, b: &Receiver<i32>| {
        select().recv(a, |_| true).recv(b, |_| true).after(Duration::ZERO, || false).wait()
    };
    always_found(mpmc::bounded(1), mpmc::bounded(1), rounds, or_default);
    always_found(mpmc::unbounded(), mpmc::unbounded(), rounds, or_default);
}

/// As [`always_something_at_once`], with a limit.
pub(crate) fn always_something(bound: usize) {
    always_found(mpmc::bounded(bound), mpmc::bounded(bound), 2_000, |a, b| either_of(a, b, LONG).is_some());
}

/// One thread asks both by `is_found`, and the other moves the message from one to the other meanwhile.
fn always_found(
    (tx_a, a): (Sender<i32>, Receiver<i32>),
    (tx_b, b): (Sender<i32>, Receiver<i32>),
    rounds: usize,
    is_found: impl Fn(&Receiver<i32>, &Receiver<i32>) -> bool + Sync,
) {
    let ((start, started), (end, ended)) = (mpmc::bounded(0), mpmc::bounded(0));
    both(
        || {
            for _ in 0..rounds {
                start.send(()).unwrap();
                tx_a.send(1).unwrap();
                assert!(is_found(&a, &b));
                end.send(()).unwrap();
                let _ = b.try_recv();
            }
        },
        || {
            for _ in 0..rounds {
                started.recv().unwrap();
                let _ = tx_b.try_send(1);
                let _ = a.try_recv();
                ended.recv().unwrap();
            }
        },
    );
}

/// Of several that are ready each has its turn: none has less than half its share.
pub(crate) fn receives_have_their_turns() {
    const ROUNDS: usize = 2_000;
    let ((tx_a, a), (tx_b, b)) = (mpmc::bounded(ROUNDS), mpmc::bounded(ROUNDS));
    (0..ROUNDS).for_each(|_| [&tx_a, &tx_b].into_iter().for_each(|tx| tx.send(()).unwrap()));
    let mut hits = [0; 2];
    (0..ROUNDS).for_each(|_| hits[either_of(&a, &b, LONG).unwrap().0] += 1);
    assert!(hits.iter().all(|&hits| hits >= ROUNDS / 4), "{hits:?}");
}

/// As [`receives_have_their_turns`], for sends.
pub(crate) fn sends_have_their_turns() {
    const ROUNDS: usize = 2_000;
    let ((tx_a, _a), (tx_b, _b)) = (mpmc::bounded(ROUNDS), mpmc::bounded(ROUNDS));
    let mut hits = [0; 2];
    for _ in 0..ROUNDS {
        hits[select().send(&tx_a, (), |_| 0).send(&tx_b, (), |_| 1).wait()] += 1;
    }
    assert!(hits.iter().all(|&hits| hits >= ROUNDS / 4), "{hits:?}");
}

/// Three channels of three bounds, a select on either side: each channel is used.
pub(crate) fn three_channels_face_to_face() {
    const ROUNDS: usize = 2_000;
    let ends: [(Sender<()>, Receiver<()>); 3] = [mpmc::bounded(ROUNDS), mpmc::bounded(1), mpmc::bounded(0)];
    let [(tx_a, a), (tx_b, b), (tx_c, c)] = &ends;
    both(
        || {
            for _ in 0..ROUNDS {
                // A place that is empty is offered a message; one that is not is left out.
                let [mut to_a, mut to_b] = [tx_a, tx_b].map(|tx| tx.is_empty().then_some(()));
                select()
                    .send_from(tx_a, &mut to_a, Result::unwrap)
                    .send_from(tx_b, &mut to_b, Result::unwrap)
                    .send(tx_c, (), Result::unwrap)
                    .wait();
            }
        },
        || {
            let mut hits = [0; 3];
            for _ in 0..ROUNDS {
                let done = select().recv(a, |_| 0).recv(b, |_| 1).recv(c, |_| 2).wait();
                hits[done] += 1;
            }
            assert!(hits.iter().all(|&hits| hits > 0), "{hits:?}");
        },
    );
}

/// Two rendezvous, a select on either side, each operation given several times: each side is fair in itself.
pub(crate) fn face_to_face() {
    const ROUNDS: usize = 2_000;
    let ((tx_a, a), (tx_b, b)) = (mpmc::bounded(0), mpmc::bounded(0));
    let ((), hits) = both(
        || (0..ROUNDS).for_each(|_| select().send(&tx_a, 0, Result::unwrap).send(&tx_b, 1, Result::unwrap).wait()),
        || {
            let mut hits = [0; 2];
            (0..ROUNDS).for_each(|_| hits[either_of(&a, &b, LONG).unwrap().1.unwrap()] += 1);
            hits
        },
    );
    assert!(hits.iter().all(|&hits| hits >= ROUNDS / 8), "{hits:?}");
}

/// Several threads in selects over the same channels: every message comes to one of them, once.
pub(crate) fn several_threads_in_selects() {
    const MESSAGES: usize = 2_000;
    let ((tx_a, a), (tx_b, b)) = (mpmc::bounded(3), mpmc::bounded(0));
    let received = std::sync::atomic::AtomicUsize::new(0);
    both(
        move || each([tx_a, tx_b], |tx| (0..MESSAGES).for_each(|message| tx.send(message).unwrap())),
        || {
            each(0..3, |_| {
                let mut open = [true; 2];
                while open != [false; 2] {
                    let (side, message) = match open {
                        [true, true] => either_of(&a, &b, LONG).unwrap(),
                        [first, _] => {
                            (usize::from(!first), select().recv(if first { &a } else { &b }, |message| message).wait())
                        }
                    };
                    match message {
                        Ok(_) => drop(received.fetch_add(1, std::sync::atomic::Ordering::Relaxed)),
                        Err(_) => open[side] = false,
                    }
                }
            });
        },
    );
    assert_eq!(received.into_inner(), 2 * MESSAGES);
}
