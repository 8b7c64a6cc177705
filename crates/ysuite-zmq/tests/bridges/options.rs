//! Options of sockets, channels that keep the newest, and messages of several parts.

use std::collections::HashSet;
use std::thread;
use std::time::{Duration, Instant};

use ysuite::spsc;
use ysuite_zmq::{Bridge, Context, Event, Frame, Malformed};

use crate::support::proxy::Proxy;
use crate::support::zmtp::Peer;
use crate::support::{EVERYWHERE, GUARD, address, expect, expect_flushed, runs_alone, until, wait_for};

/// Nobody listens. At the default times this many tries would take minutes.
#[test]
fn one_connects_again_as_soon_as_it_is_told() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let short = Duration::from_millis(1);
    let (_jobs, out) = spsc::bounded::<u64>(1);
    let push = Bridge::push(out).connect(format!("tcp://{nobody}")).reconnect_after(short, short).start().unwrap();
    let (events, begun) = (push.events(), Instant::now());
    for _ in 0..100 {
        assert!(begun.elapsed() < GUARD, "it waits for longer");
        wait_for(&events, |event| matches!(event, Event::Retrying(_)));
    }
}

/// Times of any length are taken, and what comes to them is still carried.
#[test]
fn every_time_is_one_that_libzmq_knows() {
    for time in [Duration::ZERO, Duration::from_secs(7), Duration::MAX] {
        let pull = Bridge::pull::<u64>().bind("tcp://127.0.0.1:*").keep_alive(time).reconnect_after(time, time);
        let (pull, mut work) = pull.start().unwrap();
        let (mut jobs, out) = spsc::bounded::<u64>(1);
        let push = Bridge::push(out).connect(address(&pull)).keep_alive(time).reconnect_after(time, Duration::ZERO);
        let push = push.start().unwrap();
        jobs.send(7).unwrap();
        expect(&mut work, 7..8);
        expect_flushed(push);
    }
}

/// A receiver that reads nothing for long holds up nobody, and finds the newest then.
///
/// Claim: A conflated channel has the newest messages, and its bridge does not wait for its receiver.
#[test]
fn a_conflated_channel_has_the_newest() {
    const ALL: u64 = 5_000;
    for (bound, pack) in [(1, 1), (10, 1), (10, 100)] {
        let pull = Bridge::pull::<u64>().bind("tcp://127.0.0.1:*").bounded(bound);
        let (pull, newest) = pull.start_conflated().unwrap();
        let (mut jobs, out) = spsc::bounded::<u64>(64);
        let push = Bridge::push(out).connect(address(&pull)).pack(pack).start().unwrap();
        (0..ALL).for_each(|number| jobs.send(number).unwrap());
        let kept = ALL - bound as u64;
        until("the others were replaced", || pull.statistics().dropped == kept);
        assert_eq!(pull.statistics().messages_in, ALL);
        assert_eq!(newest.try_iter().collect::<Vec<_>>(), (kept..ALL).collect::<Vec<_>>());
        // One that waits is woken.
        jobs.send(ALL).unwrap();
        assert_eq!(newest.recv_timeout(GUARD), Ok(ALL));
        expect_flushed(push);
        expect_flushed(pull);
        assert!(newest.recv().is_err());
    }
}

#[test]
fn a_conflated_subscriber_has_the_newest() {
    const ALL: u64 = 1_000;
    let (mut news, out) = spsc::bounded::<u64>(64);
    let mut publish = Bridge::publish(out).topic("t").bind("tcp://127.0.0.1:*").start().unwrap();
    let subscribe = Bridge::subscribe::<u64>().topic("t").connect(address(&publish)).bounded(1);
    let (subscribe, newest) = subscribe.start_conflated().unwrap();
    assert!(publish.wait_for_subscribers(1, GUARD));
    (0..ALL).for_each(|number| news.send(number).unwrap());
    until("the others were replaced", || subscribe.statistics().messages_in == ALL);
    until("the newest is there", || newest.try_recv() == Ok(ALL - 1));
    // Without a receiver nothing is taken any more, and the bridge ends as any other.
    drop(newest);
    news.send(ALL).unwrap();
    expect_flushed(subscribe);
}

fn list(number: u64) -> Vec<Vec<u8>> {
    (0..number % 5).map(|at| vec![at as u8; (number * at) as usize % 6_000]).collect()
}

/// As the other side has it: a message of ØMQ without a part is none.
fn received(number: u64) -> Vec<Vec<u8>> {
    if number.is_multiple_of(5) { vec![Vec::new()] } else { list(number) }
}

/// Lists of any length, with parts of any length, over every transport and kind of bridge.
///
/// Claim: A list of parts is one message of ØMQ.
#[test]
fn lists_of_parts_come_whole() {
    const ALL: u64 = 500;
    for where_to in EVERYWHERE {
        let context = Context::new(1).unwrap();
        let (mut jobs, out) = spsc::bounded::<Vec<Vec<u8>>>(64);
        let (pull, mut work) = Bridge::pull::<Vec<Frame>>().context(&context).bind(where_to).start().unwrap();
        let push = Bridge::push(out).context(&context).connect(address(&pull)).start().unwrap();
        // The same frames once more, to subscribers, and over a duplex.
        let (mut news, out) = spsc::bounded::<Vec<Frame>>(64);
        let publish = Bridge::publish(out).context(&context).topic("t").bind(where_to.replace("there", "news"));
        let mut publish = publish.start().unwrap();
        let subscribe = Bridge::subscribe::<Vec<Frame>>().context(&context).connect(address(&publish));
        let (_subscribe, mut heard) = subscribe.start().unwrap();
        assert!(publish.wait_for_subscribers(1, GUARD));
        let (mut told, out) = spsc::bounded::<Vec<Frame>>(64);
        let (_back, nothing) = spsc::bounded::<u64>(1);
        let there =
            Bridge::duplex::<_, Vec<Vec<u8>>>(nothing).context(&context).bind(where_to.replace("there", "both"));
        let (there, mut last) = there.start().unwrap();
        let here = Bridge::duplex::<_, u64>(out).context(&context).connect(address(&there));
        let (here, _nothing) = here.start().unwrap();
        for number in 0..ALL {
            jobs.send(list(number)).unwrap();
            news.send(work.recv_timeout(GUARD).unwrap()).unwrap();
            told.send(heard.recv_timeout(GUARD).unwrap()).unwrap();
            assert_eq!(last.recv_timeout(GUARD), Ok(received(number)), "{number} over {where_to}");
        }
        until("all of it is counted", || push.statistics().messages_out == ALL);
        assert_eq!(push.statistics().frames_out, ALL);
        assert_eq!(push.statistics().bytes_out, pull.statistics().bytes_in);
        drop(told);
        expect_flushed(here);
    }
}

/// One byte a part, without end: what would come to more than is allowed is refused, and the bridge lives on.
#[test]
fn a_list_of_too_many_parts_is_refused() {
    let pull = Bridge::pull::<Vec<Vec<u8>>>().bind("tcp://127.0.0.1:*").memory_of_a_frame(10_000);
    let (pull, mut work) = pull.start().unwrap();
    let mut peer = Peer::connect(&address(&pull), "PUSH");
    const MORE: u8 = 1;
    for parts in [2, 1_000, 1, 3] {
        (1..parts).for_each(|_| peer.write(MORE, b"x"));
        peer.write(0, b"y");
    }
    let whole = |parts: usize| [vec![b"x".to_vec(); parts - 1], vec![b"y".to_vec()]].concat();
    for parts in [2, 1, 3] {
        assert_eq!(work.recv_timeout(GUARD), Ok(whole(parts)));
    }
    wait_for(&pull.events(), |event| *event == Event::Malformed(Malformed::Memory));
    assert_eq!(pull.statistics().malformed, 1);
}

/// A peer that sends lists where one frame is expected, and goes in the middle of one.
#[test]
fn half_a_list_is_none() {
    let (pull, mut work) = Bridge::pull::<Vec<Vec<u8>>>().bind("tcp://127.0.0.1:*").start().unwrap();
    for _ in 0..20 {
        let mut peer = Peer::connect(&address(&pull), "PUSH");
        peer.write(1, b"first");
        drop(peer);
    }
    let mut peer = Peer::connect(&address(&pull), "PUSH");
    peer.write(1, b"a");
    peer.write(0, b"b");
    assert_eq!(work.recv_timeout(GUARD), Ok(vec![b"a".to_vec(), b"b".to_vec()]));
    assert_eq!(pull.statistics().malformed, 0);
}

/// In a process of its own: libzmq has ended processes that were in the middle of a message when its connection ended.
/// What comes is whole, whichever side connects.
#[test]
fn lists_are_whole_across_connections_that_end() {
    if runs_alone("options::lists_are_whole_across_connections_that_end") {
        return;
    }
    const RESETS: usize = 30;
    let list = |number: u64| vec![number.to_le_bytes().to_vec(), vec![7; 3_000], number.to_le_bytes().to_vec()];
    for push_connects in [true, false] {
        let (mut jobs, out) = spsc::bounded::<Vec<Vec<u8>>>(64);
        let (pull, push) = (Bridge::pull::<Vec<Vec<u8>>>(), Bridge::push(out));
        let short = Duration::from_millis(1);
        let (pull, push) = (pull.reconnect_after(short, short), push.reconnect_after(short, short));
        let (proxy, mut work, _push, _pull);
        if push_connects {
            let (pull, received) = pull.bind("tcp://127.0.0.1:*").start().unwrap();
            proxy = Proxy::to(&address(&pull));
            (work, _push, _pull) = (received, push.connect(proxy.address()).start().unwrap(), pull);
        } else {
            let push = push.bind("tcp://127.0.0.1:*").start().unwrap();
            proxy = Proxy::to(&address(&push));
            let (pull, received) = pull.connect(proxy.address()).start().unwrap();
            (work, _push, _pull) = (received, push, pull);
        }
        let sender = thread::spawn(move || {
            let mut number = 0;
            while jobs.send(list(number)).is_ok() {
                number += 1;
            }
        });
        let mut all = HashSet::new();
        for reset in 0..RESETS * 200 {
            let received = work.recv_timeout(GUARD).unwrap();
            let number = u64::from_le_bytes(*received[0].first_chunk().unwrap());
            assert!(received == list(number) && all.insert(number), "{number}");
            if reset % 200 == 0 {
                proxy.reset();
            }
        }
        drop(_push);
        drop(work);
        sender.join().unwrap();
    }
}
