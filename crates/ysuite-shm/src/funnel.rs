//! A funnel: many senders, one receiver. Each sender has a pipe of its own, a *lane*, so that none can hold up or harm
//! another. A sender is the sender of a pipe, and does not know the difference.
//!
//! A lane in which nothing is found for a while is *parked*: armed once, and then left to the kernel, which tells of its
//! bell. So senders that are idle cost nothing, however many they are: neither a look nor a call for each. A lane whose
//! sender is gone is drained, and then dropped.
//!
//! One thread. The receiver accepts strangers while it receives.

mod receiver;

use std::os::fd::OwnedFd;
use std::time::Duration;

pub use self::receiver::{Ended, Event, Funnel};

use crate::broadcast::Spread;
use crate::end::{End, Half};
use crate::home::{Home, Lane, Party};
use crate::link::Link;
use crate::listener::Listener;
use crate::page::{Role, Shape};
use crate::pipe::{BytesInlet, Inlet, TypedInlet, bytes_shape, typed_shape};
use crate::ring::typed::Slotted;
use crate::watch::Watched;
use crate::{Error, Message, Options};

/// Messages of a lane before the next lane has its turn.
const TURN: u32 = 32;
/// Empty looks before a lane is parked, or as many as the program has asked for, if it has asked for more.
const EMPTY: u32 = 64;
/// Messages between two questions to the kernel about the lanes that are parked.
const BETWEEN: u32 = 256;

/// A message, or a value, of bytes: a [`Funnel`] of these has [`BytesSender`](crate::BytesSender)s. So are a question, an answer,
/// and a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bytes(pub Vec<u8>);

/// A type that a [`Funnel`] can carry: every [`Message`], [`Bytes`], and a [`Question`](crate::Question).
#[expect(private_bounds, reason = "nobody else can say how a lane carries it")]
pub trait Carried: Laned {}

impl<T: Message> Carried for T {}

impl Carried for Bytes {}

/// A type that a broadcast or a watch can copy for each of its receivers, and that a question, an answer or a job can
/// have: every [`Message`], and [`Bytes`].
#[expect(private_bounds, reason = "nobody else can say how it is copied")]
pub trait Copied: Watched + Spread + Slotted {}

impl<T: Message> Copied for T {}

impl Copied for Bytes {}

/// How a lane carries it.
pub(crate) trait Laned: Send + Sized + 'static {
    type Inlet: Inlet;

    fn shape(options: &Options) -> Shape;
    fn link(socket: OwnedFd, options: &Options) -> Result<Link, Error> {
        Link::new(socket, Role::Receiver, Self::shape(options), 0, options)
    }
    fn inlet(end: End) -> Self::Inlet;
    /// The next message. One is there. `None`: the sender has changed it meanwhile, or may not have sent it.
    fn take(inlet: &mut Self::Inlet) -> Option<Self>;
}

impl<T: Message> Laned for T {
    type Inlet = TypedInlet<T>;

    fn shape(options: &Options) -> Shape {
        typed_shape::<T>(options)
    }

    fn inlet(end: End) -> TypedInlet<T> {
        TypedInlet::new(end)
    }

    #[inline(always)]
    fn take(inlet: &mut TypedInlet<T>) -> Option<T> {
        Some(inlet.take())
    }
}

impl Laned for Bytes {
    type Inlet = BytesInlet;

    fn shape(options: &Options) -> Shape {
        bytes_shape(options)
    }

    fn inlet(end: End) -> BytesInlet {
        BytesInlet::new(end)
    }

    fn take(inlet: &mut BytesInlet) -> Option<Self> {
        let mut message = Vec::new();
        inlet.take(&mut message)?;
        Some(Self(message))
    }
}

/// The receiver's end of a lane.
struct Inbound<T: Laned> {
    inlet: <T as Laned>::Inlet,
    /// Looks that found nothing, or messages of the present turn.
    empty: u32,
    turn: u32,
}

impl<T: Laned> Half for Inbound<T> {
    fn end(&mut self) -> &mut End {
        self.inlet.end()
    }
}

impl<T: Laned> Party for Inbound<T> {
    type Common = ();

    fn link(socket: OwnedFd, _: &(), options: &Options) -> Result<Link, Error> {
        T::link(socket, options)
    }

    fn new(end: End, _: &()) -> Self {
        Self { inlet: <T as Laned>::inlet(end), empty: 0, turn: 0 }
    }
}

/// What is in a lane.
enum Found {
    Message,
    Nothing,
    End(Error),
}

impl<T: Laned> Lane<Inbound<T>> {
    #[inline]
    fn look(&mut self) -> Found {
        let inlet = &mut self.party.inlet;
        // Before the look: what was published before the end is found by it.
        let fate = if inlet.look() { return Found::Message } else { inlet.end().fate() };
        match fate {
            None => Found::Nothing,
            Some(_) if inlet.look() => Found::Message,
            Some(error) => Found::End(error),
        }
    }

    /// Leaves the lane to the kernel, unless there is something. False: it cannot be left.
    fn park(&mut self) -> bool {
        let is_armed = self.party.end().arm();
        if is_armed && matches!(self.look(), Found::Nothing) {
            self.is_parked = true;
            self.party.empty = 0;
        } else {
            self.party.end().disarm();
        }
        self.is_parked
    }
}

/// The lanes of a funnel.
struct Lanes<T: Laned> {
    home: Home<Inbound<T>, ()>,
    unasked: u32,
    /// Empty looks before a lane is parked.
    empty: u32,
}

impl<T: Laned> Lanes<T> {
    fn new(options: &Options, listener: Option<Listener>) -> Result<Self, Error> {
        Ok(Self { home: Home::new(options, listener, ())?, unasked: 0, empty: EMPTY })
    }

    /// A lane with a message, whose turn it is. The first of the active ones has it.
    #[inline]
    fn find(&mut self) -> Option<usize> {
        let home = &mut self.home;
        for _ in 0..home.active.len() {
            let at = *home.active.front()?;
            let Some(lane) = &mut home.lanes[at] else {
                home.active.pop_front();
                continue;
            };
            match lane.look() {
                Found::Message => return Some(at),
                Found::End(error) => {
                    home.active.pop_front();
                    home.remove(at, error);
                }
                Found::Nothing => {
                    lane.party.turn = 0;
                    lane.party.empty += 1;
                    if lane.party.empty >= self.empty && lane.park() {
                        home.active.pop_front();
                    } else {
                        home.active.rotate_left(1);
                    }
                }
            }
        }
        None
    }

    /// The next message, and the number of its sender, if one is there.
    #[inline]
    fn take(&mut self) -> Option<(u64, T)> {
        self.unasked += 1;
        if self.unasked >= BETWEEN {
            self.ask(Some(Duration::ZERO));
        }
        loop {
            let at = self.find()?;
            let lane = self.home.lanes[at].as_mut()?;
            let inbound = &mut lane.party;
            let Some(message) = T::take(&mut inbound.inlet) else {
                self.home.active.pop_front();
                self.home.remove(at, Error::Broken);
                continue;
            };
            inbound.empty = 0;
            inbound.turn += 1;
            let number = lane.number;
            if inbound.turn >= TURN {
                inbound.turn = 0;
                self.home.active.rotate_left(1);
            }
            return Some((number, message));
        }
    }

    /// Waits for news, for at most this long. False: there are more than it has taken notice of.
    fn ask(&mut self, limit: Option<Duration>) -> bool {
        self.unasked = 0;
        self.home.ask(limit)
    }

    /// Leaves all lanes to the kernel. False: there is something in one, or one cannot be left.
    fn park_all(&mut self) -> bool {
        while let Some(at) = self.home.active.front().copied() {
            match self.home.lanes[at].as_mut().map(Lane::park) {
                Some(false) => return false,
                _ => self.home.active.pop_front(),
            };
        }
        true
    }
}

#[cfg(all(test, not(ysuite_loom)))]
impl<T: Carried> Funnel<T> {
    /// The own memory of the first lane.
    pub(crate) fn first_region(&mut self) -> Option<&crate::os::Own> {
        self.lanes.home.lanes.first_mut()?.as_mut().map(|lane| &lane.party.end().link.own)
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests;
