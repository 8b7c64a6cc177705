//! [`ReadySet`]: reports which of many receivers may have a message, which of many senders room, which of many timers a
//! tick, or that the time is up. One thread waits; any thread may send and receive.
//!
//! A `ReadySet` is a [`YPollset`] that chooses its ids itself and returns one at a time, in turn. Only its waits block.
//! It allocates when it is made, and for each handle that is added by shared reference.
//!
//! Cannot: receive or send. It names the ready handle; the handles stay with their owners.

use core::time::Duration;
use std::time::Instant;

use super::alarms::{Alarm, Alarms};
use super::shared::{AttachShared, SharedWatcher, SharedWatchers};
use super::{Attach, AttachError, Timer, Wait, YPollset, chance};
use crate::os::Deadline;

/// Waits for one of several handles, of any channels and any message types: receivers that may have a message, and
/// senders that may have room.
///
/// ```
/// use std::time::Duration;
/// use ysuite::{mpsc, signal::ReadySet, spsc};
///
/// let (mut numbers, mut numbers_in) = spsc::unbounded();
/// let (_words, mut words_in) = mpsc::unbounded::<String>();
/// numbers.send(7)?;
///
/// let mut select = ReadySet::new();
/// let (a, b) = (select.add(&mut numbers_in)?, select.add(&mut words_in)?);
/// loop {
///     match select.wait_timeout(Duration::from_millis(1)) {
///         Some(id) if id == a => numbers_in.try_iter().for_each(|number| assert_eq!(number, 7)),
///         Some(id) if id == b => words_in.try_iter().for_each(|word| panic!("no sender has sent {word}")),
///         _ => break,
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// An id that a wait returns says that a receiver *may* have a message, or that its senders are gone: receive with
/// `try_recv` or `try_iter`, and wait again. Likewise a sender may have room, or its receiver is gone: use `try_send`.
///
/// Level-triggered: a handle is named again, in its turn, until such a call has found no message, or no room. Every
/// handle is named at first.
///
/// A handle whose other side is gone is named until such a call has told so (`Disconnected`; at a `watch`,
/// [`has_changed`](crate::watch::Receiver::has_changed)), and then no more, or once more by a thread of the other side
/// that was about to. So a loop that has no arm for the end does not spin; where no other handle is left, it waits for
/// ever. A [mailbox](crate::mailbox) is named on: its next address makes it receive again.
///
/// The first wait names any of the handles that may be ready, each with the same probability. So a `ReadySet` that is
/// made anew for each wait starves none of them.
///
/// [Timers](crate::timer) are added [likewise](Self::add_timer), and named while a tick is due.
///
/// Handles may be added and dropped at any time. Dropping a handle is as good as removing it. Dropping the `ReadySet`
/// leaves its handles attached to a set that is gone. To attach them elsewhere, [`remove`](Self::remove) them before,
/// or call their `detach`. A `ReadySet` without any handle or timer never names one: its waits end when their time is up,
/// and [`wait`](Self::wait) never returns.
///
/// The lifetime is that of the messages of handles that are [added by shared reference](Self::add_shared), whose
/// channels the select keeps. Where the type is named, use `ReadySet<'static>` for messages that borrow nothing. Handles
/// that are added mutably stay with their owners, and set no bound.
///
/// The two handles of a rendezvous (`bounded(0)`) that are both in a `ReadySet` never complete an operation: each is
/// named only while the *other waits*, and neither does. One of them has to wait by itself, or in a
/// [`select`](crate::select()) that sends or receives.
#[derive(Debug)]
pub struct ReadySet<'a> {
    set: YPollset,
    alarms: Alarms,
    /// The id returned last: the search for the next begins after it. None before the first.
    last: Option<usize>,
    /// Where the search for a free id begins.
    next: usize,
    /// For the handles that were added by shared reference.
    watchers: SharedWatchers<'a>,
}

impl<'a> ReadySet<'a> {
    /// A select for up to 31 handles at a time.
    #[must_use]
    pub fn new() -> Self {
        // All in one word.
        Self::with_capacity(31)
    }

    /// A select for up to `capacity` handles at a time.
    ///
    /// # Panics
    /// If `capacity` is 0 or larger than [`MAX_CAPACITY`](super::MAX_CAPACITY).
    #[must_use]
    #[track_caller]
    pub fn with_capacity(capacity: usize) -> Self {
        let (alarms, watchers) = (Alarms::default(), SharedWatchers::default());
        Self { set: YPollset::naming_ends_once(capacity), alarms, last: None, next: 0, watchers }
    }

    /// Adds this handle to the wait, and returns the id by which it will be named.
    #[doc = cost!(signal ATTACH)]
    ///
    /// # Errors
    /// If it is attached already, here or to another set ([`AttachError::AlreadyAttached`]), or the select is full
    /// ([`AttachError::IdTaken`]). Nothing has changed.
    pub fn add(&mut self, end: &mut impl Attach) -> Result<usize, AttachError> {
        self.add_by(|set, id| set.attach(end, id))
    }

    /// Adds a side of an [`mpmc`](crate::mpmc) to the wait, by shared reference: a receiver waits for messages, and a
    /// sender for room. Returns the id by which it will be named.
    ///
    /// The select keeps a *watcher*, which is no handle: the channel disconnects as if the watcher were not there.
    /// After the id is named, any handle of that side may call `try_recv` or `try_send`, and none has to. When the
    /// select waits next, it checks whether that side is still ready. So the id is named only while it is. Once the
    /// other side is gone, or this one, and no message is left, the id is named one time.
    ///
    /// If this handle has begun a wait before and not completed it, such as a `poll_recv` that found nothing, that wait
    /// is no longer notified. If the handle is in a set, its id goes up. A wait that begins later is separate:
    /// notifications go to it or to the select, in turn. So if a handle is polled again, continue to poll it until it
    /// is ready, or drop it.
    #[doc = cost!(signal ADD_SHARED)]
    ///
    /// # Errors
    /// If this side of the channel has been added so before, by this handle or a clone
    /// ([`AttachError::AlreadyAttached`]), or the select is full ([`AttachError::IdTaken`]). Nothing has changed.
    pub fn add_shared(&mut self, end: &(impl AttachShared + 'a)) -> Result<usize, AttachError> {
        if self.watchers.id_of(end.side()).is_some() {
            return Err(AttachError::AlreadyAttached);
        }
        let mut watcher = Joining(Some(end.watcher()));
        let id = self.add_by(|set, id| set.attach(&mut watcher, id))?;
        if let Some(watcher) = watcher.0 {
            self.watchers.add(id, watcher);
        }
        // Last: it may wake another handle, which runs user code.
        end.give_way();
        Ok(id)
    }

    // MUTANT: Only which of the free ids is handed out: the search visits all of them.
    /// Attaches a handle to the next free id.
    fn add_by(
        &mut self,
        mut attach: impl FnMut(&mut YPollset, usize) -> Result<(), AttachError>,
    ) -> Result<usize, AttachError> {
        let capacity = self.set.capacity();
        let mut error = AttachError::IdTaken { id: self.next };
        // A handle that was dropped frees its id without a notice to this select: an id is free if it can be claimed.
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

    /// Removes this handle from the wait; it can be attached elsewhere. Returns its id, which is free now; `None` if it
    /// was not here.
    ///
    /// The id may be named once more without reason: by a thread of the other side that was about to raise it.
    #[doc = cost!(signal DETACH)]
    pub fn remove(&mut self, end: &mut impl Attach) -> Option<usize> {
        self.set.detach(end)
    }

    /// Removes a side that was [added by shared reference](Self::add_shared), by this handle or a clone. Returns its
    /// id, which is free now; `None` if it was not here. If the select had been notified and another handle waits, that
    /// handle is woken.
    ///
    /// The id may be named once more, as with [`remove`](Self::remove).
    #[doc = cost!(signal ADD_SHARED)]
    pub fn remove_shared(&mut self, end: &impl AttachShared) -> Option<usize> {
        self.watchers.remove(end.side())
    }

    /// Adds this timer to the wait, and returns the id by which it will be named. It is named from when a tick is due
    /// until that tick has been received, on any thread. A timer counts as one of the handles, and has its turn as they
    /// do.
    ///
    /// The timer stays with its owner, and may be added several times. Its `Drop` removes nothing: call
    /// [`remove_timer`](Self::remove_timer).
    ///
    /// # Errors
    /// If the select is full of handles and timers ([`AttachError::IdTaken`]).
    pub fn add_timer(&mut self, timer: &Timer) -> Result<usize, AttachError> {
        let mut alarm = Alarm::new(timer.clone());
        let id = self.add(&mut alarm)?;
        self.alarms.0.push(alarm);
        Ok(id)
    }

    /// Removes this timer, or a clone of it. Returns its id, which is free now; `None` if it was not here.
    pub fn remove_timer(&mut self, timer: &Timer) -> Option<usize> {
        let at = self.alarms.0.iter().position(|alarm| alarm.timer.same_channel(timer))?;
        self.set.detach(&mut self.alarms.0.swap_remove(at))
    }

    /// Returns the id of a handle that may be ready; blocks until there is one. Without any handles or timers it never
    /// returns.
    #[doc = cost!(signal WAIT)]
    pub fn wait(&mut self) -> usize {
        loop {
            if let Some(id) = self.try_wait().or_else(|| self.wait_until(Deadline::Never)) {
                return id;
            }
        }
    }

    /// Waits as [`wait`](Self::wait) does, but no longer than `timeout`; `None` when the time is up. `Duration::MAX`
    /// sets no time limit.
    #[doc = cost!(signal WAIT)]
    pub fn wait_timeout(&mut self, timeout: Duration) -> Option<usize> {
        self.try_wait().or_else(|| self.wait_until(Deadline::after(timeout)))
    }

    /// Waits as [`wait`](Self::wait) does, but no longer than until `deadline`; `None` when the time is up.
    #[doc = cost!(signal WAIT)]
    pub fn wait_deadline(&mut self, deadline: Instant) -> Option<usize> {
        self.wait_until(Deadline::At(deadline))
    }

    /// Returns the id of a handle that may be ready, if there is one. Never blocks.
    #[doc = cost!(signal CHECK)]
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
            // This takes down ids without a holder that were raised too late; so the loop comes to an end.
            if self.alarms.poll_until(&mut self.set, deadline).is_empty() {
                return self.try_wait();
            }
        }
    }

    /// The first time: any of the ids that are up, each with the same probability.
    #[cold]
    fn any(&mut self) -> Option<usize> {
        let mut signals = self.set.check();
        // MUTANT: Without signals the random number is 0.
        if signals.is_empty() { None } else { signals.nth(chance::chance_below(signals.len())) }
    }
}

impl Default for ReadySet<'_> {
    fn default() -> Self {
        Self::new()
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
