//! The row of active lanes: which there are, how long each has been empty, and how many are armed with one barrier.
//!
//! The receiver only, one thread at a time. Wait-free in the number of active lanes.

use crate::channel::mpsc::shared::LANE;
use crate::channel::rendezvous::MeetingEnd;
use crate::passive::Barrier;
use crate::queue::ypipe::Reader;
use crate::sync::window;

/// Visits to a lane without a message, while others had some, before it is armed.
pub(super) const EMPTY_VISITS: u32 = if cfg!(ysuite_loom) { 2 } else { 64 };

/// The active lanes.
pub(super) struct Row<T> {
    pub(super) lanes: Vec<ActiveLane<T>>,
    /// The index of the lane whose turn it is, or was last.
    pub(super) at: usize,
    /// The ids in the row as bits, 64 in a word.
    pub(super) active: Vec<u64>,
    /// How many lanes have been visited so far.
    pub(super) visits: u64,
    /// The receiver has closed the channel. Then all lanes with messages are in the row, which no lane joins any more.
    pub(super) is_shut: bool,
    /// The end of a rendezvous. Here, since nothing of the row is kept in registers.
    pub(super) meeting: Option<Box<MeetingEnd<T, false>>>,
}

/// An active lane.
pub(super) struct ActiveLane<T> {
    /// Taken out while it is this lane's turn.
    pub(super) reader: Option<Reader<T>>,
    pub(super) id: usize,
    /// Visits in a row without a message, while others had some.
    pub(super) empty: u32,
    /// The position of the receiver at the last visit.
    pub(super) seen: usize,
}

pub(super) enum Visit {
    Message,
    Nothing,
    /// No message, and none will come.
    Over,
    /// No message, and [`EMPTY_VISITS`] have been in vain.
    Idle,
}

impl<T> ActiveLane<T> {
    pub(super) fn visit(&mut self, position: usize) -> Visit {
        let Some(reader) = &mut self.reader else { return Visit::Nothing };
        if reader.has_message() {
            self.empty = 0;
            return Visit::Message;
        }
        if reader.is_closed() {
            // What the sender published before it closed the lane is visible now.
            return if reader.has_last() { Visit::Message } else { Visit::Over };
        }
        if self.seen == position {
            return Visit::Nothing;
        }
        self.seen = position;
        self.empty += 1;
        if self.empty == EMPTY_VISITS { Visit::Idle } else { Visit::Nothing }
    }
}

impl<T> Row<T> {
    pub(super) fn new(meeting: Option<Box<MeetingEnd<T, false>>>) -> Self {
        Self { lanes: Vec::new(), at: 0, active: Vec::new(), visits: 0, is_shut: false, meeting }
    }

    pub(super) fn is_active(&self, id: usize) -> bool {
        self.active.get(id / 64).is_some_and(|word| word & (1 << (id % 64)) != 0)
    }

    pub(super) fn add(&mut self, id: usize, reader: Reader<T>, seen: usize) {
        if self.active.len() <= id / 64 {
            self.active.resize(id / 64 + 1, 0);
        }
        self.active[id / 64] |= 1 << (id % 64);
        self.lanes.push(ActiveLane { reader: Some(reader), id, empty: 0, seen });
    }

    /// Takes the lane at `index` out of the row, and makes its reader idle. Returns the lane's id.
    pub(super) fn remove(&mut self, index: usize) -> usize {
        let lane = self.lanes.swap_remove(index);
        if self.at == self.lanes.len() {
            // The last lane has moved to `index`, and keeps its turn.
            self.at = index;
        }
        self.active[lane.id / 64] &= !(1 << (lane.id % 64));
        if let Some(reader) = lane.reader {
            reader.rest();
        }
        lane.id
    }

    /// Arms the lanes that have been empty for at least `empty` visits, with one barrier, and takes those that are still
    /// empty then out of the row. True: some are not empty, and stay.
    pub(super) fn arm(&mut self, empty: u32) -> bool {
        let due = self.lanes.iter().filter(|lane| lane.empty >= empty).filter_map(|lane| lane.reader.as_ref());
        due.fold(Barrier::none(), |barrier, reader| barrier.and(reader.passive().mark(LANE))).pass();
        window();
        let mut found = false;
        for index in (0..self.lanes.len()).rev() {
            let lane = &mut self.lanes[index];
            let Some(reader) = lane.reader.as_mut().filter(|_| lane.empty >= empty) else { continue };
            if reader.has_message() || reader.is_closed() {
                // If the sender has taken the token, it raises an id that is active already: `activate` ignores that.
                reader.passive().disarm(LANE);
                found = true;
            } else {
                self.remove(index);
            }
        }
        found
    }
}
