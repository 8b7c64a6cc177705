//! Waiters beyond the first block: they are counted where a notifier checks first.

use loom::thread;

use super::super::slots::Waiter;
use super::Scene;
use crate::runner::model_up_to;
use crate::sync::Ordering;

/// `WAITERS` waiters in the second block; the first is full.
fn further<const WAITERS: usize>(scene: &Scene) -> [Waiter; WAITERS] {
    let first = [(); 3].map(|()| scene.list().register());
    let waiters = [(); WAITERS].map(|()| scene.list().register());
    assert!(waiters.iter().all(|waiter| waiter.block != first[0].block && waiter.block == waiters[0].block));
    waiters
}

/// Publishes a message, and notifies a waiter if there is one.
fn publish(scene: &Scene) {
    // ORDERING: Relaxed, here and below; the list's barriers are what is tested.
    scene.published().store(1, Ordering::Relaxed);
    if scene.list().published() && scene.list().attend().is_armed() {
        drop(scene.list().notify_one());
    }
}

fn finds(scene: &Scene) -> bool {
    scene.published().load(Ordering::Relaxed) == 1
}

#[test]
fn a_waiter_of_a_further_block_against_a_publisher() {
    for fenced in [false, true] {
        model_up_to(2, move || {
            let scene = Scene::new();
            let [waiter] = further(&scene);
            if !fenced {
                scene.list().attend();
            }
            let publisher = scene.spawn(publish);
            scene.list().arm(&waiter, false);
            let found = finds(&scene);
            publisher.join().unwrap();
            assert!(found || !scene.list().is_armed(&waiter), "a waiter that found nothing is left asleep");
        });
    }
}

/// The count goes down for one waiter and up for another. A waiter that is notified and has left is responsible for
/// that.
#[test]
fn a_waiter_of_a_further_block_that_comes_as_another_goes_against_a_publisher() {
    model_up_to(2, || {
        let scene = Scene::new();
        let [goes, comes] = further(&scene);
        scene.list().arm(&goes, false);
        let publisher = scene.spawn(publish);
        let goer = {
            let scene = scene.clone();
            thread::spawn(move || scene.list().disarm(&goes))
        };
        scene.list().arm(&comes, false);
        let found = finds(&scene);
        publisher.join().unwrap();
        let answers = !goer.join().unwrap();
        assert!(found || answers || !scene.list().is_armed(&comes), "a waiter that found nothing is left asleep");
    });
}

/// Two make the second block and its region at once, and a notifier finds both waiters.
#[test]
fn two_that_make_a_further_block_are_found_there() {
    model_up_to(2, || {
        let scene = Scene::new();
        for _ in 0..3 {
            let _ = scene.list().register();
        }
        let other = scene.spawn(|scene| scene.list().arm(&scene.list().register(), false));
        scene.list().arm(&scene.list().register(), false);
        other.join().unwrap();
        assert!((0..2).all(|_| scene.list().notify_one().is_some()), "a waiter is not found");
        assert!(scene.list().notify_one().is_none());
    });
}
