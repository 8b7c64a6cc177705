//! Models of a value that is read while it is replaced. A value has two words, which must be of one version; there are two
//! places, so that a writer of three versions comes round.

use super::{Seen, Versions};
use crate::sync::model::leave_out;
use crate::sync::{AtomicU64, Ordering, Step};

const PLACES: u64 = 2;

struct Memory {
    begun: AtomicU64,
    published: AtomicU64,
    places: [[AtomicU64; 2]; PLACES as usize],
}

impl Memory {
    fn versions(&self) -> Versions<'_> {
        Versions { begun: &self.begun, published: &self.published }
    }

    fn write(&self, versions: u64) {
        for last in 0..versions {
            self.versions().publish(last, PLACES, |place| {
                let [one, other] = &self.places[place as usize];
                // ORDERING: Relaxed here and in the reads, as of the words of a value in `store_words` and `load_words`.
                one.store(last + 1, Ordering::Relaxed);
                other.store(last + 1, Ordering::Relaxed);
            });
        }
    }

    /// Reads until it has the last version; what it receives is whole, and never older than before.
    fn read(&self, last: u64, attempts: usize) {
        let mut seen = 0;
        for _ in 0..attempts {
            let copy = |place: u64| {
                let [one, other] = &self.places[place as usize];
                [one.load(Ordering::Relaxed), other.load(Ordering::Relaxed)]
            };
            match self.versions().read(seen, PLACES, copy) {
                Seen::Whole(value, version) => {
                    assert_eq!(value, [version; 2], "whole, and of its version");
                    assert!(version >= seen && version <= last);
                    seen = version;
                }
                Seen::Torn => assert!(last > PLACES, "nobody has come round"),
                Seen::Nothing => assert_eq!(seen, 0),
                Seen::Broken => panic!("an honest writer"),
            }
        }
    }
}

fn model(versions: u64, attempts: usize, preemptions: Option<usize>) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    // To completion, whatever the environment says: seconds in all.
    builder.max_permutations = None;
    builder.check(move || {
        let word = || AtomicU64::new(0);
        let memory: &'static Memory = Box::leak(Box::new(Memory {
            begun: word(),
            published: word(),
            places: [[word(), word()], [word(), word()]],
        }));
        let writer = loom::thread::spawn(move || memory.write(versions));
        memory.read(versions, attempts);
        writer.join().unwrap();
        match memory.versions().read(0, PLACES, |place| memory.places[place as usize][1].load(Ordering::Relaxed)) {
            Seen::Whole(value, version) => assert_eq!((value, version), (versions, versions)),
            other => panic!("{other:?}"),
        }
    });
}

fn fails_without(step: Step) -> bool {
    std::thread::spawn(move || {
        leave_out(step);
        std::panic::catch_unwind(|| model(3, 1, Some(3))).is_err()
    })
    .join()
    .unwrap()
}

#[test]
fn a_value_that_is_replaced_while_it_is_read_is_whole_or_known_to_be_torn() {
    model(3, 1, None);
}

#[test]
fn values_never_go_back() {
    model(4, 2, Some(2));
}

#[test]
fn the_fence_behind_the_mark_is_needed() {
    assert!(fails_without(Step::FenceAfterMark));
}

#[test]
fn the_fence_behind_the_copy_is_needed() {
    assert!(fails_without(Step::FenceAfterCopy));
}
