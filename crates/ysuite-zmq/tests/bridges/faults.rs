//! Connections that are reset, stall and are refused, and sides that disappear without a word.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ysuite::spsc;
use ysuite_zmq::{Bridge, Closed, Event};

use crate::support::proxy::Proxy;
use crate::support::{GUARD, address, expect, expect_end, expect_flushed, send, until, wait_for};

/// Resets all connections again and again until it is dropped.
struct Resetting {
    over: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<usize>>,
}

impl Resetting {
    fn of(proxy: Arc<Proxy>, pause: Duration) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let seen = over.clone();
        let thread = thread::spawn(move || {
            let mut resets = 0;
            while !seen.load(Ordering::Relaxed) {
                thread::sleep(pause);
                resets += proxy.reset();
            }
            resets
        });
        Self { over, thread: Some(thread) }
    }

    /// How many connections it has ended.
    fn stop(mut self) -> usize {
        self.over.store(true, Ordering::Relaxed);
        self.thread.take().map_or(0, |thread| thread.join().unwrap())
    }
}

/// Claim: A duplex bridge that keeps its messages loses and duplicates nothing when connections break.
/// Also: zmq stress::machines::a_cable_that_is_pulled_costs_time_and_nothing_else.
#[test]
fn a_duplex_that_keeps_loses_and_doubles_nothing_when_connections_are_reset() {
    // Nothing may be in transit when a connection ends: then the test repeats it.
    let repeated = (0..10).map(|_| messages_sent_again_where_connections_are_reset()).find(|&repeated| repeated > 0);
    assert!(repeated.is_some(), "what was under way was sent again");
}

fn messages_sent_again_where_connections_are_reset() -> u64 {
    const MESSAGES: u64 = 300_000;
    let (answers, back) = spsc::bounded::<u64>(256);
    let server = Bridge::duplex::<_, u64>(back).bind("tcp://127.0.0.1:*").bounded(1_000).pack(16).at_least_once();
    let (server, mut received) = server.start().unwrap();
    let proxy = Arc::new(Proxy::to(&address(&server)));
    let (questions, out) = spsc::bounded::<u64>(256);
    let client = Bridge::duplex::<_, u64>(out).connect(proxy.address()).bounded(1_000).pack(16).at_least_once();
    let (client, mut answered) = client.start().unwrap();
    // The proxy stays: an end marker after the last message still gets a connection.
    let resetting = Resetting::of(proxy.clone(), Duration::from_millis(150));
    let sending = [send(questions, 0..MESSAGES), send(answers, 0..MESSAGES)];
    let answering = thread::spawn(move || {
        // Slowly enough that many connections end meanwhile.
        (0..MESSAGES).for_each(|number| {
            if number % 200 == 0 {
                thread::sleep(Duration::from_millis(1));
            }
            assert_eq!(received.recv_timeout(GUARD), Ok(number));
        });
        received
    });
    expect(&mut answered, 0..MESSAGES);
    let mut received = answering.join().unwrap();
    assert!(resetting.stop() > 3);
    sending.into_iter().for_each(|sender| sender.join().unwrap());
    expect_end(&mut received);
    expect_end(&mut answered);
    let (here, there) = (client.statistics(), server.statistics());
    assert_eq!((here.messages_in, there.messages_in), (MESSAGES, MESSAGES));
    let repeated = here.repeated + there.repeated;
    expect_flushed(client);
    expect_flushed(server);
    repeated
}

/// Without keeping anything, the side that misses messages counts them, and nothing comes twice or out of order.
#[test]
fn a_duplex_that_keeps_nothing_says_what_is_lost() {
    const MESSAGES: u64 = 100_000;
    let (_back, nothing) = spsc::bounded::<u64>(1);
    let (server, mut received) =
        Bridge::duplex::<_, u64>(nothing).bind("tcp://127.0.0.1:*").bounded(1_000).pack(16).start().unwrap();
    let proxy = Arc::new(Proxy::to(&address(&server)));
    let (mut jobs, out) = spsc::bounded::<u64>(256);
    let (client, _) = Bridge::duplex::<_, u64>(out).connect(proxy.address()).pack(16).start().unwrap();
    let resetting = Resetting::of(proxy.clone(), Duration::from_millis(150));
    let sender = thread::spawn(move || {
        for number in 0..MESSAGES {
            if number % 200 == 0 {
                thread::sleep(Duration::from_millis(1));
            }
            jobs.send(number).unwrap();
        }
    });
    let (mut next, mut missing) = (0, 0);
    while let Ok(number) = received.recv_timeout(GUARD) {
        assert!(number >= next, "{number} came after {next}");
        missing += number - next;
        next = number + 1;
    }
    missing += MESSAGES - next;
    sender.join().unwrap();
    assert!(resetting.stop() > 3);
    let lost = |event: &Event| if let Event::Lost { messages } = event { *messages } else { 0 };
    assert_eq!(server.events().try_iter().map(|event| lost(&event)).sum::<u64>(), missing);
    let closed = client.close(GUARD);
    assert_eq!(closed == ysuite_zmq::Closed::Flushed, missing == 0, "{missing} are missing: {closed:?}");
}

/// Push and pull promise at most once across a connection that ends: fewer may come, none twice, and the bridges go on.
///
/// Claim: Push and pull bridges lose only messages in transit.
#[test]
fn push_and_pull_lose_only_what_was_under_way() {
    let (pull, mut work) = Bridge::pull::<u64>().bind("tcp://127.0.0.1:*").bounded(100).start().unwrap();
    let proxy = Proxy::to(&address(&pull));
    let (mut jobs, out) = spsc::bounded::<u64>(100);
    let push = Bridge::push(out).connect(proxy.address()).start().unwrap();
    let mut came = HashSet::new();
    for round in 1..=5 {
        (0..1_000).for_each(|number| jobs.send(round * 1_000 + number).unwrap());
        proxy.reset();
        // What the old connection had delivered may come beside what the new one delivers, and nothing comes twice.
        let last = round * 1_000 + 1_000;
        until("a message of after the reset has come", || {
            let _ = jobs.try_send(last);
            while let Ok(number) = work.try_recv() {
                assert!(came.insert(number) || number % 1_000 == 0, "{number} came twice");
            }
            came.contains(&last)
        });
    }
    assert!(push.statistics().messages_out >= 5_000);
}

#[test]
fn a_stalled_connection_goes_on() {
    let (_back, nothing) = spsc::bounded::<u64>(1);
    let server = Bridge::duplex::<_, u64>(nothing).bind("tcp://127.0.0.1:*").bounded(100_000).at_least_once();
    let (server, mut received) = server.start().unwrap();
    let proxy = Proxy::to(&address(&server));
    let (jobs, out) = spsc::bounded::<u64>(64);
    let (client, _) = Bridge::duplex::<_, u64>(out).connect(proxy.address()).at_least_once().start().unwrap();
    let sender = send(jobs, 0..50_000);
    expect(&mut received, 0..100);
    // Longer than the time limit for an answer: hellos pile up, and one of them is answered.
    proxy.stand(true);
    thread::sleep(Duration::from_millis(2_500));
    proxy.stand(false);
    expect(&mut received, 100..50_000);
    sender.join().unwrap();
    expect_flushed(client);
}

#[test]
fn a_late_or_returning_peer_is_waited_for() {
    let (pull, _) = Bridge::pull::<u64>().bind("tcp://127.0.0.1:*").start().unwrap();
    let nobody = address(&pull);
    expect_flushed(pull);
    let (jobs, out) = spsc::bounded::<u64>(64);
    let push = Bridge::push(out).connect(nobody.clone()).start().unwrap();
    let sender = send(jobs, 0..64);
    wait_for(&push.events(), |event| matches!(event, Event::Retrying(_)));
    let (_pull, mut work) = Bridge::pull::<u64>().bind(nobody).start().unwrap();
    expect(&mut work, 0..64);
    sender.join().unwrap();
}

/// The replacement of a side that disappeared without a word is sent what that one had not acknowledged.
#[test]
fn another_takes_the_place_of_one_that_is_gone() {
    let (mut jobs, out) = spsc::bounded::<u64>(1_000);
    let (client, _) = Bridge::duplex::<_, u64>(out).bind("tcp://127.0.0.1:*").at_least_once().start().unwrap();
    let begin = |bound| {
        let (back, nothing) = spsc::bounded::<u64>(1);
        let proxy = Proxy::to(&address(&client));
        let server = Bridge::duplex::<_, u64>(nothing).connect(proxy.address()).bounded(bound).at_least_once();
        let (server, received) = server.start().unwrap();
        (server, received, proxy, back)
    };
    let (first, mut received, proxy, _back) = begin(10);
    (0..100).for_each(|number| jobs.send(number).unwrap());
    expect(&mut received, 0..10);
    // Gone for the client, with what it had and did not say that it had.
    proxy.refuse(true);
    proxy.reset();
    let (_second, mut received, _proxy, _back) = begin(1_000);
    wait_for(&client.events(), |event| *event == Event::Replaced);
    // The first may have had no time to say what it had received.
    let next = received.recv_timeout(GUARD).unwrap();
    assert!(next <= 30, "{next}");
    expect(&mut received, next + 1..100);
    drop(jobs);
    expect_end(&mut received);
    expect_flushed(client);
    drop(first);
}

/// What another bridge has received while one was away was not lost in transit to that one, and is not reported as
/// missing.
#[test]
fn one_that_comes_back_has_lost_nothing() {
    let (mut jobs, out) = spsc::bounded::<u64>(100);
    let client = Bridge::duplex::<_, u64>(out).bind("tcp://127.0.0.1:*").at_least_once();
    let (client, mut answered) = client.start().unwrap();
    let begin = || {
        let (back, nothing) = spsc::bounded::<u64>(1);
        let proxy = Proxy::to(&address(&client));
        let server = Bridge::duplex::<_, u64>(nothing).connect(proxy.address()).bounded(100).at_least_once();
        let (server, received) = server.start().unwrap();
        (server, received, proxy, back)
    };
    let leave = |proxy: &Proxy| {
        proxy.refuse(true);
        proxy.reset();
    };
    let events = client.events();
    let (first, mut received, proxy, mut back) = begin();
    (0..10).for_each(|number| jobs.send(number).unwrap());
    expect(&mut received, 0..10);
    // Its report on its own stream comes after its report on those ten.
    back.send(1).unwrap();
    expect(&mut answered, 1..2);
    leave(&proxy);
    let (_second, mut others, elsewhere, mut back_too) = begin();
    wait_for(&events, |event| *event == Event::Replaced);
    (10..15).for_each(|number| jobs.send(number).unwrap());
    expect(&mut others, 10..15);
    back_too.send(2).unwrap();
    expect(&mut answered, 2..3);
    leave(&elsewhere);
    proxy.refuse(false);
    wait_for(&events, |event| *event == Event::Replaced);
    (15..20).for_each(|number| jobs.send(number).unwrap());
    expect(&mut received, 15..20);
    drop(jobs);
    expect_end(&mut received);
    expect_flushed(client);
    assert!(!first.events().try_iter().any(|event| matches!(event, Event::Lost { .. })));
}

/// A side that has received everything, and closes while there is no connection, still sends what the other side waits
/// for, if there is a connection soon.
#[test]
fn the_last_word_is_said_over_the_next_connection() {
    for binds in [false, true] {
        let heard = (0..10).map(|_| closed_without_a_connection(binds)).find(|closed| *closed == Closed::Flushed);
        assert!(heard.is_some(), "what was received was said; whether by the one that binds: {binds}");
    }
}

/// How the other side has closed, of one that binds or connects.
fn closed_without_a_connection(binds: bool) -> Closed {
    let (mut answers, back) = spsc::bounded::<u64>(4);
    let (jobs, out) = spsc::bounded::<u64>(4);
    let (of_bound, of_connected) = if binds { (out, back) } else { (back, out) };
    let bound = Bridge::duplex::<_, u64>(of_bound).bind("tcp://127.0.0.1:*").start().unwrap();
    let proxy = Proxy::to(&address(&bound.0));
    let connected = Bridge::duplex::<_, u64>(of_connected).connect(proxy.address()).start().unwrap();
    let (one, other) = if binds { (bound, connected) } else { (connected, bound) };
    let ((client, mut answered), (server, mut received)) = (one, other);
    let mute = |mutes| if binds { proxy.mute_target(mutes) } else { proxy.mute(mutes) };
    drop(jobs);
    expect_end(&mut received);
    // With it comes that the other side has everything.
    answers.send(0).unwrap();
    expect(&mut answered, 0..1);
    // From here on the other side hears nothing.
    mute(true);
    answers.send(1).unwrap();
    drop(answers);
    expect(&mut answered, 1..2);
    expect_end(&mut answered);
    // It has said so by then, most likely.
    thread::sleep(Duration::from_millis(50));
    let events = client.events();
    proxy.reset();
    mute(false);
    wait_for(&events, |event| matches!(event, Event::Disconnected(_)));
    expect_flushed(client);
    server.close(Duration::from_secs(1))
}
