//! Sets with a descriptor: however raises, lowers and checks interleave, the descriptor holds one notification at most.
//! Once all threads are done it is readable exactly if something is up.

use loom::thread;

use super::super::set::SetCore;
use super::{ModelQueue, Scene, join, lower_against_raise, lower_beside_a_sleeper, poll_against_raise};
use crate::os::{Deadline, Descriptor, Notifier, sleep_on, wait, wake};
use crate::runner::{model, model_up_to};
use crate::sync::{Arc, AtomicU32, Ordering};

/// Replaces a descriptor: the number of notifications in it, and of writes to it.
#[derive(Clone)]
struct ModelNotifier {
    pending: Arc<AtomicU32>,
    edges: Arc<AtomicU32>,
}

impl ModelNotifier {
    fn set(capacity: usize) -> (SetCore, Self) {
        let notifier = Self { pending: Arc::new(AtomicU32::new(0)), edges: Arc::new(AtomicU32::new(0)) };
        (SetCore::on_descriptor(capacity, Box::new(notifier.clone())), notifier)
    }

    /// Blocks, as an edge-triggered event loop does, until the descriptor was written to more than `seen` times.
    /// Returns the new count.
    fn wait_for_edge(&self, seen: u32) -> u32 {
        loop {
            // ORDERING: Acquire pairs with the Release of `notify`. A read-modify-write, because a kernel reads the
            // newest state.
            let edges = self.edges.fetch_add(0, Ordering::Acquire);
            if edges != seen {
                return edges;
            }
            wait(&self.edges, seen, None);
        }
    }
}

impl Notifier for ModelNotifier {
    fn descriptor(&self) -> Descriptor<'_> {
        unreachable!("a model waits on the counter")
    }

    fn notify(&self) {
        // ORDERING: Release pairs with the Acquire of `clear`: a kernel's lock gives as much, and the contract of
        // `clear` requires it.
        let before = self.pending.fetch_add(1, Ordering::Release);
        assert_eq!(before, 0, "a second notification was written");
        // ORDERING: Release pairs with the Acquire of `wait_for_edge`: the loop sees what was raised before.
        self.edges.fetch_add(1, Ordering::Release);
        wake(&self.pending, 1);
    }

    fn clear(&self) -> bool {
        // ORDERING: Acquire pairs with the Release of `notify`: what the notifier had done before is visible.
        self.pending.swap(0, Ordering::Acquire) != 0
    }

    fn wait(&self, deadline: Deadline) -> bool {
        // ORDERING: Acquire pairs with the Release of `notify`: by the contract a wait that ends because of a
        // notification comes after it. A read-modify-write, because a kernel reads the newest state.
        if self.pending.fetch_add(0, Ordering::Acquire) == 0 {
            sleep_on(&self.pending, 0, deadline);
            // ORDERING: Acquire pairs with the Release of `notify`: the wait comes after the notification that has
            // ended it.
            self.pending.fetch_add(0, Ordering::Acquire);
        }
        !deadline.is_over()
    }
}

/// Once all other threads are done: readable exactly if something is up, at the latest after one check.
fn at_rest(core: &SetCore, notifier: &ModelNotifier) {
    // ORDERING: Relaxed here and to the end; all other threads have been joined.
    let pending = &notifier.pending;
    if core.bits.any() {
        assert_eq!(pending.load(Ordering::Relaxed), 1, "something is up and the descriptor is not readable");
    }
    let up = !core.check().is_empty() && !core.check().is_empty();
    assert_eq!(pending.load(Ordering::Relaxed), u32::from(up), "readable after a check, and nothing is up");
    core.raise(1);
    assert_eq!(pending.load(Ordering::Relaxed), 1, "a signal that no longer notifies");
}

/// Claim: The descriptor of a set is readable exactly while an id is raised.
/// Also: suite signal::descriptors::eventfd_256::readable_exactly_while_something_is_up,
/// suite attached::eventfd::pipe::readable_exactly_while_a_message_may_be_there.
#[test]
fn models_doorbell_take_against_raise() {
    model(|| {
        let (core, notifier) = ModelNotifier::set(2);
        let core = Arc::new(core);
        let raisers = [0, 1].map(|id| {
            let core = Arc::clone(&core);
            thread::spawn(move || core.raise(id))
        });
        let _ = core.check();
        let _ = core.check();
        join(raisers);
        at_rest(&core, &notifier);
    });
}

/// Claim: No wake-up of a set with a descriptor is lost.
/// Also: suite attached::eventfd::pipe::streams_arrive_level_triggered, stress pipe::attached_to_a_socketpair.
#[test]
fn models_doorbell_wakes_the_sleeper() {
    model(|| poll_against_raise::<2>(|capacity| ModelNotifier::set(capacity).0, [0, 1]));
    model_up_to(2, || poll_against_raise::<4>(|capacity| ModelNotifier::set(capacity).0, [0, 1]));
}

#[test]
fn models_doorbell_lower_does_not_hide_a_signal_from_a_sleeper() {
    model_up_to(2, || lower_beside_a_sleeper(ModelNotifier::set(4).0));
}

/// An edge-triggered loop that polls until it finds nothing.
///
/// Claim: An edge-triggered event loop that polls until nothing is left misses no signal.
/// Also: suite signal::descriptors::eventfd_256::an_event_loop_misses_nothing,
/// suite attached::eventfd::exchange::streams_arrive_edge_triggered_where_the_set_is_read_until_empty.
#[test]
fn models_doorbell_notifies_an_edge_triggered_loop() {
    model(|| {
        let (core, notifier) = ModelNotifier::set(2);
        let scene = Scene::<2>::new(core);
        let raisers = [0, 1].map(|id| scene.raise(id));
        let mut seen = [false; 2];
        let mut edges = 0;
        loop {
            loop {
                let signals = scene.core.check();
                if signals.is_empty() {
                    break;
                }
                scene.note(&mut seen, signals);
            }
            if seen == [true; 2] {
                break;
            }
            edges = notifier.wait_for_edge(edges);
        }
        join(raisers);
    });
}

/// The owner's take clears a summary and puts it back, while another thread's `lower` finds nothing up in between.
#[test]
fn models_doorbell_rings_for_what_a_take_puts_back() {
    model(|| {
        let (core, notifier) = ModelNotifier::set(4);
        let core = Arc::new(core);
        let [kept, leaving] = [0, 2].map(|id| ModelQueue::attached(&core, id));
        // Id 1 is in the word of an attached receiver, whose summary is cleared only after the take.
        core.raise(1);
        leaving.registration.raise();
        let raiser = {
            let core = Arc::clone(&core);
            thread::spawn(move || core.raise(1))
        };
        let receiver = thread::spawn(move || leaving.find_empty());
        let _ = core.check();
        raiser.join().unwrap();
        receiver.join().unwrap();
        at_rest(&core, &notifier);
        drop(kept);
    });
}

#[test]
fn models_doorbell_lower_against_raise() {
    model(|| {
        let (core, notifier) = ModelNotifier::set(2);
        let core = lower_against_raise(core, 0, 1);
        at_rest(&core, &notifier);
    });
}

#[test]
fn models_doorbell_two_lower_at_once() {
    model(|| {
        let (core, notifier) = ModelNotifier::set(4);
        let core = Arc::new(core);
        let queues = [0, 1].map(|id| ModelQueue::attached(&core, id));
        queues.iter().for_each(|queue| queue.registration.raise());
        let sender = {
            let queue = Arc::clone(&queues[0]);
            thread::spawn(move || queue.send())
        };
        let receivers = queues.clone().map(|queue| thread::spawn(move || queue.find_empty()));
        sender.join().unwrap();
        join(receivers);
        assert!(core.bits.is_up(0) && !core.bits.is_up(1));
        at_rest(&core, &notifier);
    });
}

/// Claim: A dropped set causes no more events, and its signalers may outlive it.
/// Also: suite signal::descriptors::eventfd_256::a_set_that_is_gone_stays_silent_in_epoll,
/// suite signal::pollset_31::signalers_outlive_the_set.
#[test]
fn models_doorbell_abandoned_against_raise() {
    model(|| {
        let (core, notifier) = ModelNotifier::set(2);
        let core = Arc::new(core);
        let raisers = [0, 1].map(|id| {
            let core = Arc::clone(&core);
            thread::spawn(move || core.raise(id))
        });
        core.abandon();
        join(raisers);
        // ORDERING: Relaxed; all other threads have been joined.
        assert_eq!(notifier.pending.load(Ordering::Relaxed), 0, "the descriptor of a dropped set is readable");
    });
}
