//! Senders in a set: reported while there may be room. And handles that were added by shared reference.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

use crate::conformance::channel::{Kind, Receiving, Sending};
use crate::support::{Random, guarded, panics};
use ysuite::TrySendError;
use ysuite::signal::{Attach, AttachError, ReadySet, Wait, YPollset};
use ysuite::{mpmc, mpsc, spsc};

const SHORT: Duration = Duration::from_micros(200);

macro_rules! for_every_sender {
    ($($test:ident),* $(,)?) => {
        mod pipe_of_1 { $(#[test] fn $test() { super::$test(crate::spsc::Pipe(Some(1))) })* }
        mod pipe_of_7 { $(#[test] fn $test() { super::$test(crate::spsc::Pipe(Some(7))) })* }
        mod funnel_of_2 { $(#[test] fn $test() { super::$test(crate::mpsc::Funnel(Some(2))) })* }
        mod exchange_of_1 { $(#[test] fn $test() { super::$test(crate::mpmc::Exchange(Some(1))) })* }
        mod exchange_of_3 { $(#[test] fn $test() { super::$test(crate::mpmc::Exchange(Some(3))) })* }
    };
}

for_every_sender!(
    an_id_is_up_until_its_sender_is_found_full,
    the_receivers_end_raises_the_id,
    waits_of_its_own_leave_it_attached,
    a_sender_that_goes_frees_its_id,
    a_stream_through_an_attached_sender,
    it_moves_between_sets_under_a_stream,
);

fn up(set: &mut YPollset) -> Vec<usize> {
    set.check().collect()
}

fn fill<K: Kind>(sender: &mut K::Sender<usize>) -> usize {
    (0..).take_while(|&number| sender.try_send(number).is_ok()).count()
}

fn an_id_is_up_until_its_sender_is_found_full<K: Kind<Sender<usize>: Attach>>(kind: K) {
    let (mut sender, mut receiver) = kind.pair::<usize>();
    let mut set = YPollset::new();
    set.attach(&mut sender, 9).unwrap();
    assert_eq!(set.attach(&mut sender, 8), Err(AttachError::AlreadyAttached));
    for _ in 0..3 {
        assert_eq!((up(&mut set), up(&mut set)), (vec![9], vec![9]));
        assert!(fill::<K>(&mut sender) > 0);
        assert_eq!(up(&mut set), []);
        // A wait of its own may leave it up; then it finds out once more.
        assert!(sender.send_timeout(0, SHORT).is_err() && sender.try_send(0).is_err());
        assert_eq!(up(&mut set), []);
        receiver.recv().unwrap();
        assert_eq!(up(&mut set), [9]);
        sender.try_send(0).unwrap();
        // It does not know that it is full before it has polled.
        assert_eq!(up(&mut set), [9]);
        assert!(sender.try_send(0).is_err());
        assert_eq!(up(&mut set), []);
        while receiver.try_recv().is_ok() {}
    }
    assert!(sender.detach() && !sender.detach());
    assert_eq!(up(&mut set), []);
}

fn the_receivers_end_raises_the_id<K: Kind<Sender<usize>: Attach>>(kind: K) {
    let (mut sender, receiver) = kind.pair::<usize>();
    let mut set = YPollset::new();
    set.attach(&mut sender, 9).unwrap();
    fill::<K>(&mut sender);
    assert_eq!(up(&mut set), []);
    drop(receiver);
    assert_eq!(up(&mut set), [9]);
    assert!(sender.try_send(1).unwrap_err().is_disconnected());
    assert_eq!(up(&mut set), [9]);
}

fn waits_of_its_own_leave_it_attached<K: Kind<Sender<usize>: Attach>>(kind: K) {
    guarded(move || {
        let (mut sender, mut receiver) = kind.pair::<usize>();
        let mut set = YPollset::new();
        set.attach(&mut sender, 9).unwrap();
        let thread = thread::spawn(move || {
            (0..2_000).for_each(|expected| assert_eq!(receiver.recv(), Ok(expected)));
            receiver
        });
        (0..2_000).for_each(|number| sender.send(number).unwrap());
        let mut receiver = thread.join().unwrap();
        fill::<K>(&mut sender);
        assert_eq!(up(&mut set), []);
        receiver.recv().unwrap();
        assert_eq!(up(&mut set), [9]);
    });
}

fn a_sender_that_goes_frees_its_id<K: Kind<Sender<usize>: Attach>>(kind: K) {
    let mut set = YPollset::new();
    for _ in 0..3 {
        let (mut sender, mut receiver) = kind.pair::<usize>();
        set.attach(&mut sender, 9).unwrap();
        let full = fill::<K>(&mut sender);
        drop(sender);
        assert_eq!(up(&mut set), []);
        (0..full).for_each(|expected| assert_eq!(receiver.recv(), Ok(expected)));
        assert!(receiver.recv().is_err());
    }
    assert_eq!(up(&mut set), []);
}

fn a_stream_through_an_attached_sender<K: Kind<Sender<usize>: Attach>>(kind: K) {
    guarded(move || {
        const MESSAGES: usize = 5_000;
        let (mut sender, mut receiver) = kind.pair();
        let thread = thread::spawn(move || {
            let mut random = Random::new(3);
            for expected in 0..MESSAGES {
                assert_eq!(receiver.recv(), Ok(expected));
                random.pause();
            }
        });
        let mut select = ReadySet::new();
        let id = select.add(&mut sender).unwrap();
        let mut next = 0;
        while next < MESSAGES {
            assert_eq!(select.wait(), id);
            while next < MESSAGES && sender.try_send(next).is_ok() {
                next += 1;
            }
        }
        thread.join().unwrap();
    });
}

fn it_moves_between_sets_under_a_stream<K: Kind<Sender<usize>: Attach>>(kind: K) {
    guarded(move || {
        const MESSAGES: usize = 5_000;
        let (mut sender, mut receiver) = kind.pair();
        let thread =
            thread::spawn(move || (0..MESSAGES).for_each(|expected| assert_eq!(receiver.recv(), Ok(expected))));
        let (mut selects, mut at, mut random) = ([ReadySet::new(), ReadySet::new()], 0, Random::new(8));
        let mut id = selects[at].add(&mut sender).unwrap();
        let mut next = 0;
        while next < MESSAGES {
            if selects[at].wait() != id {
                continue;
            }
            while next < MESSAGES && sender.try_send(next).is_ok() {
                next += 1;
            }
            if random.below(4) == 0 {
                assert_eq!(selects[at].remove(&mut sender), Some(id));
                at = random.below(2);
                id = selects[at].add(&mut sender).unwrap();
            }
        }
        thread.join().unwrap();
    });
}

#[test]
fn a_sender_without_a_bound_is_always_named() {
    let mut select = ReadySet::new();
    let (mut pipe, pipe_in) = spsc::unbounded();
    let (mut funnel, funnel_in) = mpsc::unbounded();
    let mut second = funnel.clone();
    let ids = [select.add(&mut pipe).unwrap(), select.add(&mut funnel).unwrap(), select.add(&mut second).unwrap()];
    for _ in 0..2 {
        let mut named: Vec<_> = (0..3).map(|_| select.wait()).collect();
        named.sort_unstable();
        assert_eq!(named, ids);
        let _ = (pipe.try_send(1), funnel.try_send(1), second.try_send(1));
    }
    drop((pipe_in, funnel_in));
    assert!(pipe.try_send(1).is_err() && second.try_send(1).is_err());
    // One that connects after the receiver has gone.
    let mut late = funnel.clone();
    let id = select.add(&mut late).unwrap();
    assert_eq!((select.remove(&mut late), select.remove(&mut late)), (Some(id), None));
    drop(second);
    assert_eq!(select.remove(&mut funnel), Some(ids[1]));
}

#[test]
fn what_is_hidden_is_shown_before_a_sender_rests() {
    let (mut sender, mut receiver) = spsc::bounded(2);
    let mut set = YPollset::new();
    set.attach(&mut sender, 1).unwrap();
    sender.write(1).unwrap();
    sender.write(2).unwrap();
    assert!(receiver.try_recv().is_err());
    assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
    assert_eq!((up(&mut set), receiver.try_recv()), (vec![], Ok(1)));
    assert_eq!(up(&mut set), [1]);
}

/// It has no set to notify of room, or there is no room.
#[test]
fn what_is_hidden_stays_hidden_where_no_sender_rests() {
    let (mut sender, mut receiver) = spsc::bounded(2);
    sender.write(1).unwrap();
    sender.write(2).unwrap();
    assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
    assert!(receiver.try_recv().is_err());
    let mut set = YPollset::new();
    set.attach(&mut sender, 1).unwrap();
    drop(receiver);
    assert_eq!(sender.try_send(3), Err(TrySendError::Disconnected(3)));
    assert_eq!((sender.unwrite(), sender.unwrite(), sender.unwrite()), (Some(2), Some(1), None));
}

#[test]
fn shared_ends_are_named_only_while_there_is_something() {
    let (sender, receiver) = mpmc::bounded(1);
    let mut select = ReadySet::new();
    let (room, message) = (select.add_shared(&sender).unwrap(), select.add_shared(&receiver).unwrap());
    assert_eq!(select.add_shared(&sender.clone()), Err(AttachError::AlreadyAttached));
    for number in 0..3 {
        assert_eq!((select.try_wait(), select.wait()), (Some(room), room));
        sender.try_send(number).unwrap();
        assert_eq!((select.try_wait(), select.wait()), (Some(message), message));
        // Any of them may be the result.
        assert_eq!(receiver.clone().recv(), Ok(number));
    }
    let mut exclusive = receiver.clone();
    let other = select.add(&mut exclusive).unwrap();
    assert!(other != room && other != message);
    drop(exclusive);
    assert_eq!(select.remove_shared(&sender.clone()), Some(room));
    assert_eq!((select.remove_shared(&sender), select.try_wait()), (None, None));
    drop(sender);
    assert_eq!((select.wait(), select.try_wait()), (message, None));
    assert!(receiver.try_recv().unwrap_err().is_disconnected());
    // A watcher is no handle: the channel is disconnected with its receivers, and the select reports that.
    let (sender, receiver) = mpmc::bounded(1);
    let (room, message) = (select.add_shared(&sender).unwrap(), select.add_shared(&receiver).unwrap());
    sender.try_send(1).unwrap();
    drop(receiver);
    assert_eq!(sender.try_send(2), Err(TrySendError::Disconnected(2)));
    let named = [select.wait(), select.wait()];
    assert!(named.contains(&room) && named.contains(&message));
    drop(sender);
    assert_eq!(select.wait_timeout(SHORT), None);
}

/// The select owns no handle, and may watch for room that is of no use any more.
#[test]
fn a_watcher_of_room_is_told_of_the_last_senders_end() {
    let (sender, receiver) = mpmc::bounded(1);
    let mut select = ReadySet::new();
    let room = select.add_shared(&sender).unwrap();
    sender.try_send(1).unwrap();
    assert_eq!(select.try_wait(), None);
    drop(sender);
    assert_eq!((select.try_wait(), receiver.recv()), (Some(room), Ok(1)));
}

#[test]
fn shared_receivers_in_several_selects_get_everything() {
    guarded(|| {
        const MESSAGES: usize = 5_000;
        let (sender, receiver) = mpmc::bounded(3);
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let receiver = receiver.clone();
                thread::spawn(move || {
                    let mut select = ReadySet::new();
                    let (id, mut received) = (select.add_shared(&receiver).unwrap(), 0);
                    loop {
                        assert_eq!(select.wait(), id);
                        match receiver.try_recv() {
                            Ok(_) => received += 1,
                            Err(error) if error.is_disconnected() => return received,
                            Err(_) => {}
                        }
                    }
                })
            })
            .collect();
        drop(receiver);
        (0..MESSAGES).for_each(|number| sender.send(number).unwrap());
        drop(sender);
        assert_eq!(threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>(), MESSAGES);
    });
}

/// A select that is dropped, or removes a handle, while it has a notification passes it to another.
#[test]
fn a_watcher_that_goes_passes_on_what_it_was_told() {
    guarded(|| {
        for round in 0..200 {
            let (sender, receiver) = mpmc::bounded(1);
            let mut select = ReadySet::new();
            select.add_shared(&receiver).unwrap();
            assert_eq!(select.try_wait(), None);
            let other = receiver.clone();
            let thread = thread::spawn(move || other.recv());
            if round % 2 == 0 {
                thread::yield_now();
            }
            sender.send(1).unwrap();
            if round % 3 == 0 {
                drop(select)
            } else {
                assert!(select.remove_shared(&receiver).is_some())
            }
            assert_eq!(thread.join().unwrap(), Ok(1));
        }
    });
}

#[test]
fn watchers_that_go_all_pass_on_what_they_were_told_though_wakers_panic() {
    struct Bursts(AtomicUsize);
    impl Wake for Bursts {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
            panic!("as the test wants it");
        }
    }
    let channels = [(); 3].map(|()| mpmc::bounded(1));
    let mut select = ReadySet::new();
    for (_, receiver) in &channels {
        select.add_shared(receiver).unwrap();
    }
    assert_eq!(select.try_wait(), None);
    let mut others: Vec<_> = channels.iter().map(|(_, receiver)| Box::pin(receiver.recv_async())).collect();
    let wakers = [(); 3].map(|()| Arc::new(Bursts(AtomicUsize::new(0))));
    for ((other, waker), (sender, _)) in others.iter_mut().zip(&wakers).zip(&channels) {
        let waker = Waker::from(waker.clone());
        assert!(other.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        // The watcher came first, and is notified.
        sender.send(1).unwrap();
    }
    panics(|| drop(select));
    assert_eq!(wakers.map(|waker| waker.0.load(Ordering::SeqCst)), [1; 3]);
    for other in &mut others {
        assert!(other.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
    }
}

#[test]
fn a_shared_end_that_takes_a_free_id_leaves_those_behind_it() {
    let mut select = ReadySet::with_capacity(2);
    let [first, second, third] = [(); 3].map(|()| mpmc::bounded(1));
    let (free, kept) = (select.add_shared(&first.1).unwrap(), select.add_shared(&second.1).unwrap());
    assert_eq!(select.remove_shared(&first.1), Some(free));
    assert_eq!(select.add_shared(&third.1), Ok(free));
    assert_eq!(select.try_wait(), None);
    second.0.send(2).unwrap();
    assert_eq!((select.try_wait(), second.1.try_recv()), (Some(kept), Ok(2)));
    third.0.send(3).unwrap();
    assert_eq!((select.try_wait(), third.1.try_recv()), (Some(free), Ok(3)));
    first.0.send(1).unwrap();
    assert_eq!(select.try_wait(), None);
}

/// A select that is woken for a message which another handle has taken by then waits on.
#[test]
fn what_another_has_taken_meanwhile_is_not_the_end_of_the_time() {
    guarded(|| {
        const LONG: Duration = Duration::from_secs(100_000);
        let (sender, receiver) = mpmc::bounded(1);
        let mut select = ReadySet::new();
        let id = select.add_shared(&receiver).unwrap();
        let other = receiver.clone();
        let thread = thread::spawn(move || {
            for _ in 0..300 {
                sender.send(1).unwrap();
                // Usually quicker than a thread that has to be woken.
                let _ = other.try_recv();
                thread::sleep(SHORT);
            }
            sender.send(2).unwrap();
        });
        loop {
            assert_eq!(select.wait_timeout(LONG), Some(id));
            if receiver.try_recv() == Ok(2) {
                break;
            }
        }
        thread.join().unwrap();
    });
}

/// Threads of a scope share handles whose messages borrow from outside it.
#[test]
fn ends_are_shared_whose_messages_borrow() {
    guarded(|| {
        let words: Vec<String> = (0..100).map(|number| number.to_string()).collect();
        let (sender, receiver) = mpmc::bounded::<&str>(4);
        let (room, room_in) = mpmc::bounded::<&String>(1);
        let taken = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut select = ReadySet::new();
                    let (messages, places) = (select.add_shared(&receiver).unwrap(), select.add_shared(&room).unwrap());
                    while taken.load(Ordering::SeqCst) < words.len() {
                        match select.wait_timeout(SHORT) {
                            Some(id) if id == messages => {
                                let is_known =
                                    receiver.try_recv().is_ok_and(|word| words.iter().any(|known| known == word));
                                taken.fetch_add(usize::from(is_known), Ordering::SeqCst);
                            }
                            Some(id) if id == places => drop(room.try_send(&words[0])),
                            _ => {}
                        }
                    }
                });
            }
            words.iter().for_each(|word| sender.send(word).unwrap());
        });
        assert_eq!(room_in.recv(), Ok(&words[0]));
    });
}
