//! Receiving as an operation: what a mailbox does as a case of a select. The mailbox's thread only.
//!
//! Cannot: be a future. The message of a sender would run the waker of a task, which is user code, while the sender
//! holds locks and lanes of its own. A task that awaits messages has a channel.

use core::any::Any;
use core::marker::PhantomData;
use core::task::{Context, Poll};

use super::receive_error::ReceiveError;
use super::search::Search;
use crate::operation::Operation;
use crate::os::Deadline;

/// The next message of type `T` is received. One search, which continues where it has found nothing.
#[doc(hidden)]
pub struct MailboxReceive<'a, T> {
    search: Search<'a>,
    /// The waker of the select is in the inbox.
    is_registered: bool,
    message: PhantomData<fn() -> T>,
}

impl<'a, T> MailboxReceive<'a, T> {
    pub(super) fn new(search: Search<'a>) -> Self {
        Self { search, is_registered: false, message: PhantomData }
    }
}

impl<T: Any + Send> Operation for MailboxReceive<'_, T> {
    type Place = Option<T>;
    type Outcome = Result<(), ReceiveError>;

    fn attempt(&mut self, place: &mut Option<T>) -> Option<Result<(), ReceiveError>> {
        match self.search.find_next() {
            Ok(message) => {
                *place = Some(message);
                Some(Ok(()))
            }
            Err(ReceiveError::Timeout) => None,
            Err(error) => Some(Err(error)),
        }
    }

    // WAITS: as `Mailbox::receive`
    fn block(&mut self, deadline: Deadline) -> bool {
        self.search.wait_until(deadline) != Err(ReceiveError::Timeout)
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.is_registered = true;
        self.search.poll(context)
    }

    fn leave(&mut self) {
        if core::mem::take(&mut self.is_registered) {
            self.search.forget_task();
        }
    }

    fn moves(&self) -> u64 {
        self.search.moves()
    }
}
