//! The cases of a select: an operation of [`ysuite::select::list`] for each kind of end, and its result.
//!
//! A case stands on its thread's stack. A send has no message: it reserves room, or in a channel of capacity 0 hands a
//! promise over, for which it allocates. Nothing else here allocates.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use ysuite::mpmc::{self, Permit};
use ysuite::oneshot;
use ysuite::select::list::{self, ListedRecv, ListedSend, Reserving, Selectable, first};
use ysuite::timer::{self, Timer};

use crate::channel::{Handed, Receiver, RecvEnd, SendEnd, Sender, redeemed};
use crate::error::{RecvError, SendError};

/// The number of no case.
pub const NONE: usize = usize::MAX;

/// What `never` waits for, as far as a select knows.
pub(crate) static NEVER: LazyLock<Timer> = LazyLock::new(timer::never);

/// A receive.
pub enum RecvCase<'a, T> {
    #[doc(hidden)]
    Queue(ListedRecv<&'a mpmc::Receiver<T>>),
    #[doc(hidden)]
    #[allow(private_interfaces)]
    Hand(ListedRecv<&'a mpmc::Receiver<Handed<T>>>, &'a mpmc::Receiver<Handed<T>>),
    #[doc(hidden)]
    Time(ListedRecv<&'a Timer>, fn(Instant) -> T),
}

impl<'a, T> RecvCase<'a, T> {
    #[inline]
    pub fn new(receiver: &'a Receiver<T>) -> Self {
        match &receiver.0 {
            RecvEnd::Queue(receiver) => Self::Queue(list::recv(receiver)),
            RecvEnd::Hand(receiver) => Self::Hand(list::recv(receiver), receiver),
            RecvEnd::Time(timer, of) => Self::Time(list::recv(timer), *of),
            RecvEnd::Never => Self::Time(list::recv(&*NEVER), |_| unreachable!("it never ticks")),
        }
    }

    #[inline]
    pub fn operation(&mut self) -> &mut dyn Selectable {
        match self {
            Self::Queue(operation) => operation,
            Self::Hand(operation, _) => operation,
            Self::Time(operation, _) => operation,
        }
    }

    /// The result of the receive that was performed.
    pub(crate) fn result(&mut self) -> Option<Result<T, RecvError>> {
        match self {
            Self::Queue(operation) => operation.result().map(|received| Ok(received?)),
            Self::Hand(operation, receiver) => operation.result().map(|received| match received?.redeem() {
                Some(message) => Ok(message),
                // The sender has panicked in the middle.
                None => redeemed(receiver),
            }),
            Self::Time(operation, of) => operation.result().map(|received| Ok(of(received?))),
        }
    }

    #[inline]
    pub fn finish(mut self) -> Result<T, RecvError> {
        self.result().expect("this operation was performed")
    }
}

/// A send of a message that is not made yet.
pub enum SendCase<'a, T> {
    #[doc(hidden)]
    Queue(ListedRecv<Reserving<'a, T>>),
    #[doc(hidden)]
    #[allow(private_interfaces)]
    Hand(ListedSend<'a, &'a mpmc::Sender<Handed<T>>>, Option<oneshot::Sender<T>>),
}

/// What a send has met with: the message can be made, and sent without a wait.
pub enum Chosen<'a, T> {
    Room(Permit<'a, T>),
    Promise(oneshot::Sender<T>),
    /// All receivers have disconnected.
    Over,
}

impl<'a, T> SendCase<'a, T> {
    #[inline]
    pub fn new(sender: &'a Sender<T>) -> Self {
        match &sender.0 {
            SendEnd::Queue(sender) => Self::Queue(list::reserve(sender)),
            SendEnd::Hand(sender) => {
                let (promise, promised) = oneshot::channel();
                Self::Hand(list::send(sender, Handed::Promised(promised)), Some(promise))
            }
        }
    }

    #[inline]
    pub fn operation(&mut self) -> &mut dyn Selectable {
        match self {
            Self::Queue(operation) => operation,
            Self::Hand(operation, _) => operation,
        }
    }

    /// The result of the send that was performed.
    pub(crate) fn result(&mut self) -> Option<Chosen<'a, T>> {
        match self {
            Self::Queue(operation) => operation.result().map(|room| room.map_or(Chosen::Over, Chosen::Room)),
            Self::Hand(operation, promise) => operation.result().map(|sent| match sent {
                Ok(()) => promise.take().map_or(Chosen::Over, Chosen::Promise),
                Err(_) => Chosen::Over,
            }),
        }
    }

    #[inline]
    pub fn finish(mut self) -> Chosen<'a, T> {
        self.result().expect("this operation was performed")
    }
}

impl<T> Chosen<'_, T> {
    #[inline]
    pub fn send(self, message: T) -> Result<(), SendError<T>> {
        match self {
            Self::Room(permit) => permit.send(message).map_err(|error| SendError(error.0)),
            Self::Promise(promise) => promise.send(message).map_err(|error| SendError(error.0)),
            Self::Over => Err(SendError(message)),
        }
    }
}

/// Performs one of the operations; blocks. Returns its number.
#[inline]
pub fn choose(operations: &mut [&mut dyn Selectable], is_biased: bool) -> usize {
    if is_biased { first(operations).biased().wait() } else { first(operations).wait() }
}

/// As [`choose`], without a wait; otherwise [`NONE`].
#[inline]
pub fn choose_now(operations: &mut [&mut dyn Selectable], is_biased: bool) -> usize {
    let all = first(operations);
    (if is_biased { all.biased() } else { all }).try_now().unwrap_or(NONE)
}

/// As [`choose`], for at most `timeout`; otherwise [`NONE`].
#[inline]
pub fn choose_in_time(operations: &mut [&mut dyn Selectable], is_biased: bool, timeout: Duration) -> usize {
    let all = first(operations);
    (if is_biased { all.biased() } else { all }).wait_timeout(timeout).unwrap_or(NONE)
}
