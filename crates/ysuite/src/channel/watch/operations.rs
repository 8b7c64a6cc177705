//! The operation of a watch's receiver: to see a value that it has not seen. One thread or one task.

use core::task::{Context, Poll};

use super::receiver::{Receiver, see};
use super::shared::{Unseen, WatchShared};
use crate::channel::RecvError;
#[cfg(feature = "select")]
use crate::channel::select::{OperationSource, SelectRecv};
use crate::operation::{Operation, Readiness};
use crate::os::Deadline;
use crate::wait::Subscriptions;

/// A value that the receiver has not seen counts as seen.
#[doc(hidden)]
pub struct WatchChange<'a, T> {
    shared: &'a WatchShared<T>,
    seen: &'a mut u64,
    subscriptions: Option<&'a Subscriptions>,
    unseen: Readiness<'a, Unseen<'a, T>>,
}

impl<'a, T> WatchChange<'a, T> {
    pub(super) fn new(receiver: &'a mut Receiver<T>) -> Self {
        let Receiver { shared, seen, backoff, subscriptions, .. } = receiver;
        let unseen = Readiness::new(shared.unseen(*seen), backoff);
        Self { shared, seen, subscriptions: subscriptions.as_deref(), unseen }
    }
}

impl<T> Operation for WatchChange<'_, T> {
    /// There is a new value.
    type Place = Option<()>;
    type Outcome = Result<(), RecvError>;

    fn attempt(&mut self, place: &mut Option<()>) -> Option<Result<(), RecvError>> {
        match self.shared.news(*self.seen) {
            Ok(None) => None,
            Ok(Some(_)) => {
                see(self.shared, self.seen, self.subscriptions);
                *place = Some(());
                Some(Ok(()))
            }
            Err(error) => Some(Err(error)),
        }
    }

    fn block(&mut self, deadline: Deadline) -> bool {
        self.unseen.block(deadline)
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.unseen.poll(context)
    }

    fn leave(&mut self) {
        self.unseen.leave();
    }
}

#[cfg(feature = "select")]
#[allow(private_interfaces)]
impl<'a, T> SelectRecv for &'a mut Receiver<T> {
    type Message = ();
    type Error = RecvError;
    type Source = OperationSource<WatchChange<'a, T>>;

    fn into_source(self) -> Self::Source {
        OperationSource(WatchChange::new(self))
    }
}
