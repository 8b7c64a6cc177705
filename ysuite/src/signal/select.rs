//! [`Select`]: which of many receivers may have a message, which of many senders room, which of many timers a tick, or that
//! the time is up. One thread; any thread may send and receive.
//!
//! A [`YPollset`] that hands out its ids itself and answers with one at a time, each in its turn. Never blocks but in its
//! waits; allocates when it is made, and for each end that is added by shared reference.
//!
//! Cannot: receive or send. It says where to look; the ends stay with their owners.

mod chance;
mod shared;

use core::time::Duration;
use std::time::Instant;

use self::shared::SharedWatchers;
use super::alarms::{Alarm, Alarms};
use super::{Attach, AttachError, Timer, Wait, YPollset};
use crate::os::Deadline;

pub(crate) use self::chance::chance;
pub use self::shared::{AttachShared, SharedWatcher};

/// Waits for one of several ends, of any channels and any message types: receivers that may have a message, and senders
/// that may have room.
///
/// ```
/// use std::time::Duration;
/// use ysuite::{mpsc, signal::Select, spsc};
///
/// let (mut numbers, mut numbers_in) = spsc::unbounded();
/// let (_words, mut words_in) = mpsc::unbounded::<String>();
/// numbers.send(7)?;
///
/// let mut select = Select::new();
/// let (a, b) = (select.add(&mut numbers_in)?, select.add(&mut words_in)?);
/// loop {
///     match select.wait_timeout(Duration::from_millis(1)) {
///         Some(id) if id == a => numbers_in.try_iter().for_each(|number| assert_eq!(number, 7)),
///         Some(id) if id == b => words_in.try_iter().for_each(|word| panic!("nobody has sent {word}")),
///         _ => break,
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// An answer says that a receiver *may* have a message, or that its senders are gone: receive with `try_recv` or
/// `try_iter`, and wait again. Likewise a sender may have room, or its receiver is gone: `try_send`. Level-triggered: an end
/// is named again, in its turn, until such a call has found nothing, or no room; one whose other side is gone is named until
/// it is [removed](Self::remove). Every end is named at first.
///
/// The first answer names any of the ends that may have something, all as likely: a `Select` that is made anew for each wait
/// starves none of them.
///
/// [Timers](crate::timer) are added [likewise](Self::add_timer), and named while a tick is due.
///
/// Ends may come and go at any time. Dropping one is as good as removing it. Dropping the `Select` leaves its ends attached
/// to a set that is gone: to attach them elsewhere, [`remove`](Self::remove) them before, or call their `detach`. A `Select`
/// without any end or timer never names one: its waits end when their time is up, and [`wait`](Self::wait) never does.
///
/// The lifetime is that of the messages of ends that are [added by shared reference](Self::add_shared), whose channels the select
/// keeps: `Select<'static>`, where it is named, for messages that borrow nothing. Ends that are added mutably stay with their
/// owners, and set no bound.
///
/// The two ends of a rendezvous (`bounded(0)`) that are both in a `Select` never meet: each is named while the *other waits*,
/// and neither does. One of them has to wait by itself, or in a [`select`](crate::select()) that sends or receives.
#[derive(Debug, Default)]
pub struct Select<'a> {
    set: YPollset,
    alarms: Alarms,
    /// The id of the last answer: the search for the next begins behind it. None before the first.
    last: Option<usize>,
    /// Where the search for a free id begins.
    next: usize,
    /// For the ends that were added by shared reference.
    watchers: SharedWatchers<'a>,
}

impl<'a> Select<'a> {
    /// For up to 31 ends at a time.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// For up to `capacity` ends at a time.
    ///
    /// # Panics
    /// If `capacity` is 0 or larger than [`MAX_CAPACITY`](super::MAX_CAPACITY).
    #[must_use]
    #[track_caller]
    pub fn with_capacity(capacity: usize) -> Self {
        Self { set: YPollset::with_capacity(capacity), ..Self::default() }
    }

    /// Waits for this end as well, and returns the id by which it will be named.
    ///
    /// # Errors
    /// If it is attached already, here or to another set ([`AttachError::AlreadyAttached`]), or there are as many as there
    /// may be ([`AttachError::IdTaken`]). Nothing has changed.
    pub fn add(&mut self, end: &mut impl Attach) -> Result<usize, AttachError> {
        self.add_by(|set, id| set.attach(end, id))
    }

    /// Waits for a side of an [`mpmc`](crate::mpmc) as well, by shared reference: for messages, given a receiver, or for
    /// room, given a sender. Returns the id by which it will be named.
    ///
    /// The select keeps a *watcher*, which is no end: the channel ends as if it were not there. Any end of that side may
    /// answer what the id says, by `try_recv` or `try_send`, and none need do so: the select itself finds out, when it next
    /// waits, whether there is still something. So the id is named only while there is. It is named as well once the other
    /// side is gone, or this one, until it is [removed](Self::remove_shared). Allocates.
    ///
    /// A wait that this end has begun by then and not ended, such as a `poll_recv` that found nothing, is told no more, and the id
    /// of its set, if it is in one, goes up. One that begins later is a wait of its own: what comes is told to it or to the
    /// select, each in its turn. So an end that is polled again is to be polled until it is ready, or dropped.
    ///
    /// # Errors
    /// If this side of the channel has been added so before, by this end or a clone ([`AttachError::AlreadyAttached`]), or
    /// there are as many as there may be ([`AttachError::IdTaken`]). Nothing has changed.
    pub fn add_shared(&mut self, end: &(impl AttachShared + 'a)) -> Result<usize, AttachError> {
        if self.watchers.id_of(end.side()).is_some() {
            return Err(AttachError::AlreadyAttached);
        }
        let mut watcher = Joining(Some(end.watcher()));
        let id = self.add_by(|set, id| set.attach(&mut watcher, id))?;
        if let Some(watcher) = watcher.0 {
            self.watchers.add(id, watcher);
        }
        // Last: it may wake another end, which is foreign code.
        end.give_way();
        Ok(id)
    }

    // MUTANT: Only which of the free ids is handed out: the search visits all of them.
    /// Attaches an end to the next free id.
    fn add_by(
        &mut self,
        mut attach: impl FnMut(&mut YPollset, usize) -> Result<(), AttachError>,
    ) -> Result<usize, AttachError> {
        let capacity = self.set.capacity();
        let mut error = AttachError::IdTaken { id: self.next };
        // An end that was dropped frees its id without a word to this: an id is free if it can be claimed.
        for id in (self.next..capacity).chain(0..self.next) {
            match attach(&mut self.set, id) {
                Ok(()) => {
                    self.next = (id + 1) % capacity;
                    return Ok(id);
                }
                Err(taken @ AttachError::IdTaken { .. }) => error = taken,
                Err(other) => return Err(other),
            }
        }
        Err(error)
    }

    /// Waits for this end no longer; it can be attached elsewhere. Returns its id, which is free now; `None` if it was not
    /// here.
    ///
    /// The id may be named once more, for nothing: by a thread of the other side that was about to raise it.
    pub fn remove(&mut self, end: &mut impl Attach) -> Option<usize> {
        self.set.detach(end)
    }

    /// Waits no longer for a side that was [added by shared reference](Self::add_shared), by this end or a clone. Returns
    /// its id, which is free now; `None` if it was not here. If another end waits for what the select had been told of, it
    /// is woken.
    ///
    /// The id may be named once more, as with [`remove`](Self::remove).
    pub fn remove_shared(&mut self, end: &impl AttachShared) -> Option<usize> {
        self.watchers.remove(end.side())
    }

    /// Waits for this timer as well, and returns the id by which it will be named: from when a tick is due until that has been
    /// received, by whoever it is. A timer is one of as many ends as there may be, and has its turn as they do.
    ///
    /// The timer stays with its owner, and may be here several times. Its `Drop` takes nothing out: call
    /// [`remove_timer`](Self::remove_timer).
    ///
    /// # Errors
    /// If there are as many ends and timers as there may be ([`AttachError::IdTaken`]).
    pub fn add_timer(&mut self, timer: &Timer) -> Result<usize, AttachError> {
        let mut alarm = Alarm::new(timer.clone());
        let id = self.add(&mut alarm)?;
        self.alarms.0.push(alarm);
        Ok(id)
    }

    /// Waits for this timer, or a clone of it, no longer. Returns its id, which is free now; `None` if it was not here.
    pub fn remove_timer(&mut self, timer: &Timer) -> Option<usize> {
        let at = self.alarms.0.iter().position(|alarm| alarm.timer.same_channel(timer))?;
        self.set.detach(&mut self.alarms.0.swap_remove(at))
    }

    /// The id of an end that may have something; blocks until there is one. Without any ends or timers it never returns.
    pub fn wait(&mut self) -> usize {
        loop {
            if let Some(id) = self.wait_until(Deadline::Never) {
                return id;
            }
        }
    }

    /// Waits as [`wait`](Self::wait) does, but no longer than `timeout`; `None` when the time is up. `Duration::MAX` is no limit.
    pub fn wait_timeout(&mut self, timeout: Duration) -> Option<usize> {
        self.try_wait().or_else(|| self.wait_until(Deadline::after(timeout)))
    }

    /// Waits as [`wait`](Self::wait) does, but no longer than until `deadline`; `None` when the time is up.
    pub fn wait_deadline(&mut self, deadline: Instant) -> Option<usize> {
        self.wait_until(Deadline::At(deadline))
    }

    /// The id of an end that may have something, if there is one. Never blocks.
    #[inline]
    pub fn try_wait(&mut self) -> Option<usize> {
        self.alarms.ring();
        loop {
            let id = match self.last {
                Some(last) => self.set.next_up(last)?,
                None => self.any()?,
            };
            if self.watchers.confirm(id) {
                self.last = Some(id);
                return Some(id);
            }
        }
    }

    fn wait_until(&mut self, deadline: Deadline) -> Option<usize> {
        loop {
            let found = self.try_wait();
            if found.is_some() {
                return found;
            }
            // Ids that nobody holds, raised too late, are taken down by this; so it finds nothing else to do in the end.
            if self.alarms.poll_until(&mut self.set, deadline).is_empty() {
                return self.try_wait();
            }
        }
    }

    /// The first time: any of those that are up, all as likely.
    #[cold]
    fn any(&mut self) -> Option<usize> {
        let mut signals = self.set.check();
        // MUTANT: Without signals the random number is 0.
        if signals.is_empty() { None } else { signals.nth(chance::chance_below(signals.len())) }
    }
}

/// A watcher on its way into a set.
struct Joining<'a>(Option<Box<dyn SharedWatcher + 'a>>);

impl Attach for Joining<'_> {
    fn attach_registration(&mut self, registration: super::Registration) -> Result<(), AttachError> {
        self.0.as_mut().map_or(Err(AttachError::AlreadyAttached), |watcher| watcher.attach(registration))
    }

    fn with_registration(&self, _: &mut dyn FnMut(&super::Registration)) {}

    // MUTANT: Never called: a watcher is dropped and never detached.
    fn detach(&mut self) -> bool {
        false
    }
}
