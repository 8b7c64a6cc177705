//! An end that many others join: it listens at a name, accepts strangers, and gives each a *lane*, an end of its own, so
//! that none can hold up or harm another. All lanes share one poller. What goes through a lane is elsewhere.
//!
//! One thread. Strangers are accepted beside the work: none of them makes it wait, they have a second to say hello, and
//! there are never more than [`STRANGERS`].

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use crate::end::{End, Half, SHORT, Unfulfilled};
use crate::funnel::Ended;
use crate::link::Link;
use crate::listener::{Accepted, Listener};
use crate::os::{self, News, Poller, Source};
use crate::sync::{Ordering, fence};
use crate::{Error, Options};

/// Strangers that have not said hello yet.
pub(crate) const STRANGERS: usize = 64;
/// So long they may take.
const PATIENCE: Duration = Duration::from_secs(1);
/// So long nobody is accepted after descriptors or memory have run out.
const PAUSE: Duration = Duration::from_millis(10);

/// Looks of a sender at a crowd before it sleeps.
const SPIN: u32 = 100;

/// Places of lanes; more than a process may have descriptors.
const PLACES: usize = 1 << 24;

/// By what the kernel tells of a lane: its place, and its number, of which what has room.
fn token(at: usize, number: u64) -> u64 {
    debug_assert!(at < PLACES);
    (number << 24 | at as u64) & (u64::MAX >> 2)
}

/// What is at the end of a lane, besides the connection.
pub(crate) trait Party: Half + Sized {
    /// What all lanes have in common.
    type Common;

    /// A connection over this socket.
    fn link(socket: OwnedFd, common: &Self::Common, options: &Options) -> Result<Link, Error>;

    fn new(end: End, common: &Self::Common) -> Self;

    /// The peer has said hello, just now.
    fn met(&mut self, _common: &Self::Common) {}

    /// The lane is dropped next.
    fn gone(&mut self, _common: &mut Self::Common) {}
}

pub(crate) struct Lane<P> {
    pub(crate) party: P,
    pub(crate) number: u64,
    /// Not among the active ones.
    pub(crate) is_parked: bool,
    /// Until when a stranger must have said hello.
    pub(crate) until: Option<Instant>,
}

/// The end that others join.
pub(crate) struct Home<P, C> {
    pub(crate) poller: Poller,
    pub(crate) listener: Option<Listener>,
    options: Options,
    pub(crate) common: C,
    pub(crate) lanes: Vec<Option<Lane<P>>>,
    pub(crate) free: Vec<usize>,
    /// Lanes that are not parked: those that were met, until somebody parks them.
    pub(crate) active: VecDeque<usize>,
    /// Those that have not said hello yet, in order.
    pub(crate) strangers: VecDeque<usize>,
    /// Nobody is accepted until then.
    pub(crate) pause: Option<Instant>,
    pub(crate) ended: VecDeque<Ended>,
    /// The number of the next lane.
    next: u64,
}

impl<P: Party> Home<P, P::Common> {
    pub(crate) fn new(options: &Options, listener: Option<Listener>, common: P::Common) -> Result<Self, Error> {
        let poller = Poller::new().map_err(os::refused)?;
        if let Some(listener) = &listener {
            poller.add(listener.as_fd(), 0, Source::Listener).map_err(os::refused)?;
        }
        let (lanes, free) = (Vec::new(), Vec::new());
        let (active, strangers, ended) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
        let options = options.clone();
        Ok(Self { poller, listener, options, common, lanes, free, active, strangers, pause: None, ended, next: 0 })
    }

    /// A place for one more peer: its number, and a socket for it to inherit.
    pub(crate) fn seat(&mut self) -> Result<(u64, OwnedFd), Error> {
        let (one, other) = os::pair().map_err(os::refused)?;
        Ok((self.add(one, None)?, other))
    }

    /// A lane over a socket; the number of its peer.
    fn add(&mut self, socket: OwnedFd, until: Option<Instant>) -> Result<u64, Error> {
        let link = P::link(socket, &self.common, &self.options)?;
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
        let party = P::new(End::lane(link, token(at, number)), &self.common);
        // Its socket tells when there is something.
        self.lanes[at] = Some(Lane { party, number, is_parked: true, until });
        self.meet(at);
        if until.is_some() && self.is_unmet(at) {
            self.strangers.push_back(at);
        }
        Ok(number)
    }

    fn is_unmet(&mut self, at: usize) -> bool {
        self.lanes[at].as_mut().is_some_and(|lane| !lane.party.end().is_met())
    }

    fn meet(&mut self, at: usize) {
        let Some(lane) = &mut self.lanes[at] else { return };
        let is_met = lane.party.end().meet(Some(&self.poller));
        match lane.party.end().fate() {
            Some(error) if !is_met => self.remove(at, error),
            _ if is_met => {
                lane.party.met(&self.common);
                self.activate(at);
            }
            _ => {}
        }
    }

    fn activate(&mut self, at: usize) {
        let Some(lane) = &mut self.lanes[at] else { return };
        if lane.is_parked {
            lane.is_parked = false;
            lane.party.end().disarm();
            self.active.push_back(at);
            if lane.until.take().is_some() {
                self.strangers.retain(|stranger| *stranger != at);
            }
        }
    }

    /// Drops a lane that is not among the active ones.
    pub(crate) fn remove(&mut self, at: usize, error: Error) {
        if let Some(mut lane) = self.lanes[at].take() {
            if lane.until.is_some() {
                self.strangers.retain(|stranger| *stranger != at);
            }
            // Explicitly: the peer has a copy of the bell, which would stay watched.
            lane.party.end().link.unwatch(&self.poller);
            lane.party.gone(&mut self.common);
            self.ended.push_back(Ended { sender: lane.number, error });
            // Nobody asks: the oldest are of no interest.
            if self.ended.len() > 4 * STRANGERS {
                self.ended.pop_front();
            }
            self.free.push(at);
        }
    }

    /// Drops the active lanes whose peers are gone.
    pub(crate) fn sweep(&mut self) {
        let mut active = core::mem::take(&mut self.active);
        active.retain(|at| {
            let fate = self.lanes[*at].as_mut().and_then(|lane| lane.party.end().fate());
            if let Some(error) = fate {
                self.remove(*at, error);
            }
            fate.is_none()
        });
        self.active = active;
    }

    /// Waits for news, for at most this long. False: there are more than it has taken notice of.
    pub(crate) fn ask(&mut self, limit: Option<Duration>) -> bool {
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
        // Of a peer that was in this place before, told in the same call.
        if token(at, lane.number) != news.lane {
            return;
        }
        if lane.party.end().is_met() {
            lane.party.end().notice(news, None);
            self.activate(at);
        } else if news.source == Source::Socket {
            self.meet(at);
        }
    }

    /// Accepts some of those that wait. Without descriptors they go on waiting. False: there may be more.
    fn accept(&mut self) -> bool {
        // Who connects again and again must not keep this end here.
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
    pub(crate) fn listen_again(&mut self) -> bool {
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
            let late = Error::Refused(crate::Why::Time);
            // It may come to its senses: then it must not take this for a regular end.
            if let Some(lane) = &mut self.lanes[at] {
                lane.party.end().link.refuse(late);
            }
            self.remove(at, late);
        }
    }

    /// The peers of all lanes that are not parked run on this end's processor only.
    pub(crate) fn share_processor(&mut self) -> bool {
        let Self { active, lanes, .. } = self;
        active.iter().all(|at| lanes[*at].as_mut().is_none_or(|lane| lane.party.end().link.shares_processor()))
    }

    /// Nobody is there any more, and nobody will come.
    pub(crate) fn is_over(&self) -> bool {
        self.listener.is_none() && self.free.len() == self.lanes.len()
    }

    /// So long it may sleep at most: until the next stranger has taken too long, or a pause is over.
    pub(crate) fn longest(&self) -> Option<Duration> {
        let until = self.patience().into_iter().chain(self.pause).min()?;
        Some(until.saturating_duration_since(Instant::now()))
    }

    /// How many peers there are, with those that have not said hello yet.
    pub(crate) fn peers(&self) -> usize {
        self.lanes.len() - self.free.len()
    }
}

/// So long a sender may go on without a look at who comes and goes.
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);
/// Messages between two looks at the clock, as long as it does.
const BETWEEN_CLOCKS: u32 = 32;

/// The receivers of one sender.
pub(crate) struct Crowd<P: Party> {
    pub(crate) home: Home<P, P::Common>,
    /// When it has last looked who comes and goes.
    looked: Instant,
    /// Messages until it looks at the clock.
    unclocked: u32,
    /// Looks before it sleeps, if the program has asked for a number.
    pub(crate) spin: Option<u32>,
}

// WAITS: for what `look` finds, or the deadline; it looks, arms all lanes, looks again, and sleeps.
// A look meets nobody, as that of a pipe: who comes later is met by `serve`, behind the sleep.
/// Blocks until a sender's `look` at its crowd finds something. `Closed`: it finds nothing, nobody is there, and nobody can come.
#[cold]
#[inline(never)]
pub(crate) fn wait<S, P: Party, R>(
    sender: &mut S,
    crowd_of: fn(&mut S) -> &mut Crowd<P>,
    deadline: Option<Instant>,
    mut look: impl FnMut(&mut S) -> Option<R>,
) -> Result<R, Unfulfilled> {
    loop {
        for _ in 0..crowd_of(sender).looks() {
            if let Some(found) = look(sender) {
                return Ok(found);
            }
            core::hint::spin_loop();
        }
        let is_armed = crowd_of(sender).arm_each();
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let found = look(sender);
        let crowd = crowd_of(sender);
        let is_over = found.is_none() && crowd.home.is_over();
        let is_late = left == Some(Duration::ZERO);
        // Who has no time left hears of those that have come as well.
        if found.is_none() && !is_over {
            crowd.serve([left, (!is_armed).then_some(SHORT)].into_iter().flatten().min());
        }
        crowd.each_end(|end| end.disarm());
        match found {
            Some(found) => return Ok(found),
            None if is_over => return Err(Unfulfilled::Ended(Error::Closed)),
            None if is_late => return look(sender).ok_or(Unfulfilled::Timeout),
            None => {}
        }
    }
}

impl<P: Party> Crowd<P> {
    pub(crate) fn new(options: &Options, name: Option<&str>, common: P::Common) -> Result<Self, Error> {
        let listener = name.map(|name| options.listen(name)).transpose()?;
        let home = Home::new(options, listener, common)?;
        Ok(Self { home, looked: Instant::now(), unclocked: 0, spin: None })
    }

    /// How many peers were met and are there: none of a crowd is parked.
    pub(crate) fn joined(&self) -> usize {
        self.home.active.len()
    }

    /// How many times the sender looks at them before it sleeps.
    pub(crate) fn looks(&mut self) -> u32 {
        self.spin.unwrap_or_else(|| if self.home.share_processor() { 0 } else { SPIN })
    }

    /// Says that the sender sleeps, to those that were met. False: the sleep must be short.
    fn arm_each(&mut self) -> bool {
        let mut is_armed = true;
        self.each_end(|end| is_armed &= end.arm());
        is_armed
    }

    /// Of those that were met.
    #[inline]
    pub(crate) fn each_end(&mut self, mut act: impl FnMut(&mut End)) {
        for at in &self.home.active {
            if let Some(lane) = &mut self.home.lanes[*at] {
                act(lane.party.end());
            }
        }
    }

    /// After each publication for all of them: wakes those that sleep.
    #[inline]
    pub(crate) fn published(&mut self) {
        self.each_end(End::published);
        // Last: it runs user code, and a panic must not keep anybody asleep.
        self.serve_if_due();
    }

    /// After each message: takes notice of who comes and goes, if somebody is awaited, or it is time to.
    #[inline]
    pub(crate) fn serve_if_due(&mut self) {
        if self.home.active.len() != self.home.peers() {
            // ORDERING: SeqCst; a peer whose hello the call below does not find looks at what was published after that.
            fence(Ordering::SeqCst);
            self.serve(Some(Duration::ZERO));
        } else if self.unclocked == 0 {
            self.serve_at_times();
        } else {
            self.unclocked -= 1;
        }
    }

    #[cold]
    fn serve_at_times(&mut self) {
        if self.looked.elapsed() >= BETWEEN_LOOKS {
            self.serve(Some(Duration::ZERO));
        } else {
            self.unclocked = BETWEEN_CLOCKS;
        }
    }

    // WAITS: for who comes or goes, or for the time.
    /// Takes notice of who comes and goes, and waits for that, for at most this long. False: there is more.
    pub(crate) fn serve(&mut self, limit: Option<Duration>) -> bool {
        let are_all = self.home.ask([limit, self.home.longest()].into_iter().flatten().min());
        self.looked = Instant::now();
        self.home.sweep();
        are_all
    }

    /// As [`serve`](Self::serve), until then.
    pub(crate) fn serve_until(&mut self, until: Option<Instant>) {
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            self.serve(left);
            if left == Some(Duration::ZERO) {
                return;
            }
        }
    }

    /// For an event loop.
    pub(crate) fn arm(&mut self) -> bool {
        let are_all = self.serve(Some(Duration::ZERO));
        // An event loop is not told when a pause is over.
        self.home.listen_again() && are_all
    }

    /// As [`arm`](Self::arm), for who waits for those that were met as well.
    pub(crate) fn arm_all(&mut self) -> bool {
        let are_all = self.arm();
        self.arm_each() && are_all
    }
}
