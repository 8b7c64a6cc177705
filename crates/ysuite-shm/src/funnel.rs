//! A funnel: many senders, one receiver. Each sender has a pipe of its own, a *lane*, so that none can hold up or harm
//! another. A sender is the sender of a pipe, and does not know the difference.
//!
//! A lane in which nothing is found for a while is *parked*: armed once, and then left to the kernel, which tells of its
//! bell. So senders that are idle cost nothing, however many they are: neither a look nor a call for each. A lane whose
//! sender is gone is drained, and then dropped.
//!
//! One thread. The receiver accepts strangers while it receives: none of them makes it wait, they have a second to say
//! hello, and there are never more than [`STRANGERS`].

mod receiver;

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

pub use self::receiver::{Ended, Event, Funnel};

use crate::end::{End, Half};
use crate::link::Link;
use crate::listener::{Accepted, Listener};
use crate::os::{self, News, Poller, Source};
use crate::page::{Role, Shape};
use crate::pipe::{BytesInlet, Inlet, TypedInlet, bytes_shape, typed_shape};
use crate::{Error, Message, Options};

/// Strangers that have not said hello yet.
const STRANGERS: usize = 64;
/// So long they may take.
const PATIENCE: Duration = Duration::from_secs(1);
/// So long nobody is accepted after descriptors or memory have run out.
const PAUSE: Duration = Duration::from_millis(10);
/// Messages of a lane before the next lane has its turn.
const TURN: u32 = 32;
/// Empty looks before a lane is parked.
const EMPTY: u32 = 64;
/// Messages between two questions to the kernel about the lanes that are parked.
const BETWEEN: u32 = 256;

/// Places of lanes; more than a process may have descriptors.
const PLACES: usize = 1 << 24;

/// By what the kernel tells of a lane: its place, and the number of its sender, of which what has room.
fn token(at: usize, number: u64) -> u64 {
    debug_assert!(at < PLACES);
    (number << 24 | at as u64) & (u64::MAX >> 2)
}

/// A message of bytes: a [`Funnel`] of these has [`BytesSender`](crate::BytesSender)s.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bytes(pub Vec<u8>);

/// What a [`Funnel`] can carry: every [`Message`], and [`Bytes`].
#[expect(private_bounds, reason = "nobody else can say how a lane carries it")]
pub trait Carried: Laned {}

impl<T: Message> Carried for T {}

impl Carried for Bytes {}

/// How a lane carries it.
pub(crate) trait Laned: Send + Sized + 'static {
    type Inlet: Inlet;

    fn shape(options: &Options) -> Shape;
    fn inlet(end: End) -> Self::Inlet;
    /// The next message. One is there. `None`: the sender has changed it meanwhile.
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

struct Lane<T: Laned> {
    inlet: T::Inlet,
    number: u64,
    is_parked: bool,
    /// Looks that found nothing, or messages of the present turn.
    empty: u32,
    turn: u32,
    /// Until when a stranger must have said hello.
    until: Option<Instant>,
}

/// What is in a lane.
enum Found {
    Message,
    Nothing,
    End(Error),
}

impl<T: Laned> Lane<T> {
    #[inline]
    fn look(&mut self) -> Found {
        // Before the look: what was published before the end is found by it.
        let fate = if self.inlet.look() { return Found::Message } else { self.inlet.end().fate() };
        match fate {
            None => Found::Nothing,
            Some(_) if self.inlet.look() => Found::Message,
            Some(error) => Found::End(error),
        }
    }

    /// Leaves the lane to the kernel, unless there is something. False: it cannot be left.
    fn park(&mut self) -> bool {
        let is_armed = self.inlet.end().arm();
        if is_armed && matches!(self.look(), Found::Nothing) {
            self.is_parked = true;
        } else {
            self.inlet.end().disarm();
        }
        self.is_parked
    }
}

/// The lanes of a funnel.
struct Lanes<T: Laned> {
    poller: Poller,
    listener: Option<Listener>,
    options: Options,
    lanes: Vec<Option<Lane<T>>>,
    free: Vec<usize>,
    /// Lanes that are not parked; the first has its turn.
    active: VecDeque<usize>,
    /// Those that have not said hello yet, in order.
    strangers: VecDeque<usize>,
    /// Nobody is accepted until then.
    pause: Option<Instant>,
    ended: VecDeque<Ended>,
    /// The number of the next sender.
    next: u64,
    unasked: u32,
}

impl<T: Laned> Lanes<T> {
    fn new(options: &Options, listener: Option<Listener>) -> Result<Self, Error> {
        let poller = Poller::new().map_err(os::refused)?;
        if let Some(listener) = &listener {
            poller.add(listener.as_fd(), 0, Source::Listener).map_err(os::refused)?;
        }
        let (lanes, free) = (Vec::new(), Vec::new());
        let (active, strangers, ended) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
        let options = options.clone();
        Ok(Self { poller, listener, options, lanes, free, active, strangers, pause: None, ended, next: 0, unasked: 0 })
    }

    /// A lane over a socket; the number of its sender.
    fn add(&mut self, socket: OwnedFd, until: Option<Instant>) -> Result<u64, Error> {
        let link = Link::new(socket, Role::Receiver, T::shape(&self.options), 0, &self.options)?;
        let at = self.free.pop().unwrap_or_else(|| {
            self.lanes.push(None);
            self.lanes.len() - 1
        });
        let number = self.next;
        self.next += 1;
        if let Err(error) = link.watch(&self.poller, token(at, number)) {
            link.refuse(error);
            self.free.push(at);
            return Err(error);
        }
        let inlet = T::inlet(End::lane(link, token(at, number)));
        // Its socket tells when there is something.
        self.lanes[at] = Some(Lane { inlet, number, is_parked: true, empty: 0, turn: 0, until });
        self.meet(at);
        if until.is_some() && self.is_unmet(at) {
            self.strangers.push_back(at);
        }
        Ok(number)
    }

    fn is_unmet(&mut self, at: usize) -> bool {
        self.lanes[at].as_mut().is_some_and(|lane| !lane.inlet.end().is_met())
    }

    fn meet(&mut self, at: usize) {
        let Some(lane) = &mut self.lanes[at] else { return };
        let is_met = lane.inlet.end().meet(Some(&self.poller));
        match lane.inlet.end().fate() {
            Some(error) if !is_met => self.remove(at, error),
            _ if is_met => self.activate(at),
            _ => {}
        }
    }

    fn activate(&mut self, at: usize) {
        let Some(lane) = &mut self.lanes[at] else { return };
        if lane.is_parked {
            lane.is_parked = false;
            lane.empty = 0;
            lane.inlet.end().disarm();
            self.active.push_back(at);
            if lane.until.take().is_some() {
                self.strangers.retain(|stranger| *stranger != at);
            }
        }
    }

    /// Drops a lane that is not among the active ones.
    fn remove(&mut self, at: usize, error: Error) {
        if let Some(mut lane) = self.lanes[at].take() {
            if lane.until.is_some() {
                self.strangers.retain(|stranger| *stranger != at);
            }
            // Explicitly: the peer has a copy of the bell, which would stay watched.
            lane.inlet.end().link.unwatch(&self.poller);
            self.ended.push_back(Ended { sender: lane.number, error });
            // Nobody asks: the oldest are of no interest.
            if self.ended.len() > 4 * STRANGERS {
                self.ended.pop_front();
            }
            self.free.push(at);
        }
    }

    /// A lane with a message, whose turn it is.
    #[inline]
    fn find(&mut self) -> Option<usize> {
        for _ in 0..self.active.len() {
            let at = *self.active.front()?;
            let Some(lane) = &mut self.lanes[at] else {
                self.active.pop_front();
                continue;
            };
            match lane.look() {
                Found::Message => return Some(at),
                Found::End(error) => {
                    self.active.pop_front();
                    self.remove(at, error);
                }
                Found::Nothing => {
                    lane.turn = 0;
                    lane.empty += 1;
                    if lane.empty >= EMPTY && lane.park() {
                        self.active.pop_front();
                    } else {
                        self.active.rotate_left(1);
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
            let lane = self.lanes[at].as_mut()?;
            let Some(message) = T::take(&mut lane.inlet) else {
                self.active.pop_front();
                self.remove(at, Error::Broken);
                continue;
            };
            lane.empty = 0;
            lane.turn += 1;
            let number = lane.number;
            if lane.turn >= TURN {
                lane.turn = 0;
                self.active.rotate_left(1);
            }
            return Some((number, message));
        }
    }

    /// The senders of all lanes that are not parked run on the receiver's processor only.
    fn share_processor(&mut self) -> bool {
        let Self { active, lanes, .. } = self;
        active.iter().all(|at| lanes[*at].as_mut().is_none_or(|lane| lane.inlet.end().link.shares_processor()))
    }

    /// Leaves all lanes to the kernel. False: there is something in one, or one cannot be left.
    fn park_all(&mut self) -> bool {
        while let Some(at) = self.active.front().copied() {
            match self.lanes[at].as_mut().map(Lane::park) {
                Some(false) => return false,
                _ => self.active.pop_front(),
            };
        }
        true
    }

    /// Waits for news, for at most this long. False: there are more than it has taken notice of.
    fn ask(&mut self, limit: Option<Duration>) -> bool {
        self.unasked = 0;
        let mut found = [None; 32];
        let mut count = 0;
        self.poller.wait(limit, |news| {
            found[count] = Some(news);
            count += 1;
        });
        let mut is_listener = false;
        for news in found.into_iter().flatten() {
            match news.source {
                Source::Listener => is_listener = true,
                _ => self.notice(news),
            }
        }
        self.dismiss();
        self.end_pause();
        // Last: it runs user code, and a panic must not lose what was told of others.
        let are_all = !is_listener || self.accept();
        are_all && count < found.len()
    }

    fn notice(&mut self, news: News) {
        let at = news.lane as usize % PLACES;
        let Some(Some(lane)) = self.lanes.get_mut(at) else { return };
        // Of a sender that was in this place before, told in the same call.
        if token(at, lane.number) != news.lane {
            return;
        }
        if lane.inlet.end().is_met() {
            lane.inlet.end().notice(news, None);
            self.activate(at);
        } else if news.source == Source::Socket {
            self.meet(at);
        }
    }

    /// Accepts some of those that wait. Without descriptors they go on waiting. False: there may be more.
    fn accept(&mut self) -> bool {
        // Who connects again and again must not keep the receiver here.
        for _ in 0..STRANGERS {
            let Some(listener) = &self.listener else { return true };
            match listener.accept_one() {
                Ok(Accepted::Nobody) => return true,
                Ok(Accepted::TurnedAway) => {}
                Ok(Accepted::Stranger(stranger)) => {
                    if self.strangers.len() >= STRANGERS {
                        self.dismiss_first();
                    }
                    // If it fails the stranger has been told.
                    let _ = self.add(stranger, Some(Instant::now() + PATIENCE));
                }
                Err(_) => {
                    // Who waits would be reported again at once.
                    self.poller.remove(listener.as_fd());
                    self.pause = Some(Instant::now() + PAUSE);
                    return true;
                }
            }
        }
        false
    }

    /// Accepts again, if there has been a pause for long enough.
    fn end_pause(&mut self) {
        if self.pause.is_some_and(|pause| pause <= Instant::now()) {
            self.listen_again();
        }
    }

    /// Accepts again, whether a pause is over or not. False: there is no memory for that.
    fn listen_again(&mut self) -> bool {
        if let (Some(_), Some(listener)) = (self.pause, &self.listener) {
            let is_watched = self.poller.add(listener.as_fd(), 0, Source::Listener).is_ok();
            self.pause = if is_watched { None } else { Some(Instant::now() + PAUSE) };
        }
        self.pause.is_none()
    }

    /// Sends strangers away that took too long.
    fn dismiss(&mut self) {
        while self.patience().is_some_and(|until| until <= Instant::now()) {
            self.dismiss_first();
        }
    }

    /// Until when the first stranger must have said hello.
    fn patience(&self) -> Option<Instant> {
        self.lanes[*self.strangers.front()?].as_ref()?.until
    }

    fn dismiss_first(&mut self) {
        if let Some(at) = self.strangers.pop_front() {
            self.remove(at, Error::Refused(crate::Why::Time));
        }
    }

    /// Nobody sends any more, and nobody will.
    fn is_over(&self) -> bool {
        self.listener.is_none() && self.free.len() == self.lanes.len()
    }

    /// So long it may sleep at most: until the next stranger has taken too long, or a pause is over.
    fn longest(&self) -> Option<Duration> {
        let until = self.patience().into_iter().chain(self.pause).min()?;
        Some(until.saturating_duration_since(Instant::now()))
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests;
