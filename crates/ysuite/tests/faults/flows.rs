//! All channels, as flows: a number of messages through one kind, by all ways of sending and receiving in turn, and
//! each thread of it by itself. Then a fault happens to these threads. Every message must arrive once, and those of one
//! sender in its order, for any fault.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use ysuite::hub::Hub;
use ysuite::mailbox::{Builder, Crowding, Mailbox, ReceiveError};
use ysuite::pool::{Message, Pool};
use ysuite::signal::{ReadySet, Wait, YPollset, YSocketpair};
use ysuite::{broadcast, mpmc, mpsc, oneshot, select, spsc, watch};

use super::support::Random;
use super::support::executor::block_on;

/// What one thread of a flow does, from its first message to its last.
type Body = Box<dyn FnOnce() + Send>;

/// Messages under way through one kind of channel.
pub(crate) struct Flow {
    pub(crate) name: &'static str,
    bodies: Vec<Body>,
    arrivals: Arc<Arrivals>,
}

/// Makes a flow of this many messages from each sender.
pub(crate) type Make = fn(u64) -> Flow;

/// All kinds of channels, and all ways of waiting at them.
pub(crate) const FAMILY: &[Make] = &[
    pipe_without_a_bound,
    pipe,
    pipe_in_a_pollset,
    pipe_in_a_socketpair,
    funnel_without_a_bound,
    funnel,
    exchange_without_a_bound,
    exchange,
    meeting,
    several_in_a_broadcast,
    several_at_a_watch,
    questions_and_answers,
    letters,
    letters_in_a_mailbox_with_a_bound,
    several_in_a_select,
    several_in_a_set_of_receivers,
    several_in_a_hub,
    blocks_of_a_pool,
];

/// Which messages have arrived.
struct Arrivals {
    messages: u64,
    /// How often each has; those of one sender side by side.
    times: Box<[AtomicU8]>,
    /// How often each is to.
    copies: u8,
}

impl Arrivals {
    fn of(senders: u64, messages: u64, copies: u8) -> Arc<Self> {
        let times = (0..senders * messages).map(|_| AtomicU8::new(0)).collect();
        Arc::new(Self { messages, times, copies })
    }

    fn are_all(&self) -> bool {
        self.times.iter().all(|times| times.load(Ordering::Relaxed) == self.copies)
    }

    fn count(&self) -> u64 {
        self.times.iter().map(|times| u64::from(times.load(Ordering::Relaxed))).sum()
    }

    /// What one receiver notes.
    fn list(self: &Arc<Self>) -> List {
        let senders = self.times.len() as u64 / self.messages;
        List { arrivals: self.clone(), next: vec![0; senders as usize] }
    }
}

/// One receiver's list: the messages of each sender come in its order.
struct List {
    arrivals: Arc<Arrivals>,
    next: Vec<u64>,
}

impl List {
    fn note(&mut self, message: u64) {
        let (sender, number) = (message >> 32, message & 0xffff_ffff);
        let next = &mut self.next[sender as usize];
        assert!(number >= *next, "message {number} of sender {sender} comes after {next}");
        *next = number + 1;
        self.arrivals.times[(sender * self.arrivals.messages + number) as usize].fetch_add(1, Ordering::Relaxed);
    }
}

/// The longest time in which nothing arrives, on the slowest machine, in the short form.
const GUARD: Duration = Duration::from_secs(300);

impl Flow {
    fn new(name: &'static str, bodies: Vec<Body>, arrivals: Arc<Arrivals>) -> Self {
        Self { name, bodies, arrivals }
    }

    /// Runs it to completion. Each thread calls `begin` with its number first; this one calls `meddle` with all of
    /// them, again and again, while any of them runs.
    pub(crate) fn run(self, begin: impl Fn(usize) + Send + Sync + 'static, mut meddle: impl FnMut(&[JoinHandle<()>])) {
        let (name, begin) = (self.name, Arc::new(begin));
        let (mut before, mut since) = (0, Instant::now());
        let threads: Vec<_> = (0..)
            .zip(self.bodies)
            .map(|(number, body)| {
                let begin = begin.clone();
                thread::spawn(move || {
                    begin(number);
                    body();
                })
            })
            .collect();
        while !threads.iter().all(JoinHandle::is_finished) {
            let arrived = self.arrivals.count();
            if arrived != before {
                (before, since) = (arrived, Instant::now());
            }
            assert!(super::is_long() || since.elapsed() < GUARD, "{name}: hangs");
            meddle(&threads);
        }
        for thread in threads {
            assert!(thread.join().is_ok(), "{name}: a thread has failed");
        }
        assert!(self.arrivals.are_all(), "{name}: not every message has arrived as often as it should");
    }
}

/// Sends `messages` messages in all ways of sending in turn.
macro_rules! send_all {
    ($sender:expr, $who:expr, $messages:expr) => {{
        let mut random = Random::new($who + 1);
        let mut number = 0_u64;
        while number < $messages {
            let message = ($who as u64) << 32 | number;
            match random.below(8) {
                0 => block_on($sender.send_async(message)).expect("a receiver"),
                1 => while $sender.send_timeout(message, Duration::from_micros(50)).is_err() {},
                2 => {
                    let batch = ($messages - number).min(5);
                    assert!($sender.send_batch(message..message + batch).is_ok_and(|sent| sent == batch as usize));
                    number += batch - 1;
                }
                _ => $sender.send(message).expect("a receiver"),
            }
            number += 1;
            random.pause();
        }
    }};
}

/// Receives all messages in all ways of receiving in turn.
macro_rules! receive_all {
    ($receiver:expr, $list:expr) => {{
        let (mut random, mut batch) = (Random::new(7), Vec::new());
        loop {
            let received = match random.below(4) {
                0 => $receiver.recv().map(|message| batch.push(message)).map_err(|_| ()),
                1 => block_on($receiver.recv_async()).map(|message| batch.push(message)).map_err(|_| ()),
                // A timeout looks like an empty batch, and the disconnect is found by another way.
                2 => Ok(batch.extend($receiver.recv_timeout(Duration::from_micros(50)).ok())),
                _ => $receiver.recv_batch(&mut batch, 7).map(drop).map_err(|_| ()),
            };
            batch.drain(..).for_each(|message| $list.note(message));
            if received.is_err() {
                break;
            }
            random.pause();
        }
    }};
}

fn pipe_of(name: &'static str, bound: Option<usize>, messages: u64) -> Flow {
    let (mut sender, mut receiver) = bound.map_or_else(spsc::unbounded, spsc::bounded);
    let arrivals = Arrivals::of(1, messages, 1);
    let mut list = arrivals.list();
    let bodies: Vec<Body> =
        vec![Box::new(move || send_all!(sender, 0, messages)), Box::new(move || receive_all!(receiver, list))];
    Flow::new(name, bodies, arrivals)
}

fn pipe_without_a_bound(messages: u64) -> Flow {
    pipe_of("unbounded spsc", None, messages)
}

fn pipe(messages: u64) -> Flow {
    pipe_of("spsc of two", Some(2), messages)
}

/// An spsc channel whose receiver waits in a set.
fn attached<W: Wait>(
    name: &'static str,
    messages: u64,
    set: impl FnOnce(&mut spsc::Receiver<u64>) -> W + Send + 'static,
) -> Flow {
    let (mut sender, mut receiver) = spsc::bounded(3);
    let arrivals = Arrivals::of(1, messages, 1);
    let mut list = arrivals.list();
    let receive = move || {
        let mut set = set(&mut receiver);
        loop {
            // Now and then a wait that is too short.
            let up = set.wait_timeout(Duration::from_micros(200)).count();
            assert!(up <= 1);
            loop {
                match receiver.try_recv() {
                    Ok(message) => list.note(message),
                    Err(error) if error.is_empty() => break,
                    Err(_) => return,
                }
            }
            assert!(set.wait().count() == 1, "a poll without a limit has found nothing");
        }
    };
    Flow::new(name, vec![Box::new(move || send_all!(sender, 0, messages)), Box::new(receive)], arrivals)
}

fn pipe_in_a_pollset(messages: u64) -> Flow {
    attached("spsc in a pollset", messages, |receiver| {
        let mut set = YPollset::new();
        set.attach(receiver, 3).expect("a free id");
        set
    })
}

fn pipe_in_a_socketpair(messages: u64) -> Flow {
    attached("spsc in a socketpair", messages, |receiver| {
        let mut set = YSocketpair::new().expect("descriptors");
        set.attach(receiver, 3).expect("a free id");
        set
    })
}

fn funnel_of(name: &'static str, bound: Option<usize>, messages: u64) -> Flow {
    let (mut sender, mut receiver) = bound.map_or_else(mpsc::unbounded, mpsc::bounded);
    let mut other = sender.clone();
    let arrivals = Arrivals::of(2, messages, 1);
    let mut list = arrivals.list();
    let bodies: Vec<Body> = vec![
        Box::new(move || send_all!(sender, 0, messages)),
        Box::new(move || send_all!(other, 1, messages)),
        Box::new(move || receive_all!(receiver, list)),
    ];
    Flow::new(name, bodies, arrivals)
}

fn funnel_without_a_bound(messages: u64) -> Flow {
    funnel_of("unbounded mpsc", None, messages)
}

fn funnel(messages: u64) -> Flow {
    funnel_of("mpsc of two", Some(2), messages)
}

/// Two senders and two receivers; each message is received by both.
macro_rules! two_to_two {
    ($name:expr, $channel:expr, $messages:expr, $copies:expr) => {{
        let messages = $messages;
        #[allow(unused_mut)] // Handles of an mpmc channel are shared.
        let (sender, mut receiver) = $channel;
        #[allow(unused_mut)]
        let (other, mut another) = (sender.clone(), receiver.clone());
        let arrivals = Arrivals::of(2, messages, $copies);
        let (mut list, mut lists) = (arrivals.list(), arrivals.list());
        let bodies: Vec<Body> = vec![
            Box::new(move || send_all!(sender, 0, messages)),
            Box::new(move || send_all!(other, 1, messages)),
            Box::new(move || receive_all!(receiver, list)),
            Box::new(move || receive_all!(another, lists)),
        ];
        Flow::new($name, bodies, arrivals)
    }};
}

fn exchange_of(name: &'static str, bound: Option<usize>, messages: u64) -> Flow {
    two_to_two!(name, bound.map_or_else(mpmc::unbounded, mpmc::bounded), messages, 1)
}

fn exchange_without_a_bound(messages: u64) -> Flow {
    exchange_of("unbounded mpmc", None, messages)
}

fn exchange(messages: u64) -> Flow {
    exchange_of("mpmc of two", Some(2), messages)
}

fn meeting(messages: u64) -> Flow {
    exchange_of("rendezvous", Some(0), messages)
}

fn several_in_a_broadcast(messages: u64) -> Flow {
    two_to_two!("broadcast", broadcast::bounded(4), messages, 2)
}

/// The newest value covers all before it: a receiver that has missed the last one never reaches the count.
fn several_at_a_watch(messages: u64) -> Flow {
    let (sender, receiver) = watch::channel(0_u64);
    let arrivals = Arrivals::of(1, 2, 2);
    let mut bodies: Vec<Body> = Vec::new();
    for who in 0..2 {
        let (sender, mut receiver, mut list) = (sender.clone(), receiver.clone(), arrivals.list());
        bodies.push(Box::new(move || {
            let mut random = Random::new(who);
            for _ in 0..messages {
                sender.send_modify(|value| *value += 1);
                random.pause();
            }
        }));
        bodies.push(Box::new(move || {
            let (mut random, mut seen) = (Random::new(7), 0);
            loop {
                let ended = match random.below(3) {
                    0 => receiver.changed().is_err(),
                    1 => block_on(receiver.changed_async()).is_err(),
                    _ => receiver.changed_timeout(Duration::from_micros(50)).is_err_and(|error| !error.is_timeout()),
                };
                let value = *receiver.borrow_and_update();
                assert!(value >= seen, "{value} comes after {seen}");
                seen = value;
                if ended {
                    break;
                }
            }
            assert_eq!(seen, 2 * messages);
            (0..2).for_each(|number| list.note(number));
        }));
    }
    Flow::new("watch", bodies, arrivals)
}

/// Each question takes its way back along.
fn questions_and_answers(messages: u64) -> Flow {
    let (mut asks, mut asked) = spsc::bounded::<(u64, oneshot::Sender<u64>)>(4);
    let arrivals = Arrivals::of(1, messages, 1);
    let mut list = arrivals.list();
    let ask = move || {
        let mut random = Random::new(3);
        for number in 0..messages {
            let (answer, mut answered) = oneshot::channel();
            asks.send((number, answer)).expect("a thread that answers");
            list.note(match random.below(3) {
                0 => block_on(answered).expect("an answer"),
                1 => loop {
                    if let Ok(answer) = answered.recv_timeout(Duration::from_micros(50)) {
                        break answer;
                    }
                },
                _ => answered.recv().expect("an answer"),
            });
        }
    };
    let answer = move || {
        let mut random = Random::new(4);
        while let Ok((number, answer)) = asked.recv() {
            random.pause();
            answer.send(number).expect("a thread that has asked");
        }
    };
    Flow::new("oneshot", vec![Box::new(ask), Box::new(answer)], arrivals)
}

/// Ordinary and urgent letters, each kind in its order: two senders for the list.
fn letters_of(name: &'static str, mailbox: Mailbox, messages: u64) -> Flow {
    let (mut mailbox, arrivals) = (mailbox, Arrivals::of(4, messages, 1));
    let mut list = arrivals.list();
    let mut bodies: Vec<Body> = Vec::new();
    for who in 0..2 {
        let address = mailbox.address();
        bodies.push(Box::new(move || {
            let mut random = Random::new(who);
            for number in 0..messages {
                address.send((2 * who) << 32 | number).expect("a mailbox");
                address.send_priority((2 * who + 1) << 32 | number).expect("a mailbox");
                random.pause();
            }
        }));
    }
    bodies.push(Box::new(move || {
        let mut random = Random::new(9);
        loop {
            let letter = match random.below(2) {
                0 => mailbox.receive_only::<u64>(),
                _ => mailbox.receive_timeout::<u64>(Duration::from_micros(50)),
            };
            match letter {
                Ok(letter) => list.note(letter),
                Err(ReceiveError::Timeout) => {}
                Err(_) => break,
            }
        }
    }));
    Flow::new(name, bodies, arrivals)
}

fn letters(messages: u64) -> Flow {
    letters_of("mailbox", Mailbox::new(), messages)
}

fn letters_in_a_mailbox_with_a_bound(messages: u64) -> Flow {
    let builder = Builder::new().bounded(3, Crowding::Block);
    letters_of("mailbox of three", builder.build(), messages)
}

/// One thread sends by `select` to any of three channels with room, and another receives from all.
fn several_in_a_select(messages: u64) -> Flow {
    let (mut pipe, mut pipe_in) = spsc::bounded(2);
    let (exchange, exchange_in) = mpmc::bounded(1);
    let (meeting, meeting_in) = mpmc::bounded(0);
    // Each channel has its own order, and so a sender of its own in the list.
    let arrivals = Arrivals::of(3, messages, 1);
    let mut list = arrivals.list();
    let send = move || {
        let (mut random, mut sent) = (Random::new(1), [0_u64; 3]);
        while sent.iter().all(|&sent| sent < messages) {
            let [first, second, third] = [sent[0], 1 << 32 | sent[1], 2 << 32 | sent[2]];
            let channel = select()
                .send(&mut pipe, first, |outcome| outcome.map(|()| 0).ok())
                .send(&exchange, second, |outcome| outcome.map(|()| 1).ok())
                .send(&meeting, third, |outcome| outcome.map(|()| 2).ok())
                .wait_timeout(Duration::from_micros(300));
            if let Some(channel) = channel {
                sent[channel.expect("a receiver")] += 1;
            }
            random.pause();
        }
        (sent[0]..messages).for_each(|number| pipe.send(number).expect("a receiver"));
        (sent[1]..messages).for_each(|number| exchange.send(1 << 32 | number).expect("a receiver"));
        (sent[2]..messages).for_each(|number| meeting.send(2 << 32 | number).expect("a receiver"));
    };
    let receive = move || {
        let (mut random, mut left) = (Random::new(2), 3 * messages);
        while left > 0 {
            let message = select()
                .recv(&mut pipe_in, |message| message.ok())
                .recv(&exchange_in, |message| message.ok())
                .recv(&meeting_in, |message| message.ok())
                .wait();
            if let Some(message) = message {
                list.note(message);
                left -= 1;
            }
            random.pause();
        }
    };
    Flow::new("select()", vec![Box::new(send), Box::new(receive)], arrivals)
}

fn several_in_a_set_of_receivers(messages: u64) -> Flow {
    let (mut pipe, mut pipe_in) = spsc::bounded(2);
    let (mut lane, mut funnel_in) = mpsc::unbounded();
    let arrivals = Arrivals::of(2, messages, 1);
    let mut list = arrivals.list();
    let receive = move || {
        let mut set = ReadySet::new();
        let (first, second) = (set.add(&mut pipe_in).expect("a free id"), set.add(&mut funnel_in).expect("a free id"));
        let mut left = 2 * messages;
        while left > 0 {
            let id = set.wait_timeout(Duration::from_micros(200)).unwrap_or_else(|| set.wait());
            assert!(id == first || id == second);
            // Several of one kind at a time, one of the other.
            for _ in 0..if id == first { 3 } else { 1 } {
                match if id == first { pipe_in.try_recv() } else { funnel_in.try_recv() } {
                    Ok(message) => {
                        list.note(message);
                        left -= 1;
                    }
                    Err(error) if error.is_empty() => break,
                    // It would be named again and again, and a thread of a higher priority would keep the other sender from
                    // its CPU.
                    Err(_) => {
                        let removed = if id == first { set.remove(&mut pipe_in) } else { set.remove(&mut funnel_in) };
                        assert_eq!(removed, Some(id));
                        break;
                    }
                }
            }
        }
    };
    let bodies: Vec<Body> = vec![
        Box::new(move || send_all!(pipe, 0, messages)),
        Box::new(move || send_all!(lane, 1, messages)),
        Box::new(receive),
    ];
    Flow::new("ReadySet", bodies, arrivals)
}

/// The hub has a timer as well, and functions that are posted.
fn several_in_a_hub(messages: u64) -> Flow {
    let (mut pipe, pipe_in) = spsc::bounded(2);
    let (exchange, exchange_in) = mpmc::bounded(2);
    let (gives, given) = std::sync::mpsc::channel();
    let arrivals = Arrivals::of(3, messages, 1);
    let (mut one, mut two, posted) = (arrivals.list(), arrivals.list(), arrivals.clone());
    let serve = move || {
        let mut hub = Hub::new().expect("descriptors");
        hub.receive(pipe_in, move |_, message| message.into_iter().for_each(|message| one.note(message)))
            .expect("a place");
        hub.receive(exchange_in, move |_, message| message.into_iter().for_each(|message| two.note(message)))
            .expect("a place");
        let timer = hub.every(Duration::from_micros(700), |_| {});
        gives.send(hub.handle()).expect("a thread that posts");
        drop(gives);
        while !posted.are_all() {
            hub.run_once(None).expect("a poller");
        }
        assert!(hub.cancel(timer));
        hub.run().expect("a poller");
    };
    let post = {
        let arrivals = arrivals.clone();
        move || {
            let handle = given.recv().expect("a hub");
            let list = Arc::new(std::sync::Mutex::new(arrivals.list()));
            let mut random = Random::new(5);
            for number in 0..messages {
                let list = list.clone();
                let note = move |_: &mut Hub| list.lock().expect("no panic").note(2 << 32 | number);
                assert!(handle.post(note).is_ok());
                random.pause();
            }
        }
    };
    let bodies: Vec<Body> = vec![
        Box::new(move || send_all!(pipe, 0, messages)),
        Box::new(move || send_all!(exchange, 1, messages)),
        Box::new(post),
        Box::new(serve),
    ];
    Flow::new("hub", bodies, arrivals)
}

/// More threads take blocks than there are blocks: they wait, and steal from each other's magazines.
fn blocks_of_a_pool(messages: u64) -> Flow {
    let pool = Pool::new(&[(16, 3)]).expect("memory");
    let (sender, receiver) = mpmc::unbounded::<Message>();
    let arrivals = Arrivals::of(2, messages, 1);
    let mut bodies: Vec<Body> = Vec::new();
    for who in 0..2 {
        let (pool, sender) = (pool.clone(), sender.clone());
        bodies.push(Box::new(move || {
            let mut random = Random::new(who);
            for number in 0..messages {
                let mut block = match random.below(2) {
                    0 => pool.take(8),
                    _ => loop {
                        if let Some(block) = pool.take_timeout(8, Duration::from_micros(50)) {
                            break block;
                        }
                    },
                };
                block[..8].copy_from_slice(&(who << 32 | number).to_ne_bytes());
                sender.send(block).expect("a receiver");
                random.pause();
            }
        }));
        let (receiver, mut list) = (receiver.clone(), arrivals.list());
        bodies.push(Box::new(move || {
            while let Ok(block) = receiver.recv() {
                list.note(u64::from_ne_bytes(block[..8].try_into().expect("eight bytes")));
            }
        }));
    }
    Flow::new("pool", bodies, arrivals)
}
