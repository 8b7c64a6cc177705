//! The hub under the model checker: posting against its sleep, its stop and its drop. Here it sleeps on a set without a
//! descriptor; the models of the signalers check that a descriptor is readable when an id of its set is up. The hub's
//! budget is two functions here.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loom::thread;
use ysuite::hub::{Handle, Hub};
use ysuite::spsc;

use crate::{Counted, model, model_up_to};

/// How many functions have run, and how many have been dropped, run or not.
#[derive(Clone, Default)]
struct Fates {
    run: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
}

impl Fates {
    /// Posts a function; returns whether the hub has taken it.
    fn post(&self, handle: &Handle) -> bool {
        let (run, counted) = (self.run.clone(), Counted(self.ended.clone()));
        let function = move |_: &mut Hub| {
            let _counted = &counted;
            run.fetch_add(1, Ordering::Relaxed);
        };
        handle.post(function).is_ok()
    }

    fn run(&self) -> usize {
        self.run.load(Ordering::Relaxed)
    }

    fn ended(&self) -> usize {
        self.ended.load(Ordering::Relaxed)
    }
}

/// Claim: A function posted to the hub runs once or is dropped once, and wakes a sleeping hub.
/// Also: suite hub::posting::many_threads_post_to_a_hub_that_sleeps_in_between, stress hub::posted_functions.
#[test]
fn post_against_a_hub_going_to_sleep() {
    model_up_to(2, || {
        let mut hub = Hub::new().unwrap();
        let (handle, fates) = (hub.handle(), Fates::default());
        let posting = fates.clone();
        let thread = thread::spawn(move || {
            assert!(posting.post(&handle) && posting.post(&handle));
            handle
        });
        while fates.run() < 2 {
            hub.run_once(None).unwrap();
        }
        drop(thread.join().unwrap());
    });
}

#[test]
fn posts_of_two_against_a_hub_going_to_sleep() {
    model_up_to(1, || {
        let mut hub = Hub::new().unwrap();
        let fates = Fates::default();
        let threads = [0, 1].map(|_| {
            let (handle, posting) = (hub.handle(), fates.clone());
            thread::spawn(move || assert!(posting.post(&handle)))
        });
        // Returns when both handles have been dropped.
        hub.run().unwrap();
        assert_eq!((fates.run(), fates.ended()), (2, 2));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn post_against_stop() {
    model_up_to(2, || {
        let mut hub = Hub::new().unwrap();
        let (handle, fates) = (hub.handle(), Fates::default());
        let posting = fates.clone();
        let thread = thread::spawn(move || {
            assert!(posting.post(&handle));
            handle.stop().unwrap();
            // Posted after the stop: the hub keeps it, or gives it back if it has ended.
            posting.post(&handle)
        });
        hub.run().unwrap();
        assert_eq!(fates.run(), 1, "what was posted before the stop");
        drop(hub);
        thread.join().unwrap();
        assert_eq!((fates.run(), fates.ended()), (1, 2), "dropped once, wherever it was");
    });
}

/// Claim: Dropping the last handle wakes a hub that has nothing else to wait for.
/// Also: suite hub::forever::zero_is_served_only_where_nothing_can_come.
#[test]
fn the_last_handles_end_against_a_hub_going_to_sleep() {
    model(|| {
        let mut hub = Hub::new().unwrap();
        let handle = hub.handle();
        let thread = thread::spawn(move || drop(handle));
        hub.run().unwrap();
        thread.join().unwrap();
    });
}

/// Claim: The hub serves the messages and the disconnection of a receiver, and both wake it.
/// Also: suite hub::receivers::messages_of_every_channel_and_their_ends, stress hub::functions_and_messages.
#[test]
fn a_receivers_messages_and_end_against_a_hub_going_to_sleep() {
    model_up_to(2, || {
        let mut hub = Hub::new().unwrap();
        let (mut sender, receiver) = spsc::unbounded();
        let sum = Arc::new(AtomicUsize::new(0));
        let noted = sum.clone();
        hub.receive(receiver, move |_, message: Result<usize, _>| {
            noted.fetch_add(message.unwrap_or(10), Ordering::Relaxed);
        })
        .unwrap();
        let thread = thread::spawn(move || sender.send(1).unwrap());
        // Returns when the hub has dropped the receiver, after the sender's drop.
        hub.run().unwrap();
        assert_eq!(sum.load(Ordering::Relaxed), 11);
        thread.join().unwrap();
    });
}
