//! The receiving face of a channel, written once: everything a receiver can do, over any queue with one reading end.
//!
//! One thread at a time. What blocks, and what it costs, is said at each method that a channel's receiver shows: see
//! `receiver`, which gives it those.

use core::task::{Context, Poll, ready};
use core::time::Duration;

use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use crate::os::Deadline;
use crate::queue::outline;
use crate::signal::{AttachError, Registration};
use crate::sync::spin_loop;
use crate::wait::one::{self, WaitingEnd};
use crate::wait::{Backoff, Spin};

/// A queue's reading end, as the face needs it. All wait-free.
pub(super) trait Source: WaitingEnd {
    type Message;

    fn take(&mut self) -> Option<Self::Message>;
    fn take_many(&mut self, to: &mut Vec<Self::Message>, most: usize) -> usize;
    fn peek(&mut self) -> Option<&Self::Message>;
    fn has_message(&mut self) -> bool;
    /// How many messages are published, counting no further than it takes to reach `enough`.
    fn len_up_to(&self, enough: usize) -> usize;
    /// How many messages have been taken; wraps.
    fn position(&self) -> usize;
    /// Nothing more will be published.
    fn is_closed(&self) -> bool;
}

/// A source and the memory of how to wait for it.
pub(super) struct Receiving<S> {
    pub(super) source: S,
    waiter: Waiter,
}

/// A receiving end's memory of how to wait.
pub(super) struct Waiter {
    backoff: Backoff,
    /// How many messages had been taken at the last wait.
    waited_at: usize,
}

/// So many messages without a wait are a stream. Its sender works in the very line where the receiver has caught up with
/// it, and every look there takes the line away from it: better to look away for a moment, in which it gets ahead.
const STREAM: usize = 64;
/// For how many pauses to look away: a fraction of a microsecond.
const AWAY: u32 = 16;
/// A batch of so many is taken without counting what there is. Senders that stream could go on for as long as a larger
/// one lasts, and what never blocks must end.
const AMPLE: usize = if cfg!(ysuite_loom) { 4 } else { 4096 };

/// A task that waits for a message, and then does not any more: whatever ends its waiting, its waker is let go of.
struct Asking<'a, S: Source>(&'a mut Receiving<S>);

impl<S: Source> Drop for Asking<'_, S> {
    fn drop(&mut self) {
        one::forget(&mut self.0.source);
    }
}

impl Waiter {
    pub(super) fn new() -> Self {
        Self { backoff: Backoff::new(), waited_at: 0 }
    }

    pub(super) fn set_spin(&mut self, spin: Spin) {
        self.backoff.set(spin);
    }

    /// Blocks the thread until the side is ready (true) or the deadline has passed (false). `position` is how many
    /// messages have been taken; wraps.
    pub(super) fn wait(&mut self, side: &mut impl WaitingEnd, position: usize, deadline: Deadline) -> bool {
        // After a stream, gives its sender time to get ahead.
        if position.wrapping_sub(self.waited_at) >= STREAM && self.backoff.may_look() {
            (0..AWAY).for_each(|_| spin_loop());
        }
        self.waited_at = position;
        one::block(side, &mut self.backoff, deadline)
    }
}

impl<S: Source> Receiving<S> {
    pub(super) fn new(source: S) -> Self {
        Self { source, waiter: Waiter::new() }
    }

    pub(super) fn set_spin(&mut self, spin: Spin) {
        self.waiter.set_spin(spin);
    }

    /// Whether nothing will come any more. To be asked after finding nothing: what the sender published before it went
    /// is found then.
    fn is_over(&mut self) -> bool {
        self.source.is_closed() && !self.source.has_message()
    }

    #[inline(always)]
    pub(super) fn recv(&mut self) -> Result<S::Message, RecvError> {
        match self.source.take() {
            Some(message) => Ok(message),
            None => outline(self, Self::recv_slowly),
        }
    }

    #[cold]
    #[inline(never)]
    fn recv_slowly(&mut self) -> Result<S::Message, RecvError> {
        self.wait(Deadline::Never).map_err(|_| RecvError)?;
        self.source.take().ok_or(RecvError)
    }

    pub(super) fn recv_deadline(&mut self, deadline: Deadline) -> Result<S::Message, RecvTimeoutError> {
        if let Some(message) = self.source.take() {
            return Ok(message);
        }
        self.wait(deadline)?;
        self.source.take().ok_or(RecvTimeoutError::Disconnected)
    }

    pub(super) fn recv_timeout(&mut self, timeout: Duration) -> Result<S::Message, RecvTimeoutError> {
        self.recv_deadline(Deadline::after(timeout))
    }

    /// Blocks until there is a message (`Ok`), or never will be, or the time is up.
    #[cold]
    #[inline(never)]
    fn wait(&mut self, deadline: Deadline) -> Result<(), RecvTimeoutError> {
        loop {
            if self.source.has_message() {
                return Ok(());
            }
            if self.is_over() {
                return Err(RecvTimeoutError::Disconnected);
            }
            let position = self.source.position();
            if !self.waiter.wait(&mut self.source, position, deadline) {
                return Err(RecvTimeoutError::Timeout);
            }
        }
    }

    #[inline(always)]
    pub(super) fn look(&mut self) -> Option<S::Message> {
        self.source.take()
    }

    pub(super) fn has_message(&mut self) -> bool {
        self.source.has_message()
    }

    #[inline]
    pub(super) fn try_recv(&mut self) -> Result<S::Message, TryRecvError> {
        if let Some(message) = self.source.take() {
            return Ok(message);
        }
        self.nothing()?;
        self.source.take().ok_or(TryRecvError::Disconnected)
    }

    /// After finding nothing: `Ok` if something has come in the meantime.
    fn nothing(&mut self) -> Result<(), TryRecvError> {
        if one::rest(&mut self.source) || self.source.is_closed() {
            return if self.source.has_message() { Ok(()) } else { Err(TryRecvError::Disconnected) };
        }
        Err(TryRecvError::Empty)
    }

    pub(super) fn recv_batch(&mut self, to: &mut Vec<S::Message>, most: usize) -> Result<usize, RecvError> {
        if most == 0 {
            return Ok(0);
        }
        loop {
            let taken = self.take_batch(to, most);
            if taken != 0 {
                return Ok(taken);
            }
            outline(self, |face| face.wait(Deadline::Never)).map_err(|_| RecvError)?;
        }
    }

    pub(super) fn try_recv_batch(&mut self, to: &mut Vec<S::Message>, most: usize) -> Result<usize, TryRecvError> {
        if most == 0 {
            return Ok(0);
        }
        let taken = self.take_batch(to, most);
        if taken != 0 {
            return Ok(taken);
        }
        self.nothing()?;
        Ok(self.take_batch(to, most))
    }

    /// Takes what is there, `most` at most; a little of what comes meanwhile is no harm, but all of it might never end.
    #[inline(always)]
    fn take_batch(&mut self, to: &mut Vec<S::Message>, most: usize) -> usize {
        let taken = self.source.take_many(to, most.min(AMPLE));
        if taken < AMPLE { taken } else { taken + self.take_rest(to, most - taken) }
    }

    /// After an ample batch: what is there now, and nothing that comes later.
    #[cold]
    #[inline(never)]
    fn take_rest(&mut self, to: &mut Vec<S::Message>, most: usize) -> usize {
        let there = self.source.len_up_to(most).min(most);
        self.source.take_many(to, there)
    }

    pub(super) fn peek(&mut self) -> Option<&S::Message> {
        if !self.source.has_message() && !one::rest(&mut self.source) {
            return None;
        }
        self.source.peek()
    }

    #[inline]
    pub(super) fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Result<S::Message, RecvError>> {
        ready!(one::poll(&mut self.source, context));
        // Closed and with nothing left, or closed behind the last message.
        Poll::Ready(self.source.take().ok_or(RecvError))
    }

    pub(super) async fn recv_async(&mut self) -> Result<S::Message, RecvError> {
        if let Some(message) = self.source.take() {
            return Ok(message);
        }
        let asking = Asking(self);
        let outcome = core::future::poll_fn(|context| asking.0.poll_recv(context)).await;
        // Ends here, before the answer is on its way out: that would not be dropped if foreign code panicked.
        drop(asking);
        outcome
    }

    pub(super) fn attach(&mut self, registration: Registration) -> Result<(), AttachError> {
        one::attach(&mut self.source, registration)
    }

    pub(super) fn detach(&mut self) -> bool {
        one::detach(&mut self.source)
    }

    pub(super) fn registration(&self) -> Option<&Registration> {
        one::registration(&self.source)
    }
}
