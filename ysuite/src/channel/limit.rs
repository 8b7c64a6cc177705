//! The limit of a send by a task: any future, which is foreign code in its polls and at its end. The calling task only.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

/// Polls a limit. It lies in an option so that it can end before the future that it limits returns.
pub(super) fn poll_limit<F: Future>(limit: Pin<&mut Option<F>>, context: &mut Context<'_>) -> Poll<()> {
    limit.as_pin_mut().map_or(Poll::Ready(()), |limit| limit.poll(context).map(drop))
}
