//! Models of the bits beside a worker's position: a sender that has read the position reads the bits of these jobs, and not
//! those of the jobs that come to their places. Of two jobs of one place each time one is given back.

use super::{MOST, bit, heard, say};
use crate::sync::{AtomicU64, Ordering, fence};

struct Words {
    published: AtomicU64,
    given_back: AtomicU64,
    consumed: AtomicU64,
}

fn is_given_back(position: u64) -> bool {
    position / MOST as u64 % 2 == 1
}

/// Takes jobs as long as there are some.
fn take(words: &Words, jobs: u64) {
    let mut given_back = 0;
    for position in 0..jobs {
        // ORDERING: Acquire, as the reader of a ring; Release, as `Inlet::consumed`.
        if words.published.load(Ordering::Acquire) <= position {
            return;
        }
        say(&words.given_back, &mut given_back, position, !is_given_back(position));
        words.consumed.store(position + 1, Ordering::Release);
    }
}

/// Gives jobs out, and looks what has become of them.
fn give(words: &Words, credit: u64, jobs: u64) {
    let mut known = 0;
    for _ in 0..3 {
        // ORDERING: Release, as the writer of a ring; Relaxed and the fence, as `Outlet::refresh`.
        words.published.store(jobs.min(known + credit), Ordering::Release);
        let consumed = words.consumed.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        let bits = heard(&words.given_back);
        for position in known..consumed {
            assert_eq!(bits & bit(position) != 0, is_given_back(position), "{position}");
        }
        known = consumed;
    }
}

fn model(credit: u64, jobs: u64) {
    let mut builder = loom::model::Builder::new();
    // To completion, whatever the environment says: seconds in all.
    builder.preemption_bound = None;
    builder.max_permutations = None;
    builder.check(move || {
        let word = || AtomicU64::new(0);
        let words: &'static Words =
            Box::leak(Box::new(Words { published: word(), given_back: word(), consumed: word() }));
        let worker = loom::thread::spawn(move || take(words, jobs));
        give(words, credit, jobs);
        worker.join().unwrap();
    });
}

#[test]
fn bits_are_read_before_they_are_written_again() {
    model(MOST as u64, 5);
}

#[test]
fn a_credit_of_more_jobs_than_bits_is_too_much() {
    let outcome = std::panic::catch_unwind(|| model(MOST as u64 + 1, 5));
    assert!(outcome.is_err());
}
