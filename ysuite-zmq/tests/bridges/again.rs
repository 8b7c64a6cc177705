//! Addresses to which libzmq itself does not connect again: whoever was there did not speak as it must.

use ysuite::spsc;
use ysuite_zmq::{Bridge, Event, KeyPair, Pull};

use crate::support::{GUARD, address, expect, wait_for};

/// The bridge connects to whoever is there next, also where who was there first had another security, or did not admit it.
#[test]
fn a_handshake_that_failed_is_tried_again() {
    let [server, own] = [(); 2].map(|()| KeyPair::generate().unwrap());
    let open: fn(Pull<u64>, &KeyPair) -> Pull<u64> = |pull, _| pull;
    let closed: fn(Pull<u64>, &KeyPair) -> Pull<u64> = |pull, server| pull.curve_server(server.clone(), []);
    for wrong in [open, closed] {
        let (first, _work) = wrong(Bridge::pull().bind("tcp://127.0.0.1:*"), &server).start().unwrap();
        let there = address(&first);
        let (mut jobs, out) = spsc::bounded::<u64>(4);
        let push = Bridge::push(out).connect(there.clone()).curve(own.clone(), server.public()).start().unwrap();
        wait_for(&push.events(), |event| matches!(event, Event::HandshakeFailed(_) | Event::Refused(_)));
        wait_for(&push.events(), |event| matches!(event, Event::Disconnected(_)));
        assert_eq!(first.close(GUARD), ysuite_zmq::Closed::Flushed);
        let second = Bridge::pull::<u64>().bind(there).curve_server(server.clone(), [own.public()]);
        let (_second, mut work) = second.start().unwrap();
        jobs.send(1).unwrap();
        expect(&mut work, 1..2);
    }
}

/// As above, where the mistake comes later: a frame that is too large.
#[test]
fn a_connection_that_brought_too_much_is_begun_again() {
    let (mut jobs, out) = spsc::bounded::<Vec<u8>>(4);
    let push = Bridge::push(out).bind("tcp://127.0.0.1:*").start().unwrap();
    let pull = Bridge::pull::<Vec<u8>>().connect(address(&push)).largest_frame(1_000);
    let (pull, mut work) = pull.start().unwrap();
    for _ in 0..2 {
        jobs.send(vec![1; 1_001]).unwrap();
        wait_for(&pull.events(), |event| matches!(event, Event::Disconnected(_)));
        wait_for(&pull.events(), |event| matches!(event, Event::Connected(_)));
        jobs.send(vec![2; 1_000]).unwrap();
        assert_eq!(work.recv_timeout(GUARD), Ok(vec![2; 1_000]));
    }
}
