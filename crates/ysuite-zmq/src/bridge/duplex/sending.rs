//! [`Sending`]: one side's stream: what has been handed over, what the other side has said of it, and, where lost messages are
//! to be sent again, the frames that it has not yet acknowledged.

use std::collections::VecDeque;

use ysuite::signal::YSocketpair;

use super::super::outgoing::Outgoing;
use super::super::source::Source;
use super::super::tools::Tools;
use super::super::work::{AT_ONCE, Work as _};
use super::account::Account;
use super::header::{Header, Kind};
use super::line::Line;
use crate::error::Failure;
use crate::frame::Frame;
use crate::wire::ToWire;

pub(super) struct Sending<S: Source> {
    /// None: the other side receives no more, so nothing more can be sent.
    outgoing: Option<Outgoing<S>>,
    /// Messages of the channel when that was found out.
    refused: usize,
    keeps: bool,
    /// The largest number of messages that are kept, whatever room the other side announces.
    window: u64,
    /// In order of their numbers, without a hole between them and up to `next`: those to be handed over and, where this side
    /// keeps them, those that are not acknowledged.
    frames: VecDeque<Numbered>,
    /// The number of `frames` that have been handed over since the sides last agreed.
    handed: usize,
    /// The number of the next new message.
    next: u64,
    /// What has been said of those that were handed over.
    account: Account,
    /// Numbers below it may be sent.
    limit: u64,
    end: End,
    /// Nothing more is to be sent than what is in the channel.
    closing: bool,
}

/// What one step has achieved.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sent {
    pub(super) messages: usize,
    /// The socket had no room for more.
    pub(super) is_blocked: bool,
    /// The other side will know what the headers of this step say.
    pub(super) has_told: bool,
}

struct Numbered {
    number: u64,
    messages: usize,
    frame: Frame,
}

/// Whether the other side knows that the stream has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It has not: a sender still exists.
    Open,
    /// It must be notified.
    Due,
    /// It has been notified.
    Told,
    /// It has said that it has everything.
    Acknowledged,
}

impl<S: Source<Message: ToWire>> Sending<S> {
    pub(super) fn new(outgoing: Outgoing<S>, keeps: bool) -> Self {
        Self {
            outgoing: Some(outgoing),
            refused: 0,
            keeps,
            window: u64::MAX,
            frames: VecDeque::new(),
            handed: 0,
            next: 0,
            account: Account::new(keeps),
            limit: 0,
            end: End::Open,
            closing: false,
        }
    }

    /// Keeps no more messages than that until they are acknowledged.
    pub(super) fn keep_at_most(&mut self, messages: u64) {
        self.window = messages;
    }

    /// The number below which messages may be taken from the channel.
    fn takes_below(&self) -> u64 {
        self.limit.min(self.account.acknowledged().saturating_add(self.window))
    }

    pub(super) fn keeps(&self) -> bool {
        self.keeps
    }

    /// The number of the first message that is not acknowledged, as far as it can still be sent.
    pub(super) fn first_to_come(&self) -> u64 {
        self.frames.front().map_or(self.next, |frame| frame.number)
    }

    /// Whether something has been handed over that is not acknowledged.
    pub(super) fn is_waiting(&self) -> bool {
        self.account.acknowledged() < self.next || self.end == End::Told
    }

    /// Whether a message of the channel could leave now.
    pub(super) fn wants(&self) -> bool {
        self.next < self.takes_below() && self.end == End::Open
    }

    /// Another bridge has taken the place of the other side's. Its acknowledgements begin at
    /// [`first_to_come`](Self::first_to_come). Returns how many messages were in transit to the one that is gone.
    pub(super) fn begin_again(&mut self, session: u64) -> u64 {
        let gone = self.account.begin(session, self.first_to_come());
        (self.limit, self.handed) = (0, 0);
        if self.end != End::Open {
            self.end = End::Due;
        }
        gone
    }

    /// The other side's state of this stream, and whether that answers the last hello. Returns whether it has received
    /// more than was known.
    pub(super) fn hear(&mut self, header: &Header, answers: bool) -> bool {
        let before = self.account.acknowledged();
        self.account.hear(header, self.next, answers);
        let acknowledged = self.account.acknowledged();
        self.limit = self.limit.max(header.limit);
        while self.frames.front().is_some_and(|frame| frame.number + frame.messages as u64 <= acknowledged) {
            self.frames.pop_front();
            self.handed = self.handed.saturating_sub(1);
        }
        if header.flags.has_all && self.end != End::Open && acknowledged == self.next {
            self.end = End::Acknowledged;
        }
        if header.flags.refuses
            && let Some(mut outgoing) = self.outgoing.take()
        {
            self.refused += outgoing.left();
            self.frames.clear();
            (self.handed, self.end) = (0, End::Due);
        }
        acknowledged > before
    }

    /// A hello has been answered: what was handed over before it has arrived, or never will.
    pub(super) fn go_back(&mut self, tools: &Tools) {
        let again = self.frames.iter().take(core::mem::take(&mut self.handed)).map(|frame| frame.messages).sum();
        tools.counters.repeated.add(again);
        if self.end == End::Told {
            self.end = End::Due;
        }
    }

    /// Nothing more is to be sent than what is in the channel.
    pub(super) fn close(&mut self) {
        self.closing = true;
        if let Some(outgoing) = &mut self.outgoing {
            outgoing.leave_set();
        }
    }

    /// As [`Outgoing::stand_in`].
    pub(super) fn stand(&mut self, wanted: bool, set: &mut YSocketpair) {
        if let Some(outgoing) = &mut self.outgoing {
            outgoing.stand_in(wanted, set);
        }
    }

    /// Hands over what may be sent, after headers of this kind.
    pub(super) fn step(
        &mut self,
        line: &mut Line,
        tools: &mut Tools,
        header: impl Fn(Kind, u64, u32) -> Header,
    ) -> Result<Sent, Failure> {
        let mut sent = Sent::default();
        // MUTANT: Speed only: one message more or less between two polls of the other queues.
        while sent.messages < AT_ONCE {
            // What was made earlier says what was to be said then.
            let is_new = self.handed == self.frames.len();
            if is_new && !self.fill(tools, &header)? {
                break;
            }
            let Numbered { number, messages, frame } = &mut self.frames[self.handed];
            // What was made for another bridge waits until this one has room for the first of it, as what is new does.
            if *number >= self.limit {
                break;
            }
            let messages = *messages;
            let went = match self.keeps {
                true => line.send(&mut frame.shared()?, messages, tools)?,
                false => line.send(frame, messages, tools)?,
            };
            if !went {
                sent.is_blocked = true;
                return Ok(sent);
            }
            if self.keeps {
                self.handed += 1;
            } else {
                self.frames.pop_front();
            }
            sent.messages += messages;
            sent.has_told |= is_new;
        }
        if self.end == End::Due && self.handed == self.frames.len() {
            let mut end = Frame::copied(&header(Kind::End, self.next, 0).bytes())?;
            sent.is_blocked = !line.send(&mut end, 0, tools)?;
            if !sent.is_blocked {
                (self.end, sent.has_told) = (End::Told, true);
            }
        }
        Ok(sent)
    }

    /// Makes a frame of what the channel holds. False: it holds nothing, or no more may be sent.
    fn fill(&mut self, tools: &mut Tools, header: impl Fn(Kind, u64, u32) -> Header) -> Result<bool, Failure> {
        let room = usize::try_from(self.takes_below().saturating_sub(self.next)).unwrap_or(usize::MAX);
        let Some(outgoing) = self.outgoing.as_mut().filter(|_| self.end == End::Open) else { return Ok(false) };
        // MUTANT: No room means that nothing is taken.
        let messages = if room > 0 { outgoing.take_for_one(room, tools) } else { 0 };
        if messages > 0 {
            // A pack has at most 2^20.
            let head = header(Kind::Messages, self.next, messages as u32).bytes();
            let mut frame = Frame::empty();
            outgoing.write(messages, &head, tools, &mut frame)?;
            self.frames.push_back(Numbered { number: self.next, messages, frame });
            self.next += messages as u64;
            return Ok(true);
        }
        if outgoing.is_over(self.closing) {
            self.end = End::Due;
        }
        Ok(false)
    }

    /// Whether the other side has everything, or will never have it.
    pub(super) fn is_over(&self) -> bool {
        self.end == End::Acknowledged || self.outgoing.is_none()
    }

    /// Whether the other side has acknowledged all messages: it may not know that these were the last.
    pub(super) fn has_nothing_left(&mut self) -> bool {
        let closing = self.closing;
        self.account.acknowledged() >= self.next
            && self.outgoing.as_mut().is_none_or(|outgoing| outgoing.is_over(closing))
    }

    /// Messages that were never acknowledged.
    pub(super) fn left(&mut self) -> usize {
        let in_channel = self.outgoing.as_mut().map_or(0, |outgoing| outgoing.left());
        let unanswered = self.account.unanswered(self.next);
        (self.refused + in_channel).saturating_add(usize::try_from(unanswered).unwrap_or(usize::MAX))
    }
}
