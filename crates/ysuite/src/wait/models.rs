//! The wait list under the model checker: its slots and blocks, and what a waiter and a publisher learn from each
//! other. What the channels make of it is in `tests/loom`.
//!
//! Claim: In a wait list, each slot, block and removal is handed over with all that happened before.

mod attached;
mod regions;

use loom::thread;

use super::WaitList;
use crate::runner::model_up_to;
use crate::sync::{Arc, AtomicU32, Handed, Ordering};

/// A list, and what a thread had done before the others learn of it by the list.
#[derive(Clone)]
struct Scene(Arc<(WaitList, Handed, AtomicU32)>);

impl Scene {
    fn new() -> Self {
        Self(Arc::new((WaitList::new(), Handed::default(), AtomicU32::new(0))))
    }

    fn list(&self) -> &WaitList {
        &self.0.0
    }

    fn past(&self) -> &Handed {
        &self.0.1
    }

    /// The word that is published and polled, without an order of its own.
    fn published(&self) -> &AtomicU32 {
        &self.0.2
    }

    fn spawn(&self, step: impl FnOnce(&Self) + 'static) -> thread::JoinHandle<()> {
        let scene = self.clone();
        thread::spawn(move || step(&scene))
    }
}

#[test]
fn a_slot_has_its_next_owner_after_its_last_user() {
    model_up_to(2, || {
        let scene = Scene::new();
        // The block is there; the slot is not.
        let other = scene.list().register();
        let notifier = scene.spawn(|scene| drop(scene.list().notify_one()));
        for _ in 0..2 {
            let slot = scene.list().register();
            scene.list().arm(&slot, false);
            scene.list().disarm(&slot);
            scene.list().unregister(&slot);
        }
        notifier.join().unwrap();
        scene.list().unregister(&other);
    });
}

#[test]
fn a_slot_that_is_given_back_is_taken_by_another_thread() {
    model_up_to(2, || {
        let scene = Scene::new();
        let slot = scene.list().register();
        scene.list().arm(&slot, false);
        let notifier = scene.spawn(|scene| drop(scene.list().notify_one()));
        let next = scene.spawn(|scene| scene.list().unregister(&scene.list().register()));
        scene.list().disarm(&slot);
        scene.list().unregister(&slot);
        [notifier, next].into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn a_notified_waiter_sees_what_its_notifier_did() {
    model_up_to(2, || {
        let scene = Scene::new();
        let slot = scene.list().register();
        scene.list().arm(&slot, false);
        let notifier = scene.spawn(|scene| {
            scene.past().written();
            drop(scene.list().notify_one());
        });
        if !scene.list().disarm(&slot) {
            scene.past().read();
        }
        notifier.join().unwrap();
        scene.list().unregister(&slot);
    });
}

/// The waiter is the thread that runs second. If the notifier ran second, no model would test whether it takes the bit
/// before the waiter polls: the waiter has checked the bit itself in between.
#[test]
fn a_waiter_that_only_looks_sees_what_its_notifier_did() {
    model_up_to(2, || {
        let scene = Scene::new();
        let slot = scene.list().register();
        scene.list().arm(&slot, false);
        let waiter = scene.spawn(move |scene| {
            if !scene.list().is_armed(&slot) {
                scene.past().read();
            }
            scene.list().disarm(&slot);
            scene.list().unregister(&slot);
        });
        scene.past().written();
        drop(scene.list().notify_one());
        waiter.join().unwrap();
    });
}

#[test]
fn a_thread_that_finds_a_waiter_armed_sees_what_that_waiter_did() {
    model_up_to(2, || {
        let scene = Scene::new();
        let waiter = scene.spawn(|scene| {
            let slot = scene.list().register();
            scene.past().written();
            scene.list().arm(&slot, false);
            scene.list().disarm(&slot);
            scene.list().unregister(&slot);
        });
        if scene.list().word().is_armed() {
            scene.past().read();
        }
        waiter.join().unwrap();
    });
}

#[test]
fn a_thread_that_finds_another_arrived_sees_what_it_took() {
    model_up_to(2, || {
        let scene = Scene::new();
        let slots = [(); 2].map(|()| scene.list().register());
        slots.iter().for_each(|slot| scene.list().arm(slot, true));
        drop(scene.list().notify_one());
        let arrival = scene.spawn(|scene| {
            scene.past().written();
            scene.list().arrive();
        });
        // The count of another one that is notified comes after the arrival, or before it.
        let notifier = scene.spawn(|scene| drop(scene.list().notify_one()));
        if scene.list().in_flight() == 0 {
            scene.past().read();
        }
        [arrival, notifier].into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// The last block is found by way of the hint where a search begins.
#[test]
fn a_block_is_found_as_it_was_made() {
    model_up_to(2, || {
        let scene = Scene::new();
        for _ in 0..3 {
            let _ = scene.list().register();
        }
        let waiter = scene.spawn(|scene| {
            let slot = scene.list().register();
            scene.list().arm(&slot, false);
        });
        let notifier = scene.spawn(|scene| drop(scene.list().notify_one()));
        drop(scene.list().notify_one());
        [waiter, notifier].into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// A slot of a full block comes free while the block is popped.
#[test]
fn a_block_with_room_is_found_again() {
    model_up_to(3, || {
        let scene = Scene::new();
        let [first, ..] = [(); 3].map(|()| scene.list().register());
        let block = first.block;
        let leaver = scene.spawn(move |scene| scene.list().unregister(&first));
        let more = [(); 3].map(|()| scene.list().register());
        leaver.join().unwrap();
        let last = scene.list().register();
        let again = more.iter().chain([&last]).filter(|slot| slot.block == block).count();
        assert_eq!(again, 1, "a free slot is lost");
    });
}

#[test]
fn blocks_are_popped_by_one_thread_at_a_time() {
    model_up_to(2, || {
        let scene = Scene::new();
        for _ in 0..3 {
            let _ = scene.list().register();
        }
        let other = scene.spawn(|scene| {
            let _ = scene.list().register();
        });
        let _ = scene.list().register();
        other.join().unwrap();
    });
}

#[test]
fn two_that_register_at_once_have_a_slot_each() {
    model_up_to(2, || {
        let scene = Scene::new();
        // The block is there.
        let _ = scene.list().register();
        let others = scene.clone();
        let other = thread::spawn(move || others.list().register().index);
        let index = scene.list().register().index;
        assert_ne!(index, other.join().unwrap());
    });
}

/// Another block is pushed while the one on top, which is full, is popped.
#[test]
fn a_pop_that_a_push_comes_before_loses_no_block() {
    model_up_to(2, || {
        let scene = Scene::new();
        // Two full blocks, and a third with room. The second is on top of that.
        let [first, _, _, second, _, last_of_second, third] = [(); 7].map(|()| scene.list().register());
        scene.list().unregister(&last_of_second);
        assert_eq!(scene.list().register().block, second.block);
        let blocks = [first.block, second.block, third.block];
        let leaver = scene.spawn(move |scene| scene.list().unregister(&first));
        let _ = scene.list().register();
        leaver.join().unwrap();
        scene.list().unregister(&second);
        // Three slots are free.
        for _ in 0..3 {
            assert!(blocks.contains(&scene.list().register().block), "a block with room is lost");
        }
    });
}

/// A block is pushed again above another one, which is new as well. Meanwhile a thread that has found it full is about
/// to pop it or to check below it.
#[test]
fn a_block_below_another_is_found_as_it_was_made() {
    model_up_to(2, || {
        let scene = Scene::new();
        let [first, ..] = [(); 3].map(|()| scene.list().register());
        let other = scene.spawn(move |scene| {
            let _ = scene.list().register();
            scene.list().unregister(&first);
        });
        let _ = scene.list().register();
        other.join().unwrap();
    });
}

/// The thread that pushes the block again has not made the one below it.
#[test]
fn a_block_that_another_thread_put_below_is_found_as_it_was_made() {
    model_up_to(2, || {
        let scene = Scene::new();
        let [first, ..] = [(); 3].map(|()| scene.list().register());
        let leaver = scene.spawn(move |scene| scene.list().unregister(&first));
        let other = scene.spawn(|scene| {
            let _ = scene.list().register();
        });
        let _ = scene.list().register();
        [leaver, other].into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn the_last_end_that_goes_against_a_publisher() {
    for fenced in [false, true] {
        model_up_to(2, move || {
            let scene = Scene::new();
            if !fenced {
                // No waiter is left: the promise of fences is withdrawn.
                scene.list().attend();
            }
            let scenes = scene.clone();
            let publisher = thread::spawn(move || {
                // ORDERING: Relaxed, here and below; the list's barriers are what is tested.
                scenes.published().store(1, Ordering::Relaxed);
                scenes.list().published() && scenes.list().attend().is_gone()
            });
            scene.list().go();
            let found = scene.published().load(Ordering::Relaxed) == 1;
            let told = publisher.join().unwrap();
            assert!(found || told, "neither finds the other: a message is stranded");
        });
    }
}
