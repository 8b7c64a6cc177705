//! [`Asker`] and [`Pending`]: the program's side of a bridge that asks.
//!
//! Any thread, and any number of them, may have an asker. `ask`, `begin` and `wait` block; what is async wakes the task;
//! `try_begin` and `try_get` never wait.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::time::{Duration, Instant};

use ysuite::{RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
use ysuite::{mpmc, oneshot};

use crate::wire::Malformed;

/// Why a question has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unanswered {
    /// None came in time, whether the question was sent or not.
    TimedOut,
    /// The connection ended before one came. The other side may have had the question.
    Disconnected,
    /// The bytes of the answer are none of its type.
    Malformed(Malformed),
    /// The bridge has ended, or is about to.
    Closed,
}

impl fmt::Display for Unanswered {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::TimedOut => "no answer came in time",
            Self::Disconnected => "the connection ended before an answer came",
            Self::Malformed(_) => "the answer is malformed",
            Self::Closed => "the bridge has ended",
        })
    }
}

impl std::error::Error for Unanswered {}

/// What becomes of a question.
pub(super) type Outcome<A> = Result<A, Unanswered>;

/// A question on its way to the bridge.
pub(super) struct Asking<Q, A> {
    pub(super) message: Q,
    pub(super) answer: oneshot::Sender<Outcome<A>>,
    pub(super) asked: Instant,
}

/// Asks questions over a bridge. Cloned freely; begun by [`Ask::start`](crate::Ask::start).
pub struct Asker<Q, A> {
    questions: mpmc::Sender<Asking<Q, A>>,
}

impl<Q, A> Clone for Asker<Q, A> {
    fn clone(&self) -> Self {
        Self { questions: self.questions.clone() }
    }
}

impl<Q, A> fmt::Debug for Asker<Q, A> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Asker").finish_non_exhaustive()
    }
}

impl<Q: Send, A: Send> Asker<Q, A> {
    pub(super) fn new(questions: mpmc::Sender<Asking<Q, A>>) -> Self {
        Self { questions }
    }

    /// Asks, and blocks until the answer is there, or there will be none.
    ///
    /// # Errors
    /// [`Unanswered`] says why there is none.
    pub fn ask(&self, question: Q) -> Result<A, Unanswered> {
        self.begin(question)?.wait()
    }

    /// Asks, and does not wait for the answer. Blocks while as many questions wait for theirs as the bridge
    /// [allows](crate::Ask::unanswered).
    ///
    /// # Errors
    /// [`Unanswered::Closed`] where the bridge has ended.
    pub fn begin(&self, question: Q) -> Result<Pending<A>, Unanswered> {
        let (asking, pending) = asking(question);
        self.questions.send(asking).map_err(|_| Unanswered::Closed)?;
        Ok(pending)
    }

    /// As [`begin`](Self::begin), without blocking.
    ///
    /// # Errors
    /// The question comes back where there is no room for it now, or the bridge has ended.
    pub fn try_begin(&self, question: Q) -> Result<Pending<A>, TrySendError<Q>> {
        let (asking, pending) = asking(question);
        match self.questions.try_send(asking) {
            Ok(()) => Ok(pending),
            Err(TrySendError::Full(back)) => Err(TrySendError::Full(back.message)),
            Err(TrySendError::Disconnected(back)) => Err(TrySendError::Disconnected(back.message)),
        }
    }

    /// As [`begin`](Self::begin), blocking for so long at most.
    ///
    /// # Errors
    /// The question comes back where there was no room for it in time, or the bridge has ended.
    pub fn begin_timeout(&self, question: Q, timeout: Duration) -> Result<Pending<A>, SendTimeoutError<Q>> {
        let (asking, pending) = asking(question);
        match self.questions.send_timeout(asking, timeout) {
            Ok(()) => Ok(pending),
            Err(SendTimeoutError::Timeout(back)) => Err(SendTimeoutError::Timeout(back.message)),
            Err(SendTimeoutError::Disconnected(back)) => Err(SendTimeoutError::Disconnected(back.message)),
        }
    }

    /// Waits, of a task, until there is room for a question, or the bridge has ended. It keeps nothing: another asker may
    /// be first. For a thread that sleeps in an event loop, with a waker of its own.
    pub fn room(&self) -> impl Future<Output = ()> + Send + use<Q, A>
    where
        Q: 'static,
        A: 'static,
    {
        let questions = self.questions.clone();
        async move { drop(questions.reserve_async().await) }
    }

    /// As [`ask`](Self::ask), of a task. Dropped, it gives the question up, or has not asked it.
    ///
    /// # Errors
    /// As there.
    pub async fn ask_async(&self, question: Q) -> Result<A, Unanswered> {
        self.begin_async(question).await?.await
    }

    /// As [`begin`](Self::begin), of a task. Dropped, it has not asked.
    ///
    /// # Errors
    /// As there.
    pub async fn begin_async(&self, question: Q) -> Result<Pending<A>, Unanswered> {
        let (asking, pending) = asking(question);
        self.questions.send_async(asking).await.map_err(|SendError(_)| Unanswered::Closed)?;
        Ok(pending)
    }
}

fn asking<Q, A>(message: Q) -> (Asking<Q, A>, Pending<A>) {
    let (answer, outcome) = oneshot::channel();
    (Asking { message, answer, asked: Instant::now() }, Pending(outcome))
}

/// A question that was asked. A future as well. Dropped, it gives the question up: if that was not sent it will not be.
#[derive(Debug)]
#[must_use = "without it the question is given up"]
pub struct Pending<A>(oneshot::Receiver<Outcome<A>>);

impl<A> Pending<A> {
    /// Blocks until the answer is there, or there will be none.
    ///
    /// # Errors
    /// [`Unanswered`] says why there is none.
    pub fn wait(self) -> Result<A, Unanswered> {
        self.0.recv().unwrap_or(Err(Unanswered::Closed))
    }

    /// As [`wait`](Self::wait), for so long at most; nothing where that is over. The question is not given up by it.
    ///
    /// # Errors
    /// As there.
    pub fn wait_timeout(&mut self, timeout: Duration) -> Option<Result<A, Unanswered>> {
        match self.0.recv_timeout(timeout) {
            Ok(outcome) => Some(outcome),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Err(Unanswered::Closed)),
        }
    }

    /// Returns the answer, or why there is none, if either is there now.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn try_get(&mut self) -> Option<Result<A, Unanswered>> {
        match self.0.try_recv() {
            Ok(outcome) => Some(outcome),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(Unanswered::Closed)),
        }
    }
}

impl<A> Future for Pending<A> {
    type Output = Result<A, Unanswered>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|outcome| outcome.unwrap_or(Err(Unanswered::Closed)))
    }
}
