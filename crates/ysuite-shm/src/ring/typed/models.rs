//! Models of a reader that the writer may overtake. A group has one slot, of two words, which must be of one message; there
//! are two groups, so that a writer of three messages comes round.

use super::{Ahead, enter, is_whole, look_at};
use crate::sync::model::leave_out;
use crate::sync::{AtomicU64, Ordering, Step};

const LAP: u64 = 2;

struct Group {
    state: AtomicU64,
    words: [AtomicU64; 2],
}

fn write(groups: &[Group; 2], messages: u64) {
    for position in 0..messages {
        let group = &groups[(position % LAP) as usize];
        enter(&group.state, position);
        // ORDERING: Relaxed here and in the reads, as of the words of a message. The state is stored with Release, which pairs
        // with the fence in `look_at`, as by the writer.
        group.words.iter().for_each(|word| word.store(position + 1, Ordering::Relaxed));
        group.state.store(position + 1, Ordering::Release);
    }
}

/// Receives from the first message on, until there is nothing, or it was overtaken.
fn read(groups: &[Group; 2], messages: u64) {
    for position in 0..messages {
        let group = &groups[(position % LAP) as usize];
        match look_at(&group.state, position, 0, 1, LAP) {
            Ahead::Message => {
                let words = group.words.each_ref().map(|word| word.load(Ordering::Relaxed));
                if !is_whole(&group.state, position, 1) {
                    return;
                }
                assert_eq!(words, [position + 1; 2], "whole, and of its position");
            }
            Ahead::Nothing => return,
            Ahead::Overtaken => return assert!(messages > LAP + position),
            Ahead::Broken => panic!("an honest writer"),
        }
    }
}

fn model(messages: u64, preemptions: Option<usize>) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    // To completion, whatever the environment says: seconds in all.
    builder.max_permutations = None;
    builder.check(move || {
        let word = || AtomicU64::new(0);
        let group = || Group { state: word(), words: [word(), word()] };
        let groups: &'static [Group; 2] = Box::leak(Box::new([group(), group()]));
        let writer = loom::thread::spawn(move || write(groups, messages));
        read(groups, messages);
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
fn a_message_that_is_written_over_is_whole_or_known_not_to_be() {
    model(3, None);
}

#[test]
fn a_reader_that_is_overtaken_twice_knows() {
    model(5, Some(2));
}

#[test]
fn the_fence_behind_the_entry_is_needed() {
    assert!(fails_without(Step::FenceAfterMark));
}

#[test]
fn the_fence_behind_the_copy_is_needed() {
    assert!(fails_without(Step::FenceAfterCopy));
}
