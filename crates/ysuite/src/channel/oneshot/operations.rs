//! The operation of a oneshot's receiver. One thread or one task.

use core::task::{Context, Poll};

use super::handshake::{OVER, wait_for_sender};
use super::receiver::Receiver;
use crate::channel::RecvError;
#[cfg(feature = "select")]
use crate::channel::select::{OperationSource, SelectRecv};
use crate::operation::Operation;
use crate::os::Deadline;

/// The message is received.
#[doc(hidden)]
pub struct OneshotReceive<'a, T> {
    receiver: &'a mut Receiver<T>,
    /// A task is registered.
    is_registered: bool,
}

impl<'a, T> OneshotReceive<'a, T> {
    pub(super) fn new(receiver: &'a mut Receiver<T>) -> Self {
        Self { receiver, is_registered: false }
    }
}

impl<T> Operation for OneshotReceive<'_, T> {
    type Place = Option<T>;
    type Outcome = Result<(), RecvError>;

    fn attempt(&mut self, place: &mut Option<T>) -> Option<Result<(), RecvError>> {
        let answer = self.receiver.answer()?;
        Some(answer.map(|message| *place = Some(message)))
    }

    fn block(&mut self, deadline: Deadline) -> bool {
        let Some(link) = self.receiver.link() else { return true };
        // SAFETY: this receiver has not disconnected, so the memory is there.
        wait_for_sender(unsafe { link.handshake() }, deadline, || false);
        self.receiver.word() & OVER != 0
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(link) = self.receiver.link() else { return Poll::Ready(()) };
        let word = self.receiver.word();
        if word & OVER != 0 {
            return Poll::Ready(());
        }
        self.is_registered = true;
        if self.receiver.register(link, word, context.waker()) { Poll::Ready(()) } else { Poll::Pending }
    }

    // USER CODE: `Drop` of the task's waker; it is out of the channel; re-entrance: may use the sender; panic:
    //     propagates; the receiver can still be used; test: tests/suite/select/kinds.rs:
    //     a_select_that_leaves_a_oneshot_forgets_its_task
    fn leave(&mut self) {
        if core::mem::take(&mut self.is_registered) {
            self.receiver.forget_task();
        }
    }
}

#[cfg(feature = "select")]
#[allow(private_interfaces)]
impl<'a, T> SelectRecv for &'a mut Receiver<T> {
    type Message = T;
    type Error = RecvError;
    type Source = OperationSource<OneshotReceive<'a, T>>;

    fn into_source(self) -> Self::Source {
        OperationSource(OneshotReceive::new(self))
    }
}
