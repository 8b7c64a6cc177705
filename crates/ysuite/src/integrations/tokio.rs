//! A set of signals that a task of tokio waits for, alongside its other futures: one task at a time (Unix). A timer: any
//! number of tasks. And sends with a time limit of tokio's.
//!
//! One task serves thousands of attached receivers with one descriptor, and is woken once for all signals raised
//! meanwhile. For a single receiver use its `recv_async`, which needs no descriptor.
//!
//! On Windows a task cannot wait for a set: tokio waits for sockets and pipes there, and a set has an event. Receive by
//! `recv_async`, a task for each receiver, or give the set a thread that [waits](crate::signal::Wait) for it.

#[cfg(unix)]
use core::task::{Context, Poll, ready};
use core::time::Duration;
#[cfg(unix)]
use std::io;
use std::time::Instant;

#[cfg(unix)]
use tokio::io::Interest;
#[cfg(unix)]
use tokio::io::unix::AsyncFd;

#[cfg(any(feature = "broadcast", feature = "mpmc"))]
use crate::channel::future::{SendUntilFuture, TimeLimit};
use crate::channel::{RecvError, within_budget};
use crate::signal::Timer;
#[cfg(unix)]
use crate::signal::{Attach, AttachError, Signals, Wait, YSocketpair};

/// A [`YSocketpair`] whose signals a task waits for.
///
/// ```
/// use ysuite::integrations::tokio::AsyncSocketpair;
/// use ysuite::signal::{Signal, YSocketpair};
///
/// # tokio::runtime::Builder::new_current_thread().enable_io().build()?.block_on(async {
/// let mut set = AsyncSocketpair::new(YSocketpair::new()?)?;
/// let signaler = set.get_ref().signaler();
/// std::thread::spawn(move || signaler.signal(200));
/// assert_eq!(set.signals().await?.collect::<Vec<_>>(), [200]);
/// # std::io::Result::Ok(()) })?;
/// # std::io::Result::Ok(())
/// ```
#[cfg(unix)]
#[derive(Debug)]
pub struct AsyncSocketpair(AsyncFd<YSocketpair>);

#[cfg(unix)]
impl AsyncSocketpair {
    /// Puts the set into the current runtime's event loop.
    ///
    /// # Errors
    /// Those of registering a descriptor there. Then the set is dropped: its receivers can be attached to another set.
    ///
    /// # Panics
    /// Outside a runtime, and in one without `enable_io`.
    pub fn new(set: YSocketpair) -> io::Result<Self> {
        // SAFETY: a set keeps its descriptor, open and the same, as long as it lives; and no method lends the set
        // mutably, so it is neither dropped nor replaced while it is registered.
        let fd = unsafe { AsyncFd::register_with_interest(set, Interest::READABLE) };
        fd.map(Self).map_err(io::Error::from)
    }

    // WAITS: a task, for the descriptor; the runtime runs its other tasks; test: tests/suite/integrations/tokio.rs:
    //     a_set_of_signals_in_an_event_loop
    /// Waits for at least one signal, and returns those that are up, as [`Wait::wait`] does. Takes the signals that
    /// were raised by hand.
    ///
    /// Cancel-safe: a future dropped before it is ready has taken nothing.
    ///
    /// # Errors
    /// If the runtime is shutting down.
    pub async fn signals(&mut self) -> io::Result<Signals> {
        core::future::poll_fn(|context| self.poll_signals(context)).await
    }

    // USER CODE: tokio's registration of the task; the set is between two polls; re-entrance: none; panic: propagates
    //     out of the poll; signals are still up; by construction: `check` comes after, in one step with the result
    /// As [`signals`](Self::signals), or registers the task to be woken when there may be a signal. Never blocks.
    ///
    /// # Errors
    /// If the runtime is shutting down.
    pub fn poll_signals(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Signals>> {
        loop {
            let mut ready = ready!(self.0.poll_read_ready_mut(context))?;
            let signals = ready.get_inner_mut().check();
            if !signals.is_empty() {
                // The runtime still takes it for readable, so the next call checks again at once.
                return Poll::Ready(Ok(signals));
            }
            // After an empty result the next signal makes the descriptor readable anew.
            ready.clear_ready();
        }
    }

    /// Attaches a receiver to an id of the set: [`YSocketpair::attach`].
    #[doc = cost!(signal ATTACH)]
    ///
    /// # Errors
    /// Those of [`YSocketpair::attach`].
    pub fn attach(&mut self, receiver: &mut impl Attach, id: usize) -> Result<(), AttachError> {
        self.0.get_mut().attach(receiver, id)
    }

    /// Takes a receiver out of the set: [`YSocketpair::detach`].
    #[doc = cost!(signal DETACH)]
    pub fn detach(&mut self, receiver: &mut impl Attach) -> Option<usize> {
        self.0.get_mut().detach(receiver)
    }

    /// Borrows the set.
    #[must_use]
    pub fn get_ref(&self) -> &YSocketpair {
        self.0.get_ref()
    }

    /// Returns the set, out of the event loop.
    #[must_use]
    pub fn into_inner(self) -> YSocketpair {
        self.0.into_inner()
    }
}

#[cfg(feature = "timer")]
impl Timer {
    /// Receives a tick; the task waits for one without a time limit, by tokio's timer, which counts in milliseconds. If
    /// there will be no tick it waits for ever. Ticks are due by the clock of `std`: if a test has paused tokio's
    /// clock, the task is polled again and again until the time has really passed.
    #[doc = cost!(timer RECV_TASK)]
    ///
    /// # Errors
    /// None. It is a `Result` because every channel's `recv_async` is.
    ///
    /// # Panics
    /// Outside a runtime of tokio, and in one without `enable_time`, unless a tick is due.
    pub async fn recv_async(&self) -> Result<Instant, RecvError> {
        within_budget(self.tick()).await
    }

    async fn tick(&self) -> Result<Instant, RecvError> {
        loop {
            if let Ok(tick) = self.try_recv() {
                return Ok(tick);
            }
            match self.due() {
                // Another task may take the tick meanwhile: then this waits for the next. The runtime rounds a moment
                // up, and panics at the end of the clock.
                Some(due) if due.checked_add(Duration::from_millis(1)).is_some() => {
                    tokio::time::sleep_until(due.into()).await;
                }
                _ => core::future::pending().await,
            }
        }
    }
}

/// What a kind's many senders have for tasks of tokio.
macro_rules! impl_send_timeout_async {
    ($sender:ty) => {
        impl<T> $sender {
            /// Sends a message; the task waits for room no longer than `timeout`, by tokio's clock; with zero it does not
            /// wait. Otherwise as [`send_async_until`](Self::send_async_until). With the feature `tokio`.
            ///
            /// # Errors
            /// If the time is up, if all receivers are gone, or if the channel is closed.
            ///
            /// # Panics
            /// When there is no room and it is to wait, outside a runtime with `enable_time`.
            pub fn send_timeout_async(&self, message: T, timeout: Duration) -> SendUntilFuture<'_, Self, TimeLimit> {
                self.send_async_until(message, TimeLimit::new(timeout))
            }
        }
    };
}

#[cfg(feature = "mpmc")]
impl_send_timeout_async!(crate::mpmc::Sender<T>);
#[cfg(feature = "broadcast")]
impl_send_timeout_async!(crate::broadcast::Sender<T>);
