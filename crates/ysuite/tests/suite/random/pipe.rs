//! The spsc queue by itself, without a channel around it: its handles, and messages whose drop panics.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use proptest::collection::vec;
use proptest::sample::select;
use proptest::strategy::Strategy;
use ysuite::queue::ypipe::{self, Reader, Writer};

use crate::random::foreign::{self, Deed, Intended, Message, alive, fault, faults, has_ended};
use crate::random::operations::LENGTH;
use crate::random::running::{operations, run};

#[derive(Clone, Copy, Debug)]
enum Op {
    Write(Deed),
    Flush,
    Unwrite,
    Read,
    ReadBatch(u8),
    Peek,
    Arm,
    DropReader,
    DropWriter,
}

fn decode((kind, small): (u8, u8)) -> Op {
    match kind {
        0..=9 => Op::Write(Deed::of(small)),
        10..=17 => Op::Flush,
        18..=20 => Op::Unwrite,
        21..=26 => Op::Read,
        27..=29 => Op::ReadBatch(small),
        30..=32 => Op::Peek,
        33..=36 => Op::Arm,
        37 => Op::DropReader,
        _ => Op::DropWriter,
    }
}

fn agree<X: PartialEq + Debug>(what: &str, found: X, expected: X) {
    if found != expected {
        fault(format!("{what}: {found:?} instead of {expected:?}"));
    }
}

/// An spsc queue against plain queues of numbers.
struct Run {
    capacity: Option<usize>,
    writer: Option<Writer<Message>>,
    reader: Option<Reader<Message>>,
    visible: VecDeque<usize>,
    hidden: Vec<usize>,
    /// The reader has armed the queue, and no flush has reported it.
    asleep: bool,
}

impl Run {
    fn new(capacity: Option<usize>) -> Self {
        let (writer, reader) = capacity.map_or_else(ypipe::unbounded, ypipe::bounded);
        let (writer, reader) = (Some(writer), Some(reader));
        Self { capacity, writer, reader, visible: VecDeque::new(), hidden: Vec::new(), asleep: false }
    }

    fn publish(&mut self) {
        self.visible.extend(self.hidden.drain(..));
    }

    fn step(&mut self, op: Op) {
        match op {
            Op::Write(_) | Op::Flush | Op::Unwrite | Op::DropWriter => self.write(op),
            Op::Read | Op::ReadBatch(_) | Op::Peek | Op::Arm | Op::DropReader => self.read(op),
        }
    }

    fn write(&mut self, op: Op) {
        let Some(mut writer) = self.writer.take() else { return };
        match op {
            Op::Write(deed) => {
                let used = self.visible.len() + self.hidden.len();
                let full = self.capacity.is_some_and(|capacity| used >= capacity);
                let message = Message::new(deed);
                let number = message.0;
                let written = writer.write(message);
                self.writer = Some(writer);
                // Without a reader room is not checked.
                let expected = if self.reader.is_none() { written.is_err() } else { full };
                agree("refused", written.is_err(), expected);
                if written.is_ok() {
                    self.hidden.push(number);
                }
                drop(written);
            }
            Op::Flush => {
                let expected = !self.asleep || self.hidden.is_empty();
                self.asleep &= self.hidden.is_empty();
                self.publish();
                let flushed = catch_unwind(AssertUnwindSafe(|| writer.flush()));
                self.writer = Some(writer);
                let flushed = flushed.unwrap_or_else(|panic| resume_unwind(panic));
                agree("flushed", flushed, if self.reader.is_none() { flushed } else { expected });
            }
            Op::Unwrite => {
                let back = writer.unwrite();
                self.writer = Some(writer);
                agree("unwritten", back.as_ref().map(|message| message.0), self.hidden.pop());
            }
            _ => {
                self.publish();
                self.asleep = false;
                drop(writer);
            }
        }
    }

    fn read(&mut self, op: Op) {
        let Some(reader) = &mut self.reader else { return };
        match op {
            Op::Read => {
                let message = reader.read();
                agree("read", message.as_ref().map(|message| message.0), self.visible.pop_front());
            }
            Op::ReadBatch(most) => {
                let mut to = Vec::new();
                let expected: Vec<_> = self.visible.drain(..self.visible.len().min(usize::from(most))).collect();
                let read = reader.read_batch(&mut to, usize::from(most));
                agree("how many", read, expected.len());
                agree("a batch", to.iter().map(|message| message.0).collect(), expected);
            }
            Op::Peek => agree("shown", reader.peek().map(|message| message.0), self.visible.front().copied()),
            Op::Arm => {
                self.asleep = reader.arm();
                agree("armed", self.asleep, self.visible.is_empty() && self.writer.is_some());
            }
            _ => {
                self.asleep = false;
                drop(self.reader.take());
            }
        }
    }

    fn check(&mut self) {
        if self.reader.is_none() {
            if let Some(message) = self.visible.iter().find(|&&message| !has_ended(message)) {
                fault(format!("the reader is gone, and message {message} has not been dropped"));
            }
            self.visible.clear();
        }
        agree("how many have not ended", alive(), self.visible.len() + self.hidden.len());
        if let Some(writer) = &self.writer {
            agree("lengths", (writer.len(), writer.hidden()), (self.visible.len(), self.hidden.len()));
            agree("a writer", (writer.is_orphaned(), writer.capacity()), (self.reader.is_none(), self.capacity));
        }
        if let Some(reader) = &self.reader {
            agree("lengths", (reader.len(), reader.is_empty()), (self.visible.len(), self.visible.is_empty()));
            agree("a reader", (reader.is_closed(), reader.capacity()), (self.writer.is_none(), self.capacity));
        }
        if self.writer.is_none() && self.reader.is_none() {
            *self = Self::new(self.capacity);
        }
    }
}

fn sequence(capacity: Option<usize>, ops: &[Op]) -> Result<(), String> {
    foreign::begin();
    let mut run = Run::new(capacity);
    for (index, &op) in ops.iter().enumerate() {
        let stepped = catch_unwind(AssertUnwindSafe(|| run.step(op)));
        let panicked = stepped.is_err_and(|panic| if panic.is::<Intended>() { true } else { resume_unwind(panic) });
        foreign::quietly(|| run.check());
        let faults = faults();
        if !faults.is_empty() {
            // The handles may be broken: they are left alone.
            std::mem::forget(run);
            let panicked = if panicked { ", in which user code panicked" } else { "" };
            return Err(format!("after operation {index}{panicked}: {}", faults.join("; ")));
        }
    }
    foreign::quietly(|| drop(run));
    Ok(())
}

#[test]
fn random_operations_on_the_pipe_by_itself_agree_with_a_model() {
    let capacities = select(&[None, Some(1), Some(2), Some(7)][..]);
    let ops = vec((0..39_u8, 0..12_u8).prop_map(decode), 1..2 * LENGTH);
    run(operations(40_000) / LENGTH, (capacities, ops), |(capacity, ops)| sequence(*capacity, ops));
}
