//! The queue without a bound under the model checker, without the channel around it, which would look again and so needs more
//! preemptions to go wrong. Segments have two slots here.

use loom::thread;

use super::Segments;
use crate::queue::exchange::{Staging, StagingSpace};
use crate::runner::model_up_to;
use crate::sync::Arc;

/// Of three messages in two segments another thread takes two at most, and retires a segment: `look` finds one in any case.
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

/// Writes two messages with one claim.
fn push_two(queue: &Segments<u32>, first: u32) {
    let mut space = StagingSpace::new();
    let mut staging = Staging::new(&mut space);
    staging.fill(&mut [first, first + 1].into_iter(), usize::MAX);
    assert_eq!(queue.push_many(&mut staging), Some(2));
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
