//! [`Asking`]: from a channel of questions to a socket, and from there the answers, each to whom asked.
//!
//! The socket is a DEALER. Each question is a message of three parts or more: its number, an empty part, and the question.
//! A REP or a ROUTER gives back all that is before the question, so the number says whose an answer is.
//!
//! With one address to connect to, the bridge hands over a question only while a connection is there. What was handed over
//! when that ends is lost, whether it waited in libzmq or was answered already: those questions end then, or are asked
//! again. To leave none of them in libzmq, which would send it over the next connection, the address is connected anew.
//! With several connections libzmq does not report over which one a question went: then only time tells.

mod asker;
mod build;
mod table;

use std::time::{Duration, Instant};

use ysuite::TryRecvError;
use ysuite::mpmc;

pub use self::asker::{Asker, Pending, Unanswered};
pub use self::build::Ask;
use self::table::{Body, Table};
use super::source::{self, Source as _};
use super::tools::Tools;
use super::work::{AT_ONCE, Wanted, Work};
use crate::error::Failure;
use crate::event::Event;
use crate::frame::Frame;
use crate::wire::{self, FromWire, Layout, Limits, Malformed, Parts, ToWire};

/// Questions that are taken from the channel at once.
const HANDFUL: usize = 32;

/// Answers that are taken at once when a connection has ended: more than a connection has room for by default.
const MOST_AT_ONCE: usize = 1 << 16;

/// What is known of the connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// One address. libzmq reports its connections.
    One { connections: usize },
    /// One address inside the process: libzmq refuses what there is no connection for.
    Inside,
    /// Several, or those that others make.
    Many,
}

struct Asking<Q: Send + 'static, A: Send + 'static> {
    /// None: it has been left.
    source: Option<mpmc::Receiver<asker::Asking<Q, A>>>,
    taken: Vec<asker::Asking<Q, A>>,
    table: Table<A>,
    /// Questions without an answer, at most.
    most: usize,
    limits: Limits,
    line: Line,
    /// Connections that have ended.
    ended: u64,
    /// One has, and it is not settled what has become of the questions that were handed over.
    is_stale: bool,
    /// The socket has no room.
    is_blocked: bool,
    /// All askers are gone.
    is_over: bool,
    answers: Vec<A>,
}

impl<Q: ToWire, A: FromWire> Asking<Q, A> {
    fn new(
        source: mpmc::Receiver<asker::Asking<Q, A>>,
        line: Line,
        most: usize,
        table: Table<A>,
        limits: Limits,
    ) -> Self {
        Self {
            source: Some(source),
            taken: Vec::new(),
            table,
            most,
            limits,
            line,
            ended: 0,
            is_stale: false,
            is_blocked: false,
            is_over: false,
            answers: Vec::new(),
        }
    }

    fn is_connected(&self) -> bool {
        !matches!(self.line, Line::One { connections: 0 })
    }

    /// Takes one answer. False: there was none.
    fn receive(&mut self, tools: &mut Tools) -> Result<bool, Failure> {
        let (mut at, mut number, mut is_right, mut bytes) = (0, None, true, 0);
        let mut list = Parts::within(self.limits);
        let parts = tools.receive(|part| {
            match at {
                0 => number = (**part).try_into().ok().map(u64::from_be_bytes),
                1 => is_right = part.is_empty(),
                _ => {
                    bytes += part.len();
                    list.push(part);
                }
            }
            at += 1;
        })?;
        if parts == 0 {
            return Ok(false);
        }
        bytes += tools.frame.len();
        match number.filter(|_| is_right && parts > 2) {
            None => tools.refuse(Malformed::Parts),
            // It came too late, or twice.
            Some(number) if !self.table.has(number) => tools.counters.duplicates.add(1),
            Some(number) => self.answer(number, list, bytes, parts, tools),
        }
        tools.frame.release();
        Ok(true)
    }

    fn answer(&mut self, number: u64, list: Parts, bytes: usize, parts: usize, tools: &mut Tools) {
        let read = match A::LAYOUT {
            Layout::Parts => list.whole(&mut tools.frame).and_then(A::from_parts),
            _ if parts == 3 => {
                let unpacked = wire::unpack(&mut tools.frame, 0, 1, self.limits, &mut self.answers);
                unpacked.and_then(|()| self.answers.pop().ok_or(Malformed::Content))
            }
            _ => Err(Malformed::Parts),
        };
        match read {
            Ok(_) => tools.received(bytes, 1),
            Err(malformed) => tools.refuse(malformed),
        }
        self.table.answer(number, read.map_err(Unanswered::Malformed));
    }

    /// Takes questions from the channel, as long as more of them may wait for an answer. Returns how many.
    fn take(&mut self, tools: &mut Tools) -> Result<usize, Failure> {
        let room = self.most.saturating_sub(self.table.len()).min(HANDFUL);
        let Some(source) = self.source.as_mut().filter(|_| room > 0) else { return Ok(0) };
        // MUTANT: Speed only: an id is taken down more often, which costs the other side a wake-up.
        if !tools.arms && source.is_drained() {
            return Ok(0);
        }
        match source.take(&mut self.taken, room) {
            Ok(_) | Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => self.is_over = true,
        }
        let taken = self.taken.len();
        for asking in self.taken.drain(..) {
            let mut body = Body::default();
            match Q::LAYOUT {
                Layout::Parts => {
                    body.before = asking.message.into_parts()?;
                    body.last = body.before.pop().expect("a message has one part at least");
                }
                _ => wire::pack(&[], core::iter::once(asking.message), &mut tools.scratch, &mut body.last)?,
            }
            self.table.add(body, asking.answer, asking.asked);
        }
        Ok(taken)
    }

    /// Hands over what there is room for. Returns how many questions.
    fn send(&mut self, tools: &mut Tools) -> Result<usize, Failure> {
        let mut sent = 0;
        self.is_blocked = false;
        while sent < AT_ONCE && self.is_connected() {
            let Some((number, mut body)) = self.table.next_unsent()? else { break };
            let mut head = vec![Frame::copied(&number.to_be_bytes())?, Frame::empty()];
            head.append(&mut body.before);
            if !tools.send_all(&mut head, &mut body.last, 1)? {
                body.before = head.split_off(2);
                self.table.not_sent(number, body);
                self.is_blocked = true;
                break;
            }
            sent += 1;
        }
        Ok(sent)
    }

    /// A connection has ended, and libzmq has passed on all that came over it. What was handed over is lost.
    fn settle(&mut self, tools: &mut Tools) -> Result<(), Failure> {
        // What has come is not lost. The bound is against a peer that is there again, and answers without end.
        for _ in 0..MOST_AT_ONCE {
            if !self.receive(tools)? {
                break;
            }
        }
        tools.counters.repeated.add(self.table.disconnected());
        if !self.is_connected() {
            // What libzmq would send over the next connection is taken back.
            tools.renew();
        }
        self.is_stale = false;
        Ok(())
    }

    /// What an event says of the connection. libzmq reports that it has ended before it passes on the last that came over
    /// it, and that it tries again after that.
    fn heard(&mut self, event: Option<&Event>, tools: &mut Tools) -> Result<(), Failure> {
        let ended = tools.ended();
        self.is_stale |= ended > self.ended && self.line != Line::Many;
        self.ended = ended;
        let settles = match event {
            Some(Event::Retrying(_) | Event::Connected(_)) => true,
            _ => self.line == Line::Inside,
        };
        if self.is_stale && settles { self.settle(tools) } else { Ok(()) }
    }
}

impl<Q: ToWire, A: FromWire> Work for Asking<Q, A> {
    // MUTANT: Speed only.
    /// What comes is one message most often, and a thread waits for it: with four yields a question alone took 32 context
    /// switches on both sides, with one it takes 17.
    const YIELDS: u32 = 1;

    fn step(&mut self, tools: &mut Tools) -> Result<usize, Failure> {
        let mut moved = 0;
        while moved < AT_ONCE && self.receive(tools)? {
            moved += 1;
        }
        if self.table.next_time().is_some_and(|until| until <= Instant::now()) {
            let (again, all) = self.table.expire(Instant::now());
            tools.counters.repeated.add(again);
            moved += all;
        }
        moved += self.take(tools)?;
        Ok(moved + self.send(tools)?)
    }

    fn wanted(&mut self) -> Wanted {
        let has_room = self.table.len() < self.most;
        let source = has_room && !self.is_over;
        Wanted { source, receive: true, send: self.is_blocked, until: self.table.next_time(), ..Wanted::default() }
    }

    fn noticed(&mut self, event: &Event) {
        match (&mut self.line, event) {
            (Line::One { connections }, Event::Connected(_)) => *connections += 1,
            (Line::One { connections }, Event::Disconnected(_)) => *connections = connections.saturating_sub(1),
            _ => {}
        }
    }

    fn listen(&mut self, tools: &mut Tools) -> Result<(), Failure> {
        while let Some(event) = tools.hear()? {
            self.noticed(&event);
            self.heard(Some(&event), tools)?;
            tools.tell(event);
        }
        self.heard(None, tools)
    }

    fn close(&mut self, _: &mut Tools) -> Result<(), Failure> {
        Ok(())
    }

    /// What comes into the channel while it is closed is asked as well, and all answers are waited for, as long as there
    /// is time.
    fn is_done(&mut self) -> bool {
        self.table.forget_abandoned();
        self.table.len() == 0 && self.source.as_mut().is_none_or(|source| source.is_drained())
    }

    fn left(&mut self) -> usize {
        self.table.forget_abandoned();
        let left = self.table.len() + self.taken.len();
        self.taken.clear();
        left + self.source.take().map_or(0, source::left)
    }

    /// An answer says that the question was received.
    fn is_acknowledged(&self) -> bool {
        true
    }

    fn lingers(&self) -> bool {
        false
    }
}

/// By default: how long an answer is waited for, and how many questions may have none.
const TIMEOUT: Duration = Duration::from_secs(30);
const MOST: usize = 256;
