//! One end of a connection while it runs: what both ends of every channel do. It publishes and is woken, sleeps and is
//! told, meets its peer and learns of its end. What it sends or receives is elsewhere.
//!
//! One thread at a time. [`wait`] blocks; nothing else does.

use core::ptr::NonNull;
use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use crate::link::{Link, closed_by};
use crate::nap::{Sleeper, Waker};
use crate::os::{self, News, Poller, Source};
use crate::page::{ASLEEP, CLOSED, FENCED};
use crate::sync::{AtomicU64, Ordering, fence};
use crate::{Error, SendTimeoutError, Why};

/// An end that finds nothing again and again asks the kernel about its peer once in this time.
const BETWEEN_CHECKS: Duration = Duration::from_millis(1);
/// A sleep whose sleeper could not run its barrier.
pub(crate) const SHORT: Duration = Duration::from_millis(10);
/// Usual looks before an end sleeps: some microseconds.
const SPIN: u32 = 100;
/// Looks between two questions to the kernel, or to the clock, while an end spins for longer.
pub(crate) const SPIN_CHECK: u32 = 4096;

pub(crate) struct End {
    pub(crate) link: Link,
    waker: Waker,
    sleeper: Sleeper,
    /// The peer's word, or before it is met the own one, which is 0 as long as nobody is there to publish.
    asleep: NonNull<AtomicU64>,
    /// Why it can do no more, for good.
    fate: Option<Error>,
    /// The peer's process has ended, or hung up.
    is_dead: bool,
    /// Its own; the lanes of a funnel share that of the funnel.
    poller: Option<Poller>,
    lane: u64,
    checked: Option<Instant>,
    /// What the program has asked for.
    pub(crate) spin: Option<u32>,
    /// The process that made it: a forked child has its memory no more.
    process: u32,
}

// SAFETY: `asleep` is a word in a mapping that `link` owns.
unsafe impl Send for End {}

/// What a look at a channel may need besides its ring.
pub(crate) trait Half {
    fn end(&mut self) -> &mut End;
}

impl End {
    /// An end with a poller of its own.
    pub(crate) fn new(link: Link) -> Result<Self, Error> {
        let poller = Poller::new().map_err(os::refused);
        let poller = poller.and_then(|poller| link.watch(&poller, 0).map(|()| poller));
        let poller = poller.inspect_err(|error| link.refuse(*error))?;
        Ok(Self::of(link, Some(poller), 0))
    }

    /// One of many that share a poller, which watches the link already.
    pub(crate) fn lane(link: Link, lane: u64) -> Self {
        Self::of(link, None, lane)
    }

    fn of(link: Link, poller: Option<Poller>, lane: u64) -> Self {
        let asleep = NonNull::from(link.own.word(CLOSED + 64));
        Self {
            link,
            waker: Waker::new(),
            sleeper: Sleeper::new(),
            asleep,
            fate: None,
            is_dead: false,
            poller,
            lane,
            checked: None,
            spin: None,
            process: os::process(),
        }
    }

    /// How many times it looks before it sleeps.
    pub(crate) fn looks(&self) -> u32 {
        self.spin.unwrap_or(if self.link.shares_processor() { 0 } else { SPIN })
    }

    /// This process is a forked child: it has neither the memory nor the right.
    pub(crate) fn is_forked(&self) -> bool {
        self.process != os::process()
    }

    pub(crate) fn is_met(&self) -> bool {
        self.link.met.is_some()
    }

    /// Why the channel has ended, as far as is known. A receiver looks once more before it believes it.
    pub(crate) fn fate(&self) -> Option<Error> {
        self.fate.or_else(|| {
            let met = self.link.met.as_ref()?;
            // ORDERING: Relaxed, as the memory is read-only, and the fence; pairs with the Release in `drop` and `Link::refuse`.
            let closed = met.region.word(CLOSED).load(Ordering::Relaxed);
            fence(Ordering::Acquire);
            if closed == 0 { self.is_dead.then_some(Error::Died) } else { Some(closed_by(closed)) }
        })
    }

    /// Why it can do no more, if somebody was told.
    pub(crate) fn failed(&self) -> Option<Error> {
        self.fate
    }

    /// It can do no more, for this reason, unless there was one before.
    pub(crate) fn fail(&mut self, error: Error) -> Error {
        *self.fate.get_or_insert(error)
    }

    /// Before it has met its peer: says hello, and looks whether the peer has. True: it has met it, now or before.
    pub(crate) fn meet(&mut self, poller: Option<&Poller>) -> bool {
        if self.is_met() {
            return true;
        }
        if self.fate.is_some() {
            return false;
        }
        let outcome = self.link.begin().and_then(|()| self.link.try_meet());
        let outcome = outcome.and_then(|met| if met { self.met(poller).map(|()| true) } else { Ok(false) });
        outcome.unwrap_or_else(|error| {
            self.fail(error);
            false
        })
    }

    fn met(&mut self, poller: Option<&Poller>) -> Result<(), Error> {
        if let Some(poller) = poller.or(self.poller.as_ref()) {
            self.link.watch_met(poller, self.lane)?;
        }
        let Some(met) = &self.link.met else { return Ok(()) };
        self.asleep = NonNull::from(met.region.word(ASLEEP));
        if os::register() && !met.header.needs_fences {
            self.waker.may_give_up_fences();
        }
        Ok(())
    }

    /// After each publication: wakes the peer if it sleeps.
    #[inline(always)]
    pub(crate) fn published(&mut self) {
        // SAFETY: a word of a mapping that `link` owns; a relaxed load.
        if self.waker.must_attend(unsafe { self.asleep.as_ref() }) {
            self.attend();
        }
    }

    #[cold]
    #[inline(never)]
    fn attend(&mut self) {
        if !self.is_met() {
            // ORDERING: SeqCst; a peer that says hello after the look below looks at the ring after that.
            fence(Ordering::SeqCst);
            if !self.meet(None) {
                return;
            }
        }
        // SAFETY: as above.
        let asleep = unsafe { self.asleep.as_ref() };
        if self.waker.attend(self.link.own.word(FENCED), asleep) {
            self.link.ring();
        }
    }

    /// Says that it is about to sleep: it must look once more. False: the sleep must be short.
    pub(crate) fn arm(&mut self) -> bool {
        match &self.link.met {
            Some(met) => self.sleeper.arm(self.link.own.word(ASLEEP), met.region.word(FENCED)),
            // The socket wakes it.
            None => true,
        }
    }

    pub(crate) fn disarm(&self) {
        self.sleeper.disarm(self.link.own.word(ASLEEP));
    }

    /// Takes notice of what a poller has told about this end.
    pub(crate) fn notice(&mut self, news: News, poller: Option<&Poller>) {
        match news.source {
            Source::Bell | Source::Listener => {}
            Source::Process => self.is_dead = true,
            Source::Socket if self.is_met() => {
                self.link.unring();
                self.is_dead |= news.hung_up;
            }
            Source::Socket => {
                self.meet(poller);
            }
        }
    }

    /// Waits for news, for at most this long.
    fn listen(&mut self, limit: Option<Duration>) {
        let Some(poller) = self.poller.take() else { return };
        let mut found = [None; 4];
        let mut count = 0;
        poller.wait(limit, |news| {
            found[count] = Some(news);
            count += 1;
        });
        found.into_iter().flatten().for_each(|news| self.notice(news, Some(&poller)));
        self.poller = Some(poller);
    }

    /// Asks the kernel about the peer, without waiting.
    pub(crate) fn check(&mut self) {
        self.listen(Some(Duration::ZERO));
    }

    /// As [`check`](Self::check), unless it was not long ago.
    pub(crate) fn check_at_times(&mut self) {
        let now = Instant::now();
        if self.checked.is_none_or(|checked| now.duration_since(checked) >= BETWEEN_CHECKS) {
            self.checked = Some(now);
            self.check();
        }
    }

    /// The other end of this connection may be reached no more.
    pub(crate) fn is_over(&mut self) -> bool {
        self.meet(None);
        self.check();
        self.fate().is_some()
    }

    /// For an event loop: forgets what the descriptor has told, and says that this end sleeps. After it the caller looks
    /// once more; if it finds nothing, the descriptor becomes readable when there is something.
    pub(crate) fn arm_for_loop(&mut self) -> bool {
        self.meet(None);
        self.check();
        self.arm()
    }
}

impl AsFd for End {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.poller.as_ref().expect("an end of its own").as_fd()
    }
}

impl Drop for End {
    fn drop(&mut self) {
        if self.is_forked() {
            return;
        }
        let closed = self.link.own.word(CLOSED);
        // ORDERING: Relaxed; this process has written it, if it has refused its peer.
        if closed.load(Ordering::Relaxed) == 0 {
            // ORDERING: Release pairs with the fence in `fate`: what was published before is seen by who sees this.
            closed.store(1, Ordering::Release);
        }
        self.link.close();
    }
}

/// Why a wait has ended without what it was for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unfulfilled {
    Timeout,
    Ended(Error),
}

// WAITS: for what `look` finds, the channel's end, or the deadline; it looks, arms, looks again, and sleeps.
// A look must not meet the peer: see `Outlet::refresh`.
/// Blocks until `look` finds something. A look that finds the channel broken says so by [`End::fail`].
pub(crate) fn wait<H: Half, R>(
    half: &mut H,
    deadline: Option<Instant>,
    mut look: impl FnMut(&mut H) -> Option<R>,
) -> Result<R, Unfulfilled> {
    if let Some(found) = spin(half, deadline, &mut look) {
        return Ok(found);
    }
    loop {
        let end = half.end();
        end.meet(None);
        let is_armed = end.arm();
        // Before the look: what was published before the end is found by it.
        let fate = end.fate();
        if let Some(found) = look(half) {
            half.end().disarm();
            return Ok(found);
        }
        let end = half.end();
        if let Some(error) = fate.or(end.fate) {
            end.disarm();
            return Err(Unfulfilled::Ended(end.fail(error)));
        }
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if left == Some(Duration::ZERO) {
            end.disarm();
            return Err(Unfulfilled::Timeout);
        }
        end.listen(if is_armed { left } else { Some(left.map_or(SHORT, |left| left.min(SHORT))) });
        end.disarm();
    }
}

/// Looks for a while. A wait without time left looks once.
fn spin<H: Half, R>(half: &mut H, deadline: Option<Instant>, look: &mut impl FnMut(&mut H) -> Option<R>) -> Option<R> {
    let mut looks = 0_u32;
    half.end().meet(None);
    let most = half.end().looks();
    loop {
        if let Some(found) = look(half) {
            return Some(found);
        }
        let end = half.end();
        if looks >= most || end.fate.is_some() {
            return None;
        }
        looks += 1;
        if looks % SPIN_CHECK == 0 {
            end.check();
            if end.fate().is_some() || deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                return None;
            }
            // For ever is as long as it takes.
            looks = if most == u32::MAX { 0 } else { looks };
        }
        core::hint::spin_loop();
    }
}

/// Keeps an end that has caught up with a stream away from the lines that its peer is about to write. If it looked at
/// once, each message would move a line there and back.
pub(crate) struct StandOff {
    /// Where it had caught up before.
    last: u64,
    pauses: u32,
}

impl StandOff {
    /// This number of messages since then is a stream; or of bytes, for a sender that has found no room for more.
    const STREAM: u64 = 16;
    /// The time of some hundred messages, measured: 48 pauses make a stream of 8 bytes 1.7 times slower, 300 1.15 times.
    const MOST: u64 = 120;

    /// In a ring of this capacity: no longer than a peer takes for a part of it.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { last: 0, pauses: (capacity as u64 / 8).min(Self::MOST) as u32 }
    }

    /// The end has caught up, here. Whether it has paused.
    pub(crate) fn caught_up(&mut self, position: u64) -> bool {
        let is_stream = position - self.last >= Self::STREAM;
        if is_stream {
            (0..self.pauses).for_each(|_| core::hint::spin_loop());
        }
        self.last = position;
        is_stream
    }
}

/// A time limit as a deadline; `None` for one that never comes.
pub(crate) fn deadline(limit: Duration) -> Option<Instant> {
    Instant::now().checked_add(limit)
}

/// What a send that had a deadline answers, with the message that was not sent.
pub(crate) fn unsent<T>(message: T, unfulfilled: Unfulfilled) -> SendTimeoutError<T> {
    match unfulfilled {
        Unfulfilled::Timeout => SendTimeoutError::Timeout(message),
        Unfulfilled::Ended(error) => SendTimeoutError::Ended(message, error),
    }
}

/// The reason of a wait that had no deadline.
pub(crate) fn ended(unfulfilled: Unfulfilled) -> Error {
    match unfulfilled {
        Unfulfilled::Ended(error) => error,
        Unfulfilled::Timeout => Error::Refused(Why::Time),
    }
}
