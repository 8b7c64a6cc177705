//! What only an mpmc channel can do, against a plain queue with a count of permits: permits, forced sends, closing,
//! weak handles, and waits of each kind as tasks. On one thread every result is exact. At last only tasks that were
//! woken are polled again: none may be left that has something to do.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use proptest::collection::vec;
use proptest::sample::select;
use proptest::strategy::Strategy;
use ysuite::mpmc::{self, OwnedPermit, Receiver, Sender};
use ysuite::{SendError, SendTimeoutError, TryRecvError, TrySendError};

use crate::random::operations::LENGTH;
use crate::random::running::{operations, run};
use crate::support::executor::Task;

#[derive(Clone, Copy, Debug)]
enum Op {
    Send(u8, u8),
    SendBatch(u8, u8),
    Force(u8),
    Receive(u8, u8),
    Reserve(u8, u8),
    Use(u8),
    GiveBack(u8, u8),
    CloneSender(u8),
    CloneReceiver(u8),
    DropSender(u8),
    DropReceiver(u8),
    Upgrade(u8),
    Close(u8),
    /// Begins a wait, which has a handle of its own.
    Begin(u8, u8),
    Poll(u8),
    DropWait(u8),
}

fn decode((kind, by, way): (u8, u8, u8)) -> Op {
    match kind {
        0..=7 => Op::Send(by, way),
        8..=10 => Op::SendBatch(by, way),
        11..=15 => Op::Force(by),
        16..=24 => Op::Receive(by, way),
        25..=31 => Op::Reserve(by, way),
        32..=36 => Op::Use(by),
        37..=41 => Op::GiveBack(by, way),
        42 => Op::CloneSender(by),
        43 => Op::CloneReceiver(by),
        44..=45 => Op::DropSender(by),
        46..=47 => Op::DropReceiver(by),
        48..=50 => Op::Upgrade(by),
        51 => Op::Close(by),
        52..=63 => Op::Begin(by, way),
        64..=71 => Op::Poll(by),
        _ => Op::DropWait(by),
    }
}

/// What a wait has come to.
enum Outcome {
    Sent(Result<(), SendError<usize>>),
    Stopped(Result<(), SendTimeoutError<usize>>),
    Reserved(Result<OwnedPermit<usize>, TrySendError<Sender<usize>>>),
    Received(Option<usize>),
    Batch(Option<Vec<usize>>),
    Closed,
}

/// What a wait waits for.
#[derive(Clone, Copy, PartialEq, Debug)]
enum For {
    Room,
    Message,
    End,
}

struct Wait {
    what: For,
    message: usize,
    future: Pin<Box<dyn Future<Output = Outcome>>>,
    task: Task,
    /// How often the task had been woken when it was polled last.
    seen: usize,
}

struct Machine {
    capacity: usize,
    queue: VecDeque<usize>,
    held: usize,
    is_closed: bool,
    senders: Vec<Sender<usize>>,
    receivers: Vec<Receiver<usize>>,
    permits: Vec<OwnedPermit<usize>>,
    waits: Vec<Wait>,
    weak: (mpmc::WeakSender<usize>, mpmc::WeakReceiver<usize>),
    number: usize,
}

/// The one of these that is meant.
fn of(by: u8, length: usize) -> Option<usize> {
    (length != 0).then(|| usize::from(by) % length)
}

macro_rules! ensure {
    ($condition:expr, $($text:tt)+) => {
        if !$condition {
            return Err(format!($($text)+));
        }
    };
}

impl Machine {
    fn new(capacity: usize) -> Self {
        let (sender, receiver) = mpmc::bounded(capacity);
        Self {
            capacity,
            queue: VecDeque::new(),
            held: 0,
            is_closed: false,
            weak: (sender.downgrade(), receiver.downgrade()),
            senders: vec![sender],
            receivers: vec![receiver],
            permits: Vec::new(),
            waits: Vec::new(),
            number: 0,
        }
    }

    fn room(&self) -> usize {
        if self.is_closed { 0 } else { self.capacity - self.queue.len() - self.held }
    }

    fn next(&mut self) -> usize {
        self.number += 1;
        self.number
    }

    fn step(&mut self, op: Op) -> Result<(), String> {
        match op {
            Op::Send(by, way) => self.send(by, way),
            Op::SendBatch(by, count) => self.send_batch(by, usize::from(count)),
            Op::Force(by) => self.force(by),
            Op::Receive(by, way) => self.receive(by, way),
            Op::Reserve(by, way) => self.reserve(by, way),
            Op::Use(by) => self.use_permit(by),
            Op::GiveBack(by, way) => {
                if let Some(index) = of(by, self.permits.len()) {
                    let permit = self.permits.swap_remove(index);
                    self.held -= 1;
                    if way % 2 == 0 { drop(permit) } else { drop(permit.release()) }
                }
                Ok(())
            }
            Op::CloneSender(by) => {
                self.senders.extend(of(by, self.senders.len()).map(|index| self.senders[index].clone()));
                Ok(())
            }
            Op::CloneReceiver(by) => {
                self.receivers.extend(of(by, self.receivers.len()).map(|index| self.receivers[index].clone()));
                Ok(())
            }
            Op::DropSender(by) => {
                of(by, self.senders.len()).map(|index| self.senders.swap_remove(index));
                Ok(())
            }
            Op::DropReceiver(by) => {
                of(by, self.receivers.len()).map(|index| self.receivers.swap_remove(index));
                Ok(())
            }
            Op::Upgrade(by) => self.upgrade(by % 2 == 0),
            Op::Close(by) => {
                let Some(index) = of(by, self.senders.len()) else { return Ok(()) };
                let closed = self.senders[index].close();
                ensure!(closed != self.is_closed, "closed: {closed}, and it was: {}", self.is_closed);
                self.is_closed = true;
                Ok(())
            }
            Op::Begin(by, way) => self.begin(by, way),
            Op::Poll(by) => of(by, self.waits.len()).map_or(Ok(()), |index| self.poll(index)),
            Op::DropWait(by) => {
                of(by, self.waits.len()).map(|index| self.waits.swap_remove(index));
                Ok(())
            }
        }
    }

    fn send(&mut self, by: u8, way: u8) -> Result<(), String> {
        let Some(index) = of(by, self.senders.len()) else { return Ok(()) };
        let (number, room) = (self.next(), self.room());
        let sender = &self.senders[index];
        let sent = match way % 3 {
            0 if room != 0 || self.is_closed => sender.send(number).map_err(TrySendError::from),
            1 => sender.send_timeout(number, Duration::ZERO).map_err(|error| match error {
                SendTimeoutError::Timeout(message) => TrySendError::Full(message),
                SendTimeoutError::Disconnected(message) => TrySendError::Disconnected(message),
            }),
            _ => sender.try_send(number),
        };
        let expected = match (self.is_closed, room) {
            (true, _) => Err(TrySendError::Disconnected(number)),
            (false, 0) => Err(TrySendError::Full(number)),
            _ => Ok(()),
        };
        ensure!(sent == expected, "sent: {sent:?}, not {expected:?}");
        self.queue.extend(sent.is_ok().then_some(number));
        Ok(())
    }

    fn send_batch(&mut self, by: u8, count: usize) -> Result<(), String> {
        let Some(index) = of(by, self.senders.len()) else { return Ok(()) };
        let count = if self.is_closed { count } else { count.min(self.room()) };
        let messages: Vec<_> = (0..count).map(|_| self.next()).collect();
        let sent = self.senders[index].send_batch(messages.clone());
        let expected = if self.is_closed && count != 0 { Err(SendError(messages.clone())) } else { Ok(count) };
        ensure!(sent == expected, "a batch: {sent:?}, not {expected:?}");
        self.queue.extend(sent.is_ok().then_some(messages).into_iter().flatten());
        Ok(())
    }

    fn force(&mut self, by: u8) -> Result<(), String> {
        let Some(index) = of(by, self.senders.len()) else { return Ok(()) };
        if self.held == self.capacity && !self.is_closed {
            return Ok(());
        }
        let (number, room) = (self.next(), self.room());
        let forced = self.senders[index].force_send(number);
        let expected = match (self.is_closed, room) {
            (true, _) => Err(SendError(number)),
            (false, 0) => Ok(self.queue.pop_front()),
            _ => Ok(None),
        };
        ensure!(forced == expected, "forced: {forced:?}, not {expected:?}");
        self.queue.extend(forced.is_ok().then_some(number));
        Ok(())
    }

    fn receive(&mut self, by: u8, way: u8) -> Result<(), String> {
        let Some(index) = of(by, self.receivers.len()) else { return Ok(()) };
        let receiver = &self.receivers[index];
        let nothing = if self.is_closed { TryRecvError::Disconnected } else { TryRecvError::Empty };
        if way % 3 == 0 {
            let mut batch = Vec::new();
            let taken = receiver.try_recv_batch(&mut batch, usize::from(way) + 1);
            let most = self.queue.len().min(usize::from(way) + 1);
            ensure!(taken == if most == 0 { Err(nothing) } else { Ok(most) }, "a batch: {taken:?} of {most}");
            let expected: Vec<_> = self.queue.drain(..most).collect();
            ensure!(batch == expected, "a batch: {batch:?}, not {expected:?}");
            return Ok(());
        }
        let received = receiver.try_recv();
        let expected = self.queue.pop_front().ok_or(nothing);
        ensure!(received == expected, "received: {received:?}, not {expected:?}");
        Ok(())
    }

    fn reserve(&mut self, by: u8, way: u8) -> Result<(), String> {
        let Some(index) = of(by, self.senders.len()) else { return Ok(()) };
        let (sender, room) = (self.senders[index].clone(), self.room());
        let places = usize::from(way) % (self.capacity + 2);
        if places == 1 {
            match sender.try_reserve_owned() {
                Ok(permit) => self.permits.push(permit),
                Err(error) => ensure!(room == 0 && error.is_disconnected() == self.is_closed, "refused, room: {room}"),
            }
            self.held += usize::from(room != 0);
            return Ok(());
        }
        // Several: given back, or used, at once.
        match sender.try_reserve_many(places) {
            Ok(permits) => {
                ensure!(places <= room && !self.is_closed && permits.len() == places, "{places} of {room} places");
                let used = places / 2;
                for permit in permits.take(used) {
                    self.number += 1;
                    ensure!(permit.send(self.number).is_ok(), "a permit is refused");
                    self.queue.push_back(self.number);
                }
            }
            Err(error) => {
                ensure!(error.is_disconnected() == self.is_closed, "refused: {error}");
                ensure!(self.is_closed || places > room, "{places} of {room} places refused");
            }
        }
        Ok(())
    }

    fn use_permit(&mut self, by: u8) -> Result<(), String> {
        let Some(index) = of(by, self.permits.len()) else { return Ok(()) };
        let number = self.next();
        let sent = self.permits.swap_remove(index).send(number).map(drop);
        self.held -= 1;
        let expected = if self.is_closed { Err(SendError(number)) } else { Ok(()) };
        ensure!(sent == expected, "by permit: {sent:?}, not {expected:?}");
        self.queue.extend(sent.is_ok().then_some(number));
        Ok(())
    }

    fn upgrade(&mut self, is_sender: bool) -> Result<(), String> {
        let is_there = if is_sender {
            let sender = self.weak.0.upgrade();
            let is_there = sender.is_some();
            self.senders.extend(sender);
            is_there
        } else {
            let receiver = self.weak.1.upgrade();
            let is_there = receiver.is_some();
            self.receivers.extend(receiver);
            is_there
        };
        ensure!(is_there != self.is_closed, "upgraded: {is_there}, closed: {}", self.is_closed);
        Ok(())
    }

    fn begin(&mut self, by: u8, way: u8) -> Result<(), String> {
        let number = self.next();
        let sender = of(by, self.senders.len()).map(|index| self.senders[index].clone());
        let receiver = of(by, self.receivers.len()).map(|index| self.receivers[index].clone());
        let (what, future): (For, Pin<Box<dyn Future<Output = Outcome>>>) = match (way % 6, sender, receiver) {
            (0, Some(sender), _) => {
                (For::Room, Box::pin(async move { Outcome::Sent(sender.send_async(number).await) }))
            }
            (1, Some(sender), _) => {
                let stop = std::future::pending::<()>();
                let sending = async move { Outcome::Stopped(sender.send_async_until(number, stop).await) };
                (For::Room, Box::pin(sending))
            }
            (2, Some(sender), _) => {
                (For::Room, Box::pin(async move { Outcome::Reserved(sender.reserve_owned_async().await) }))
            }
            (3, Some(sender), _) => (
                For::End,
                Box::pin(async move {
                    sender.closed().await;
                    Outcome::Closed
                }),
            ),
            (4, _, Some(receiver)) => {
                (For::Message, Box::pin(async move { Outcome::Received(receiver.recv_async().await.ok()) }))
            }
            (5, _, Some(receiver)) => (
                For::Message,
                Box::pin(async move {
                    let mut batch = Vec::new();
                    Outcome::Batch(receiver.recv_batch_async(&mut batch, 2).await.ok().map(|_| batch))
                }),
            ),
            _ => return Ok(()),
        };
        self.waits.push(Wait { what, message: number, future, task: Task::default(), seen: 0 });
        self.poll(self.waits.len() - 1)
    }

    /// Whether a wait has something to do.
    fn is_due(&self, what: For) -> bool {
        self.is_closed
            || match what {
                For::Room => self.room() != 0,
                For::Message => !self.queue.is_empty(),
                For::End => false,
            }
    }

    fn poll(&mut self, index: usize) -> Result<(), String> {
        let is_due = self.is_due(self.waits[index].what);
        let wait = &mut self.waits[index];
        wait.seen = wait.task.woken();
        let polled = wait.future.as_mut().poll(&mut Context::from_waker(&wait.task.waker()));
        let Poll::Ready(outcome) = polled else {
            ensure!(!is_due, "a wait for {:?} is pending", wait.what);
            return Ok(());
        };
        ensure!(is_due, "a wait for {:?} is ready", wait.what);
        let wait = self.waits.swap_remove(index);
        let is_right = match outcome {
            Outcome::Sent(Ok(())) | Outcome::Stopped(Ok(())) => {
                self.queue.push_back(wait.message);
                !self.is_closed
            }
            Outcome::Sent(Err(SendError(back))) => self.is_closed && back == wait.message,
            Outcome::Stopped(Err(error)) => self.is_closed && error == SendTimeoutError::Disconnected(wait.message),
            Outcome::Reserved(Ok(permit)) => {
                self.permits.push(permit);
                self.held += 1;
                !self.is_closed
            }
            Outcome::Reserved(Err(_)) | Outcome::Closed => self.is_closed,
            Outcome::Received(message) => message == self.queue.pop_front(),
            Outcome::Batch(batch) => {
                let most = self.queue.len().min(2);
                let expected: Vec<_> = self.queue.drain(..most).collect();
                batch.unwrap_or_default() == expected
            }
        };
        ensure!(is_right, "a wait for {:?} has come to what it should not", wait.what);
        Ok(())
    }

    /// How many waits have a receiver, or a sender.
    fn waiting(&self, receives: bool) -> usize {
        self.waits.iter().filter(|wait| (wait.what == For::Message) == receives).count()
    }

    /// After each operation: what has finished stays finished, and the handles agree with the model.
    fn settle(&mut self) -> Result<(), String> {
        let senders = self.senders.len() + self.permits.len() + self.waiting(false);
        let receivers = self.receivers.len() + self.waiting(true);
        if receivers == 0 {
            self.queue.clear();
        }
        self.is_closed |= senders == 0 || receivers == 0;
        let counts = self.weak.0.upgrade().map(|sender| (sender.sender_count() - 1, sender.receiver_count()));
        let expected = (!self.is_closed).then_some((senders, receivers));
        ensure!(counts == expected, "senders and receivers: {counts:?}, not {expected:?}");
        for (len, full, disconnected, capacity) in (self.senders.iter())
            .map(|end| (end.len(), end.is_full(), end.is_disconnected(), end.capacity()))
            .chain(self.receivers.iter().map(|end| (end.len(), end.is_full(), end.is_disconnected(), end.capacity())))
        {
            ensure!(len == self.queue.len() && capacity == Some(self.capacity), "len: {len}, not {}", self.queue.len());
            ensure!(disconnected == self.is_closed, "disconnected: {disconnected}");
            ensure!(self.is_closed || full == (self.room() == 0), "full: {full}, room: {}", self.room());
        }
        Ok(())
    }

    /// Polls those that were woken, until none is: then none may be left that has something to do.
    fn finish(&mut self) -> Result<(), String> {
        while let Some(index) = self.waits.iter().position(|wait| wait.task.woken() != wait.seen) {
            self.poll(index)?;
            self.settle()?;
        }
        let asleep = self.waits.iter().find(|wait| self.is_due(wait.what)).map(|wait| wait.what);
        ensure!(asleep.is_none(), "a wait for {asleep:?} was not woken, room: {}, {:?}", self.room(), self.queue);
        Ok(())
    }
}

fn agrees((capacity, ops): &(usize, Vec<Op>)) -> Result<(), String> {
    let mut machine = Machine::new(*capacity);
    for (index, op) in ops.iter().enumerate() {
        let step = machine.step(*op).and_then(|()| machine.settle());
        step.map_err(|text| format!("operation {index}: {text}"))?;
        if index % 16 == 15 {
            machine.finish().map_err(|text| format!("after operation {index}: {text}"))?;
        }
    }
    machine.finish().map_err(|text| format!("at the end: {text}"))
}

#[test]
fn random_operations_that_only_an_mpmc_channel_has_agree_with_a_model() {
    let operation = (0..76_u8, 0..8_u8, 0..12_u8);
    let sequences = (select(&[1_usize, 2, 3, 7][..]), vec(operation.prop_map(decode), 1..2 * LENGTH));
    run(operations(40_000) / LENGTH, sequences, agrees);
}
