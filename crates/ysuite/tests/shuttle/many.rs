//! What loom cannot finish: more threads, or longer ones. Run by `ci/steps/shuttle`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loom::thread;
#[cfg(feature = "hub")]
use ysuite::hub::Hub;
use ysuite::mailbox::{Builder, Crowding, Mailbox};
use ysuite::mpmc;
use ysuite::pool::Pool;

use crate::model_up_to;

/// Each message goes to one receiver, and to each receiver those of one sender in their order. All sleep and wake.
fn exchange(capacity: Option<usize>) {
    const SENDERS: usize = 3;
    const EACH: usize = 3;
    model_up_to(3, move || {
        let (sender, receiver) = capacity.map_or_else(mpmc::unbounded, mpmc::bounded);
        let receivers = [(); 3].map(|()| {
            let receiver = receiver.clone();
            thread::spawn(move || std::iter::from_fn(|| receiver.recv().ok()).collect::<Vec<(usize, usize)>>())
        });
        let senders: [_; SENDERS] = core::array::from_fn(|id| {
            let sender = sender.clone();
            thread::spawn(move || (0..EACH).for_each(|number| sender.send((id, number)).unwrap()))
        });
        drop((sender, receiver));
        senders.into_iter().for_each(|thread| thread.join().unwrap());
        let mut all = Vec::new();
        for thread in receivers {
            let got = thread.join().unwrap();
            for id in 0..SENDERS {
                assert!(got.iter().filter(|message| message.0 == id).is_sorted(), "{got:?}");
            }
            all.extend(got);
        }
        all.sort_unstable();
        let expected = (0..SENDERS).flat_map(|id| (0..EACH).map(move |number| (id, number)));
        assert!(all.iter().copied().eq(expected), "{all:?}");
    });
}

#[test]
fn three_by_three_through_one_place() {
    exchange(Some(1));
}

#[test]
fn three_by_three_through_two_places() {
    exchange(Some(2));
}

#[test]
fn three_by_three_without_a_bound() {
    exchange(None);
}

/// Ordinary and urgent messages of three threads: each priority of each thread in its order.
fn mailbox(bound: Option<usize>) {
    model_up_to(3, move || {
        let builder = bound.map_or_else(Builder::new, |bound| Builder::new().bounded(bound, Crowding::Block));
        let mut mailbox: Mailbox = builder.build();
        let threads = [0, 1, 2].map(|id: usize| {
            let address = mailbox.address();
            thread::spawn(move || {
                for number in 0..2_usize {
                    address.send((id, false, number)).unwrap();
                    address.send_priority((id, true, number)).unwrap();
                }
            })
        });
        let mut expected = [[0; 2]; 3];
        while let Ok((id, urgent, number)) = mailbox.receive_only::<(usize, bool, usize)>() {
            let expected = &mut expected[id][usize::from(urgent)];
            assert_eq!(number, *expected);
            *expected += 1;
        }
        assert_eq!(expected, [[2; 2]; 3]);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn many_senders_of_both_priorities_to_one_mailbox() {
    mailbox(None);
}

#[test]
fn many_senders_of_both_priorities_to_a_mailbox_with_a_bound() {
    mailbox(Some(1));
}

/// The blocks that one thread frees are taken by three others, which give them back and take them again.
#[test]
fn many_thieves_of_one_threads_blocks() {
    model_up_to(3, || {
        let pool = Pool::new(&[(8, 4)]).unwrap();
        let taken: Vec<_> = (0..4).map(|_| pool.try_take(1).expect("all blocks can be taken")).collect();
        drop(taken);
        let thieves = [(); 3].map(|()| {
            let pool = pool.clone();
            thread::spawn(move || {
                for _ in 0..3 {
                    let (one, other) = (pool.take(1), pool.try_take(1));
                    drop((one, other));
                }
            })
        });
        for _ in 0..3 {
            drop(pool.take(1));
        }
        thieves.into_iter().for_each(|thread| thread.join().unwrap());
        let all: Vec<_> = std::iter::from_fn(|| pool.try_take(1)).collect();
        assert_eq!(all.len(), 4);
    });
}

/// Three threads post to a hub that sleeps in between, and the last one stops it.
#[cfg(feature = "hub")]
#[test]
fn many_threads_post_to_one_hub() {
    model_up_to(3, || {
        let mut hub = Hub::new().unwrap();
        let run = Arc::new(AtomicUsize::new(0));
        let threads = [(); 3].map(|()| {
            let (handle, run) = (hub.handle(), run.clone());
            thread::spawn(move || {
                for _ in 0..3 {
                    let run = run.clone();
                    let post = move |_: &mut Hub| {
                        run.fetch_add(1, Ordering::Relaxed);
                    };
                    assert!(handle.post(post).is_ok());
                }
            })
        });
        while run.load(Ordering::Relaxed) < 9 {
            hub.run_once(None).unwrap();
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}
