//! Models of a slot: a sender writes it anew only when its receiver reads it no more, and does not sleep through that. The slot
//! is plain memory, of which the model checker reports a read that a write does not follow or precede.

use loom::cell::UnsafeCell;
use loom::sync::{Condvar, Mutex};

use super::{consume, consumed, give_back, held, hold, is_awaited, wait_for, wait_no_more};
use crate::sync::model::leave_out;
use crate::sync::{AtomicU64, Ordering, Step, is_left_out};

struct Words {
    ticket: AtomicU64,
    consumed: AtomicU64,
    table: AtomicU64,
    asleep: AtomicU64,
    slot: UnsafeCell<u64>,
    rung: Mutex<bool>,
    bell: Condvar,
}

// SAFETY: the model checker reports a race.
unsafe impl Sync for Words {}

impl Words {
    fn is_free(&self, published: u64) -> bool {
        consumed(&self.consumed) == published && held(&self.table) == 0
    }

    fn sleep(&self) {
        let mut rung = self.rung.lock().unwrap();
        while !*rung {
            rung = self.bell.wait(rung).unwrap();
        }
        *rung = false;
    }
}

fn lend(words: &Words, messages: u64) {
    for message in 1..=messages {
        while !words.is_free(message - 1) {
            wait_for(&words.asleep);
            if is_left_out(Step::SecondLook) || !words.is_free(message - 1) {
                words.sleep();
            }
            wait_no_more(&words.asleep);
        }
        // SAFETY: the model checker reports a race.
        words.slot.with_mut(|slot| unsafe { *slot = message });
        // ORDERING: Release, as the writer of a ring.
        words.ticket.store(message, Ordering::Release);
    }
}

fn borrow(words: &Words, messages: u64) {
    for message in 1..=messages {
        // ORDERING: Acquire, as the reader of a ring.
        while words.ticket.load(Ordering::Acquire) < message {
            loom::thread::yield_now();
        }
        assert!(hold(&words.table, 1));
        consume(&words.consumed, message);
        // SAFETY: as above.
        assert_eq!(words.slot.with(|slot| unsafe { *slot }), message);
        give_back(&words.table, 1);
        if is_awaited(&words.asleep) {
            *words.rung.lock().unwrap() = true;
            words.bell.notify_one();
        }
    }
}

fn model(messages: u64) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    // To completion, whatever the environment says: seconds in all.
    builder.max_permutations = None;
    builder.check(move || {
        // Not freed: see the models of `nap`.
        let word = || AtomicU64::new(0);
        let words: &'static Words = Box::leak(Box::new(Words {
            ticket: word(),
            consumed: word(),
            table: word(),
            asleep: word(),
            slot: UnsafeCell::new(0),
            rung: Mutex::new(false),
            bell: Condvar::new(),
        }));
        let receiver = loom::thread::spawn(move || borrow(words, messages));
        lend(words, messages);
        receiver.join().unwrap();
    });
}

/// Whether a model without this step fails.
fn fails_without(step: Step) -> bool {
    // The models that this thread runs, and no others.
    let run = move || {
        leave_out(step);
        std::panic::catch_unwind(|| model(2)).is_err()
    };
    std::thread::spawn(run).join().unwrap()
}

#[test]
fn a_slot_is_read_before_it_is_written_again() {
    model(2);
}

#[test]
fn a_slot_goes_round_and_nobody_sleeps_for_ever() {
    model(3);
}

#[test]
fn the_table_is_read_behind_the_position() {
    assert!(fails_without(Step::FenceAfterConsumed));
}

#[test]
fn the_slot_is_written_behind_the_table() {
    assert!(fails_without(Step::FenceAfterTable));
}

#[test]
fn both_fences_of_a_wait_are_needed() {
    assert!(fails_without(Step::PublisherFence) && fails_without(Step::SleeperFence));
}

#[test]
fn the_second_look_of_a_wait_is_needed() {
    assert!(fails_without(Step::SecondLook));
}
