//! [`Answering`]: from a socket to a channel of questions, and their answers back to those that asked.
//!
//! The socket is a ROUTER. It puts the name of the connection before each message; all that is before the question goes
//! back before the answer, up to an empty part. So a REQ, a DEALER that sends the empty part, or one that sends the
//! question alone, may ask, also through proxies.
//!
//! Nothing is kept of a question that the program has: the way back is in its [`Reply`].

mod build;
mod question;
mod stuck;

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use ysuite::TryRecvError;
use ysuite::mpmc;

pub use self::build::Answer;
use self::question::Answers;
pub use self::question::{Question, Reply};
use self::stuck::{Packed, Sent, Stuck};
use super::gate::Gate;
use super::sink::Sink;
use super::source::{self, Source as _};
use super::tools::Tools;
use super::work::{AT_ONCE, Wanted, Work};
use crate::error::Failure;
use crate::frame::Frame;
use crate::wire::{self, FromWire, Layout, Limits, Malformed, Parts, ToWire};

struct Answering<Q, A: Send + 'static> {
    /// None: it is closed.
    sink: Option<Sink<Question<Q, A>>>,
    /// None: it has been left.
    source: Option<mpmc::Receiver<question::Answer<A>>>,
    taken: Vec<question::Answer<A>>,
    /// What each reply has, and the bridge once.
    answers: Answers<A>,
    stuck: Stuck,
    limits: Limits,
    unpacked: Vec<Q>,
    /// Questions that had no room when it was closed.
    refused: usize,
}

/// A message of a ROUTER taken apart: what goes back before the answer, and the question.
fn opened(mut parts: Vec<Frame>) -> Option<(Vec<Frame>, Vec<Frame>)> {
    let last = parts.len().checked_sub(1).filter(|&last| last > 0)?;
    let delimiter = (1..last).find(|&at| parts[at].is_empty());
    let body = parts.split_off(delimiter.map_or(1, |at| at + 1));
    Some((parts, body))
}

impl<Q: FromWire, A: ToWire> Answering<Q, A> {
    fn new(
        gate: Gate<Question<Q, A>>,
        answers: mpmc::Sender<question::Answer<A>>,
        source: mpmc::Receiver<question::Answer<A>>,
        limits: Limits,
        most: usize,
    ) -> Self {
        Self {
            sink: Some(Sink::new(gate)),
            source: Some(source),
            taken: Vec::new(),
            answers: Arc::new(answers),
            stuck: Stuck::new(most),
            limits,
            unpacked: Vec::new(),
            refused: 0,
        }
    }

    /// Questions that the program has, or could have.
    fn open(&self) -> usize {
        let open = Arc::strong_count(&self.answers) - 1;
        // ORDERING: Acquire: with the decrement when a reply is dropped. Its answer is in the channel by then.
        fence(Ordering::Acquire);
        open
    }

    /// Takes one question. False: there was none.
    fn receive(&mut self, tools: &mut Tools) -> Result<bool, Failure> {
        let mut list = Parts::within(self.limits);
        if tools.receive(|part| list.push(part))? == 0 {
            return Ok(false);
        }
        let whole = list.whole(&mut tools.frame);
        let question = whole.and_then(|parts| opened(parts).ok_or(Malformed::Parts)).and_then(|(envelope, body)| {
            let bytes = body.iter().map(|part| part.len()).sum::<usize>();
            Ok((bytes, envelope, self.read(body)?))
        });
        match question {
            Ok((bytes, envelope, message)) => {
                tools.received(bytes, 1);
                let reply = Reply { envelope, answers: self.answers.clone() };
                if let Some(sink) = &mut self.sink {
                    sink.push(Question { message, reply });
                }
            }
            Err(malformed) => tools.refuse(malformed),
        }
        Ok(true)
    }

    fn read(&mut self, mut body: Vec<Frame>) -> Result<Q, Malformed> {
        match (Q::LAYOUT, &mut body[..]) {
            (Layout::Parts, _) => Q::from_parts(body),
            (_, [only]) => {
                wire::unpack(only, 0, 1, self.limits, &mut self.unpacked)?;
                self.unpacked.pop().ok_or(Malformed::Content)
            }
            _ => Err(Malformed::Parts),
        }
    }

    /// Takes questions as long as there is room for them, and most answers to earlier ones are gone.
    fn questions(&mut self, tools: &mut Tools, moved: &mut usize) -> Result<(), Failure> {
        let waiting = self.source.as_ref().map_or(0, mpmc::Receiver::len);
        let mut together = 1;
        while *moved < AT_ONCE && waiting < AT_ONCE {
            let Some(sink) = &mut self.sink else { return Ok(()) };
            if !sink.deliver(moved) {
                return Ok(());
            }
            let room = sink.room().unwrap_or(usize::MAX).clamp(1, together);
            let mut taken = 0;
            while taken < room && self.receive(tools)? {
                taken += 1;
            }
            *moved += taken;
            if taken == 0 {
                return Ok(());
            }
            together = (together * 2).min(AT_ONCE);
        }
        Ok(())
    }

    /// Sends answers. Returns how many were taken from the channel, or have left after a wait.
    fn reply(&mut self, tools: &mut Tools) -> Result<usize, Failure> {
        let (again, dropped) = self.stuck.send(tools)?;
        tools.counters.dropped.add(dropped);
        let mut moved = again + dropped;
        let Some(source) = &mut self.source else { return Ok(moved) };
        // MUTANT: Speed only: an id is taken down more often, which costs the other side a wake-up.
        if tools.arms || !source.is_drained() {
            match source.take(&mut self.taken, AT_ONCE) {
                Ok(taken) => moved += taken,
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => {}
            }
        }
        self.taken.reverse();
        while let Some(question::Answer { envelope: mut before, message }) = self.taken.pop() {
            let mut last = Frame::empty();
            match A::LAYOUT {
                Layout::Parts => {
                    before.extend(message.into_parts()?);
                    last = before.pop().expect("a message has one part at least");
                }
                _ => wire::pack(&[], core::iter::once(message), &mut tools.scratch, &mut last)?,
            }
            let mut answer = Packed { before, last };
            let sent = if self.stuck.has(&answer) { Sent::Full } else { answer.send(tools)? };
            match sent {
                Sent::Gone => {}
                Sent::Full => tools.counters.dropped.add(self.stuck.push(answer)),
                Sent::Nobody => tools.counters.dropped.add(1),
            }
        }
        Ok(moved)
    }
}

impl<Q: FromWire, A: ToWire> Work for Answering<Q, A> {
    // MUTANT: Speed only.
    /// As of what asks.
    const YIELDS: u32 = 1;

    fn step(&mut self, tools: &mut Tools) -> Result<usize, Failure> {
        let mut moved = self.reply(tools)?;
        self.questions(tools, &mut moved)?;
        Ok(moved)
    }

    fn wanted(&mut self) -> Wanted {
        let (full, ended) = self.sink.as_ref().map_or((false, true), |sink| (sink.is_blocked(), sink.has_ended()));
        let until = self.stuck.again();
        Wanted { source: true, sink: full && !ended, receive: !full && !ended, until, ..Wanted::default() }
    }

    /// No question is taken any more, and what the program has may still be answered.
    fn close(&mut self, _: &mut Tools) -> Result<(), Failure> {
        self.refused += self.sink.take().map_or(0, |mut sink| sink.left());
        Ok(())
    }

    fn is_done(&mut self) -> bool {
        let is_drained = self.source.as_mut().is_none_or(|source| source.is_drained());
        // In this order: a reply is dropped after its answer is in the channel.
        self.open() == 0 && is_drained && self.taken.is_empty() && self.stuck.len() == 0
    }

    /// Answers that have not left, and questions that have none.
    fn left(&mut self) -> usize {
        let refused = self.refused + self.sink.take().map_or(0, |mut sink| sink.left());
        let unsent = self.taken.len() + self.stuck.len();
        self.taken.clear();
        refused + unsent + self.open() + self.source.take().map_or(0, source::left)
    }
}
