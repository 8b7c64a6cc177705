//! What libzmq is known to do to its users, each made harmless.

use std::thread;
use std::time::Duration;

use ysuite::spsc;
use ysuite_zmq::{Bridge, Closed, Context};

use crate::support::{GUARD, address, expect, expect_flushed};

/// The descriptor of a socket is edge-triggered: a thread that sleeps on it without having checked the state last
/// misses what is there (libzmq#3641). One message at a time, with a gap before each that is long enough for both
/// bridges to sleep.
///
/// Claim: A bridge does not sleep through an edge of the libzmq descriptor.
#[test]
fn no_edge_is_slept_through() {
    let (pull, mut work) = Bridge::pull::<u64>().bind("tcp://127.0.0.1:*").bounded(4).start().unwrap();
    let (mut jobs, out) = spsc::bounded::<u64>(4);
    let push = Bridge::push(out).connect(address(&pull)).start().unwrap();
    for number in 0..3_000 {
        jobs.send(number).unwrap();
        assert_eq!(work.recv_timeout(GUARD), Ok(number));
        thread::sleep(Duration::from_micros(40 + number % 60));
    }
    expect_flushed(push);
}

/// As above, for room: the receiver takes one message at a time, so that both sides sleep full.
///
/// Claim: A bridge does not sleep through new room.
#[test]
fn no_room_is_slept_through() {
    let context = Context::new(1).unwrap();
    let pull = Bridge::pull::<u64>().context(&context).bind("inproc://room").bounded(1).high_water_marks(1, 1);
    let (_pull, mut work) = pull.start().unwrap();
    let (mut jobs, out) = spsc::bounded::<u64>(1);
    let push = Bridge::push(out).context(&context).connect("inproc://room").high_water_marks(1, 1);
    let push = push.start().unwrap();
    let sender = thread::spawn(move || (0..3_000).for_each(|number| jobs.send(number).unwrap()));
    for number in 0..3_000 {
        if number % 7 == 0 {
            thread::sleep(Duration::from_micros(40 + number % 60));
        }
        assert_eq!(work.recv_timeout(GUARD), Ok(number));
    }
    sender.join().unwrap();
    expect_flushed(push);
}

#[test]
fn libzmq_is_one_that_this_is_written_for() {
    assert!(ysuite_zmq::libzmq_version() >= (4, 3, 3), "{:?}", ysuite_zmq::libzmq_version());
}

/// The first message of a publisher reaches the subscribers that the publisher has counted, without any sleep (the slow
/// joiner).
#[test]
fn the_first_message_reaches_present_subscribers() {
    for _ in 0..20 {
        let (mut news, out) = spsc::bounded::<u64>(4);
        let mut publish = Bridge::publish(out).bind("tcp://127.0.0.1:*").start().unwrap();
        let (_subscribe, mut received) = Bridge::subscribe::<u64>().connect(address(&publish)).start().unwrap();
        assert!(publish.wait_for_subscribers(1, GUARD));
        news.send(7).unwrap();
        expect(&mut received, 7..8);
    }
}

/// libzmq reports the close of a socket in a thread that all sockets of a context share, and waits there for the reader
/// of the report: a bridge that fails meanwhile, or ends in a panic, must not leave it waiting.
#[test]
fn a_bridge_that_fails_holds_up_no_other() {
    /// A message that cannot be written.
    struct Broken;
    impl ysuite_zmq::Wire for Broken {
        const LAYOUT: ysuite_zmq::Layout = ysuite_zmq::Layout::Whole;
    }
    impl ysuite_zmq::ToWire for Broken {
        fn encode(&self, _: &mut Vec<u8>) {
            panic!("on purpose");
        }
    }
    let context = Context::new(1).unwrap();
    let (taken, _work) = Bridge::pull::<u64>().context(&context).bind("tcp://127.0.0.1:*").start().unwrap();
    for _ in 0..10 {
        let failed = Bridge::pull::<u64>().context(&context).bind(address(&taken)).start();
        assert!(failed.is_err());
        let (mut jobs, out) = spsc::bounded::<Broken>(1);
        let push = Bridge::push(out).context(&context).connect("tcp://127.0.0.1:1").start().unwrap();
        jobs.send(Broken).unwrap();
        while !jobs.is_disconnected() {
            thread::yield_now();
        }
        assert_eq!(push.close(GUARD), Closed::Unsent { messages: 0, more: true });
    }
    expect_flushed(taken);
}

/// As above, where the connections of a bridge come and go by the thousand while it has no time to hear of them.
#[test]
fn connections_without_end_hold_up_no_bridge() {
    let context = Context::new(1).unwrap();
    let (pull, _work) = Bridge::pull::<u64>().context(&context).bind("tcp://127.0.0.1:*").start().unwrap();
    let there = address(&pull);
    for _ in 0..3_000 {
        drop(std::net::TcpStream::connect(there.trim_start_matches("tcp://")).unwrap());
    }
    expect_flushed(pull);
}
