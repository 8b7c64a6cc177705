//! [`Question`] and [`Reply`]: the program's side of a bridge that answers. Any thread may answer, and in any order; that
//! never waits.

use core::fmt;
use std::sync::Arc;

use ysuite::SendError;
use ysuite::mpmc;

use crate::frame::Frame;

/// A question that has come.
#[derive(Debug)]
pub struct Question<Q, A> {
    /// The message that asks.
    pub message: Q,
    /// The handle that sends the answer.
    pub reply: Reply<A>,
}

impl<Q, A> Question<Q, A> {
    /// Answers the question, as [`Reply::send`].
    ///
    /// # Errors
    /// As there.
    pub fn answer(self, answer: A) -> Result<(), SendError<A>> {
        self.reply.send(answer)
    }
}

/// The handle that answers a question. If it is dropped the question has no answer, and the one that asks is not told: the
/// time for it runs out there.
pub struct Reply<A> {
    pub(super) envelope: Vec<Frame>,
    pub(super) answers: Answers<A>,
}

/// What goes to the bridge.
pub(super) type Answers<A> = Arc<mpmc::Sender<Answer<A>>>;

/// An answer, and all that was before the question.
pub(super) struct Answer<A> {
    pub(super) envelope: Vec<Frame>,
    pub(super) message: A,
}

impl<A> Reply<A> {
    /// Sends the answer. Never waits: as many answers are on their way as questions were taken.
    ///
    /// # Errors
    /// The answer comes back where the bridge has ended. If the one that asks is gone, this is not an error.
    pub fn send(self, answer: A) -> Result<(), SendError<A>> {
        let Self { envelope, answers } = self;
        answers.send(Answer { envelope, message: answer }).map_err(|SendError(back)| SendError(back.message))
    }
}

impl<A> fmt::Debug for Reply<A> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Reply").finish_non_exhaustive()
    }
}
