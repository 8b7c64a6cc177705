//! A turn of the hub, and its steps before it sleeps. The hub's thread.
//!
//! Before it sleeps the hub *rests*: each channel with nothing left takes its signal down, arms, and is checked once
//! more. Then the hub checks the set of signals for the last time. An empty result promises that the next signal makes
//! the descriptor readable anew, which an edge-triggered poller needs. A channel whose signal is found there is not
//! armed: the hub serves it and rests again before it sleeps.
//!
//! Sources that the hub can check without a system call are *near*. The poller is not. The hub calls it once in a turn
//! that has served anything. In [`Hub::run`], whose turns are not counted, it calls it once for about [`TURN`] calls of
//! functions and handlers, or for a number of spins that takes about as long.

use core::time::Duration;
use std::io;
use std::time::Instant;

use super::posted::Posted;
use super::running::Turn;
use super::{Hub, POSTS, TURN};
use crate::block::{Waiting, block};
use crate::channel::{Receive, Spin};
use crate::os::Deadline;
use crate::sync::spin_loop;

/// The number of fruitless spins that count as one call. 128 such calls take some tens of microseconds, fifty times as
/// long as the poller.
const SPINS_PER_CALL: usize = 8;
/// After this number of spins over the active sources, a hub that never sleeps checks all others.
const ROUND: usize = 64;

/// The number of near kinds: functions, messages, timers.
const NEAR: u8 = 3;

/// When a turn that has served something calls the poller.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ask {
    Always,
    /// Once a turn's worth has been served since the last time.
    WhenDue,
}

impl Hub {
    /// Serves the ready sources. If none is ready, waits for one until `deadline`, and serves it. Zero: the time is up,
    /// or nothing can ever come.
    pub(super) fn turn(&mut self, deadline: Deadline, ask: Ask) -> io::Result<usize> {
        Turn::new(self).hub.serve(deadline, ask)
    }

    // WAITS: never in a source's handler: descriptors are served, though the source's own signal is up; test:
    //     tests/suite/hub/nested.rs: a_turn_within_a_handler_serves_descriptors
    // MUTANT: Speed only: everything is checked again after each round, before the hub parks.
    fn serve(&mut self, deadline: Deadline, ask: Ask) -> io::Result<usize> {
        let mut done = match core::mem::take(&mut self.first) {
            0 => {
                let done = self.serve_what_is_near();
                self.serve_descriptors_too(done, ask)?
            }
            first => self.serve_all_from(first, ask)?,
        };
        if self.is_done(done, deadline) {
            return Ok(done);
        }
        while !deadline.is_over() {
            done = self.spin_a_while(deadline)?;
            let is_told = done == 0 && self.descriptors.is_any_told();
            done = if is_told { self.serve_descriptors() } else { self.serve_descriptors_too(done, ask)? };
            if self.is_done(done, deadline) {
                return Ok(done);
            }
            if !is_told {
                break;
            }
        }
        let mut resting = RestingHub { hub: self, deadline, ask, outcome: Ok(0), is_asked: false };
        block(&mut resting, RestingHub::sleep).unwrap_or(Ok(0))
    }

    // MUTANT: A stop comes from a call that is counted, which ends the turn anyway.
    /// Whether the turn ends here: something has been served, a handler has stopped it, or nothing can ever come. A
    /// source can only be added by a function, or by a receiver's disconnect.
    fn is_done(&mut self, done: usize, deadline: Deadline) -> bool {
        done != 0 || self.halted || matches!(deadline, Deadline::Never) && self.is_deserted()
    }

    /// Calls the poller if that is due, and serves the descriptors it has reported. `done` calls have been made before.
    fn serve_descriptors_too(&mut self, done: usize, ask: Ask) -> io::Result<usize> {
        // A descriptor may wait after a stream, or after those that an earlier turn has learnt of and left.
        let is_busy = done != 0 || self.descriptors.is_any_told();
        // Counted in a turn that is stopped too.
        let owes = is_busy && self.owes_a_look(done, ask);
        if owes && !self.halted {
            self.look_at_descriptors(Some(Duration::ZERO))?;
        }
        Ok(done + self.serve_descriptors())
    }

    // MUTANT: Speed only: how often the poller is called. Killed only by
    // `a_run_asks_the_poller_once_for_a_turn_of_calls`.
    /// `done` calls have been made, or an equivalent number of spins: whether the poller must be called now.
    fn owes_a_look(&mut self, done: usize, ask: Ask) -> bool {
        self.unasked = self.unasked.saturating_add(done);
        self.descriptors.table.len() != 0 && (ask == Ask::Always || self.unasked >= TURN)
    }

    // USER CODE: a posted function, and `Drop` of its captures, in `rest` too; the function is out of its lane, nothing
    //     of the hub is borrowed; re-entrance: may do anything with the hub, also run it; panic: the function is used
    //     up; the turn ends, and the next one serves the others; test: tests/suite/hub/posting.rs:
    //     a_function_that_panics_takes_only_itself_down, tests/suite/hub/posting.rs:
    //     a_function_stays_whole_while_what_is_posted_behind_it_runs_within
    // MUTANT: Speed only: a signal after the last check makes the descriptor readable again, which ends the sleep.
    /// Sources that need no system call to be checked: functions, messages, timers. The clock is read first, so that a
    /// timer set by a function or a handler is for the next turn.
    fn serve_what_is_near(&mut self) -> usize {
        let now = self.timers.now();
        self.activate();
        self.serve_kinds_before(NEAR, now)
    }

    /// Serves the first near kinds.
    fn serve_kinds_before(&mut self, end: u8, now: Option<Instant>) -> usize {
        self.behind = 1;
        let mut done = self.serve_up_to_a_turn(|hub| {
            let place = hub.posts.take_in_place();
            // SAFETY: the function has been taken, and nothing has been done to the receiver since.
            place.map(|place| unsafe { Posted::run_at(place, hub) }).is_some()
        });
        if !self.is_stopped_here() && end > 1 {
            done += self.serve_receivers(false);
            if !self.is_stopped_here() && end > 2 {
                done += self.serve_timers(now);
            }
        }
        done
    }

    #[inline]
    fn serve_timers(&mut self, now: Option<Instant>) -> usize {
        now.map_or(0, |now| self.ring_all(now))
    }

    fn ring_all(&mut self, now: Instant) -> usize {
        self.behind = 3;
        let done = self.serve_up_to_a_turn(|hub| hub.ring(now));
        self.is_stopped_here();
        done
    }

    // MUTANT: A stop comes from a call that is counted, which ends the turn anyway.
    /// Whether a handler of the kind that is served has stopped the hub, which is noted.
    #[inline(always)]
    fn is_stopped_here(&mut self) -> bool {
        if self.halted {
            self.first = self.behind;
        }
        self.halted
    }

    // MUTANT: A stop comes from a call that is counted. A signal after the last check ends the sleep.
    /// The turn after one that was stopped begins after the kind whose handler has stopped it, and serves that kind
    /// last. So a handler that stops the hub in every call does not keep the others from their turn.
    #[cold]
    fn serve_all_from(&mut self, first: u8, ask: Ask) -> io::Result<usize> {
        let now = self.timers.now();
        self.activate();
        let mut done = 0;
        if first == 1 {
            done += self.serve_receivers(false);
        }
        if !(first == 1 && self.is_stopped_here()) && first != NEAR {
            done += self.serve_timers(now);
        }
        let owes = self.owes_a_look(done, ask);
        if owes && !self.halted {
            self.look_at_descriptors(Some(Duration::ZERO))?;
        }
        done += self.serve_descriptors();
        if !self.halted {
            let behind = self.serve_kinds_before(first, now);
            self.unasked = self.unasked.saturating_add(behind);
            done += behind;
        }
        Ok(done)
    }

    /// Activates the receivers that are ready. Returns whether there are any.
    fn activate(&mut self) -> bool {
        let mut news = false;
        for signal in self.watch.check() {
            // MUTANT: Speed only: a signal after the last check makes the descriptor readable again, which ends the
            // sleep.
            news = true;
            if let Some(place) = signal.checked_sub(POSTS + 1) {
                self.receivers.wake(place);
            }
        }
        news
    }

    // MUTANT: Speed only: how soon the poller is called.
    /// Calls functions by `next`, at most as many as a turn calls of one source, until it has none. Returns their
    /// number.
    fn serve_up_to_a_turn(&mut self, next: impl Fn(&mut Self) -> bool) -> usize {
        let mut done = 0;
        while done < TURN && !self.halted && next(self) {
            done += 1;
        }
        done
    }

    // WAITS: for a function or a message; spin: `None` not at all, `Adaptive` up to 100 us; its polls count towards the
    //     poller's next call, for descriptors; test: tests/suite/hub/forever.rs:
    //     a_descriptor_waits_no_longer_than_a_turn_of_functions_that_come_one_by_one
    // MUTANT: Speed only: how long a hub spins. Everything is checked again after each round and before the hub parks.
    /// Before sleeping: spins for sources that may become ready soon, and serves them.
    fn spin_a_while(&mut self, deadline: Deadline) -> io::Result<usize> {
        if self.spin == Spin::Forever {
            return self.spin_without_end(deadline);
        }
        let mut spins = 0;
        let found = self.backoff.spin_only(deadline, || {
            spins += 1;
            self.posts.has_message() || self.receivers.has_message()
        });
        self.unasked = self.unasked.saturating_add(spins / SPINS_PER_CALL);
        Ok(if found { self.serve_what_is_near() } else { 0 })
    }

    // WAITS: for anything, or the deadline, under `Forever` only; fairness: signals and clock after 64 polls,
    //     descriptors after 1,024; nothing starves; test: tests/suite/hub/forever.rs:
    //     a_hub_that_never_sleeps_serves_its_descriptors
    // WAITS: after 64 rounds without a message a receiver is armed, and its signal or disconnect is found; test:
    //     tests/suite/hub/forever.rs: a_hub_that_never_sleeps_serves_receivers_that_rest_and_their_ends
    // MUTANT: Speed only: how long a hub spins. Everything is checked again after each round.
    /// Instead of sleeping: spins on active sources, checks the signals and the clock after each round, and polls the
    /// descriptors after a turn's worth of spins. A receiver without a message for many rounds is armed, which is also
    /// how its disconnect is found. Zero: a descriptor has been reported, or the time is up.
    fn spin_without_end(&mut self, deadline: Deadline) -> io::Result<usize> {
        loop {
            for _ in 0..ROUND {
                if self.posts.has_message() || self.receivers.has_message() {
                    break;
                }
                spin_loop();
            }
            let done = self.serve_what_is_near();
            if done == 0 && self.owes_a_look(ROUND / SPINS_PER_CALL, Ask::WhenDue) {
                self.look_at_descriptors(Some(Duration::ZERO))?;
            }
            if done != 0 || self.descriptors.is_any_told() || deadline.is_over() {
                return Ok(done);
            }
        }
    }

    /// Each channel without a message arms. Serves channels that turn out to have one.
    fn rest(&mut self) -> usize {
        self.behind = 1;
        let posted = self.posts.try_next().map(|posted| posted.run(self));
        if self.is_stopped_here() {
            return usize::from(posted.is_ok());
        }
        let received = self.serve_receivers(true);
        self.is_stopped_here();
        usize::from(posted.is_ok()) + received
    }

    // WAITS: for a signal, a descriptor, the next timer or the deadline, by the poller's call; reached under `Forever`
    //     only once the deadline has passed; all channels are armed; test: tests/suite/hub/idle.rs:
    //     a_sleep_is_one_system_call
    // MUTANT: Speed only: how long sleeps are taken to be, and one system call.
    /// Sleeps until a channel, a descriptor or the next timer wakes the hub. False: the time is up.
    fn sleep(&mut self, deadline: Deadline) -> io::Result<bool> {
        let timeout = if self.activate() {
            // It may be the signal of a receiver whose handler is running in an outer turn; it cannot be served now.
            // The hub does not sleep meanwhile, and a descriptor does not wait for it.
            Some(Duration::ZERO)
        } else {
            deadline.or_before(self.timers.next()).left_for_a_call()
        };
        let mut backoff = self.backoff;
        let mut outcome = Ok(());
        backoff.time(|| {
            outcome = self.look_at_descriptors(timeout);
            timeout != Some(Duration::ZERO)
        });
        self.backoff = backoff;
        outcome.map(|()| !deadline.is_over())
    }

    /// After a turn in another event loop: makes the hub's descriptor readable if there is more to do.
    pub(super) fn show(&mut self) -> io::Result<()> {
        self.show_told();
        // A channel that is not armed has its signal up, or its sender is about to raise it.
        self.watch.show()
    }
}

/// The hub, about to sleep.
struct RestingHub<'a> {
    hub: &'a mut Hub,
    deadline: Deadline,
    ask: Ask,
    /// The number of calls made that no check has reported; or the error for which the poller cannot be called.
    outcome: io::Result<usize>,
    /// The poller has been called since the last check.
    is_asked: bool,
}

impl RestingHub<'_> {
    // MUTANT: Killed only by `a_descriptor_has_its_turn_beside_an_end_that_is_found_as_the_hub_comes_to_rest` and
    // `a_hub_that_never_sleeps_counts_a_timer_whose_turn_within_was_stopped`.
    fn serve(&mut self) -> io::Result<usize> {
        let mut done = core::mem::replace(&mut self.outcome, Ok(0))?;
        // A timer that a function or a handler has set while the hub came to rest is for the next turn.
        if done == 0 {
            done = self.hub.serve_what_is_near();
        }
        if core::mem::take(&mut self.is_asked) {
            Ok(done + self.hub.serve_descriptors())
        } else {
            self.hub.serve_descriptors_too(done, self.ask)
        }
    }

    fn sleep(&mut self) -> bool {
        self.is_asked = true;
        self.hub.sleep(self.deadline).unwrap_or_else(|error| {
            self.outcome = Err(error);
            false
        })
    }
}

impl Waiting for RestingHub<'_> {
    type News = io::Result<usize>;

    fn look(&mut self) -> Option<io::Result<usize>> {
        match self.serve() {
            Ok(done) if !self.hub.is_done(done, self.deadline) => None,
            served => Some(served),
        }
    }

    fn arm(&mut self) -> bool {
        self.outcome = Ok(self.hub.rest());
        true
    }

    /// A channel that has been served since is still armed: the next call from it is one too many, and harmless.
    fn disarm(&mut self) {}
}
