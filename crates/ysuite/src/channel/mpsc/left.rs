//! Lanes that senders have left, for new senders: always lanes in which nothing was ever sent, and other lanes where a
//! channel has no free lane.
//!
//! The lane of a dropped sender stays until the receiver has taken its last message. Where short-lived senders are
//! faster than the receiver, such lanes use up all lanes of the channel, though few senders exist. Then a new sender
//! continues in the lane of a dropped one: its messages come after the messages that are left there.
//!
//! A sender that is dropped without having sent anything leaves its lane as it is, *unused*: open, and armed. So the
//! lane is as good as a new one, and the receiver is not notified. Senders that send nothing take no memory, even if
//! the receiver never polls.
//!
//! Any other sender closes its lane on drop, and leaves the writer here. One word in the queue decides whether the lane
//! ends or continues: the new sender [reopens](crate::queue::ypipe::Writing::reopen) it, unless the receiver has
//! [ended](crate::queue::ypipe::Reading::end_if_closed) it before.
//!
//! Any thread. Lock-free: an operation skips a slot that another thread is using. Allocates the slots, up to the
//! maximal number that was in use at once.
//!
//! Cannot: keep every lane. Where all slots are in use the lane is not left here, and ends with its last message.

use crate::channel::send::LeftLane;
use crate::queue::SegmentedArray;
use crate::sync::{AtomicU8, AtomicUsize, Ordering, UnsafeCell};

/// The number of slots in the first segment, and of segments. One is enough for most channels.
const FIRST: usize = 1;
const SEGMENTS: usize = if cfg!(ysuite_loom) { 1 } else { 6 };

/// The maximal number of lanes that are left at once.
pub(super) const PLACES: usize = if cfg!(ysuite_loom) { 1 } else { 60 };
const _: () = assert!(PLACES <= SegmentedArray::<u8, FIRST, SEGMENTS>::MOST);

/// The states of a slot.
const EMPTY: u8 = 0;
/// One thread is using it.
const BUSY: u8 = 1;
/// A lane that its sender has closed.
const FULL: u8 = 2;
/// An unused lane.
const UNUSED: u8 = 3;

struct LeftPlace {
    state: AtomicU8,
    lane: UnsafeCell<Option<LeftLane>>,
}

// SAFETY: the cell belongs to the thread that has set the state to BUSY, one at a time, and writers may go from thread
//     to thread where `T: Send`.
unsafe impl Sync for LeftPlace {}

impl LeftPlace {
    fn new() -> Self {
        Self { state: AtomicU8::new(EMPTY), lane: UnsafeCell::new(None) }
    }

    /// Exchanges the content of the slot by `exchange`, if the slot is in `state` (true).
    fn exchange(&self, state: u8, exchange: &mut dyn FnMut(&mut Option<LeftLane>)) -> bool {
        // ORDERING: Acquire pairs with the Release below: what the last thread did here is visible. The same holds on
        //     failure: a thread that finds that the receiver has emptied a slot on drop sees that the channel is shut.
        if self.state.compare_exchange(state, BUSY, Ordering::Acquire, Ordering::Acquire).is_err() {
            return false;
        }
        // SAFETY: this thread has set the state to BUSY.
        let now = self.lane.with_mut(|lane| unsafe {
            exchange(&mut *lane);
            match &*lane {
                None => EMPTY,
                Some((_, writer)) if writer.has_ended() => FULL,
                Some(_) => UNUSED,
            }
        });
        // ORDERING: Release pairs with the Acquire above.
        self.state.store(now, Ordering::Release);
        true
    }

    /// Takes the lane out, if the slot is in `state`.
    #[inline(never)]
    fn take(&self, state: u8) -> Option<LeftLane> {
        let mut lane = None;
        self.exchange(state, &mut |place| core::mem::swap(place, &mut lane));
        lane
    }
}

// REUSED: an unused lane, and its id; held by the sender that has left it, during its drop; harmless: the sender is out
//     of its set, its waker is out and the id forgotten before the lane is left; test:
//     tests/suite/mpsc/coming_and_going.rs: a_sender_that_was_in_a_set_leaves_a_lane_without_it
pub(super) struct LeftLanes {
    places: SegmentedArray<LeftPlace, FIRST, SEGMENTS>,
    /// The number of unused lanes that are here, or about to be. So a new sender polls no slot without need.
    unused: AtomicUsize,
}

impl LeftLanes {
    pub(super) fn new() -> Self {
        Self { places: SegmentedArray::new(), unused: AtomicUsize::new(0) }
    }

    /// Leaves a lane here: takes it out of `lane`, where it is. The caller must drop what is there afterwards, which may
    /// drop messages: the lane, where there is no free slot, or an ended lane that this one has replaced.
    pub(super) fn leave(&self, lane: &mut Option<LeftLane>) {
        for index in 0..PLACES {
            let place = self.places.get_or_make(index, LeftPlace::new);
            // ORDERING: Relaxed; a check that avoids taking a cache line without need. The exchanges decide, and
            //     acquire.
            let state = place.state.load(Ordering::Relaxed);
            if state == EMPTY && place.exchange(EMPTY, &mut |empty| core::mem::swap(empty, lane)) {
                return;
            }
            if state != FULL {
                continue;
            }
            let mut has_ended = false;
            place.exchange(FULL, &mut |full| {
                has_ended = full.as_ref().is_some_and(|(_, writer)| writer.is_finished());
                if has_ended {
                    core::mem::swap(full, lane);
                }
            });
            if has_ended {
                return;
            }
        }
    }

    /// Leaves an unused lane here. As [`leave`](Self::leave).
    pub(super) fn leave_unused(&self, lane: &mut Option<LeftLane>) {
        debug_assert!(lane.as_ref().is_some_and(|(_, writer)| !writer.has_ended()));
        // ORDERING: Relaxed throughout; a hint, which guards no data. It is raised first, so that it never goes below
        //     0.
        self.unused.fetch_add(1, Ordering::Relaxed);
        self.leave(lane);
        if lane.as_ref().is_some_and(|(_, back)| !back.has_ended()) {
            self.unused.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Takes an unused lane out, if there is one: a load, where there is none.
    #[inline]
    pub(super) fn take_unused(&self) -> Option<LeftLane> {
        // ORDERING: Relaxed throughout; a hint, which guards no data.
        if self.unused.load(Ordering::Relaxed) == 0 {
            return None;
        }
        self.find_unused()
    }

    fn find_unused(&self) -> Option<LeftLane> {
        for (_, place) in self.places.iter() {
            // ORDERING: Relaxed; a check that avoids taking a cache line without need. The exchange decides, and
            //     acquires.
            if place.state.load(Ordering::Relaxed) != UNUSED {
                continue;
            }
            let lane = place.take(UNUSED);
            if lane.is_some() {
                // ORDERING: Relaxed; a hint, which guards no data.
                self.unused.fetch_sub(1, Ordering::Relaxed);
                return lane;
            }
        }
        None
    }

    /// Takes a closed lane out, if there is one: the one with the fewest messages.
    pub(super) fn take(&self) -> Option<LeftLane> {
        loop {
            let (mut fewest, mut found) = (usize::MAX, None);
            for (_, place) in self.places.iter() {
                place.exchange(FULL, &mut |full| {
                    let occupied = full.as_ref().map_or(usize::MAX, |(_, writer)| writer.occupied());
                    if occupied < fewest {
                        (fewest, found) = (occupied, Some(place));
                    }
                });
            }
            // Unless another thread has taken it meanwhile.
            let lane = found?.take(FULL);
            if lane.is_some() {
                return lane;
            }
        }
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::*;
    use crate::queue::ypipe::{self, UntypedWriter, Writer};
    use crate::statistics::Meter;

    fn lane() -> (UntypedWriter, ypipe::IdleReader) {
        ypipe::lane(ypipe::shape::<u8>(), None, 1, &Meter::default())
    }

    fn closed_lane() -> (UntypedWriter, ypipe::IdleReader) {
        let (mut writer, reader) = lane();
        writer.close();
        (writer, reader)
    }

    /// What comes back.
    fn leave(left: &LeftLanes, lane: LeftLane) -> Option<LeftLane> {
        let mut lane = Some(lane);
        left.leave(&mut lane);
        lane
    }

    fn leave_unused(left: &LeftLanes, lane: LeftLane) -> Option<LeftLane> {
        let mut lane = Some(lane);
        left.leave_unused(&mut lane);
        lane
    }

    #[test]
    fn a_lane_that_was_left_is_taken_once() {
        let left = LeftLanes::new();
        assert!(left.take().is_none());
        let (writer, _reader) = closed_lane();
        assert!(leave(&left, (7, writer)).is_none());
        let (id, mut writer) = left.take().expect("it was left");
        assert!(left.take().is_none() && id == 7);
        // SAFETY: it is a lane of such messages.
        assert!(writer.reopen() && unsafe { Writer::typed(writer) }.write(1_u8).is_ok());
    }

    #[test]
    fn a_lane_takes_the_place_of_one_that_has_ended_and_of_no_other() {
        let left = LeftLanes::new();
        let lanes: Vec<_> = (0..70).map(|_| closed_lane()).collect();
        let (writers, readers): (Vec<_>, Vec<_>) = lanes.into_iter().unzip();
        let mut writers = writers.into_iter();
        for id in 0..60 {
            assert!(leave(&left, (id, writers.next().unwrap())).is_none(), "slot {id}");
        }
        let (id, _) = leave(&left, (60, writers.next().unwrap())).expect("there is no free slot for it");
        assert_eq!(id, 60);
        assert!(readers[33].end_if_closed());
        let (id, mut ended) = leave(&left, (61, writers.next().unwrap())).expect("the lane that has ended");
        assert!(id == 33 && !ended.reopen());
        let ids: Vec<u32> = core::iter::from_fn(|| left.take()).map(|(id, _)| id).collect();
        assert!(ids.into_iter().eq((0..33).chain([61]).chain(34..60)));
    }

    #[test]
    fn an_unused_lane_is_taken_as_such_and_once() {
        let left = LeftLanes::new();
        let (closed, _closed_reader) = closed_lane();
        let (unused, _unused_reader) = lane();
        assert!(leave(&left, (3, closed)).is_none() && leave_unused(&left, (4, unused)).is_none());
        let (id, writer) = left.take_unused().expect("it was left");
        assert!(id == 4 && !writer.has_ended() && left.take_unused().is_none());
        // Not where a closed one is asked for.
        assert!(leave_unused(&left, (4, writer)).is_none());
        assert!(left.take().is_some_and(|(id, _)| id == 3) && left.take().is_none());
        assert!(left.take_unused().is_some_and(|(id, _)| id == 4));
        assert_eq!(left.unused.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn where_there_is_no_place_an_unused_lane_comes_back() {
        let left = LeftLanes::new();
        let (mut writers, readers): (Vec<_>, Vec<_>) = (0..61).map(|_| closed_lane()).unzip();
        let last = writers.pop().expect("61");
        for writer in writers {
            assert!(leave(&left, (1, writer)).is_none());
        }
        let (unused, _unused_reader) = lane();
        let (id, unused) = leave_unused(&left, (2, unused)).expect("there is no free slot");
        assert!(id == 2 && !unused.has_ended() && left.take_unused().is_none());
        // Unless a lane there has ended.
        assert!(readers[7].end_if_closed());
        let (id, ended) = leave_unused(&left, (2, unused)).expect("the lane that has ended");
        assert!(id == 1 && ended.is_finished());
        assert!(leave(&left, (3, last)).is_some());
        assert!(left.take_unused().is_some_and(|(id, _)| id == 2));
    }

    #[test]
    fn the_lane_with_the_fewest_messages_is_taken_first() {
        let left = LeftLanes::new();
        let lanes: Vec<_> = [3, 1, 2]
            .into_iter()
            .map(|messages| {
                let (writer, reader) = lane();
                // SAFETY: it is a lane of such messages.
                let mut writer = unsafe { Writer::typed(writer) };
                (0..messages).for_each(|_| writer.write(0_u8).unwrap());
                let mut writer = writer.into_untyped();
                writer.close();
                assert!(leave(&left, (messages, writer)).is_none());
                reader
            })
            .collect();
        let messages: Vec<u32> = core::iter::from_fn(|| left.take()).map(|(messages, _)| messages).collect();
        assert_eq!(messages, [1, 2, 3]);
        drop(lanes);
    }
}
