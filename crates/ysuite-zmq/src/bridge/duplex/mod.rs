//! [`Duplex`]: a conversation of two bridges, each with a stream of its own, each over a socket of its
//! own.
//!
//! This module adds what libzmq does not promise. Every message has a number, so that nothing is received twice and a
//! gap is noticed. Each side reports what it has received, so that both agree on how a stream ended. And each side
//! reports its room, so that no more than that is in transit.
//!
//! Whenever a connection begins, and whenever a second passes in which nothing that was sent is acknowledged, a side
//! sends hello and then nothing until that is answered. A connection keeps the order, so what was sent before has
//! arrived by then, or never will. The answer has the number from which to go on; no timeout is used to guess it.
//!
//! | file | what lives there |
//! |---|---|
//! | `header` | the prefix of each frame |
//! | `line` | how frames reach the other side |
//! | `sending` | the own stream |
//! | `account` | what has been received of it |
//! | `receiving` | the other side's |
//! | `known` | the earlier peers |
//! | `session` | the number that identifies a bridge |

mod account;
mod header;
mod known;
mod line;
mod receiving;
mod sending;
mod session;

use std::task::Waker;
use std::time::{Duration, Instant};

use ysuite::signal::YSocketpair;
use ysuite::spsc;

pub(super) use self::header::BYTES as HEADER;
use self::header::{Flags, Header, Kind};
pub(super) use self::line::Line;
use self::receiving::{Receiving, Told};
use self::sending::Sending;
use super::outgoing::Outgoing;
use super::source::Source;
use super::tools::Tools;
use super::work::{AGAIN, AT_ONCE, Wanted, Work};
use crate::error::Failure;
use crate::event::Event;
use crate::frame::Frame;
use crate::wire::{FromWire, Limits, Malformed, ToWire};

/// After this time without an answer, hello is sent again.
const PATIENCE: Duration = Duration::from_secs(1);

pub(super) struct Duplex<S: Source, T> {
    /// Which of all conversations this is: no other bridge has the same number.
    session: u64,
    /// The other side's, once it has said hello.
    peer: Option<u64>,
    /// The last of those that wanted to talk as well.
    ignored: Option<u64>,
    line: Line,
    sending: Sending<S>,
    receiving: Receiving<T>,
    hello: Hello,
    /// The mark of the other side's last hello.
    heard: u32,
    /// The same, until it is answered.
    to_answer: Option<u32>,
    /// When hello was said, something was sent after all had been acknowledged, or something was acknowledged: the last of these.
    since: Instant,
    /// The socket had no room.
    blocked: bool,
}

/// How far this side's hello has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hello {
    /// It is to be said.
    Due { last: u32 },
    /// It has been said, with this mark.
    Said { mark: u32 },
    /// It has been answered: messages may be sent.
    Answered { mark: u32 },
}

impl Hello {
    fn mark(self) -> u32 {
        match self {
            Self::Due { last: mark } | Self::Said { mark } | Self::Answered { mark } => mark,
        }
    }

    fn again(&mut self) {
        *self = Self::Due { last: self.mark() };
    }
}

impl<S: Source<Message: ToWire>, T: FromWire> Duplex<S, T> {
    pub(super) fn new(outgoing: Outgoing<S>, sender: spsc::Sender<T>, keeps: bool, line: Line) -> Self {
        Self {
            session: session::fresh(),
            peer: None,
            ignored: None,
            line,
            sending: Sending::new(outgoing, keeps),
            receiving: Receiving::new(sender),
            hello: Hello::Due { last: 0 },
            heard: 0,
            to_answer: None,
            since: Instant::now(),
            blocked: false,
        }
    }

    /// Keeps no more messages than that until they are acknowledged.
    pub(super) fn keeping(mut self, messages: usize) -> Self {
        self.sending.keep_at_most(messages as u64);
        self
    }

    pub(super) fn limited(mut self, limits: Limits) -> Self {
        self.receiving.limit(limits);
        self
    }

    /// Takes in what the other side says. False: it has said nothing.
    fn hear(&mut self, tools: &mut Tools) -> Result<bool, Failure> {
        let Some(frame) = self.line.receive(tools)? else { return Ok(false) };
        match frame.and_then(|frame| Ok((Header::of(&frame)?, frame))) {
            Ok((header, frame)) => self.understand(&header, frame, tools)?,
            Err(malformed) => tools.refuse(malformed),
        }
        Ok(true)
    }

    // MUTANT: What an older hello says is known already, or changes nothing.
    fn understand(&mut self, header: &Header, frame: Frame, tools: &mut Tools) -> Result<(), Failure> {
        if header.number > header::LAST {
            tools.refuse(Malformed::Beyond);
            return Ok(());
        }
        if header.kind == Kind::Hello && !self.meet(header, tools)? {
            return Ok(());
        }
        // From a peer that is gone, or has not sent hello.
        if self.peer != Some(header.session) {
            return Ok(());
        }
        if header.of == self.session {
            self.hear_of_own(header, tools);
        }
        match header.kind {
            Kind::Messages => self.receiving.take(header, frame, tools),
            Kind::End => self.receiving.end(header, tools),
            Kind::Hello | Kind::Answer => {}
        }
        Ok(())
    }

    /// What is said of this side's stream.
    fn hear_of_own(&mut self, header: &Header, tools: &Tools) {
        let answers = header.kind == Kind::Answer && self.hello == Hello::Said { mark: header.messages };
        if self.sending.hear(header, answers) {
            self.since = Instant::now();
        }
        if answers {
            self.hello = Hello::Answered { mark: header.messages };
            self.sending.go_back(tools);
        } else if header.flags.lacks && matches!(self.hello, Hello::Answered { .. }) {
            self.hello.again();
        }
    }

    // MUTANT: The hello is repeated after a second without an answer. `begin` clears the rest.
    /// The other side says hello. False: it is a third, who is not heard while the second is there.
    fn meet(&mut self, header: &Header, tools: &mut Tools) -> Result<bool, Failure> {
        if self.peer == Some(header.session) {
            // Said over a connection that is gone, and read after what was said over the next: a ROUTER reads them in turn. The marks of
            // a bridge grow.
            if (header.messages.wrapping_sub(self.heard) as i32) < 0 {
                return Ok(false);
            }
            self.receiving.go_on(header, tools);
        } else if self.peer.is_some() && self.is_second_there(tools)? {
            if self.ignored.replace(header.session) != Some(header.session) {
                tools.tell(Event::Ignored);
            }
            return Ok(false);
        } else {
            let gone = self.sending.begin_again(header.session);
            if gone > 0 {
                tools.tell(Event::Lost { messages: gone });
            }
            if self.peer.replace(header.session).is_some() {
                tools.tell(Event::Replaced);
            }
            self.receiving.begin(header, tools);
            self.hello.again();
        }
        if self.line.take_up() || header.of != self.session {
            self.hello.again();
        }
        self.heard = header.messages;
        self.to_answer = Some(header.messages);
        Ok(true)
    }

    /// Whether the other side is still there, as far as the binding side can know. The connecting side has only one
    /// connection: if another peer sends there, the second is gone.
    fn is_second_there(&mut self, tools: &Tools) -> Result<bool, Failure> {
        if !self.line.tells_of_room() {
            self.say(Kind::Answer, 0, 0, tools)?;
            return Ok(self.line.is_there());
        }
        Ok(false)
    }

    fn header(&self, told: Told, kind: Kind, number: u64, messages: u32) -> Header {
        let flags = Flags { keeps: self.sending.keeps(), ..Flags::default() };
        let (session, of) = (self.session, self.peer.unwrap_or(0));
        let mut header =
            Header { kind, flags, messages, session, number, of, expected: 0, limit: 0, lost: self.receiving.lost() };
        told.into_header(&mut header);
        header
    }

    /// Sends a header without messages. Returns whether there was room for it.
    fn say(&mut self, kind: Kind, number: u64, messages: u32, tools: &Tools) -> Result<bool, Failure> {
        let told = self.receiving.news();
        let header = self.header(told, kind, number, messages);
        let said = self.line.send(&mut Frame::copied(&header.bytes())?, 0, tools)?;
        match said {
            // MUTANT: `begin` clears what was not sent to a peer.
            true if self.peer.is_some() => self.receiving.told(told),
            true => {}
            false => self.blocked = true,
        }
        Ok(said)
    }

    // MUTANT: The hello is repeated after a second without an answer. The same moment to the nanosecond.
    /// Says hello if that is due, and answers it.
    fn greet(&mut self, tools: &Tools) -> Result<(), Failure> {
        if self.is_waiting() && self.since.elapsed() >= PATIENCE {
            self.hello.again();
        }
        if let Hello::Due { last } = self.hello {
            let mark = last.wrapping_add(1).max(1);
            if self.say(Kind::Hello, self.sending.first_to_come(), mark, tools)? {
                (self.hello, self.since) = (Hello::Said { mark }, Instant::now());
                self.line.trust();
            }
        }
        if let Some(mark) = self.to_answer
            && self.say(Kind::Answer, 0, mark, tools)?
        {
            self.to_answer = None;
        }
        Ok(())
    }

    /// Whether the other side has something to say without which this one does not go on.
    fn is_waiting(&self) -> bool {
        match self.hello {
            Hello::Due { .. } => false,
            Hello::Said { .. } => true,
            Hello::Answered { .. } => self.sending.is_waiting(),
        }
    }

    // MUTANT: While nothing is awaited nobody reads the time.
    /// Sends messages, with what there is to say of those that came. Answers how many.
    fn send(&mut self, tools: &mut Tools) -> Result<usize, Failure> {
        let (told, idle) = (self.receiving.news(), !self.sending.is_waiting());
        let base = self.header(told, Kind::Messages, 0, 0);
        let head = |kind, number, messages| Header { kind, number, messages, ..base };
        let sent = self.sending.step(&mut self.line, tools, head)?;
        self.blocked |= sent.is_blocked;
        if sent.has_told {
            self.receiving.told(told);
        }
        if idle && self.sending.is_waiting() {
            self.since = Instant::now();
        }
        Ok(sent.messages)
    }
}

impl<S: Source<Message: ToWire>, T: FromWire> Work for Duplex<S, T> {
    fn step(&mut self, tools: &mut Tools) -> Result<usize, Failure> {
        let mut moved = 0;
        self.receiving.deliver(&mut moved);
        // Also while messages wait for room: the other side's reports on this side's stream are between them.
        while moved < AT_ONCE && self.hear(tools)? {
            moved += 1;
            self.receiving.deliver(&mut moved);
        }
        self.blocked = false;
        if !self.line.is_there() {
            return Ok(moved);
        }
        self.greet(tools)?;
        if matches!(self.hello, Hello::Answered { .. }) {
            moved += self.send(tools)?;
        }
        // MUTANT: `begin` clears what was not sent to a peer.
        if self.peer.is_some() && self.receiving.is_short() && self.receiving.is_worth_telling() {
            self.say(Kind::Answer, 0, 0, tools)?;
        }
        Ok(moved)
    }

    fn wanted(&mut self) -> Wanted {
        // Whatever the state of the line.
        let waits = self.receiving.is_blocked();
        if !self.line.is_there() {
            return Wanted { sink: waits, receive: true, ..Wanted::default() };
        }
        let talks = matches!(self.hello, Hello::Answered { .. });
        let until = match self.blocked {
            true => (!self.line.tells_of_room()).then(|| Instant::now() + AGAIN),
            false => self.is_waiting().then(|| self.since + PATIENCE),
        };
        Wanted {
            // MUTANT: `begin` clears what was not sent to a peer.
            source: talks && !self.blocked && self.sending.wants(),
            sink: waits || (!self.blocked && self.peer.is_some() && self.receiving.is_short()),
            receive: true,
            send: self.blocked && self.line.tells_of_room(),
            until,
        }
    }

    fn stand(&mut self, wanted: Wanted, set: &mut YSocketpair) {
        self.sending.stand(wanted.source, set);
    }

    fn asleep(&mut self, wanted: Wanted, ended: &Waker, sleep: &mut dyn FnMut()) {
        // MUTANT: `begin` clears what was not sent to a peer.
        // Where the sink is wanted its set tells of the end as well; where the socket has no room, it is told when there is some.
        let is_to_tell = !wanted.sink && !self.blocked && self.line.is_there() && self.peer.is_some();
        self.receiving.asleep(is_to_tell.then_some(ended), sleep);
    }

    fn noticed(&mut self, event: &Event) {
        if self.line.notice(event) {
            self.hello.again();
        }
    }

    fn rest(&mut self, tools: &mut Tools) -> Result<(), Failure> {
        let told = self.receiving.news();
        // MUTANT: `begin` clears what was not sent to a peer.
        if self.line.is_there() && self.peer.is_some() && self.receiving.is_new(told) {
            self.say(Kind::Answer, 0, 0, tools)?;
        }
        Ok(())
    }

    fn close(&mut self, _: &mut Tools) -> Result<(), Failure> {
        self.sending.close();
        self.receiving.close();
        Ok(())
    }

    fn is_done(&mut self) -> bool {
        // Without a peer, the end cannot be sent: `has_said_all` decides whether to wait for one.
        self.sending.is_over() || (!self.line.is_there() && self.sending.has_nothing_left())
    }

    /// What was sent over a connection that has ended may be lost: it is sent again with the hello of the next. The
    /// binding side does not know which connection has ended, and sends hello to find out.
    fn has_said_all(&mut self) -> bool {
        if self.line.is_doubted() && matches!(self.hello, Hello::Answered { .. }) {
            self.hello.again();
        }
        let told = self.receiving.news();
        let is_heard = self.line.is_there() && matches!(self.hello, Hello::Answered { .. });
        is_heard && !self.receiving.is_new(told)
    }

    fn left(&mut self) -> usize {
        // What has come and had no room is not this side's to send.
        self.sending.left()
    }

    fn is_acknowledged(&self) -> bool {
        true
    }

    fn lingers(&self) -> bool {
        self.line.is_there()
    }
}

#[cfg(test)]
mod tests;
