//! Batches of tasks, and tasks that wait for room with a limit.

use std::future::{Future, ready};
use std::pin::pin;
use std::time::Duration;

use ysuite::{RecvError, SendError, SendTimeoutError};

use super::tasks::poll;
use crate::ends::{Bound, Kind, Rx, Tx};
use crate::support::Tally;
use crate::support::executor::{Task, block_on};
use crate::tools::both;

impl<T> Tx<T> {
    pub(crate) async fn send_batch_async(
        &mut self,
        messages: &mut impl Iterator<Item = T>,
    ) -> Result<usize, SendError<Vec<T>>> {
        match self {
            Self::Exchange(end) => end.send_batch_async(messages).await,
            Self::Funnel(end) => end.send_batch_async(messages).await,
            Self::Pipe(end) => end.send_batch_async(messages).await,
        }
    }

    pub(crate) async fn send_async_until(&mut self, message: T, stop: impl Future) -> Result<(), SendTimeoutError<T>> {
        match self {
            Self::Exchange(end) => end.send_async_until(message, stop).await,
            Self::Funnel(end) => end.send_async_until(message, stop).await,
            Self::Pipe(end) => end.send_async_until(message, stop).await,
        }
    }
}

impl<T> Rx<T> {
    pub(crate) async fn recv_batch_async(&mut self, to: &mut Vec<T>, max: usize) -> Result<usize, RecvError> {
        match self {
            Self::Exchange(end) => end.recv_batch_async(to, max).await,
            Self::Funnel(end) => end.recv_batch_async(to, max).await,
            Self::Pipe(end) => end.recv_batch_async(to, max).await,
        }
    }
}

/// A request for nothing returns nothing at once; then what is there, up to a number; and finally the disconnect.
pub(crate) fn received_in_batches(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    let mut all = Vec::new();
    assert_eq!(block_on(rx.recv_batch_async(&mut all, 0)), Ok(0));
    both(
        move || {
            block_on(async {
                for message in [1, 2, 7, 0] {
                    tx.send_async(message).await.unwrap();
                }
            });
        },
        || {
            block_on(async {
                let mut received = 0;
                while received < 4 {
                    received += rx.recv_batch_async(&mut all, 3).await.unwrap();
                    assert_eq!(all.len(), received);
                }
                assert_eq!(rx.recv_batch_async(&mut all, 3).await, Err(RecvError));
            });
        },
    );
    assert_eq!(all, [1, 2, 7, 0]);
}

/// One at a time, and then all at once into memory that is there already.
pub(crate) fn memory_is_used_again(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    let mut all = Vec::new();
    for turn in 0..2 {
        tx.send_batch([7, 13, 100, 1_002]).unwrap();
        let memory = all.capacity();
        let mut received = 0;
        while received < 4 {
            received += block_on(rx.recv_batch_async(&mut all, if turn == 0 { 1 } else { 32 })).unwrap();
        }
        assert_eq!(all, [7, 13, 100, 1_002]);
        assert!(turn == 0 || all.capacity() == memory);
        all.clear();
    }
    drop(tx);
    assert_eq!(block_on(rx.recv_batch_async(&mut all, 4)), Err(RecvError));
}

/// No more than there is room for in the memory, if that is what is asked for; then the rest; then what comes later.
pub(crate) fn no_more_than_asked_for(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    let mut all: Vec<String> = Vec::with_capacity(9);
    let most = all.capacity();
    tx.send_batch((0..most).map(|number| number.to_string())).unwrap();
    tx.send("one more".into()).unwrap();
    block_on(async {
        assert_eq!(rx.recv_batch_async(&mut all, most).await, Ok(most));
        assert_eq!((all.len(), all.capacity()), (most, most));
        assert_eq!(rx.recv_batch_async(&mut all, most).await, Ok(1));
    });
    both(
        move || tx.send("the last".into()).unwrap(),
        || {
            block_on(async {
                assert_eq!(rx.recv_batch_async(&mut all, most).await, Ok(1));
                assert_eq!(rx.recv_batch_async(&mut all, most).await, Err(RecvError));
            });
        },
    );
    assert_eq!(all[most..], ["one more", "the last"]);
}

/// All messages of an iterator, with room for few of them: in order, and the number of them.
pub(crate) fn sent_as_a_batch(kind: Kind, bound: Bound) {
    const MESSAGES: usize = 3_000;
    let (mut tx, mut rx) = kind.open(bound);
    both(
        move || assert_eq!(block_on(tx.send_batch_async(&mut (0..MESSAGES))), Ok(MESSAGES)),
        || assert!((0..MESSAGES).all(|message| block_on(rx.recv_async()) == Ok(message)) && rx.recv().is_err()),
    );
}

/// A batch that is given up has taken no more from its iterator than it has sent.
pub(crate) fn a_batch_that_is_given_up(kind: Kind, bound: usize) {
    let (mut tx, mut rx) = kind.open(Some(bound));
    let tally = Tally::of(bound + 5);
    let mut messages = tally.some(bound + 5);
    assert!(poll(pin!(tx.send_batch_async(&mut messages)), &Task::default()).is_pending());
    assert_eq!((rx.len(), tally.ended()), (bound, 0));
    let left: Vec<_> = messages.collect();
    assert_eq!(left.len(), 5);
    drop((left, tx));
    assert_eq!(std::iter::from_fn(|| rx.recv().ok()).count(), bound);
    tally.assert_all_ended();
}

/// A limit of any kind: if there is room it is not checked; if there is none the message comes back, and so it does
/// without a receiver.
pub(crate) fn sent_with_a_limit(kind: Kind, bound: usize) {
    let (mut tx, rx) = kind.open(Some(bound));
    block_on(async {
        for message in 0..bound {
            assert_eq!(tx.send_async_until(message, ready(())).await, Ok(()));
        }
        assert_eq!(tx.send_async_until(60, ready(())).await, Err(SendTimeoutError::Timeout(60)));
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let soon = tokio::time::sleep(Duration::from_millis(2));
        assert_eq!(tx.send_async_until(61, soon).await, Err(SendTimeoutError::Timeout(61)));
    });
    drop(rx);
    let never = std::future::pending::<()>();
    assert_eq!(block_on(tx.send_async_until(70, never)), Err(SendTimeoutError::Disconnected(70)));
}
