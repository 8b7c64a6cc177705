//! [`Ask`]: the builder.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::time::Duration;

use ysuite::mpmc;

use super::asker::Asker;
use super::table::{self, Table};
use super::{Asking, Line, MOST, TIMEOUT};
use crate::bridge::build::impl_common;
use crate::bridge::options::Options;
use crate::bridge::sets::Sets;
use crate::bridge::started::{Started, start};
use crate::context::Context;
use crate::curve::{KeyPair, PublicKey};
use crate::error::Error;
use crate::ffi::{Kind, option};
use crate::socket::Socket;
use crate::wire::{FromWire, ToWire};

/// Questions that wait in the channel, besides those that wait for an answer.
const ROOM: usize = 64;

/// Asks questions, and receives the answer to each. Begun by [`Bridge::ask`](crate::Bridge::ask).
#[derive(Debug)]
#[must_use = "a bridge begins with `start`"]
pub struct Ask<Q, A> {
    options: Options,
    timeout: Duration,
    retries: usize,
    unanswered: usize,
    messages: PhantomData<fn(Q) -> A>,
}

impl_common!(Ask, Q, A);

impl<Q: ToWire, A: FromWire> Ask<Q, A> {
    pub(in crate::bridge) fn new() -> Self {
        Self { options: Options::new(), timeout: TIMEOUT, retries: 0, unanswered: MOST, messages: PhantomData }
    }

    /// Sets how long an answer is waited for: 30 seconds by default, from when the question is asked, whether or not it can be
    /// sent. After that it is asked again, or ends as [`Unanswered::TimedOut`](crate::Unanswered::TimedOut).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how often a question is asked again that has no answer in time, or whose connection has ended; never by
    /// default. Each time is as long as the first. The other side may then have it more than once, and must not mind. The first
    /// answer counts.
    pub fn retries(mut self, retries: usize) -> Self {
        self.retries = retries;
        self
    }

    /// Limits how many questions may be without an answer: 256 by default. Beyond that, and 64 that wait in the channel,
    /// askers wait. One that was given up counts until its answer comes, or its time is over.
    ///
    /// A REP or ROUTER of libzmq drops answers beyond its mark without a word. At its default of 1,000 that may happen
    /// from 500 unanswered questions on. A bridge that [answers](crate::Bridge::answer) keeps them.
    pub fn unanswered(mut self, questions: usize) -> Self {
        self.unanswered = questions;
        self
    }

    /// As [`Pull::deepest_message`](crate::Pull::deepest_message), of answers.
    pub fn deepest_message(mut self, levels: usize) -> Self {
        self.options.limits.depth = levels;
        self
    }

    /// As [`Pull::memory_of_a_frame`](crate::Pull::memory_of_a_frame), of an answer.
    pub fn memory_of_a_frame(mut self, bytes: usize) -> Self {
        self.options.limits.memory = bytes;
        self
    }

    /// As [`Push::start`](crate::Push::start), with what asks.
    ///
    /// # Errors
    /// As there; [`Error::Bound`] where no question may be without an answer.
    pub fn start(self) -> Result<(Started, Asker<Q, A>), Error> {
        let Self { options, timeout, retries, unanswered, .. } = self;
        if unanswered == 0 {
            return Err(Error::Bound);
        }
        options.check()?;
        let line = match options.only_address() {
            Some(address) if crate::names::is_inproc(address) => Line::Inside,
            Some(_) => Line::One { connections: 0 },
            None => Line::Many,
        };
        let (questions, mut source) = mpmc::bounded(ROOM);
        let sets = Sets::default().source(&mut source)?;
        // Of several, only those are asked that are there.
        let prepare = |socket: &Socket| match line {
            Line::Many => Ok(socket.set(option::IMMEDIATE, 1)?),
            _ => Ok(()),
        };
        let work =
            Asking::<Q, A>::new(source, line, unanswered, Table::new(table::first(), timeout, retries), options.limits);
        Ok((start(&options, Kind::Dealer, prepare, sets, work)?, Asker::new(questions)))
    }
}
