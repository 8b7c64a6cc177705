//! [`Receiving`]: the other side's stream: what has arrived of it, and how much more may arrive. The bound of the
//! channel holds across the network: no more is in transit than the channel has room for.

use std::task::Waker;

use ysuite::spsc;

use super::super::gate::Gate;
use super::super::options::MOST_IN_A_FRAME;
use super::super::sink::Sink;
use super::super::tools::Tools;
use super::header::{self, Flags, Header};
use super::known::Known;
use crate::event::Event;
use crate::frame::Frame;
use crate::wire::{FromWire, Limits, Malformed};

/// Messages that may be under way to a channel without a bound.
const WINDOW: u64 = 65_536;

pub(super) struct Receiving<T> {
    /// None: nothing more is received, and the channel has ended.
    sink: Option<Sink<T>>,
    /// How far it has come, and how far the streams of those before the other side had. One that comes back, and is not
    /// known any more, may send again what it had sent before.
    streams: Known<Stream>,
    /// Messages that were taken, of all streams.
    taken: u64,
    /// The stream is complete.
    is_at_its_end: bool,
    /// And all of it is in the channel.
    has_all: bool,
    /// A message has come from beyond the next one, and the other side, which could send those between again, does not know.
    lacks: bool,
    told: Told,
    /// Messages that may be under way.
    window: u64,
}

/// How far a stream has come.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    /// The number of the next message.
    expected: u64,
    /// Messages that never came, though later ones did.
    lost: u64,
    /// The highest limit in any header, including one that could not be sent yet: the other side will receive it as
    /// well.
    allowed: u64,
    /// Messages of it that were taken since it came or came back, and those that were held then: no more of what the
    /// sink holds are of this stream.
    taken: u64,
    /// Messages of all streams that had been taken when the last of this one was: after them there is none of it.
    last: u64,
}

impl Stream {
    /// Messages of it that have arrived and are not in the channel yet. They enter it in order.
    fn held(&self, delivered: u64) -> u64 {
        self.last.saturating_sub(delivered).min(self.taken)
    }
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
            sink: Some(Sink::new(Gate::Waits(sender))),
            streams: Known::new(Stream::default()),
            taken: 0,
            is_at_its_end: false,
            has_all: false,
            lacks: false,
            told,
            window,
        }
    }

    /// The messages of a frame may come to so much from now on.
    pub(super) fn limit(&mut self, limits: Limits) {
        if let Some(sink) = &mut self.sink {
            sink.limit(limits);
        }
    }

    /// Another bridge has taken the place of the other side's, and says hello: it can send its stream from that number
    /// on. One that was here before goes on where it was, and what it sends again is known.
    pub(super) fn begin(&mut self, header: &Header, tools: &Tools) {
        let (number, delivered) = (header.number, self.delivered());
        self.streams.meet(header.session, |has_forgotten| Stream {
            expected: number,
            // To a peer that may have been forgotten nothing is acknowledged. A peer that keeps its messages sends
            // again what no bridge has received.
            lost: if has_forgotten && !header.flags.keeps { number } else { 0 },
            allowed: number,
            ..Stream::default()
        });
        let stream = &mut self.streams.present;
        stream.taken = stream.held(delivered);
        (self.is_at_its_end, self.has_all, self.lacks) = (false, false, false);
        let Stream { expected, allowed, .. } = self.streams.present;
        self.told = Told { expected, limit: allowed, flags: Flags::default() };
        self.go_on(header, tools);
    }

    /// The other side says hello: it can send from this number on. What is not here of those before it never will be.
    pub(super) fn go_on(&mut self, header: &Header, tools: &Tools) {
        if !header.flags.keeps {
            self.skip_to(header.number, tools);
        } else if self.sink.is_some() {
            // A peer that keeps its messages has dropped those that another bridge has received while this one was
            // away, or has refused. The peer knows of these: none of them was lost in transit.
            let stream = &mut self.streams.present;
            stream.expected = stream.expected.max(header.number);
        }
    }

    /// Those before this number that have not come never will.
    fn skip_to(&mut self, number: u64, tools: &Tools) {
        let stream = &mut self.streams.present;
        let gone = number.saturating_sub(stream.expected);
        if gone > 0 && self.sink.is_some() {
            stream.lost = stream.lost.saturating_add(gone);
            stream.expected = number;
            tools.tell(Event::Lost { messages: gone });
        }
    }

    /// Takes in a frame of messages.
    pub(super) fn take(&mut self, header: &Header, mut frame: Frame, tools: &Tools) {
        if header.number > self.streams.present.expected {
            if header.flags.keeps {
                self.lacks = true;
                return;
            }
            self.skip_to(header.number, tools);
        }
        let Some(sink) = self.sink.as_mut().filter(|sink| !sink.has_ended()) else { return };
        let stream = &mut self.streams.present;
        let (bytes, messages) = (frame.len(), header.messages as usize);
        let known = usize::try_from(stream.expected - header.number).map_or(messages, |known| known.min(messages));
        tools.counters.duplicates.add(known);
        if known == messages {
            return;
        }
        // A frame that was kept may have been made for another bridge, which had more room: what is above the limit waits here. But
        // only of the one frame that the limit is in, and of none that no bridge makes.
        let end = header.number.checked_add(u64::from(header.messages));
        let Some(end) = end.filter(|_| stream.expected < stream.allowed && messages <= MOST_IN_A_FRAME) else {
            return tools.refuse(Malformed::Beyond);
        };
        stream.expected = end;
        match sink.take(&mut frame, header::BYTES, known, Some(messages)) {
            Ok(_) => {
                self.taken += (messages - known) as u64;
                stream.taken += (messages - known) as u64;
                stream.last = self.taken;
                tools.received(bytes, messages - known);
            }
            Err(malformed) => {
                // Sent once more it would be no better.
                stream.lost = stream.lost.saturating_add((messages - known) as u64);
                tools.refuse(malformed);
            }
        }
    }

    /// The stream ends before this number. The channel's receiver is disconnected after what is in it.
    pub(super) fn end(&mut self, header: &Header, tools: &Tools) {
        if header.number > self.streams.present.expected && header.flags.keeps && self.sink.is_some() {
            self.lacks = true;
            return;
        }
        self.skip_to(header.number, tools);
        self.is_at_its_end = true;
        // MUTANT: The next delivery does the same.
        self.close_if_complete();
    }

    /// After the end of the stream the channel is disconnected as well, after what has had no room yet.
    ///
    /// Not if this bridge has closed meanwhile: what was held then has not been received, and the other side must be
    /// notified that nothing more will be.
    fn close_if_complete(&mut self) {
        if self.is_at_its_end
            && let Some(sink) = self.sink.as_ref().filter(|sink| !sink.is_blocked())
        {
            // What was not received stays unreceived, since the stream is over.
            self.has_all = !sink.has_refused();
            self.close();
        }
    }

    /// Nothing more is received, and messages that have had no room never were, from any sender: a sender that comes
    /// back must be notified of that.
    pub(super) fn close(&mut self) {
        let delivered = self.delivered();
        for stream in self.streams.all() {
            stream.expected = stream.expected.saturating_sub(stream.held(delivered));
        }
        self.sink = None;
    }

    /// Messages of all streams that are in the channel: of those that were taken all but the last ones, which the sink
    /// holds.
    fn delivered(&self) -> u64 {
        self.taken - self.sink.as_ref().map_or(0, Sink::held) as u64
    }

    /// All messages below this number that arrived are in the channel: if this bridge ended now, the rest would have to
    /// be sent again.
    fn received(&self) -> u64 {
        let stream = &self.streams.present;
        stream.expected.saturating_sub(stream.held(self.delivered()))
    }

    /// Moves into the channel what has come, as far as it has room.
    pub(super) fn deliver(&mut self, moved: &mut usize) {
        if let Some(sink) = &mut self.sink {
            sink.deliver(moved);
            // MUTANT: The next delivery does the same.
            self.close_if_complete();
        }
    }

    /// Whether messages wait for room in the channel.
    pub(super) fn is_blocked(&self) -> bool {
        self.sink.as_ref().is_some_and(Sink::is_blocked)
    }

    /// Messages that never came, though later ones did.
    pub(super) fn lost(&self) -> u64 {
        self.streams.present.lost
    }

    /// What the other side should know now.
    pub(super) fn news(&mut self) -> Told {
        let (refuses, room) = match &mut self.sink {
            Some(sink) if !sink.has_ended() => (false, sink.room().map_or(WINDOW, |room| room as u64)),
            _ => (!self.has_all, 0),
        };
        let flags = Flags { keeps: false, has_all: self.has_all, refuses, lacks: self.lacks };
        // What was allowed once stays allowed.
        let stream = &mut self.streams.present;
        let limit = self.told.limit.max(stream.expected.saturating_add(room));
        stream.allowed = stream.allowed.max(limit);
        Told { expected: self.received(), limit, flags }
    }

    /// The other side has been notified.
    pub(super) fn told(&mut self, told: Told) {
        self.lacks = false;
        self.told = Told { flags: Flags { lacks: false, ..told.flags }, ..told };
    }

    /// Whether that is anything new.
    pub(super) fn is_new(&self, told: Told) -> bool {
        told != self.told
    }

    /// Sleeps by this function, and wakes the waker if the receivers are dropped meanwhile.
    pub(super) fn asleep(&self, ended: Option<&Waker>, sleep: &mut dyn FnMut()) {
        match (&self.sink, ended) {
            (Some(sink), Some(ended)) if !self.told.flags.refuses => sink.asleep(ended, sleep),
            _ => sleep(),
        }
    }

    /// Whether the other side may soon have to wait, for an acknowledgement or for room.
    pub(super) fn is_short(&self) -> bool {
        self.left_to_send() <= self.window / 2 && self.sink.as_ref().is_some_and(|sink| !sink.has_ended())
    }

    /// Whether the additional room is worth a frame. If not, the set that has the channel's sender reports when it may
    /// be.
    pub(super) fn is_worth_telling(&mut self) -> bool {
        let worth = self.left_to_send() + (self.window / 4).max(1);
        self.sink.as_mut().is_some_and(|sink| sink.has_room_for(worth as usize))
    }

    /// What has been allowed and has not come.
    fn left_to_send(&self) -> u64 {
        self.told.limit.saturating_sub(self.streams.present.expected)
    }
}

impl Told {
    /// Into what is sent next.
    pub(super) fn into_header(self, header: &mut Header) {
        (header.expected, header.limit) = (self.expected, self.limit);
        header.flags = Flags { keeps: header.flags.keeps, ..self.flags };
    }
}
