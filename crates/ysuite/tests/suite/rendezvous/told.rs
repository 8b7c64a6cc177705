//! Handles of a rendezvous that want a notification of a waiter: attached to a set, watched by a select, or polled.

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use crate::conformance::channel::{Kind, Receiving, Sending};
use crate::support::executor::Task;
use crate::support::guarded;
use std::future::Future;
use ysuite::signal::{Attach, ReadySet, Wait, YPollset};
use ysuite::{RecvError, TryRecvError, TrySendError};
use ysuite::{mpmc, mpsc};

macro_rules! of_every_kind {
    ($($test:ident),* $(,)?) => {
        mod pipe { $(#[test] fn $test() { super::$test(super::super::PipeMeeting) })* }
        mod funnel { $(#[test] fn $test() { super::$test(super::super::FunnelMeeting) })* }
        mod exchange { $(#[test] fn $test() { super::$test(super::super::ExchangeMeeting) })* }
    };
}

of_every_kind!(
    the_id_of_a_receiver_is_up_while_a_sender_waits,
    the_id_of_a_sender_is_up_while_a_receiver_waits,
    the_end_of_the_other_side_raises_the_id,
    a_set_serves_a_stream,
    a_set_serves_a_stream_of_its_own,
    a_task_that_polls_is_told,
    an_attached_end_may_wait_by_itself,
    a_set_lets_go_of_an_end,
    a_receiver_that_goes_leaves_its_set_and_lets_go_of_its_task,
);

type Sends<K> = <K as Kind>::Sender<u32>;
type Receives<K> = <K as Kind>::Receiver<u32>;

fn up(set: &mut YPollset) -> Vec<usize> {
    set.check().collect()
}

fn the_id_of_a_receiver_is_up_while_a_sender_waits<K: Kind<Receiver<u32>: Attach>>(kind: K) {
    let (mut sender, mut receiver): (Sends<K>, Receives<K>) = kind.pair();
    let mut set = YPollset::new();
    set.attach(&mut receiver, 3).unwrap();
    let mut context = Context::from_waker(Waker::noop());
    for number in 0..3 {
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(up(&mut set), []);
        let mut future = pin!(sender.send_async(number));
        assert!(future.as_mut().poll(&mut context).is_pending());
        assert_eq!((up(&mut set), up(&mut set)), (vec![3], vec![3]));
        assert_eq!(receiver.try_recv(), Ok(number));
        assert!(future.as_mut().poll(&mut context).is_ready());
    }
    assert!(receiver.detach() && !receiver.detach());
    assert_eq!(up(&mut set), []);
}

fn the_id_of_a_sender_is_up_while_a_receiver_waits<K: Kind<Sender<u32>: Attach>>(kind: K) {
    let (mut sender, mut receiver): (Sends<K>, Receives<K>) = kind.pair();
    let mut set = YPollset::new();
    set.attach(&mut sender, 3).unwrap();
    let mut context = Context::from_waker(Waker::noop());
    for number in 0..3 {
        assert_eq!(sender.try_send(number), Err(TrySendError::Full(number)));
        assert_eq!(up(&mut set), []);
        let mut future = pin!(receiver.recv_async());
        assert!(future.as_mut().poll(&mut context).is_pending());
        assert_eq!((up(&mut set), up(&mut set)), (vec![3], vec![3]));
        sender.try_send(number).unwrap();
        assert_eq!(future.as_mut().poll(&mut context), Poll::Ready(Ok(number)));
    }
    assert!(sender.detach() && !sender.detach());
    assert_eq!(up(&mut set), []);
}

fn the_end_of_the_other_side_raises_the_id<K: Kind<Sender<u32>: Attach, Receiver<u32>: Attach>>(kind: K) {
    let mut set = YPollset::new();
    let (sender, mut receiver): (Sends<K>, Receives<K>) = kind.pair();
    set.attach(&mut receiver, 1).unwrap();
    assert!(receiver.try_recv().is_err() && up(&mut set).is_empty());
    drop(sender);
    assert_eq!(up(&mut set), [1]);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    assert_eq!(up(&mut set), [1]);
    drop(receiver);
    let (mut sender, receiver): (Sends<K>, Receives<K>) = kind.pair();
    set.attach(&mut sender, 1).unwrap();
    assert!(sender.try_send(1).is_err() && up(&mut set).is_empty());
    drop(receiver);
    assert_eq!(up(&mut set), [1]);
    assert_eq!(sender.try_send(1), Err(TrySendError::Disconnected(1)));
    assert_eq!(up(&mut set), [1]);
}

fn a_set_serves_a_stream<K: Kind<Receiver<u32>: Attach>>(kind: K) {
    guarded(move || {
        let (mut sender, mut receiver): (Sends<K>, Receives<K>) = kind.pair();
        let mut select = ReadySet::new();
        let id = select.add(&mut receiver).unwrap();
        let thread = thread::spawn(move || (0..2_000).for_each(|number| sender.send(number).unwrap()));
        let mut next = 0;
        loop {
            assert_eq!(select.wait(), id);
            match receiver.try_recv() {
                Ok(number) => {
                    assert_eq!(number, next);
                    next += 1;
                }
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => break,
            }
        }
        assert_eq!(next, 2_000);
        thread.join().unwrap();
    });
}

fn a_set_serves_a_stream_of_its_own<K: Kind<Sender<u32>: Attach>>(kind: K) {
    guarded(move || {
        let (mut sender, mut receiver): (Sends<K>, Receives<K>) = kind.pair();
        let mut select = ReadySet::new();
        let id = select.add(&mut sender).unwrap();
        let thread = thread::spawn(move || (0..2_000).for_each(|number| assert_eq!(receiver.recv(), Ok(number))));
        let mut next = 0;
        loop {
            assert_eq!(select.wait(), id);
            match sender.try_send(next) {
                Ok(()) => next += 1,
                Err(TrySendError::Full(_)) => {}
                Err(TrySendError::Disconnected(_)) => break,
            }
        }
        assert_eq!(next, 2_000);
        thread.join().unwrap();
    });
}

fn a_task_that_polls_is_told<K: Kind>(kind: K) {
    let (mut sender, mut receiver): (Sends<K>, Receives<K>) = kind.pair();
    let (task, mut context) = (Task::default(), Context::from_waker(Waker::noop()));
    let waker = task.waker();
    for number in 0..3 {
        assert_eq!(receiver.poll_recv(&mut Context::from_waker(&waker)), Poll::Pending);
        // It is notified, and does not wait itself.
        assert_eq!(sender.try_send(9), Err(TrySendError::Full(9)));
        let woken = task.woken();
        let mut future = pin!(sender.send_async(number));
        assert!(future.as_mut().poll(&mut context).is_pending());
        assert_eq!(task.woken(), woken + 1);
        assert_eq!(receiver.poll_recv(&mut Context::from_waker(&waker)), Poll::Ready(Ok(number)));
        assert!(future.as_mut().poll(&mut context).is_ready());
    }
    assert_eq!(receiver.poll_recv(&mut Context::from_waker(&waker)), Poll::Pending);
    let woken = task.woken();
    drop(sender);
    assert_eq!(task.woken(), woken + 1);
    assert_eq!(receiver.poll_recv(&mut Context::from_waker(&waker)), Poll::Ready(Err(RecvError)));
}

fn an_attached_end_may_wait_by_itself<K: Kind<Receiver<u32>: Attach>>(kind: K) {
    guarded(move || {
        let (mut sender, mut receiver): (Sends<K>, Receives<K>) = kind.pair();
        let mut set = YPollset::new();
        set.attach(&mut receiver, 2).unwrap();
        assert!(receiver.try_recv().is_err() && up(&mut set).is_empty());
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            sender
        });
        assert_eq!(receiver.recv(), Ok(1));
        let mut sender = thread.join().unwrap();
        // Up or armed: either way the next sender is reported.
        let _ = receiver.try_recv();
        assert_eq!(receiver.recv_timeout(Duration::from_micros(10)).ok(), None);
        let _ = receiver.try_recv();
        let mut future = pin!(sender.send_async(2));
        assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(up(&mut set), [2]);
        assert_eq!(receiver.try_recv(), Ok(2));
    });
}

fn a_set_lets_go_of_an_end<K: Kind<Sender<u32>: Attach, Receiver<u32>: Attach>>(kind: K) {
    let (mut sender, mut receiver): (Sends<K>, Receives<K>) = kind.pair();
    let mut set = YPollset::new();
    set.attach(&mut sender, 3).unwrap();
    set.attach(&mut receiver, 4).unwrap();
    assert_eq!(YPollset::new().detach(&mut receiver), None);
    assert_eq!((set.detach(&mut receiver), set.detach(&mut receiver)), (Some(4), None));
    assert_eq!((set.detach(&mut sender), set.detach(&mut sender)), (Some(3), None));
    assert_eq!(up(&mut set), []);
}

fn a_receiver_that_goes_leaves_its_set_and_lets_go_of_its_task<K: Kind<Receiver<u32>: Attach>>(kind: K) {
    let (sender, mut receiver): (Sends<K>, Receives<K>) = kind.pair();
    let (_sender, mut next): (Sends<K>, Receives<K>) = kind.pair();
    let (mut set, task) = (YPollset::new(), Task::default());
    set.attach(&mut receiver, 1).unwrap();
    assert!(receiver.poll_recv(&mut Context::from_waker(&task.waker())).is_pending());
    assert_eq!(task.held(), 1);
    // The other side is still there, and with it the rendezvous.
    drop(receiver);
    assert_eq!((task.held(), up(&mut set)), (0, vec![]));
    set.attach(&mut next, 1).unwrap();
    drop(sender);
}

#[test]
fn a_watcher_is_told() {
    let (sender, receiver) = mpmc::bounded::<u8>(0);
    let mut select = ReadySet::new();
    let (gives, takes) = (select.add_shared(&sender).unwrap(), select.add_shared(&receiver).unwrap());
    // Two that only want a notification do not pair.
    assert_eq!(select.try_wait(), None);
    let mut context = Context::from_waker(Waker::noop());
    {
        let mut future = pin!(sender.send_async(1));
        assert!(future.as_mut().poll(&mut context).is_pending());
        assert_eq!((select.try_wait(), select.try_wait()), (Some(takes), Some(takes)));
        assert_eq!(receiver.try_recv(), Ok(1));
        assert!(future.as_mut().poll(&mut context).is_ready());
    }
    assert_eq!(select.try_wait(), None);
    let mut future = pin!(receiver.recv_async());
    assert!(future.as_mut().poll(&mut context).is_pending());
    assert_eq!(select.try_wait(), Some(gives));
    assert_eq!(sender.try_send(2), Ok(()));
    assert_eq!(select.try_wait(), None);
    assert_eq!(future.as_mut().poll(&mut context), Poll::Ready(Ok(2)));
}

/// How the closing sender is registered: by its task's poll, or by its set.
#[derive(Clone, Copy)]
enum Told {
    Task,
    Set,
    Both,
}

/// A closed sender wants nothing any more: its notification goes to the next, and it is not notified again, although it
/// is kept.
///
/// Claim: A rendezvous sender that is closed and kept takes no turn from other senders, and passes its notification on.
#[test]
fn a_closed_sender_that_is_kept_takes_no_turn() {
    for (told, told_before) in
        [Told::Task, Told::Set, Told::Both].into_iter().flat_map(|told| [(told, false), (told, true)])
    {
        let (mut one, mut receiver) = mpsc::bounded::<u8>(0);
        let mut two = one.clone();
        let (first, second, task) = (Task::default(), Task::default(), Task::default());
        let mut set = YPollset::new();
        if let Told::Task | Told::Both = told {
            assert!(one.poll_ready(&mut Context::from_waker(&first.waker())).is_pending());
        }
        if let Told::Set | Told::Both = told {
            set.attach(&mut one, 3).unwrap();
            assert!(one.try_send(9).is_err() && up(&mut set).is_empty());
        }
        assert!(two.poll_ready(&mut Context::from_waker(&second.waker())).is_pending());
        let waker = task.waker();
        let mut context = Context::from_waker(&waker);
        let mut waiting = pin!(receiver.recv_async());
        if told_before {
            assert!(waiting.as_mut().poll(&mut context).is_pending());
            // One of the two handles, whose registrations decide the turn. A task next to a set is notified as the set
            // is.
            assert_eq!((first.woken() + up(&mut set).len()).min(1) + second.woken(), 1);
        }
        assert!(one.close());
        if !told_before {
            assert!(waiting.as_mut().poll(&mut context).is_pending());
        }
        assert_eq!(second.woken(), 1);
        assert_eq!(two.try_send(7), Ok(()));
        assert_eq!(waiting.as_mut().poll(&mut context), Poll::Ready(Ok(7)));
        drop(one);
    }
}

/// Nor does one that goes.
#[test]
fn a_sender_that_goes_takes_no_turn() {
    for told_before in [true, false] {
        let (mut one, mut receiver) = mpsc::bounded::<u8>(0);
        let mut two = one.clone();
        let (first, second) = (Task::default(), Task::default());
        assert!(one.poll_ready(&mut Context::from_waker(&first.waker())).is_pending());
        assert!(two.poll_ready(&mut Context::from_waker(&second.waker())).is_pending());
        let mut context = Context::from_waker(Waker::noop());
        let mut waiting = pin!(receiver.recv_async());
        if told_before {
            assert!(waiting.as_mut().poll(&mut context).is_pending());
            assert_eq!((first.woken(), second.woken()), (1, 0));
        }
        drop(one);
        if !told_before {
            assert!(waiting.as_mut().poll(&mut context).is_pending());
        }
        assert_eq!(second.woken(), 1);
        assert_eq!(two.try_send(7), Ok(()));
        assert_eq!(waiting.as_mut().poll(&mut context), Poll::Ready(Ok(7)));
    }
}

#[test]
fn a_sender_that_closes_wakes_the_task_that_polled_it() {
    let (mut one, _receiver) = mpsc::bounded::<u8>(0);
    // The channel stays open.
    let _two = one.clone();
    let task = Task::default();
    assert!(one.poll_ready(&mut Context::from_waker(&task.waker())).is_pending());
    assert!(one.close());
    assert_eq!((task.woken(), task.held()), (1, 0));
}

/// It has a registration for its set and one for its task, and may be notified of two senders. It takes the message of
/// one, and notifies the next of the other.
#[test]
fn a_receiver_that_was_called_twice_tells_the_next_of_what_it_leaves() {
    let (sender, mut first) = mpmc::bounded(0);
    let mut second = first.clone();
    let (task, other) = (Task::default(), Task::default());
    let mut set = YPollset::new();
    set.attach(&mut first, 1).unwrap();
    assert!(first.poll_recv(&mut Context::from_waker(&task.waker())).is_pending());
    assert_eq!(first.try_recv(), Err(TryRecvError::Empty));
    assert!(second.poll_recv(&mut Context::from_waker(&other.waker())).is_pending());
    assert_eq!(up(&mut set), []);
    let mut context = Context::from_waker(Waker::noop());
    let mut sending = [1, 2].map(|number| Box::pin(sender.send_async(number)));
    sending.iter_mut().for_each(|future| assert!(future.as_mut().poll(&mut context).is_pending()));
    assert_eq!((up(&mut set), task.woken(), other.woken()), (vec![1], 1, 0));
    assert_eq!((first.try_recv(), other.woken()), (Ok(1), 1));
    assert_eq!(second.poll_recv(&mut Context::from_waker(&other.waker())), Poll::Ready(Ok(2)));
}

/// Its id is up already.
#[test]
fn a_receiver_whose_id_is_up_takes_no_call_from_one_that_sleeps() {
    let (sender, mut first) = mpmc::bounded(0);
    let mut second = first.clone();
    let other = Task::default();
    let mut set = YPollset::new();
    set.attach(&mut first, 1).unwrap();
    let mut context = Context::from_waker(Waker::noop());
    let mut sending = [1, 2].map(|number| Box::pin(sender.send_async(number)));
    assert!(sending[0].as_mut().poll(&mut context).is_pending());
    assert_eq!((first.try_recv(), up(&mut set)), (Ok(1), vec![1]));
    assert!(second.poll_recv(&mut Context::from_waker(&other.waker())).is_pending());
    assert!(sending[1].as_mut().poll(&mut context).is_pending());
    assert_eq!(other.woken(), 1);
    assert_eq!(second.poll_recv(&mut Context::from_waker(&other.waker())), Poll::Ready(Ok(2)));
}

/// It leaves before it has polled: its set, or the channel.
#[test]
fn an_attached_receiver_that_was_told_and_goes_tells_the_next() {
    for detaches in [true, false] {
        let (sender, mut first) = mpmc::bounded(0);
        let mut second = first.clone();
        let other = Task::default();
        let mut set = YPollset::new();
        set.attach(&mut first, 1).unwrap();
        assert_eq!(first.try_recv(), Err(TryRecvError::Empty));
        assert!(second.poll_recv(&mut Context::from_waker(&other.waker())).is_pending());
        let mut sending = pin!(sender.send_async(7));
        assert!(sending.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!((up(&mut set), other.woken()), (vec![1], 0));
        if detaches {
            assert!(first.detach());
        } else {
            drop(first);
        }
        assert_eq!((up(&mut set), other.woken()), (vec![], 1));
        assert_eq!(second.poll_recv(&mut Context::from_waker(&other.waker())), Poll::Ready(Ok(7)));
    }
}

/// The other is notified of the next waiter.
#[test]
fn a_sender_that_was_notified_of_a_receiver_and_meets_it_notifies_no_other() {
    let (mut first, receiver) = mpmc::bounded(0);
    let mut second = first.clone();
    let mut set = YPollset::new();
    set.attach(&mut first, 1).unwrap();
    set.attach(&mut second, 2).unwrap();
    assert!(first.try_send(9).is_err() && second.try_send(9).is_err() && up(&mut set).is_empty());
    let mut context = Context::from_waker(Waker::noop());
    let mut receiving = pin!(receiver.recv_async());
    assert!(receiving.as_mut().poll(&mut context).is_pending());
    assert_eq!(up(&mut set), [1]);
    assert_eq!((first.try_send(7), up(&mut set)), (Ok(()), vec![1]));
    assert_eq!(receiving.as_mut().poll(&mut context), Poll::Ready(Ok(7)));
}

/// A sender that wants a notification of receivers must not be notified of a sender, though it came first.
#[test]
fn only_those_of_the_other_side_are_told() {
    let (mut one, mut receiver) = mpsc::bounded(0);
    let mut two = one.clone();
    let (gives, takes) = (Task::default(), Task::default());
    assert!(one.poll_ready(&mut Context::from_waker(&gives.waker())).is_pending());
    assert!(receiver.poll_recv(&mut Context::from_waker(&takes.waker())).is_pending());
    let mut sending = pin!(two.send_async(7));
    assert!(sending.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert_eq!((gives.woken(), takes.woken()), (0, 1));
    assert_eq!(receiver.poll_recv(&mut Context::from_waker(&takes.waker())), Poll::Ready(Ok(7)));
}

#[test]
fn a_receiver_that_goes_tells_the_next_of_a_message_that_was_given_back() {
    let (sender, mut first) = mpmc::bounded(0);
    let (mut second, third) = (first.clone(), first.clone());
    let (task, other) = (Task::default(), Task::default());
    assert!(first.poll_recv(&mut Context::from_waker(&task.waker())).is_pending());
    assert!(second.poll_recv(&mut Context::from_waker(&other.waker())).is_pending());
    {
        let mut receiving = pin!(third.recv_async());
        assert!(receiving.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(sender.try_send(7), Ok(()));
    }
    assert_eq!((task.woken(), other.woken()), (1, 0));
    drop(first);
    assert_eq!(other.woken(), 1);
    assert_eq!(second.poll_recv(&mut Context::from_waker(&other.waker())), Poll::Ready(Ok(7)));
}
