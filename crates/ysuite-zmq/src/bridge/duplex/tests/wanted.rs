//! What a duplex wants and reports, and what wakes it.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Wake, Waker};

use ysuite::spsc;

use super::super::super::work::{Wanted, Work as _};
use super::super::header::{Header, Kind};
use super::super::{Line, PATIENCE};
use super::Peer;
use super::stepped::{Stepped, kinds, said};
use crate::event::Event;

/// Where half of what was allowed has come, and so much more may come that it is worth a frame.
#[test]
fn room_is_reported_before_it_is_short() {
    /// What it says now of how much may be sent, if anything.
    fn limits(side: &mut Stepped, peer: &mut Peer) -> Vec<u64> {
        side.step();
        peer.heard().iter().map(|header| header.limit).collect()
    }
    let (mut side, mut peer, _) = Stepped::met(false, Some(8));
    peer.say(Kind::Messages, 0, 3, &[0, 1, 2]);
    side.step();
    assert_eq!(side.received.try_iter().count(), 3);
    assert_eq!((limits(&mut side, &mut peer), side.duplex.wanted().sink), (vec![], false));
    // Four may come still, and there is room for seven.
    peer.say(Kind::Messages, 3, 1, &[3]);
    assert_eq!(limits(&mut side, &mut peer), [4 + 7]);
    assert!(!side.duplex.wanted().sink);
    // Four again, and there is room for no more: six is worth a frame.
    peer.say(Kind::Messages, 4, 3, &[4, 5, 6]);
    assert_eq!((limits(&mut side, &mut peer), side.duplex.wanted().sink), (vec![], true));
    assert_eq!(side.received.try_recv(), Ok(3));
    assert_eq!((limits(&mut side, &mut peer), side.duplex.wanted().sink), (vec![], true));
    assert_eq!(side.received.try_recv(), Ok(4));
    assert_eq!((limits(&mut side, &mut peer), side.duplex.wanted().sink), (vec![7 + 6], false));
    // There is no receiver: no room is wanted, and none reported.
    peer.say(Kind::Messages, 7, 4, &[7, 8, 9, 10]);
    assert_eq!(limits(&mut side, &mut peer), []);
    assert!(side.duplex.wanted().sink);
    drop(mem::replace(&mut side.received, spsc::bounded(1).1));
    assert_eq!((limits(&mut side, &mut peer), side.duplex.wanted().sink), (vec![], false));
}

/// Without a bound so much may be under way.
#[test]
fn room_without_a_bound_is_reported_as_well() {
    let (mut side, mut peer, _) = Stepped::met(false, None);
    for half in 0..2u64 {
        let numbers: Vec<u64> = (0..32_768).collect();
        peer.say(Kind::Messages, half * 32_768, 32_768, &numbers);
        side.step();
        let limits: Vec<_> = peer.heard().iter().map(|header| header.limit).collect();
        assert_eq!(limits, [(half + 1) * 32_768 + 65_536]);
        assert!(!side.duplex.wanted().sink);
    }
}

#[test]
fn one_that_talks_wants_what_it_can_use() {
    let (mut side, address) = Stepped::bound(false, Some(4));
    let nothing = Wanted { receive: true, ..Wanted::default() };
    assert_eq!(side.duplex.wanted(), nothing);
    let mut peer = Peer::connect_to(&address, 1);
    peer.say(Kind::Hello, 0, 1, &[]);
    side.step();
    let (patience, wanted) = (side.duplex.since + PATIENCE, side.duplex.wanted());
    assert_eq!(wanted, Wanted { until: Some(patience), ..nothing });
    // One that allows nothing.
    let hello = peer.heard().into_iter().find(|header| header.kind == Kind::Hello).unwrap();
    peer.speak(Header { limit: 0, ..peer.header(Kind::Answer, 0, hello.messages) }, &[]);
    side.step();
    assert_eq!(side.duplex.wanted(), nothing);
    peer.say(Kind::Answer, 0, 0, &[]);
    side.step();
    assert_eq!(side.duplex.wanted(), Wanted { source: true, ..nothing });
    // Half of what it may send has come.
    peer.say(Kind::Messages, 0, 2, &[0, 1]);
    side.step();
    assert_eq!(side.duplex.wanted(), Wanted { source: true, sink: true, ..nothing });
    side.jobs.send(0).unwrap();
    side.step();
    let patience = side.duplex.since + PATIENCE;
    assert_eq!(side.duplex.wanted(), Wanted { source: true, sink: true, until: Some(patience), ..nothing });
    // No room in the socket: it checks again soon, and wants nothing else.
    side.duplex.blocked = true;
    let wanted = side.duplex.wanted();
    assert!(wanted.until.is_some_and(|until| until < patience));
    assert_eq!(Wanted { until: None, ..wanted }, nothing);
    // Except room for what waits.
    peer.say(Kind::Messages, 2, 4, &[2, 3, 4, 5]);
    side.step();
    side.duplex.blocked = true;
    assert!(side.duplex.wanted().sink);
}

#[test]
fn one_that_has_connected_is_notified_of_room() {
    let (mut side, mut peer) = Stepped::connected(1);
    let nothing = Wanted { receive: true, ..Wanted::default() };
    side.duplex.noticed(&Event::Connected(String::new()));
    side.step();
    let wanted = side.duplex.wanted();
    // There is no peer to notify of room.
    assert_eq!(Wanted { until: None, ..wanted }, nothing);
    side.meet(&mut peer);
    side.duplex.blocked = true;
    assert_eq!(side.duplex.wanted(), Wanted { send: true, ..nothing });
    side.duplex.noticed(&Event::Disconnected(String::new()));
    assert_eq!(side.duplex.wanted(), nothing);
}

/// In every state of the line, what waits wants room; nothing else does.
#[test]
fn one_without_a_connection_wants_room_for_what_waits() {
    for (messages, waits) in [(2, false), (6, true)] {
        let (mut side, peer, _) = Stepped::met(false, Some(4));
        peer.say(Kind::Messages, 0, messages, &[0, 1, 2, 3, 4, 5][..messages as usize]);
        side.step();
        assert!(side.duplex.wanted().sink);
        side.duplex.line = Line::bound();
        assert_eq!(side.duplex.wanted(), Wanted { sink: waits, receive: true, ..Wanted::default() });
    }
}

#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// If no set reports it, and there is a peer to notify.
#[test]
fn a_dropped_receiver_wakes_a_side_that_can_report_it() {
    /// Whether it is woken.
    fn wakes(mut side: Stepped, prepare: impl FnOnce(&mut Stepped)) -> bool {
        prepare(&mut side);
        let (woken, wanted) = (Arc::new(Woken::default()), side.duplex.wanted());
        let mut received = Some(side.received);
        side.duplex.asleep(wanted, &Waker::from(woken.clone()), &mut || drop(received.take()));
        assert!(received.is_none(), "it has slept");
        woken.0.load(Ordering::Relaxed) > 0
    }
    let begin = || {
        let (side, peer, _) = Stepped::met(false, Some(4));
        (side, peer)
    };
    let (side, _peer) = begin();
    assert!(wakes(side, |_| {}));
    let (side, _peer) = begin();
    assert!(!wakes(side, |side| side.duplex.blocked = true));
    let (side, _peer) = begin();
    assert!(!wakes(side, |side| side.duplex.line = Line::bound()));
    let (side, peer) = begin();
    // Its set reports it.
    peer.say(Kind::Messages, 0, 2, &[0, 1]);
    assert!(!wakes(side, |side| {
        side.step();
        assert!(side.duplex.wanted().sink);
    }));
    let (side, _peer) = Stepped::connected(1);
    assert!(!wakes(side, |side| side.duplex.noticed(&Event::Connected(String::new()))));
    // It has been said: it sleeps.
    let (side, _peer) = begin();
    assert!(!wakes(side, |side| {
        drop(mem::replace(&mut side.received, spsc::bounded(1).1));
        side.rest();
    }));
}

/// Of what has arrived; without a peer to notify it is not tried.
#[test]
fn what_has_come_is_said_before_a_rest() {
    let (mut side, mut peer, _) = Stepped::met(false, None);
    peer.say(Kind::Messages, 0, 1, &[5]);
    side.step();
    side.rest();
    let heard = peer.heard();
    assert_eq!((kinds(&heard), heard[0].expected), (vec![Kind::Answer], 1));
    side.rest();
    assert_eq!(said(&mut peer), []);
    // Messages say it as well.
    peer.say(Kind::Messages, 1, 1, &[6]);
    side.jobs.send(0).unwrap();
    side.step();
    side.rest();
    let heard = peer.heard();
    assert_eq!((kinds(&heard), heard[0].expected), (vec![Kind::Messages], 2));
    peer.say(Kind::Messages, 2, 1, &[7]);
    side.step();
    side.duplex.line = Line::bound();
    side.rest();
    assert!(!side.duplex.blocked);
}
