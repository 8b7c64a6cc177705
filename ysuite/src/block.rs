//! Look, arm, look again, sleep: written once for every end, set and loop that waits.
//!
//! A thread that looked, found nothing and slept would miss what another thread publishes in between. So the waiting
//! thread first *arms*: it says where publishers look that it is about to sleep. Then it looks again. Either this look
//! finds what was published before, or the publisher finds the waiter armed and wakes it. How the two are ordered against
//! each other is the business of whoever implements [`Waiting`].
//!
//! Tasks and attached receivers share the first half: they return to their executor or set where a thread sleeps.

use crate::sync::window;

/// Something that a thread can wait for.
pub(crate) trait Waiting {
    /// What ends the wait.
    type News;

    /// What there is. Never blocks.
    fn look(&mut self) -> Option<Self::News>;

    /// Says that this waiter is about to sleep. True: it must look once more before it does. False: the arming has looked,
    /// with a read-modify-write of the very word that holds the news, and has found nothing.
    fn arm(&mut self) -> bool;

    /// Behind a look in vain: arms what that look has brought into view and could now be missed. True: the waiter must look
    /// once more.
    fn arm_further(&mut self) -> bool {
        false
    }

    /// The look behind the arming has found something: publishers need not wake this waiter.
    fn disarm(&mut self);
}

/// Arms, and looks again. `None`: the waiter may sleep, and a publisher will wake it.
///
/// A look may find no news and yet something new to watch: a lane that a slow sender has raised for a message that is
/// consumed already, before the receiver was armed. That sender has called, and will not call for its next message. So
/// what the last look has brought into view is armed as well before the waiter sleeps.
pub(crate) fn arm_and_look<W: Waiting>(waiting: &mut W) -> Option<W::News> {
    let mut must_look = waiting.arm();
    while must_look {
        window();
        let news = waiting.look();
        if news.is_some() {
            waiting.disarm();
            return news;
        }
        must_look = waiting.arm_further();
    }
    None
}

/// Blocks the thread until there are news, or the time is up (`None`). The caller has looked before.
///
/// `sleep` returns when a publisher has woken this thread (true; also for no reason) or the time is up (false), and leaves
/// the waiter not armed to be woken as a thread.
pub(crate) fn block<W: Waiting>(waiting: &mut W, mut sleep: impl FnMut(&mut W) -> bool) -> Option<W::News> {
    loop {
        let mut news = arm_and_look(waiting);
        if news.is_some() {
            return news;
        }
        let in_time = sleep(waiting);
        // News may have come between the end of the time and this look; and a wake-up may be one for an earlier sleep.
        news = waiting.look();
        if news.is_some() || !in_time {
            return news;
        }
    }
}
