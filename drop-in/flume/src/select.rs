//! A select over operations that are added when the program runs, each with a function for its result.
//!
//! One thread. Each operation allocates once.

use std::fmt;
use std::time::{Duration, Instant};

use ysuite::mpmc;
use ysuite::select::list::{self, First, ListedRecv, ListedSend, Selectable, first};

use crate::{Receiver, RecvError, SendError, Sender};

/// No operation was possible in time.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum SelectError {
    /// The time is up.
    Timeout,
}

impl fmt::Display for SelectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("timeout occurred")
    }
}

impl std::error::Error for SelectError {}

trait Added<R> {
    fn operation(&mut self) -> &mut dyn Selectable;
    fn finish(&mut self) -> Option<R>;
}

struct Receiving<'a, U, F> {
    operation: ListedRecv<&'a mpmc::Receiver<U>>,
    then: F,
}

struct Sending<'a, U, F> {
    operation: ListedSend<'a, &'a mpmc::Sender<U>>,
    then: F,
}

impl<R, U, F: FnMut(Result<U, RecvError>) -> R> Added<R> for Receiving<'_, U, F> {
    fn operation(&mut self) -> &mut dyn Selectable {
        &mut self.operation
    }

    fn finish(&mut self) -> Option<R> {
        let result = self.operation.result()?;
        Some((self.then)(result.map_err(RecvError::from)))
    }
}

impl<R, U, F: FnMut(Result<(), SendError<U>>) -> R> Added<R> for Sending<'_, U, F> {
    fn operation(&mut self) -> &mut dyn Selectable {
        &mut self.operation
    }

    fn finish(&mut self) -> Option<R> {
        let result = self.operation.result()?;
        Some((self.then)(result.map_err(SendError::from)))
    }
}

/// Performs one of several operations. Of several that are possible a random one is performed; without the feature
/// `eventual-fairness` the one that was added first.
pub struct Selector<'a, T: 'a> {
    added: Vec<Box<dyn Added<T> + 'a>>,
}

impl<'a, T: 'a> Default for Selector<'a, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a, T: 'a> fmt::Debug for Selector<'a, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Selector").finish()
    }
}

impl<'a, T> Selector<'a, T> {
    /// Without operations.
    pub fn new() -> Self {
        Self { added: Vec::new() }
    }

    /// Adds a send of `msg`.
    pub fn send<U, F: FnMut(Result<(), SendError<U>>) -> T + 'a>(
        mut self,
        sender: &'a Sender<U>,
        msg: U,
        mapper: F,
    ) -> Self {
        self.added.push(Box::new(Sending { operation: list::send(&sender.0, msg), then: mapper }));
        self
    }

    /// Adds a receive.
    pub fn recv<U, F: FnMut(Result<U, RecvError>) -> T + 'a>(mut self, receiver: &'a Receiver<U>, mapper: F) -> Self {
        self.added.push(Box::new(Receiving { operation: list::recv(&receiver.0), then: mapper }));
        self
    }

    /// Performs one of the operations; blocks. Without any, for ever.
    pub fn wait(self) -> T {
        self.perform(|all| Some(all.wait())).expect("without a limit one is performed")
    }

    /// As [`wait`](Self::wait), for at most `dur`.
    pub fn wait_timeout(self, dur: Duration) -> Result<T, SelectError> {
        self.perform(|all| all.wait_timeout(dur)).ok_or(SelectError::Timeout)
    }

    /// As [`wait`](Self::wait), until `deadline` at most.
    pub fn wait_deadline(self, deadline: Instant) -> Result<T, SelectError> {
        self.perform(|all| all.wait_deadline(deadline)).ok_or(SelectError::Timeout)
    }

    fn perform(mut self, wait: impl FnOnce(First<'_, '_>) -> Option<usize>) -> Option<T> {
        let mut all: Vec<&mut dyn Selectable> = self.added.iter_mut().map(|added| added.operation()).collect();
        let all = first(&mut all);
        let at = wait(if cfg!(feature = "eventual-fairness") { all } else { all.biased() })?;
        self.added[at].finish()
    }
}
