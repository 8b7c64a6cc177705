//! The limit of a send by a task: any future, which is foreign code in its polls and at its end. The calling task only.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use crate::foreign::Panics;

/// Polls a limit. It lies in an option so that it can end before the future that it limits returns.
pub(super) fn poll_limit<F: Future>(limit: Pin<&mut Option<F>>, context: &mut Context<'_>) -> Poll<()> {
    limit.as_pin_mut().map_or(Poll::Ready(()), |limit| limit.poll(context).map(drop))
}

/// The answer, when the wait and its limit have ended. Both are foreign code then; so is the drop of an answer that nobody gets,
/// behind a panic.
pub(super) fn answer_behind<A, W, F>(answer: A, wait: W, mut limit: Pin<&mut Option<F>>) -> A {
    let mut panics = Panics::none();
    panics.catch(|| drop(wait));
    panics.catch(|| limit.set(None));
    panics.answer(answer)
}
