//! The ring under the model checker, without the channel around it: cells that one thread after another fills, a reader that
//! takes messages out, and readers that join where another looks how far it may write.
//!
//! A message that is written over, or taken out, while it is copied shows as a race on its cell.

use loom::thread;

use super::{BroadcastRing, Found, Seat};
use crate::queue::exchange::{Staging, StagingSpace};
use crate::runner::model_up_to;
use crate::sync::Arc;

fn take(ring: &BroadcastRing<u32>, seat: &mut Seat) -> Option<u32> {
    match ring.take(seat) {
        Found::Message(message) => Some(message),
        Found::Missed(_) | Found::Nothing => None,
    }
}

/// Writes as many of these messages at once as there is room for.
fn push_many(ring: &BroadcastRing<u32>, messages: impl IntoIterator<Item = u32>) -> Option<usize> {
    let (mut space, mut displaced) = (StagingSpace::new(), StagingSpace::new());
    let (mut staging, mut displaced) = (Staging::new(&mut space), Staging::new(&mut displaced));
    staging.fill(&mut messages.into_iter(), usize::MAX);
    ring.push_many(&mut staging, &mut displaced)
}

/// Only its stamp says that the last writer of a cell is done, where no reader has been there.
#[test]
fn a_cell_that_another_has_filled() {
    model_up_to(1, || {
        let ring = Arc::new(BroadcastRing::new(2, true));
        let _quiet = ring.sit_down();
        assert!(ring.push(0).is_ok());
        let other = ring.clone();
        let thread = thread::spawn(move || drop(other.push(1)));
        // The last of them comes to that cell below a limit that is known.
        (2..6).for_each(|message| drop(ring.push(message)));
        thread.join().unwrap();
    });
}

#[test]
fn a_batch_into_cells_that_another_has_filled() {
    model_up_to(2, || {
        let ring = Arc::new(BroadcastRing::new(2, true));
        let _quiet = ring.sit_down();
        assert!(ring.push(0).is_ok());
        let other = ring.clone();
        let thread = thread::spawn(move || drop(other.push(1)));
        (2..4).for_each(|message| drop(ring.push(message)));
        push_many(&ring, 4..6);
        thread.join().unwrap();
    });
}

/// The limit that lets a writer into a cell may be another thread's.
#[test]
fn a_batch_behind_a_limit_that_another_has_moved() {
    model_up_to(2, || {
        let ring = Arc::new(BroadcastRing::new(2, false));
        let mut seat = ring.sit_down();
        assert_eq!(push_many(&ring, 0..2), Some(2));
        assert_eq!(take(&ring, &mut seat), Some(0));
        let other = ring.clone();
        let thread = thread::spawn(move || {
            assert_eq!(take(&other, &mut seat), Some(1));
            other.has_room_for(2);
        });
        push_many(&ring, 2..4);
        thread.join().unwrap();
    });
}

/// A reader that is alone takes the message out; one that has joined before the message was written copies it.
#[test]
fn a_reader_that_is_alone_against_one_that_joins() {
    model_up_to(2, || {
        let ring = Arc::new(BroadcastRing::new(2, false));
        let mut seat = ring.sit_down();
        let other = ring.clone();
        let thread = thread::spawn(move || {
            let mut seat = other.sit_down();
            take(&other, &mut seat);
        });
        assert!(ring.push(0).is_ok());
        assert_eq!(take(&ring, &mut seat), Some(0));
        thread.join().unwrap();
    });
}

/// Each has a cursor of its own, also where both have come to the same one.
#[test]
fn two_readers_that_join_at_once() {
    model_up_to(2, || {
        let ring = Arc::new(BroadcastRing::new(1, false));
        let other = ring.clone();
        let thread = thread::spawn(move || other.sit_down());
        let mut mine = ring.sit_down();
        let theirs = thread.join().unwrap();
        assert!(ring.push(0).is_ok());
        assert_eq!(take(&ring, &mut mine), Some(0));
        assert!(!ring.is_writable(), "the other reader has not had it");
        ring.leave(&theirs);
        assert!(ring.is_writable());
    });
}

/// A writer that has seen a message sees who had joined before it, and asks how far that one is.
#[test]
fn room_after_one_reader_has_gone_against_another_that_joins() {
    model_up_to(1, || {
        let ring = Arc::new(BroadcastRing::new(1, false));
        let first = ring.sit_down();
        let (leaving, writing) = (ring.clone(), ring.clone());
        let threads = [
            thread::spawn(move || {
                leaving.leave(&first);
            }),
            thread::spawn(move || drop(writing.push(1))),
        ];
        let mut seat = ring.sit_down();
        let is_sent = ring.push(0).is_ok();
        let mut taken = take(&ring, &mut seat);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        while is_sent && taken != Some(0) {
            assert!(taken.is_some(), "a message that was written behind a reader's beginning has not come to it");
            taken = take(&ring, &mut seat);
        }
    });
}

/// Where a reader that joins is tells a writer of the messages before; so it hands on who had joined before those. One reader
/// writes a message for itself, the other begins behind that, and the writer looks at both.
fn room_between_readers_that_join(begin: fn(&BroadcastRing<u32>, Seat) -> Seat) {
    model_up_to(1, move || {
        let ring = Arc::new(BroadcastRing::new(1, false));
        let mut seat = ring.sit_down();
        assert!(ring.push(0).is_ok());
        assert_eq!(take(&ring, &mut seat), Some(0));
        let (writing, reading, joining) = (ring.clone(), ring.clone(), ring.clone());
        let threads = [
            thread::spawn(move || drop(writing.push(1))),
            thread::spawn(move || {
                let mut seat = reading.sit_down();
                if reading.push(2).is_ok() {
                    // What was written behind its beginning comes to it, and nothing is written over that before.
                    assert!(take(&reading, &mut seat).is_some());
                }
            }),
            thread::spawn(move || _ = begin(&joining, seat)),
        ];
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn room_behind_a_reader_that_joins_behind_a_message() {
    room_between_readers_that_join(|ring, before| {
        ring.leave(&before);
        ring.sit_down()
    });
}

#[test]
fn room_behind_a_reader_that_settles_behind_a_message() {
    // It has done no more as yet than to join.
    room_between_readers_that_join(|ring, joined| ring.settle(joined));
}

/// The cursor of a reader that begins stands behind a message, and a look at the cursors that knows of no message comes there: it
/// finds who had joined before that message, and leaves it to that one. No thread is preempted for this.
fn room_behind_a_cursor<B: Send + 'static>(
    before: fn(&BroadcastRing<u32>) -> B,
    begin: fn(&BroadcastRing<u32>, B) -> Seat,
) {
    model_up_to(0, move || {
        let ring = Arc::new(BroadcastRing::new(1, false));
        let before = before(&ring);
        let (beginning, looking) = (ring.clone(), ring.clone());
        let threads = [
            thread::spawn(move || _ = begin(&beginning, before)),
            // The first position is the number of cells, and the tail as this thread knows it.
            thread::spawn(move || _ = looking.passed(1)),
        ];
        let _seat = ring.sit_down();
        assert!(ring.push(0).is_ok());
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(!ring.is_writable(), "the reader has not had the message");
    });
}

#[test]
fn room_behind_a_reader_that_has_joined_behind_a_message() {
    // The first makes the cursors.
    room_behind_a_cursor(|ring| ring.leave(&ring.sit_down()), |ring, _| ring.join());
}

#[test]
fn room_behind_a_reader_that_has_settled_behind_a_message() {
    room_behind_a_cursor(BroadcastRing::join, BroadcastRing::settle);
}

/// The reader that leaves takes its cursor out of the looks, and another takes it at that moment.
#[test]
fn a_reader_that_leaves_against_one_that_joins_in_its_place() {
    model_up_to(2, || {
        let ring = Arc::new(BroadcastRing::new(1, false));
        let _quiet = ring.sit_down();
        let leaving = ring.sit_down();
        let other = ring.clone();
        let thread = thread::spawn(move || {
            let mut seat = other.sit_down();
            take(&other, &mut seat);
            seat
        });
        ring.leave(&leaving);
        let mut seat = thread.join().unwrap();
        // Whichever came first: it holds up writers.
        ring.leave(&_quiet);
        assert!(ring.push(0).is_ok());
        assert!(!ring.is_writable());
        assert_eq!(take(&ring, &mut seat), Some(0));
    });
}

/// A reader that moves up is never missed by a writer, which would write over what it has not read.
#[test]
fn a_writer_against_a_reader_that_moves_up() {
    for is_lossy in [false, true] {
        model_up_to(2, move || {
            let ring = Arc::new(BroadcastRing::new(1, is_lossy));
            let crowd = [ring.sit_down(), ring.sit_down()];
            let mut seat = ring.sit_down();
            crowd.iter().for_each(|seat| {
                ring.leave(seat);
            });
            assert!(ring.push(0).is_ok());
            let other = ring.clone();
            let thread = thread::spawn(move || (1..3).for_each(|message| drop(other.push(message))));
            ring.move_up(&mut seat);
            let first = take(&ring, &mut seat);
            assert!(is_lossy || first == Some(0));
            thread.join().unwrap();
        });
    }
}
