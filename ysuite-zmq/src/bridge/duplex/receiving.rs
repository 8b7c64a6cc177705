//! [`Receiving`]: the other side's stream: what has come of it, and how much more may come. The bound of the channel holds from
//! end to end: no more is under way than the channel has room for.

use std::collections::VecDeque;

use ysuite::spsc;

use super::super::options::MOST_IN_A_FRAME;
use super::super::sink::Sink;
use super::super::tools::Tools;
use super::header::{self, Flags, Header};
use crate::event::Event;
use crate::frame::Frame;
use crate::wire::{FromWire, Malformed};

/// Messages that may be under way to a channel without a bound.
const WINDOW: u64 = 65_536;

/// Bridges in whose place another came, of which it is known how far they were. One that comes back, and is none of these, may send
/// again what it had sent before.
const KNOWN: usize = 16;

pub(super) struct Receiving<T> {
    /// None: nothing more is received, and the channel has ended.
    sink: Option<Sink<T>>,
    /// The number of the next message.
    expected: u64,
    /// Messages that never came, though later ones did.
    lost: u64,
    /// The stream has come to its end.
    is_at_its_end: bool,
    /// And all of it is in the channel.
    has_all: bool,
    /// A message has come from beyond the next one, and the other side, which could send those between again, does not know.
    lacks: bool,
    told: Told,
    /// The highest limit that stands in a header: of one that had no room yet the other side will know as well.
    allowed: u64,
    /// Messages that may be under way.
    window: u64,
    /// Whose stream this is; 0 before the first.
    session: u64,
    /// Those before it, the oldest first.
    earlier: VecDeque<Earlier>,
}

/// How far the stream of a session was when another took its place.
struct Earlier {
    session: u64,
    expected: u64,
    lost: u64,
    allowed: u64,
}

/// What the other side knows, or is to know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    expected: u64,
    /// It may send below this number.
    limit: u64,
    flags: Flags,
}

impl<T: FromWire> Receiving<T> {
    pub(super) fn new(sender: spsc::Sender<T>) -> Self {
        let window = sender.capacity().map_or(WINDOW, |capacity| capacity as u64);
        let told = Told::default();
        Self {
            sink: Some(Sink::new(sender)),
            expected: 0,
            lost: 0,
            is_at_its_end: false,
            has_all: false,
            lacks: false,
            told,
            allowed: 0,
            window,
            session: 0,
            earlier: VecDeque::new(),
        }
    }

    /// Another bridge has taken the place of the other side's: it can send its stream from this number on. One that was here before
    /// goes on where it was, and what it sends again is known.
    pub(super) fn begin(&mut self, session: u64, number: u64, tools: &Tools) {
        let known = self.earlier.iter().position(|earlier| earlier.session == session);
        let fresh = Earlier { session, expected: number, lost: 0, allowed: number };
        let next = known.and_then(|at| self.earlier.remove(at)).unwrap_or(fresh);
        if self.session != 0 {
            if self.earlier.len() == KNOWN {
                self.earlier.pop_front();
            }
            let (expected, lost, allowed) = (self.expected, self.lost, self.allowed);
            self.earlier.push_back(Earlier { session: self.session, expected, lost, allowed });
        }
        (self.session, self.expected, self.lost, self.allowed) = (session, next.expected, next.lost, next.allowed);
        (self.is_at_its_end, self.has_all, self.lacks) = (false, false, false);
        self.told = Told { expected: self.expected, limit: self.allowed, flags: Flags::default() };
        self.skip_to(number, tools);
    }

    /// The other side can send from this number on: those before it that have not come never will.
    pub(super) fn skip_to(&mut self, number: u64, tools: &Tools) {
        let gone = number.saturating_sub(self.expected);
        if gone > 0 && self.sink.is_some() {
            self.lost = self.lost.saturating_add(gone);
            self.expected = number;
            tools.tell(Event::Lost { messages: gone });
        }
    }

    /// Takes in a frame of messages.
    pub(super) fn take(&mut self, header: &Header, mut frame: Frame, tools: &Tools) {
        if header.number > self.expected {
            if header.flags.keeps {
                self.lacks = true;
                return;
            }
            self.skip_to(header.number, tools);
        }
        let Some(sink) = self.sink.as_mut().filter(|sink| !sink.has_ended()) else { return };
        let (bytes, messages) = (frame.len(), header.messages as usize);
        let known = usize::try_from(self.expected - header.number).map_or(messages, |known| known.min(messages));
        tools.counters.duplicates.add(known);
        if known == messages {
            return;
        }
        // A frame that was kept may have been made for another bridge, which had more room: what is above the limit waits here. But
        // only of the one frame that the limit is in, and of none that no bridge makes.
        let end = header.number.checked_add(u64::from(header.messages));
        let Some(end) = end.filter(|_| self.expected < self.allowed && messages <= MOST_IN_A_FRAME) else {
            return tools.refuse(Malformed::Beyond);
        };
        self.expected = end;
        match sink.take(&mut frame, header::BYTES, known, Some(messages)) {
            Ok(_) => tools.received(bytes, messages - known),
            Err(malformed) => {
                // Sent once more it would be no better.
                self.lost = self.lost.saturating_add((messages - known) as u64);
                tools.refuse(malformed);
            }
        }
    }

    /// The stream ends before this number. Whoever reads the channel sees its end behind what is in it.
    pub(super) fn end(&mut self, header: &Header, tools: &Tools) {
        if header.number > self.expected && header.flags.keeps && self.sink.is_some() {
            self.lacks = true;
            return;
        }
        self.skip_to(header.number, tools);
        self.is_at_its_end = true;
        self.close_if_complete();
    }

    /// After the end of the stream the channel ends as well, behind what has had no room yet.
    ///
    /// Not where this bridge has closed meanwhile: what was held then has not been received, and the other side is to be told that
    /// nothing more will be.
    fn close_if_complete(&mut self) {
        if self.is_at_its_end
            && let Some(sink) = self.sink.as_ref().filter(|sink| !sink.is_blocked())
        {
            // What nobody received was not received because the stream is over.
            self.has_all = !sink.has_refused();
            self.close();
        }
    }

    /// Nothing more is received, and what has had no room never was.
    pub(super) fn close(&mut self) {
        let held = self.sink.take().map_or(0, |sink| sink.held());
        self.expected = self.expected.saturating_sub(held as u64);
    }

    /// Moves into the channel what has come, as far as it has room.
    pub(super) fn deliver(&mut self, moved: &mut usize) {
        if let Some(sink) = &mut self.sink {
            sink.deliver(moved);
            self.close_if_complete();
        }
    }

    /// Whether messages wait for room in the channel.
    pub(super) fn is_blocked(&self) -> bool {
        self.sink.as_ref().is_some_and(Sink::is_blocked)
    }

    /// Messages that never came, though later ones did.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// What the other side should know now.
    pub(super) fn news(&mut self) -> Told {
        let (refuses, room) = match &mut self.sink {
            Some(sink) if !sink.has_ended() => (false, sink.room().map_or(WINDOW, |room| room as u64)),
            _ => (!self.has_all, 0),
        };
        let flags = Flags { keeps: false, has_all: self.has_all, refuses, lacks: self.lacks };
        // What was allowed once stays allowed.
        let limit = self.told.limit.max(self.expected.saturating_add(room));
        self.allowed = self.allowed.max(limit);
        // Received is what is in the channel: were this bridge to end now, the rest would have to be sent again.
        let held = self.sink.as_ref().map_or(0, Sink::held);
        Told { expected: self.expected.saturating_sub(held as u64), limit, flags }
    }

    /// The other side has been told.
    pub(super) fn told(&mut self, told: Told) {
        self.lacks = false;
        self.told = Told { flags: Flags { lacks: false, ..told.flags }, ..told };
    }

    /// Whether that is anything new.
    pub(super) fn is_new(&self, told: Told) -> bool {
        told != self.told
    }

    /// Whether the other side may soon have to wait, for want of being told or for want of room.
    pub(super) fn is_short(&self) -> bool {
        self.left_to_send() <= self.window / 2 && self.sink.as_ref().is_some_and(|sink| !sink.has_ended())
    }

    /// Whether so much more may be sent that telling it is worth a frame. Where it is not, the set that the channel's end stands
    /// in tells when it may be.
    pub(super) fn is_worth_telling(&mut self) -> bool {
        let worth = self.left_to_send() + (self.window / 4).max(1);
        self.sink.as_mut().is_some_and(|sink| sink.room().is_none() || sink.has_room_for(worth as usize))
    }

    /// What has been allowed and has not come.
    fn left_to_send(&self) -> u64 {
        self.told.limit.saturating_sub(self.expected)
    }

    /// Drops what has had no room, and says how many messages that were.
    pub(super) fn left(&mut self) -> usize {
        self.sink.as_mut().map_or(0, Sink::left)
    }
}

impl Told {
    /// Into what is sent next.
    pub(super) fn into_header(self, header: &mut Header) {
        (header.expected, header.limit) = (self.expected, self.limit);
        header.flags = Flags { keeps: header.flags.keeps, ..self.flags };
    }
}
