//! Work that is shared: two that push, two that pull, each with each, over networks that fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use ysuite::spsc;
use ysuite_zmq::{Bridge, Started};

use crate::support::proxy::Proxy;
use crate::support::{GUARD, address, expect_all_left, expect_flushed, until};
use crate::weather::{Kind, Weather, rest};
use crate::{messages, say};

const PUSHERS: u64 = 2;

/// A message: its sender, and its number there.
fn message(pusher: u64, number: u64) -> u64 {
    pusher << 48 | number
}

fn parts(message: u64) -> (usize, u64) {
    ((message >> 48) as usize, message & ((1 << 48) - 1))
}

/// Which messages have come, to whomever.
struct Seen(Vec<AtomicBool>);

impl Seen {
    fn of(numbers: u64) -> Self {
        Self((0..PUSHERS * numbers).map(|_| AtomicBool::new(false)).collect())
    }

    fn mark(&self, pusher: usize, number: u64) {
        let place = &self.0[pusher + number as usize * PUSHERS as usize];
        assert!(!place.swap(true, Ordering::Relaxed), "{number} of {pusher} came twice");
    }
}

/// Of the storm.
struct Round {
    /// Numbers from this one on are sent when it is over.
    calm: u64,
    seen: Seen,
    /// Pushers that are through with the storm.
    through: AtomicU64,
    /// How often a puller has heard the first time of a pusher that it is.
    heard: AtomicU64,
    /// No more need be sent.
    over: AtomicBool,
    /// Pushers whose bridges have closed.
    closed: AtomicU64,
}

/// Notifies when it is dropped, and so also when a wait fails: the scope waits for the senders until then.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Receives until nothing more comes. How many messages of the storm have come.
fn pull(mut receiver: spsc::Receiver<u64>, round: &Round, seed: u64) -> u64 {
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut heard, mut count) = ([false; PUSHERS as usize], 0);
    loop {
        rest(&mut random);
        let all_have_closed = round.closed.load(Ordering::Relaxed) == PUSHERS;
        let message = match receiver.recv_timeout(Duration::from_millis(500)) {
            Ok(message) => message,
            Err(_) if all_have_closed => break,
            Err(_) => continue,
        };
        let (pusher, number) = parts(message);
        if number < round.calm {
            round.seen.mark(pusher, number);
            count += 1;
        } else if !std::mem::replace(&mut heard[pusher], true) {
            round.heard.fetch_add(1, Ordering::Relaxed);
        }
    }
    count
}

fn push(push: Started, mut jobs: spsc::Sender<u64>, pusher: u64, round: &Round) {
    (0..round.calm).for_each(|number| jobs.send(message(pusher, number)).expect("the bridge"));
    round.through.fetch_add(1, Ordering::Relaxed);
    // Until each puller has received from each pusher, however the messages are shared out.
    while !round.over.load(Ordering::Relaxed) {
        let _ = jobs.send_timeout(message(pusher, round.calm), Duration::from_millis(10));
        thread::sleep(Duration::from_millis(1));
    }
    drop(jobs);
    let closed = push.close(GUARD);
    round.closed.fetch_add(1, Ordering::Relaxed);
    // What the storm took with it cannot be counted.
    expect_all_left(closed);
}

struct Shop {
    pullers: Vec<Started>,
    receivers: Vec<spsc::Receiver<u64>>,
    proxies: Vec<Arc<Proxy>>,
    pushers: Vec<(Started, spsc::Sender<u64>)>,
}

/// Each that pushes connects to each that pulls, by one proxy for each of those.
fn open(pack: usize) -> Shop {
    let begin = || Bridge::pull::<u64>().bind("tcp://127.0.0.1:*").bounded(2_000).start().expect("a bridge");
    let (pullers, receivers): (Vec<_>, Vec<_>) = (0..PUSHERS).map(|_| begin()).unzip();
    let proxies: Vec<_> = pullers.iter().map(|pull| Arc::new(Proxy::to(&address(pull)))).collect();
    let pushers = (0..PUSHERS).map(|_| {
        let (jobs, out) = spsc::bounded::<u64>(2_000);
        let mut push = Bridge::push(out).pack(pack);
        for proxy in &proxies {
            push = push.connect(proxy.address());
        }
        (push.start().expect("a bridge"), jobs)
    });
    let pushers = pushers.collect();
    Shop { pullers, receivers, proxies, pushers }
}

/// While connections stay whole nothing is lost, however slow they are and whichever reader is used.
#[test]
fn push_and_pull_lose_nothing_in_fog() {
    let (numbers, seed) = (messages(300_000, 50_000_000), fastrand::u64(..));
    say(format_args!("work: {numbers} of each of {PUSHERS}, seed {seed}"));
    let Shop { pullers, receivers, proxies, pushers } = open(128);
    let weather = Weather::of(proxies.clone(), Kind::Fog, seed);
    let (counts, counted) = spsc::unbounded::<u64>();
    let counting = thread::spawn(move || count(receivers, counts, seed));
    let pushing: Vec<_> = pushers
        .into_iter()
        .enumerate()
        .map(|(pusher, (push, mut jobs))| {
            thread::spawn(move || {
                (0..numbers).for_each(|number| jobs.send(message(pusher as u64, number)).expect("the bridge"));
                push
            })
        })
        .collect();
    let total = wait_for_all(counted, PUSHERS * numbers);
    let damage = weather.stop();
    say(format_args!("  {damage:?}: {total} of {} came", PUSHERS * numbers));
    pushing.into_iter().for_each(|pushing| expect_flushed(pushing.join().expect("all was sent")));
    pullers.into_iter().for_each(expect_flushed);
    counting.join().expect("in order");
}

/// Counts what comes to all receivers, each of whose streams is in order.
fn count(receivers: Vec<spsc::Receiver<u64>>, counts: spsc::Sender<u64>, seed: u64) {
    let counts = std::sync::Mutex::new(counts);
    thread::scope(|scope| {
        for (at, mut receiver) in receivers.into_iter().enumerate() {
            let counts = &counts;
            scope.spawn(move || {
                let mut random = fastrand::Rng::with_seed(seed + at as u64);
                let (mut next, mut batch) = ([0; PUSHERS as usize], Vec::new());
                while receiver.recv_batch(&mut batch, 1_024).is_ok() {
                    let came = batch.len() as u64;
                    for (pusher, number) in batch.drain(..).map(parts) {
                        rest(&mut random);
                        assert!(number >= next[pusher], "{number} of {pusher} after {}", next[pusher]);
                        next[pusher] = number + 1;
                    }
                    if counts.lock().expect("no panic").send(came).is_err() {
                        return;
                    }
                }
            });
        }
    });
}

/// Until this many have come. No more may come than that.
fn wait_for_all(mut counted: spsc::Receiver<u64>, wanted: u64) -> u64 {
    let mut total = 0;
    while total < wanted {
        total += counted.recv_timeout(GUARD).unwrap_or_else(|error| panic!("{total} of {wanted} came: {error}"));
    }
    assert_eq!(total, wanted, "a message came twice");
    total
}

/// Across a connection that ends a message comes at most once; what was in transit is lost, and nothing hangs. Order is
/// that of a connection: what has come by the old one is read in turn with what comes by the new one.
#[test]
fn push_and_pull_lose_only_what_was_under_way_in_a_storm() {
    let (calm, seed) = (messages(600_000, 20_000_000), fastrand::u64(..));
    say(format_args!("work in a storm: {calm} of each of {PUSHERS}, seed {seed}"));
    let Shop { pullers, receivers, proxies, pushers } = open(128);
    let weather = Weather::of(proxies.clone(), Kind::Storm, seed);
    let [through, heard, closed] = [(); 3].map(|()| AtomicU64::new(0));
    let round = Round { calm, seen: Seen::of(calm), through, heard, over: AtomicBool::new(false), closed };
    let came = thread::scope(|scope| {
        let round = &round;
        let read = receivers.into_iter().map(|receiver| scope.spawn(move || pull(receiver, round, seed)));
        let read: Vec<_> = read.collect();
        for (pusher, (bridge, jobs)) in pushers.into_iter().enumerate() {
            scope.spawn(move || push(bridge, jobs, pusher as u64, round));
        }
        let over = Over(&round.over);
        until("all has been sent", || round.through.load(Ordering::Relaxed) == PUSHERS);
        // All may have been sent before the first fault; what is sent until each has received from each goes through it
        // as well.
        until("a connection has been ended", || weather.damage().resets > 0);
        let damage = weather.stop();
        until("each has received from each", || round.heard.load(Ordering::Relaxed) == PUSHERS * PUSHERS);
        drop(over);
        say(format_args!("  {damage:?}"));
        read.into_iter().map(|reader| reader.join().expect("nothing twice")).sum::<u64>()
    });
    say(format_args!("  {came} of {} came", PUSHERS * calm));
    assert!(came > 0);
    pullers.into_iter().for_each(expect_flushed);
}
