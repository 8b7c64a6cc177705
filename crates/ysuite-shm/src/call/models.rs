//! Models of calls of one place: each answer is whole, and that of its own call; and a caller that has one call at a time is
//! never counted to have two.

use super::{closes, opens};
use crate::ring::answers::{Found, end, ended, look_at};
use crate::sync::{AtomicU64, Ordering};

const CALLS: u64 = 3;

struct Words {
    /// The number of the last question.
    asked: AtomicU64,
    state: AtomicU64,
    answer: [AtomicU64; 2],
    open: AtomicU64,
}

fn is_dropped(number: u64) -> bool {
    number == 2
}

/// Answers what is asked, as long as there is something. `early`: an answer is said to be there before it is.
fn answer(words: &Words, early: bool) {
    for number in 1..=CALLS {
        // ORDERING: Acquire, as the reader of a ring; Relaxed, as the words of an answer.
        if words.asked.load(Ordering::Acquire) < number {
            return;
        }
        assert!(opens(&words.open, 1), "{number}");
        if early {
            end(&words.state, number, true);
        }
        if !is_dropped(number) {
            words.answer.iter().for_each(|word| word.store(number, Ordering::Relaxed));
        }
        closes(&words.open);
        if !early {
            end(&words.state, number, !is_dropped(number));
        }
    }
}

/// Asks again as soon as a call has ended.
fn call(words: &Words) {
    let (mut number, mut before) = (1, 0);
    // ORDERING: Release, as the writer of a ring; Relaxed, as above.
    words.asked.store(number, Ordering::Release);
    for _ in 0..CALLS + 1 {
        let is_answered = match look_at(&words.state, number, before) {
            Found::Nothing => continue,
            Found::Broken => panic!("an honest receiver"),
            Found::Answer => {
                let answer = words.answer.each_ref().map(|word| word.load(Ordering::Relaxed));
                assert_eq!(answer, [number; 2], "whole, and of this call");
                true
            }
            Found::Dropped => false,
        };
        assert_eq!(is_answered, !is_dropped(number));
        if number == CALLS {
            return;
        }
        before = ended(number, is_answered);
        number += 1;
        words.asked.store(number, Ordering::Release);
    }
}

fn model(early: bool) {
    let mut builder = loom::model::Builder::new();
    // To completion, whatever the environment says: seconds in all.
    builder.preemption_bound = None;
    builder.max_permutations = None;
    builder.check(move || {
        let word = || AtomicU64::new(0);
        let words: &'static Words =
            Box::leak(Box::new(Words { asked: word(), state: word(), answer: [word(), word()], open: word() }));
        let receiver = loom::thread::spawn(move || answer(words, early));
        call(words);
        receiver.join().unwrap();
    });
}

#[test]
fn answers_are_whole_and_of_their_calls() {
    model(false);
}

#[test]
fn an_answer_must_be_there_before_it_is_said_to_be() {
    assert!(std::panic::catch_unwind(|| model(true)).is_err());
}
