//! Batches of tasks, and sends with a limit of any kind.

use std::future::{pending, poll_fn, ready};
use std::iter::FusedIterator;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use ysuite::mpmc;
use ysuite::{RecvError, SendError, SendTimeoutError};

use crate::mpmc::of;
use crate::support::executor::{Task, block_on, dropping, poll_once};
use crate::support::{Tally, guarded, panics};

#[test]
fn a_batch_larger_than_the_channel_goes_through_between_tasks() {
    guarded(|| {
        for capacity in [1, 3, 64, 100] {
            let (sender, receiver) = mpmc::bounded(capacity);
            let thread = thread::spawn(move || block_on(sender.send_batch_async(&mut (0..1_000))));
            let mut received = Vec::new();
            while let Ok(taken) = block_on(receiver.recv_batch_async(&mut received, 7)) {
                assert!((1..=7).contains(&taken));
            }
            assert!(received.into_iter().eq(0..1_000));
            assert_eq!(thread.join().unwrap(), Ok(1_000));
        }
    });
}

#[test]
fn a_great_batch_of_a_task_arrives_whole() {
    const MESSAGES: usize = 10_000;
    for capacity in [0, 63, 64, 65, 4_096] {
        let (sender, receiver) = of(capacity);
        let (task, mut received, mut messages) = (Task::default(), Vec::new(), 0..MESSAGES);
        let mut sending = Box::pin(sender.send_batch_async(&mut messages));
        while received.len() < MESSAGES {
            let left = MESSAGES - received.len();
            let there = if capacity == 0 { left } else { left.min(capacity) };
            let sent = if there == left { Poll::Ready(Ok(MESSAGES)) } else { Poll::Pending };
            assert_eq!(poll_once(&mut sending, &task), sent, "with {left} messages left");
            assert_eq!(block_on(receiver.recv_batch_async(&mut received, MESSAGES)), Ok(there));
        }
        assert!(received.into_iter().eq(0..MESSAGES));
    }
}

#[test]
fn a_batch_takes_from_its_iterator_only_what_has_room() {
    let (sender, receiver) = mpmc::bounded(4);
    sender.send(100).unwrap();
    let (task, mut messages) = (Task::default(), 0..10);
    let mut sending = Box::pin(sender.send_batch_async(&mut messages));
    assert!(poll_once(&mut sending, &task).is_pending());
    assert_eq!(receiver.len(), 4);
    drop(sending);
    assert_eq!(messages, 3..10);
    assert!(receiver.try_iter().eq([100, 0, 1, 2]));
    // Exactly up to the room: it does not wait for the room of a further one.
    let mut rest = messages.by_ref().take(4);
    let mut sending = Box::pin(sender.send_batch_async(&mut rest));
    assert_eq!(poll_once(&mut sending, &task), Poll::Ready(Ok(4)));
    drop(sending);
    assert_eq!(poll_once(&mut Box::pin(sender.send_batch_async(&mut std::iter::empty())), &task), Poll::Ready(Ok(0)));
    assert!(receiver.try_iter().eq(3..7));
    assert!(!sender.is_full() && receiver.is_empty());
}

#[test]
fn an_iterator_that_does_not_know_its_end_is_asked_when_there_is_room() {
    let (sender, receiver) = mpmc::bounded(2);
    let task = Task::default();
    let mut left = 2;
    let mut messages = std::iter::from_fn(|| {
        left -= 1;
        (left >= 0).then_some(left)
    });
    let mut sending = Box::pin(sender.send_batch_async(&mut messages));
    assert!(poll_once(&mut sending, &task).is_pending());
    assert_eq!(receiver.recv(), Ok(1));
    assert_eq!(poll_once(&mut sending, &task), Poll::Ready(Ok(2)));
    drop(sending);
    assert_eq!((receiver.len(), sender.is_full()), (1, false));
}

/// Never reports how much is left, and may be called again after its end.
struct Silent {
    left: usize,
    asked: usize,
}

impl Iterator for Silent {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.asked += 1;
        assert!(self.asked < 100, "asked without end");
        self.left = self.left.checked_sub(1)?;
        Some(self.left)
    }
}

impl FusedIterator for Silent {}

#[test]
fn a_batch_ends_with_an_iterator_that_never_says_how_much_is_left() {
    let (sender, receiver) = mpmc::bounded(8);
    let mut messages = Silent { left: 3, asked: 0 };
    let mut sending = Box::pin(sender.send_batch_async(&mut messages));
    assert_eq!(poll_once(&mut sending, &Task::default()), Poll::Ready(Ok(3)));
    drop(sending);
    assert!(receiver.try_iter().eq([2, 1, 0]));
    assert!(!sender.is_full() && receiver.is_empty());
}

#[test]
fn an_iterator_that_panics_leaves_what_it_gave_sent_and_no_place_held() {
    let tally = Tally::of(5);
    let (sender, receiver) = mpmc::bounded(4);
    let source = tally.clone();
    let mut messages = (0..).map(|index| {
        assert!(index < 3, "the iterator panics");
        source.next()
    });
    let caught = catch_unwind(AssertUnwindSafe(|| block_on(sender.send_batch_async(&mut messages))));
    assert!(caught.is_err());
    assert_eq!((receiver.len(), tally.ended()), (3, 0));
    assert!(sender.try_reserve().is_ok());
    drop((messages, receiver));
    tally.assert_all_ended();
}

#[test]
fn a_batch_gives_back_what_it_had_taken_when_the_channel_ends() {
    let tally = Tally::of(10);
    let (sender, receiver) = mpmc::bounded(4);
    // Closed while the iterator gives its third.
    let (source, other) = (tally.clone(), receiver.clone());
    let mut messages = (0..).map(|index| {
        if index == 2 {
            other.close();
        }
        source.next()
    });
    let back = block_on(sender.send_batch_async(&mut messages)).unwrap_err().into_inner();
    assert!(back.iter().map(|message| message.number).eq(0..4));
    assert_eq!(receiver.recv().map(drop), Err(RecvError));
    assert_eq!(block_on(sender.send_batch_async(&mut messages)).unwrap_err().into_inner().len(), 0);
    assert_eq!(tally.made(), 4);
    drop(back);
    tally.assert_all_ended();
}

/// Where the messages that a batch has staged lie in two segments, the first part has been sent when the receiver's waker is
/// called. It closes the channel and panics: what is left goes nowhere, and that is one panic, not two.
#[test]
fn a_batch_survives_a_waker_that_closes_the_channel_and_panics() {
    type Message = [u64; 16];
    struct Closes(mpmc::Receiver<Message>);
    impl Wake for Closes {
        fn wake(self: Arc<Self>) {
            self.0.close();
            panic!("the waker panics");
        }
    }
    // A segment has some hundred slots. The batch begins at every seventh, so that one of them has its end within.
    for before in (0..1_000).step_by(7) {
        let (sender, receiver) = mpmc::unbounded();
        for message in 0..before {
            sender.send([message; 16]).unwrap();
            receiver.recv().unwrap();
        }
        let waker = Waker::from(Arc::new(Closes(receiver.clone())));
        let mut receiving = Box::pin(receiver.recv_async());
        assert!(receiving.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        let mut messages = (0..8).map(|message| [message; 16]);
        assert_eq!(panics(|| drop(block_on(sender.send_batch_async(&mut messages)))), "the waker panics");
    }
}

#[test]
fn large_messages_go_one_by_one() {
    #[derive(Clone, PartialEq, Debug)]
    #[repr(align(128))]
    struct Large([u8; 4096]);
    let (sender, receiver) = mpmc::bounded(3);
    let mut messages = (0..3).map(|number| Large([number; 4096]));
    assert_eq!(block_on(sender.send_batch_async(&mut messages)).map_err(drop), Ok(3));
    assert!(receiver.try_iter().map(|message| message.0[4095]).eq(0..3));
}

#[test]
fn a_batch_is_received_without_more_than_was_asked_for() {
    let (sender, receiver) = mpmc::bounded(8);
    sender.send_batch(0..5).unwrap();
    let mut received = vec![9];
    assert_eq!(block_on(receiver.recv_batch_async(&mut received, 0)), Ok(0));
    assert_eq!(block_on(receiver.recv_batch_async(&mut received, 2)), Ok(2));
    assert_eq!(block_on(receiver.recv_batch_async(&mut received, 100)), Ok(3));
    assert_eq!(received, [9, 0, 1, 2, 3, 4]);
    let task = Task::default();
    let mut waiting = Box::pin(receiver.recv_batch_async(&mut received, 2));
    assert!(poll_once(&mut waiting, &task).is_pending());
    sender.close();
    assert_eq!(task.woken(), 1);
    assert_eq!(poll_once(&mut waiting, &task), Poll::Ready(Err(RecvError)));
}

#[test]
fn a_future_that_waits_for_a_batch_passes_on_what_it_was_told() {
    let (sender, receiver) = mpmc::bounded(2);
    let (tasks, mut batch) = ([Task::default(), Task::default()], Vec::new());
    let mut first = Box::pin(receiver.recv_batch_async(&mut batch, 2));
    let mut second = Box::pin(receiver.recv_async());
    assert!(poll_once(&mut first, &tasks[0]).is_pending());
    assert!(poll_once(&mut second, &tasks[1]).is_pending());
    sender.send(1).unwrap();
    assert_eq!((tasks[0].woken(), tasks[1].woken()), (1, 0));
    drop(first);
    assert_eq!(tasks[1].woken(), 1);
    assert_eq!(poll_once(&mut second, &tasks[1]), Poll::Ready(Ok(1)));
    assert!(batch.is_empty());
}

#[test]
fn a_send_ends_when_its_stop_does() {
    let (sender, receiver) = mpmc::bounded(1);
    // Where there is room the stop is not asked.
    let asked = poll_fn(|_| -> Poll<()> { panic!("asked") });
    assert_eq!(block_on(sender.send_async_until(1, asked)), Ok(()));
    assert_eq!(block_on(sender.send_async_until(2, ready(()))), Err(SendTimeoutError::Timeout(2)));
    let task = Task::default();
    let mut sending = Box::pin(sender.send_async_until(3, pending::<()>()));
    assert!(poll_once(&mut sending, &task).is_pending());
    assert_eq!(receiver.recv(), Ok(1));
    assert_eq!(task.woken(), 1);
    assert_eq!(poll_once(&mut sending, &task), Poll::Ready(Ok(())));
    let mut sending = Box::pin(sender.send_async_until(4, pending::<()>()));
    assert!(poll_once(&mut sending, &task).is_pending());
    receiver.close();
    assert_eq!(poll_once(&mut sending, &task), Poll::Ready(Err(SendTimeoutError::Disconnected(4))));
    assert_eq!(block_on(sender.send_async_until(5, ready(()))), Err(SendTimeoutError::Disconnected(5)));
}

#[test]
fn a_send_that_is_stopped_passes_on_what_it_was_told_and_a_stop_that_panics_too() {
    let (sender, receiver) = mpmc::bounded(1);
    for is_panic in [false, true] {
        sender.send(0).unwrap();
        let tasks = [Task::default(), Task::default()];
        let mut asked = 0;
        let stop = poll_fn(|_: &mut Context<'_>| {
            asked += 1;
            assert!(!is_panic || asked < 2, "the stop panics");
            if asked < 2 { Poll::Pending } else { Poll::Ready(()) }
        });
        let mut first = Box::pin(sender.send_async_until(1, stop));
        let mut second = Box::pin(sender.send_async(2));
        assert!(poll_once(&mut first, &tasks[0]).is_pending());
        assert!(poll_once(&mut second, &tasks[1]).is_pending());
        assert_eq!(receiver.recv(), Ok(0));
        assert_eq!((tasks[0].woken(), tasks[1].woken()), (1, 0));
        // Another takes the room.
        sender.send(3).unwrap();
        let outcome = catch_unwind(AssertUnwindSafe(|| poll_once(&mut first, &tasks[0])));
        match outcome {
            Ok(outcome) => assert_eq!((outcome, is_panic), (Poll::Ready(Err(SendTimeoutError::Timeout(1))), false)),
            Err(_) => assert!(is_panic),
        }
        drop(first);
        assert_eq!(receiver.recv(), Ok(3));
        assert_eq!(tasks[1].woken(), 1);
        assert_eq!(poll_once(&mut second, &tasks[1]), Poll::Ready(Ok(())));
        assert_eq!(receiver.recv(), Ok(2));
    }
}

#[test]
fn a_batch_without_receivers_takes_nothing() {
    let (sender, receiver) = mpmc::bounded(1);
    drop(receiver);
    let mut messages = 0..3;
    assert_eq!(block_on(sender.send_batch_async(&mut messages)), Err(SendError(vec![])));
    assert_eq!(messages, 0..3);
}

#[test]
fn a_message_that_comes_back_ends_with_a_waker_whose_drop_panics() {
    let tally = Tally::of(2);
    let (sender, _receiver) = mpmc::bounded(1);
    assert!(sender.send(tally.next()).is_ok());
    let lit = Arc::new(AtomicBool::new(false));
    let (fuse, mut asked) = (lit.clone(), 0);
    let stop = poll_fn(|_| {
        asked += 1;
        fuse.store(asked == 2, Ordering::Relaxed);
        if asked == 2 { Poll::Ready(()) } else { Poll::Pending }
    });
    let fuse = lit.clone();
    let waker = dropping(move || assert!(!fuse.swap(false, Ordering::Relaxed), "as the test wants it"));
    let mut sending = Box::pin(sender.send_async_until(tally.next(), stop));
    let mut context = Context::from_waker(&waker);
    assert!(sending.as_mut().poll(&mut context).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| sending.as_mut().poll(&mut context).is_ready())).is_err());
    drop(sending);
    assert_eq!(tally.ended(), 1);
}

/// A limit that is over at once, and drops `held` on drop.
fn stop_with(held: impl Sized) -> impl Future<Output = ()> {
    poll_fn(move |_| {
        let _whole = &held;
        Poll::Ready(())
    })
}

#[test]
fn a_message_that_comes_back_ends_with_a_stop_whose_drop_panics() {
    let tally = Tally::of(3);
    tally.explode(1);
    let (sender, _receiver) = mpmc::bounded(1);
    assert!(sender.send(tally.next()).is_ok());
    let (held, message) = (tally.next(), tally.next());
    assert_eq!(panics(|| drop(block_on(sender.send_async_until(message, stop_with(held))))), "the end of message 1");
    assert_eq!(tally.ended(), 2);
}

/// At a rendezvous too, whether its receiver is there or gone.
#[test]
fn a_message_without_a_partner_ends_with_a_stop_whose_drop_panics() {
    for is_there in [true, false] {
        let tally = Tally::of(2);
        tally.explode(0);
        let (sender, receiver) = mpmc::bounded(0);
        let _receiver = is_there.then_some(receiver);
        let (held, message) = (tally.next(), tally.next());
        assert_eq!(
            panics(|| drop(block_on(sender.send_async_until(message, stop_with(held))))),
            "the end of message 0"
        );
        assert_eq!(tally.ended(), 2);
    }
}

#[test]
fn a_batch_of_a_task_holds_no_more_places_than_it_has_messages() {
    let (sender, receiver) = mpmc::bounded(3);
    let mut messages = [1, 2].into_iter().inspect(|_| assert!(!sender.is_full(), "the third place is free"));
    assert_eq!(block_on(sender.send_batch_async(&mut messages)), Ok(2));
    assert!(receiver.try_iter().eq([1, 2]));
}
