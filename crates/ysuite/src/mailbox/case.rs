//! A receive as a case of a select: see [`MailboxReceive`]. The mailbox's thread only.

use core::any::Any;
use core::marker::PhantomData;

use super::mailbox::Mailbox;
use super::operations::MailboxReceive;
use super::receive_error::ReceiveError;
use super::search::Search;
use crate::channel::OperationSource;
use crate::channel::select::SelectRecv;
use crate::os::Deadline;

/// A receive as a case of [`select`](crate::select()): see [`Mailbox::receiving`].
#[derive(Debug)]
pub struct ToReceive<'a, T> {
    mailbox: &'a mut Mailbox,
    message: PhantomData<fn() -> T>,
}

impl Mailbox {
    /// A receive of a message of type `T`, as a case of [`select`](crate::select()) to receive from. Its error is that
    /// of [`receive`](Self::receive). Whichever case is performed, messages of other types that were passed over stay
    /// for later, in their order, and a notice without a handler is this case's error.
    #[must_use = "it receives nothing by itself"]
    pub fn receiving<T: Any + Send>(&mut self) -> ToReceive<'_, T> {
        ToReceive { mailbox: self, message: PhantomData }
    }
}

#[allow(private_interfaces)]
impl<'a, T: Any + Send> SelectRecv for ToReceive<'a, T> {
    type Message = T;
    type Error = ReceiveError;
    type Source = OperationSource<MailboxReceive<'a, T>>;

    fn into_source(self) -> Self::Source {
        OperationSource(MailboxReceive::new(Search::new(self.mailbox, Deadline::Passed)))
    }
}
