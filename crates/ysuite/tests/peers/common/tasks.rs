//! Tasks on any runtime: futures that are polled, dropped, woken; receivers as streams.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll};

use futures_util::{Stream, StreamExt};
use ysuite::{RecvError, SendError, TryRecvError};

use crate::ends::{Bound, Kind, Rx};
use crate::support::Tally;
use crate::support::executor::{Task, block_on};
use crate::tools::{both, each, pause};

/// Polls a future once for a task.
pub(crate) fn poll<F: Future>(future: std::pin::Pin<&mut F>, task: &Task) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(&task.waker()))
}

/// Messages go in and come out one by one, each side awaited.
pub(crate) fn one_by_one(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    block_on(async {
        tx.send_async(7).await.unwrap();
        assert_eq!(rx.try_recv(), Ok(7));
        tx.send_async(8).await.unwrap();
        assert_eq!(rx.recv_async().await, Ok(8));
    });
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
}

/// Threads that block and tasks that await use the same channel, in every mixture.
pub(crate) fn blocked_and_awaited(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    tx.send(7).unwrap();
    assert_eq!(block_on(rx.recv_async()), Ok(7));
    block_on(tx.send_async(8)).unwrap();
    assert_eq!(rx.recv(), Ok(8));
    both(
        move || {
            for message in 0..40 {
                if message % 2 == 0 { tx.send(message) } else { block_on(tx.send_async(message)) }.unwrap();
            }
        },
        || {
            for expected in 0..40 {
                let message = if expected % 3 == 0 { rx.recv() } else { block_on(rx.recv_async()) };
                assert_eq!(message, Ok(expected));
            }
            assert_eq!(block_on(rx.recv_async()), Err(RecvError));
        },
    );
}

/// A task waits for each message, finds the next ones there already, and is notified of the disconnect.
pub(crate) fn recv_waits(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    both(
        move || {
            pause();
            block_on(async {
                for message in [7, 8, 9] {
                    tx.send_async(message).await.unwrap();
                }
            });
        },
        || {
            block_on(async {
                for message in [7, 8, 9] {
                    assert_eq!(rx.recv_async().await, Ok(message));
                }
                assert_eq!(rx.recv_async().await, Err(RecvError));
            });
        },
    );
}

/// A task waits for room, message by message, and is finally notified that there is no receiver.
pub(crate) fn send_waits(kind: Kind, bound: usize) {
    let (mut tx, mut rx) = kind.open(Some(bound));
    both(
        move || {
            block_on(async {
                for message in 0..bound + 3 {
                    tx.send_async(message).await.unwrap();
                }
                while tx.send_async(99).await.is_ok() {}
                assert_eq!(tx.send_async(100).await, Err(SendError(100)));
            });
        },
        move || {
            pause();
            assert!((0..bound + 3).all(|message| block_on(rx.recv_async()) == Ok(message)));
            drop(rx);
        },
    );
}

/// A task that waits for a message is notified when the last sender goes.
pub(crate) fn a_waiting_receiver_is_told(kind: Kind, bound: Bound) {
    let (tx, mut rx) = kind.open::<i32>(bound);
    both(
        || {
            pause();
            drop(tx);
        },
        || assert_eq!(block_on(rx.recv_async()), Err(RecvError)),
    );
}

/// A task that waits for room is notified when the receiver goes, and has its message back.
pub(crate) fn a_waiting_sender_is_told(kind: Kind, bound: usize) {
    let (mut tx, rx) = kind.open(Some(bound));
    (0..bound).for_each(|message| tx.send(message).unwrap());
    both(
        || {
            pause();
            drop(rx);
        },
        || assert_eq!(block_on(tx.send_async(42)), Err(SendError(42))),
    );
}

/// A message without a receiver comes back to a task as it does to a thread; and what was sent before is received.
pub(crate) fn after_the_end(kind: Kind, bound: Bound) {
    block_on(async {
        let (mut tx, rx) = kind.open(bound);
        tx.send_async(1).await.unwrap();
        drop(rx);
        assert_eq!(tx.send_async(4).await, Err(SendError(4)));
        assert!(tx.try_send(5).unwrap_err().is_disconnected());
        let (mut tx, mut rx) = kind.open(bound);
        tx.send_async(1).await.unwrap();
        drop(tx);
        assert_eq!(rx.recv_async().await, Ok(1));
        assert_eq!((rx.recv_async().await, rx.recv_async().await), (Err(RecvError), Err(RecvError)));
    });
}

/// A task that polls before there is a message is woken when there is, and no more often than once for several.
pub(crate) fn woken_once(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    let task = Task::default();
    assert!(rx.poll_recv(&mut Context::from_waker(&task.waker())).is_pending());
    (0..bound.unwrap_or(3).min(3)).for_each(|message| tx.send(message).unwrap());
    assert_eq!(task.woken(), 1);
    assert_eq!(rx.poll_recv(&mut Context::from_waker(&task.waker())), Poll::Ready(Ok(0)));
}

/// A future that is made and never polled, or polled and dropped, has taken nothing and sent nothing.
pub(crate) fn dropped_futures(kind: Kind, bound: usize) {
    let tally = Tally::of(bound + 20);
    let (mut tx, mut rx) = kind.open(Some(bound));
    for _ in 0..10 {
        drop(rx.recv_async());
        drop(tx.send_async(tally.next()));
    }
    assert_eq!((tally.ended(), rx.len()), (10, 0));
    let task = Task::default();
    assert!(poll(pin!(rx.recv_async()), &task).is_pending());
    tally.some(bound).for_each(|message| tx.send(message).unwrap());
    for _ in 0..10 {
        assert!(poll(pin!(tx.send_async(tally.next())), &task).is_pending());
    }
    assert_eq!((tally.ended(), rx.len()), (20, bound));
    assert!((0..bound).all(|_| rx.try_recv().is_ok()));
    drop(rx);
    tally.assert_all_ended();
}

/// A stream from a task to a task, until the disconnect.
pub(crate) fn a_stream(kind: Kind, bound: Bound, messages: usize) {
    let (mut tx, mut rx) = kind.open(bound);
    both(
        move || {
            block_on(async {
                for message in 0..messages {
                    tx.send_async(message).await.unwrap();
                }
            });
        },
        || {
            block_on(async {
                for expected in 0..messages {
                    assert_eq!(rx.recv_async().await, Ok(expected));
                }
                assert_eq!(rx.recv_async().await, Err(RecvError));
            });
        },
    );
}

/// Many tasks send, many receive (one where there can be only one), each on a thread of its own.
pub(crate) fn all_threads_at_once(kind: Kind, bound: Bound, many: usize) {
    const MESSAGES: usize = 1_000;
    let (tx, rx) = kind.open(bound);
    let (senders, receivers) = (tx.split(kind.senders(many)), rx.split(kind.receivers(many)));
    let tally = Tally::of(senders.len() * MESSAGES);
    both(
        || {
            each(senders, |mut tx| {
                block_on(async {
                    for message in tally.some(MESSAGES) {
                        tx.send_async(message).await.unwrap();
                    }
                });
            });
        },
        || each(receivers, |mut rx| block_on(async { while rx.recv_async().await.is_ok() {} })),
    );
    assert_eq!(tally.made(), tally.ended());
    tally.assert_all_ended();
}

impl<T> Stream for Rx<T> {
    type Item = T;

    fn poll_next(self: std::pin::Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        match self.get_mut() {
            Self::Exchange(end) => end.poll_next_unpin(context),
            Self::Funnel(end) => end.poll_next_unpin(context),
            Self::Pipe(end) => end.poll_next_unpin(context),
        }
    }
}

/// A receiver as a stream: message by message, and `None` for ever after the disconnect.
pub(crate) fn as_a_stream(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    both(
        move || {
            pause();
            (0..50).for_each(|message| tx.send(message).unwrap());
        },
        || {
            block_on(async {
                for expected in 0..50 {
                    assert_eq!(rx.next().await, Some(expected));
                }
                assert_eq!((rx.next().await, rx.next().await), (None, None));
            });
        },
    );
}

/// A stream that is collected: all that was sent, by all senders, until the disconnect.
pub(crate) fn collected(kind: Kind, bound: Bound, senders: usize) {
    let (tx, rx) = kind.open(bound);
    let senders = tx.split(kind.senders(senders));
    let expected = senders.len() * 200;
    let ((), all) = both(
        || each(senders, |mut tx| block_on(async { (0..200).for_each(|_| tx.send(1).unwrap()) })),
        || block_on(rx.collect::<Vec<_>>()),
    );
    assert_eq!((all.len(), all.into_iter().sum::<usize>()), (expected, expected));
}

/// Several streams of one channel, each on a thread: every message is in one of them.
pub(crate) fn several_streams(kind: Kind, bound: Bound, many: usize) {
    const MESSAGES: usize = 1_000;
    let (tx, rx) = kind.open(bound);
    let (senders, receivers) = (tx.split(kind.senders(many)), rx.split(kind.receivers(many)));
    let tally = Tally::of(senders.len() * MESSAGES);
    both(
        || each(senders, |mut tx| tally.some(MESSAGES).for_each(|message| tx.send(message).unwrap())),
        || each(receivers, |mut rx| block_on(async { while rx.next().await.is_some() {} })),
    );
    assert_eq!(tally.made(), tally.ended());
    tally.assert_all_ended();
}

/// Streams and plain receives of the same channel, hundreds of them, on one thread: all finish when the sender goes.
pub(crate) fn streams_and_receives_together(kind: Kind, bound: Bound) {
    use futures_util::future::join_all;
    const WAITING: usize = 250;
    let (mut tx, rx) = kind.open(bound);
    let receivers = rx.split(WAITING);
    let ((), received) = both(
        move || {
            block_on(async {
                for _ in 0..5_000 {
                    tx.send_async(()).await.unwrap();
                }
            });
        },
        || {
            let waiting = receivers.into_iter().enumerate().map(|(at, mut rx)| async move {
                let mut received = 0;
                if at % 2 == 0 {
                    while rx.next().await.is_some() {
                        received += 1;
                    }
                } else {
                    while rx.recv_async().await.is_ok() {
                        received += 1;
                    }
                }
                received
            });
            block_on(join_all(waiting)).into_iter().sum::<usize>()
        },
    );
    assert_eq!(received, 5_000);
}

/// A stream polled by a task and dropped: the message goes to the other stream.
pub(crate) fn a_stream_that_is_dropped(kind: Kind, bound: Bound) {
    let (mut tx, rx) = kind.open(bound);
    let mut all = rx.split(2);
    let (mut other, mut dropped) = (all.pop().expect("two"), all.pop().expect("two"));
    let task = Task::default();
    assert!(dropped.poll_next_unpin(&mut Context::from_waker(&task.waker())).is_pending());
    both(
        || assert_eq!(block_on(other.next()), Some(42)),
        || {
            pause();
            tx.send(42).unwrap();
            drop(dropped);
        },
    );
}

/// What a stream says of its length: what is there, and once the sender is gone, no more than that.
pub(crate) fn how_much_is_to_come(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    let hint = |rx: &Rx<i32>| match rx {
        Rx::Exchange(end) => Stream::size_hint(end),
        Rx::Funnel(end) => Stream::size_hint(end),
        Rx::Pipe(end) => Stream::size_hint(end),
    };
    // Of several receivers none is certain of a message that is there.
    let certain = |messages: usize| if kind == Kind::Exchange { 0 } else { messages };
    assert_eq!(hint(&rx), (0, None));
    tx.send(1).unwrap();
    assert_eq!(hint(&rx), (certain(1), None));
    rx.try_recv().unwrap();
    tx.send_batch([2, 3]).unwrap();
    assert_eq!(hint(&rx), (certain(2), None));
    drop(tx);
    for left in (0..=2).rev() {
        assert_eq!(hint(&rx), (certain(left), Some(left)));
        let _ = rx.try_recv();
    }
}

/// A receiver that goes lets go of its task's waker at once.
pub(crate) fn a_receiver_lets_go_of_its_task(kind: Kind, bound: Bound) {
    let (_tx, mut rx) = kind.open::<()>(bound);
    let task = Task::default();
    assert!(rx.poll_recv(&mut Context::from_waker(&task.waker())).is_pending());
    assert_eq!(task.held(), 1);
    drop(rx);
    assert_eq!(task.held(), 0);
}
