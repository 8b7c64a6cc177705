//! Senders as sinks: fed, flushed, closed, by one task.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::{Sink, SinkExt, StreamExt, stream};
use ysuite::SendError;

use crate::ends::{Bound, Kind, Tx};
use crate::support::executor::{Task, block_on};
use crate::tools::{both, each};

/// A sender as a sink.
type AsSink<'a, T> = Pin<Box<dyn Sink<T, Error = SendError<()>> + Send + 'a>>;

impl<T: Send> Tx<T> {
    fn sink(&mut self) -> AsSink<'_, T> {
        match self {
            Self::Exchange(end) => Box::pin(end.sink()),
            Self::Funnel(end) => Box::pin(end.sink()),
            Self::Pipe(end) => Box::pin(end.sink()),
        }
    }

    fn into_sink(self) -> AsSink<'static, T>
    where
        T: 'static,
    {
        match self {
            Self::Exchange(end) => Box::pin(end.into_sink()),
            Self::Funnel(end) => Box::pin(end.into_sink()),
            Self::Pipe(end) => Box::pin(end.into_sink()),
        }
    }

    /// Whether there is room, as an spsc sender reports.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()> {
        match self {
            Self::Exchange(_) => unreachable!("another sender may take the room"),
            Self::Funnel(end) => end.poll_ready(context),
            Self::Pipe(end) => end.poll_ready(context),
        }
    }
}

/// A whole stream into a sink, which is closed then.
pub(crate) fn a_stream_into_a_sink(kind: Kind, bound: Bound) {
    let (tx, rx) = kind.open(bound);
    both(
        move || block_on(stream::iter(0..1_000).map(Ok).forward(tx.into_sink())).unwrap(),
        || assert!(block_on(rx.collect::<Vec<_>>()).into_iter().eq(0..1_000)),
    );
}

/// Fed and flushed, message by message, from a task; the sink is the sender itself.
pub(crate) fn sent_one_by_one(kind: Kind, bound: Bound, messages: usize) {
    let (mut tx, rx) = kind.open(bound);
    both(
        move || {
            block_on(async {
                for message in 0..messages {
                    tx.sink().send(message).await.unwrap();
                }
            });
        },
        || assert!(block_on(rx.collect::<Vec<_>>()).into_iter().eq(0..messages)),
    );
}

/// One message by a sink and the next by its clone.
pub(crate) fn by_a_clone(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    let mut another = tx.another();
    block_on(async {
        tx.sink().send(1).await.unwrap();
        assert_eq!(rx.next().await, Some(1));
        another.sink().send(2).await.unwrap();
        assert_eq!(rx.next().await, Some(2));
    });
}

/// Room for one: ready, fed, not ready, taken, ready again. What is fed waits for the flush.
pub(crate) fn ready_and_not_ready(kind: Kind) {
    let (mut tx, mut rx) = kind.open(Some(1));
    let task = Task::default();
    let waker = task.waker();
    let context = &mut Context::from_waker(&waker);
    let mut sink = tx.sink();
    for message in 1..=2 {
        assert!(matches!(sink.poll_flush_unpin(context), Poll::Ready(Ok(()))));
        assert!(matches!(sink.poll_ready_unpin(context), Poll::Ready(Ok(()))));
        sink.start_send_unpin(message).unwrap();
        assert!(matches!(sink.poll_flush_unpin(context), Poll::Ready(Ok(()))));
        assert!(sink.poll_ready_unpin(context).is_pending());
        assert_eq!(task.woken(), message - 1);
        assert_eq!(rx.poll_next_unpin(context), Poll::Ready(Some(message)));
        assert_eq!(task.woken(), message);
    }
    assert!(matches!(sink.poll_ready_unpin(context), Poll::Ready(Ok(()))));
}

/// A sink that waits for room is woken when a message is taken, and then goes on at once.
pub(crate) fn woken_for_room(kind: Kind, by_a_clone: bool) {
    let (mut tx, mut rx) = kind.open(Some(1));
    // Each sender of an mpsc channel has a bound of its own: the clone waits for its own message.
    let mut another = by_a_clone.then(|| tx.another());
    let tx = another.as_mut().unwrap_or(&mut tx);
    block_on(tx.sink().send(1)).unwrap();
    let task = Task::default();
    let mut sink = tx.sink();
    let mut sending = Box::pin(sink.send(2));
    assert!(super::tasks::poll(sending.as_mut(), &task).is_pending());
    assert_eq!(task.woken(), 0);
    assert_eq!(block_on(rx.next()), Some(1));
    assert_eq!(task.woken(), 1);
    assert!(matches!(super::tasks::poll(sending.as_mut(), &task), Poll::Ready(Ok(()))));
    assert_eq!(block_on(rx.next()), Some(2));
}

/// Several threads that send as soon as their sinks are ready, with several bounds.
pub(crate) fn ready_means_room(kind: Kind) {
    const MESSAGES: usize = 300;
    for bound in [1, 8, 16] {
        let (tx, rx) = kind.open(Some(bound));
        let senders = tx.split(kind.senders(8));
        let expected = senders.len() * MESSAGES;
        let ((), all) = both(
            || {
                each(senders, |mut tx| {
                    block_on(async {
                        for message in 0..MESSAGES {
                            std::future::poll_fn(|context| tx.poll_ready(context)).await;
                            tx.try_send(message).expect("there is room where the sink is ready");
                        }
                    });
                });
            },
            || block_on(rx.collect::<Vec<_>>()),
        );
        assert_eq!(all.len(), expected);
    }
}

/// The receiver goes: sinks fail from then on, and a thread that sends until then ends.
pub(crate) fn until_the_receiver_goes(kind: Kind, bound: Bound) {
    let (mut tx, rx) = kind.open(bound);
    both(
        move || {
            block_on(async { while tx.sink().send(42).await.is_ok() {} });
            assert!(tx.is_disconnected());
            assert_eq!(block_on(tx.sink().send(1)), Err(SendError(())));
        },
        || drop(block_on(rx.take(3).collect::<Vec<_>>())),
    );
}

/// Each message by a task that finishes with it; the sender comes back for the next.
pub(crate) fn a_sequence(kind: Kind, bound: Bound) {
    let (mut tx, rx) = kind.open(bound);
    both(
        move || {
            for message in (1..=20).rev() {
                tx = block_on(async move {
                    tx.sink().send(message).await.unwrap();
                    tx
                });
            }
        },
        || assert!(block_on(rx.collect::<Vec<_>>()).into_iter().eq((1..=20).rev())),
    );
}

/// Two threads share a receiver behind a lock, and take turns at awaiting and at polling once: all messages come.
pub(crate) fn a_receiver_behind_a_lock(kind: Kind, bound: Bound) {
    const MESSAGES: usize = 2_000;
    let (mut tx, rx) = kind.open(bound);
    let shared = std::sync::Mutex::new(Some(rx));
    let received = std::sync::atomic::AtomicUsize::new(0);
    both(
        move || (0..MESSAGES).for_each(|message| block_on(tx.sink().send(message)).unwrap()),
        || {
            each(0..2, |_| {
                for turn in 0.. {
                    let mut shared = shared.lock().unwrap();
                    let Some(rx) = shared.as_mut() else { break };
                    let next = match turn % 5 {
                        0 => Poll::Ready(block_on(rx.next())),
                        _ => rx.poll_next_unpin(&mut Context::from_waker(std::task::Waker::noop())),
                    };
                    match next {
                        Poll::Ready(Some(_)) => drop(received.fetch_add(1, std::sync::atomic::Ordering::Relaxed)),
                        Poll::Ready(None) => *shared = None,
                        Poll::Pending => {}
                    }
                }
            });
        },
    );
    assert_eq!(received.into_inner(), MESSAGES);
}
