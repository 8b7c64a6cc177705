//! The parts of the pool under the model checker: the marks, and magazines with two slots. The models of the whole pool
//! are in `tests/loom/pool.rs`.
//!
//! Claim: A mark of the pool is set whenever its condition holds. A magazine has one owner at a time, and each of its
//! blocks too.

use core::ptr;

use loom::thread;

use super::group::{Bank, GROUP, Held};
use super::magazine::{Entry, Magazine};
use super::marks::Marks;
use crate::runner::model;
use crate::sync::{Arc, AtomicBool, AtomicU32, Ordering};

/// Marks of one word, and the condition of the first mark.
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
                // A thread that makes it false doubts the mark, as a search does that finds nothing.
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

/// A thread that has lost a race for a word leaves it alone: otherwise the winner would mistake a later doubt for its
/// own.
#[test]
fn a_mark_that_is_added_while_it_is_doubted_against_two_doubts_of_another() {
    model(|| {
        let scene = Scene::new(true);
        let other = thread::spawn({
            let scene = scene.clone();
            move || {
                scene.marks.doubt(0, || {
                    // The condition becomes true after the check.
                    scene.add();
                    false
                });
            }
        });
        scene.marks.doubt(1, || true);
        let mut other = Some(other);
        scene.marks.doubt(1, || {
            other.take().into_iter().for_each(|other| other.join().unwrap());
            true
        });
        other.into_iter().for_each(|other| other.join().unwrap());
        assert!(scene.marks.iter().eq(0..2), "the condition holds, and its mark is clear");
    });
}

/// The number of threads that have taken the block: one at most.
#[derive(Default)]
struct Owners(AtomicU32);

impl Owners {
    fn count(&self, taken: Option<Entry>) {
        if taken.is_some() {
            assert_eq!(self.0.fetch_add(1, Ordering::Relaxed), 0, "a block with two owners");
        }
    }
}

/// The owner of a magazine with one block prepares it, and takes the block, while `THIEVES` threads steal.
fn the_owner_against_thieves<const THIEVES: usize>(prepare: fn(&Magazine)) {
    model(move || {
        let scene = Arc::new((Magazine::new(), Owners::default()));
        let (magazine, owners) = &*scene;
        magazine.put(0, Entry::used(0, false));
        let thieves = [(); THIEVES].map(|()| {
            let scene = scene.clone();
            thread::spawn(move || scene.1.count(scene.0.steal()))
        });
        prepare(magazine);
        owners.count(magazine.take(0));
        thieves.into_iter().for_each(|thief| thief.join().unwrap());
    });
}

#[test]
fn the_owner_takes_against_a_thief() {
    the_owner_against_thieves::<1>(|_| {});
}

#[test]
fn the_owner_calms_its_magazine_and_takes_against_a_thief() {
    the_owner_against_thieves::<1>(Magazine::calm);
}

#[test]
fn the_owner_calms_its_magazine_and_takes_against_two_thieves() {
    the_owner_against_thieves::<2>(Magazine::calm);
}

/// The owner swaps, finds that the process has registered for the barrier, and takes without swaps.
#[test]
fn the_owner_gives_up_its_swaps_against_a_thief() {
    model(|| {
        let scene = Arc::new((Magazine::unregistered(), [(); 3].map(|()| Owners::default())));
        let (magazine, owners) = &*scene;
        let count = |owners: &[Owners; 3], taken: Option<Entry>| {
            taken.iter().for_each(|entry| owners[entry.index() as usize].count(taken));
        };
        (0..2).for_each(|at| magazine.put(at, Entry::used(at as u32, false)));
        let thief = thread::spawn({
            let scene = scene.clone();
            move || count(&scene.1, scene.0.steal())
        });
        (0..2).rev().for_each(|at| count(owners, magazine.take(at)));
        magazine.put(0, Entry::used(2, false));
        count(owners, magazine.take(0));
        thief.join().unwrap();
    });
}

#[test]
fn a_magazine_goes_from_owner_to_owner_against_a_thief() {
    model(|| {
        let scene = Arc::new((Bank::new(1, false), Owners::default()));
        let held = scene.0.claim().expect("all are free");
        held.magazine().put(0, Entry::used(0, false));
        let thief = thread::spawn({
            let scene = scene.clone();
            move || scene.1.count(scene.0.in_use().find_map(Magazine::steal))
        });
        let next = thread::spawn({
            let scene = scene.clone();
            move || {
                if let Some(held) = scene.0.adopt_roomy() {
                    let magazine = held.magazine();
                    magazine.calm();
                    (0..magazine.left()).rev().for_each(|at| scene.1.count(magazine.take(at)));
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

/// Two threads get a magazine in the same way at once; `offered` were offered before, all with room.
fn two_get_a_magazine_each(offered: usize, get: fn(&Bank) -> Option<Held>) {
    model(move || {
        let bank = Arc::new(Bank::new(1, false));
        let all: Vec<_> = (0..offered).map(|_| bank.claim().expect("all are free")).collect();
        all.into_iter().for_each(|held| held.offer(0, 2));
        let place = move |bank: &Bank| ptr::from_ref(get(bank).expect("there are two").magazine()).addr();
        let other = thread::spawn({
            let bank = bank.clone();
            move || place(&bank)
        });
        let mine = place(&bank);
        assert_ne!(mine, other.join().unwrap(), "a magazine with two owners");
    });
}

#[test]
fn two_threads_claim_a_magazine_each() {
    two_get_a_magazine_each(0, Bank::claim);
}

#[test]
fn two_threads_adopt_a_magazine_each() {
    two_get_a_magazine_each(2, Bank::adopt);
}

#[test]
fn a_magazine_with_room_is_found_behind_a_search_that_has_missed_it() {
    model(|| {
        let bank = Arc::new(Bank::new(1, false));
        let held = bank.claim().expect("all are free");
        let other = thread::spawn({
            let bank = bank.clone();
            move || bank.adopt_roomy().is_some()
        });
        held.offer(0, 2);
        let found = other.join().unwrap();
        assert_ne!(found, bank.adopt_roomy().is_some(), "one of the two finds it");
    });
}

/// The other thread has found the same magazine, filled it and offered it full since this thread has checked.
///
/// Claim: A thread that searches a magazine with room finds one, even if another thread fills it meanwhile.
/// Also: model pool::two_threads_whose_first_messages_go_into_one_magazine,
/// suite pool::late::threads_that_drop_blocks_past_their_thread_locals_at_once.
#[test]
fn a_magazine_with_room_that_another_thread_fills_meanwhile() {
    model(|| {
        let bank = Arc::new(Bank::new(1, false));
        bank.claim().expect("all are free").offer(1, 2);
        let fill = |bank: &Bank| {
            if let Some(held) = bank.adopt_roomy() {
                assert_eq!(held.magazine().left(), 1, "a full magazine is one with room");
                held.offer(2, 2);
            }
        };
        let other = thread::spawn({
            let bank = bank.clone();
            move || fill(&bank)
        });
        fill(&bank);
        other.join().unwrap();
        assert!(bank.adopt_roomy().is_none());
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
