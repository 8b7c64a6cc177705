//! What is wrong is named, and nothing else suffers.

use std::io::Write;
use std::net::{TcpListener, TcpStream};

use ysuite::spsc;
use ysuite_zmq::{Bridge, Context, Error, Event, KeyPair};

use crate::support::{GUARD, address, expect, runs_alone, until, wait_for};

fn pull() -> ysuite_zmq::Pull<u64> {
    Bridge::pull()
}

#[test]
fn wrong_addresses_are_named() {
    for wrong in
        ["", "tcp://", "nowhere", "tcp://127.0.0.1", "tcp://127.0.0.1:x", "carrier-pigeon://x", "tcp://127.0.0.1:1\0"]
    {
        for (bound, error) in [(true, pull().bind(wrong).start()), (false, pull().connect(wrong).start())] {
            match error.map(|_| ()) {
                Err(Error::Address { address, .. }) => assert_eq!(address, wrong),
                other => panic!("{wrong:?} {bound}: {other:?}"),
            }
        }
    }
    // An address of another machine cannot be bound.
    assert!(matches!(pull().bind("tcp://192.0.2.1:5555").start(), Err(Error::Address { .. })));
    assert!(matches!(pull().start(), Err(Error::NoAddress)));
    let said = pull().bind("tcp://127.0.0.1:x").start().map(|_| ()).unwrap_err().to_string();
    assert!(said.starts_with("tcp://127.0.0.1:x is no address that can be used here"), "{said}");
}

#[test]
fn an_address_in_use_is_named() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let used = format!("tcp://{}", other.local_addr().unwrap());
    assert!(matches!(pull().bind(&used).start(), Err(Error::InUse { address }) if address == used));
    let (first, _) = pull().bind("tcp://127.0.0.1:*").start().unwrap();
    let used = address(&first);
    assert!(matches!(pull().bind(&used).start(), Err(Error::InUse { address }) if address == used));
    let context = Context::new(1).unwrap();
    let (_first, _work) = pull().context(&context).bind("inproc://mine").start().unwrap();
    assert!(matches!(pull().context(&context).bind("inproc://mine").start(), Err(Error::InUse { .. })));
}

#[test]
fn numbers_out_of_range_are_named() {
    let push =
        |pack| Bridge::push(spsc::bounded::<u64>(1).1).connect("tcp://127.0.0.1:1").pack(pack).start().map(|_| ());
    assert!(matches!(push(0), Err(Error::Pack(0))));
    assert!(push(1 << 20).is_ok());
    assert!(matches!(push((1 << 20) + 1), Err(Error::Pack(_))));
    assert!(matches!(pull().bind("tcp://127.0.0.1:*").bounded(0).start(), Err(Error::Bound)));
    assert!(std::panic::catch_unwind(|| Context::new(0)).is_err());
    assert!(matches!("short".parse::<ysuite_zmq::PublicKey>(), Err(Error::Key)));
    assert!(matches!(KeyPair::from_secret(&"~".repeat(40)), Err(Error::Key)));
    assert!(matches!("~".repeat(40).parse::<ysuite_zmq::PublicKey>(), Err(Error::Key)));
}

/// What is not ØMQ at all, and bytes without end.
#[test]
fn strangers_are_turned_away() {
    let (bridge, mut work) = pull().bind("tcp://127.0.0.1:*").start().unwrap();
    let there = address(&bridge);
    let mut stranger = TcpStream::connect(there.trim_start_matches("tcp://")).unwrap();
    // They need not be read completely.
    let _ = stranger.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let _ = stranger.write_all(&[0xFF; 4_096]);
    let (mut jobs, out) = spsc::bounded::<u64>(4);
    let _push = Bridge::push(out).connect(there).start().unwrap();
    jobs.send(1).unwrap();
    expect(&mut work, 1..2);
    wait_for(&bridge.events(), |event| matches!(event, Event::HandshakeFailed(_) | Event::Disconnected(_)));
}

#[test]
fn a_frame_that_is_too_large_ends_its_connection_only() {
    let (server, client) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    // What CURVE puts around a frame is not a part of it.
    for is_secure in [false, true] {
        let pull = Bridge::pull::<Vec<u8>>().bind("tcp://127.0.0.1:*").largest_frame(1_000);
        let pull = if is_secure { pull.curve_server(server.clone(), [client.public()]) } else { pull };
        let (pull, mut work) = pull.start().unwrap();
        let push = || {
            let (sender, out) = spsc::bounded::<Vec<u8>>(4);
            let push = Bridge::push(out).connect(address(&pull));
            let push = if is_secure { push.curve(client.clone(), server.public()) } else { push };
            (push.start().unwrap(), sender)
        };
        let (_large, mut large) = push();
        large.send(vec![1; 1_001]).unwrap();
        wait_for(&pull.events(), |event| matches!(event, Event::Disconnected(_)));
        let (_small, mut small) = push();
        small.send(vec![2; 1_000]).unwrap();
        assert_eq!(work.recv_timeout(GUARD), Ok(vec![2; 1_000]));
    }
}

/// Addresses of either kind are spelled as they were bound, the port filled in.
#[test]
fn addresses_are_reported_as_they_are() {
    for where_to in ["tcp://127.0.0.1:", "tcp://[::1]:"] {
        let is_there = TcpListener::bind(format!("{}0", where_to.trim_start_matches("tcp://"))).is_ok();
        let started = pull().bind(format!("{where_to}*")).start();
        assert_eq!(started.is_ok(), is_there, "{where_to}");
        let Ok((bridge, mut work)) = started else { continue };
        assert!(address(&bridge).starts_with(where_to), "{}", address(&bridge));
        assert_eq!(bridge.events().recv_timeout(GUARD), Ok(Event::Listening(address(&bridge))));
        let (mut jobs, out) = spsc::bounded::<u64>(4);
        let _push = Bridge::push(out).connect(address(&bridge)).start().unwrap();
        jobs.send(1).unwrap();
        expect(&mut work, 1..2);
    }
}

/// Any bytes of a stranger in the frames of a duplex.
#[test]
fn garbage_in_a_duplex_is_reported_and_does_no_harm() {
    // A publisher's frames would not do: libzmq lets DEALER talk to DEALER and ROUTER alone. So a duplex of bytes whose
    // messages, as frames, are those of another protocol, cannot be built from here; the Python peer does that. What can be
    // is a duplex with another type: its bodies are malformed, and every other is received.
    let (_back, nothing) = spsc::bounded::<u64>(1);
    let (server, mut received) = Bridge::duplex::<_, u64>(nothing).bind("tcp://127.0.0.1:*").start().unwrap();
    let (mut bytes, out) = spsc::bounded::<Vec<u8>>(8);
    let (client, _) = Bridge::duplex::<_, u64>(out).connect(address(&server)).start().unwrap();
    for number in 0..10u64 {
        bytes.send(vec![1; 3]).unwrap();
        bytes.send(number.to_le_bytes().to_vec()).unwrap();
    }
    expect(&mut received, 0..10);
    assert_eq!(server.statistics().malformed, 10);
    // It was not received, and that is reported.
    assert_eq!(client.close(GUARD), ysuite_zmq::Closed::Unsent { messages: 10, more: false });
}

/// In a process of its own, with few descriptors.
#[test]
fn too_many_bridges_are_an_error() {
    if runs_alone("bad_input::too_many_bridges_are_an_error") {
        return;
    }
    use rustix::process::{Resource, Rlimit, setrlimit};
    let (first, mut work) = pull().bind("tcp://127.0.0.1:*").start().unwrap();
    setrlimit(Resource::Nofile, Rlimit { current: Some(100), maximum: Some(100) }).unwrap();
    let mut bridges = Vec::new();
    let error = loop {
        match Bridge::push(spsc::bounded::<u64>(1).1).connect("tcp://127.0.0.1:1").start() {
            Ok(bridge) => bridges.push(bridge),
            Err(error) => break error,
        }
        assert!(bridges.len() < 100);
    };
    assert!(matches!(error, Error::TooMany(_)), "{error:?}");
    // Those that are there go on, and there is room again when others have gone.
    bridges.drain(..).for_each(|bridge| assert_eq!(bridge.close(GUARD), ysuite_zmq::Closed::Flushed));
    let (mut jobs, out) = spsc::bounded::<u64>(4);
    let _push = Bridge::push(out).connect(address(&first)).start().unwrap();
    jobs.send(1).unwrap();
    expect(&mut work, 1..2);
}

/// In a process of its own, without descriptors. libzmq tries to accept again as fast as it can.
///
/// Claim: An event that repeats without end displaces no important event.
#[test]
fn connections_that_are_not_accepted_are_reported_ever_more_rarely() {
    if runs_alone("bad_input::connections_that_are_not_accepted_are_reported_ever_more_rarely") {
        return;
    }
    use rustix::process::{Resource, Rlimit, setrlimit};
    let (bridge, mut work) = pull().bind("tcp://127.0.0.1:*").start().unwrap();
    let (events, there) = (bridge.events(), address(&bridge));
    setrlimit(Resource::Nofile, Rlimit { current: Some(100), maximum: Some(100) }).unwrap();
    let mut taken: Vec<_> = std::iter::from_fn(|| std::fs::File::open("/dev/null").ok()).collect();
    drop(taken.pop());
    // The system accepts for the listener, which cannot have a descriptor of its own.
    let stranger = TcpStream::connect(there.trim_start_matches("tcp://")).unwrap();
    let mut next = 1;
    while next <= 256 {
        let event = wait_for(&events, |event| !matches!(event, Event::Listening(_)));
        assert!(
            matches!(&event, Event::NotAccepted { address, times } if *address == there && *times == next),
            "{event:?}"
        );
        next *= 2;
    }
    // With descriptors every connection is accepted.
    drop((taken, stranger));
    let (mut jobs, out) = spsc::bounded::<u64>(4);
    let _push = Bridge::push(out).connect(there).start().unwrap();
    jobs.send(1).unwrap();
    expect(&mut work, 1..2);
}

/// A bridge makes no frame of records that one with the same options would refuse.
///
/// Claim: A pack of messages fits into the largest frame.
#[test]
fn packs_are_no_larger_than_the_largest_frame() {
    let full = || {
        let (mut sender, out) = spsc::bounded::<u64>(1_000);
        (0..1_000).for_each(|number| sender.send(number).unwrap());
        (sender, out)
    };
    let (pull, mut work) = pull().bind("tcp://127.0.0.1:*").largest_frame(1_000).start().unwrap();
    let (_jobs, out) = full();
    let push = Bridge::push(out).connect(address(&pull)).pack(1_000).largest_frame(1_000).start().unwrap();
    expect(&mut work, 0..1_000);
    until("all of it is counted", || push.statistics().messages_out == 1_000);
    assert_eq!(push.statistics().frames_out, 8);

    // A header of 56 bytes, and ten.
    let (_back, nothing) = spsc::bounded::<u64>(1);
    let server = Bridge::duplex::<_, u64>(nothing).bind("tcp://127.0.0.1:*").largest_frame(56 + 80);
    let (server, mut work) = server.start().unwrap();
    let (_jobs, out) = full();
    let client = Bridge::duplex::<_, u64>(out).connect(address(&server)).pack(1_000).largest_frame(56 + 80);
    let (_client, _) = client.start().unwrap();
    expect(&mut work, 0..1_000);
    assert_eq!(server.statistics().frames_in, 100);

    // What CURVE puts around a frame is not a part of it.
    let (server, client) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let pull = Bridge::pull::<u64>().bind("tcp://127.0.0.1:*").largest_frame(1_000);
    let (pull, mut work) = pull.curve_server(server.clone(), [client.public()]).start().unwrap();
    let (_jobs, out) = full();
    let push = Bridge::push(out).connect(address(&pull)).pack(1_000).largest_frame(1_000);
    let push = push.curve(client, server.public()).start().unwrap();
    expect(&mut work, 0..1_000);
    until("all of it is counted", || push.statistics().messages_out == 1_000);
    assert_eq!(push.statistics().frames_out, 8);
}
