//! The suite of attached receivers that can wait in other ways too, that are notified of their sender's disconnect, and
//! whose senders hide.

use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use ysuite::signal::{SignalSet, Wait};
use ysuite::{RecvTimeoutError, TryRecvError};

use super::{Arrivals, Blocking, Ends, SetKind, assert_up, attached, send, stream, take};
use crate::conformance::channel::{Batching, Hiding, Peeking, Receiving, Sending};
use crate::support::executor::Task;
use crate::support::{Random, guarded};

/// The sender is gone: as a disconnected socket stays readable, the id stays up.
#[track_caller]
fn assert_over<R: Ends>(set: &mut impl Wait, id: usize, receiver: &mut R::Receiver) {
    for _ in 0..3 {
        assert!(set.wait().eq([id]));
        assert_eq!(R::try_recv(receiver).map(|(number, _)| number), Err(TryRecvError::Disconnected));
    }
    assert!(set.wait().eq([id]));
}

pub(crate) fn the_senders_end_raises_the_id<K: SetKind, R: Blocking>(kind: K, ends: R) {
    guarded(move || {
        for messages in 0..2 {
            let mut set = kind.set();
            let (mut sender, mut receiver) = attached(ends, &mut set, 2);
            assert_eq!(take::<R>(&mut receiver), None);
            let thread = thread::spawn(move || (0..messages).for_each(|number| send::<R>(&mut sender, number)));
            // Waits for nothing but that.
            assert!(set.wait().eq([2]));
            thread.join().unwrap();
            (0..messages).for_each(|number| assert_eq!(take::<R>(&mut receiver), Some(number)));
            assert_over::<R>(&mut set, 2, &mut receiver);
            drop(receiver);
            assert_up(&mut set, &[]);
        }
        // It went before.
        let mut set = kind.set();
        let (sender, mut receiver) = ends.pair();
        drop(sender);
        set.attach(&mut receiver, 2).unwrap();
        assert_over::<R>(&mut set, 2, &mut receiver);
    });
}

pub(crate) fn waits_from_before_the_attachment_do_no_harm<K: SetKind, R: Blocking>(kind: K, ends: R) {
    let mut set = kind.set();
    let (mut sender, mut receiver) = ends.pair();
    assert!(R::poll_recv(&mut receiver, &mut Context::from_waker(Waker::noop())).is_pending());
    let timed_out = R::recv_timeout(&mut receiver, Duration::ZERO).map(drop);
    assert_eq!(timed_out, Err(RecvTimeoutError::Timeout));
    set.attach(&mut receiver, 1).unwrap();
    assert_eq!(take::<R>(&mut receiver), None);
    assert_up(&mut set, &[]);
    send::<R>(&mut sender, 2);
    assert!(set.wait().eq([1]));
    assert_eq!(take::<R>(&mut receiver), Some(2));
}

/// Claim: A set, a task and a blocked thread can wait for the same receiver in turn.
/// Also: stress pipe::every_way_of_waiting_in_turn.
pub(crate) fn blocking_waits_leave_it_attached<K: SetKind, R: Blocking>(kind: K, ends: R) {
    guarded(move || {
        let mut set = kind.set();
        let (mut sender, mut receiver) = attached(ends, &mut set, 8);
        for number in 0..200 {
            // The message is found on the way to sleep, or ends the sleep.
            let thread = thread::spawn(move || {
                Random::new(number as u64).pause();
                R::send_by(&mut sender, number % R::WAYS, (number, None));
                sender
            });
            let received = R::recv_timeout(&mut receiver, Duration::MAX).map(|(number, _)| number);
            assert_eq!(received, Ok(number));
            sender = thread.join().unwrap();
            assert_eq!(take::<R>(&mut receiver), None);
            assert_up(&mut set, &[]);
            // Nothing comes, and the set is notified of what comes afterwards.
            let timed_out = R::recv_timeout(&mut receiver, Duration::from_micros(1)).map(drop);
            assert_eq!(timed_out, Err(RecvTimeoutError::Timeout));
            send::<R>(&mut sender, number);
            assert_up(&mut set, &[8]);
            assert_eq!(take::<R>(&mut receiver), Some(number));
        }
    });
}

pub(crate) fn a_stream_is_received_in_every_way_of_waiting<K: SetKind, R: Blocking>(kind: K, ends: R) {
    guarded(move || {
        const EACH: usize = 3_000;
        let mut set = kind.set();
        let (sender, mut receiver) = attached(ends, &mut set, 6);
        let threads = stream::<R>(sender, EACH, 4, true);
        let (mut random, mut arrivals) = (Random::new(5), Arrivals::of(threads.len(), EACH, true));
        while !arrivals.is_whole() {
            let received = match random.below(4) {
                0 => R::recv_timeout(&mut receiver, Duration::MAX).ok(),
                1 => R::recv_timeout(&mut receiver, Duration::from_micros(random.next() % 50)).ok(),
                2 if !R::TELLS_ONE => {
                    match R::poll_recv(&mut receiver, &mut Context::from_waker(&Task::default().waker())) {
                        Poll::Ready(received) => received.ok(),
                        Poll::Pending => None,
                    }
                }
                _ => {
                    // Must come back: the id is up, or the next message raises it.
                    assert!(set.wait().eq([6]));
                    R::try_recv(&mut receiver).ok()
                }
            };
            if let Some((number, _)) = received {
                arrivals.note(number);
            }
        }
        threads.into_iter().for_each(|thread| drop(thread.join().unwrap()));
        assert_over::<R>(&mut set, 6, &mut receiver);
    });
}

pub(crate) fn a_receiver_whose_set_is_gone_blocks_and_is_woken<K: SetKind, R: Blocking>(kind: K, ends: R) {
    guarded(move || {
        let mut set = kind.set();
        let (mut sender, mut receiver) = attached(ends, &mut set, 5);
        assert_eq!(take::<R>(&mut receiver), None);
        drop(set);
        for number in 0..20 {
            let thread = thread::spawn(move || {
                Random::new(number as u64).pause();
                send::<R>(&mut sender, number);
                sender
            });
            let received = R::recv_timeout(&mut receiver, Duration::MAX).map(|(number, _)| number);
            assert_eq!(received, Ok(number));
            sender = thread.join().unwrap();
        }
    });
}

/// A channel whose sender hides, attached to `id` of this set.
fn batching<B: Batching>(ends: B, set: &mut impl SignalSet, id: usize) -> (B::Hiding<usize>, B::Peeking<usize>)
where
    B::Peeking<usize>: ysuite::signal::Attach,
{
    let (sender, mut receiver) = ends.batching();
    set.attach(&mut receiver, id).unwrap();
    (sender, receiver)
}

pub(crate) fn a_peek_that_finds_nothing_takes_the_id_down<K: SetKind, B>(kind: K, ends: B)
where
    B: Batching<Peeking<usize>: ysuite::signal::Attach>,
{
    let mut set = kind.set();
    let (mut sender, mut receiver) = batching(ends, &mut set, 4);
    for number in 0..5 {
        assert_up(&mut set, &[4]);
        assert_eq!(receiver.peek(), None);
        assert_up(&mut set, &[]);
        sender.send(number).unwrap();
        assert_eq!(receiver.peek(), Some(&number));
        assert_up(&mut set, &[4]);
        assert_eq!(receiver.try_recv(), Ok(number));
    }
}

pub(crate) fn what_was_hidden_raises_the_id_when_the_sender_goes<K: SetKind, B>(kind: K, ends: B)
where
    B: Batching<Peeking<usize>: ysuite::signal::Attach>,
{
    guarded(move || {
        let mut set = kind.set();
        let (mut sender, mut receiver) = batching(ends, &mut set, 4);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        sender.write(1).unwrap();
        assert_up(&mut set, &[]);
        let thread = thread::spawn(move || drop(sender));
        assert!(set.wait().eq([4]));
        thread.join().unwrap();
        assert_eq!(receiver.try_recv(), Ok(1));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        assert_up(&mut set, &[4]);
    });
}

pub(crate) fn a_task_that_has_asked_is_woken_beside_the_set<K: SetKind, B>(kind: K, ends: B)
where
    B: Batching<Peeking<usize>: ysuite::signal::Attach>,
{
    let (mut set, task) = (kind.set(), Task::default());
    let (mut sender, mut receiver) = ends.batching::<usize>();
    assert!(receiver.poll_recv(&mut Context::from_waker(&task.waker())).is_pending());
    set.attach(&mut receiver, 1).unwrap();
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    sender.send(2).unwrap();
    assert_eq!((set.wait().collect(), task.woken()), (vec![1], 1));
}
