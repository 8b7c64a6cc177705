//! Poll, arm, poll again, sleep: written once for every handle, set and loop that waits.
//!
//! A thread that polled, found nothing and slept would miss a message that another thread publishes in between. So the
//! waiter first *arms*: it stores, where publishers check, that it is about to sleep. Then it polls again. Either this
//! poll finds what was published before, or the publisher finds the waiter armed and wakes it. The implementations of
//! [`Waiting`] order the two against each other.
//!
//! Tasks and attached receivers share the first half: where a thread sleeps, they return to their executor or set.

use crate::sync::window;

/// A condition that a thread can wait for.
pub(crate) trait Waiting {
    /// What ends the wait.
    type News;

    /// Returns what is ready, if anything is. Never blocks.
    fn look(&mut self) -> Option<Self::News>;

    /// Notifies publishers that this waiter is about to sleep. True: the waiter must poll once more before it sleeps.
    /// False: the arming was itself a poll, a read-modify-write of the word that holds the readiness, and found none.
    fn arm(&mut self) -> bool;

    /// After a poll that found nothing ready: arms what the poll has discovered, such as a new lane, whose readiness
    /// could be missed otherwise. True: the waiter must poll once more.
    fn arm_further(&mut self) -> bool {
        false
    }

    /// After the poll that follows the arming has found something: publishers need not wake this waiter.
    fn disarm(&mut self);

    /// No poll has found anything: this waiter is about to sleep.
    #[inline(always)]
    fn sleeps(&self) {}
}

/// Arms, and polls again. `None`: the waiter may sleep, and a publisher will wake it.
///
/// A poll may find nothing ready and yet a new lane to watch: one that a slow sender has raised for a message that was
/// consumed before the receiver armed. That sender has notified already, and will not notify for its next message. So
/// the lanes that the last poll has discovered are armed as well before the waiter sleeps.
#[inline(never)]
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
    waiting.sleeps();
    None
}

// WAITS: the loop of all waits that park; ends: readiness, or as the caller's `sleep` says; spin: the caller's, before;
//     it polls, arms, polls again, and parks; test: tests/loom/slow_sender.rs:
//     a_slow_sender_against_a_thread_that_sleeps_twice
/// Blocks the thread until something is ready, or the time is up (`None`). The caller has polled before.
///
/// `sleep` returns true when a publisher has woken this thread, or for no reason, and false when the time is up. When
/// it returns, the waiter is no longer armed to be woken as a thread.
#[inline]
pub(crate) fn block<W: Waiting>(waiting: &mut W, mut sleep: impl FnMut(&mut W) -> bool) -> Option<W::News> {
    loop {
        let mut news = arm_and_look(waiting);
        if news.is_some() {
            return news;
        }
        let in_time = sleep(waiting);
        // Something may have become ready between the time-out and this poll, and a wake-up may have been meant for an
        // earlier sleep.
        news = waiting.look();
        if news.is_some() || !in_time {
            return news;
        }
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::{Waiting, block};

    /// What each poll finds, one after the other.
    struct Scripted<const LOOKS: usize> {
        looks: [Option<u32>; LOOKS],
        done: usize,
    }

    impl<const LOOKS: usize> Waiting for Scripted<LOOKS> {
        type News = u32;

        fn look(&mut self) -> Option<u32> {
            self.done += 1;
            self.looks[self.done - 1]
        }

        fn arm(&mut self) -> bool {
            true
        }

        fn disarm(&mut self) {}
    }

    /// Waits. What has come of it, and how often it has slept; each sleep ends as `in_time` says.
    fn waited<const LOOKS: usize>(looks: [Option<u32>; LOOKS], in_time: bool) -> (Option<u32>, usize) {
        let (mut waiting, mut sleeps) = (Scripted { looks, done: 0 }, 0);
        let news = block(&mut waiting, |_| {
            sleeps += 1;
            in_time
        });
        assert_eq!(waiting.done, LOOKS);
        (news, sleeps)
    }

    #[test]
    fn who_finds_news_behind_the_arming_does_not_sleep() {
        assert_eq!(waited([Some(1)], true), (Some(1), 0));
    }

    #[test]
    fn who_is_woken_for_nothing_sleeps_again() {
        assert_eq!(waited([None, Some(1)], true), (Some(1), 1));
        assert_eq!(waited([None, None, Some(1)], true), (Some(1), 1));
        assert_eq!(waited([None, None, None, None, None, Some(1)], true), (Some(1), 3));
    }

    #[test]
    fn who_has_no_more_time_looks_once_more() {
        assert_eq!(waited([None, None], false), (None, 1));
        assert_eq!(waited([None, Some(1)], false), (Some(1), 1));
    }
}
