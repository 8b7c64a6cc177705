//! [`Answer`]: the builder.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::time::Duration;

use ysuite::{mpmc, spsc};

use super::Answering;
use super::question::Question;
use crate::bridge::build::{impl_common, impl_receiving, waiting};
use crate::bridge::options::Options;
use crate::bridge::started::{Started, start};
use crate::context::Context;
use crate::curve::{KeyPair, PublicKey};
use crate::error::Error;
use crate::ffi::{Kind, option};
use crate::socket::Socket;
use crate::wire::{FromWire, ToWire};

/// Receives questions into a channel of its own, and sends back the answer to each. Begun by
/// [`Bridge::answer`](crate::Bridge::answer).
///
/// A question whose bytes are none of its type is [reported](crate::Event::Malformed), and never answered: for the one that asks
/// its time runs out. A program that answers it with the reason takes questions as `Vec<u8>` and reads them itself.
#[derive(Debug)]
#[must_use = "a bridge begins with `start`"]
pub struct Answer<Q, A> {
    options: Options,
    messages: PhantomData<fn(A) -> Q>,
}

impl_common!(Answer, Q, A);
impl_receiving!(Answer, Q, A);

/// Answers that wait for slow peers where the channel has no bound.
const STUCK: usize = 1_000;

impl<Q: FromWire, A: ToWire> Answer<Q, A> {
    pub(in crate::bridge) fn new() -> Self {
        Self { options: Options::new(), messages: PhantomData }
    }

    /// As [`Pull::bounded`](crate::Pull::bounded), with the same default. Besides, as many answers wait for peers that
    /// have no room for them. Beyond that, the oldest of the peer with most is dropped, and
    /// [counted](crate::Statistics::dropped).
    pub fn bounded(mut self, questions: usize) -> Self {
        self.options.bound = Some(questions);
        self
    }

    /// As [`Pull::start`](crate::Pull::start).
    ///
    /// # Errors
    /// As there.
    pub fn start(self) -> Result<(Started, spsc::Receiver<Question<Q, A>>), Error> {
        let Self { options, .. } = self;
        let (gate, sets, receiver) = waiting(&options)?;
        let (answers, mut source) = mpmc::unbounded();
        let sets = sets.source(&mut source)?;
        let prepare = |socket: &Socket| {
            // A connection that the bridge has made ends with all that belongs to it. Else libzmq would give the answer for one that
            // has asked, and gone, to the next one at its address.
            socket.set(option::IMMEDIATE, 1)?;
            // Reports that a peer is gone, or has no room.
            Ok(socket.set(option::ROUTER_MANDATORY, 1)?)
        };
        let most = options.bound.unwrap_or(STUCK);
        let work = Answering::new(gate, answers, source, options.limits, most);
        Ok((start(&options, Kind::Router, prepare, sets, work)?, receiver))
    }
}
