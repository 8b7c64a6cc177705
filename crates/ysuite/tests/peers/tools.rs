//! What scenarios share besides the handles: time limits, pauses, threads.
//!
//! No assertion is about time. A pause makes it likely that the other thread sleeps by then; a limit is met only by a thread
//! that is never woken.

use std::thread;
use std::time::Duration;

/// Long enough for any result that comes at all.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Short enough to run out again and again.
pub(crate) const SHORT: Duration = Duration::from_millis(1);

/// Long enough for another thread to fall asleep, in most cases.
pub(crate) fn pause() {
    thread::sleep(Duration::from_millis(3));
}

/// Runs both at once, the second here, and returns what they return.
pub(crate) fn both<A: Send, B>(there: impl FnOnce() -> A + Send, here: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let there = scope.spawn(there);
        let here = here();
        (there.join().expect("no panic there"), here)
    })
}

/// Runs one thread for each item, and returns when all have ended.
pub(crate) fn each<I: Send>(items: impl IntoIterator<Item = I>, body: impl Fn(I) + Sync) {
    let body = &body;
    thread::scope(|scope| items.into_iter().for_each(|item| drop(scope.spawn(move || body(item)))));
}
