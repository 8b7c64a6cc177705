//! A time limit for work that repeats. A thread of the alarm's own waits for it, so a timed loop that polls the limit
//! reads one word of memory and no clock.
//!
//! Cannot: stop a thread that does not poll.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::error::Fault;

/// The word that is polled. Without an [`Alarm`] the time is never over.
#[derive(Clone, Debug, Default)]
pub struct Until(Arc<AtomicBool>);

impl Until {
    #[inline(always)]
    pub fn is_over(&self) -> bool {
        // ORDERING: Relaxed, pairs with the store in `end`: the flag carries no other data.
        self.0.load(Ordering::Relaxed)
    }

    fn end(&self) {
        // ORDERING: Relaxed, pairs with the load in `is_over`: the flag carries no other data.
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Goes off once, unless it is dropped first.
pub struct Alarm {
    until: Until,
    /// The thread waits for this to be dropped.
    set: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Alarm {
    pub fn after(time: Duration) -> Result<Self, Fault> {
        let until = Until::default();
        let (set, dropped) = mpsc::channel::<()>();
        let told = until.clone();
        let thread = thread::Builder::new().spawn(move || {
            if dropped.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                told.end();
            }
        })?;
        Ok(Self { until, set: Some(set), thread: Some(thread) })
    }

    pub fn until(&self) -> Until {
        self.until.clone()
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        drop(self.set.take());
        // It only waits and cannot panic.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

#[cfg(test)]
impl Until {
    pub fn over() -> Self {
        let until = Self::default();
        until.end();
        until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_off_when_its_time_is_over_and_not_when_it_is_dropped_before() {
        let short = Alarm::after(Duration::from_millis(1)).unwrap();
        while !short.until().is_over() {
            thread::yield_now();
        }
        let long = Alarm::after(Duration::from_secs(86_400)).unwrap();
        let until = long.until();
        drop(long);
        assert!(!until.is_over());
    }
}
