//! Senders that do not keep a channel open, and how many senders do.

use ysuite::{RecvError, TryRecvError};
use ysuite::{mpmc, mpsc};

use crate::ends::{Bound, Kind, Rx, Tx};
use crate::tools::{both, each};

/// A weak sender of any kind that has one.
pub(crate) enum Weak<T> {
    Exchange(mpmc::WeakSender<T>),
    Funnel(mpsc::WeakSender<T>),
}

impl<T> Clone for Weak<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Exchange(weak) => Self::Exchange(weak.clone()),
            Self::Funnel(weak) => Self::Funnel(weak.clone()),
        }
    }
}

impl<T> Weak<T> {
    pub(crate) fn upgrade(&self) -> Option<Tx<T>> {
        match self {
            Self::Exchange(weak) => weak.upgrade().map(Tx::Exchange),
            Self::Funnel(weak) => weak.upgrade().map(Tx::Funnel),
        }
    }
}

impl<T> Tx<T> {
    pub(crate) fn downgrade(&self) -> Weak<T> {
        match self {
            Self::Exchange(end) => Weak::Exchange(end.downgrade()),
            Self::Funnel(end) => Weak::Funnel(end.downgrade()),
            Self::Pipe(_) => panic!("an spsc channel has one sender"),
        }
    }

    pub(crate) fn sender_count(&self) -> usize {
        match self {
            Self::Exchange(end) => end.sender_count(),
            Self::Funnel(end) => end.sender_count(),
            Self::Pipe(_) => 1,
        }
    }
}

impl<T> Rx<T> {
    pub(crate) fn sender_count(&self) -> usize {
        match self {
            Self::Exchange(end) => end.sender_count(),
            Self::Funnel(end) => end.sender_count(),
            Self::Pipe(_) => 1,
        }
    }
}

/// A weak sender makes a sender as long as there is one, which then keeps the channel open by itself.
pub(crate) fn while_there_are_senders(kind: Kind, bound: Bound) {
    let (tx, mut rx) = kind.open(bound);
    let weak = tx.downgrade();
    let mut made = weak.upgrade().unwrap();
    drop(tx);
    made.send(1).unwrap();
    assert_eq!((rx.recv(), rx.try_recv()), (Ok(1), Err(TryRecvError::Empty)));
    assert!(weak.clone().upgrade().is_some());
    drop(made);
    assert_eq!(rx.recv(), Err(RecvError));
}

/// When the last sender has gone the channel is disconnected, for every weak sender, of any origin.
pub(crate) fn when_the_senders_are_gone(kind: Kind, bound: Bound) {
    let (tx, mut rx) = kind.open::<i32>(bound);
    let another = tx.another();
    let weak = [tx.downgrade(), another.downgrade(), tx.downgrade().clone()];
    drop(tx);
    assert!(weak.iter().all(|weak| weak.upgrade().is_some()));
    drop(another);
    assert!(weak.iter().all(|weak| weak.upgrade().is_none()));
    assert!(rx.is_disconnected() && rx.recv().is_err());
}

/// A sender that was upgraded from a weak one after a stream sends the last message; then the channel is disconnected,
/// though the weak one stays.
pub(crate) fn the_last_message(kind: Kind, bound: usize) {
    let (mut tx, mut rx) = kind.open(Some(bound));
    let (weak, ()) = both(
        move || {
            let weak = tx.another().downgrade();
            (0..50).for_each(|message| tx.send(message).unwrap());
            let mut last = weak.upgrade().unwrap();
            // In the same lane, or the one order: after what this thread has sent.
            drop(tx);
            last.send(50).unwrap();
            last.downgrade()
        },
        || {
            let mut all: Vec<_> = rx.iter().collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..=50));
        },
    );
    assert!(weak.upgrade().is_none());
}

/// An actor that has a weak sender to itself: it can send to itself while others can, and stops when they are gone.
pub(crate) fn an_actor_that_sends_to_itself(kind: Kind, bound: Bound) {
    enum Message {
        Ask(std::sync::mpsc::Sender<u32>),
        Itself,
    }
    let (mut tx, mut rx) = kind.open(bound);
    let weak = tx.downgrade();
    let ((), to_itself) = both(
        move || {
            for expected in 1..=3 {
                let (answer, answers) = std::sync::mpsc::channel();
                assert!(tx.send(Message::Ask(answer)).is_ok());
                assert_eq!(answers.recv(), Ok(expected));
            }
        },
        || {
            let (mut next, mut to_itself) = (0, 0);
            for message in rx.iter() {
                match message {
                    Message::Ask(answer) => {
                        next += 1;
                        if let Some(mut own) = weak.upgrade() {
                            assert!(own.send(Message::Itself).is_ok());
                        }
                        answer.send(next).unwrap();
                    }
                    Message::Itself => to_itself += 1,
                }
            }
            to_itself
        },
    );
    assert_eq!(to_itself, 3);
}

/// Senders are counted as they come and go; weak ones are not.
pub(crate) fn senders_are_counted(kind: Kind, bound: Bound) {
    let (tx, rx) = kind.open::<()>(bound);
    assert_eq!((tx.sender_count(), rx.sender_count()), (1, 1));
    let weak = tx.downgrade();
    let all = tx.split(21);
    assert_eq!((all[0].sender_count(), rx.sender_count()), (21, 21));
    let upgraded = weak.upgrade().unwrap();
    assert_eq!(rx.sender_count(), 22);
    drop((all, weak));
    assert_eq!((upgraded.sender_count(), rx.sender_count()), (1, 1));
    drop(upgraded);
    assert_eq!(rx.sender_count(), 0);
}

/// Weak senders become senders on many threads while the last sender goes: those that did keep the channel open, and once it
/// has ended none does.
pub(crate) fn upgraded_while_the_last_one_goes(kind: Kind, bound: Bound) {
    for _ in 0..100 {
        let (tx, mut rx) = kind.open(bound);
        let weak: Vec<_> = (0..3).map(|_| tx.downgrade()).collect();
        let sent = std::sync::atomic::AtomicUsize::new(0);
        let ((), received) = both(
            || {
                both(
                    || {
                        each(&weak, |weak| {
                            if let Some(mut tx) = weak.upgrade() {
                                tx.send(1).unwrap();
                                sent.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                            }
                        });
                    },
                    || drop(tx),
                );
            },
            || rx.iter().sum::<usize>(),
        );
        assert_eq!(received, sent.into_inner());
        assert!(weak.iter().all(|weak| weak.upgrade().is_none()));
    }
}
