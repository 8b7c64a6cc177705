//! Senders and receivers: each method is one of the end below.
//!
//! Any thread. Blocking and progress are those of [`ysuite::mpmc`], with one exception: `try_send` and `try_recv` yield
//! while the next cell is in the hands of a preempted thread, because the original never says that a channel is full or
//! empty which is not.
//!
//! In a channel of capacity 0, a `select!` that sends has no message before it has met a receiver. So it hands over a
//! promise, a oneshot, and the receiver waits until the message is made. Where making it panics, the receiver waits for
//! another message.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::thread;
use std::time::{Duration, Instant};

use ysuite::select::list::{self, first};
use ysuite::timer::{self, Timer};
use ysuite::{TryReserveError, mpmc, oneshot};

use crate::case::Chosen;
use crate::error::{
    RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError, of_send_timeout, of_try_send,
};
use crate::iter::{Iter, TryIter};

/// What goes from hand to hand in a channel of capacity 0.
pub(crate) enum Handed<T> {
    Message(T),
    /// By a select, which makes the message now.
    Promised(oneshot::Receiver<T>),
}

impl<T> Handed<T> {
    /// Waits until a promised message is made. `None`: it never will be.
    pub(crate) fn redeem(self) -> Option<T> {
        match self {
            Self::Message(message) => Some(message),
            Self::Promised(promise) => promise.recv().ok(),
        }
    }

    /// What this crate's `send` has got back.
    fn message(self) -> T {
        match self {
            Self::Message(message) => message,
            Self::Promised(_) => unreachable!("only a select promises"),
        }
    }
}

/// The sending side of a channel. Clones send to the same channel.
pub struct Sender<T>(pub(crate) SendEnd<T>);

pub(crate) enum SendEnd<T> {
    Queue(mpmc::Sender<T>),
    Hand(mpmc::Sender<Handed<T>>),
}

/// The receiving side of a channel. Each message goes to one of its clones.
pub struct Receiver<T>(pub(crate) RecvEnd<T>);

pub(crate) enum RecvEnd<T> {
    Queue(mpmc::Receiver<T>),
    Hand(mpmc::Receiver<Handed<T>>),
    /// Its messages are moments. Only a receiver of moments is made so, with the identity.
    Time(Timer, fn(Instant) -> T),
    Never,
}

/// Makes a channel for at most `cap` messages. With 0 messages go from hand to hand.
pub fn bounded<T>(cap: usize) -> (Sender<T>, Receiver<T>) {
    if cap == 0 {
        let (sender, receiver) = mpmc::bounded(0);
        return (Sender(SendEnd::Hand(sender)), Receiver(RecvEnd::Hand(receiver)));
    }
    let (sender, receiver) = mpmc::bounded(cap);
    (Sender(SendEnd::Queue(sender)), Receiver(RecvEnd::Queue(receiver)))
}

/// Makes a channel without a bound.
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = mpmc::unbounded();
    (Sender(SendEnd::Queue(sender)), Receiver(RecvEnd::Queue(receiver)))
}

/// Makes a receiver of one message, when `duration` has passed.
pub fn after(duration: Duration) -> Receiver<Instant> {
    Receiver(RecvEnd::Time(timer::after(duration), |moment| moment))
}

/// Makes a receiver of one message, at `when`.
pub fn at(when: Instant) -> Receiver<Instant> {
    Receiver(RecvEnd::Time(timer::at(when), |moment| moment))
}

/// Makes a receiver of a message at every whole number of periods from now. Those that are missed are not made up for.
pub fn tick(duration: Duration) -> Receiver<Instant> {
    Receiver(RecvEnd::Time(timer::tick(duration), |moment| moment))
}

/// Makes a receiver that never gets a message.
pub const fn never<T>() -> Receiver<T> {
    Receiver(RecvEnd::Never)
}

/// The end below: for its descriptor, its futures, its statistics, and whatever else [`ysuite`] has.
///
/// ```
/// use ysuite_crossbeam::{Ysuite, bounded};
///
/// let (sender, receiver) = bounded(8);
/// sender.ysuite().unwrap().send_batch(0..3)?;
/// assert!(receiver.iter().take(3).eq(0..3));
/// # Ok::<(), ysuite_crossbeam::ysuite::SendError<Vec<i32>>>(())
/// ```
pub trait Ysuite {
    /// The end of a [`ysuite::mpmc`].
    type End;
    /// `None` where this is no queue: with a capacity of 0, or a receiver of moments.
    fn ysuite(&self) -> Option<&Self::End>;
    /// As [`ysuite`](Self::ysuite), for what needs the end alone: to attach it to a set of signals.
    fn ysuite_mut(&mut self) -> Option<&mut Self::End>;
}

impl<T> Ysuite for Sender<T> {
    type End = mpmc::Sender<T>;

    fn ysuite(&self) -> Option<&mpmc::Sender<T>> {
        if let SendEnd::Queue(sender) = &self.0 { Some(sender) } else { None }
    }

    fn ysuite_mut(&mut self) -> Option<&mut mpmc::Sender<T>> {
        if let SendEnd::Queue(sender) = &mut self.0 { Some(sender) } else { None }
    }
}

impl<T> Ysuite for Receiver<T> {
    type End = mpmc::Receiver<T>;

    fn ysuite(&self) -> Option<&mpmc::Receiver<T>> {
        if let RecvEnd::Queue(receiver) = &self.0 { Some(receiver) } else { None }
    }

    fn ysuite_mut(&mut self) -> Option<&mut mpmc::Receiver<T>> {
        if let RecvEnd::Queue(receiver) = &mut self.0 { Some(receiver) } else { None }
    }
}

/// `$of` of the end, of whichever kind.
macro_rules! of_sender {
    ($sender:expr, |$end:ident| $of:expr) => {
        match &$sender.0 {
            SendEnd::Queue($end) => $of,
            SendEnd::Hand($end) => $of,
        }
    };
}

impl<T> Sender<T> {
    /// Sends a message if there is room, or in a channel of capacity 0 a receiver that waits.
    pub fn try_send(&self, msg: T) -> Result<(), TrySendError<T>> {
        let sender = match &self.0 {
            SendEnd::Queue(sender) => sender,
            SendEnd::Hand(sender) => {
                let sent = sender.try_send(Handed::Message(msg));
                return sent.map_err(|error| of_try_send(error, Handed::message));
            }
        };
        let mut msg = msg;
        loop {
            match sender.try_send(msg) {
                Err(ysuite::TrySendError::Full(back)) if !sender.is_full() => msg = back,
                sent => return sent.map_err(|error| of_try_send(error, |back| back)),
            }
            thread::yield_now();
        }
    }

    /// Sends a message; blocks until there is room, or in a channel of capacity 0 until a receiver has it.
    pub fn send(&self, msg: T) -> Result<(), SendError<T>> {
        match &self.0 {
            SendEnd::Queue(sender) => sender.send(msg).map_err(|error| SendError(error.0)),
            SendEnd::Hand(sender) => sender.send(Handed::Message(msg)).map_err(|error| SendError(error.0.message())),
        }
    }

    /// As [`send`](Self::send), for at most `timeout`.
    pub fn send_timeout(&self, msg: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        match &self.0 {
            SendEnd::Queue(sender) => {
                sender.send_timeout(msg, timeout).map_err(|error| of_send_timeout(error, |back| back))
            }
            SendEnd::Hand(sender) => {
                let sent = sender.send_timeout(Handed::Message(msg), timeout);
                sent.map_err(|error| of_send_timeout(error, Handed::message))
            }
        }
    }

    /// As [`send`](Self::send), until `deadline` at most.
    pub fn send_deadline(&self, msg: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        match &self.0 {
            SendEnd::Queue(sender) => {
                sender.send_deadline(msg, deadline).map_err(|error| of_send_timeout(error, |back| back))
            }
            SendEnd::Hand(sender) => {
                let sent = sender.send_deadline(Handed::Message(msg), deadline);
                sent.map_err(|error| of_send_timeout(error, Handed::message))
            }
        }
    }

    /// For a select: what a send that is possible at once has met with.
    pub(crate) fn chosen(&self) -> Option<Chosen<'_, T>> {
        match &self.0 {
            SendEnd::Queue(sender) => match sender.try_reserve() {
                Ok(permit) => Some(Chosen::Room(permit)),
                Err(TryReserveError::Disconnected) => Some(Chosen::Over),
                Err(_) => None,
            },
            SendEnd::Hand(sender) => {
                // A promise allocates: not before a receiver waits.
                first(&mut [&mut list::writable(sender)]).try_now()?;
                let (promise, promised) = oneshot::channel();
                match sender.try_send(Handed::Promised(promised)) {
                    Ok(()) => Some(Chosen::Promise(promise)),
                    Err(ysuite::TrySendError::Disconnected(_)) => Some(Chosen::Over),
                    Err(ysuite::TrySendError::Full(_)) => None,
                }
            }
        }
    }

    /// Whether there is no message. Always, with a capacity of 0.
    pub fn is_empty(&self) -> bool {
        of_sender!(self, |end| end.is_empty())
    }

    /// Whether there is no room. Always, with a capacity of 0.
    pub fn is_full(&self) -> bool {
        of_sender!(self, |end| end.is_full())
    }

    /// The number of messages.
    pub fn len(&self) -> usize {
        of_sender!(self, |end| end.len())
    }

    /// The maximal number of messages, if there is one.
    pub fn capacity(&self) -> Option<usize> {
        of_sender!(self, |end| end.capacity())
    }

    /// Whether both send to the same channel.
    pub fn same_channel(&self, other: &Sender<T>) -> bool {
        match (&self.0, &other.0) {
            (SendEnd::Queue(one), SendEnd::Queue(two)) => one == two,
            (SendEnd::Hand(one), SendEnd::Hand(two)) => one == two,
            _ => false,
        }
    }
}

/// As [`of_sender`], with the numbers of a receiver that never gets a message.
macro_rules! of_receiver {
    ($receiver:expr, $never:expr, |$end:ident| $of:expr) => {
        match &$receiver.0 {
            RecvEnd::Queue($end) => $of,
            RecvEnd::Hand($end) => $of,
            RecvEnd::Time($end, _) => $of,
            RecvEnd::Never => $never,
        }
    };
}

impl<T> Receiver<T> {
    /// Receives a message if there is one.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match &self.0 {
            RecvEnd::Queue(receiver) => loop {
                match receiver.try_recv() {
                    Err(ysuite::TryRecvError::Empty) if !receiver.is_empty() => thread::yield_now(),
                    received => return Ok(received?),
                }
            },
            RecvEnd::Hand(receiver) => loop {
                if let Some(message) = receiver.try_recv()?.redeem() {
                    return Ok(message);
                }
            },
            RecvEnd::Time(timer, of) => Ok(of(timer.try_recv()?)),
            RecvEnd::Never => Err(TryRecvError::Empty),
        }
    }

    /// Receives a message; blocks until there is one.
    pub fn recv(&self) -> Result<T, RecvError> {
        match &self.0 {
            RecvEnd::Queue(receiver) => Ok(receiver.recv()?),
            RecvEnd::Hand(receiver) => redeemed(receiver),
            RecvEnd::Time(timer, of) => Ok(of(timer.recv()?)),
            RecvEnd::Never => loop {
                thread::park();
            },
        }
    }

    /// As [`recv`](Self::recv), for at most `timeout`.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        match &self.0 {
            RecvEnd::Queue(receiver) => Ok(receiver.recv_timeout(timeout)?),
            RecvEnd::Time(timer, of) => Ok(of(timer.recv_timeout(timeout)?)),
            _ => match Instant::now().checked_add(timeout) {
                Some(deadline) => self.recv_deadline(deadline),
                None => Ok(self.recv()?),
            },
        }
    }

    /// As [`recv`](Self::recv), until `deadline` at most.
    pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        match &self.0 {
            RecvEnd::Queue(receiver) => Ok(receiver.recv_deadline(deadline)?),
            RecvEnd::Hand(receiver) => loop {
                if let Some(message) = receiver.recv_deadline(deadline)?.redeem() {
                    return Ok(message);
                }
            },
            RecvEnd::Time(timer, of) => Ok(of(timer.recv_deadline(deadline)?)),
            RecvEnd::Never => {
                thread::sleep(deadline.saturating_duration_since(Instant::now()));
                Err(RecvTimeoutError::Timeout)
            }
        }
    }

    /// For a select: as [`try_recv`](Self::try_recv), but it does not wait for a preempted sender.
    pub(crate) fn received(&self) -> Option<Result<T, RecvError>> {
        let received = match &self.0 {
            RecvEnd::Queue(receiver) => receiver.try_recv(),
            // A sender that has panicked in the middle was none.
            RecvEnd::Hand(receiver) => match receiver.try_recv() {
                Ok(handed) => Ok(handed.redeem()?),
                Err(error) => Err(error),
            },
            RecvEnd::Time(timer, of) => timer.try_recv().map(of),
            RecvEnd::Never => return None,
        };
        match received {
            Ok(message) => Some(Ok(message)),
            Err(ysuite::TryRecvError::Empty) => None,
            Err(ysuite::TryRecvError::Disconnected) => Some(Err(RecvError)),
        }
    }

    /// Whether there is no message. Always, with a capacity of 0.
    pub fn is_empty(&self) -> bool {
        of_receiver!(self, true, |end| end.is_empty())
    }

    /// Whether there is no room. Always, with a capacity of 0.
    pub fn is_full(&self) -> bool {
        of_receiver!(self, true, |end| end.is_full())
    }

    /// The number of messages.
    pub fn len(&self) -> usize {
        of_receiver!(self, 0, |end| end.len())
    }

    /// The maximal number of messages, if there is one.
    pub fn capacity(&self) -> Option<usize> {
        of_receiver!(self, Some(0), |end| end.capacity())
    }

    /// The messages one by one, until the channel is disconnected; blocks.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self)
    }

    /// The messages that are there.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter(self)
    }

    /// Whether both receive from the same channel.
    pub fn same_channel(&self, other: &Receiver<T>) -> bool {
        match (&self.0, &other.0) {
            (RecvEnd::Queue(one), RecvEnd::Queue(two)) => one == two,
            (RecvEnd::Hand(one), RecvEnd::Hand(two)) => one == two,
            (RecvEnd::Time(one, _), RecvEnd::Time(two, _)) => one == two,
            (RecvEnd::Never, RecvEnd::Never) => true,
            _ => false,
        }
    }
}

/// Waits for a message that somebody has, or makes.
pub(crate) fn redeemed<T>(receiver: &mpmc::Receiver<Handed<T>>) -> Result<T, RecvError> {
    loop {
        if let Some(message) = receiver.recv()?.redeem() {
            return Ok(message);
        }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            SendEnd::Queue(sender) => SendEnd::Queue(sender.clone()),
            SendEnd::Hand(sender) => SendEnd::Hand(sender.clone()),
        })
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            RecvEnd::Queue(receiver) => RecvEnd::Queue(receiver.clone()),
            RecvEnd::Hand(receiver) => RecvEnd::Hand(receiver.clone()),
            RecvEnd::Time(timer, of) => RecvEnd::Time(timer.clone(), *of),
            RecvEnd::Never => RecvEnd::Never,
        })
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Sender { .. }")
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Receiver { .. }")
    }
}

impl<T> UnwindSafe for Sender<T> {}
impl<T> RefUnwindSafe for Sender<T> {}
impl<T> UnwindSafe for Receiver<T> {}
impl<T> RefUnwindSafe for Receiver<T> {}
