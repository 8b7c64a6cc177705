//! Lanes that senders have left: for new senders, where a channel has no lane left to give.
//!
//! A lane of a sender that is gone stays until the receiver has taken its last message. Where short-lived senders are quicker than
//! the receiver, such lanes use up all that the channel may have, though few senders live. Then a new sender goes on with the lane
//! of one that is gone: its messages come behind what is left there.
//!
//! A sender that goes closes its lane as ever, and leaves the writing end here. Whether the lane ends or goes on is decided by one
//! word in the pipe: the new sender [reopens](Writer::reopen) it, unless the receiver has
//! [ended](crate::queue::ypipe::Reader::end_if_closed) it before.
//!
//! Any thread. Lock-free: an operation passes over a place that another thread is at. Allocates the places, as many as have been in
//! use at once.
//!
//! Cannot: keep every lane. Where all places are in use the lane is not left here, and ends with its last message.

use crate::queue::SegmentedArray;
use crate::queue::ypipe::Writer;
use crate::sync::{AtomicU8, Ordering, UnsafeCell};

/// Places in the first segment, and segments: 60 places.
const FIRST: usize = if cfg!(ysuite_loom) { 1 } else { 4 };
const SEGMENTS: usize = if cfg!(ysuite_loom) { 1 } else { 4 };

/// How many lanes can be left at once.
pub(super) const PLACES: usize = SegmentedArray::<u8, SEGMENTS>::most(FIRST);

/// The states of a place.
const EMPTY: u8 = 0;
/// One thread is at it.
const BUSY: u8 = 1;
const FULL: u8 = 2;

/// A lane's id, and its writing end, which is closed.
pub(super) type LeftLane<T> = (u32, Writer<T>);

struct LeftPlace<T> {
    state: AtomicU8,
    lane: UnsafeCell<Option<LeftLane<T>>>,
}

// SAFETY: the cell belongs to the thread that has set the state to BUSY, one at a time, and writers may go from thread to thread
// where `T: Send`.
unsafe impl<T: Send> Sync for LeftPlace<T> {}

impl<T> LeftPlace<T> {
    fn new() -> Self {
        Self { state: AtomicU8::new(EMPTY), lane: UnsafeCell::new(None) }
    }

    /// Exchanges what is in the place, if that is in `state`, by `exchange`. `None`: it is not.
    fn exchange<R>(&self, state: u8, exchange: impl FnOnce(&mut Option<LeftLane<T>>) -> R) -> Option<R> {
        // ORDERING: Acquire pairs with the Release below: what the last thread did here is visible. So it is on failure: who finds that
        // the receiver has emptied a place as it went sees that the channel is shut.
        self.state.compare_exchange(state, BUSY, Ordering::Acquire, Ordering::Acquire).ok()?;
        // SAFETY: this thread has set the state to BUSY.
        let (answer, now) = self.lane.with_mut(|lane| unsafe {
            let answer = exchange(&mut *lane);
            (answer, if (*lane).is_some() { FULL } else { EMPTY })
        });
        // ORDERING: Release pairs with the Acquire above.
        self.state.store(now, Ordering::Release);
        Some(answer)
    }
}

pub(super) struct LeftLanes<T> {
    places: SegmentedArray<LeftPlace<T>, SEGMENTS>,
}

impl<T> LeftLanes<T> {
    pub(super) fn new() -> Self {
        Self { places: SegmentedArray::new(FIRST) }
    }

    /// Leaves a lane here. What comes back is for the caller to drop, which may drop messages: the lane, where there is no place for
    /// it, or one that has ended, in whose place it is now.
    pub(super) fn leave(&self, lane: LeftLane<T>) -> Option<LeftLane<T>> {
        let mut lane = Some(lane);
        for index in 0..PLACES {
            let place = self.places.get_or_make(index, LeftPlace::new);
            if place.exchange(EMPTY, |empty| *empty = lane.take()).is_some() {
                return None;
            }
            let replaced = place.exchange(FULL, |full| {
                let has_ended = full.as_ref().is_some_and(|(_, writer)| writer.is_finished());
                if has_ended { full.replace(lane.take()?) } else { None }
            });
            if let Some(ended @ Some(_)) = replaced {
                return ended;
            }
        }
        lane
    }

    /// Takes a lane out, if there is one: the one with the fewest messages.
    pub(super) fn take(&self) -> Option<LeftLane<T>> {
        loop {
            let occupied = |full: &mut Option<LeftLane<T>>| full.as_ref().map(|(_, writer)| writer.occupied());
            let lanes = self.places.iter();
            let lanes = lanes.filter_map(|(_, place)| Some((place.exchange(FULL, occupied)??, place)));
            let (_, place) = lanes.min_by_key(|(occupied, _)| *occupied)?;
            // Unless another thread has taken it meanwhile.
            if let Some(lane @ Some(_)) = place.exchange(FULL, Option::take) {
                return lane;
            }
        }
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::*;
    use crate::queue::ypipe;
    use crate::statistics::Meter;

    fn closed_lane() -> (Writer<u8>, ypipe::IdleReader<u8>) {
        let (mut writer, reader) = ypipe::lane(None, 1, &Meter::default());
        writer.close();
        (writer, reader)
    }

    #[test]
    fn a_lane_that_was_left_is_taken_once() {
        let left = LeftLanes::new();
        assert!(left.take().is_none());
        let (writer, _reader) = closed_lane();
        assert!(left.leave((7, writer)).is_none());
        let (id, mut writer) = left.take().expect("it was left");
        assert!(left.take().is_none() && id == 7);
        assert!(writer.reopen() && writer.write(1).is_ok());
    }

    #[test]
    fn a_lane_takes_the_place_of_one_that_has_ended_and_of_no_other() {
        let left = LeftLanes::new();
        let lanes: Vec<_> = (0..70).map(|_| closed_lane()).collect();
        let (writers, readers): (Vec<_>, Vec<_>) = lanes.into_iter().unzip();
        let mut writers = writers.into_iter();
        for id in 0..60 {
            assert!(left.leave((id, writers.next().unwrap())).is_none(), "place {id}");
        }
        let (id, _) = left.leave((60, writers.next().unwrap())).expect("there is no place for it");
        assert_eq!(id, 60);
        assert!(readers[33].end_if_closed());
        let (id, mut ended) = left.leave((61, writers.next().unwrap())).expect("the lane that has ended");
        assert!(id == 33 && !ended.reopen());
        let ids: Vec<u32> = core::iter::from_fn(|| left.take()).map(|(id, _)| id).collect();
        assert!(ids.into_iter().eq((0..33).chain([61]).chain(34..60)));
    }

    #[test]
    fn the_lane_with_the_fewest_messages_is_taken_first() {
        let left = LeftLanes::new();
        let lanes: Vec<_> = [3, 1, 2]
            .into_iter()
            .map(|messages| {
                let (mut writer, reader) = ypipe::lane(None, 1, &Meter::default());
                (0..messages).for_each(|_| writer.write(0_u8).unwrap());
                writer.close();
                assert!(left.leave((messages, writer)).is_none());
                reader
            })
            .collect();
        let messages: Vec<u32> = core::iter::from_fn(|| left.take()).map(|(messages, _)| messages).collect();
        assert_eq!(messages, [1, 2, 3]);
        drop(lanes);
    }
}
