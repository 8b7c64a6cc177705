//! The row of active lanes: a queue in the order in which they are visited. It holds which lanes there are, how long
//! each has been empty, and how many are armed with one barrier.
//!
//! A lane joins at the back, and goes to the back after each visit. So no lane is visited twice before every lane in
//! front of it has been visited once. Lanes that join later never delay the lanes that are here. A lane whose sender is
//! disconnected leaves no later than its turn would have come.
//!
//! The receiver only, one thread at a time. Wait-free in the number of active lanes, except for the allocator.

use core::mem::ManuallyDrop;
use std::collections::VecDeque;

use crate::channel::mpsc::shared::LANE;
use crate::channel::rendezvous::OutlinedDrop;
use crate::passive::Barrier;
use crate::queue::ypipe::{Reading, UntypedReader};
use crate::sync::window;

/// The number of visits to a lane without a message, while others had some, before it is armed.
pub(super) const EMPTY_VISITS: u32 = if cfg!(ysuite_loom) { 2 } else { 64 };

/// Room for this number of lanes is kept, however few there are.
const KEPT_ROOM: usize = 64;

// GROWS: active lanes; bound: the number of senders; kept as long as the most that were active at once; cost: none for
//     lanes that are armed; test: tests/allocation/lanes.rs:
//     what_most_senders_at_once_have_taken_is_kept_and_enough_for_as_many_again
/// The active lanes.
pub(super) struct Row {
    /// In front is the current lane, while any lane has its turn.
    pub(super) lanes: LaneQueue,
    /// The ids in the row as bits: the first 64, and 64 in each further word.
    active: u64,
    further: Vec<u64>,
    /// The number of lanes that have been visited so far.
    pub(super) visits: u64,
    /// The receiver has closed the channel. Then all lanes with messages are in the row, which no lane joins any more.
    pub(super) is_shut: bool,
}

impl OutlinedDrop for Option<Box<Row>> {
    #[inline(never)]
    unsafe fn drop_outlined(value: *mut Self) {
        // SAFETY: by the caller.
        unsafe { core::ptr::drop_in_place(value) };
    }
}

/// A queue of active lanes. It allocates nothing before there are two at a time: most channels have one sender.
pub(super) struct LaneQueue {
    /// The only lane, while `several` has never been used.
    only: Option<ActiveLane>,
    /// Not dropped here: the end of the receiver takes all lanes out. The drop of a `VecDeque` is a kilobyte.
    several: VecDeque<ManuallyDrop<ActiveLane>>,
}

impl LaneQueue {
    fn new() -> Self {
        Self { only: None, several: VecDeque::new() }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        usize::from(self.only.is_some()) + self.several.len()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.only.is_none() && self.several.is_empty()
    }

    #[inline]
    pub(super) fn front(&self) -> Option<&ActiveLane> {
        self.only.as_ref().or_else(|| self.several.front().map(|lane| &**lane))
    }

    #[inline]
    pub(super) fn front_mut(&mut self) -> Option<&mut ActiveLane> {
        self.only.as_mut().or_else(|| self.several.front_mut().map(|lane| &mut **lane))
    }

    /// The only lane has any index.
    fn get(&self, index: usize) -> Option<&ActiveLane> {
        self.only.as_ref().or_else(|| self.several.get(index).map(|lane| &**lane))
    }

    /// Calls `each` with the readers of all lanes but the one that has its turn, until it returns false.
    pub(super) fn visit(&self, each: &mut dyn FnMut(&UntypedReader) -> bool) {
        for index in 0..self.len() {
            let lane = self.get(index);
            if lane.and_then(|lane| lane.reader.as_ref()).is_some_and(|reader| !each(reader)) {
                return;
            }
        }
    }

    /// Calls `each` with the readers of all lanes but the one that has its turn.
    pub(super) fn visit_mut(&mut self, each: &mut dyn FnMut(&mut UntypedReader)) {
        for index in 0..self.len() {
            let lane = self.only.as_mut().or_else(|| self.several.get_mut(index).map(|lane| &mut **lane));
            if let Some(reader) = lane.and_then(|lane| lane.reader.as_mut()) {
                each(reader);
            }
        }
    }

    /// Makes the room one for this number of lanes. Not by `shrink_to`, which is three times as much code.
    #[cold]
    #[inline(never)]
    fn shrink(&mut self, room: usize) {
        let mut fewer = VecDeque::with_capacity(room);
        while let Some(lane) = self.several.pop_front() {
            fewer.push_back(lane);
        }
        self.several = fewer;
    }

    // A lane is large: moved in one place, and not in each that calls this.
    #[inline(never)]
    pub(super) fn pop_front(&mut self) -> Option<ActiveLane> {
        self.only.take().or_else(|| self.several.pop_front().map(ManuallyDrop::into_inner))
    }

    // As above.
    #[inline(never)]
    fn push_back(&mut self, lane: ActiveLane) {
        if self.several.capacity() == 0 {
            if self.only.is_none() {
                self.only = Some(lane);
                return;
            }
            if let Some(only) = self.only.take() {
                self.several.push_back(ManuallyDrop::new(only));
            }
        }
        self.several.push_back(ManuallyDrop::new(lane));
    }

    /// The lane in front goes to the back.
    fn rotate(&mut self) {
        // Fewer instructions than `rotate_left`, which is made for any number.
        if let Some(lane) = self.several.pop_front() {
            self.several.push_back(lane);
        }
    }
}

/// An active lane.
pub(super) struct ActiveLane {
    /// Taken out while this lane has its turn.
    pub(super) reader: Option<UntypedReader>,
    pub(super) id: usize,
    /// The number of consecutive visits without a message, while others had some.
    pub(super) empty: u32,
    /// The position of the receiver at the last visit.
    pub(super) seen: usize,
}

pub(super) enum Visit {
    Message,
    Nothing,
    /// No message, and there will be none.
    Over,
    /// No message, after [`EMPTY_VISITS`] empty visits.
    Idle,
}

impl ActiveLane {
    // MUTANT: Speed only: after how many empty visits a lane is armed. Its next message raises it again.
    pub(super) fn visit(&mut self, position: usize) -> Visit {
        let Some(reader) = &mut self.reader else { return Visit::Nothing };
        if reader.has_message() {
            self.empty = 0;
            return Visit::Message;
        }
        if reader.is_closed() {
            // What the sender published before it closed the lane is visible now.
            if reader.has_last() {
                return Visit::Message;
            }
            // Another sender may have continued in the lane, and have closed it again after messages of its own.
            if reader.end_if_closed() {
                return if reader.has_last() { Visit::Message } else { Visit::Over };
            }
        }
        if self.seen == position {
            return Visit::Nothing;
        }
        self.seen = position;
        self.empty += 1;
        if self.empty == EMPTY_VISITS { Visit::Idle } else { Visit::Nothing }
    }
}

impl Row {
    /// Of a channel whose first lane becomes active.
    #[cold]
    #[inline(never)]
    pub(super) fn boxed() -> Box<Self> {
        Box::new(Self { lanes: LaneQueue::new(), active: 0, further: Vec::new(), visits: 0, is_shut: false })
    }

    pub(super) fn is_active(&self, id: usize) -> bool {
        let word = match (id / 64).checked_sub(1) {
            None => self.active,
            Some(word) => self.further.get(word).copied().unwrap_or(0),
        };
        word & (1 << (id % 64)) != 0
    }

    // MUTANT: The bit vector gets one word more than it needs.
    /// The word with an id's bit. Makes it where it is missing.
    fn word(&mut self, id: usize) -> &mut u64 {
        let Some(word) = (id / 64).checked_sub(1) else { return &mut self.active };
        if self.further.len() <= word {
            self.further.resize(word + 1, 0);
        }
        &mut self.further[word]
    }

    pub(super) fn add(&mut self, id: usize, reader: UntypedReader, seen: usize) {
        *self.word(id) |= 1 << (id % 64);
        self.lanes.push_back(ActiveLane { reader: Some(reader), id, empty: 0, seen });
    }

    /// The lane in front has been visited, or has had its turn: goes to the back.
    pub(super) fn rotate(&mut self) {
        self.lanes.rotate();
    }

    /// Takes the lane in front out of the row, and makes its reader idle. Returns the lane's id.
    pub(super) fn remove_first(&mut self) -> Option<usize> {
        let lane = self.lanes.pop_front()?;
        let id = self.rest(lane);
        self.give_back_room();
        Some(id)
    }

    /// After a crowd: the memory that is kept is in proportion to the lanes that exist, and a lane that leaves pays for
    /// moving few others.
    fn give_back_room(&mut self) {
        let (room, lanes) = (self.lanes.several.capacity(), &mut self.lanes);
        if room > KEPT_ROOM && lanes.len() < room / 4 {
            lanes.shrink((2 * lanes.len()).max(KEPT_ROOM));
        }
    }

    /// Gives back what lanes keep for later messages, and the room for more lanes.
    #[cold]
    pub(super) fn shrink(&mut self) {
        self.lanes.visit_mut(&mut |reader| reader.shrink());
        if self.lanes.several.capacity() != 0 {
            self.lanes.shrink(self.lanes.len());
        }
    }

    /// A lane that has left the row: makes its reader idle. Returns its id.
    fn rest(&mut self, lane: ActiveLane) -> usize {
        *self.word(lane.id) &= !(1 << (lane.id % 64));
        if let Some(reader) = lane.reader {
            Reading::rest(reader);
        }
        lane.id
    }

    // MUTANT: A leftover wake mode raises an active lane once more, which `activate` ignores.
    /// Arms the lanes that have been empty for at least `empty` visits, with one barrier, and takes those that are
    /// still empty then out of the row. True: some are not empty, and stay.
    pub(super) fn arm(&mut self, empty: u32) -> bool {
        let mut barrier = Barrier::none();
        for index in 0..self.lanes.len() {
            let lane = self.lanes.get(index);
            if let Some(reader) = lane.filter(|lane| lane.empty >= empty).and_then(|lane| lane.reader.as_ref()) {
                barrier = barrier.and(reader.passive().mark(LANE));
            }
        }
        barrier.pass();
        window();
        let mut found = false;
        // Each lane once; those that stay keep their order.
        for _ in 0..self.lanes.len() {
            let Some(mut lane) = self.lanes.pop_front() else { break };
            let due = lane.reader.as_mut().filter(|_| lane.empty >= empty);
            let has_news = due.map(|reader| {
                let has_news = reader.has_message() || reader.is_closed();
                if has_news {
                    // If the sender has taken the token, it raises an id that is active already: `activate` ignores
                    // that.
                    reader.passive().disarm(LANE);
                }
                has_news
            });
            found |= has_news == Some(true);
            if has_news == Some(false) {
                self.rest(lane);
            } else {
                self.lanes.push_back(lane);
            }
        }
        self.give_back_room();
        found
    }
}
