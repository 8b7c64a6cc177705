//! [`Select`]: which of many receivers may have a message, or timers a tick, or that the time is up. One thread; any thread
//! may send.
//!
//! A [`YPollset`] that hands out its ids itself and answers with one at a time, each in its turn. Never blocks but in its
//! waits; allocates when it is made.
//!
//! Cannot: receive. It says where to look; the receivers stay with their owners.

// Not `crate::sync`'s: it is in a static, and no part of any handshake that a model would explore.
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::time::Instant;

use super::alarms::{Alarm, Alarms};
use super::{Attach, AttachError, Signals, Timer, YPollset};

/// Waits for one of several receivers, of any channels and any message types, that may have a message.
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
/// `try_iter`, and wait again. Level-triggered: a receiver is named again, in its turn, until it has found itself empty; a
/// receiver whose senders are gone is named until it is [removed](Self::remove). Every receiver is named at first.
///
/// The first answer names any of the receivers that may have a message, at random: a `Select` that is made anew for each
/// wait starves none of them.
///
/// [Timers](crate::timer) are added [likewise](Self::add_timer), and named while a tick is due.
///
/// Receivers may come and go at any time. Dropping one is as good as removing it. Dropping the `Select` leaves its receivers
/// attached to a set that is gone: to attach them elsewhere, [`remove`](Self::remove) them before, or call their `detach`.
#[derive(Debug, Default)]
pub struct Select {
    set: YPollset,
    alarms: Alarms,
    /// The id of the last answer: the search for the next begins behind it. None before the first.
    last: Option<usize>,
    /// Where the search for a free id begins.
    next: usize,
}

impl Select {
    /// For up to 31 receivers at a time.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// For up to `capacity` receivers at a time.
    ///
    /// # Panics
    /// If `capacity` is 0 or larger than [`MAX_CAPACITY`](super::MAX_CAPACITY).
    #[must_use]
    #[track_caller]
    pub fn with_capacity(capacity: usize) -> Self {
        Self { set: YPollset::with_capacity(capacity), alarms: Alarms::default(), last: None, next: 0 }
    }

    /// Waits for this receiver as well, and returns the id by which it will be named.
    ///
    /// # Errors
    /// If it is attached already, here or to another set ([`AttachError::AlreadyAttached`]), or there are as many as there
    /// may be ([`AttachError::IdTaken`]). Nothing has changed.
    pub fn add(&mut self, receiver: &mut impl Attach) -> Result<usize, AttachError> {
        let capacity = self.set.capacity();
        let mut error = AttachError::IdTaken { id: self.next };
        // A receiver that was dropped frees its id without a word to this: an id is free if it can be claimed.
        for id in (self.next..capacity).chain(0..self.next) {
            match self.set.attach(receiver, id) {
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

    /// Waits for this receiver no longer; it can be attached elsewhere. Returns its id, which is free now; `None` if it was
    /// not here.
    ///
    /// The id may be named once more, for nothing: by a sender that was about to raise it.
    pub fn remove(&mut self, receiver: &mut impl Attach) -> Option<usize> {
        self.set.detach(receiver)
    }

    /// Waits for this timer as well, and returns the id by which it will be named: from when a tick is due until that has been
    /// received, by whoever it is. A timer is one of as many receivers as there may be, and has its turn as they do.
    ///
    /// The timer stays with its owner, and may be here several times. Its `Drop` takes nothing out: call
    /// [`remove_timer`](Self::remove_timer).
    ///
    /// # Errors
    /// If there are as many receivers and timers as there may be ([`AttachError::IdTaken`]).
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

    /// The id of a receiver that may have a message; blocks until there is one. Without any receivers or timers it
    /// never returns.
    pub fn wait(&mut self) -> usize {
        loop {
            let signals = self.poll(None);
            if let Some(id) = self.choose(signals) {
                return id;
            }
        }
    }

    /// Waits as [`wait`](Self::wait) does, but no longer than `timeout`; `None` when the time is up. `Duration::MAX` is no limit.
    pub fn wait_timeout(&mut self, timeout: Duration) -> Option<usize> {
        let signals = self.poll(Some(timeout));
        self.choose(signals)
    }

    /// Waits as [`wait`](Self::wait) does, but no longer than until `deadline`; `None` when the time is up.
    pub fn wait_deadline(&mut self, deadline: Instant) -> Option<usize> {
        self.wait_timeout(deadline.saturating_duration_since(Instant::now()))
    }

    /// The id of a receiver that may have a message, if there is one. Never blocks.
    pub fn try_wait(&mut self) -> Option<usize> {
        let signals = self.poll(Some(Duration::ZERO));
        self.choose(signals)
    }

    /// What is up, or becomes so in time.
    fn poll(&mut self, timeout: Option<Duration>) -> Signals {
        self.alarms.poll(&mut self.set, timeout)
    }

    /// The receiver whose turn it is: the first behind the last answer; the very first time, any at random.
    fn choose(&mut self, mut signals: Signals) -> Option<usize> {
        let chosen = match self.last {
            None if signals.is_empty() => None,
            None => {
                let any = scattered() % signals.len() as u64;
                signals.nth(any as usize)
            }
            Some(last) => {
                let lowest = signals.clone().next();
                signals.find(|&id| id > last).or(lowest)
            }
        };
        self.last = chosen.or(self.last);
        chosen
    }
}

/// Another number each time, without a pattern that a loop could fall in step with. Any thread; wait-free. Each number is a
/// mixed count (the steps and shifts of SplitMix64).
fn scattered() -> u64 {
    /// The golden ratio's fraction: multiples of it are spread evenly.
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    // ORDERING: Relaxed; the count guards nothing but itself.
    let mut mixed = (COUNT.fetch_add(1, Ordering::Relaxed) as u64).wrapping_mul(STEP);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}
