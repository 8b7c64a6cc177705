//! A [`ReadySet`] over receivers of all kinds, which come and go: which it reports, and whether each has a turn.

use proptest::collection::vec;
use proptest::strategy::{Just, Strategy};
use ysuite::TryRecvError;
use ysuite::signal::{AttachError, ReadySet};
use ysuite::{mpmc, mpsc, spsc};

use crate::random::operations::LENGTH;
use crate::random::running::{operations, run};

/// How many receivers there are.
const MANY: usize = 4;

#[derive(Clone, Copy, Debug)]
enum Op {
    Send(u8),
    /// One message, if there is one.
    Receive(u8),
    /// All there are.
    Drain(u8),
    Add(u8),
    Remove(u8),
    /// The sender goes.
    Close(u8),
    /// Both handles go; others come in their place.
    Replace(u8),
    /// Asks whose turn it is, in one way or another.
    Wait(u8),
    /// Makes the `ReadySet` anew, with those it had.
    Anew,
}

fn decode((kind, who): (u8, u8)) -> Op {
    match kind {
        0..=9 => Op::Send(who),
        10..=14 => Op::Receive(who),
        15..=17 => Op::Drain(who),
        18..=22 => Op::Add(who),
        23 => Op::Remove(who),
        24 => Op::Close(who),
        25 => Op::Replace(who),
        26..=36 => Op::Wait(who),
        _ => Op::Anew,
    }
}

enum Sender {
    Pipe(spsc::Sender<usize>),
    Funnel(mpsc::Sender<usize>),
    Exchange(mpmc::Sender<usize>),
}

impl Sender {
    fn send(&mut self, number: usize) {
        match self {
            Self::Pipe(sender) => sender.send(number).is_ok(),
            Self::Funnel(sender) => sender.send(number).is_ok(),
            Self::Exchange(sender) => sender.try_send(number).is_ok(),
        };
    }
}

enum Receiver {
    Pipe(spsc::Receiver<usize>),
    Funnel(mpsc::Receiver<usize>),
    Exchange(mpmc::Receiver<usize>),
}

macro_rules! each {
    ($receiver:expr, $inner:ident => $do:expr) => {
        match $receiver {
            Receiver::Pipe($inner) => $do,
            Receiver::Funnel($inner) => $do,
            Receiver::Exchange($inner) => $do,
        }
    };
}

impl Receiver {
    fn try_recv(&mut self) -> Result<usize, TryRecvError> {
        each!(self, receiver => receiver.try_recv())
    }

    fn add(&mut self, select: &mut ReadySet) -> Result<usize, AttachError> {
        each!(self, receiver => select.add(receiver))
    }

    fn remove(&mut self, select: &mut ReadySet) -> Option<usize> {
        each!(self, receiver => select.remove(receiver))
    }
}

/// A channel, and what is known of it.
struct Channel {
    sender: Option<Sender>,
    receiver: Receiver,
    messages: usize,
    id: Option<usize>,
    /// To be named: it has not found itself empty, or at its end.
    is_up: bool,
    /// How many results there have been since it was up, and was not reported.
    passed_over: usize,
}

impl Channel {
    fn new(kind: usize) -> Self {
        let (sender, receiver) = match kind % 3 {
            0 => {
                let (sender, receiver) = spsc::unbounded();
                (Sender::Pipe(sender), Receiver::Pipe(receiver))
            }
            1 => {
                let (sender, receiver) = mpsc::unbounded();
                (Sender::Funnel(sender), Receiver::Funnel(receiver))
            }
            _ => {
                let (sender, receiver) = mpmc::bounded(2 * LENGTH);
                (Sender::Exchange(sender), Receiver::Exchange(receiver))
            }
        };
        Self { sender: Some(sender), receiver, messages: 0, id: None, is_up: false, passed_over: 0 }
    }

    fn receive(&mut self) -> Result<bool, String> {
        let nothing = if self.sender.is_some() { TryRecvError::Empty } else { TryRecvError::Disconnected };
        match self.receiver.try_recv() {
            Ok(_) if self.messages != 0 => self.messages -= 1,
            Err(error) if (self.messages, error) == (0, nothing) => {
                self.is_up = false;
                return Ok(false);
            }
            other => return Err(format!("received {other:?} of {} messages", self.messages)),
        }
        Ok(true)
    }
}

fn step(select: &mut ReadySet, channels: &mut [Channel], op: Op) -> Result<(), String> {
    let of = |who: u8| usize::from(who) % MANY;
    match op {
        Op::Send(who) => {
            let channel = &mut channels[of(who)];
            if let Some(sender) = &mut channel.sender {
                sender.send(0);
                channel.messages += 1;
                channel.is_up = channel.id.is_some();
            }
        }
        Op::Receive(who) => drop(channels[of(who)].receive()?),
        Op::Drain(who) => while channels[of(who)].receive()? {},
        Op::Add(who) => {
            let channel = &mut channels[of(who)];
            match channel.receiver.add(select) {
                Ok(id) => {
                    // An mpmc receiver is removed from where it was.
                    let moved = channel.id.is_none() || matches!(channel.receiver, Receiver::Exchange(_));
                    (channel.id, channel.is_up, channel.passed_over) = (Some(id), true, 0);
                    let twice = channels.iter().filter(|channel| channel.id == Some(id)).count() != 1;
                    if !moved || twice {
                        return Err(format!("added as {id}, moved: {moved}, twice: {twice}"));
                    }
                }
                Err(AttachError::AlreadyAttached) if channel.id.is_some() => {}
                Err(error) => return Err(format!("not added: {error:?}")),
            }
        }
        Op::Remove(who) => {
            let channel = &mut channels[of(who)];
            let (removed, id) = (channel.receiver.remove(select), channel.id.take());
            channel.is_up = false;
            if removed != id {
                return Err(format!("removed {removed:?}, and it had {id:?}"));
            }
        }
        Op::Close(who) => {
            let channel = &mut channels[of(who)];
            if channel.sender.take().is_some() {
                channel.is_up = channel.id.is_some();
            }
        }
        Op::Replace(who) => channels[of(who)] = Channel::new(of(who)),
        Op::Wait(way) => return wait(select, channels, way),
        Op::Anew => {
            let mut anew = ReadySet::new();
            for channel in channels.iter_mut().filter(|channel| channel.id.is_some()) {
                channel.receiver.remove(select);
                channel.id = channel.receiver.add(&mut anew).ok();
                // Every handle is reported at first.
                channel.is_up = true;
            }
            *select = anew;
        }
    }
    Ok(())
}

fn wait(select: &mut ReadySet, channels: &mut [Channel], way: u8) -> Result<(), String> {
    let some = channels.iter().any(|channel| channel.is_up);
    let named = match way % 3 {
        0 => select.try_wait(),
        1 => select.wait_timeout(std::time::Duration::ZERO),
        _ if some => Some(select.wait()),
        _ => select.wait_deadline(std::time::Instant::now()),
    };
    let ups = channels.iter().filter(|channel| channel.is_up).count();
    if named.is_some() != some || named.is_some_and(|id| !channels.iter().any(|one| one.is_up && one.id == Some(id))) {
        let states: Vec<_> = channels.iter().map(|channel| (channel.id, channel.is_up)).collect();
        return Err(format!("named {named:?} of (id, to be named) {states:?}"));
    }
    for channel in channels.iter_mut() {
        let is_passed_over = channel.is_up && channel.id != named;
        channel.passed_over = if is_passed_over { channel.passed_over + 1 } else { 0 };
        // Others may come meanwhile, before it, or the whole be made anew.
        if channel.passed_over > 16 * MANY {
            return Err(format!("{:?} has been passed over {} times, of {ups}", channel.id, channel.passed_over));
        }
    }
    Ok(())
}

fn sequence(ops: &[Op]) -> Result<(), String> {
    let mut select = ReadySet::new();
    let mut channels: Vec<_> = (0..MANY).map(Channel::new).collect();
    for (index, &op) in ops.iter().enumerate() {
        step(&mut select, &mut channels, op).map_err(|text| format!("after operation {index}: {text}"))?;
    }
    Ok(())
}

#[test]
fn a_select_reports_the_right_handles_and_all_in_turn() {
    let ops = vec((0..40_u8, 0..4_u8).prop_map(decode), 1..2 * LENGTH);
    run(operations(40_000) / LENGTH, (Just(()), ops), |((), ops)| sequence(ops));
}

#[test]
fn a_select_that_is_made_for_each_wait_skips_no_handle() {
    // All have messages all the time, and the reported one gives one. Often enough, if it is random.
    let order = vec(0..MANY, 2..=MANY);
    run(operations(100_000) / 20_000 + 1, (Just(()), order), |((), order)| {
        let mut order = order.clone();
        order.sort_unstable();
        order.dedup();
        let (mut channels, mut named) = ((0..MANY).map(Channel::new).collect::<Vec<_>>(), [0; MANY]);
        for round in 0..64 * MANY {
            let mut select = ReadySet::new();
            let mut ids = Vec::new();
            for &who in &order {
                channels[who].sender.as_mut().into_iter().for_each(|sender| sender.send(round));
                ids.push((channels[who].receiver.add(&mut select).map_err(|error| error.to_string())?, who));
            }
            let id = select.wait();
            let (_, who) = *ids.iter().find(|(other, _)| *other == id).ok_or("nobody has this id")?;
            named[who] += 1;
            channels[who].receiver.try_recv().map_err(|error| error.to_string())?;
            for &who in &order {
                channels[who].receiver.remove(&mut select);
            }
        }
        match order.iter().find(|&&who| named[who] == 0) {
            None => Ok(()),
            Some(who) => Err(format!("receiver {who} of {order:?} was never named: {named:?}")),
        }
    });
}
