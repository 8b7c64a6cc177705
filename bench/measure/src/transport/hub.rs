//! `ysuite::hub`: messages that travel as functions. The hub's thread runs the hub step by step until one of them has
//! left a message. In addition, a `ysuite::spsc` that a hub serves with a handler.
//!
//! ```text
//!   sender threads   post(move |_| landing.push(message)) ----> hub.run_once(): calls them, 128 at most
//!                                                                    landing ----> the next message   the same thread
//! ```
//!
//! The landing belongs to the hub's thread alone. Each function carries its message and the address of the landing: two
//! words for a message of one word.

use std::collections::VecDeque;
use std::io;
use std::ptr::NonNull;

use ysuite::Spin;
use ysuite::hub::{self, Handle, Hub};
use ysuite::spsc;

use super::channels::channels;
use super::{Closed, Ends, Message, Traits, Waits, ends_by_cloning};

const COMMON: Traits = Traits { works_with_epoll: true, ..Traits::COMMON };

channels! {
    /// The default: spins a little, then sleeps.
    Adaptive: "hub",
        "ysuite::hub: an event loop that runs posted functions, spinning a little before it sleeps in epoll",
        { senders: Ends::Many, one_order: false, ..COMMON },
        Poster<M>, Receiver<M>, posting(Hub::new()?);
    /// Sleeps as soon as nothing is ready.
    Sleeping: "hub-none",
        "ysuite::hub, an event loop that runs posted functions, sleeping at once in epoll (Spin::None)",
        { waits: Waits::SleepsInPoll, senders: Ends::Many, one_order: false, variant: true, ..COMMON },
        Poster<M>, Receiver<M>, posting(sleeping()?);
    /// A channel instead of functions.
    Spsc: "hub-spsc", "ysuite::spsc served by a ysuite::hub, which calls a handler with each message",
        { batches: true, variant: true, ..COMMON },
        spsc::Sender<M>, Receiver<M>, served()?;
}
ends_by_cloning!(senders: Adaptive, Sleeping);

pub(super) fn sleeping() -> io::Result<Hub> {
    let mut hub = Hub::new()?;
    hub.set_spin(Spin::None);
    Ok(hub)
}

fn served<M: Message>() -> io::Result<(spsc::Sender<M>, Receiver<M>)> {
    let (sender, receiver) = spsc::unbounded::<M>();
    let mut served = Receiver { hub: Hub::new()?, landing: Landing::new() };
    let place = served.landing.place();
    let handler = move |_: &mut Hub, message| {
        if let Ok(message) = message {
            // SAFETY: the hub of this landing's receiver calls this.
            unsafe { place.push(message) };
        }
    };
    served.hub.receive(receiver, handler).map_err(|hub::Refused { error, .. }| error)?;
    Ok((sender, served))
}

pub(super) fn posting<M: Message>(hub: Hub) -> (Poster<M>, Receiver<M>) {
    let landing = Landing::new();
    (Poster { handle: hub.handle(), place: landing.place() }, Receiver { hub, landing })
}

/// The functions leave their messages here: a queue on the heap, used by the hub's thread alone.
struct Landing<M>(NonNull<VecDeque<M>>);

// SAFETY: it owns its queue, which moves with it; a `Place` is used only on the same thread, by `Place::push`'s contract.
unsafe impl<M: Send> Send for Landing<M> {}

impl<M> Landing<M> {
    fn new() -> Self {
        Self(NonNull::from(Box::leak(Box::default())))
    }

    fn place(&self) -> Place<M> {
        Place(self.0)
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<M> {
        // SAFETY: the queue exists until this is dropped, and nothing pushes meanwhile: the hub is not running.
        unsafe { self.0.as_mut() }.pop_front()
    }
}

impl<M> Drop for Landing<M> {
    fn drop(&mut self) {
        // SAFETY: `new` has leaked the box. Only the hub calls functions that push, and it is dropped.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// A [`Landing`] as the functions have it.
struct Place<M>(NonNull<VecDeque<M>>);

// SAFETY: it is used for pushing only, by whose contract the message stays on the landing's own thread.
unsafe impl<M: Send> Send for Place<M> {}

impl<M> Clone for Place<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Place<M> {}

impl<M> Place<M> {
    /// # Safety
    ///
    /// The hub in the same [`Receiver`] as the landing must call it, while that runs.
    #[inline(always)]
    unsafe fn push(mut self, message: M) {
        // SAFETY: that hub runs only inside `Receiver::recv`, which does not use the landing meanwhile, and is dropped
        // before the landing.
        unsafe { self.0.as_mut() }.push_back(message);
    }
}

pub struct Poster<M> {
    pub(super) handle: Handle,
    place: Place<M>,
}

impl<M> Clone for Poster<M> {
    fn clone(&self) -> Self {
        Self { handle: self.handle.clone(), place: self.place }
    }
}

pub struct Receiver<M> {
    /// Dropped first: it drops functions that it has not called.
    hub: Hub,
    landing: Landing<M>,
}

impl<M: Message> super::Sender<M> for Poster<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        let place = self.place;
        let function = move |_: &mut Hub| {
            // SAFETY: the hub of this landing's receiver calls this.
            unsafe { place.push(message) };
        };
        self.handle.post(function).map_err(|_| Closed)
    }
}

impl<M: Message> super::Receiver<M> for Receiver<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        loop {
            if let Some(message) = self.landing.pop() {
                return Ok(message);
            }
            // A step without a time limit that has called nothing means that nothing can come any more.
            if !self.hub.run_once(None).is_ok_and(|called| called > 0) {
                return Err(Closed);
            }
        }
    }
}
