//! The parts of the pool under the model checker: the marks, and magazines with two slots. What the pool as a whole promises is
//! in `tests/loom/pool.rs`.

use loom::thread;

use super::group::{Bank, GROUP};
use super::magazine::{Entry, Magazine};
use super::marks::Marks;
use crate::runner::model;
use crate::sync::{Arc, AtomicBool, AtomicU32, Ordering};

/// Marks of one word, and what the first of them says.
struct Scene {
    marks: Marks,
    condition: AtomicBool,
}

impl Scene {
    fn new(set: bool) -> Arc<Self> {
        Arc::new(Self { marks: Marks::new(2, set), condition: AtomicBool::new(false) })
    }

    /// The condition becomes true, and is marked.
    fn add(&self) {
        self.condition.store(true, Ordering::Relaxed);
        self.marks.add(0);
    }

    fn doubt(&self) {
        self.marks.doubt(0, || self.condition.load(Ordering::Relaxed));
    }
}

#[test]
fn a_mark_that_is_added_against_one_that_doubts_it() {
    model(|| {
        let scene = Scene::new(true);
        let adder = thread::spawn({
            let scene = scene.clone();
            move || scene.add()
        });
        scene.doubt();
        adder.join().unwrap();
        assert!(scene.marks.iter().any(|at| at == 0), "the condition holds, and its mark is clear");
    });
}

#[test]
fn a_mark_that_is_added_against_two_that_doubt_it() {
    model(|| {
        let scene = Scene::new(true);
        let threads = [Scene::add, Scene::doubt].map(|step| {
            let scene = scene.clone();
            thread::spawn(move || step(&scene))
        });
        scene.doubt();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(scene.marks.iter().any(|at| at == 0), "the condition holds, and its mark is clear");
    });
}

#[test]
fn a_condition_that_ends_and_is_true_again_against_one_that_doubts_it() {
    model(|| {
        let scene = Scene::new(false);
        scene.add();
        let other = thread::spawn({
            let scene = scene.clone();
            move || {
                // Whoever makes it false doubts the mark, as a search does that finds nothing.
                scene.condition.store(false, Ordering::Relaxed);
                scene.doubt();
                scene.add();
            }
        });
        scene.doubt();
        other.join().unwrap();
        assert!(scene.marks.iter().any(|at| at == 0), "the condition holds, and its mark is clear");
    });
}

/// A magazine, and the words of the block that stands in it: they are written before it is put in, and by whoever has taken it.
struct Block {
    magazine: Magazine,
    owners: AtomicU32,
}

impl Block {
    fn new() -> Arc<Self> {
        Arc::new(Self { magazine: Magazine::new(), owners: AtomicU32::new(0) })
    }

    fn taken(&self, entry: Option<Entry>) {
        if entry.is_some() {
            assert_eq!(self.owners.fetch_add(1, Ordering::Relaxed), 0, "a block with two owners");
        }
    }
}

#[test]
fn the_owner_takes_against_a_thief() {
    model(|| {
        let block = Block::new();
        block.magazine.put(0, Entry::used(0, false));
        let thief = thread::spawn({
            let block = block.clone();
            move || block.taken(block.magazine.steal())
        });
        block.taken(block.magazine.take(0));
        thief.join().unwrap();
    });
}

#[test]
fn the_owner_calms_its_magazine_and_takes_against_a_thief() {
    model(|| {
        let block = Block::new();
        block.magazine.put(0, Entry::used(0, false));
        let thief = thread::spawn({
            let block = block.clone();
            move || block.taken(block.magazine.steal())
        });
        block.magazine.calm();
        block.taken(block.magazine.take(0));
        thief.join().unwrap();
    });
}

#[test]
fn the_owner_calms_its_magazine_and_takes_against_two_thieves() {
    model(|| {
        let block = Block::new();
        block.magazine.put(0, Entry::used(0, false));
        let thieves = [(); 2].map(|()| {
            let block = block.clone();
            thread::spawn(move || block.taken(block.magazine.steal()))
        });
        block.magazine.calm();
        block.taken(block.magazine.take(0));
        thieves.into_iter().for_each(|thief| thief.join().unwrap());
    });
}

#[test]
fn a_magazine_goes_from_owner_to_owner_against_a_thief() {
    model(|| {
        let bank = Arc::new(Bank::new(1, false));
        let held = bank.claim().expect("all are free");
        held.magazine().put(0, Entry::used(0, false));
        let owners = Arc::new(AtomicU32::new(0));
        let count = |taken: Option<Entry>, owners: &AtomicU32| {
            if taken.is_some() {
                assert_eq!(owners.fetch_add(1, Ordering::Relaxed), 0, "a block with two owners");
            }
        };
        let thief = thread::spawn({
            let (bank, owners) = (bank.clone(), owners.clone());
            move || count(bank.in_use().find_map(Magazine::steal), &owners)
        });
        let next = thread::spawn({
            let (bank, owners) = (bank.clone(), owners.clone());
            move || {
                // With room, or as one that may have blocks.
                if let Some(held) = bank.adopt_roomy() {
                    let magazine = held.magazine();
                    magazine.calm();
                    (0..magazine.left()).rev().for_each(|at| count(magazine.take(at), &owners));
                    held.release();
                }
            }
        });
        held.offer(1, 2);
        thief.join().unwrap();
        next.join().unwrap();
    });
}

#[test]
fn a_magazine_that_is_released_is_empty_for_the_next_owner() {
    const { assert!(GROUP > 1) };
    model(|| {
        let bank = Arc::new(Bank::new(1, false));
        let all: Vec<_> = core::iter::from_fn(|| bank.claim()).collect();
        assert_eq!(all.len(), GROUP);
        let other = thread::spawn({
            let bank = bank.clone();
            move || {
                if let Some(held) = bank.claim() {
                    assert!(held.magazine().is_empty());
                    held.magazine().put(0, Entry::used(1, false));
                    assert_eq!(held.magazine().take(0), Some(Entry::used(1, false)));
                }
            }
        });
        let held = all[0];
        held.magazine().put(0, Entry::used(0, false));
        assert_eq!(held.magazine().take(0), Some(Entry::used(0, false)));
        held.release();
        other.join().unwrap();
        assert!(bank.claim().is_some() || bank.in_use().count() == GROUP);
    });
}

#[test]
fn two_threads_need_the_next_bank() {
    model(|| {
        let bank = Arc::new(Bank::new(1, false));
        let other = thread::spawn({
            let bank = bank.clone();
            move || bank.extend().claim().is_some()
        });
        let found = bank.next().is_none_or(|next| next.claim().is_some());
        assert!(bank.extend().claim().is_some() & found & other.join().unwrap());
        assert!(bank.extend().next().is_none(), "a bank too many");
    });
}
