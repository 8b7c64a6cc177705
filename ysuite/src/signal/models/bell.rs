//! Sets with a descriptor: however raises, lowers and looks interleave, it holds one ring at most, and once all is quiet
//! it is readable exactly if something is up.

use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd};

use loom::thread;

use super::super::set::SetCore;
use super::{Inbox, Scene, join, lower_against_raise, lower_beside_a_sleeper, poll_against_raise};
use crate::os::{Native, Notifier, Platform};
use crate::runner::{model, model_up_to};
use crate::sync::{Arc, AtomicU32, Ordering};

/// Stands for a descriptor: how many rings are in it, and how often it was written to.
#[derive(Clone)]
struct ModelNotifier {
    rings: Arc<AtomicU32>,
    edges: Arc<AtomicU32>,
}

impl ModelNotifier {
    fn set(capacity: usize) -> (SetCore, Self) {
        let notifier = Self { rings: Arc::new(AtomicU32::new(0)), edges: Arc::new(AtomicU32::new(0)) };
        (SetCore::on_descriptor(capacity, Box::new(notifier.clone())), notifier)
    }

    /// Blocks, as an edge-triggered event loop does, until it was written to again. Returns the new count.
    fn wait_for_edge(&self, told: u32) -> u32 {
        loop {
            let edges = self.edges.fetch_add(0, Ordering::Acquire);
            if edges != told {
                return edges;
            }
            Native::wait(&self.edges, told, None);
        }
    }
}

impl AsFd for ModelNotifier {
    fn as_fd(&self) -> BorrowedFd<'_> {
        unreachable!("a model waits on the counter")
    }
}

impl Notifier for ModelNotifier {
    fn notify(&self) {
        // What a kernel's lock gives, and what the contract of `clear` asks.
        let before = self.rings.fetch_add(1, Ordering::Release);
        assert_eq!(before, 0, "a second ring was written");
        self.edges.fetch_add(1, Ordering::Release);
        Native::wake(&self.rings, 1);
    }

    fn clear(&self) -> bool {
        self.rings.swap(0, Ordering::Acquire) != 0
    }

    fn wait(&self, timeout: Option<Duration>) {
        // A kernel looks at the newest state, as a read-modify-write does, and a poll that says "readable" comes after
        // the write, see the contract.
        if self.rings.fetch_add(0, Ordering::Acquire) == 0 {
            Native::wait(&self.rings, 0, timeout);
            self.rings.fetch_add(0, Ordering::Acquire);
        }
    }
}

/// Nothing runs any more: readable exactly if something is up, at the latest after one look.
fn at_rest(core: &SetCore, notifier: &ModelNotifier) {
    let rings = &notifier.rings;
    if core.any() {
        assert_eq!(rings.load(Ordering::Relaxed), 1, "something is up and the descriptor is not readable");
    }
    let up = !core.check().is_empty() && !core.check().is_empty();
    assert_eq!(rings.load(Ordering::Relaxed), u32::from(up), "readable after a look, and nothing is up");
    core.raise(1);
    assert_eq!(rings.load(Ordering::Relaxed), 1, "a signal that no longer rings");
}

#[test]
fn models_bell_take_against_raise() {
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

#[test]
fn models_bell_wakes_the_sleeper() {
    model(|| poll_against_raise::<2>(|capacity| ModelNotifier::set(capacity).0, [0, 1]));
    model_up_to(2, || poll_against_raise::<4>(|capacity| ModelNotifier::set(capacity).0, [0, 1]));
}

#[test]
fn models_bell_lower_does_not_hide_a_signal_from_a_sleeper() {
    model_up_to(2, || lower_beside_a_sleeper(ModelNotifier::set(4).0));
}

/// An edge-triggered loop that looks until it finds nothing.
#[test]
fn models_bell_tells_an_edge_triggered_loop() {
    model(|| {
        let (core, notifier) = ModelNotifier::set(2);
        let scene = Scene::<2>::new(core);
        let raisers = [0, 1].map(|id| scene.raise(id));
        let mut seen = [false; 2];
        let mut told = 0;
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
            told = notifier.wait_for_edge(told);
        }
        join(raisers);
    });
}

/// The owner's take clears a summary and puts it back, while a lower elsewhere finds nothing up in between.
#[test]
fn models_bell_rings_for_what_a_take_puts_back() {
    model(|| {
        let (core, notifier) = ModelNotifier::set(4);
        let core = Arc::new(core);
        let [kept, leaving] = [0, 2].map(|id| Inbox::attached(&core, id));
        // In the word of an attached receiver, whose summary is cleared only behind the take.
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
fn models_bell_lower_against_raise() {
    model(|| {
        let (core, notifier) = ModelNotifier::set(2);
        let core = lower_against_raise(core, 0, 1);
        at_rest(&core, &notifier);
    });
}

#[test]
fn models_bell_two_lower_at_once() {
    model(|| {
        let (core, notifier) = ModelNotifier::set(4);
        let core = Arc::new(core);
        let inboxes = [0, 1].map(|id| Inbox::attached(&core, id));
        inboxes.iter().for_each(|inbox| inbox.registration.raise());
        let sender = {
            let inbox = Arc::clone(&inboxes[0]);
            thread::spawn(move || inbox.send())
        };
        let receivers = inboxes.clone().map(|inbox| thread::spawn(move || inbox.find_empty()));
        sender.join().unwrap();
        join(receivers);
        assert!(core.is_up(0) && !core.is_up(1));
        at_rest(&core, &notifier);
    });
}

#[test]
fn models_bell_abandoned_against_raise() {
    model(|| {
        let (core, notifier) = ModelNotifier::set(2);
        let core = Arc::new(core);
        let raisers = [0, 1].map(|id| {
            let core = Arc::clone(&core);
            thread::spawn(move || core.raise(id))
        });
        core.abandon();
        join(raisers);
        assert_eq!(notifier.rings.load(Ordering::Relaxed), 0, "the descriptor of a set that is gone is readable");
    });
}
