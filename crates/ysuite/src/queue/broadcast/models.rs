//! The ring under the model checker, without its channel: cells that several threads fill in turn, a reader that takes
//! messages out, and readers that join while another thread checks how far it may write.
//!
//! A message that is overwritten, or taken out, while it is copied shows as a race on its cell.
//!
//! Claim: A broadcast cell is written only after its last writer is done, and below a limit that some thread has found.
//! It is read by a lone reader or by copies.

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

/// Writes those of `messages` at once for which there is room.
fn push_many(ring: &BroadcastRing<u32>, messages: impl IntoIterator<Item = u32>) -> Option<usize> {
    let (mut space, mut displaced) = (StagingSpace::new(), StagingSpace::new());
    let (mut staging, mut displaced) = (Staging::new(&mut space), Staging::new(&mut displaced));
    staging.fill(&mut messages.into_iter(), usize::MAX);
    ring.push_many(&mut staging, &mut displaced)
}

/// Only its stamp says that the last writer of a cell is done, where no reader has been.
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

/// Who claims a position may hold room that it found below a lower limit: the readers' turns come to it by the tail.
#[test]
fn reserved_room_that_is_used_in_another_order() {
    model_up_to(2, || {
        let ring = Arc::new(BroadcastRing::new(2, false));
        let mut seat = ring.sit_down();
        (0..2).for_each(|message| assert!(ring.push(message).is_ok()));
        let write = |message| {
            let ring = ring.clone();
            thread::spawn(move || {
                if ring.hold(1).is_ok() {
                    ring.claim_held().map_err(|_| ()).unwrap().fill(message);
                }
            })
        };
        let threads = [write(2), write(3)];
        assert_eq!((take(&ring, &mut seat), take(&ring, &mut seat)), (Some(0), Some(1)));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        while take(&ring, &mut seat).is_some() {}
        assert!(ring.hold(2).is_ok() && ring.hold(1).is_err());
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

/// A reader that is alone takes the message out. A reader that joined before the message was written copies it.
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

/// Each reader has a cursor of its own, also where both have reached the same message.
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

/// A writer that has seen a message sees which readers had joined before it, and checks how far those are.
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
            assert!(taken.is_some(), "a message that was written after a reader's start has not reached it");
            taken = take(&ring, &mut seat);
        }
    });
}

/// The position of a reader that joins tells a writer about the messages before it, so it hands on which readers had
/// joined before those. One reader writes a message for itself, the other begins after that message, and the writer
/// scans both.
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
                    // A message written after the reader's start reaches it, and is not overwritten before that.
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
    // So far it has only joined.
    room_between_readers_that_join(|ring, joined| ring.settle(joined));
}

/// The cursor of a reader that begins is after a message, and a scan that knows of no message reaches it. The scan
/// finds which readers had joined before that message, and leaves it to them. No thread is preempted for this.
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

/// The reader that leaves takes its cursor out of the scans, and another takes it at that moment.
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
        // Whichever was first, it holds up writers.
        ring.leave(&_quiet);
        assert!(ring.push(0).is_ok());
        assert!(!ring.is_writable());
        assert_eq!(take(&ring, &mut seat), Some(0));
    });
}

/// A writer never misses a reader that moves to an earlier cursor; it would overwrite a message that the reader has not
/// read.
///
/// Claim: A broadcast writer never misses a reader that moves to another cursor.
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

/// A ring for one message, a reader that has not taken it, and one that has: for it a writer continues.
fn one_behind(is_lossy: bool) -> (Arc<BroadcastRing<u32>>, Seat, Seat) {
    let ring = Arc::new(BroadcastRing::new(1, is_lossy));
    let (slow, mut quick) = (ring.sit_down(), ring.sit_down());
    assert!(ring.push(0).is_ok());
    assert_eq!(take(&ring, &mut quick), Some(0));
    (ring, slow, quick)
}

/// A reader is evicted while it may be about to take its message, and a writer writes to that message's cell.
fn eviction_against(is_lossy: bool, reads: fn(&BroadcastRing<u32>, Seat)) {
    model_up_to(2, move || {
        let (ring, seat, _quick) = one_behind(is_lossy);
        let id = seat.id();
        let reading = ring.clone();
        let thread = thread::spawn(move || reads(&reading, seat));
        if ring.evict(id) {
            ring.is_out(id);
        }
        // A lossy ring has a cell more.
        (1..=ring.lap()).for_each(|message| drop(ring.push(message as u32)));
        thread.join().unwrap();
        assert!(!ring.evict(id) || ring.is_out(id));
        assert_eq!(ring.readers(), 1);
    });
}

#[test]
fn an_eviction_against_a_reader_that_takes_a_message() {
    for is_lossy in [false, true] {
        eviction_against(is_lossy, |ring, mut seat| {
            take(ring, &mut seat);
            // It may have been before that.
            if !ring.is_over(ring.place(&seat)) {
                ring.leave(&seat);
            }
        });
    }
}

#[test]
fn an_eviction_against_a_reader_that_leaves() {
    eviction_against(false, |ring, seat| _ = ring.leave(&seat));
}

/// Two threads evict one reader, and each may find it where the other has stopped.
#[test]
fn two_evictions_of_one_reader() {
    model_up_to(2, || {
        let (ring, mut seat, _quick) = one_behind(false);
        let id = seat.id();
        let evicting = ring.clone();
        let writing = ring.clone();
        let threads = [
            thread::spawn(move || {
                evicting.evict(id);
                evicting.is_out(id);
            }),
            thread::spawn(move || {
                writing.evict(id);
                writing.is_out(id);
                drop(writing.push(1));
            }),
        ];
        take(&ring, &mut seat);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(ring.is_over(ring.place(&seat)) && ring.is_out(id) && ring.readers() == 1);
    });
}

/// A clone is made from a reader that is being evicted: it reads on, or is evicted with it.
///
/// Claim: A clone made during an eviction reads on or is evicted too, and no other receiver is affected.
#[test]
fn an_eviction_against_a_reader_that_joins_beside() {
    model_up_to(2, || {
        let (ring, seat, _quick) = one_behind(false);
        let id = seat.id();
        let joining = ring.clone();
        let joins = thread::spawn(move || {
            let mut beside = joining.sit_beside(&seat);
            let taken = take(&joining, &mut beside);
            assert_eq!(taken.is_none(), joining.is_over(joining.place(&beside)));
            joining.leave(&beside);
        });
        assert!(ring.evict(id) && ring.is_out(id));
        drop(ring.push(1));
        joins.join().unwrap();
        assert_eq!(ring.readers(), 1);
    });
}

/// A reader that moves to another cursor takes its eviction with it.
#[test]
fn an_eviction_against_a_reader_that_moves_up() {
    model_up_to(2, || {
        let ring = Arc::new(BroadcastRing::new(1, false));
        let (mut quick, crowd) = (ring.sit_down(), [(); 3].map(|()| ring.sit_down()));
        let mut seat = ring.sit_down();
        let id = seat.id();
        crowd.iter().for_each(|seat| {
            ring.leave(seat);
        });
        assert!(ring.push(0).is_ok());
        assert_eq!(take(&ring, &mut quick), Some(0));
        let moving = ring.clone();
        let moves = thread::spawn(move || {
            moving.move_up(&mut seat);
            take(&moving, &mut seat);
            seat
        });
        assert!(ring.evict(id));
        drop(ring.push(1));
        let seat = moves.join().unwrap();
        assert!(ring.is_over(ring.place(&seat)) && ring.is_out(id));
        assert_eq!(ring.readers(), 1);
    });
}

/// The writer is unknown to the reader and to the thread that evicts it.
#[test]
fn an_eviction_by_another_than_the_writer() {
    model_up_to(2, || {
        let (ring, mut seat, _quick) = one_behind(false);
        let id = seat.id();
        let (evicting, reading) = (ring.clone(), ring.clone());
        let threads =
            [thread::spawn(move || _ = take(&reading, &mut seat)), thread::spawn(move || assert!(evicting.evict(id)))];
        drop(ring.push(1));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// A writer that has found the eviction of one reader finds the cursor of the next one there.
#[test]
fn a_reader_in_the_place_of_one_that_was_evicted() {
    model_up_to(2, || {
        let ring = Arc::new(BroadcastRing::new(1, false));
        let evicted = ring.sit_down();
        let mut quick = ring.sit_down();
        assert!(ring.evict(evicted.id()) && ring.is_out(evicted.id()));
        let joining = ring.clone();
        let thread = thread::spawn(move || {
            joining.leave(&evicted);
            let mut seat = joining.sit_down();
            take(&joining, &mut seat);
        });
        (0..3).for_each(|message| {
            drop(ring.push(message));
            take(&ring, &mut quick);
        });
        thread.join().unwrap();
    });
}

/// A writer that finds a reader at its next message overwrites the one before.
#[test]
fn a_writer_behind_a_reader_that_is_at_its_next_message() {
    model_up_to(2, || {
        let ring = Arc::new(BroadcastRing::new(2, false));
        let (mut seat, mut quick) = (ring.sit_down(), ring.sit_down());
        assert_eq!(push_many(&ring, 0..2), Some(2));
        (0..2).for_each(|message| assert_eq!(take(&ring, &mut quick), Some(message)));
        let reading = ring.clone();
        let thread =
            thread::spawn(move || (0..2).for_each(|message| assert_eq!(take(&reading, &mut seat), Some(message))));
        drop(ring.push(2));
        thread.join().unwrap();
    });
}
