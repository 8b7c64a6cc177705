//! The receiver's side of the lanes: which are active, whose turn it is, and how they are armed, many with one barrier.
//!
//! One thread at a time. Everything is wait-free in the number of active lanes, but for the memory of lanes that end.
//!
//! Active lanes stand in a row, and the receiver goes round it. The reader of the lane whose turn it is stands outside,
//! where a loop can keep it in registers. A lane joins the row when its sender raises its id, and leaves it when it is
//! armed: with all others before the receiver sleeps, or because it has had nothing for a while in which others had.
//!
//! Cannot: know of messages whose sender is still between publishing and raising. They are found when it has gone on.

use super::shared::{LANE, MpscShared};
use crate::channel::receive::ReadingEnd;
use crate::passive::{Barrier, Passive};
use crate::queue::outline;
use crate::queue::ypipe::{IdleReader, Reader};
use crate::sync::{Arc, window};
use crate::wait::WakeTarget;
use crate::wait::one::WaitingEnd;

/// How many messages the receiver takes from one sender at most, before it looks at the other senders' lanes.
pub const TURN: usize = if cfg!(ysuite_loom) { 2 } else { 128 };

/// Visits to a lane without a message, while others had some, before it is armed.
const PATIENCE: u32 = if cfg!(ysuite_loom) { 2 } else { 64 };

pub(in crate::channel) struct Lanes<T> {
    /// The reader of the lane at `row.at`, while it is that lane's turn.
    turn: Option<Reader<T>>,
    /// How many more messages it may give. 0 while there is none.
    left: usize,
    /// How many messages all turns so far might have given, less what they did not give; wraps.
    granted: usize,
    /// In memory of its own: slow paths are run on a copy of this struct.
    row: Box<Row<T>>,
    shared: Arc<MpscShared<T>>,
}

/// The active lanes.
struct Row<T> {
    lanes: Vec<ActiveLane<T>>,
    /// Whose turn it is, or will be next.
    at: usize,
    /// Which ids are in the row, 64 in a word.
    active: Vec<u64>,
    /// How many lanes have been looked at so far, in going round.
    visits: u64,
}

/// An active lane.
struct ActiveLane<T> {
    /// Taken out while it is this lane's turn.
    reader: Option<Reader<T>>,
    id: usize,
    /// Visits in a row without a message, while others had some.
    empty: u32,
    /// The position of the receiver at the last visit.
    seen: usize,
}

enum Visit {
    Message,
    Nothing,
    /// Nothing, and nothing will come.
    Over,
    /// Nothing, and its patience is at its end.
    Idle,
}

impl<T> ActiveLane<T> {
    fn visit(&mut self, position: usize) -> Visit {
        let Some(reader) = &mut self.reader else { return Visit::Nothing };
        if reader.has_message() {
            self.empty = 0;
            return Visit::Message;
        }
        if reader.is_closed() {
            // What it published before it was closed is visible now.
            return if reader.has_message() { Visit::Message } else { Visit::Over };
        }
        if self.seen == position {
            return Visit::Nothing;
        }
        self.seen = position;
        self.empty += 1;
        if self.empty == PATIENCE { Visit::Idle } else { Visit::Nothing }
    }
}

impl<T> Row<T> {
    fn is_active(&self, id: usize) -> bool {
        self.active.get(id / 64).is_some_and(|word| word & (1 << (id % 64)) != 0)
    }

    fn add(&mut self, id: usize, reader: Reader<T>, seen: usize) {
        if self.active.len() <= id / 64 {
            self.active.resize(id / 64 + 1, 0);
        }
        self.active[id / 64] |= 1 << (id % 64);
        self.lanes.push(ActiveLane { reader: Some(reader), id, empty: 0, seen });
    }

    /// Takes the lane at a place out of the row, and puts its reader to rest.
    fn remove(&mut self, place: usize) -> usize {
        let lane = self.lanes.swap_remove(place);
        if self.at == self.lanes.len() {
            // The last one has moved: it keeps its turn.
            self.at = place;
        }
        self.active[lane.id / 64] &= !(1 << (lane.id % 64));
        if let Some(reader) = lane.reader {
            IdleReader::rest(reader);
        }
        lane.id
    }

    /// Arms the lanes that have been empty for so many visits, with one barrier, and takes those out of the row that are
    /// then empty still. True: some are not, and stay.
    fn arm(&mut self, empty: u32) -> bool {
        let mut barrier = Barrier::none();
        let is_due = |lane: &ActiveLane<T>| lane.empty >= empty;
        for lane in self.lanes.iter().filter(|lane| is_due(lane)) {
            if let Some(reader) = &lane.reader {
                barrier = barrier.and(reader.passive().mark(LANE));
            }
        }
        barrier.pass();
        window();
        let mut found = false;
        for place in (0..self.lanes.len()).rev() {
            let lane = &mut self.lanes[place];
            let Some(reader) = lane.reader.as_mut().filter(|_| lane.empty >= empty) else { continue };
            if reader.has_message() || reader.is_closed() {
                // If its sender has taken the token, it raises an id that is active already, and nothing comes of it.
                reader.passive().disarm(LANE);
                lane.empty = 0;
                found = true;
            } else {
                self.remove(place);
            }
        }
        found
    }
}

impl<T> Lanes<T> {
    pub(super) fn new(shared: Arc<MpscShared<T>>) -> Self {
        let row = Row { lanes: Vec::new(), at: 0, active: Vec::new(), visits: 0 };
        Self { turn: None, left: 0, granted: 0, row: Box::new(row), shared }
    }

    /// Whether there is a message; then the lane it is in has the turn.
    #[inline(always)]
    fn look(&mut self) -> bool {
        self.left != 0 && self.turn.as_mut().is_some_and(Reader::has_message) || self.next_lane()
    }

    /// A message of the lane whose turn it is.
    #[inline(always)]
    fn take_in_turn(&mut self) -> Option<T> {
        if self.left == 0 {
            return None;
        }
        let message = self.turn.as_mut()?.read()?;
        self.left -= 1;
        self.credit(self.turn.as_ref()?);
        Some(message)
    }

    /// The lane whose turn it is has given what it may, or what it had: whose turn is it now?
    #[cold]
    #[inline(never)]
    fn next_lane(&mut self) -> bool {
        if let (Some(reader), 1, false) = (&mut self.turn, self.row.lanes.len(), self.shared.ready.any()) {
            // Alone.
            self.row.visits += 1;
            if reader.has_message() {
                self.grant();
                return true;
            }
            if !reader.is_closed() {
                return false;
            }
        }
        self.end_turn();
        self.harvest();
        let position = self.granted;
        let (row, mut is_idle) = (&mut *self.row, false);
        let mut place = row.at + 1;
        let mut visits = row.lanes.len();
        while visits > 0 && !row.lanes.is_empty() {
            if place >= row.lanes.len() {
                place = 0;
            }
            row.visits += 1;
            match row.lanes[place].visit(position) {
                Visit::Message => {
                    row.at = place;
                    self.turn = row.lanes[place].reader.take();
                    self.grant();
                    if is_idle {
                        self.row.arm(PATIENCE / 2);
                    }
                    return true;
                }
                Visit::Over => {
                    // Another lane comes to this place, one that has been visited or not: so this visit does not count.
                    let id = row.remove(place);
                    self.shared.finish(id);
                    continue;
                }
                Visit::Idle => is_idle = true,
                Visit::Nothing => {}
            }
            place += 1;
            visits -= 1;
        }
        // Had something come meanwhile, this would be no time to say that there is nothing.
        is_idle && self.row.arm(PATIENCE / 2) && self.next_lane()
    }

    /// A turn begins, or another follows at once.
    fn grant(&mut self) {
        self.granted = self.granted.wrapping_add(TURN - self.left);
        self.left = TURN;
    }

    /// Nobody's turn.
    fn end_turn(&mut self) {
        self.granted = self.granted.wrapping_sub(self.left);
        self.left = 0;
        if let Some(reader) = self.turn.take() {
            let at = self.row.at;
            self.row.lanes[at].reader = Some(reader);
        }
    }

    /// Lanes whose senders have raised them join the row.
    fn harvest(&mut self) {
        if !self.shared.ready.any() {
            return;
        }
        let (row, shared, position) = (&mut *self.row, &*self.shared, self.granted);
        shared.ready.take(|id| {
            // Raised once more than needed: by a sender that has found the token of an arming that came to nothing, or
            // by the one that had this id before.
            if row.is_active(id) {
                return;
            }
            // SAFETY: the receiver's own; it finishes no lane in here.
            let found = unsafe {
                shared.look(id, |resting| {
                    // Asked first: what was written before is seen by the next line.
                    let is_closed = resting.is_closed();
                    (resting.wake(), is_closed)
                })
            };
            match found {
                Some((Some(reader), _)) => row.add(id, reader, position),
                // A sender that has never sent anything.
                Some((None, true)) => shared.finish(id),
                Some((None, false)) | None => {}
            }
        });
    }

    /// After messages were taken: a sender that waits for room is woken. Without a bound: nothing.
    #[inline(always)]
    fn credit(&self, reader: &Reader<T>) {
        let tokens = reader.credited();
        if tokens != 0 {
            self.release(reader, tokens);
        }
    }

    #[cold]
    #[inline(never)]
    fn release(&self, reader: &Reader<T>, tokens: u32) {
        let id = self.row.lanes[self.row.at].id;
        self.shared.sender(Some(id as u32)).wake(reader.writer_passive(), tokens);
    }

    /// Whether no lane is active, and none has called since: then there is no message. A few loads.
    #[inline(always)]
    pub(in crate::channel) fn is_quiet(&self) -> bool {
        self.row.lanes.is_empty() && !self.shared.ready.any()
    }

    pub(super) fn shared(&self) -> &MpscShared<T> {
        &self.shared
    }

    /// How many lanes have been looked at so far, in going round.
    pub(super) fn visits(&self) -> u64 {
        self.row.visits
    }
}

impl<T> ReadingEnd for Lanes<T> {
    type Message = T;

    #[inline(always)]
    fn take(&mut self) -> Option<T> {
        match self.take_in_turn() {
            Some(message) => Some(message),
            None if outline(self, Self::next_lane) => self.take_in_turn(),
            None => None,
        }
    }

    fn take_many(&mut self, to: &mut Vec<T>, most: usize) -> usize {
        let (mut taken, mut emptied) = (0, 0);
        let mut found = self.look();
        // Each lane is emptied once, and what comes meanwhile is for the next time.
        while found {
            let Some(reader) = &mut self.turn else { break };
            let share = self.left.min(most - taken);
            let got = reader.read_batch(to, share);
            self.left -= got;
            taken += got;
            if let Some(reader) = &self.turn {
                self.credit(reader);
            }
            emptied += usize::from(got < share);
            if taken == most || emptied > self.row.lanes.len() {
                break;
            }
            found = self.next_lane();
        }
        taken
    }

    fn peek(&mut self) -> Option<&T> {
        if !self.look() {
            return None;
        }
        self.turn.as_mut()?.peek()
    }

    fn has_message(&mut self) -> bool {
        self.look()
    }

    fn len_up_to(&self, enough: usize) -> usize {
        let mut length = self.turn.as_ref().map_or(0, |reader| reader.len_up_to(enough));
        for reader in self.row.lanes.iter().filter_map(|lane| lane.reader.as_ref()) {
            if length >= enough {
                return length;
            }
            length += reader.len_up_to(enough - length);
        }
        // A lane that nobody reads has no message, unless it is raised.
        if length >= enough || !self.shared.ready.any() {
            return length;
        }
        length + self.shared.len_up_to(enough - length, |id| self.row.is_active(id))
    }

    fn position(&self) -> usize {
        self.granted.wrapping_sub(self.left)
    }

    fn is_closed(&self) -> bool {
        self.shared.is_disconnected()
    }
}

impl<T> WaitingEnd for Lanes<T> {
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
        // Lanes first: with all of them armed the look behind finds little to do.
        self.arm_all();
        window();
        self.shared.parker.word.arm(tokens);
    }

    fn is_all_armed(&self) -> bool {
        self.row.lanes.is_empty()
    }

    /// With one barrier. Lanes that have messages, or have come to their end, stay active.
    fn arm_all(&mut self) -> bool {
        self.end_turn();
        !self.row.lanes.is_empty() && self.row.arm(0)
    }
}

impl<T> Drop for Lanes<T> {
    fn drop(&mut self) {
        // SAFETY: this is the receiving end, and nothing else of it is under way.
        unsafe { self.shared.parker.target.detach() };
        // Dropped when all is done, here or by a panic in what follows.
        let _waker = self.shared.parker.target.forget();
        self.end_turn();
        while let Some(last) = self.row.lanes.len().checked_sub(1) {
            self.row.remove(last);
        }
        self.shared.abandon();
    }
}
