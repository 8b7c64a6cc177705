//! Cases without a message: room for one, of which a permit is the result, and the readiness of an end.
//!
//! Any thread, of an `mpmc`. Nothing is allocated. Lock-free, except in a rendezvous, as there.
//!
//! Cannot: be a place in the order. A message gets its position when its permit sends it. Two that only wait until they
//! are ready never meet in a rendezvous, as two that are attached.

use core::convert::Infallible;
use core::fmt;
use core::task::Context;

use super::case::Looked;
use super::receive::{Got, RecvSource, SelectRecv};
use super::sleeper::SelectWaiter;
use crate::channel::ReserveError;
use crate::channel::mpmc::{Permit, Readers, Receiver, Sender, Writers};
use crate::wait::many::{ManyWait, SharedEnd};

/// A reservation of room for one message. Made by [`reserve`](super::list::reserve).
pub struct Reserving<'a, T>(pub(super) &'a Sender<T>);

/// Whether a receive would not wait. Made by [`readable`](super::list::readable).
pub struct Readable<'a, T>(pub(super) &'a Receiver<T>);

/// Whether a send would not wait. Made by [`writable`](super::list::writable).
pub struct Writable<'a, T>(pub(super) &'a Sender<T>);

/// A case without a message, and its wait.
#[doc(hidden)]
#[allow(private_bounds)]
pub struct ReadySource<E: Awaited> {
    end: E,
    /// With its slot in the wait list, once it has one.
    wait: Option<ManyWait<E::Side>>,
}

/// What a case without a message does, and what it waits for.
pub(in crate::channel) trait Awaited {
    type Side: SharedEnd;
    type Outcome;
    type Error;

    fn attempt(&self, place: &mut Option<Self::Outcome>) -> Option<Got<Self::Error>>;
    fn wait(&self) -> ManyWait<Self::Side>;
    fn moves(&self) -> u64;
}

impl<E: Awaited> RecvSource for ReadySource<E> {
    type Message = E::Outcome;
    type Error = E::Error;

    #[inline]
    fn take(&mut self, place: &mut Option<E::Outcome>) -> Option<Got<E::Error>> {
        self.end.attempt(place)
    }

    fn stand(&mut self, _: &SelectWaiter, _: usize, _: &mut Option<E::Outcome>) -> Option<Got<E::Error>> {
        None
    }

    fn look(&mut self, waiter: &SelectWaiter, _: &mut Option<E::Outcome>) -> (Looked, Option<Got<E::Error>>) {
        let wait = self.wait.get_or_insert_with(|| self.end.wait());
        let polled = wait.poll(&mut Context::from_waker(&waiter.waker));
        (if polled.is_ready() { Looked::Ready } else { Looked::Nothing }, None)
    }

    fn announce(&self) {}

    fn met(&mut self, _: &mut Option<E::Outcome>) -> Option<Got<E::Error>> {
        None
    }

    fn leave(&mut self) {
        drop(self.wait.take());
    }

    fn moves(&self) -> u64 {
        self.end.moves()
    }
}

impl<'a, T> Awaited for Reserving<'a, T> {
    type Side = Writers<'a, T>;
    type Outcome = Permit<'a, T>;
    type Error = ReserveError;

    fn attempt(&self, place: &mut Option<Permit<'a, T>>) -> Option<Got<ReserveError>> {
        match self.0.reserve_now() {
            Ok(None) => None,
            Ok(permit) => {
                *place = permit;
                Some(Ok(()))
            }
            Err(error) => Some(Err(error)),
        }
    }

    fn wait(&self) -> ManyWait<Writers<'a, T>> {
        self.0.wait()
    }

    fn moves(&self) -> u64 {
        self.0.moves()
    }
}

impl<'a, T> Awaited for Readable<'a, T> {
    type Side = Readers<'a, T>;
    type Outcome = ();
    type Error = Infallible;

    fn attempt(&self, place: &mut Option<()>) -> Option<Got<Infallible>> {
        *place = self.0.shared().readers().is_ready().then_some(());
        place.map(Ok)
    }

    fn wait(&self) -> ManyWait<Readers<'a, T>> {
        self.0.wait()
    }

    fn moves(&self) -> u64 {
        self.0.party().map_or_else(|| self.0.moves(), |party| party.side().moves())
    }
}

impl<'a, T> Awaited for Writable<'a, T> {
    type Side = Writers<'a, T>;
    type Outcome = ();
    type Error = Infallible;

    fn attempt(&self, place: &mut Option<()>) -> Option<Got<Infallible>> {
        *place = self.0.shared().writers().is_ready().then_some(());
        place.map(Ok)
    }

    fn wait(&self) -> ManyWait<Writers<'a, T>> {
        self.0.wait()
    }

    fn moves(&self) -> u64 {
        self.0.party().map_or_else(|| self.0.moves(), |party| party.side().moves())
    }
}

macro_rules! impl_select {
    ($end:ident, $outcome:ty, $error:ty) => {
        #[allow(private_interfaces)]
        impl<'a, T> SelectRecv for $end<'a, T> {
            type Message = $outcome;
            type Error = $error;
            type Source = ReadySource<Self>;

            #[inline]
            fn into_source(self) -> ReadySource<Self> {
                ReadySource { end: self, wait: None }
            }
        }

        impl<T> fmt::Debug for $end<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($end)).field(self.0).finish()
            }
        }
    };
}

impl_select!(Reserving, Permit<'a, T>, ReserveError);
impl_select!(Readable, (), Infallible);
impl_select!(Writable, (), Infallible);
