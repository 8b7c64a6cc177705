//! Models of a record that is read while it is written over. A record takes one place of two, and has two words, which must be
//! of one record; a writer of three comes round.

use super::{Marks, Seen};
use crate::sync::model::leave_out;
use crate::sync::{AtomicU64, Ordering, Step};

/// Of a record, and of the ring.
const BYTES: u64 = 8;
const RING: u64 = 2 * BYTES;

struct Memory {
    published: AtomicU64,
    begun: AtomicU64,
    newest: AtomicU64,
    places: [[AtomicU64; 2]; 2],
}

impl Memory {
    fn marks(&self) -> Marks<'_> {
        Marks { published: &self.published, begun: &self.begun, newest: &self.newest }
    }

    fn place(&self, position: u64) -> &[AtomicU64; 2] {
        &self.places[(position % RING / BYTES) as usize]
    }

    fn write(&self, records: u64) {
        for from in (0..records).map(|number| number * BYTES) {
            self.marks().publish(from, from + BYTES, || {
                // ORDERING: Relaxed here and in the reads, as of the words of a record in `store_words` and `load_words`.
                self.place(from).iter().for_each(|word| word.store(from + 1, Ordering::Relaxed));
            });
        }
    }

    /// Receives until there is nothing; what it receives is whole, and never older than before.
    fn read(&self, records: u64) {
        let mut position = 0;
        loop {
            let seen = match self.marks().ahead(position, RING) {
                Seen::Whole(_) => self.marks().read(position, RING, || {
                    Some(self.place(position).each_ref().map(|word| word.load(Ordering::Relaxed)))
                }),
                Seen::Nothing => return,
                Seen::Overtaken => Seen::Overtaken,
                Seen::Broken => Seen::Broken,
            };
            match seen {
                Seen::Whole(words) => {
                    assert_eq!(words, [position + 1; 2], "whole, and of its position");
                    position += BYTES;
                }
                Seen::Overtaken => {
                    assert!(records * BYTES > RING + position);
                    position = self.marks().go_on(position).expect("an honest writer");
                }
                Seen::Nothing | Seen::Broken => panic!("an honest writer"),
            }
        }
    }
}

fn model(records: u64, preemptions: Option<usize>) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    // To completion, whatever the environment says: seconds in all.
    builder.max_permutations = None;
    builder.check(move || {
        let word = || AtomicU64::new(0);
        let memory: &'static Memory = Box::leak(Box::new(Memory {
            published: word(),
            begun: word(),
            newest: word(),
            places: [[word(), word()], [word(), word()]],
        }));
        let writer = loom::thread::spawn(move || memory.write(records));
        memory.read(records);
        writer.join().unwrap();
    });
}

fn fails_without(step: Step) -> bool {
    std::thread::spawn(move || {
        leave_out(step);
        std::panic::catch_unwind(|| model(3, Some(3))).is_err()
    })
    .join()
    .unwrap()
}

#[test]
fn a_record_that_is_written_over_is_whole_or_known_not_to_be() {
    model(3, None);
}

#[test]
fn a_reader_that_is_overtaken_goes_on_with_a_later_record() {
    model(5, Some(2));
}

#[test]
fn the_fence_behind_the_mark_is_needed() {
    assert!(fails_without(Step::FenceAfterMark));
}

#[test]
fn the_fence_behind_the_copy_is_needed() {
    assert!(fails_without(Step::FenceAfterCopy));
}
