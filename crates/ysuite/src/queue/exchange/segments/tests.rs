//! The queue without its handles: the life of segments. Messages of 32 KiB, so that a segment has two slots.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Barrier};
use std::thread;

use super::segment::Behind;
use super::{SegmentLayout, Segments, Walk};
use crate::queue::exchange::{Staging, StagingSpace};

type Large = Box<u64>;

/// A message that makes segments small.
struct Heavy {
    number: Large,
    _weight: [u64; 4_000],
}

fn heavy(number: u64) -> Heavy {
    Heavy { number: Box::new(number), _weight: [number; 4_000] }
}

fn push(queue: &Segments<Heavy>, number: u64) {
    assert!(queue.push(heavy(number)).is_ok());
}

fn pop(queue: &Segments<Heavy>) -> Option<u64> {
    queue.pop().map(|message| {
        assert_eq!(message._weight[3_999], *message.number);
        *message.number
    })
}

#[test]
fn a_short_queue_goes_on_with_few_segments() {
    let queue = Segments::new();
    for number in 0..1_000 {
        push(&queue, number);
        assert_eq!((queue.len(), pop(&queue), queue.len()), (1, Some(number), 0));
        assert!(pop(&queue).is_none() && !queue.is_readable());
    }
    assert!(queue.chain.made() <= 3, "{} segments", queue.chain.made());
}

#[test]
fn segments_of_a_long_queue_are_used_again() {
    let queue = Segments::new();
    let mut made = 0;
    for round in 0..10 {
        (0..500).for_each(|number| push(&queue, number));
        assert_eq!(queue.len(), 500);
        assert!((0..500).all(|number| pop(&queue) == Some(number)));
        if round == 0 {
            made = queue.chain.made();
        }
    }
    assert!(queue.chain.made() <= made + 1, "{} segments after {made}", queue.chain.made());
}

/// A sender finds that a segment is missing, and stops. When it continues, that segment has been linked, read and
/// retired, and is the one that it takes: it must not get the same number again.
///
/// Claim: No segment gets the same number twice, however long a thread is preempted before it links one.
#[test]
fn a_segment_is_not_made_ready_for_a_number_that_it_has_had() {
    let queue = Segments::new();
    let Walk::End(link, 1) = queue.chain.find(None, 1) else { panic!("there is one segment") };
    // Makes the second one ahead.
    push(&queue, 0);
    let Walk::Found(second) = queue.chain.find(None, 1) else { panic!("made ahead") };
    assert_eq!(pop(&queue), Some(0));
    for number in 1..2 * SegmentLayout::<Heavy>::ALL as u64 {
        push(&queue, number);
        assert_eq!(pop(&queue), Some(number));
    }
    // Retired, on top of the shelf, and led on to the third.
    assert!(second.number().is_none() && matches!(second.next.load(), Behind::Segment(_)));
    // The sender continues.
    assert!(queue.chain.extend(link, 1));
    let made = queue.chain.made();
    (0..10).for_each(|_| assert!(queue.chain.extend(link, 1)));
    assert_eq!(queue.chain.made(), made, "a segment that came too late is lost");
    assert!(matches!(second.next.load(), Behind::Segment(_)), "made ready for its old number");
    push(&queue, 100);
    assert_eq!(pop(&queue), Some(100));
}

/// One that claims a slot and does not finish for long keeps its segment, and no other.
#[test]
fn a_slow_reader_keeps_one_segment() {
    let queue = Segments::new();
    (0..2).for_each(|number| push(&queue, number));
    // As `pop` does it, up to the claim.
    let segment = queue.segment_to_read(0).expect("the first");
    queue.ends.head.position.fetch_add(1, super::Ordering::Relaxed);
    assert_eq!(pop(&queue), Some(1));
    for number in 0..1_000 {
        push(&queue, number);
        assert_eq!(pop(&queue), Some(number));
        assert!(segment.has(0));
    }
    assert!(queue.chain.made() <= 4, "{} segments", queue.chain.made());
    let first = super::Place::<Heavy>::of(0);
    assert_eq!(*Segments::empty(segment, segment.lap(), first).number, 0);
    queue.pass(first);
    for number in 0..10 {
        push(&queue, number);
        assert_eq!(pop(&queue), Some(number));
    }
    assert!(!segment.has(0), "the segment is not used again");
}

/// Each keeps its own, and both are used again when both have finished.
#[test]
fn two_slow_readers_keep_two_segments_and_no_longer_than_they_need() {
    let queue = Segments::new();
    (0..4).for_each(|number| push(&queue, number));
    let mut slow = Vec::new();
    for number in 0..2 {
        // As `pop` does it, up to the claim.
        let place = super::Place::<Heavy>::of(2 * number);
        slow.push((queue.segment_to_read(number).expect("there are two"), number, place));
        queue.ends.head.position.fetch_add(1, super::Ordering::Relaxed);
        assert_eq!(pop(&queue), Some(2 * number + 1));
    }
    for &(segment, number, place) in &slow {
        assert!(segment.has(number));
        assert_eq!(*Segments::empty(segment, segment.lap(), place).number, 2 * number);
        queue.pass(place);
    }
    for number in 0..4 {
        push(&queue, number);
        assert_eq!(pop(&queue), Some(number));
    }
    assert!(slow.iter().all(|(segment, number, _)| !segment.has(*number)), "a segment is not used again");
}

/// Others have read what comes after it meanwhile, and the chain begins there.
#[test]
fn one_that_has_claimed_slots_of_two_segments_finds_the_second_behind_the_first() {
    let queue = Segments::new();
    (0..6).for_each(|number| push(&queue, number));
    // As `pop_many` does it, up to the claim.
    let segment = queue.segment_to_read(0).expect("the first");
    queue.ends.head.position.fetch_add(4, super::Ordering::Relaxed);
    assert_eq!((pop(&queue), pop(&queue)), (Some(4), Some(5)));
    assert!(matches!(queue.chain.find(None, 1), Walk::Past));
    let mut taken = Vec::new();
    queue.empty_over_ends(segment, super::Place::of(0), 4, &mut taken);
    assert!(taken.into_iter().map(|message| *message.number).eq(0..4));
}

/// A thread that comes meanwhile leaves a request: the first checks again for it.
#[test]
fn one_thread_retires_at_a_time() {
    let queue = Segments::<u64>::new();
    let (looks, others) = (Cell::new(0), Cell::new(0));
    let look = |looks: &Cell<u32>| {
        looks.set(looks.get() + 1);
        (0, 0)
    };
    queue.chain.retire(|| look(&looks));
    assert_eq!(looks.get(), 1);
    queue.chain.retire(|| {
        if looks.get() == 1 {
            queue.chain.retire(|| look(&others));
        }
        look(&looks)
    });
    assert_eq!((looks.get(), others.get()), (3, 0));
}

/// A thread remembers a segment and a position for long. Both are found to be old.
#[test]
fn a_stale_reference_is_found_out() {
    let queue = Segments::new();
    push(&queue, 0);
    let stale = queue.segment_to_write(0).expect("the first");
    assert_eq!(pop(&queue), Some(0));
    for number in 1..100 {
        // As a thread that stores what it had found long ago.
        queue.ends.tail.remember(stale);
        push(&queue, number);
        assert!(queue.is_readable());
        queue.ends.head.remember(stale);
        queue.chain.extend_behind(stale, 0);
        assert_eq!(pop(&queue), Some(number));
        assert!(queue.find_to_write(0).is_none() || number < 4);
    }
    assert!(queue.chain.made() <= 6, "{} segments", queue.chain.made());
}

/// Of the first segment, which is shorter, and of a whole one.
#[test]
fn batches_go_over_the_ends_of_segments() {
    let (start, all) = (SegmentLayout::<u64>::START, SegmentLayout::<u64>::ALL as u64);
    assert!(start != 0);
    for end in [all - start, 2 * all - start] {
        let queue = Segments::<u64>::new();
        (0..end - 5).for_each(|number| assert!(queue.push(number).is_ok()));
        let mut taken = Vec::new();
        assert_eq!(queue.pop_many(&mut taken, usize::MAX) as u64, end - 5);
        let mut space = StagingSpace::new();
        let mut staging = Staging::new(&mut space);
        staging.fill(&mut (end - 5..end + 5), usize::MAX);
        assert_eq!(queue.push_many(&mut staging), Some(5));
        assert_eq!(queue.push_many(&mut staging), Some(5));
        assert_eq!(
            (queue.pop_many(&mut taken, 8), queue.pop_many(&mut taken, 8), queue.pop_many(&mut taken, 8)),
            (8, 2, 0)
        );
        assert!(taken.into_iter().eq(0..end + 5));
    }
}

/// The first segment is too small to be used again. It stays until all threads that have claimed a slot of it have
/// finished; later threads do not find it.
#[test]
fn the_first_segment_is_used_once() {
    let queue = Segments::<u64>::new();
    let (start, all) = (SegmentLayout::<u64>::START, SegmentLayout::<u64>::ALL as u64);
    let many = if cfg!(miri) { 2 * all } else { 10 * all };
    assert_eq!(queue.push(0), Ok(()));
    // As `pop` does it, up to the claim.
    let first = queue.segment_to_read(0).expect("it has a message");
    queue.ends.head.position.fetch_add(1, super::Ordering::Relaxed);
    for number in 1..many {
        assert_eq!((queue.push(number), queue.pop()), (Ok(()), Some(number)));
        assert!(first.has(0));
    }
    let place = super::Place::<u64>::of(start);
    assert_eq!(Segments::<u64>::empty(first, first.lap(), place), 0);
    let made = queue.chain.made();
    for number in 0..many {
        assert_eq!((queue.push(number), queue.pop()), (Ok(()), Some(number)));
    }
    assert!(first.number().is_none(), "it is not retired, or is used again");
    assert_eq!(queue.chain.made(), made);
    assert!(made <= 4, "{made} segments");
}

/// One claim takes adjacent messages, over any number of segments, and nothing from after a message that is still to
/// come.
#[test]
fn a_batch_over_segments_ends_where_a_sender_has_not_finished() {
    let queue = Segments::<[u64; 4_000]>::new();
    let push = |number: u64| assert!(queue.push([number; 4_000]).is_ok());
    let all = SegmentLayout::<[u64; 4_000]>::ALL;
    let second = all as u64;
    (0..second).for_each(push);
    // As `push` does it, up to the claim.
    let segment = queue.segment_to_write(1).expect("the second");
    queue.ends.tail.position.fetch_add(1, super::Ordering::Relaxed);
    (second + 1..4 * second).for_each(push);
    let mut taken = Vec::new();
    assert_eq!(queue.pop_many(&mut taken, usize::MAX), all);
    assert_eq!(queue.pop_many(&mut taken, usize::MAX), 0);
    queue.fill(segment, segment.lap(), super::Place::of(second), [second; 4_000]);
    assert_eq!(queue.pop_many(&mut taken, usize::MAX), 3 * all);
    assert!(taken.iter().map(|message| message[0]).eq(0..4 * second));
}

#[test]
fn segments_are_used_again_where_each_batch_is_one() {
    let queue = Segments::new();
    let all = SegmentLayout::<Heavy>::ALL;
    for _ in 0..100 {
        (0..all as u64).for_each(|number| push(&queue, number));
        assert_eq!(queue.pop_many(&mut Vec::new(), usize::MAX), all);
    }
    assert!(queue.chain.made() <= 3, "{} segments", queue.chain.made());
}

/// Of two that want the same slots one has to claim others.
#[test]
fn batches_of_two_threads_at_once_lie_one_behind_the_other() {
    const BATCHES: u64 = if cfg!(miri) { 100 } else { 50_000 };
    let queue = Segments::<(usize, u64)>::new();
    let barrier = Barrier::new(2);
    thread::scope(|scope| {
        for who in 0..2 {
            let (queue, barrier) = (&queue, &barrier);
            scope.spawn(move || {
                let mut space = StagingSpace::new();
                let mut staging = Staging::new(&mut space);
                barrier.wait();
                for batch in 0..BATCHES {
                    staging.fill(&mut [(who, 2 * batch), (who, 2 * batch + 1)].into_iter(), usize::MAX);
                    while staging.len() != 0 {
                        assert!(queue.push_many(&mut staging).is_some());
                    }
                }
            });
        }
    });
    let mut next = [0, 0];
    while let Some((who, number)) = queue.pop() {
        assert_eq!(number, next[who]);
        next[who] += 1;
    }
    assert_eq!(next, [2 * BATCHES, 2 * BATCHES]);
}

/// All that were sent before are received, and then there is room again.
///
/// Claim: A send that would need more than 2²⁴ segments panics and loses no message.
#[test]
fn a_message_that_needs_one_segment_too_many_panics_and_loses_nothing() {
    let queue = Segments::new();
    push(&queue, 0);
    queue.chain.exhaust();
    let made = queue.chain.made();
    let (mut sent, text) = (1, "too many messages");
    while let Ok(()) = catch_unwind(AssertUnwindSafe(|| push(&queue, sent))).map_err(|panic| {
        assert!(panic.downcast_ref::<&str>().is_some_and(|said| said.contains(text)));
    }) {
        sent += 1;
    }
    let refused = catch_unwind(AssertUnwindSafe(|| push(&queue, sent))).is_err();
    assert!(refused && queue.len() == sent as usize, "{} of {sent}", queue.len());
    assert!((0..sent).all(|number| pop(&queue) == Some(number)) && pop(&queue).is_none());
    // What has been read makes room.
    push(&queue, sent);
    assert_eq!(pop(&queue), Some(sent));
    assert_eq!(queue.chain.made(), made, "what could not be made is counted");
}

#[test]
fn a_closed_queue_takes_nothing_and_gives_what_it_has() {
    let queue = Segments::new();
    assert!(queue.push(1).is_ok() && queue.close() && !queue.close());
    assert_eq!(queue.push(2), Err(2));
    let mut space = StagingSpace::new();
    let mut staging = Staging::new(&mut space);
    staging.fill(&mut [3].into_iter(), usize::MAX);
    assert_eq!((queue.push_many(&mut staging), queue.len()), (None, 1));
    assert_eq!((queue.pop(), queue.pop(), queue.is_empty()), (Some(1), None, true));
}

/// What has been claimed before the close is still to come.
#[test]
fn a_closed_queue_is_not_empty_before_all_senders_have_finished() {
    let queue = Segments::<u64>::new();
    // As `push` does it, up to the claim.
    let segment = queue.segment_to_write(0).expect("the first");
    queue.ends.tail.position.fetch_add(1, super::Ordering::Relaxed);
    assert!(queue.close() && queue.pop().is_none() && !queue.is_empty());
    queue.fill(segment, segment.lap(), super::Place::of(SegmentLayout::<u64>::START), 1);
    assert_eq!((queue.is_empty(), queue.pop(), queue.is_empty()), (false, Some(1), true));
}

/// A thread that closes the queue is stopped before it could set the flag that readers check.
#[test]
fn a_sender_that_finds_the_queue_closed_says_so_to_all() {
    let half_closed = || {
        let queue = Segments::<u64>::new();
        queue.ends.tail.position.fetch_or(super::CLOSED, super::Ordering::Relaxed);
        assert!(!queue.is_closed());
        queue
    };
    let queue = half_closed();
    assert_eq!((queue.push(1), queue.is_closed()), (Err(1), true));
    let queue = half_closed();
    let mut space = StagingSpace::new();
    let mut staging = Staging::new(&mut space);
    staging.fill(&mut [1].into_iter(), usize::MAX);
    assert_eq!((queue.push_many(&mut staging), queue.is_closed(), staging.len()), (None, true, 1));
}

#[test]
fn what_nobody_has_taken_goes_with_the_queue() {
    let message = Arc::new(());
    let queue = Segments::new();
    (0..5).for_each(|_| assert!(queue.push(message.clone()).is_ok()));
    drop(queue.pop());
    assert_eq!(Arc::strong_count(&message), 5);
    drop(queue);
    assert_eq!(Arc::strong_count(&message), 1);
}

#[cfg(feature = "statistics")]
#[test]
fn what_is_there_when_the_last_reader_goes_counts_among_the_most() {
    use crate::queue::exchange::counts::CountedEnds;
    use crate::statistics::Counted;

    let queue = Segments::new();
    (0..5).for_each(|number| push(&queue, number));
    assert!(pop(&queue) == Some(0) && queue.close());
    queue.ends.leave();
    queue.ends.drains();
    queue.drain();
    let totals = queue.ends.totals();
    assert_eq!((totals.sent, totals.received, totals.high_water), (5, 1, 4));
}

#[cfg(feature = "statistics")]
#[test]
fn a_sender_that_looks_finds_as_many_as_are_there() {
    use crate::statistics::{Counted, SAMPLED};

    let queue = Segments::new();
    // The first position is not a multiple of the distance between two looks.
    (0..2 * SAMPLED).for_each(|number| assert!(queue.push(number).is_ok()));
    queue.drain();
    let seen = queue.ends.totals().high_water as usize;
    assert!((SAMPLED..=2 * SAMPLED).contains(&seen), "{seen}");
}

/// All at once, over hundreds of segment boundaries.
#[test]
fn many_threads_and_small_segments() {
    const EACH: u64 = 2_000;
    let queue = Segments::new();
    let barrier = Barrier::new(5);
    thread::scope(|scope| {
        for who in 0..2 {
            let (queue, barrier) = (&queue, &barrier);
            scope.spawn(move || {
                barrier.wait();
                (0..EACH).for_each(|number| push(queue, who * EACH + number));
            });
        }
        let readers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    barrier.wait();
                    let mut last = [None, None];
                    let mut sum = 0;
                    while !(queue.is_closed() && queue.is_empty()) {
                        let Some(number) = pop(&queue) else {
                            thread::yield_now();
                            continue;
                        };
                        let seen = &mut last[(number / EACH) as usize];
                        assert!(seen.is_none_or(|before| before < number), "out of order");
                        *seen = Some(number);
                        sum += number;
                        // As the last sender's drop.
                        if queue.tail_position() == 2 * EACH {
                            queue.close();
                        }
                    }
                    sum
                })
            })
            .collect();
        let sum: u64 = readers.into_iter().map(|reader| reader.join().unwrap()).sum();
        assert_eq!(sum, 2 * EACH * (2 * EACH - 1) / 2);
    });
}

#[test]
fn a_short_queue_gives_no_pages_back() {
    let queue = Segments::new();
    let run = |numbers: std::ops::Range<u64>| {
        for number in numbers {
            push(&queue, number);
            assert_eq!(pop(&queue), Some(number));
        }
    };
    run(0..100);
    let before = crate::os::calls();
    run(100..1_000);
    assert_eq!(crate::os::calls(), before);
}

/// Except some, which are kept for later messages.
#[cfg(all(target_os = "linux", not(ysuite_portable), not(miri)))]
#[test]
fn a_queue_that_was_long_gives_its_pages_back() {
    const SEGMENTS: u64 = 200;
    let queue = Segments::new();
    let messages = SEGMENTS * SegmentLayout::<Heavy>::ALL as u64;
    (0..messages).for_each(|number| push(&queue, number));
    let before = crate::os::calls();
    assert!((0..messages).all(|number| pop(&queue) == Some(number)));
    // One call for each that is given back.
    let kept = SEGMENTS - (crate::os::calls() - before);
    assert!(kept <= 2, "{kept} segments keep their pages");
}

/// Those in use, and those that are kept.
#[cfg(all(target_os = "linux", not(ysuite_portable), not(miri)))]
#[test]
fn a_queue_that_ends_gives_all_its_segments_back() {
    let queue = Segments::new();
    (0..9).for_each(|number| push(&queue, number));
    assert!((0..9).all(|number| pop(&queue) == Some(number)));
    let (made, before) = (queue.chain.made() as u64, crate::os::calls());
    assert!(made > 1);
    drop(queue);
    // One call for each, and one for each region that goes with them.
    assert!((made..=2 * made).contains(&(crate::os::calls() - before)));
}
