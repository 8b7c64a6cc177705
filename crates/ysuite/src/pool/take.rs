//! A take of a task, and a take as a case of a select: see [`PoolTake`]. One thread at a time for each.

#[cfg(feature = "select")]
use core::convert::Infallible;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use super::class::Class;
#[cfg(feature = "select")]
use super::handle::Pool;
use super::message::Message;
use super::operations::{PoolTake, never};
use crate::foreign::Foreign;
use crate::operation::Task;

/// A take of a task: see [`Pool::take_async`](super::Pool::take_async).
#[must_use = "futures do nothing unless they are polled"]
pub struct TakeFuture<'a>(Task<PoolTake<'a, fn() -> bool>>);

impl<'a> TakeFuture<'a> {
    pub(super) fn new(class: &'a Class, len: usize) -> Self {
        Self(Task::new(PoolTake::new(class, len, never), Foreign::none()))
    }
}

impl Future for TakeFuture<'_> {
    type Output = Message;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Message> {
        let Self(task) = self.get_mut();
        let outcome = Pin::new(&mut *task).poll(context);
        outcome.map(|_| task.place().take().expect("nothing else ends it"))
    }
}

impl fmt::Debug for TakeFuture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TakeFuture").finish_non_exhaustive()
    }
}

/// A message of a pool as a case of [`select`](crate::select()): see [`Pool::taking`](Pool::taking).
#[cfg(feature = "select")]
#[derive(Debug)]
pub struct Taking<'a> {
    pub(super) pool: &'a Pool,
    pub(super) len: usize,
}

#[cfg(feature = "select")]
#[allow(private_interfaces)]
impl<'a> crate::channel::select::SelectRecv for Taking<'a> {
    type Message = Message;
    type Error = Infallible;
    type Source = crate::channel::OperationSource<PoolTake<'a, fn() -> bool>>;

    fn into_source(self) -> Self::Source {
        crate::channel::OperationSource(PoolTake::new(self.pool.class(self.len), self.len, never))
    }
}
