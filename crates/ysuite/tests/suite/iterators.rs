//! Batches of iterators that do as they like: how often they are asked, and when there is nothing more to wait for.
//!
//! Claim: A batch ends with its iterator, and does not wait if the iterator reports that it has no more.

use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::thread;

use crate::support::guarded;
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

/// Claim: A sender can be extended by an iterator, as a collection can: it waits for room, and drops what nobody receives.
#[test]
fn senders_are_extended_by_iterators() {
    fn extended<'a, R: IntoIterator<Item = u32> + Send + 'a>(mut sender: impl Extend<u32>, receiver: R) {
        thread::scope(|scope| {
            let receiving = scope.spawn(move || receiver.into_iter().collect::<Vec<_>>());
            sender.extend(0..5);
            sender.extend(with_a_gap());
            drop(sender);
            assert_eq!(receiving.join().unwrap(), [0, 1, 2, 3, 4, 1]);
        });
    }
    fn in_vain(mut sender: impl Extend<Rc<u8>>) {
        let message = Rc::new(7);
        sender.extend([message.clone(), message.clone()]);
        drop(sender);
        assert_eq!(Rc::strong_count(&message), 1);
    }
    macro_rules! senders {
        ($($kind:ident::$make:ident($($bound:expr)?)),* $(,)?) => {$({
            let (sender, receiver) = $kind::$make($($bound)?);
            extended(sender, receiver);
            let (sender, _) = $kind::$make($($bound)?);
            in_vain(sender);
        })*};
    }
    guarded(|| {
        senders!(spsc::unbounded(), spsc::bounded(2), spsc::bounded(0), mpsc::unbounded(), mpsc::bounded(2));
        senders!(mpsc::bounded(0), mpmc::unbounded(), mpmc::bounded(2), mpmc::bounded(0), broadcast::bounded(2));
        // Two at once, as two collections.
        let mut both = (spsc::unbounded(), mpmc::unbounded());
        let mut senders = (both.0.0, both.1.0);
        senders.extend([(1, 'a'), (2, 'b')]);
        assert!(both.0.1.try_iter().eq([1, 2]) && both.1.1.try_iter().eq(['a', 'b']));
    });
}
