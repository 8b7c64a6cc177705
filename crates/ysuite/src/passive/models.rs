//! The word alone under the model checker: what a token hands over, in both directions. How handles sleep by it is in
//! `tests/loom`.
//!
//! Claim: A taken wake mode brings what its sleeper did before. A missing one brings what its publisher did before.

use loom::thread;

use super::Passive;
use crate::runner::model;
use crate::sync::{Arc, AtomicBool, Handed, Ordering};

const TOKEN: u32 = 1;

/// A word between two threads; what each has done before it notified the other; and a queue of one message.
struct Scene {
    word: Passive,
    sleeper: Handed,
    publisher: Handed,
    message: AtomicBool,
}

impl Scene {
    fn new(word: Passive) -> Arc<Self> {
        Arc::new(Self {
            word,
            sleeper: Handed::default(),
            publisher: Handed::default(),
            message: AtomicBool::new(false),
        })
    }

    /// Publishes, and gets the token by `taken`.
    fn publish(&self, taken: fn(&Passive) -> u32) {
        self.publisher.written();
        // Relaxed: what is handed over goes by the token alone.
        self.message.store(true, Ordering::Relaxed);
        if taken(&self.word) & TOKEN != 0 {
            self.sleeper.read();
        }
    }

    /// Arms, and polls. True: there is a message, or the token has been taken.
    fn arm(&self) -> bool {
        self.sleeper.written();
        self.word.arm(TOKEN);
        self.message.load(Ordering::Relaxed)
    }
}

fn token_against(taken: fn(&Passive) -> u32, gone: fn(&Passive) -> bool) {
    model(move || {
        let scene = Scene::new(Passive::new());
        let publisher = thread::spawn({
            let scene = scene.clone();
            move || scene.publish(taken)
        });
        let found = scene.arm();
        if gone(&scene.word) {
            scene.publisher.read();
        }
        publisher.join().unwrap();
        assert!(found || scene.word.look() & TOKEN == 0, "a sleeper that found nothing keeps its token");
    });
}

#[test]
fn a_publisher_that_takes_a_token_sees_what_the_sleeper_did_and_is_seen_by_a_look() {
    token_against(Passive::published, |word| word.look() & TOKEN == 0);
}

#[test]
fn a_caller_that_takes_a_token_sees_what_the_sleeper_did_and_is_seen_by_a_look() {
    token_against(Passive::called, |word| word.look() & TOKEN == 0);
}

#[test]
fn a_publisher_that_takes_a_token_is_seen_by_a_sleeper_that_takes_it_back() {
    token_against(Passive::published, |word| word.disarm(TOKEN) == 0);
}

#[test]
fn a_caller_that_takes_a_token_is_seen_by_a_sleeper_that_takes_it_back() {
    token_against(Passive::called, |word| word.disarm(TOKEN) == 0);
}

#[test]
fn a_publisher_gives_up_its_fence_against_a_sleeper() {
    model(|| {
        let scene = Scene::new(Passive::new());
        let publisher = thread::spawn({
            let scene = scene.clone();
            // The first publication finds no sleeper to wake, so it removes the fence.
            move || (0..2).for_each(|_| scene.publish(Passive::published))
        });
        let found = scene.arm();
        publisher.join().unwrap();
        assert!(found || scene.word.look() & TOKEN == 0, "a sleeper that found nothing keeps its token");
    });
}

#[test]
fn a_sleeper_that_leaves_is_seen_with_all_that_it_did() {
    model(|| {
        let scene = Scene::new(Passive::new());
        let publisher = thread::spawn({
            let scene = scene.clone();
            move || {
                if scene.word.is_gone() {
                    scene.sleeper.read();
                }
                scene.publish(|word| if word.published() & super::GONE == 0 { 0 } else { TOKEN });
            }
        });
        scene.sleeper.written();
        scene.word.go().pass();
        let found = scene.message.load(Ordering::Relaxed);
        publisher.join().unwrap();
        assert!(found || scene.word.is_gone());
    });
}
