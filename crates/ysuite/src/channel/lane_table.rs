//! A thread's lanes by number: what each thread keeps of the channels to which it sends by shared senders. The calling
//! thread only; finding a lane is wait-free, a new one allocates.
//!
//! A lane belongs to the thread and not to the handle that was used to send. So the messages of a thread arrive in
//! order, through all clones of a sender. Any number of threads may share a sender, and sending needs no
//! read-modify-write. A lane ends with its thread, or with its channel (at the next send to it, or at a sweep). It also
//! ends at a sweep when it was not used since the last sweep and is empty, so that its successor cannot overtake it. A
//! sweep comes when the number of lanes has doubled since the last.
//!
//! Cannot: keep the order of messages that are sent while the thread's thread-locals are being destroyed. Each of them
//! has a lane to itself, which the caller makes.

use core::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::foreign::Panics;
use crate::number_map::NumberMap;

/// Up to this number of lanes, a thread keeps them without a sweep.
const KEPT_LANES: usize = if cfg!(ysuite_loom) { 2 } else { 64 };

/// The entry of a thread for one channel.
pub(crate) trait ThreadLane {
    /// The number of the channel.
    fn number(&self) -> u64;
    /// Set whenever it becomes the recent one, and cleared by a sweep.
    fn used(&self) -> &Cell<bool>;
    /// Whether a sweep may drop it: its channel has ended, or it is empty and `unused` since the last sweep.
    fn is_idle(&self, unused: bool) -> bool;
}

// GROWS: a thread's lanes; bound: 64, or twice those in use; full: a sweep; freed: lanes that are empty and unused, or
//     whose mailbox has ended: at a sweep, at a refused send, at thread exit; cost: a sweep passes over all, once for
//     each doubling; test: tests/allocation/mailboxes.rs:
//     lanes_that_are_not_used_are_given_up_in_a_thread_that_sends_to_others
pub(crate) struct LaneTable<L: ThreadLane> {
    /// The lane that was found last. Not here while it is in use.
    recent: Cell<Option<Rc<L>>>,
    lanes: RefCell<LaneMap<L>>,
    /// The number of lanes at which the next sweep comes.
    sweep_at: Cell<usize>,
}

/// Lanes to be dropped after the send in progress.
pub(crate) type GivenUp<L> = Vec<Rc<L>>;

/// A send has returned: drops its lane, and the lanes that were given up for it, and returns its result. User code,
/// where the lanes have messages left. So is the drop of a message that comes back, while unwinding.
#[cold]
#[inline(never)]
pub(crate) fn end_lanes<L, A>(sent: A, lane: Rc<L>, given_up: GivenUp<L>) -> A {
    let mut panics = Panics::none();
    panics.catch(|| drop(lane));
    for lane in given_up {
        panics.catch(|| drop(lane));
    }
    panics.answer(sent)
}

type LaneMap<L> = NumberMap<Rc<L>>;

impl<L: ThreadLane> LaneTable<L> {
    pub(crate) fn new() -> Self {
        Self { recent: Cell::new(None), lanes: RefCell::new(NumberMap::default()), sweep_at: Cell::new(KEPT_LANES) }
    }

    /// Takes the lane out, if it was found last. The caller [puts it back](Self::put_back), unless it has ended.
    /// Meanwhile it is found by [`find`](Self::find).
    #[inline(always)]
    pub(crate) fn take_recent(&self, number: u64) -> Option<Rc<L>> {
        let recent = self.recent.take()?;
        if recent.number() == number {
            return Some(recent);
        }
        self.recent.set(Some(recent));
        None
    }

    /// The lane is the recent one again. This may drop, as a sweep does, a lane that has become recent in the meantime.
    #[inline(always)]
    pub(crate) fn put_back(&self, lane: Rc<L>) {
        drop(self.recent.replace(Some(lane)));
    }

    /// The lane, and the lanes that a sweep took out for it.
    pub(crate) fn find(&self, number: u64, make: impl FnOnce() -> L) -> (Rc<L>, GivenUp<L>) {
        let (found, mut given_up) = (self.lanes.borrow().get(number).cloned(), GivenUp::new());
        let lane = found.unwrap_or_else(|| {
            let lane = Rc::new(make());
            given_up = self.sweep();
            self.lanes.borrow_mut().insert(number, lane.clone());
            lane
        });
        // A sweep skips the recent lane, so this holds until another lane is the recent one.
        lane.used().set(true);
        drop(self.recent.replace(Some(lane.clone())));
        (lane, given_up)
    }

    /// Takes out idle lanes, if there are many. Dropping them drops messages of channels that have ended: user code.
    fn sweep(&self) -> GivenUp<L> {
        let mut lanes = self.lanes.borrow_mut();
        if lanes.len() < self.sweep_at.get() {
            return Vec::new();
        }
        // A lane in use, and the recent one, have other owners.
        let is_idle = |lane: &&Rc<L>| Rc::strong_count(lane) == 1 && lane.is_idle(!lane.used().replace(false));
        let idle: GivenUp<L> = lanes.values().filter(is_idle).cloned().collect();
        idle.iter().for_each(|lane| drop(lanes.remove(lane.number())));
        self.sweep_at.set(KEPT_LANES.max(lanes.len() * 2));
        idle
    }

    /// Takes the lane out.
    pub(crate) fn forget(&self, number: u64) {
        let lane = self.lanes.borrow_mut().remove(number);
        drop((lane, self.take_recent(number)));
    }
}

// USER CODE: `Drop` of messages that a mailbox or receiver, which is being dropped at this moment, leaves to the lane;
//     so also in `end_lanes`, and where a lane is forgotten (`send` of `mailbox/outbox.rs`, `by_lane` and
//     `by_lane_of_its_own` of `channel/mpsc/shared_sender.rs`). The tables are taken out, or no longer borrowed; the
//     message has been sent, or is a local; re-entrance: may send anywhere; panic: at thread exit it is not resumed;
//     elsewhere all lanes are dropped, and it propagates out of `send`; the message was sent, or is dropped; test:
//     tests/suite/mailbox.rs: a_refused_message_ends_with_a_lane_whose_messages_panic, tests/suite/mpsc/shared.rs:
//     a_refused_message_ends_with_a_lane_whose_messages_panic, tests/suite/mailbox/relations.rs:
//     a_thread_that_ends_while_its_mailbox_does_survives_what_its_messages_do
impl<L: ThreadLane> Drop for LaneTable<L> {
    /// Drops the lanes at the exit of the thread, where a panic would abort the process. A lane may have to drop the
    /// messages of a channel that is ending at this moment. If one panics, the text is printed, and the panic goes no
    /// further.
    fn drop(&mut self) {
        let mut panics = Panics::none();
        panics.catch(|| drop(self.recent.take()));
        for lane in self.lanes.take().into_values() {
            panics.catch(|| drop(lane));
        }
        panics.end_here();
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    use super::*;

    /// The lanes that have ended, and whether that was while unwinding.
    type EndedLanes = Rc<RefCell<Vec<(u64, bool)>>>;

    /// A lane that is empty, and may panic when it ends.
    struct TestLane {
        number: u64,
        used: Cell<bool>,
        panics: bool,
        ended: EndedLanes,
    }

    impl TestLane {
        fn new(number: u64, panics: bool, ended: &EndedLanes) -> Self {
            Self { number, used: Cell::new(true), panics, ended: ended.clone() }
        }
    }

    impl ThreadLane for TestLane {
        fn number(&self) -> u64 {
            self.number
        }

        fn used(&self) -> &Cell<bool> {
            &self.used
        }

        fn is_idle(&self, unused: bool) -> bool {
            unused
        }
    }

    impl Drop for TestLane {
        fn drop(&mut self) {
            self.ended.borrow_mut().push((self.number, thread::panicking()));
            // Two panics at once would abort the process.
            if self.panics && !thread::panicking() {
                panic!("lane {} ends", self.number);
            }
        }
    }

    #[test]
    fn the_lane_found_last_is_at_hand_until_another_is_found() {
        let (table, ended) = (LaneTable::new(), EndedLanes::default());
        for number in [1, 2, 1] {
            drop(table.find(number, || TestLane::new(number, false, &ended)));
            // A request for another lane leaves it.
            assert!(table.take_recent(3 - number).is_none());
            let recent = table.take_recent(number).expect("the lane found last");
            assert_eq!(recent.number, number);
            assert!(table.take_recent(number).is_none(), "it is in use");
            table.put_back(recent);
            table.put_back(table.take_recent(number).expect("the lane that was put back"));
        }
        assert!(ended.borrow().is_empty(), "the table has them all");
    }

    #[test]
    fn a_lane_that_is_forgotten_ends_at_once_and_no_other() {
        let (table, ended) = (LaneTable::new(), EndedLanes::default());
        (0..3).for_each(|number| drop(table.find(number, || TestLane::new(number, false, &ended))));
        // One that was found before, and the one that was found last.
        for forgotten in [1, 2] {
            table.forget(forgotten);
            assert_eq!(ended.take(), [(forgotten, false)]);
        }
        drop(table.find(0, || unreachable!("it is there")));
    }

    #[test]
    fn a_sweep_takes_what_was_not_used_since_the_last_and_comes_when_there_are_twice_as_many() {
        const KEPT: u64 = KEPT_LANES as u64;
        let (table, ended) = (LaneTable::new(), EndedLanes::default());
        let find = |number| table.find(number, || TestLane::new(number, false, &ended));
        let (in_use, _) = find(7);
        // The last of these comes with a sweep, in which all others have been used.
        (0..=KEPT).for_each(|number| assert!(find(number).1.is_empty(), "lane {number}"));
        let (_, given_up) = find(5);
        assert!(given_up.is_empty());
        (KEPT + 1..2 * KEPT).for_each(|number| assert!(find(number).1.is_empty(), "lane {number}"));
        assert!(ended.borrow().is_empty());
        // Except for the lane in use, the one that has been used since, and the one that was found last before the
        // first sweep.
        let (_, given_up) = find(2 * KEPT);
        let mut numbers: Vec<u64> = given_up.iter().map(|lane| lane.number).collect();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq((0..KEPT - 1).filter(|number| ![5, 7].contains(number))));
        drop((in_use, given_up));
        assert_eq!(ended.borrow().len() as u64, KEPT - 3);
        assert!(find(3).1.is_empty() && find(7).1.is_empty(), "the next sweep is far off");
    }

    #[test]
    fn a_send_ends_with_one_panic_though_its_lanes_and_its_answer_panic() {
        let ended = EndedLanes::default();
        let lane = |number| TestLane::new(number, true, &ended);
        let given_up: GivenUp<TestLane> = (2..4).map(|number| Rc::new(lane(number))).collect();
        let end = || drop(end_lanes(lane(4), Rc::new(lane(1)), given_up));
        let panic = catch_unwind(AssertUnwindSafe(end)).unwrap_err();
        assert_eq!(panic.downcast_ref::<String>().map(String::as_str), Some("lane 1 ends"));
        assert_eq!(*ended.borrow(), [(1, false), (2, false), (3, false), (4, false)]);
    }

    #[test]
    fn the_lanes_of_a_thread_end_with_it_though_all_of_them_panic() {
        let (table, ended) = (LaneTable::new(), EndedLanes::default());
        (0..3).for_each(|number| drop(table.find(number, || TestLane::new(number, true, &ended))));
        assert!(catch_unwind(AssertUnwindSafe(|| drop(table))).is_ok(), "a panic would abort the process");
        let mut ended = ended.take();
        ended.sort_unstable();
        assert_eq!(ended, [(0, false), (1, false), (2, false)]);
    }
}
