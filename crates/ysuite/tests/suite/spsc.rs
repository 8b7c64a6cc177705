//! The spsc channel: which channels use the suites in `conformance/channel/`, and what concerns this kind only.

use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::conformance::channel::{Batching, Kind};
use crate::support::executor::{Clinging, Explosive};
use crate::support::{Tally, calls, panics};
use ysuite::spsc;
use ysuite::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};

/// An spsc channel with a bound, or none.
#[derive(Clone, Copy)]
pub(crate) struct Pipe(pub(crate) Option<usize>);

impl Kind for Pipe {
    type Sender<T: Send + 'static> = spsc::Sender<T>;
    type Receiver<T: Send + 'static> = spsc::Receiver<T>;
    fn capacity(self) -> Option<usize> {
        self.0.filter(|&bound| bound != usize::MAX)
    }
    fn pair<T: Send + 'static>(self) -> (spsc::Sender<T>, spsc::Receiver<T>) {
        self.0.map_or_else(spsc::unbounded, spsc::bounded)
    }
    fn asked(self) -> Option<usize> {
        self.0
    }
}

impl Batching for Pipe {
    type Hiding<T: Send + 'static> = spsc::Sender<T>;
    type Peeking<T: Send + 'static> = spsc::Receiver<T>;
    fn batching<T: Send + 'static>(self) -> (spsc::Sender<T>, spsc::Receiver<T>) {
        self.pair()
    }
}

macro_rules! pipes {
    ($($name:ident $bound:expr),* $(,)?) => {
        $(mod $name {
            crate::channel_suite!(super::Pipe($bound));
            crate::batching_suite!(super::Pipe($bound));
        })*
    };
}

pipes!(
    unbounded None,
    bounded_1 Some(1),
    bounded_2 Some(2),
    bounded_7 Some(7),
    bounded_8 Some(8),
    bounded_1024 Some(1024),
    bounded_usize_max Some(usize::MAX),
);

mod bounded_10000 {
    crate::tests_of!(channel::delivery, super::Pipe(Some(10_000)) => great_batches_arrive_whole, capacity_is_exact);
    crate::tests_of!(channel::permits, super::Pipe(Some(10_000)) =>
        slots_are_runs_of_free_places, runs_are_shown_and_consumed, there_are_slots_as_long_as_there_are_places);
}

mod bounded_4096 {
    crate::tests_of!(channel::task_batches, super::Pipe(Some(4_096)) => great_batches_of_tasks_arrive_whole);
}

/// Claim: Capacities up to `usize::MAX` are exact and cost little memory.
#[test]
fn huge_capacities_are_exact_and_cost_little() {
    for capacity in [1 << (usize::BITS - 3), isize::MAX as usize, isize::MAX as usize + 1, usize::MAX - 1, usize::MAX] {
        let (mut sender, mut receiver) = spsc::bounded(capacity);
        assert_eq!((sender.capacity(), receiver.capacity()), (Some(capacity), Some(capacity)));
        for round in 0..3 {
            (0..5_000).for_each(|message| sender.try_send(message).unwrap());
            assert_eq!((sender.len(), receiver.len(), sender.is_full()), (5_000, 5_000, false));
            assert!(receiver.try_iter().eq(0..5_000), "in round {round}");
        }
    }
}

/// Also where a chunk begins, which is before the last one or after it.
#[test]
fn room_that_was_asked_for_is_no_more_than_there_is() {
    let mut context = Context::from_waker(Waker::noop());
    let (mut sender, mut receiver) = spsc::bounded(1);
    for message in 0..100 {
        assert!(sender.poll_ready(&mut context).is_ready());
        assert_eq!(sender.try_send(message), Ok(()));
        assert_eq!(sender.try_send(message), Err(TrySendError::Full(message)));
        assert_eq!(receiver.recv(), Ok(message));
    }
}

/// A sender that first checks for room sends on the fast path only, until there is a batch. It may begin anywhere, also
/// where the first messages have been, when all chunks have gone round.
#[test]
fn a_batch_behind_a_stream_leaves_what_was_sent_before() {
    let mut context = Context::from_waker(Waker::noop());
    for messages in 0..120 {
        // Two groups in a chunk.
        let (mut sender, mut receiver) = spsc::bounded::<u64>(28);
        for message in 0..messages {
            assert!(sender.poll_ready(&mut context).is_ready());
            sender.try_send(message).unwrap();
            assert_eq!(receiver.try_recv(), Ok(message));
        }
        sender.write(messages).unwrap();
        sender.flush();
        assert_eq!(receiver.try_recv(), Ok(messages), "behind {messages} messages");
    }
}

#[test]
fn a_receiver_knows_that_there_is_no_room() {
    for capacity in [1, 2, 7, 8, 100] {
        let (mut sender, mut receiver) = spsc::bounded(capacity);
        for message in 0..capacity {
            assert!(!receiver.is_full());
            sender.write(message).unwrap();
        }
        assert!(sender.is_full() && !receiver.is_full(), "hidden messages are not counted");
        sender.flush();
        assert!(receiver.is_full());
        assert_eq!((receiver.recv(), receiver.is_full()), (Ok(0), false));
    }
    let (mut sender, receiver) = spsc::unbounded();
    sender.send_batch(0..1_000).unwrap();
    assert!(!receiver.is_full());
}

/// Of messages that fill lines, share lines, and lie across them. The batches end at every place in a line and in a piece of
/// memory, some because their iterator panics.
#[test]
fn batches_of_every_length_and_size() {
    fn come_in_order<T: PartialEq + std::fmt::Debug + Send>(bound: Option<usize>, of: impl Fn(usize) -> T) {
        let (mut sender, mut receiver) = bound.map_or_else(spsc::unbounded, spsc::bounded);
        let (mut first, mut expected) = (0, 0);
        for length in (0..130).chain([5, 64, 3, 63]) {
            let is_short = length % 3 == 2;
            let next = |number| if is_short && number == first + length - 1 { panic!("boom") } else { of(number) };
            let mut send = || sender.send_batch((first..first + length).map(next));
            if is_short {
                assert_eq!(panics(|| _ = send()), "boom");
            } else {
                assert_eq!(send(), Ok(length));
            }
            first += length - usize::from(is_short);
            assert_eq!(receiver.len(), first - expected);
            for most in [length / 2 + 1, 7, 200] {
                let mut received = Vec::with_capacity(most.min(100));
                if receiver.try_recv_batch(&mut received, most).is_ok() {
                    assert_eq!(received, Vec::from_iter((expected..).take(received.len()).map(&of)));
                }
                expected += received.len();
            }
            assert_eq!(expected, first);
        }
        drop(sender);
        assert_eq!(receiver.recv(), Err(RecvError));
    }
    for bound in [None, Some(130), Some(1024)] {
        come_in_order(bound, |_| ());
        come_in_order(bound, |number| number as u8);
        come_in_order(bound, |number| number as u64);
        come_in_order(bound, |number| [number as u64; 3]);
        come_in_order(bound, |number| [number as u64; 4]);
        come_in_order(bound, |number| [number as u64; 8]);
        come_in_order(bound, |number| number.to_string());
        come_in_order(bound, |number| [number as u16; 111]);
    }
}

#[test]
fn a_batch_receive_takes_all_that_is_there() {
    // Also what came after a poll that knew of less.
    let (mut sender, mut receiver) = spsc::unbounded();
    sender.send(0).unwrap();
    assert_eq!(receiver.peek(), Some(&0));
    (1..5).for_each(|message| sender.send(message).unwrap());
    let mut to = Vec::new();
    assert_eq!(receiver.try_recv_batch(&mut to, usize::MAX), Ok(5));
    assert_eq!(to, [0, 1, 2, 3, 4]);
}

#[test]
fn errors_say_what_is_wrong_and_give_the_message_back() {
    // A message need not be printable for its error to be.
    struct Opaque(u8);
    fn error<E: std::error::Error + Send + 'static>(error: E, display: &str, debug: &str) {
        assert_eq!((error.to_string().as_str(), format!("{error:?}").as_str()), (display, debug));
        assert!(std::error::Error::source(&error).is_none());
    }
    const NO_RECEIVER: &str = "sending into a channel whose receiver has disconnected";
    const NO_SENDER: &str = "receiving from an empty channel whose sender has disconnected";
    error(SendError(Opaque(1)), NO_RECEIVER, "SendError(..)");
    error(TrySendError::Full(Opaque(1)), "sending into a full channel", "Full(..)");
    error(TrySendError::Disconnected(Opaque(1)), NO_RECEIVER, "Disconnected(..)");
    error(SendTimeoutError::Timeout(Opaque(1)), "timed out sending into a full channel", "Timeout(..)");
    error(SendTimeoutError::Disconnected(Opaque(1)), NO_RECEIVER, "Disconnected(..)");
    error(RecvError, NO_SENDER, "RecvError");
    error(TryRecvError::Empty, "receiving from an empty channel", "Empty");
    error(TryRecvError::Disconnected, NO_SENDER, "Disconnected");
    error(RecvTimeoutError::Timeout, "timed out receiving from an empty channel", "Timeout");
    error(RecvTimeoutError::Disconnected, NO_SENDER, "Disconnected");

    assert_eq!(SendError(Opaque(1)).into_inner().0, 1);
    assert_eq!(TrySendError::Full(2).into_inner(), 2);
    assert_eq!(TrySendError::Disconnected(3).into_inner(), 3);
    assert_eq!(SendTimeoutError::Timeout(4).into_inner(), 4);
    assert_eq!(SendTimeoutError::Disconnected(5).into_inner(), 5);
    assert!(TrySendError::Full(()).is_full() && !TrySendError::Full(()).is_disconnected());
    assert!(TrySendError::Disconnected(()).is_disconnected() && !TrySendError::Disconnected(()).is_full());
    assert!(SendTimeoutError::Timeout(()).is_timeout() && !SendTimeoutError::Timeout(()).is_disconnected());
    assert!(SendTimeoutError::Disconnected(()).is_disconnected());
    assert!(TryRecvError::Empty.is_empty() && TryRecvError::Disconnected.is_disconnected());
    assert!(RecvTimeoutError::Timeout.is_timeout() && RecvTimeoutError::Disconnected.is_disconnected());
    assert_eq!(TrySendError::from(SendError(1)), TrySendError::Disconnected(1));
    assert_eq!(SendTimeoutError::from(SendError(1)), SendTimeoutError::Disconnected(1));
    assert_eq!(TryRecvError::from(RecvError), TryRecvError::Disconnected);
    assert_eq!(RecvTimeoutError::from(RecvError), RecvTimeoutError::Disconnected);
}

#[test]
fn both_ends_say_what_they_are() {
    let (mut sender, mut receiver) = spsc::bounded(8);
    sender.send(1).unwrap();
    let shown = (format!("{sender:?}"), format!("{receiver:?}"));
    assert!(shown.0.starts_with("Sender {") && shown.1.starts_with("Receiver {"), "{shown:?}");
    let shown = (format!("{:?}", receiver.iter()), format!("{:?}", receiver.try_iter()));
    assert!(shown.0.starts_with("Iter") && shown.1.starts_with("TryIter"), "{shown:?}");
    assert!(format!("{:?}", receiver.into_iter()).starts_with("IntoIter"));
}

#[test]
fn ends_cross_threads_and_may_be_shared() {
    fn crosses<T: Send + Sync + Unpin>() {}
    crosses::<spsc::Sender<u8>>();
    crosses::<spsc::Receiver<u8>>();
    // `Cell` is Send and not Sync: messages are handed over, never shared.
    crosses::<spsc::Sender<std::cell::Cell<u8>>>();
    crosses::<spsc::Receiver<std::cell::Cell<u8>>>();
}

#[test]
fn messages_may_borrow() {
    let text = String::from("borrowed");
    let (mut sender, mut receiver) = spsc::bounded(2);
    std::thread::scope(|scope| {
        scope.spawn(|| (0..10).for_each(|_| sender.send(text.as_str()).unwrap()));
        (0..10).for_each(|_| assert_eq!(receiver.recv(), Ok("borrowed")));
    });
}

#[test]
fn a_reference_to_a_receiver_iterates() {
    let tally = Tally::of(5);
    let (mut sender, mut receiver) = spsc::unbounded();
    sender.send_batch(tally.some(5)).unwrap();
    for message in &mut receiver {
        if message.number == 3 {
            break;
        }
    }
    assert_eq!(receiver.len(), 1);
    drop((sender, receiver));
    tally.assert_all_ended();
}

#[test]
fn poll_ready_is_ready_where_there_is_room() {
    let task = crate::support::executor::Task::default();
    let waker = task.waker();
    let mut context = Context::from_waker(&waker);
    let (mut sender, mut receiver) = spsc::bounded(1);
    assert_eq!(sender.poll_ready(&mut context), Poll::Ready(()));
    sender.send(1).unwrap();
    assert_eq!(sender.poll_ready(&mut context), Poll::Pending);
    assert_eq!(receiver.recv(), Ok(1));
    assert_eq!(task.woken(), 1);
    assert_eq!(sender.poll_ready(&mut context), Poll::Ready(()));
    sender.send(2).unwrap();
    assert_eq!(sender.poll_ready(&mut context), Poll::Pending);
    drop(receiver);
    assert_eq!(task.woken(), 2);
    assert_eq!(sender.poll_ready(&mut context), Poll::Ready(()));
}

/// A fence is enough for it: no stream has gone before.
#[test]
fn a_sender_that_waits_for_room_for_the_first_time_makes_no_system_call() {
    let (mut sender, mut receiver) = spsc::bounded(1);
    sender.send(1).unwrap();
    let before = calls();
    assert_eq!(sender.poll_ready(&mut Context::from_waker(Waker::noop())), Poll::Pending);
    assert_eq!(calls(), before);
    assert_eq!(receiver.recv(), Ok(1));
}

#[test]
fn a_sender_that_goes_lets_go_of_its_task() {
    let task = crate::support::executor::Task::default();
    let (mut sender, mut receiver) = spsc::bounded(1);
    sender.send(1).unwrap();
    assert_eq!(sender.poll_ready(&mut Context::from_waker(&task.waker())), Poll::Pending);
    drop(sender);
    assert_eq!((task.held(), task.woken()), (0, 0), "the receiver stays, and the task need not");
    assert_eq!(receiver.recv(), Ok(1));
}

#[test]
fn a_receiver_that_goes_between_two_wakers_that_panic_is_one_panic() {
    let (sender, mut receiver) = spsc::unbounded::<u8>();
    let mut closed = Box::pin(sender.closed());
    assert!(closed.as_mut().poll(&mut Context::from_waker(&Explosive::waker())).is_pending());
    let clinging = Clinging::waker();
    assert!(receiver.poll_recv(&mut Context::from_waker(&clinging)).is_pending());
    // The last of it is the receiver's.
    drop(clinging);
    assert_eq!(panics(|| drop(receiver)), "this waker panics");
    assert!(closed.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
}

/// Claim: A forked child that drops inherited handles, or sends in its copy, does not disturb its parent.
#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn a_forked_child_does_not_disturb_the_parent() {
    crate::support::guarded(|| {
        let tally = Tally::of(20);
        let (mut sender, receiver) = spsc::bounded::<crate::support::Counted>(8);
        let thread = std::thread::spawn(move || receiver.into_iter().map(|message| message.number).collect::<Vec<_>>());
        for round in 0..4 {
            // Asleep, or on the way: the child inherits the word that says so, and no thread that sleeps.
            std::thread::sleep(Duration::from_millis(round));
            let mut message = Some(tally.next());
            // SAFETY: sending allocates and locks nothing here, and does not unwind.
            let sent = unsafe {
                crate::support::process::forked_child_can(|| {
                    message.take().is_some_and(|copy| sender.send(copy).is_ok())
                })
            };
            assert!(sent, "the child could not send to its own copy");
            // Only the child's copy of it has been taken.
            sender.send(message.unwrap()).unwrap();
        }
        drop(sender);
        assert_eq!(thread.join().unwrap(), [0, 1, 2, 3]);
        tally.assert_all_ended();
    });
}

#[test]
fn what_is_hidden_ends_with_the_batch_that_finds_no_receiver() {
    for bounded in [false, true] {
        let tally = Tally::of(3);
        let (mut sender, receiver) = if bounded { spsc::bounded(8) } else { spsc::unbounded() };
        assert!(sender.write(tally.next()).is_ok());
        drop(receiver);
        let Err(SendError(back)) = sender.send_batch(tally.some(2)) else { panic!("nobody receives") };
        assert!(back.iter().map(|message| message.number).eq([1, 2]));
        assert_eq!(tally.ended(), 1, "what was hidden before the batch is nobody's");
    }
}
