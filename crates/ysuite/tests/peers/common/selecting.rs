//! One of several operations, sends among them: the one-shot select. Mostly over mpmc channels, as other libraries'
//! selects are.

use std::collections::HashSet;
use std::thread;
use std::time::Duration;

use ysuite::mpmc::{self, Receiver};
use ysuite::select;
use ysuite::{RecvError, SendError, TryRecvError};

use crate::ends::{Bound, Kind, Rx, Tx};
use crate::tools::{LONG, SHORT, both, pause};

/// What was done, with what outcome: the numbers are those of the operations of one select, from 0.
type Done<T> = (usize, Result<T, RecvError>);

/// One of two receives.
pub(crate) fn either_of<T>(a: &Receiver<T>, b: &Receiver<T>, limit: Duration) -> Option<Done<T>> {
    select().recv(a, |message| (0, message)).recv(b, |message| (1, message)).wait_timeout(limit)
}

/// Messages here and there, then the disconnects: what is there is found.
pub(crate) fn the_one_with_a_message(receivers: usize) {
    let (senders, all): (Vec<_>, Vec<_>) = (0..receivers).map(|_| mpmc::bounded(2)).unzip();
    for at in (0..receivers).rev() {
        senders[at].send(at).unwrap();
        assert_eq!(either_of(&all[0], &all[at], LONG).unwrap().1, Ok(at));
    }
    drop(senders);
    assert!(all.iter().all(|rx| select().recv(rx, |message| message).wait() == Err(RecvError)));
}

/// One whose sender is gone is found before and after the other has a message.
pub(crate) fn one_whose_sender_is_gone() {
    let ((tx_a, a), (tx_b, b)) = (mpmc::bounded::<i32>(2), mpmc::bounded(2));
    drop(tx_a);
    assert_eq!(either_of(&a, &b, LONG), Some((0, Err(RecvError))));
    tx_b.send(5).unwrap();
    // The disconnect is found again and again, the message once.
    let found: Vec<_> = (0..200).map(|_| either_of(&a, &b, LONG).unwrap()).collect();
    assert!(found.contains(&(0, Err(RecvError))));
    assert_eq!(found.iter().filter(|found| found.0 == 1).count(), usize::from(b.is_empty()));
}

/// Without waiting: nothing, a disconnect, a message, nothing.
pub(crate) fn without_waiting() {
    let ((tx_a, a), (tx_b, b)) = (mpmc::bounded::<i32>(2), mpmc::bounded(2));
    let now = |a: &Receiver<i32>, b: &Receiver<i32>| {
        select().recv(a, |message| (0, message)).recv(b, |message| (1, message)).try_now()
    };
    assert_eq!(now(&a, &b), None);
    drop(tx_a);
    assert_eq!(now(&a, &b), Some((0, Err(RecvError))));
    tx_b.send(2).unwrap();
    assert_eq!(now(&b, &b).map(|(_, message)| message), Some(Ok(2)));
    assert_eq!(now(&b, &b), None);
}

/// A time runs out, as a value or as an operation of its own; the next wait gets what comes.
pub(crate) fn the_time_runs_out() {
    let ((_tx_a, a), (tx_b, b)) = (mpmc::bounded::<i32>(2), mpmc::bounded(2));
    assert_eq!(either_of(&a, &b, SHORT), None);
    assert_eq!(select().recv(&a, |_| "a").recv(&b, |_| "b").after(SHORT, || "late").wait(), "late");
    both(
        || {
            pause();
            tx_b.send(2).unwrap();
        },
        || assert_eq!(either_of(&a, &b, LONG), Some((1, Ok(2)))),
    );
    assert_eq!(select::<()>().wait_timeout(SHORT), None);
    assert_eq!(select::<()>().try_now(), None);
}

/// Disconnects are found without waiting and with: of senders and of receivers, with a bound and as a rendezvous.
pub(crate) fn an_end_is_found(bound: usize) {
    for limit in [Duration::ZERO, SHORT, LONG] {
        let (_, rx) = mpmc::bounded::<i32>(bound);
        assert_eq!(select().recv(&rx, |message| message).wait_timeout(limit), Some(Err(RecvError)));
        let (tx, _) = mpmc::bounded(bound);
        assert_eq!(select().send(&tx, 7, |sent| sent).wait_timeout(limit), Some(Err(SendError(7))));
    }
}

/// A wait for one of two receives is ended by a sender, one for one of two sends by a receiver.
pub(crate) fn woken_by_the_other_side(bound: usize) {
    let ((tx_a, a), (tx_b, b)) = (mpmc::bounded(bound), mpmc::bounded(bound));
    both(
        || {
            pause();
            tx_b.send(2).unwrap();
        },
        || assert_eq!(either_of(&a, &b, LONG), Some((1, Ok(2)))),
    );
    (0..bound).for_each(|_| [&tx_a, &tx_b].into_iter().for_each(|tx| tx.send(0).unwrap()));
    both(
        || {
            pause();
            assert_eq!(a.recv(), Ok(if bound == 0 { 1 } else { 0 }));
        },
        || {
            let sent = select().send(&tx_a, 1, |sent| (0, sent)).send(&tx_b, 2, |sent| (1, sent)).wait_timeout(LONG);
            assert_eq!(sent, Some((0, Ok(()))));
        },
    );
}

/// A receive and a send in one select, while another thread sends the one and receives the other: both are done.
pub(crate) fn a_receive_and_a_send() {
    for _ in 0..50 {
        let ((tx_a, a), (tx_b, b)) = (mpmc::bounded(0), mpmc::bounded(0));
        both(
            || {
                tx_a.send(1).unwrap();
                assert_eq!(b.recv(), Ok(2));
            },
            || {
                let mut done: Vec<_> = (0..2)
                    .map(|_| {
                        select().recv(&a, |message| message.map(|_| 'r')).send(&tx_b, 2, |_| Ok('s')).wait().unwrap()
                    })
                    .collect();
                done.sort_unstable();
                assert_eq!(done, ['r', 's']);
            },
        );
    }
}

/// Others only ask, again and again; the select waits for either of them, as long as that takes.
pub(crate) fn others_only_ask() {
    for _ in 0..20 {
        let ((tx_a, a), (tx_b, b)) = (mpmc::bounded(1), mpmc::bounded(0));
        let (end, ended) = mpmc::bounded::<()>(0);
        thread::scope(|scope| {
            scope.spawn(|| while tx_a.try_send(1).is_err() && ended.try_recv() != Err(TryRecvError::Disconnected) {});
            scope.spawn(|| while b.try_recv() != Ok(2) && ended.try_recv() != Err(TryRecvError::Disconnected) {});
            let done =
                select().recv(&a, |message| message == Ok(1)).send(&tx_b, 2, |sent| sent == Ok(())).wait_timeout(LONG);
            assert_eq!(done, Some(true));
            drop(end);
        });
    }
}

/// Each operation has its turn, though several are on the same channel.
pub(crate) fn the_same_twice() {
    let (tx, rx) = mpmc::bounded(1_000);
    let mut seen = HashSet::new();
    while seen.len() < 4 {
        let done = select()
            .recv(&rx, |message: Result<i32, _>| message.map(|_| 0))
            .recv(&rx, |message| message.map(|_| 1))
            .send(&tx, 0, |_| Ok(2))
            .send(&tx, 0, |_| Ok(3))
            .wait();
        seen.insert(done.unwrap());
    }
}

/// A select in what another does when it has been chosen, four deep.
pub(crate) fn one_in_another() {
    let (tx, rx) = mpmc::bounded(3);
    let innermost = |expected: i32| select().recv(&rx, |message| assert_eq!(message, Ok(expected))).wait();
    let third = || {
        select()
            .send(&tx, 1, |sent| {
                sent.unwrap();
                innermost(1);
            })
            .wait();
    };
    let second = || {
        select()
            .recv(&rx, |message| {
                assert_eq!(message, Ok(0));
                third();
            })
            .wait();
    };
    select()
        .send(&tx, 0, |sent| {
            sent.unwrap();
            second();
        })
        .wait();
    assert!(rx.is_empty());
}

/// Messages now here, now there; what the other thread does in turn, the select does in any order.
pub(crate) fn here_and_there(bound: usize) {
    const ROUNDS: usize = 1_000;
    let ((tx_a, a), (tx_b, b)) = (mpmc::bounded(bound), mpmc::bounded(bound));
    both(
        || {
            for round in 0..ROUNDS {
                tx_a.send(round).unwrap();
                tx_b.send(round).unwrap();
            }
        },
        || {
            let mut next = [0; 2];
            for _ in 0..2 * ROUNDS {
                let (side, message) = either_of(&a, &b, LONG).unwrap();
                assert_eq!(message, Ok(next[side]));
                next[side] += 1;
            }
            assert_eq!(next, [ROUNDS; 2]);
        },
    );
}

/// Two sends against two receives in a row: each goes where the other waits.
pub(crate) fn sends_that_are_selected() {
    const ROUNDS: usize = 1_000;
    let ((tx_a, a), (tx_b, b)) = (mpmc::bounded(0), mpmc::bounded(0));
    let (confirm, confirmed) = mpmc::bounded(100);
    both(
        || {
            for round in 0..ROUNDS {
                assert_eq!((a.recv(), b.recv()), (Ok(round), Ok(round)));
                confirmed.recv().unwrap();
            }
        },
        || {
            for round in 0..ROUNDS {
                for _ in 0..2 {
                    select().send(&tx_a, round, Result::unwrap).send(&tx_b, round, Result::unwrap).wait();
                }
                confirm.send(()).unwrap();
            }
        },
    );
}

/// A receive and a send against a send and a receive.
pub(crate) fn mixed() {
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
            for round in 0..ROUNDS {
                for _ in 0..2 {
                    select()
                        .recv(&a, |message| assert_eq!(message, Ok(round)))
                        .send(&tx_b, round, Result::unwrap)
                        .wait();
                }
            }
        },
    );
}

/// Selects with short limits on both sides, which pause in turn: every message arrives, once, in order.
pub(crate) fn short_limits_on_both_sides(bound: usize) {
    const MESSAGES: usize = 40;
    let (tx, rx) = mpmc::bounded(bound);
    both(
        || {
            for message in 0..MESSAGES {
                if message % 2 == 0 {
                    pause();
                }
                while select().send(&tx, message, Result::unwrap).wait_timeout(SHORT).is_none() {}
            }
        },
        || {
            for expected in 0..MESSAGES {
                if expected % 3 == 0 {
                    pause();
                }
                let message = std::iter::repeat_with(|| select().recv(&rx, |message| message).wait_timeout(SHORT));
                assert_eq!(message.flatten().next(), Some(Ok(expected)));
            }
        },
    );
}

/// Both handles of a channel in one select: a rendezvous does not pair with itself; if there is room it is sent.
pub(crate) fn both_ends_of_a_channel() {
    let (tx, rx) = mpmc::bounded::<i32>(0);
    assert_eq!(select().send(&tx, 0, |_| ()).recv(&rx, |_| ()).wait_timeout(SHORT * 5), None);
    let (tx, rx) = mpmc::bounded::<i32>(1);
    assert_eq!(select().send(&tx, 7, |sent| sent.is_ok()).recv(&rx, |_| false).wait_timeout(LONG), Some(true));
    assert_eq!(rx.try_recv(), Ok(7));
}

/// What is chosen is a value: of any type, by functions that may use up what they hold.
pub(crate) fn a_value_of_any_type() {
    let (tx, rx) = mpmc::bounded::<i32>(1);
    let once = (vec![1], vec![2]);
    let chosen = select().send(&tx, 5, |_| once.0).after(LONG, || once.1).wait();
    assert_eq!(chosen, [1]);
    assert_eq!(select().recv(&rx, |message| message.map(|number| number.to_string())).wait(), Ok("5".to_owned()));
    assert_eq!(select().recv(&rx, |message: Result<i32, _>| message.is_ok()).try_now(), None);
    let on_the_heap = (Box::new(tx), Box::new(rx));
    select().send(&*on_the_heap.0, 6, Result::unwrap).wait();
    assert_eq!(select().recv(&*on_the_heap.1, |message| message).wait(), Ok(6));
}

/// What a select of a single operation does is what the operation does: asked, waited for, with a limit.
pub(crate) fn as_a_receive() {
    let (tx, rx) = mpmc::bounded::<i32>(100);
    let (go, went) = mpmc::bounded::<()>(1);
    assert_eq!(select().recv(&rx, |message| message).try_now(), None);
    assert_eq!(select().recv(&rx, |message| message).wait_timeout(SHORT), None);
    both(
        || {
            went.recv().unwrap();
            pause();
            tx.send(7).unwrap();
            drop(tx);
        },
        || {
            go.send(()).unwrap();
            assert_eq!(select().recv(&rx, |message| message).wait(), Ok(7));
            assert_eq!(select().recv(&rx, |message| message).wait_timeout(LONG), Some(Err(RecvError)));
            assert_eq!(select().recv(&rx, |message| message).try_now(), Some(Err(RecvError)));
        },
    );
}

/// As [`as_a_receive`], for sends.
pub(crate) fn as_a_send(bound: usize) {
    let (tx, rx) = mpmc::bounded(bound);
    (0..bound).for_each(|_| tx.send(0).unwrap());
    assert_eq!(select().send(&tx, 1, |sent| sent).try_now(), None);
    assert_eq!(select().send(&tx, 1, |sent| sent).wait_timeout(SHORT), None);
    both(
        || {
            pause();
            rx.recv().unwrap();
            pause();
            drop(rx);
        },
        || {
            assert_eq!(select().send(&tx, 8, |sent| sent).wait(), Ok(()));
            let mut kept = Some(9);
            assert_eq!(select().send_from(&tx, &mut kept, |sent| sent).wait_timeout(LONG), Some(Err(SendError(9))));
            assert_eq!((kept, select().send(&tx, 10, |sent| sent).try_now()), (None, Some(Err(SendError(10)))));
        },
    );
}

/// A message that was not sent stays where it was, or is dropped with the select.
pub(crate) fn what_was_not_sent() {
    let (tx, _rx) = mpmc::bounded(1);
    tx.send("first").unwrap();
    let mut kept = Some("second");
    assert!(select().send_from(&tx, &mut kept, |_| ()).try_now().is_none());
    assert_eq!(kept, Some("second"));
    let mut none = None;
    assert!(select().send_from(&tx, &mut none, |_| ()).wait_timeout(SHORT).is_none());
}

/// One of two receives, with handles of any kind (of one kind, each with its own handle).
fn either_end<T>(a: &mut Rx<T>, b: &mut Rx<T>, limit: Duration) -> Option<Done<T>> {
    macro_rules! of {
        ($a:expr, $b:expr) => {
            select().recv($a, |message| (0, message)).recv($b, |message| (1, message)).wait_timeout(limit)
        };
    }
    match (a, b) {
        (Rx::Exchange(a), Rx::Exchange(b)) => of!(a, b),
        (Rx::Funnel(a), Rx::Funnel(b)) => of!(a, b),
        (Rx::Pipe(a), Rx::Pipe(b)) => of!(a, b),
        _ => panic!("two kinds"),
    }
}

/// One of two sends, with handles of any kind.
fn to_either_end<T>(
    a: &mut Tx<T>,
    to_a: &mut Option<T>,
    b: &mut Tx<T>,
    to_b: &mut Option<T>,
) -> Result<(), SendError<T>> {
    macro_rules! of {
        ($a:expr, $b:expr) => {
            select().send_from($a, to_a, |sent| sent).send_from($b, to_b, |sent| sent).wait()
        };
    }
    match (a, b) {
        (Tx::Exchange(a), Tx::Exchange(b)) => of!(a, b),
        (Tx::Funnel(a), Tx::Funnel(b)) => of!(a, b),
        (Tx::Pipe(a), Tx::Pipe(b)) => of!(a, b),
        _ => panic!("two kinds"),
    }
}

/// Two channels of any kind, a select on either side: each channel's messages come in order, all of them, and then the
/// disconnect.
pub(crate) fn streams_by_selects(kind: Kind, bound: Bound) {
    const MESSAGES: usize = 1_000;
    let ((mut tx_a, mut a), (mut tx_b, mut b)) = (kind.open(bound), kind.open(bound));
    both(
        move || {
            let mut next = [0; 2];
            while next != [MESSAGES; 2] {
                let mut offers = next.map(|next| (next < MESSAGES).then_some(next));
                let [to_a, to_b] = &mut offers;
                to_either_end(&mut tx_a, to_a, &mut tx_b, to_b).unwrap();
                // What is left in its place has not been sent.
                let sent = (0..2).find(|&side| next[side] < MESSAGES && offers[side].is_none());
                next[sent.expect("one of them was sent")] += 1;
            }
        },
        || {
            let mut next = [0; 2];
            while next != [MESSAGES; 2] {
                // A disconnected handle reports that again and again.
                match either_end(&mut a, &mut b, LONG).expect("a message, or a disconnect") {
                    (side, Ok(message)) => {
                        assert_eq!(message, next[side]);
                        next[side] += 1;
                    }
                    (side, Err(RecvError)) => assert_eq!(next[side], MESSAGES),
                }
            }
            assert_eq!(either_end(&mut a, &mut b, LONG).map(|(_, end)| end), Some(Err(RecvError)));
        },
    );
}

/// A select of receives of any kind is ended by a message that comes later, and by a disconnect.
pub(crate) fn woken_whatever_the_kind(kind: Kind, bound: Bound) {
    let ((tx_a, mut a), (mut tx_b, mut b)) = (kind.open(bound), kind.open(bound));
    both(
        move || {
            pause();
            tx_b.send(2).unwrap();
            pause();
            drop(tx_a);
            tx_b
        },
        || {
            assert_eq!(either_end(&mut a, &mut b, LONG), Some((1, Ok(2))));
            assert_eq!(either_end(&mut a, &mut b, LONG), Some((0, Err(RecvError))));
        },
    );
}
