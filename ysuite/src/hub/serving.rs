//! A turn of the hub, and what comes before its sleep. The hub's thread.
//!
//! Before it sleeps the hub *rests*: each channel with nothing left takes its signal down, arms, and is looked at once
//! more. Then the set of signals is looked at for the last time; an empty answer promises that the next signal makes the
//! descriptor readable anew, which an edge-triggered poller needs.

use core::time::Duration;
use std::io;
use std::time::Instant;

use super::timers::Due;
use super::{Hub, POSTS, TURN};
use crate::channel::{Receive, TryRecvError};

impl Hub {
    /// Serves what there is; where there is nothing, waits until `deadline` (`None`: for ever) and serves that.
    pub(super) fn turn(&mut self, deadline: Option<Instant>) -> io::Result<usize> {
        self.halted = false;
        let mut done = self.serve_what_is_near();
        // Where there is something to do the poller must be asked: a descriptor may wait behind a stream.
        if done != 0 && self.watch.has_descriptors() && !self.halted {
            self.look_at_descriptors(Some(Duration::ZERO))?;
        }
        done += self.serve_descriptors();
        while done == 0 && !self.halted {
            let left = self.left_until(deadline);
            if left != Some(Duration::ZERO) && self.look_a_while(deadline) {
                return Ok(self.serve_what_is_near());
            }
            done = self.rest();
            if done != 0 {
                break;
            }
            let in_time = self.sleep(deadline)?;
            done = self.serve_what_is_near() + self.serve_descriptors();
            if !in_time || done == 0 && deadline.is_none() && self.is_deserted() {
                break;
            }
        }
        Ok(done)
    }

    /// What needs no system call to be known: functions, messages, timers.
    fn serve_what_is_near(&mut self) -> usize {
        self.harvest();
        let mut done = self.serve_posts();
        done += self.serve_receivers(false);
        done + self.serve_timers()
    }

    /// Which receivers have news. Whether there are any.
    fn harvest(&mut self) -> bool {
        let mut news = false;
        for signal in self.watch.check() {
            news = true;
            if let Some(place) = signal.checked_sub(POSTS + 1) {
                self.receivers.wake(place);
            }
        }
        news
    }

    fn serve_posts(&mut self) -> usize {
        let mut done = 0;
        while done < TURN && !self.halted {
            let Some(posted) = self.posts.look() else { break };
            posted.run(self);
            done += 1;
        }
        done
    }

    fn serve_timers(&mut self) -> usize {
        if self.timers.is_empty() {
            return 0;
        }
        let now = Instant::now();
        let mut done = 0;
        while done < TURN && !self.halted {
            match self.timers.due(now) {
                None => break,
                Some(Due::Once(function)) => function.run(self),
                Some(Due::Every(key, tick)) => self.tick(key, tick),
            }
            done += 1;
        }
        done
    }

    /// Before sleeping: looks whether anything comes soon.
    fn look_a_while(&mut self, deadline: Option<Instant>) -> bool {
        let mut spinner = self.spinner;
        let found = spinner.look(deadline, || self.posts.has_message() || self.receivers.has_message());
        self.spinner = spinner;
        found
    }

    /// Everything that has nothing says so. Serves what turns out to have something.
    fn rest(&mut self) -> usize {
        let done = match self.posts.try_next() {
            Ok(posted) => {
                posted.run(self);
                1
            }
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => 0,
        };
        done + self.serve_receivers(true)
    }

    /// Sleeps until something comes, or the next timer. False: the time is up.
    fn sleep(&mut self, deadline: Option<Instant>) -> io::Result<bool> {
        if self.harvest() {
            // Also the signal of one whose handler is running around this turn: nothing to wait for, or to sleep beside.
            return Ok(self.left_until(deadline) != Some(Duration::ZERO));
        }
        let next = match (deadline, self.timers.next()) {
            (Some(deadline), Some(timer)) => Some(deadline.min(timer)),
            (deadline, timer) => deadline.or(timer),
        };
        if deadline.is_none() && self.is_deserted() {
            return Ok(true);
        }
        let timeout = self.left_until(next);
        let start = (timeout != Some(Duration::ZERO) && self.spinner.is_curious()).then(Instant::now);
        self.look_at_descriptors(timeout)?;
        if let Some(start) = start {
            self.spinner.slept(start.elapsed());
        }
        Ok(self.left_until(deadline) != Some(Duration::ZERO))
    }

    fn left_until(&self, deadline: Option<Instant>) -> Option<Duration> {
        deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// After a turn in somebody else's loop: has the descriptor say whether there is more to do.
    pub(super) fn show(&mut self) -> io::Result<()> {
        self.rearm_pending()?;
        // Whatever has not rested has its signal up, or somebody is about to put it up.
        self.watch.show()
    }
}
