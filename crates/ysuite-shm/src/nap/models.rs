//! Models of going to sleep: a publisher and a sleeper whose pages are words. A wake-up is a lock and a condition, as the
//! kernel's is: what is lost is a deadlock, which the model checker reports.

use loom::sync::{Condvar, Mutex};

use super::{Sleeper, Waker};
use crate::sync::model::leave_out;
use crate::sync::{AtomicU64, Ordering};
use crate::sync::{Step, is_left_out};

struct Pages {
    state: AtomicU64,
    fenced: AtomicU64,
    asleep: AtomicU64,
    rung: Mutex<u64>,
    bell: Condvar,
}

impl Pages {
    fn ring(&self) {
        *self.rung.lock().unwrap() += 1;
        self.bell.notify_one();
    }

    /// Edge-triggered: returns when the bell has rung since the last time.
    fn sleep(&self, heard: &mut u64) {
        let mut rung = self.rung.lock().unwrap();
        while *rung == *heard {
            rung = self.bell.wait(rung).unwrap();
        }
        *heard = *rung;
    }
}

fn publish(pages: &Pages, messages: u64, with_promise: bool) {
    let mut waker = Waker::new();
    waker.fenced = with_promise;
    waker.may_give_up_fences();
    for message in 1..=messages {
        pages.state.store(message, Ordering::Release);
        if waker.must_attend(&pages.asleep) && waker.attend(&pages.fenced, &pages.asleep) {
            pages.ring();
        }
    }
}

fn consume(pages: &Pages, messages: u64) {
    let (mut sleeper, mut heard) = (Sleeper::new(), 0);
    let mut consumed = 0;
    while consumed < messages {
        let look = || pages.state.load(Ordering::Acquire);
        let found = look();
        if found > consumed {
            consumed = found;
            continue;
        }
        assert!(sleeper.arm(&pages.asleep, &pages.fenced));
        if !is_left_out(Step::SecondLook) && look() > consumed {
            sleeper.disarm(&pages.asleep);
            continue;
        }
        pages.sleep(&mut heard);
        sleeper.disarm(&pages.asleep);
    }
}

fn model(messages: u64, with_promise: bool, preemptions: usize) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    // To completion, whatever the environment says: seconds in all.
    builder.max_permutations = None;
    builder.check(move || {
        // Not freed: an execution that deadlocks is unwound, and what is freed meanwhile would panic again.
        let pages: &'static Pages = Box::leak(Box::new(Pages {
            state: AtomicU64::new(0),
            fenced: AtomicU64::new(u64::from(with_promise)),
            asleep: AtomicU64::new(0),
            rung: Mutex::new(0),
            bell: Condvar::new(),
        }));
        let publisher = loom::thread::spawn(move || publish(pages, messages, with_promise));
        consume(pages, messages);
        publisher.join().unwrap();
    });
}

/// Whether a model without this step fails.
fn fails_without(step: Step, messages: u64, with_promise: bool) -> bool {
    // The models that this thread runs, and no others.
    std::thread::spawn(move || {
        leave_out(step);
        std::panic::catch_unwind(|| model(messages, with_promise, 3)).is_err()
    })
    .join()
    .unwrap()
}

#[test]
fn one_message_without_a_promise_is_not_slept_through() {
    model(1, false, 4);
}

#[test]
fn one_message_with_a_promise_that_is_withdrawn_is_not_slept_through() {
    model(1, true, 4);
}

#[test]
fn two_messages_are_not_slept_through() {
    model(2, false, 3);
}

#[test]
fn two_messages_with_a_promise_are_not_slept_through() {
    model(2, true, 3);
}

#[test]
fn three_messages_are_not_slept_through() {
    model(3, true, 2);
}

#[test]
fn the_light_barrier_is_needed() {
    assert!(fails_without(Step::Light, 1, false));
}

#[test]
fn the_heavy_barrier_is_needed() {
    assert!(fails_without(Step::Heavy, 1, false));
}

#[test]
fn the_publishers_fence_is_needed() {
    assert!(fails_without(Step::PublisherFence, 1, true));
}

#[test]
fn the_sleepers_fence_is_needed() {
    assert!(fails_without(Step::SleeperFence, 1, true));
}

#[test]
fn the_look_after_the_promise_is_withdrawn_is_needed() {
    assert!(fails_without(Step::LookAfterWithdrawal, 3, true));
}

#[test]
fn the_fence_before_that_look_is_needed() {
    assert!(fails_without(Step::FenceAfterWithdrawal, 3, true));
}

#[test]
fn the_second_look_is_needed() {
    assert!(fails_without(Step::SecondLook, 1, true));
    assert!(fails_without(Step::SecondLook, 1, false));
}
