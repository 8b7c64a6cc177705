//! The receiver's part of the lanes: which are active, which one has its turn, and how they are armed, many with one
//! barrier.
//!
//! The receiver only, one thread at a time. Everything is wait-free in the number of active lanes, except for freeing
//! the memory of lanes that end.
//!
//! Active lanes are in a row, which the receiver visits in turn. The reader of the current lane is kept outside the
//! row, where a loop can keep it in registers. A lane joins the row at the back when its sender raises its id. It
//! leaves the row when it is armed, and when it is found closed and empty. All lanes are armed before the receiver
//! sleeps. A lane is also armed after a while without messages in which other lanes had some.
//!
//! Cannot: know of messages whose sender is still between publishing and raising. The receiver finds them once that
//! sender has raised its id.

mod row;

use core::ptr::NonNull;

use self::row::{EMPTY_VISITS, Row, Visit};
use super::shared::{MpscShared, SharedLanes};
use crate::channel::receive::ReadingEnd;
use crate::channel::rendezvous::Outlined;
use crate::foreign::Panics;
use crate::passive::{Barrier, Passive};
use crate::queue::outline;
use crate::queue::ypipe::{InSlot, Reader, UntypedReader};
use crate::sync::{Arc, window};
use crate::wait::WakeTarget;
use crate::wait::one::WaitingEnd;

/// The maximal number of messages that the receiver takes from one sender, before it polls the other senders' lanes.
pub const TURN: usize = if cfg!(ysuite_loom) { 2 } else { 128 };

pub(in crate::channel) struct Lanes<T> {
    lanes: UntypedLanes,
    shared: Arc<MpscShared<T>>,
}

/// The lanes, whose type of messages their owner knows.
struct UntypedLanes {
    /// The reader of the lane in front of the row, while it is that lane's turn.
    turn: Option<UntypedReader>,
    /// The number of messages that the current lane may still give in this turn. 0 while no lane has its turn.
    left: usize,
    /// The number of messages that were granted to all turns so far, without those that ended turns did not give;
    /// wraps.
    granted: usize,
    /// None before a lane is active for the first time. In an allocation of its own: slow paths run on a copy of this
    /// struct.
    row: Outlined<Option<Box<Row>>>,
}

impl UntypedLanes {
    fn new() -> Self {
        Self { turn: None, left: 0, granted: 0, row: Outlined::new(None) }
    }

    // MUTANT: Speed only: how soon an empty lane is armed, and how many rounds go over lanes that are empty. After the
    // close all slots are empty.
    /// The current lane has given its maximum, or all its messages: finds the next lane with a message. False: none has
    /// any.
    #[cold]
    #[inline(never)]
    fn next_lane(&mut self, shared: &SharedLanes) -> bool {
        if let Some(has_message) = self.only_lane(shared) {
            return has_message;
        }
        self.end_turn();
        self.activate(shared);
        let position = self.granted;
        let Some(row) = &mut *self.row else { return false };
        let mut is_idle = false;
        // Each lane that is in the row now, once.
        for _ in 0..row.lanes.len() {
            let Some(lane) = row.lanes.front_mut() else { break };
            row.visits += 1;
            match lane.visit(position) {
                Visit::Message => {
                    self.turn = lane.reader.take();
                    if is_idle {
                        row.arm(EMPTY_VISITS / 2);
                    }
                    self.grant();
                    return true;
                }
                Visit::Over => {
                    let id = row.remove_first();
                    if let (Some(id), false) = (id, row.is_shut) {
                        shared.finish(id);
                    }
                    continue;
                }
                Visit::Idle => is_idle = true,
                Visit::Nothing => {}
            }
            row.rotate();
        }
        // Re-check: a message may have arrived while arming.
        is_idle && row.arm(EMPTY_VISITS / 2) && self.next_lane(shared)
    }

    /// Where the current lane is the only active one, and not closed: whether it has another turn, with a message.
    fn only_lane(&mut self, shared: &SharedLanes) -> Option<bool> {
        let row = self.row.as_mut().filter(|row| row.lanes.len() == 1);
        let (Some(reader), Some(row), false) = (&mut self.turn, row, shared.ready.any()) else { return None };
        row.visits += 1;
        // Where it may give more, the caller has just found it empty.
        if self.left == 0 && reader.has_message() {
            self.grant();
            return Some(true);
        }
        if reader.is_closed() { None } else { Some(false) }
    }

    /// The row, which is made where it is missing.
    fn row(row: &mut Option<Box<Row>>) -> &mut Row {
        row.get_or_insert_with(Row::boxed)
    }

    /// The number of active lanes.
    #[inline(always)]
    fn active(&self) -> usize {
        self.row.as_ref().map_or(0, |row| row.lanes.len())
    }

    fn is_active(&self, id: usize) -> bool {
        self.row.as_ref().is_some_and(|row| row.is_active(id))
    }

    fn is_shut(&self) -> bool {
        self.row.as_ref().is_some_and(|row| row.is_shut)
    }

    // MUTANT: Speed only: a wrong position makes a lane look idle at a different time.
    /// A turn begins, or the same lane's next turn follows at once.
    fn grant(&mut self) {
        self.granted = self.granted.wrapping_add(TURN - self.left);
        self.left = TURN;
    }

    // MUTANT: Speed only: a wrong position makes a lane look idle at a different time.
    /// The turn ends; no lane has its turn.
    fn end_turn(&mut self) {
        self.granted = self.granted.wrapping_sub(self.left);
        if let Some(row) = self.pause_turn() {
            row.rotate();
        }
    }

    // MUTANT: Speed only: a wrong position makes a lane look idle at a different time. The turn itself counts only
    // with its reader.
    /// Puts the reader of the current lane back into the row, where that lane stays in front. None: there was none.
    fn pause_turn(&mut self) -> Option<&mut Row> {
        self.left = 0;
        let reader = self.turn.take()?;
        let row = self.row.as_deref_mut()?;
        row.lanes.front_mut()?.reader = Some(reader);
        Some(row)
    }

    // MUTANT: Speed only: an early exit. The take finds no raised id either. After the close all slots are empty.
    /// Lanes whose senders have raised them join the row.
    fn activate(&mut self, shared: &SharedLanes) {
        if !shared.ready.any() {
            return;
        }
        let (row, position) = (Self::row(&mut self.row), self.granted);
        shared.ready.take(&mut |id| {
            // A spurious raise: by a sender that took the token of an arming that `arm` has undone, or by the sender
            // that had this id before.
            if row.is_shut || row.is_active(id) {
                return;
            }
            // SAFETY: this is the receiver of an open channel, and the closure finishes no lane.
            let found = unsafe {
                shared.look(id, |idle| match idle.wake() {
                    None => {
                        // Before `wake`, which then sees what was written before the lane was closed.
                        let is_over = idle.end_if_closed();
                        (idle.wake(), is_over)
                    }
                    reader => (reader, false),
                })
            };
            match found {
                Some((Some(reader), _)) => row.add(id, reader, position),
                // The sender has disconnected, and has never sent anything.
                Some((None, true)) => shared.finish(id),
                Some((None, false)) | None => {}
            }
        });
    }

    /// As [`release`](Self::release), after a message was taken. A waker is user code; while unwinding, its panic goes no
    /// further.
    #[cold]
    #[inline(never)]
    fn released(&self, shared: &SharedLanes, tokens: u32) {
        Panics::in_drop(|| self.release(shared, tokens));
    }

    /// Messages of the current lane have been taken, and its sender waits for room: wakes it.
    #[cold]
    #[inline(never)]
    fn release(&self, shared: &SharedLanes, tokens: u32) {
        let Some(reader) = &self.turn else { return };
        let id = self.row.as_ref().and_then(|row| row.lanes.front()).map(|lane| lane.id as u32);
        shared.sender(id).wake(reader.writer_passive(), tokens);
    }

    /// Gives back what active lanes keep for later messages, and the room of the row.
    fn shrink(&mut self) {
        if let Some(reader) = &mut self.turn {
            reader.shrink();
        }
        if let Some(row) = &mut *self.row {
            row.shrink();
        }
    }

    // MUTANT: All slots are empty after the close.
    /// Whether any lane has `bound` messages.
    fn has_full_lane(&self, shared: &SharedLanes, bound: usize) -> bool {
        let mut is_any_full = self.turn.as_ref().is_some_and(|reader| reader.count_up_to(bound) >= bound);
        if let Some(row) = &*self.row {
            row.lanes.visit(&mut |reader| {
                is_any_full = is_any_full || reader.count_up_to(bound) >= bound;
                !is_any_full
            });
        }
        is_any_full
            // A lane that is not active has no message, unless it is raised.
            // SAFETY: this is the receiver, and the channel is open.
            || !self.is_shut() && unsafe { shared.has_full_lane(bound, &|id| self.is_active(id)) }
    }

    // MUTANT: Counts past the requested limit; callers use only the limit. All slots are empty after the close.
    fn len_up_to(&self, shared: &SharedLanes, enough: usize) -> usize {
        let mut length = self.turn.as_ref().map_or(0, |reader| reader.count_up_to(enough));
        if let Some(row) = &*self.row {
            row.lanes.visit(&mut |reader| {
                if length < enough {
                    length += reader.count_up_to(enough - length);
                }
                length < enough
            });
        }
        // A lane that is not active has no message, unless it is raised.
        if length >= enough || self.is_shut() || !shared.ready.any() {
            return length;
        }
        // SAFETY: this is the receiver, and the channel is open.
        length + unsafe { shared.len_up_to(enough - length, &|id| self.is_active(id)) }
    }

    /// As of [`ReadingEnd::close`].
    fn close(&mut self, shared: &SharedLanes) {
        let left = self.left;
        self.granted = self.granted.wrapping_sub(left);
        self.pause_turn();
        let lanes = shared.shut();
        let mut barrier = Barrier::none();
        for (_, idle) in lanes.iter() {
            barrier = barrier.and(idle.mark_cut());
        }
        barrier.pass();
        window();
        let (row, position) = (Self::row(&mut self.row), self.granted);
        row.is_shut = true;
        row.lanes.visit_mut(&mut |reader| reader.cut());
        for (id, idle) in lanes.iter() {
            if row.is_active(*id) {
                continue;
            }
            // SAFETY: the lane has no reader, as it is not in the row, and this is the reading side.
            if let Some(reader) = unsafe { idle.cut() } {
                row.add(*id, reader, position);
            }
        }
        if left != 0 {
            // What was returned by a peek is received next.
            self.turn = row.lanes.front_mut().and_then(|lane| lane.reader.take());
            self.granted = self.granted.wrapping_add(left);
            self.left = left;
        }
        shared.tell(&lanes);
    }

    // MUTANT: Speed only: a fence, or one more round, when no lane is left to arm.
    /// As of [`WaitingEnd::arm_all`].
    fn arm_all(&mut self) -> bool {
        self.end_turn();
        self.row.as_mut().is_some_and(|row| !row.lanes.is_empty() && row.arm(0))
    }

    // USER CODE: messages' `Drop`, and the wakers of senders that wait for room; all lanes are out of the row, and the
    //     receiver is marked as disconnected; re-entrance: a sender that connects finds that; panic: the other
    //     messages are dropped, the other senders woken; test: tests/suite/mpsc/endings.rs:
    //     a_panicking_drop_in_one_lane_leaves_the_others_in_order
    // MUTANT: All slots are empty after the close. Killed only by
    // `an_mpsc_receiver_drops_its_waker_after_one_that_panics`.
    /// The receiver is dropped.
    fn end(&mut self, shared: &SharedLanes) {
        // SAFETY: this is the receiver, borrowed mutably, so no registration of it is in use.
        unsafe { shared.parker.target.detach() };
        let waker = shared.parker.target.task.take();
        self.end_turn();
        // Messages, the wakers of senders, and this receiver's own waker last: user code.
        let mut panics = Panics::none();
        match &mut *self.row {
            // All were notified when the channel was closed. What is left is dropped with the readers.
            Some(row) if row.is_shut => {
                while let Some(lane) = row.lanes.pop_front() {
                    panics.catch(|| drop(lane));
                }
            }
            row => {
                while row.as_mut().is_some_and(|row| row.remove_first().is_some()) {}
                panics.catch(|| shared.abandon());
            }
        }
        panics.catch(|| drop(waker));
    }
}

impl<T> Lanes<T> {
    pub(super) fn new(shared: Arc<MpscShared<T>>) -> Self {
        Self { lanes: UntypedLanes::new(), shared }
    }

    // MUTANT: Speed only: the next check, or the one before the park, finds the message. A lane that ends while it is
    // armed is reported by `poll_recv`.
    /// Whether there is a message; then its lane has its turn.
    #[inline(always)]
    fn look(&mut self) -> bool {
        let lanes = &mut self.lanes;
        lanes.left != 0 && lanes.turn.as_mut().is_some_and(|turn| Self::typed(turn).has_message())
            || lanes.next_lane(&self.shared)
    }

    /// The reader of a lane.
    #[inline(always)]
    fn typed(reader: &mut UntypedReader) -> &mut Reader<T> {
        // SAFETY: all lanes of the channel are for messages of this type.
        unsafe { Reader::of(reader) }
    }

    // MUTANT: No lane has its turn, or its lane has no message: the attempt that follows finds nothing.
    /// After the current lane has given all it may: whether another lane has a message.
    #[inline(always)]
    fn turns(&mut self) -> bool {
        let shared = &*self.shared;
        outline(&mut self.lanes, |lanes| lanes.next_lane(shared))
    }

    // MUTANT: Speed only: the current lane has no visible message either. A wake without a mode does nothing.
    /// A message of the current lane, as [`take_by`](ReadingEnd::take_by).
    #[inline(always)]
    fn take_in_turn<R>(&mut self, out: impl FnOnce(InSlot<T>) -> R) -> Option<R> {
        let lanes = &mut self.lanes;
        if lanes.left == 0 {
            return None;
        }
        let reader = Self::typed(lanes.turn.as_mut()?);
        let message = out(reader.read_in_slot()?);
        let tokens = reader.credited();
        lanes.left -= 1;
        if tokens != 0 {
            let shared = &*self.shared;
            outline(lanes, |lanes| lanes.released(shared, tokens));
        }
        Some(message)
    }

    // MUTANT: Speed only: the current lane has no visible message either.
    /// Takes the next message of the current lane, if there is one and it `is_wanted`, without moving it: see
    /// [`Reader::take_in_place`]. Only where lanes have no bound: no sender is notified of the room.
    #[inline(always)]
    pub(in crate::channel) fn take_in_place(&mut self, is_wanted: impl FnOnce(&T) -> bool) -> Option<NonNull<T>> {
        let lanes = &mut self.lanes;
        if lanes.left == 0 {
            return None;
        }
        let place = Self::typed(lanes.turn.as_mut()?).take_in_place(is_wanted)?;
        lanes.left -= 1;
        Some(place)
    }

    // MUTANT: Speed only: how many of the messages that arrive meanwhile a batch takes.
    /// Takes up to `most` messages, lane by lane. `take` gets a lane's reader, the number of messages taken before, and
    /// the maximum for that lane. It returns the number that the lane has given.
    #[inline(always)]
    fn take_batch(&mut self, most: usize, mut take: impl FnMut(&mut Reader<T>, usize, usize) -> usize) -> usize {
        let (mut taken, mut emptied) = (0, 0);
        let mut found = self.look();
        // Each lane is emptied once; messages that arrive meanwhile are for the next batch.
        while found {
            let lanes = &mut self.lanes;
            let Some(reader) = &mut lanes.turn else { break };
            let share = lanes.left.min(most - taken);
            let got = take(Self::typed(reader), taken, share);
            lanes.left -= got;
            taken += got;
            let tokens = reader.credited();
            if tokens != 0 {
                lanes.release(&self.shared, tokens);
            }
            emptied += usize::from(got < share);
            if taken == most || emptied > lanes.active() {
                break;
            }
            found = lanes.next_lane(&self.shared);
        }
        taken
    }

    // MUTANT: Speed only: an early exit. A caller that gets no result here checks and finds nothing.
    /// Whether no lane is active and no id is raised: then there is no message. A few loads.
    #[inline(always)]
    pub(in crate::channel) fn is_quiet(&self) -> bool {
        self.lanes.active() == 0 && !self.shared.ready.any()
    }

    pub(super) fn shared(&self) -> &MpscShared<T> {
        &self.shared
    }

    /// Gives back what active lanes keep for later messages, and the room of the row.
    pub(super) fn shrink(&mut self) {
        self.lanes.shrink();
    }

    /// Whether any lane has `bound` messages.
    pub(super) fn has_full_lane(&self, bound: usize) -> bool {
        self.lanes.has_full_lane(&self.shared, bound)
    }

    /// The number of lanes that have been visited so far.
    pub(super) fn visits(&self) -> u64 {
        self.lanes.row.as_ref().map_or(0, |row| row.visits)
    }
}

impl<T> ReadingEnd for Lanes<T> {
    type Message = T;

    // MUTANT: No lane has its turn, or its lane has no message: the attempt that follows finds nothing.
    #[inline(always)]
    fn take_by<R>(&mut self, out: impl Copy + FnOnce(InSlot<T>) -> R) -> Option<R> {
        match self.take_in_turn(out) {
            Some(message) => Some(message),
            None if self.turns() => self.take_in_turn(out),
            None => None,
        }
    }

    fn take_many(&mut self, to: &mut Vec<T>, most: usize) -> usize {
        self.take_batch(most, |reader, _, share| reader.read_batch(to, share))
    }

    #[inline]
    fn peek(&mut self) -> Option<&T> {
        Self::typed(self.lanes.turn.as_mut()?).peek()
    }

    #[inline]
    fn peek_run(&mut self) -> &[T] {
        let run = self.lanes.turn.as_mut().map_or(&[][..], |turn| Self::typed(turn).known_run());
        &run[..run.len().min(self.lanes.left)]
    }

    #[inline]
    fn has_message(&mut self) -> bool {
        self.look()
    }

    fn len_up_to(&self, enough: usize) -> usize {
        self.lanes.len_up_to(&self.shared, enough)
    }

    // MUTANT: Speed only: a wrong position makes a lane look idle at a different time.
    fn position(&self) -> usize {
        self.lanes.granted.wrapping_sub(self.lanes.left)
    }

    fn bound(&self) -> Option<usize> {
        self.shared.bound()
    }

    fn is_closed(&self) -> bool {
        self.shared.is_disconnected()
    }

    // USER CODE: wakers of senders that wait for room, also by `tell` in `channel/mpsc/shared.rs`; all lanes are cut;
    //     re-entrance: any operation; panic: the others are woken, then it propagates; test:
    //     tests/suite/mpsc/closing.rs: a_close_wakes_every_sender_that_waits
    // MUTANT: Speed only: a wrong position makes a lane look idle at a different time. A turn ends at the next check
    // anyway.
    fn close(&mut self) {
        self.lanes.close(&self.shared);
    }

    fn tell_end(&self) {
        self.shared.end_watchers.tell();
    }
}

#[cfg(feature = "in-place")]
impl<T> crate::channel::in_place::InPlaceEnd for Lanes<T> {
    #[inline(always)]
    fn take_place(&mut self) -> Option<NonNull<T>> {
        self.take().map(InSlot::leave)
    }

    // MUTANT: Speed only: an early exit. The take finds no raised id either.
    fn skip(&mut self, count: usize) {
        let Some(reader) = &mut self.lanes.turn else {
            assert!(count == 0, "{count} messages, where none was shown");
            return;
        };
        assert!(count <= self.lanes.left, "{count} messages, where fewer were shown");
        Self::typed(reader).skip(count);
        self.lanes.left -= count;
        self.credit();
    }

    fn take_runs(&mut self, most: usize, each: &mut impl FnMut(NonNull<T>, usize)) -> usize {
        self.take_batch(most, |reader, _, share| reader.read_runs(share, each))
    }

    /// The receiver's own polls change which lane has its turn.
    fn window(&self) -> crate::channel::in_place::RecvWindow {
        crate::channel::in_place::RecvWindow::shut()
    }

    unsafe fn resume(&mut self, _: NonNull<u8>, _: NonNull<u8>) {}

    fn credit(&mut self) {
        let tokens = self.lanes.turn.as_ref().map_or(0, |reader| reader.credited());
        // MUTANT: A wake without a mode does nothing.
        if tokens != 0 {
            self.lanes.release(&self.shared, tokens);
        }
    }
}

impl<T> WaitingEnd for Lanes<T> {
    #[inline]
    fn is_ready(&mut self) -> bool {
        self.has_message() || self.is_closed()
    }

    fn passive(&self) -> &Passive {
        &self.shared.parker.word
    }

    fn target(&self) -> &WakeTarget {
        &self.shared.parker.target
    }

    fn arm(&mut self, tokens: u32) {
        // MUTANT: Speed only: `arm_further` arms the lanes and checks each of them.
        // Lanes first: after all of them are armed the check finds little to do.
        self.arm_all();
        window();
        self.shared.parker.word.arm(tokens);
    }

    // MUTANT: In a race: a sender raised a lane and is about to notify, which brings the id up.
    fn is_all_armed(&self) -> bool {
        self.lanes.active() == 0
    }

    /// With one barrier. Lanes that have messages, or have ended, stay active.
    fn arm_all(&mut self) -> bool {
        self.lanes.arm_all()
    }
}

// USER CODE: as of `UntypedLanes::end`
impl<T> Drop for Lanes<T> {
    fn drop(&mut self) {
        self.lanes.end(&self.shared);
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    //! What is not visible from outside, and what only arises from races: the tests insert the steps of the other
    //! thread.

    use super::*;
    use crate::channel::mpsc::Sender;
    use crate::channel::mpsc::shared::{ChannelParker, LANE};
    use crate::statistics::Meter;
    use crate::wait::Parker;

    impl Lanes<u32> {
        fn take_now(&mut self) -> Option<u32> {
            self.take().map(InSlot::take)
        }
    }

    fn funnel(bound: Option<usize>) -> (Sender<u32>, Lanes<u32>) {
        let parker = ChannelParker::Own(Parker::new(Meter::default()));
        let shared = Arc::new(MpscShared::new(bound, None, parker, Meter::default()));
        (Sender::connect(&shared).unwrap(), Lanes::new(shared))
    }

    /// As the other thread may arrive between the check and the arming.
    #[test]
    fn a_lane_that_has_a_message_or_has_ended_stays_active_when_it_is_armed() {
        let (mut one, mut lanes) = funnel(None);
        let mut two = Sender::connect(&lanes.shared).unwrap();
        one.send(1).unwrap();
        two.send(1).unwrap();
        assert_eq!((lanes.take_now(), lanes.take_now(), lanes.take_now()), (Some(1), Some(1), None));
        one.send(2).unwrap();
        assert!(lanes.arm_all(), "a message is there");
        assert_eq!((lanes.lanes.active(), lanes.is_all_armed()), (1, false));
        assert_eq!((lanes.take_now(), lanes.take_now()), (Some(2), None));
        assert!(!lanes.arm_all() && lanes.is_all_armed());
        // The second has no token to take, so it notifies no receiver of its drop.
        two.send(3).unwrap();
        assert_eq!((lanes.take_now(), lanes.take_now()), (Some(3), None));
        drop(two);
        assert!(lanes.arm_all() && !lanes.is_all_armed(), "it has ended");
        assert!(lanes.take_now().is_none() && lanes.is_all_armed());
        assert_eq!(lanes.shared.claim(), Some(1), "the number of a lane that has ended is free");
    }

    /// By a sender that has taken the token of an arming which was undone.
    #[test]
    fn a_lane_that_is_raised_while_it_is_active_is_read_once() {
        let (mut sender, mut lanes) = funnel(None);
        sender.send(1).unwrap();
        assert_eq!((lanes.take_now(), lanes.take_now()), (Some(1), None));
        lanes.lanes.end_turn();
        lanes
            .lanes
            .row
            .as_mut()
            .unwrap()
            .lanes
            .front_mut()
            .unwrap()
            .reader
            .as_ref()
            .unwrap()
            .passive()
            .mark(LANE)
            .pass();
        sender.send(2).unwrap();
        assert!(lanes.shared.ready.any());
        assert_eq!((lanes.take_now(), lanes.take_now(), lanes.lanes.active()), (Some(2), None, 1));
        assert!(!lanes.shared.ready.any());
    }

    /// By the sender that had its number before.
    #[test]
    fn a_lane_that_is_raised_before_its_first_message_is_there_for_it() {
        let (mut sender, mut lanes) = funnel(None);
        lanes.shared.ready.raise(0);
        assert!(lanes.take_now().is_none() && !lanes.shared.ready.any());
        sender.send(1).unwrap();
        assert_eq!(lanes.take_now(), Some(1));
    }

    #[test]
    fn lanes_are_active_in_whichever_order_they_have_come_into_view() {
        let (first, mut lanes) = funnel(None);
        let mut senders = vec![first];
        (1..200).for_each(|_| senders.push(Sender::connect(&lanes.shared).unwrap()));
        let order = [130_usize, 0, 199, 64];
        for id in order {
            senders[id].send(id as u32).unwrap();
            assert_eq!(lanes.take_now(), Some(id as u32));
        }
        assert!((0..200).all(|id| lanes.lanes.is_active(id) == order.contains(&id)));
    }

    /// One by one, and of a run.
    #[cfg(feature = "in-place")]
    #[test]
    fn room_that_is_made_in_place_wakes_the_sender_that_waits_for_it() {
        use core::task::{Context, Waker};

        use crate::channel::in_place::InPlaceEnd;

        for of_a_run in [false, true] {
            let (mut sender, mut lanes) = funnel(Some(1));
            let mut context = Context::from_waker(Waker::noop());
            sender.send(7).unwrap();
            assert!(sender.poll_ready(&mut context).is_pending());
            if of_a_run {
                assert!(lanes.has_message() && lanes.peek_run() == [7]);
                lanes.skip(1);
            } else {
                assert!(lanes.take_place().is_some());
            }
            // Its waker has been taken out.
            assert!(lanes.shared.sender(Some(0)).task.take().is_none());
            assert!(sender.poll_ready(&mut context).is_ready());
        }
    }
}
