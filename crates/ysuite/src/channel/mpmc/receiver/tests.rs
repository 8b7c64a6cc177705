//! A notified receiver notifies the next, even where user code panics before it has done so. And what a check or a wait
//! does where other receivers are faster.
//!
//! One notification stands for two messages where the first was late: its sender stopped between claiming its cell and
//! filling it, and the receiver that was notified of the second found nothing. No test can stop a sender there. So
//! these tests put messages into the ring, and notify, by themselves.

use core::pin::pin;
use core::task::{Context, Poll, RawWakerVTable, Waker};
use core::time::Duration;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::super::operations::{MpmcPlace, MpmcReceive};
use super::super::{Receiver, RecvError, TryRecvError, bounded, unbounded};
use super::{Deadline, SharedEnd};
use crate::channel::rendezvous::{Exchanged, Lining};
use crate::operation;
use crate::os::calls;
use crate::signal::{AttachShared, Prospect};
use crate::tests::{Explosive, Woken};
use crate::wait::many::notify;

/// Puts messages in without notifying any receiver.
fn put(receiver: &Receiver<u32>, messages: u32) {
    let ring = &receiver.shared.flavour;
    for message in 0..messages {
        assert!(ring.offer(message).is_ok());
    }
}

#[test]
fn a_notified_receiver_notifies_the_next_where_a_senders_waker_panics() {
    let (sender, mut first) = bounded(2);
    let second = first.clone();
    let (notified, next) = (Arc::new(Woken::default()), Arc::new(Woken::default()));
    assert!(first.poll_recv(&mut Context::from_waker(&notified.clone().into())).is_pending());
    let mut waiting = pin!(second.recv_async());
    let waker = next.clone().into();
    assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    put(&first, 2);
    notify(first.shared.readers().list(), 1);
    assert_eq!((notified.times(), next.times()), (1, 0));
    let mut sending = pin!(sender.send_async(2));
    assert!(sending.as_mut().poll(&mut Context::from_waker(&Arc::new(Explosive).into())).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| first.try_recv())).is_err());
    assert_eq!(next.times(), 1, "there is a message left, and the next receiver was not notified");
    assert_eq!(waiting.as_mut().poll(&mut Context::from_waker(&waker)), Poll::Ready(Ok(1)));
}

/// Takes one message.
type Take = fn(&mut Receiver<u32>) -> Option<u32>;

/// In each way of taking it.
#[test]
fn a_notified_receiver_that_takes_one_of_two_messages_notifies_the_next() {
    let ways: [Take; 5] = [
        |receiver| receiver.recv().ok(),
        |receiver| receiver.try_recv().ok(),
        |receiver| receiver.recv_timeout(Duration::ZERO).ok(),
        |receiver| {
            let mut taken = Vec::new();
            receiver.try_recv_batch(&mut taken, 1).ok()?;
            taken.pop()
        },
        |receiver| match receiver.poll_recv(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(received) => received.ok(),
            Poll::Pending => None,
        },
    ];
    for (way, take) in ways.into_iter().enumerate() {
        for capacity in [Some(2), None] {
            let (_sender, mut first) = capacity.map_or_else(unbounded, bounded);
            let second = first.clone();
            let (notified, next) = (Arc::new(Woken::default()), Arc::new(Woken::default()));
            assert!(first.poll_recv(&mut Context::from_waker(&notified.clone().into())).is_pending());
            let mut waiting = pin!(second.recv_async());
            let waker = next.clone().into();
            assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            put(&first, 2);
            notify(first.shared.readers().list(), 1);
            assert_eq!((notified.times(), next.times()), (1, 0));
            assert_eq!(take(&mut first), Some(0));
            assert_eq!(next.times(), 1, "way {way}, capacity {capacity:?}: no receiver was notified of the other");
            assert_eq!(waiting.as_mut().poll(&mut Context::from_waker(&waker)), Poll::Ready(Ok(1)));
        }
    }
}

/// A waker that cannot be cloned: a message arrives during the attempt.
static TABLE: RawWakerVTable = RawWakerVTable::new(
    |receiver| {
        // SAFETY: the test makes the waker from a receiver that outlives it.
        put(unsafe { &*receiver.cast() }, 1);
        panic!("this waker is the only one");
    },
    |_| (),
    |_| (),
    |_| (),
);

#[test]
fn a_notified_receiver_notifies_the_next_where_its_wakers_clone_panics() {
    let (sender, mut first) = bounded(2);
    let second = first.clone();
    let (notified, next) = (Arc::new(Woken::default()), Arc::new(Woken::default()));
    assert!(first.poll_recv(&mut Context::from_waker(&notified.clone().into())).is_pending());
    let mut waiting = pin!(second.recv_async());
    let waker = next.clone().into();
    assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    notify(first.shared.readers().list(), 1);
    assert_eq!((notified.times(), next.times()), (1, 0));
    // SAFETY: the waker owns nothing, the receiver it points to outlives it, and the functions of its table may run on
    //     any thread.
    let only = unsafe { Waker::new((&raw const second).cast(), &TABLE) };
    let panic = catch_unwind(AssertUnwindSafe(|| first.poll_recv(&mut Context::from_waker(&only)).is_ready()));
    assert!(panic.is_err());
    assert_eq!(next.times(), 1, "there is a message, and the next receiver was not notified");
    assert_eq!(waiting.as_mut().poll(&mut Context::from_waker(&waker)), Poll::Ready(Ok(0)));
    drop(sender);
}

/// A receiver that takes by the id that a select has named is not in the list, and need not notify another.
///
/// Claim: A select that names one of several messages of a shared handle notifies the next sleeper there.
#[test]
fn a_select_that_names_one_of_several_messages_notifies_the_next() {
    let (_sender, first) = bounded(4);
    let (second, next) = (first.clone(), Arc::new(Woken::default()));
    let watcher = AttachShared::watcher(&first);
    let mut waiting = pin!(second.recv_async());
    assert!(waiting.as_mut().poll(&mut Context::from_waker(&next.clone().into())).is_pending());
    put(&first, 1);
    assert!(watcher.prospect() == Prospect::Something);
    assert_eq!(next.times(), 0, "there is one, for whom the select names");
    put(&first, 1);
    assert!(watcher.prospect() == Prospect::Something);
    assert_eq!(next.times(), 1);
}

#[test]
fn the_first_look_finds_what_is_there_with_and_without_a_bound_also_where_it_was_polled() {
    for (capacity, was_polled) in [(Some(1), false), (Some(1), true), (None, false), (None, true)] {
        let (_sender, mut receiver) = capacity.map_or_else(unbounded, bounded);
        if was_polled {
            assert!(receiver.poll_recv(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        put(&receiver, 1);
        let found = receiver.take();
        assert_eq!(found, Some(0), "capacity {capacity:?}, polled: {was_polled}");
    }
}

/// Other receivers may be faster: here each check says whether they were, whatever is there.
#[test]
fn a_receiver_that_may_not_wait_looks_again_where_something_has_come_and_only_there() {
    let (sender, receiver) = bounded(1);
    let look = |succeeds: usize| {
        let mut looks = 0;
        let taken = receiver.try_receive(|_| {
            looks += 1;
            (looks == succeeds).then_some(())
        });
        (taken, looks)
    };
    let before = calls();
    assert_eq!(look(2), (Err(TryRecvError::Empty), 1), "there is nothing");
    assert_eq!(calls(), before);
    put(&receiver, 1);
    assert_eq!(look(2), (Ok(()), 2));
    assert_eq!(look(3), (Err(TryRecvError::Empty), 2));
    drop(sender);
    assert_eq!(look(3), (Err(TryRecvError::Empty), 2), "it is not over before the last message is taken");
    assert_eq!(receiver.try_recv(), Ok(0));
    assert_eq!(look(3), (Err(TryRecvError::Disconnected), 2));
}

/// The number of attempts, of which the fourth succeeds.
struct Looks(u32);

impl MpmcPlace<u32, Receiver<u32>, false> for Looks {
    fn at_once(&mut self, _: &Receiver<u32>) -> bool {
        self.0 += 1;
        self.0 == 4
    }

    fn again(&mut self, _: &Receiver<u32>) -> Option<Result<(), RecvError>> {
        None
    }

    fn meet(&mut self, _: &mut Lining<'_, u32, false>) -> Option<Exchanged> {
        unreachable!("a channel with a bound");
    }

    fn withdraw(&mut self, _: &mut Lining<'_, u32, false>) -> Option<Exchanged> {
        unreachable!("a channel with a bound");
    }
}

/// As above.
#[test]
fn a_wait_goes_on_where_others_take_what_has_come_but_not_behind_its_deadline() {
    let (_sender, receiver) = bounded(1);
    put(&receiver, 1);
    let wait = |deadline| {
        let mut looks = Looks(0);
        (operation::block(MpmcReceive::new(&receiver), &mut looks, deadline), looks.0)
    };
    assert_eq!(wait(Deadline::Never), (Some(Ok(())), 4));
    assert_eq!(wait(Deadline::Passed), (None, 2));
}
