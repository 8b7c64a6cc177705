//! The handles of our channels behind one interface, so that a scenario is written (and compiled) once for all of them.
//!
//! Enumerations and not traits: a scenario then is a plain function of a [`Kind`]. All methods do what the inherent ones of
//! the same name do, and nothing else.

use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use ysuite::signal::ReadySet;
use ysuite::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
use ysuite::{mpmc, mpsc, spsc};

/// How many messages may be in a channel; `None` without a bound.
pub(crate) type Bound = Option<usize>;

/// The bound of a rendezvous channel.
pub(crate) const MEETING: usize = 0;

/// Which of our channels plays the part of the peer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `mpmc`: many senders, many receivers, one order.
    Exchange,
    /// `mpsc`: many senders, each with an order and a bound of its own.
    Funnel,
    /// `spsc`.
    Pipe,
}

/// A sender of any kind.
pub(crate) enum Tx<T> {
    Exchange(mpmc::Sender<T>),
    Funnel(mpsc::Sender<T>),
    Pipe(spsc::Sender<T>),
}

/// A receiver of any kind.
pub(crate) enum Rx<T> {
    Exchange(mpmc::Receiver<T>),
    Funnel(mpsc::Receiver<T>),
    Pipe(spsc::Receiver<T>),
}

impl Kind {
    pub(crate) fn open<T>(self, bound: Bound) -> (Tx<T>, Rx<T>) {
        fn wrap<S, R, T>(ends: (S, R), tx: fn(S) -> Tx<T>, rx: fn(R) -> Rx<T>) -> (Tx<T>, Rx<T>) {
            (tx(ends.0), rx(ends.1))
        }
        match (self, bound) {
            (Self::Exchange, Some(bound)) => wrap(mpmc::bounded(bound), Tx::Exchange, Rx::Exchange),
            (Self::Exchange, None) => wrap(mpmc::unbounded(), Tx::Exchange, Rx::Exchange),
            (Self::Funnel, Some(bound)) => wrap(mpsc::bounded(bound), Tx::Funnel, Rx::Funnel),
            (Self::Funnel, None) => wrap(mpsc::unbounded(), Tx::Funnel, Rx::Funnel),
            (Self::Pipe, Some(bound)) => wrap(spsc::bounded(bound), Tx::Pipe, Rx::Pipe),
            (Self::Pipe, None) => wrap(spsc::unbounded(), Tx::Pipe, Rx::Pipe),
        }
    }

    /// A channel without a bound.
    pub(crate) fn endless<T>(self) -> (Tx<T>, Rx<T>) {
        self.open(None)
    }

    /// How many threads may send, if a scenario would like to have `many`.
    pub(crate) fn senders(self, many: usize) -> usize {
        if self == Self::Pipe { 1 } else { many }
    }

    /// How many threads may receive, if a scenario would like to have `many`.
    pub(crate) fn receivers(self, many: usize) -> usize {
        if self == Self::Exchange { many } else { 1 }
    }
}

/// The same for each kind of handle.
macro_rules! of_each {
    ($this:expr, $end:ident => $what:expr) => {
        match $this {
            Self::Exchange($end) => $what,
            Self::Funnel($end) => $what,
            Self::Pipe($end) => $what,
        }
    };
}

/// As the handle itself, which is printed for any message.
impl<T> std::fmt::Debug for Tx<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        of_each!(self, end => end.fmt(f))
    }
}

/// As the handle itself, which is printed for any message.
impl<T> std::fmt::Debug for Rx<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        of_each!(self, end => end.fmt(f))
    }
}

impl<T> Tx<T> {
    /// Another sender of the same channel.
    ///
    /// # Panics
    /// On an spsc channel, which has one: the scenario calls [`Kind::senders`] first.
    pub(crate) fn another(&self) -> Self {
        match self {
            Self::Exchange(end) => Self::Exchange(end.clone()),
            Self::Funnel(end) => Self::Funnel(end.clone()),
            Self::Pipe(_) => panic!("an spsc channel has one sender"),
        }
    }

    /// Makes `senders` senders; this is the last of them.
    pub(crate) fn split(self, senders: usize) -> Vec<Self> {
        let mut all: Vec<_> = (1..senders).map(|_| self.another()).collect();
        all.push(self);
        all
    }

    pub(crate) fn send(&mut self, message: T) -> Result<(), SendError<T>> {
        of_each!(self, end => end.send(message))
    }

    pub(crate) fn try_send(&mut self, message: T) -> Result<(), TrySendError<T>> {
        of_each!(self, end => end.try_send(message))
    }

    pub(crate) fn send_timeout(&mut self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        of_each!(self, end => end.send_timeout(message, timeout))
    }

    pub(crate) fn send_deadline(&mut self, message: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        of_each!(self, end => end.send_deadline(message, deadline))
    }

    pub(crate) async fn send_async(&mut self, message: T) -> Result<(), SendError<T>> {
        of_each!(self, end => end.send_async(message).await)
    }

    pub(crate) fn send_batch(&mut self, messages: impl IntoIterator<Item = T>) -> Result<usize, SendError<Vec<T>>> {
        of_each!(self, end => end.send_batch(messages))
    }

    pub(crate) fn len(&self) -> usize {
        of_each!(self, end => end.len())
    }

    pub(crate) fn is_empty(&self) -> bool {
        of_each!(self, end => end.is_empty())
    }

    pub(crate) fn is_full(&self) -> bool {
        of_each!(self, end => end.is_full())
    }

    pub(crate) fn capacity(&self) -> Bound {
        of_each!(self, end => end.capacity())
    }

    pub(crate) fn is_disconnected(&self) -> bool {
        of_each!(self, end => end.is_disconnected())
    }
}

impl<T> Rx<T> {
    /// Another receiver of the same channel.
    ///
    /// # Panics
    /// Where there can be only one: the scenario asks [`Kind::receivers`] first.
    pub(crate) fn another(&self) -> Self {
        match self {
            Self::Exchange(end) => Self::Exchange(end.clone()),
            Self::Funnel(_) | Self::Pipe(_) => panic!("a channel with one receiver"),
        }
    }

    /// Makes `receivers` receivers; this is the last of them.
    pub(crate) fn split(self, receivers: usize) -> Vec<Self> {
        let mut all: Vec<_> = (1..receivers).map(|_| self.another()).collect();
        all.push(self);
        all
    }

    pub(crate) fn recv(&mut self) -> Result<T, RecvError> {
        of_each!(self, end => end.recv())
    }

    pub(crate) fn try_recv(&mut self) -> Result<T, TryRecvError> {
        of_each!(self, end => end.try_recv())
    }

    pub(crate) fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        of_each!(self, end => end.recv_timeout(timeout))
    }

    pub(crate) fn recv_deadline(&mut self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        of_each!(self, end => end.recv_deadline(deadline))
    }

    pub(crate) async fn recv_async(&mut self) -> Result<T, RecvError> {
        of_each!(self, end => end.recv_async().await)
    }

    pub(crate) fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Result<T, RecvError>> {
        of_each!(self, end => end.poll_recv(context))
    }

    pub(crate) fn iter(&mut self) -> Box<dyn Iterator<Item = T> + '_> {
        of_each!(self, end => Box::new(end.iter()))
    }

    pub(crate) fn try_iter(&mut self) -> Box<dyn Iterator<Item = T> + '_> {
        of_each!(self, end => Box::new(end.try_iter()))
    }

    pub(crate) fn len(&self) -> usize {
        of_each!(self, end => end.len())
    }

    pub(crate) fn is_empty(&self) -> bool {
        of_each!(self, end => end.is_empty())
    }

    pub(crate) fn capacity(&self) -> Bound {
        of_each!(self, end => end.capacity())
    }

    pub(crate) fn is_disconnected(&self) -> bool {
        of_each!(self, end => end.is_disconnected())
    }

    pub(crate) fn add_to(&mut self, select: &mut ReadySet) -> usize {
        of_each!(self, end => select.add(end)).expect("a receiver that is in no set")
    }

    pub(crate) fn remove_from(&mut self, select: &mut ReadySet) {
        of_each!(self, end => select.remove(end)).expect("a receiver of this set");
    }
}

impl<T: 'static> IntoIterator for Rx<T> {
    type Item = T;
    type IntoIter = Box<dyn Iterator<Item = T>>;

    fn into_iter(self) -> Self::IntoIter {
        of_each!(self, end => Box::new(end.into_iter()))
    }
}

/// Which of several receivers has something, or has lost its senders, and what that is; `None` when the time is up. A
/// `ReadySet` made for this once, as peers make one for each wait.
pub(crate) fn first_of<T>(receivers: &mut [&mut Rx<T>], limit: Duration) -> Option<(usize, Result<T, RecvError>)> {
    let mut select = ReadySet::with_capacity(receivers.len().max(1));
    let ids: Vec<_> = receivers.iter_mut().map(|receiver| receiver.add_to(&mut select)).collect();
    let deadline = Instant::now() + limit;
    let first = loop {
        // A receiver that may have something is reported: it may turn out to have nothing, and is not reported again
        // until that changes.
        let Some(id) = select.wait_deadline(deadline) else { break None };
        let Some(named) = ids.iter().position(|&other| other == id) else { continue };
        match receivers[named].try_recv() {
            Ok(message) => break Some((named, Ok(message))),
            Err(TryRecvError::Disconnected) => break Some((named, Err(RecvError))),
            Err(TryRecvError::Empty) => {}
        }
    };
    receivers.iter_mut().for_each(|receiver| receiver.remove_from(&mut select));
    first
}
