//! Random scripts on two to four threads: what each has seen is checked afterwards.
//!
//! Nothing is lost, nothing comes twice, the messages of one sender come in their order to each receiver, and every
//! waiter is woken: a run that hangs is printed. Short runs of one queue are checked for a legal order, too.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use proptest::collection::vec;
use proptest::sample::select;
use proptest::strategy::Strategy;
use ysuite::signal::{Attach, Wait, YPollset};
use ysuite::{RecvTimeoutError, SendTimeoutError, TryRecvError, TrySendError};
use ysuite::{mpmc, mpsc, spsc};

use crate::conformance::channel::{Receiving, Sending};
use crate::random::running::{operations, run};
use crate::support::executor::block_on;
use crate::support::linear::{Clock, Event, Op, is_linearizable};
use crate::support::{Counted, Random, Tally};

/// What one thread does, over and over: ways of sending or receiving, with little pauses.
#[derive(Clone, Debug)]
struct Script {
    ways: Vec<u8>,
    seed: u64,
    /// After this many messages a receiver is dropped; 0: never.
    goes_after: u8,
}

/// A bound; scripts of the senders, and of the receivers.
type Case = ((Option<usize>, usize), Vec<Script>);

/// How many messages each sender sends.
const MESSAGES: usize = 200;

/// What a channel needs to be given to threads.
trait Shared: 'static {
    type Sender: Sending<Counted> + 'static;
    type Receiver: Receiving<Counted> + Attach + 'static;
    const SENDERS: usize;
    const RECEIVERS: usize;
    const CAPACITIES: &'static [Option<usize>];
    fn ends(capacity: Option<usize>, senders: usize, receivers: usize) -> (Vec<Self::Sender>, Vec<Self::Receiver>);
}

struct Pipe;
struct Funnel;
struct Exchange;

impl Shared for Pipe {
    type Sender = spsc::Sender<Counted>;
    type Receiver = spsc::Receiver<Counted>;
    const SENDERS: usize = 1;
    const RECEIVERS: usize = 1;
    const CAPACITIES: &'static [Option<usize>] = &[None, Some(1), Some(2), Some(7)];
    fn ends(capacity: Option<usize>, _: usize, _: usize) -> (Vec<Self::Sender>, Vec<Self::Receiver>) {
        let (sender, receiver) = capacity.map_or_else(spsc::unbounded, spsc::bounded);
        (vec![sender], vec![receiver])
    }
}

impl Shared for Funnel {
    type Sender = mpsc::Sender<Counted>;
    type Receiver = mpsc::Receiver<Counted>;
    const SENDERS: usize = 3;
    const RECEIVERS: usize = 1;
    const CAPACITIES: &'static [Option<usize>] = &[None, Some(1), Some(2), Some(7)];
    fn ends(capacity: Option<usize>, senders: usize, _: usize) -> (Vec<Self::Sender>, Vec<Self::Receiver>) {
        let (sender, receiver) = capacity.map_or_else(mpsc::unbounded, mpsc::bounded);
        let mut all: Vec<_> = (1..senders).map(|_| sender.clone()).collect();
        all.push(sender);
        (all, vec![receiver])
    }
}

impl Shared for Exchange {
    type Sender = mpmc::Sender<Counted>;
    type Receiver = mpmc::Receiver<Counted>;
    const SENDERS: usize = 2;
    const RECEIVERS: usize = 2;
    const CAPACITIES: &'static [Option<usize>] = &[None, Some(1), Some(2), Some(7)];
    fn ends(capacity: Option<usize>, senders: usize, receivers: usize) -> (Vec<Self::Sender>, Vec<Self::Receiver>) {
        let (sender, receiver) = capacity.map_or_else(mpmc::unbounded, mpmc::bounded);
        let (mut from, mut to) = (Vec::new(), Vec::new());
        from.extend((1..senders).map(|_| sender.clone()));
        from.push(sender);
        to.extend((1..receivers).map(|_| receiver.clone()));
        to.push(receiver);
        (from, to)
    }
}

/// Sends until all is sent, or there is no receiver. Returns what came back.
fn send_all(mut sender: impl Sending<Counted>, script: &Script, mut messages: Vec<Counted>) -> usize {
    let mut random = Random::new(script.seed);
    let mut ways = script.ways.iter().cycle();
    messages.reverse();
    while let Some(message) = messages.pop() {
        random.pause();
        let back = match ways.next().expect("a script has ways") {
            0 => sender.send(message).err().map(|error| (error.into_inner(), false)),
            1 => sender.try_send(message).err().map(|error| {
                let is_full = error.is_full();
                (error.into_inner(), is_full)
            }),
            2 => sender.send_timeout(message, Duration::from_micros(20)).err().map(|error| {
                let is_full = error.is_timeout();
                (error.into_inner(), is_full)
            }),
            3 => block_on(sender.send_async(message)).err().map(|error| (error.into_inner(), false)),
            _ => {
                messages.push(message);
                let most = random.below(5) + 1;
                let batch = messages.split_off(messages.len().saturating_sub(most));
                match sender.send_batch(&mut batch.into_iter().rev()) {
                    Ok(_) => None,
                    Err(_) => return messages.len(),
                }
            }
        };
        match back {
            None => {}
            Some((message, true)) => messages.push(message),
            Some((_, false)) => return messages.len(),
        }
    }
    0
}

/// Receives until there is no sender, or the script ends it. Returns the numbers.
fn receive_all<R: Receiving<Counted> + Attach>(mut receiver: R, script: &Script) -> Vec<usize> {
    let mut random = Random::new(script.seed);
    let mut ways = script.ways.iter().cycle();
    let mut set = YPollset::new();
    let (mut numbers, mut batch) = (Vec::new(), Vec::new());
    loop {
        random.pause();
        if script.goes_after != 0 && numbers.len() >= usize::from(script.goes_after) {
            return numbers;
        }
        let over = match ways.next().expect("a script has ways") {
            0 => receiver.recv().map(|message| batch.push(message)).is_err(),
            1 => {
                let got = receiver.try_recv().map(|message| batch.push(message));
                got == Err(TryRecvError::Disconnected)
            }
            2 => {
                let got = receiver.recv_timeout(Duration::from_micros(20)).map(|message| batch.push(message));
                got == Err(RecvTimeoutError::Disconnected)
            }
            3 => block_on(receiver.recv_async()).map(|message| batch.push(message)).is_err(),
            4 => receiver.recv_batch(&mut batch, random.below(5) + 1).is_err(),
            _ => {
                // For one poll, or for good.
                let is_attached = set.attach(&mut receiver, 0).is_ok();
                set.wait();
                let got = receiver.try_recv().map(|message| batch.push(message));
                if is_attached && random.below(4) == 0 {
                    set.detach(&mut receiver);
                }
                got == Err(TryRecvError::Disconnected)
            }
        };
        numbers.extend(batch.drain(..).map(|message| message.number));
        if over {
            return numbers;
        }
    }
}

fn scripts<K: Shared>(((capacity, senders), scripts): &Case) -> Result<(), String> {
    let (senders, receivers) = (1 + senders % K::SENDERS, 1 + senders % K::RECEIVERS);
    let tally = Tally::of(senders * MESSAGES);
    let (from, to) = K::ends(*capacity, senders, receivers);
    let script = |index: usize| scripts[index % scripts.len()].clone();
    let sending: Vec<_> = from
        .into_iter()
        .enumerate()
        .map(|(index, sender)| {
            let messages: Vec<_> = tally.some(MESSAGES).collect();
            let script = script(index);
            thread::spawn(move || send_all(sender, &script, messages))
        })
        .collect();
    let receiving: Vec<_> = to
        .into_iter()
        .enumerate()
        .map(|(index, receiver)| {
            let script = script(index + senders);
            thread::spawn(move || receive_all(receiver, &script))
        })
        .collect();
    let unsent: usize = sending.into_iter().map(|thread| thread.join().expect("a sender")).sum();
    let received: Vec<_> = receiving.into_iter().map(|thread| thread.join().expect("a receiver")).collect();
    let mut times = vec![0; senders * MESSAGES];
    for numbers in &received {
        numbers.iter().for_each(|&number| times[number] += 1);
        for sender in 0..senders {
            let mut own = numbers.iter().filter(|&&number| number / MESSAGES == sender);
            if !own.by_ref().is_sorted() {
                return Err(format!("the messages of sender {sender} came out of order: {numbers:?}"));
            }
        }
    }
    if let Some(number) = times.iter().position(|&times| times > 1) {
        return Err(format!("message {number} was received {} times", times[number]));
    }
    let somebody_stayed = (0..receivers).any(|index| script(index + senders).goes_after == 0);
    let got: usize = times.iter().sum();
    if somebody_stayed && (got != senders * MESSAGES || unsent != 0) {
        return Err(format!("{got} of {} messages were received, {unsent} never sent", senders * MESSAGES));
    }
    let ended = tally.ended();
    if ended != senders * MESSAGES {
        return Err(format!("{ended} of {} messages have ended", senders * MESSAGES));
    }
    Ok(())
}

fn cases<K: Shared>() -> impl Strategy<Value = Case> {
    let script = (vec(0..6_u8, 1..5), 1..1_000_000_u64, 0..120_u8);
    let script =
        script.prop_map(|(ways, seed, goes)| Script { ways, seed, goes_after: if goes > 90 { goes } else { 0 } });
    ((select(K::CAPACITIES), 0..6_usize), vec(script, 1..4))
}

fn streams<K: Shared>() {
    run(operations(20_000) / MESSAGES, cases::<K>(), scripts::<K>);
}

#[test]
fn random_scripts_on_an_spsc_channel_lose_no_message_and_no_wake_up() {
    streams::<Pipe>();
}

#[test]
fn random_scripts_on_an_mpsc_channel_lose_no_message_and_no_wake_up() {
    streams::<Funnel>();
}

#[test]
fn random_scripts_on_an_mpmc_channel_lose_no_message_and_no_wake_up() {
    streams::<Exchange>();
}

/// A few operations of one thread on a handle of an spsc channel, with the moments of their calls and returns.
fn send_some(mut sender: spsc::Sender<u64>, ways: &[u8], seed: u64, clock: &Clock) -> (spsc::Sender<u64>, Vec<Event>) {
    let (mut random, mut history) = (Random::new(seed), Vec::new());
    for (number, way) in ways.iter().enumerate() {
        random.pause();
        let number = number as u64;
        clock.record(&mut history, || {
            let is_sent = match way % 3 {
                0 => match sender.send_timeout(number, Duration::from_micros(5)) {
                    Ok(()) => true,
                    Err(SendTimeoutError::Timeout(_)) => false,
                    Err(SendTimeoutError::Disconnected(_)) => unreachable!("there is a receiver"),
                },
                _ => match sender.try_send(number) {
                    Ok(()) => true,
                    Err(TrySendError::Full(_)) => false,
                    Err(TrySendError::Disconnected(_)) => unreachable!("there is a receiver"),
                },
            };
            Some(if is_sent { Op::Sent(number) } else { Op::Full })
        });
    }
    (sender, history)
}

fn receive_some(receiver: &mut spsc::Receiver<u64>, ways: &[u8], seed: u64, clock: &Clock) -> Vec<Event> {
    let (mut random, mut history) = (Random::new(seed), Vec::new());
    for way in ways {
        random.pause();
        clock.record(&mut history, || {
            Some(match way % 4 {
                0 => receiver.recv_timeout(Duration::from_micros(5)).map_or(Op::Empty, Op::Received),
                1 => {
                    let mut batch = Vec::new();
                    receiver
                        .try_recv_batch(&mut batch, random.below(4) + 1)
                        .map_or(Op::Empty, |_| Op::ReceivedAll(batch))
                }
                2 => receiver.peek().copied().map_or(Op::Empty, |_| Op::Received(0)),
                _ => receiver.try_recv().map_or(Op::Empty, Op::Received),
            })
        });
        // What was shown only is received now.
        if let (2, Some(Event { op: Op::Received(_), .. })) = (way % 4, history.last()) {
            history.pop();
            clock.record(&mut history, || Some(receiver.try_recv().map_or(Op::Empty, Op::Received)));
        }
    }
    // An spsc batch is one message after another, between the moments of its call and its return.
    history.into_iter().flat_map(one_by_one).collect()
}

fn one_by_one(event: Event) -> Vec<Event> {
    match &event.op {
        Op::ReceivedAll(all) => all.iter().map(|&one| Event { op: Op::Received(one), ..event.clone() }).collect(),
        _ => vec![event],
    }
}

fn no_order(history: &[Event]) -> String {
    let events: Vec<_> = history.iter().map(|event| format!("\n{event:?}")).collect();
    format!("no legal order:{}", events.concat())
}

#[test]
fn random_histories_of_a_pipe_have_a_legal_order() {
    let ways = || vec(0..12_u8, 1..40);
    let cases = ((1..4_usize, 1..1_000_000_u64), vec((ways(), ways()), 1..2));
    run(operations(20_000) / 40, cases, |((capacity, seed), ways)| {
        let (sender, mut receiver) = spsc::bounded(*capacity);
        let clock = Arc::new(Clock::default());
        let (sends, receives) = ways.first().cloned().unwrap_or_default();
        let (there, seed) = (clock.clone(), *seed);
        let back = Arc::new(Mutex::new(None));
        let kept = back.clone();
        let thread = thread::spawn(move || {
            let (sender, history) = send_some(sender, &sends, seed, &there);
            *kept.lock().unwrap() = Some(sender);
            history
        });
        let mut history = receive_some(&mut receiver, &receives, seed + 1, &clock);
        history.extend(thread.join().expect("a sender"));
        while history.last().is_none_or(|event| event.op != Op::Empty) || !receiver.is_empty() {
            clock.record(&mut history, || Some(receiver.try_recv().map_or(Op::Empty, Op::Received)));
        }
        if is_linearizable(&history, *capacity) { Ok(()) } else { Err(no_order(&history)) }
    });
}
