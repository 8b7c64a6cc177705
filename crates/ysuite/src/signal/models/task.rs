//! The waker slot: a wake after a registration is never lost, and every waker is dropped once.

use std::task::{Wake, Waker};

use loom::sync::Notify;
use loom::thread;

use super::super::TaskSlot;
use super::join;
use crate::runner::model;
use crate::sync::{Arc, AtomicBool, AtomicUsize, Ordering};

/// A task that waits on loom's own notification.
struct ModelTask {
    woken: Notify,
    wakes: AtomicUsize,
}

impl ModelTask {
    fn new() -> (std::sync::Arc<Self>, Waker) {
        let task = std::sync::Arc::new(Self { woken: Notify::new(), wakes: AtomicUsize::new(0) });
        (std::sync::Arc::clone(&task), Waker::from(task))
    }
}

impl Wake for ModelTask {
    fn wake(self: std::sync::Arc<Self>) {
        // ORDERING: Relaxed; read only after the waking threads have been joined.
        self.wakes.fetch_add(1, Ordering::Relaxed);
        self.woken.notify();
    }
}

/// Claim: A wake may race with the registration, replacement or removal of a waker without being lost.
#[test]
fn models_task_register_against_wake() {
    model(|| {
        let slot = Arc::new(TaskSlot::default());
        let past = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let wakers = [0, 1].map(|waker| {
            let (slot, past) = (Arc::clone(&slot), Arc::clone(&past));
            thread::spawn(move || {
                // ORDERING: Relaxed, so that only the slot's own orderings can make the store visible.
                past[waker].store(true, Ordering::Relaxed);
                slot.wake();
            })
        });
        let (task, waker) = ModelTask::new();
        loop {
            slot.register(&waker);
            // ORDERING: Relaxed, so that only the slot's own orderings can make the stores visible.
            if past.iter().all(|past| past.load(Ordering::Relaxed)) {
                break;
            }
            task.woken.wait();
        }
        join(wakers);
        drop(slot);
        assert_eq!(std::sync::Arc::strong_count(&task), 2, "a waker was leaked or dropped twice");
        drop(waker);
        assert_eq!(std::sync::Arc::strong_count(&task), 1);
    });
}

#[test]
fn models_task_replaced_against_wake() {
    model(|| {
        let slot = Arc::new(TaskSlot::default());
        let past = Arc::new(AtomicBool::new(false));
        let (first, first_waker) = ModelTask::new();
        slot.register(&first_waker);
        let waking = {
            let (slot, past) = (Arc::clone(&slot), Arc::clone(&past));
            thread::spawn(move || {
                // ORDERING: Relaxed, so that only the slot's own orderings can make the store visible.
                past.store(true, Ordering::Relaxed);
                slot.wake();
            })
        };
        let (second, second_waker) = ModelTask::new();
        slot.register(&second_waker);
        // The notification may be spurious; a lost wake-up ends in a deadlock here.
        // ORDERING: Relaxed, so that only the slot's own orderings can make the store visible.
        while !past.load(Ordering::Relaxed) {
            second.woken.wait();
        }
        waking.join().unwrap();
        // The slot held a waker all the time, so one of the tasks was woken, whatever the second saw.
        // ORDERING: Relaxed; the waking thread has been joined.
        let wakes = [&first, &second].map(|task| task.wakes.load(Ordering::Relaxed));
        assert_ne!(wakes, [0, 0], "a wake-up was swallowed");
        drop((slot, first_waker, second_waker));
        assert_eq!(std::sync::Arc::strong_count(&first), 1);
        assert_eq!(std::sync::Arc::strong_count(&second), 1);
    });
}

#[test]
fn models_task_taken_against_wake() {
    model(|| {
        let slot = Arc::new(TaskSlot::default());
        let (task, waker) = ModelTask::new();
        slot.register(&waker);
        let waking = {
            let slot = Arc::clone(&slot);
            thread::spawn(move || slot.wake())
        };
        let taken = slot.take();
        waking.join().unwrap();
        // ORDERING: Relaxed; the waking thread has been joined.
        let wakes = task.wakes.load(Ordering::Relaxed);
        assert_eq!(wakes + usize::from(taken.is_some()), 1, "taken and woken, or neither");
        drop((taken, waker, slot));
        assert_eq!(std::sync::Arc::strong_count(&task), 1);
    });
}
