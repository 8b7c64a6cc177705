//! The futures that are the same for several kinds of channels. Each is an operation of a handle: the future borrows it,
//! or owns it.
//!
//! A borrowing future is as its operation: it does not allocate, and needs no pin. An [`OwnedFuture`] must be pinned.
//! Polls are lock-free. A future that is dropped before it is ready has done nothing, and passes on the notification that
//! had woken it. None is polled again when it has been ready, except [`ClosedFuture`], which stays ready.

use core::fmt;
use core::future::Future;
use core::marker::PhantomPinned;
use core::mem::replace;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

#[cfg(any(feature = "broadcast", feature = "mpmc"))]
pub use self::reserving::ReserveOwned;
// For no other crate: it makes a permit of a claim that there is room.
#[cfg(any(feature = "broadcast", feature = "mpmc"))]
pub(super) use self::reserving::ReservesOwned;
#[cfg(feature = "tokio")]
pub use super::coop::TimeLimit;
pub use super::task_batch::{RecvBatchFuture, SendBatchFuture, SendUntilFuture};
use crate::channel::error::ReserveError;
use crate::foreign::{Foreign, Panics};
use crate::wait::many::{ManyWait, SharedEnd};

/// A sender that waits for the disconnection of its peers.
pub(super) trait Closable {
    type Wait<'a>: Future<Output = ()> + Unpin
    where
        Self: 'a;
}

/// A wait of a task until there is no receiver, or the channel is closed. Made by a sender's `closed`.
#[must_use = "futures do nothing unless they are polled"]
#[allow(private_bounds)]
pub struct ClosedFuture<'a, H: Closable + 'a>(H::Wait<'a>);

#[allow(private_bounds)]
impl<'a, H: Closable> ClosedFuture<'a, H> {
    pub(super) fn new(wait: H::Wait<'a>) -> Self {
        Self(wait)
    }
}

#[allow(private_bounds)]
impl<H: Closable> Future for ClosedFuture<'_, H> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.get_mut().0).poll(context)
    }
}

#[allow(private_bounds)]
impl<H: Closable> fmt::Debug for ClosedFuture<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClosedFuture").finish_non_exhaustive()
    }
}

/// A sender that can reserve room.
pub(super) trait Reserves {
    type Reserving<'a, P>: Future<Output = Result<P, ReserveError>> + Unpin
    where
        Self: 'a;
}

/// A reservation of a task, made by a sender's `reserve_async` or `reserve_many_async`. Returns the permit, or the
/// permits.
#[must_use = "futures do nothing unless they are polled"]
#[allow(private_bounds)]
pub struct ReserveFuture<'a, H: Reserves + 'a, P>(pub(super) H::Reserving<'a, P>);

#[allow(private_bounds)]
impl<H: Reserves, P> Future for ReserveFuture<'_, H, P> {
    type Output = Result<P, ReserveError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.get_mut().0).poll(context)
    }
}

#[allow(private_bounds)]
impl<H: Reserves, P> fmt::Debug for ReserveFuture<'_, H, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReserveFuture").finish_non_exhaustive()
    }
}

/// Until a handle is ready, once.
pub(super) struct UntilReady<E: SharedEnd>(Option<ManyWait<E>>);

impl<E: SharedEnd> UntilReady<E> {
    pub(super) fn new(end: E) -> Self {
        Self(Some(ManyWait::new(end, false)))
    }

    /// The wait is over before it begins.
    pub(super) fn over() -> Self {
        Self(None)
    }
}

impl<E: SharedEnd> Future for UntilReady<E> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Self(wait) = self.get_mut();
        if let Some(waiting) = wait {
            ready!(waiting.poll(context));
            *wait = None;
        }
        Poll::Ready(())
    }
}

// Nothing is pinned in it.
impl<E: SharedEnd> Unpin for UntilReady<E> {}

/// What an [`OwnedFuture`] owns, and does with it. Not for use elsewhere.
#[doc(hidden)]
pub trait Owning: Sized + 'static {
    /// What the operation is given.
    type Argument;
    /// How the operation ends.
    type Outcome;
    /// What the future returns.
    type Output;
    /// The operation, which borrows the handle.
    type Future<'a>: Future<Output = Self::Outcome>;

    /// Begins the operation.
    fn begin(&mut self, argument: Self::Argument) -> Self::Future<'_>;

    /// The operation has ended.
    fn end(self, outcome: Self::Outcome) -> Self::Output;
}

/// An operation that a handle begins, and that returns it with the result. Not for use elsewhere.
#[doc(hidden)]
pub trait OwnedOperation: Sized + 'static {
    /// What the operation is given.
    type Argument;
    /// How the operation ends.
    type Outcome;
    /// The operation, which borrows the handle.
    type Future<'a>: Future<Output = Self::Outcome>;

    /// Begins the operation.
    fn begin(&mut self, argument: Self::Argument) -> Self::Future<'_>;
}

impl<H: OwnedOperation> Owning for H {
    type Argument = H::Argument;
    type Outcome = H::Outcome;
    type Output = (H::Outcome, H);
    type Future<'a> = H::Future<'a>;

    fn begin(&mut self, argument: H::Argument) -> H::Future<'_> {
        OwnedOperation::begin(self, argument)
    }

    fn end(self, outcome: H::Outcome) -> (H::Outcome, H) {
        (outcome, self)
    }
}

/// An operation of a task that owns its handle, so that it can be spawned, or stored beside other futures. Made by the
/// methods of handles that end in `_owned_async`. Returns the handle with the result, or a permit that owns it.
///
/// Is not `Unpin`, as the operation borrows the handle that is beside it. A future that is dropped before it is ready drops
/// the handle, after the operation has ended.
#[must_use = "futures do nothing unless they are polled"]
pub struct OwnedFuture<H: Owning> {
    // Dropped before the handle, which it borrows.
    stage: OwnedStage<H>,
    /// `None` once the future has been ready.
    handle: Option<H>,
    _pinned: PhantomPinned,
}

enum OwnedStage<H: Owning> {
    // USER CODE: `Drop` of a message, in a future that was never polled; the handle is dropped after it; panic: while
    //     unwinding it goes no further; by construction: `Foreign`
    New(Foreign<H::Argument>),
    /// The lifetime is that of the handle's place.
    Begun(H::Future<'static>),
    Over,
}

impl<H: Owning> OwnedFuture<H> {
    pub(super) fn new(handle: H, argument: H::Argument) -> Self {
        Self { stage: OwnedStage::New(Foreign::new(argument)), handle: Some(handle), _pinned: PhantomPinned }
    }

    /// The operation, where it is not over.
    ///
    /// # Safety
    /// `self` is pinned.
    unsafe fn operation(&mut self) -> Option<Pin<&mut H::Future<'static>>> {
        if let OwnedStage::New(_) = self.stage {
            let OwnedStage::New(argument) = replace(&mut self.stage, OwnedStage::Over) else {
                unreachable!("it is new")
            };
            let handle: *mut H = self.handle.as_mut()?;
            // SAFETY: `self` is pinned, so the handle stays where it is until it is dropped. It is taken out, or dropped,
            //     after the operation that borrows it has been dropped, and nothing else uses it before.
            self.stage = OwnedStage::Begun(unsafe { &mut *handle }.begin(argument.into_inner()));
        }
        match &mut self.stage {
            // SAFETY: pinned as `self` is: it is dropped in its place.
            OwnedStage::Begun(operation) => Some(unsafe { Pin::new_unchecked(operation) }),
            OwnedStage::New(_) | OwnedStage::Over => None,
        }
    }
}

impl<H: Owning> Future for OwnedFuture<H> {
    type Output = H::Output;

    // USER CODE: as of the operation. Where it panics, it and the handle stay, and are dropped with the future; test:
    //     tests/suite/futures.rs: what_panics_in_a_future_leaves_its_handle_to_be_dropped
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<H::Output> {
        // SAFETY: nothing is moved out of it, except for the handle, when nothing borrows it any more.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: by `self`.
        let operation = unsafe { this.operation() };
        let outcome = ready!(operation.expect("a future is not polled when it has been ready").poll(context));
        let outcome = Panics::answer_behind(outcome, || this.stage = OwnedStage::Over);
        let handle = this.handle.take().expect("it is taken once");
        Poll::Ready(handle.end(outcome))
    }
}

impl<H: Owning> fmt::Debug for OwnedFuture<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedFuture").finish_non_exhaustive()
    }
}

#[cfg(any(feature = "broadcast", feature = "mpmc"))]
mod reserving {
    use super::{Owning, ReserveFuture, Reserves};
    use crate::channel::error::{ReserveError, TrySendError};
    use crate::channel::reserve::{ReservedRoom, Reserver, RoomReserving};

    /// A sender whose permits can own it.
    #[allow(private_bounds)]
    pub trait ReservesOwned:
        Reserver + for<'a> Reserves<Reserving<'a, ()> = RoomReserving<'a, Self, ()>> + Sized + 'static
    {
        /// A permit that owns its sender.
        type OwnedPermit;

        /// The permit for the room that this sender holds, if it does.
        fn own(self, reserved: Result<(), ReserveError>) -> Result<Self::OwnedPermit, TrySendError<Self>>;
    }

    /// A sender for whose permit an [`OwnedFuture`](super::OwnedFuture) waits.
    #[doc(hidden)]
    pub struct ReserveOwned<H>(pub(in crate::channel) H);

    impl<H: ReservesOwned> Owning for ReserveOwned<H> {
        type Argument = ();
        type Outcome = Result<(), ReserveError>;
        type Output = Result<H::OwnedPermit, TrySendError<H>>;
        type Future<'a> = ReserveFuture<'a, H, ()>;

        fn begin(&mut self, (): ()) -> ReserveFuture<'_, H, ()> {
            ReserveFuture(RoomReserving::new(&self.0, 1, ReservedRoom::forget))
        }

        fn end(self, outcome: Result<(), ReserveError>) -> Self::Output {
            self.0.own(outcome)
        }
    }
}
