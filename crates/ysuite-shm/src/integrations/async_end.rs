//! Ends whose waits are futures of tokio.

use core::fmt;
use std::os::fd::{AsFd, RawFd};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::{
    Borrowed, BroadcastError, BroadcastReceiver, BroadcastSender, BytesBroadcastSender, BytesCaller, BytesReceiver,
    BytesSender, BytesWatchSender, BytesWorkSender, CallError, Caller, Carried, Copied, Error, Funnel, Job, Loan,
    LoanError, LoanReceiver, LoanSender, Message, Pending, Receiver, SendError, Sender, TryRecvError, TrySendError,
    WatchReceiver, WatchSender, WorkReceiver, WorkSender,
};

/// An end in a runtime of tokio. Its futures may be dropped at any time: a message is received, or sent, by the poll that
/// returns so, and by no other.
#[cfg_attr(docsrs, doc(cfg(feature = "tokio")))]
pub struct Async<E> {
    /// Before the end, whose descriptor it has.
    ready: AsyncFd<RawFd>,
    end: E,
}

impl<E: AsFd> Async<E> {
    /// Registers an end with the current runtime, whose I/O must be enabled.
    ///
    /// # Errors
    /// As the system says.
    ///
    /// # Panics
    /// Outside such a runtime.
    pub fn new(end: E) -> std::io::Result<Self> {
        // SAFETY: the descriptor is the end's, which stays open and the same as long as the end; `ready` is dropped before
        // it, and where the end is given back as well.
        let ready = unsafe { AsyncFd::register_with_interest(super::raw(&end), Interest::READABLE) };
        Ok(Self { ready: ready.map_err(|error| error.into_parts().1)?, end })
    }

    /// Returns the end, for calls that do not wait.
    pub fn get_mut(&mut self) -> &mut E {
        &mut self.end
    }

    /// Returns the end, without the runtime.
    pub fn into_inner(self) -> E {
        drop(self.ready);
        self.end
    }

    /// Waits until `attempt` has an answer. `arm`: whether it may sleep now.
    async fn until<R>(&mut self, mut attempt: impl FnMut(&mut E) -> Option<R>, arm: impl Fn(&mut E) -> bool) -> R {
        loop {
            if let Some(answer) = attempt(&mut self.end) {
                return answer;
            }
            if !arm(&mut self.end) {
                // A peer that has something all the time, and never something whole, must not keep the thread.
                tokio::task::yield_now().await;
            } else if let Ok(mut guard) = self.ready.readable().await {
                guard.clear_ready();
            }
        }
    }
}

fn received<R>(outcome: Result<R, TryRecvError>) -> Option<Result<R, Error>> {
    match outcome {
        Ok(message) => Some(Ok(message)),
        Err(TryRecvError::Ended(error)) => Some(Err(error)),
        Err(TryRecvError::Empty) => None,
    }
}

/// Keeps a message that was not sent yet.
fn sent<T, R>(outcome: Result<R, TrySendError<T>>, unsent: &mut Option<T>) -> Option<Result<R, SendError<T>>> {
    match outcome {
        Ok(sent) => Some(Ok(sent)),
        Err(TrySendError::Ended(message, error)) => Some(Err(SendError(message, error))),
        Err(TrySendError::Full(message)) => {
            *unsent = Some(message);
            None
        }
    }
}

/// The same of bytes, which are not given back.
fn bytes_sent<R>(outcome: Result<R, TrySendError<()>>) -> Option<Result<R, SendError<()>>> {
    sent(outcome, &mut None)
}

impl<T: Message> Async<Receiver<T>> {
    /// Receives a message.
    ///
    /// # Errors
    /// The channel is empty and has ended.
    pub async fn recv(&mut self) -> Result<T, Error> {
        self.until(|end| received(end.try_recv()), Receiver::arm).await
    }
}

impl Async<BytesReceiver> {
    /// Receives a message.
    ///
    /// # Errors
    /// The channel is empty and has ended.
    pub async fn recv(&mut self) -> Result<Vec<u8>, Error> {
        self.until(|end| received(end.try_recv()), BytesReceiver::arm).await
    }
}

impl<T: Carried> Async<Funnel<T>> {
    /// Receives a message of any sender.
    ///
    /// # Errors
    /// As for [`Funnel::recv`].
    pub async fn recv(&mut self) -> Result<T, Error> {
        self.until(|end| received(end.try_recv()), Funnel::arm).await
    }
}

impl<T: Copied> Async<WatchReceiver<T>> {
    /// Receives the newest value, when there is one that it has not received.
    ///
    /// # Errors
    /// There is none, and the sender is gone.
    pub async fn recv(&mut self) -> Result<T, Error> {
        self.until(|end| received(end.try_recv()), WatchReceiver::arm).await
    }
}

/// Waits until a receiver comes or goes, and takes notice.
async fn serve<E>(ready: &AsyncFd<RawFd>, end: &mut E, arm: impl FnOnce(&mut E) -> bool) {
    if let Ok(mut guard) = ready.readable().await {
        // Behind it: what comes meanwhile makes it ready again.
        if arm(end) {
            guard.clear_ready();
        }
    }
}

impl Async<BytesWatchSender> {
    /// As [`WatchSender`]'s.
    pub async fn serve(&mut self) {
        serve(&self.ready, &mut self.end, BytesWatchSender::arm).await;
    }
}

impl<T: Message> Async<WatchSender<T>> {
    /// Accepts receivers that come, and notices those that go; returns then. A sender waits for it between two values.
    pub async fn serve(&mut self) {
        serve(&self.ready, &mut self.end, WatchSender::arm).await;
    }
}

impl<T: Copied> Async<BroadcastReceiver<T>> {
    /// Receives a message.
    ///
    /// # Errors
    /// As for [`BroadcastReceiver::recv`].
    pub async fn recv(&mut self) -> Result<T, BroadcastError> {
        let attempt = |end: &mut BroadcastReceiver<T>| match end.try_recv() {
            Err(BroadcastError::Empty) => None,
            other => Some(other),
        };
        self.until(attempt, BroadcastReceiver::arm).await
    }
}

impl<T: Message> Async<BroadcastSender<T>> {
    /// Sends a message to all receivers, when they have room.
    pub async fn send(&mut self, message: T) {
        let mut unsent = Some(message);
        let attempt = |end: &mut BroadcastSender<T>| match end.try_send(unsent.take()?) {
            Ok(()) => Some(()),
            Err(error) => {
                unsent = Some(error.into_inner());
                None
            }
        };
        self.until(attempt, BroadcastSender::arm).await;
    }

    /// As [`WatchSender`]'s.
    pub async fn serve(&mut self) {
        serve(&self.ready, &mut self.end, BroadcastSender::arm_to_serve).await;
    }
}

impl Async<BytesBroadcastSender> {
    /// Sends a message to all receivers, when they have room.
    ///
    /// # Panics
    /// If it is longer than [`largest`](BytesBroadcastSender::largest).
    pub async fn send(&mut self, message: &[u8]) {
        let attempt = |end: &mut BytesBroadcastSender| end.try_send(message).ok();
        self.until(attempt, |end| end.arm(message.len())).await;
    }

    /// As [`WatchSender`]'s.
    pub async fn serve(&mut self) {
        serve(&self.ready, &mut self.end, BytesBroadcastSender::arm_to_serve).await;
    }
}

impl Async<LoanReceiver> {
    /// Receives a message.
    ///
    /// # Errors
    /// As for [`LoanReceiver::recv`].
    pub async fn recv(&mut self) -> Result<Borrowed, Error> {
        self.until(|end| received(end.try_recv()), LoanReceiver::arm).await
    }
}

/// Keeps on waiting while the pool is dry.
fn lent(outcome: Result<(), LoanError>) -> Option<Result<(), Error>> {
    match outcome {
        Ok(()) => Some(Ok(())),
        Err(LoanError::Ended(error)) => Some(Err(error)),
        Err(LoanError::Dry) => None,
    }
}

impl Async<LoanSender> {
    /// A free slot for a message of this length, when there is one.
    ///
    /// # Errors
    /// As for [`LoanSender::loan`].
    ///
    /// # Panics
    /// As there.
    pub async fn loan(&mut self, length: usize) -> Result<Loan<'_>, Error> {
        self.end.assert_fits(length);
        self.until(|end| lent(end.try_ready(LoanSender::has_slot)), LoanSender::arm).await?;
        Ok(self.end.lend(length))
    }

    /// Memory of its own for a message of this length, when there are not too many on their way.
    ///
    /// # Errors
    /// As for [`LoanSender::large`].
    pub async fn large(&mut self, length: usize) -> Result<Loan<'_>, Error> {
        self.until(|end| lent(end.try_ready(LoanSender::has_way)), LoanSender::arm_large).await?;
        self.end.draft(length)
    }

    /// As [`WatchSender`]'s.
    pub async fn serve(&mut self) {
        serve(&self.ready, &mut self.end, LoanSender::arm_to_serve).await;
    }
}

impl<T: Copied> Async<WorkReceiver<T>> {
    /// Receives a job.
    ///
    /// # Errors
    /// There is none, and the sender is gone.
    pub async fn recv(&mut self) -> Result<Job<'_, T>, Error> {
        self.until(|end| received(end.try_ready()), WorkReceiver::arm).await?;
        self.end.job()
    }
}

impl<T: Message> Async<WorkSender<T>> {
    /// Gives out a job.
    ///
    /// # Errors
    /// As for [`WorkSender::send`].
    pub async fn send(&mut self, job: T) -> Result<(), SendError<T>> {
        let mut unsent = Some(job);
        let attempt = |end: &mut WorkSender<T>| sent(end.try_send(unsent.take()?), &mut unsent);
        self.until(attempt, WorkSender::arm).await
    }

    /// As [`WorkSender::settle`].
    ///
    /// # Errors
    /// As there.
    pub async fn settle(&mut self) -> Result<(), Error> {
        self.until(WorkSender::try_settle, WorkSender::arm_to_settle).await
    }
}

impl Async<BytesWorkSender> {
    /// Gives out a job.
    ///
    /// # Errors
    /// As for [`BytesWorkSender::send`].
    ///
    /// # Panics
    /// As there.
    pub async fn send(&mut self, job: &[u8]) -> Result<(), SendError<()>> {
        self.until(|end| bytes_sent(end.try_send(job)), BytesWorkSender::arm).await
    }

    /// As [`WorkSender::settle`].
    ///
    /// # Errors
    /// As there.
    pub async fn settle(&mut self) -> Result<(), Error> {
        self.until(BytesWorkSender::try_settle, BytesWorkSender::arm_to_settle).await
    }
}

/// What a call has come to. `None`: it is under way.
fn ended<A>(outcome: Result<Option<A>, Option<Error>>) -> Option<Result<A, CallError>> {
    match outcome {
        Ok(outcome) => Some(outcome.ok_or(CallError::Unanswered)),
        Err(None) => None,
        Err(Some(error)) => Some(Err(CallError::Ended(error))),
    }
}

impl<A: Copied> Async<BytesCaller<A>> {
    /// Asks, and waits for the answer. Dropping the future gives the call up.
    ///
    /// # Errors
    /// As for [`Caller::call`].
    ///
    /// # Panics
    /// As [`BytesCaller::call`].
    pub async fn call(&mut self, question: &[u8]) -> Result<A, CallError> {
        let call = self.ask(question).await.map_err(|error| CallError::Ended(error.1))?;
        self.recv(call).await
    }

    /// Asks, and goes on.
    ///
    /// # Errors
    /// As for [`BytesCaller::ask`].
    ///
    /// # Panics
    /// As [`BytesCaller::call`].
    pub async fn ask(&mut self, question: &[u8]) -> Result<Pending, SendError<()>> {
        self.until(|end| bytes_sent(end.try_ask(question)), BytesCaller::arm_to_ask).await
    }

    /// Receives the answer of a call. Dropping the future gives the call up.
    ///
    /// # Errors
    /// As for [`Caller::recv`].
    ///
    /// # Panics
    /// As there.
    pub async fn recv(&mut self, call: Pending) -> Result<A, CallError> {
        self.until(|end| ended(end.try_outcome(&call)), |end| end.arm([&call])).await
    }
}

impl<Q: Message, A: Copied> Async<Caller<Q, A>> {
    /// Asks, and waits for the answer. Dropping the future gives the call up.
    ///
    /// # Errors
    /// As for [`Caller::call`].
    pub async fn call(&mut self, question: Q) -> Result<A, CallError> {
        let call = self.ask(question).await.map_err(|error| CallError::Ended(error.1))?;
        self.recv(call).await
    }

    /// Asks, and goes on.
    ///
    /// # Errors
    /// As for [`Caller::ask`].
    pub async fn ask(&mut self, question: Q) -> Result<Pending, SendError<Q>> {
        let mut unsent = Some(question);
        let attempt = |end: &mut Caller<Q, A>| sent(end.try_ask(unsent.take()?), &mut unsent);
        self.until(attempt, Caller::arm_to_ask).await
    }

    /// Receives the answer of a call. Dropping the future gives the call up.
    ///
    /// # Errors
    /// As for [`Caller::recv`].
    ///
    /// # Panics
    /// As there.
    pub async fn recv(&mut self, call: Pending) -> Result<A, CallError> {
        self.until(|end| ended(end.try_outcome(&call)), |end| end.arm([&call])).await
    }
}

impl<T: Message> Async<Sender<T>> {
    /// Sends a message.
    ///
    /// # Errors
    /// The channel has ended: the message, and why.
    pub async fn send(&mut self, message: T) -> Result<(), SendError<T>> {
        let mut unsent = Some(message);
        let attempt = |end: &mut Sender<T>| sent(end.try_send(unsent.take()?), &mut unsent);
        self.until(attempt, Sender::arm).await
    }
}

impl Async<BytesSender> {
    /// Sends a message.
    ///
    /// # Errors
    /// The channel has ended.
    ///
    /// # Panics
    /// If it is longer than [`largest`](BytesSender::largest).
    pub async fn send(&mut self, message: &[u8]) -> Result<(), SendError<()>> {
        self.until(|end| bytes_sent(end.try_send(message)), |end| end.arm(message.len())).await
    }
}

impl<E> fmt::Debug for Async<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Async").finish_non_exhaustive()
    }
}
