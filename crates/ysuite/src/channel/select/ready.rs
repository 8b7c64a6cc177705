//! Cases without a message: room for one, of which a permit is the result, and the readiness of an end.
//!
//! Any thread, of an `mpmc`. Nothing is allocated. Lock-free, except in a rendezvous, as there.
//!
//! Cannot: be a place in the order. A message gets its position when its permit sends it. Two that only wait until they
//! are ready never meet in a rendezvous, as two that are attached.

use core::convert::Infallible;
use core::fmt;
use core::marker::PhantomData;

use super::exchange::{Awaited, ManyCase};
use super::receive::SelectRecv;
use crate::channel::ReserveError;
use crate::channel::mpmc::{MpmcHandle, Permit, Receiver, Sender, WaitingSide, Writers};
use crate::wait::many::{ManyWait, SharedEnd};

/// A reservation of room for one message. Made by [`reserve`](super::list::reserve).
pub struct Reserving<'a, T>(pub(super) &'a Sender<T>);

/// Whether a receive would not wait. Made by [`readable`](super::list::readable).
pub struct Readable<'a, T>(pub(super) &'a Receiver<T>);

/// Whether a send would not wait. Made by [`writable`](super::list::writable).
pub struct Writable<'a, T>(pub(super) &'a Sender<T>);

impl<'a, T> Awaited for Reserving<'a, T> {
    type Side = Writers<'a, T>;
    type Message = Permit<'a, T>;
    type Error = ReserveError;

    fn attempt(&self, place: &mut Option<Permit<'a, T>>) -> Option<Result<(), ReserveError>> {
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
        self.0.parts().wait()
    }

    fn moves(&self) -> u64 {
        self.0.parts().moves()
    }
}

/// Whether a handle is ready, of either side.
#[doc(hidden)]
pub struct ReadyCase<'a, T, H, const SENDS: bool>(&'a H, PhantomData<T>);

impl<'a, T: 'a, H: MpmcHandle<T, SENDS>, const SENDS: bool> Awaited for ReadyCase<'a, T, H, SENDS> {
    type Side = WaitingSide<'a, T, SENDS>;
    type Message = ();
    type Error = Infallible;

    fn attempt(&self, place: &mut Option<()>) -> Option<Result<(), Infallible>> {
        *place = self.0.parts().side().is_ready().then_some(());
        place.map(Ok)
    }

    fn wait(&self) -> ManyWait<WaitingSide<'a, T, SENDS>> {
        self.0.parts().wait()
    }

    fn moves(&self) -> u64 {
        let parts = self.0.parts();
        parts.party().map_or_else(|| parts.moves(), |party| party.side().moves())
    }
}

#[allow(private_interfaces)]
impl<'a, T> SelectRecv for Reserving<'a, T> {
    type Message = Permit<'a, T>;
    type Error = ReserveError;
    type Source = ManyCase<Self>;

    #[inline]
    fn into_source(self) -> ManyCase<Self> {
        ManyCase::new(self)
    }
}

impl<T> fmt::Debug for Reserving<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reserving").field(self.0).finish()
    }
}

#[allow(private_interfaces)]
impl<'a, T> SelectRecv for Readable<'a, T> {
    type Message = ();
    type Error = Infallible;
    type Source = ManyCase<ReadyCase<'a, T, Receiver<T>, false>>;

    #[inline]
    fn into_source(self) -> Self::Source {
        ManyCase::new(ReadyCase(self.0, PhantomData))
    }
}

impl<T> fmt::Debug for Readable<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Readable").field(self.0).finish()
    }
}

#[allow(private_interfaces)]
impl<'a, T> SelectRecv for Writable<'a, T> {
    type Message = ();
    type Error = Infallible;
    type Source = ManyCase<ReadyCase<'a, T, Sender<T>, true>>;

    #[inline]
    fn into_source(self) -> Self::Source {
        ManyCase::new(ReadyCase(self.0, PhantomData))
    }
}

impl<T> fmt::Debug for Writable<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Writable").field(self.0).finish()
    }
}
