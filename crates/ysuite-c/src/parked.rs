//! Waits in channels that do not know a `Stop`: the thread polls as a task does, and parks in between.
//!
//! Any number of threads at once. A thread is on the list from before its first poll until it is awake again, so that
//! it is woken when the waits of its channel are ended.
//!
//! Cannot: spin before it sleeps.

use core::task::{Context, Poll, Waker};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Wake;
use std::thread::{self, Thread};

use ysuite::in_place::Stop;

use crate::limit::{Clock, Limit};

/// The threads that wait in a channel, or are about to.
#[derive(Default)]
pub(crate) struct Sleepers(Mutex<Vec<Thread>>);

impl Sleepers {
    fn list(&self) -> MutexGuard<'_, Vec<Thread>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes them all, without a reason.
    pub(crate) fn wake_all(&self) {
        self.list().iter().for_each(Thread::unpark);
    }

    /// What does that, for the stop of a channel.
    pub(crate) fn waker(self: &Arc<Self>) -> Box<dyn Fn() + Send + Sync> {
        let this = self.clone();
        Box::new(move || this.wake_all())
    }
}

/// The calling thread, on the list.
struct Enlisted<'a>(&'a Sleepers);

impl<'a> Enlisted<'a> {
    fn new(sleepers: &'a Sleepers) -> Self {
        sleepers.list().push(thread::current());
        Self(sleepers)
    }
}

impl Drop for Enlisted<'_> {
    fn drop(&mut self) {
        let mut list = self.0.list();
        let id = thread::current().id();
        // A thread may be there twice, if a callback of its own waits: either will do.
        if let Some(at) = list.iter().position(|thread| thread.id() == id) {
            list.swap_remove(at);
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

thread_local! {
    /// Made once: a wait does not allocate.
    static WAKER: Waker = Waker::from(Arc::new(Unpark(thread::current())));
}

/// Polls until it is ready, the time is up, or `stop` is set: `None`. A stop wakes the thread through `sleepers`.
pub(crate) fn wait<T>(
    sleepers: &Sleepers,
    limit: Limit,
    stop: &Stop,
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
) -> Option<T> {
    let mut clock = Clock::new(limit);
    let waker = WAKER.with(Waker::clone);
    let mut context = Context::from_waker(&waker);
    // Before the stop is looked at: a thread that sets it either is seen here, or finds this thread on the list.
    let _enlisted = Enlisted::new(sleepers);
    loop {
        if let Poll::Ready(found) = poll(&mut context) {
            return Some(found);
        }
        if stop.is_set() {
            return None;
        }
        match clock.left() {
            None => thread::park(),
            Some(left) if left.is_zero() => return None,
            Some(left) => thread::park_timeout(left),
        }
    }
}
