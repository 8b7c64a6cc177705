//! One thread that waits for the first of several receivers.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ysuite::signal::ReadySet;
use ysuite::{RecvError, TryRecvError};

use crate::ends::{Bound, Kind, first_of};
use crate::tools::{LONG, SHORT, both, pause};

/// The only one of several that has something is found.
pub(crate) fn the_one_with_a_message(kind: Kind, bound: Bound, receivers: usize) {
    let (mut senders, mut all): (Vec<_>, Vec<_>) = (0..receivers).map(|_| kind.open(bound)).unzip();
    for at in (0..receivers).rev() {
        senders[at].send(at).unwrap();
        let mut all: Vec<_> = all.iter_mut().collect();
        assert_eq!(first_of(&mut all, LONG), Some((at, Ok(at))));
    }
}

/// A receiver whose sender is gone is found as well, before and after another has something; and so is the last when it
/// is disconnected.
pub(crate) fn one_whose_sender_is_gone(kind: Kind, bound: Bound) {
    let ((tx_a, mut a), (mut tx_b, mut b)) = (kind.open::<i32>(bound), kind.open::<i32>(bound));
    let (mut go, mut went) = kind.endless();
    both(
        move || {
            drop(tx_a);
            went.recv().unwrap();
            tx_b.send(5).unwrap();
            assert!(went.recv().is_err());
            pause();
            drop(tx_b);
        },
        || {
            assert_eq!(first_of(&mut [&mut a, &mut b], LONG), Some((0, Err(RecvError))));
            go.send(()).unwrap();
            assert_eq!(b.recv(), Ok(5));
            assert_eq!(first_of(&mut [&mut a, &mut b], LONG), Some((0, Err(RecvError))));
            drop(go);
            assert_eq!(first_of(&mut [&mut b], LONG), Some((0, Err(RecvError))));
        },
    );
}

/// Without waiting: nothing, then one that has ended, then one that has something, then nothing again; and of none, nothing.
pub(crate) fn without_waiting(kind: Kind, bound: Bound) {
    let ((tx_a, mut a), (mut tx_b, mut b)) = (kind.open(bound), kind.open(bound));
    assert_eq!(first_of(&mut [&mut a, &mut b], Duration::ZERO), None);
    drop(tx_a);
    assert_eq!(first_of(&mut [&mut a, &mut b], Duration::ZERO), Some((0, Err(RecvError))));
    tx_b.send(2).unwrap();
    assert_eq!(first_of(&mut [&mut b], Duration::ZERO), Some((0, Ok(2))));
    assert_eq!(first_of(&mut [&mut b], Duration::ZERO), None);
    assert_eq!(first_of::<()>(&mut [], Duration::ZERO), None);
}

/// A time runs out, and the message that comes afterwards is found by the next wait.
pub(crate) fn the_time_runs_out(kind: Kind, bound: Bound) {
    let ((_tx_a, mut a), (mut tx_b, mut b)) = (kind.open(bound), kind.open(bound));
    let (mut out, mut ran_out) = kind.endless();
    both(
        move || {
            ran_out.recv().unwrap();
            pause();
            tx_b.send(2).unwrap();
            tx_b
        },
        || {
            assert_eq!(first_of(&mut [&mut a, &mut b], SHORT), None);
            out.send(()).unwrap();
            assert_eq!(first_of(&mut [&mut a, &mut b], LONG), Some((1, Ok(2))));
        },
    );
    assert_eq!(first_of::<()>(&mut [], SHORT), None);
}

/// A disconnect is found by a wait of any length.
pub(crate) fn an_end_is_found(kind: Kind, bound: Bound) {
    for limit in [Duration::ZERO, SHORT, LONG] {
        let (_, mut rx) = kind.open::<i32>(bound);
        assert_eq!(first_of(&mut [&mut rx], limit), Some((0, Err(RecvError))));
    }
}

/// A wait is ended by a message that comes while it sleeps.
pub(crate) fn woken_by_a_message(kind: Kind, bound: Bound) {
    let ((_tx_a, mut a), (mut tx_b, mut b)) = (kind.open(bound), kind.open(bound));
    both(
        move || {
            pause();
            tx_b.send(2).unwrap();
            tx_b
        },
        || assert_eq!(first_of(&mut [&mut a, &mut b], LONG), Some((1, Ok(2)))),
    );
}

/// A clone of a sender that comes and goes ends no wait, and takes nothing from the sender that stays.
pub(crate) fn a_clone_that_goes(kind: Kind, bound: Bound, before: bool) {
    let ((mut tx_a, mut a), (_tx_b, mut b)) = (kind.open(bound), kind.open(bound));
    both(
        move || {
            if !before {
                pause();
            }
            drop(tx_a.another());
            pause();
            tx_a.send(1).unwrap();
            tx_a
        },
        || {
            if before {
                pause();
            }
            assert_eq!(first_of(&mut [&mut a, &mut b], LONG), Some((0, Ok(1))));
        },
    );
}

/// A message that was there before the wait, with the sender still there, gone, or gone with the message taken.
pub(crate) fn there_before(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    tx.send(()).unwrap();
    assert_eq!(first_of(&mut [&mut rx], LONG), Some((0, Ok(()))));
    tx.send(()).unwrap();
    drop(tx);
    assert_eq!(first_of(&mut [&mut rx], LONG), Some((0, Ok(()))));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
    assert_eq!(first_of(&mut [&mut rx], LONG), Some((0, Err(RecvError))));
}

/// Messages now here, now there, each confirmed before the next: the wait follows.
pub(crate) fn here_and_there(kind: Kind, bound: Bound) {
    const ROUNDS: usize = 1_000;
    let ((mut tx_a, mut a), (mut tx_b, mut b)) = (kind.open(bound), kind.open(bound));
    let (mut confirm, mut confirmed) = kind.open(Some(1));
    both(
        move || {
            for round in 0..ROUNDS {
                tx_a.send(round).unwrap();
                confirmed.recv().unwrap();
                tx_b.send(round).unwrap();
                confirmed.recv().unwrap();
            }
            (tx_a, tx_b)
        },
        || {
            for round in 0..ROUNDS {
                for side in 0..2 {
                    assert_eq!(first_of(&mut [&mut a, &mut b], LONG), Some((side, Ok(round))));
                    confirm.send(()).unwrap();
                }
            }
        },
    );
}

/// Waits with short limits, again and again, while the sender pauses: each message is found, once.
pub(crate) fn short_limits(kind: Kind, bound: Bound) {
    const MESSAGES: usize = 40;
    let (mut tx, mut rx) = kind.open(bound);
    both(
        move || {
            for message in 0..MESSAGES {
                if message % 2 == 0 {
                    pause();
                }
                tx.send(message).unwrap();
            }
        },
        || {
            for expected in 0..MESSAGES {
                let found = std::iter::repeat_with(|| first_of(&mut [&mut rx], SHORT)).flatten().next();
                assert_eq!(found, Some((0, Ok(expected))));
            }
        },
    );
}

/// Of several that all have something, each has its turn: none has less than half its share.
pub(crate) fn each_has_its_turn(kind: Kind, bounds: &[Bound]) {
    const ROUNDS: usize = 2_000;
    let (senders, mut all): (Vec<_>, Vec<_>) = bounds.iter().map(|&bound| kind.open(bound)).unzip();
    for mut tx in senders {
        (0..ROUNDS).for_each(|_| tx.send(()).unwrap());
    }
    let mut hits = vec![0; all.len()];
    for _ in 0..ROUNDS {
        let mut all: Vec<_> = all.iter_mut().collect();
        hits[first_of(&mut all, LONG).unwrap().0] += 1;
    }
    assert!(hits.iter().all(|&hits| hits >= ROUNDS / bounds.len() / 2), "{hits:?}");
}

/// The same receiver, by several clones, in one wait: each clone has its turn.
pub(crate) fn clones_have_their_turns(kind: Kind, bound: Bound, clones: usize) {
    const ROUNDS: usize = 2_000;
    let (mut tx, rx) = kind.open(bound);
    (0..ROUNDS).for_each(|_| tx.send(()).unwrap());
    let mut all = rx.split(clones);
    let mut hits = vec![0; clones];
    for _ in 0..ROUNDS {
        let mut all: Vec<_> = all.iter_mut().collect();
        hits[first_of(&mut all, LONG).unwrap().0] += 1;
    }
    assert!(hits.iter().all(|&hits| hits >= ROUNDS / clones / 2), "{hits:?}");
}

/// A set that is made once: every receiver is named until it has nothing, each in its turn, also under a stream.
pub(crate) fn made_once(kind: Kind, bound: Bound, receivers: usize) {
    const MESSAGES: usize = 500;
    let (senders, mut all): (Vec<_>, Vec<_>) = (0..receivers).map(|_| kind.open(bound)).unzip();
    both(
        || crate::tools::each(senders, |mut tx| (0..MESSAGES).for_each(|message| tx.send(message).unwrap())),
        || {
            let mut select = ReadySet::new();
            let ids: BTreeMap<_, _> = all.iter_mut().enumerate().map(|(at, rx)| (rx.add_to(&mut select), at)).collect();
            let (mut next, mut open) = (vec![0; receivers], receivers);
            while open != 0 {
                let at = ids[&select.wait()];
                loop {
                    match all[at].try_recv() {
                        Ok(message) => {
                            assert_eq!(message, next[at]);
                            next[at] += 1;
                        }
                        Err(TryRecvError::Empty) => break,
                        Err(TryRecvError::Disconnected) => {
                            all[at].remove_from(&mut select);
                            open -= 1;
                            break;
                        }
                    }
                }
            }
            assert!(next.into_iter().all(|next| next == MESSAGES));
        },
    );
}

/// A wait for no handle: with no time it is over at once, with some time when that is up.
pub(crate) fn of_nothing(_: Kind) {
    assert_eq!(first_of::<()>(&mut [], Duration::ZERO), None);
    let begin = Instant::now();
    assert_eq!(first_of::<()>(&mut [], SHORT * 20), None);
    assert!(begin.elapsed() >= SHORT * 20, "not before the time is up");
}
