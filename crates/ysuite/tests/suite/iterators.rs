//! Batches of iterators that do as they like: how often they are asked, and when there is nothing more to wait for.
//!
//! Claim: A batch ends with its iterator, and does not wait if the iterator reports that it has no more.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use ysuite::SendError;
use ysuite::{broadcast, mpmc, mpsc, spsc};

/// Has a message, then none, then one again: as the `try_iter` of a receiver may.
fn with_a_gap() -> impl Iterator<Item = u32> {
    let mut asked = 0;
    std::iter::from_fn(move || {
        asked += 1;
        (asked != 2).then_some(asked)
    })
}

fn at_once<T>(sending: impl Future<Output = Result<usize, SendError<Vec<T>>>>) -> Poll<Option<usize>> {
    pin!(sending).poll(&mut Context::from_waker(Waker::noop())).map(Result::ok)
}

#[test]
fn a_batch_ends_where_its_iterator_does() {
    let (mut pipe, _pipe_in) = spsc::bounded(8);
    let (mut funnel, _funnel_in) = mpsc::bounded(8);
    let (exchange, _exchange_in) = mpmc::bounded(8);
    let (segments, _segments_in) = mpmc::unbounded();
    let (broadcast, _broadcast_in) = broadcast::bounded(8);
    assert_eq!((pipe.send_batch(with_a_gap()), funnel.send_batch(with_a_gap())), (Ok(1), Ok(1)));
    assert_eq!((exchange.send_batch(with_a_gap()), segments.send_batch(with_a_gap())), (Ok(1), Ok(1)));
    assert_eq!(broadcast.send_batch(with_a_gap()), Ok(1));

    assert_eq!(at_once(pipe.send_batch_async(&mut with_a_gap())), Poll::Ready(Some(1)));
    assert_eq!(at_once(funnel.send_batch_async(&mut with_a_gap())), Poll::Ready(Some(1)));
    assert_eq!(at_once(exchange.send_batch_async(&mut with_a_gap())), Poll::Ready(Some(1)));
    assert_eq!(at_once(segments.send_batch_async(&mut with_a_gap())), Poll::Ready(Some(1)));
}

/// In a rendezvous too: no second message is requested after the disconnect.
#[test]
fn a_batch_at_a_rendezvous_ends_where_its_iterator_does() {
    let (sender, receiver) = mpmc::bounded(0);
    let receiving = std::thread::spawn(move || receiver.iter().collect::<Vec<_>>());
    assert_eq!(sender.send_batch(with_a_gap()), Ok(1));
    drop(sender);
    assert_eq!(receiving.join().unwrap(), [1]);
}

/// Its `size_hint` says that nothing more will come.
#[test]
fn a_batch_that_just_fits_does_not_wait() {
    let (mut pipe, mut pipe_in) = spsc::bounded(2);
    let (mut funnel, mut funnel_in) = mpsc::bounded(2);
    let (exchange, exchange_in) = mpmc::bounded(2);
    assert_eq!(at_once(pipe.send_batch_async(&mut [1, 2].into_iter())), Poll::Ready(Some(2)));
    assert_eq!(at_once(funnel.send_batch_async(&mut [1, 2].into_iter())), Poll::Ready(Some(2)));
    assert_eq!(at_once(exchange.send_batch_async(&mut [1, 2].into_iter())), Poll::Ready(Some(2)));
    assert!(pipe_in.try_iter().chain(funnel_in.try_iter()).chain(exchange_in.try_iter()).eq([1, 2, 1, 2, 1, 2]));
}
