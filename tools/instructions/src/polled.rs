//! Futures, polled by hand.

use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// The output of a future that is ready at its first poll.
pub(crate) fn at_once<F: Future>(future: F) -> F::Output {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).as_mut().poll(&mut context) {
        Poll::Ready(output) => black_box(output),
        Poll::Pending => panic!("the future is not ready"),
    }
}

/// Polls two futures. The first waits until the second has been polled.
pub(crate) fn first_waits<A: Future, B: Future>(first: A, second: B) -> (A::Output, B::Output) {
    let mut context = Context::from_waker(Waker::noop());
    let mut first = pin!(first);
    assert!(first.as_mut().poll(&mut context).is_pending());
    let second = at_once(second);
    match first.poll(&mut context) {
        Poll::Ready(first) => (first, second),
        Poll::Pending => panic!("the second future did not end the wait of the first"),
    }
}
