//! The unbounded queue under the model checker, without its channel, which would poll again and so needs more
//! preemptions to go wrong. Segments have two slots here.

use loom::thread;

use super::Segments;
use super::layout::Place;
use crate::queue::exchange::models::the_past_of_a_close;
use crate::queue::exchange::{Staging, StagingSpace};
use crate::runner::model_up_to;
use crate::sync::Arc;

/// Another thread takes at most two of three messages in two segments, and retires a segment: `look` finds one in any
/// case.
fn beside_a_reader(look: impl Fn(&Segments<u32>) -> bool + Copy + Send + Sync + 'static) {
    model_up_to(2, move || {
        let queue = Arc::new(Segments::new());
        (0..3).for_each(|number| queue.push(number).unwrap());
        let other = queue.clone();
        let thread = thread::spawn(move || assert!(other.pop().is_some() && other.pop().is_some()));
        assert!(look(&queue), "one of the messages is not the other's");
        thread.join().unwrap();
    });
}

#[test]
fn a_reader_whose_segment_is_retired_meanwhile_takes_what_is_behind_it() {
    beside_a_reader(|queue| queue.pop().is_some());
}

#[test]
fn a_queue_whose_segment_is_retired_meanwhile_can_be_read() {
    beside_a_reader(|queue| queue.is_readable());
}

/// Writes messages with one claim, as far as one segment has room.
fn push_many(queue: &Segments<u32>, mut messages: core::ops::Range<u32>) -> Option<usize> {
    let mut space = StagingSpace::new();
    let mut staging = Staging::new(&mut space);
    staging.fill(&mut messages, usize::MAX);
    queue.push_many(&mut staging)
}

fn push_two(queue: &Segments<u32>, first: u32) {
    assert_eq!(push_many(queue, first..first + 2), Some(2));
}

#[test]
fn two_batches_at_once_lie_one_behind_the_other() {
    model_up_to(2, || {
        let queue = Arc::new(Segments::new());
        let other = queue.clone();
        let thread = thread::spawn(move || push_two(&other, 10));
        push_two(&queue, 0);
        thread.join().unwrap();
        let mut taken = Vec::new();
        assert_eq!(queue.pop_many(&mut taken, usize::MAX), 4);
        assert!(taken == [0, 1, 10, 11] || taken == [10, 11, 0, 1], "{taken:?}");
    });
}

/// Each makes the memory of the first segment, where it does not find it.
#[test]
fn two_first_messages_at_once() {
    model_up_to(2, || {
        let queue = Arc::new(Segments::new());
        let other = queue.clone();
        let thread = thread::spawn(move || other.push(1).unwrap());
        queue.push(0).unwrap();
        // The other's may come before it, and not be finished.
        let first = queue.pop();
        thread.join().unwrap();
        let mut taken: Vec<u32> = first.into_iter().chain(core::iter::from_fn(|| queue.pop())).collect();
        taken.sort_unstable();
        assert_eq!(taken, [0, 1]);
    });
}

type Step = fn(&Segments<u32>) -> bool;

fn takes(queue: &Segments<u32>) -> bool {
    queue.pop().is_some()
}

fn takes_a_batch(queue: &Segments<u32>) -> bool {
    queue.pop_many(&mut Vec::new(), 1) == 1
}

/// This thread takes one of the messages in two segments, retires a segment, sends one, and takes one: `look` finds one
/// in any case.
fn beside_one_that_sends_before_it_takes(take: Step, look: Step) {
    model_up_to(1, move || {
        let queue = Arc::new(Segments::new());
        (0..3).for_each(|number| queue.push(number).unwrap());
        assert!(take(&queue));
        let other = queue.clone();
        let thread = thread::spawn(move || assert!(look(&other), "there always is a message"));
        assert!(take(&queue));
        queue.push(3).unwrap();
        assert!(take(&queue));
        thread.join().unwrap();
    });
}

#[test]
fn a_message_is_taken_beside_one_that_sends_before_it_takes() {
    beside_one_that_sends_before_it_takes(takes, takes);
}

#[test]
fn a_batch_is_taken_beside_one_that_sends_before_it_takes() {
    beside_one_that_sends_before_it_takes(takes, takes_a_batch);
}

#[test]
fn a_queue_is_not_empty_beside_one_that_sends_before_it_takes() {
    beside_one_that_sends_before_it_takes(takes, Segments::is_readable);
    beside_one_that_sends_before_it_takes(takes, |queue| (1..=3).contains(&queue.len()));
    beside_one_that_sends_before_it_takes(takes_a_batch, Segments::is_readable);
}

/// A thread that passes a notification on first checks, and then counts.
#[test]
fn a_message_that_a_look_has_found_is_counted_behind_it() {
    model_up_to(2, || {
        let queue = Arc::new(Segments::<u32>::new());
        let other = queue.clone();
        let thread = thread::spawn(move || assert!(!other.is_readable() || other.len() == 1));
        queue.push(7).unwrap();
        thread.join().unwrap();
    });
}

/// A thread that finds the queue closed, by whichever word, sees what came before.
#[test]
fn the_past_of_a_queue_that_is_closed() {
    let looks: [Step; 4] = [
        |queue| queue.push(7).is_err(),
        |queue| push_many(queue, 7..8).is_none(),
        |queue| !queue.close(),
        Segments::is_closed,
    ];
    looks.into_iter().for_each(|finds| the_past_of_a_close(Segments::new, Segments::close, finds));
}

/// The third segment is in a piece of the directory that is made meanwhile. A thread that finds it by its side's memory
/// finds it made.
#[test]
fn a_segment_that_another_thread_has_made_and_remembers() {
    model_up_to(1, || {
        let queue = Arc::new(Segments::<u32>::new());
        push_two(&queue, 0);
        let other = queue.clone();
        let thread = thread::spawn(move || other.push(9).unwrap());
        (2..5).for_each(|number| queue.push(number).unwrap());
        thread.join().unwrap();
        assert_eq!(queue.len(), 6);
    });
}

/// Once it is retired its slots may be written: all messages in it were read before.
#[test]
fn a_segment_is_retired_behind_all_who_have_read_in_it() {
    model_up_to(2, || {
        let queue = Arc::new(Segments::<u32>::new());
        push_two(&queue, 0);
        let other = queue.clone();
        let thread = thread::spawn(move || {
            let first = other.segment_to_read(0).expect("one message is not the other's");
            assert!(takes(&other));
            if first.number().is_none() {
                (0..2).for_each(|at| first.memory::<u32>().slot(Place::of(at)).with_mut(|_| ()));
            }
        });
        assert!(takes(&queue));
        thread.join().unwrap();
    });
}
