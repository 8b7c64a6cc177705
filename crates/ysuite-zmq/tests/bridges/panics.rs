//! A message that panics ends its bridge, which reports that.
//!
//! Claim: A message that panics ends its bridge, which reports the panic and counts nothing as sent.

use ysuite::spsc;
use ysuite_zmq::{Bridge, Closed, Event, FromWire, Layout, Malformed, ToWire, Wire};

use crate::support::{GUARD, address, expect, expect_flushed, wait_for};

/// A byte; one of 13 can be neither written nor read.
struct Unlucky(u8);

impl Wire for Unlucky {
    const LAYOUT: Layout = Layout::Records(1);
}

impl ToWire for Unlucky {
    fn encode(&self, bytes: &mut Vec<u8>) {
        assert_ne!(self.0, 13, "on purpose");
        bytes.push(self.0);
    }
}

impl FromWire for Unlucky {
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        assert_ne!(bytes, [13], "on purpose");
        Ok(Self(bytes[0]))
    }
}

fn is_a_panic(event: &Event) -> bool {
    matches!(event, Event::Broken(cause) if cause.is_panic() && cause.errno() == 0)
}

/// Also before anything was handed over, where a bridge would know that nothing can be missing.
#[test]
fn a_panic_while_writing_is_reported() {
    let (mut jobs, out) = spsc::bounded::<Unlucky>(4);
    let push = Bridge::push(out).connect("tcp://127.0.0.1:1").start().unwrap();
    let events = push.events();
    jobs.send(Unlucky(13)).unwrap();
    let broken = wait_for(&events, |event| matches!(event, Event::Broken(_)));
    assert!(is_a_panic(&broken), "{broken:?}");
    let Event::Broken(cause) = broken else { unreachable!() };
    assert_eq!(cause.to_string(), "the bridge's thread panicked");
    assert_eq!(push.close(GUARD), Closed::Unsent { messages: 0, more: true });
    assert!(jobs.is_disconnected());
}

/// For any input from the network: this bridge ends, with its channel, and no other.
#[test]
fn a_panic_while_reading_is_reported() {
    let (pull, mut work) = Bridge::pull::<Unlucky>().bind("tcp://127.0.0.1:*").start().unwrap();
    let (other, mut others) = Bridge::pull::<u64>().bind("tcp://127.0.0.1:*").start().unwrap();
    let (mut bytes, out) = spsc::bounded::<u8>(4);
    let _push = Bridge::push(out).connect(address(&pull)).start().unwrap();
    bytes.send(7).unwrap();
    assert_eq!(work.recv_timeout(GUARD).map(|unlucky| unlucky.0), Ok(7));
    bytes.send(13).unwrap();
    wait_for(&pull.events(), is_a_panic);
    assert!(work.recv_timeout(GUARD).is_err_and(|error| error.is_disconnected()));
    assert_eq!(pull.close(GUARD), Closed::Unsent { messages: 0, more: true });
    let (mut jobs, out) = spsc::bounded::<u64>(4);
    let push = Bridge::push(out).connect(address(&other)).start().unwrap();
    jobs.send(1).unwrap();
    expect(&mut others, 1..2);
    expect_flushed(push);
}

/// While it closes as well: the order to close gets a result, and the event comes before it.
#[test]
fn a_panic_while_a_bridge_closes_is_reported() {
    /// One that cannot even be dropped.
    struct Undroppable;
    impl Wire for Undroppable {
        const LAYOUT: Layout = Layout::Records(1);
    }
    impl ToWire for Undroppable {
        fn encode(&self, bytes: &mut Vec<u8>) {
            bytes.push(1);
        }
    }
    impl Drop for Undroppable {
        fn drop(&mut self) {
            assert!(std::thread::panicking(), "on purpose");
        }
    }
    let (mut jobs, out) = spsc::bounded::<Undroppable>(1);
    let push = Bridge::push(out).connect("tcp://127.0.0.1:1").start().unwrap();
    let events = push.events();
    assert!(jobs.send(Undroppable).is_ok());
    assert_eq!(push.close(GUARD), Closed::Unsent { messages: 0, more: true });
    wait_for(&events, is_a_panic);
}
