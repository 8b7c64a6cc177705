//! The outgoing stream: how far it may go, what is sent again, how it ends.

use std::mem;

use ysuite::spsc;

use super::super::super::outgoing::tests::Shared;
use super::super::super::work::Work as _;
use super::super::header::{Flags, Header, Kind};
use super::super::{Duplex, Line};
use super::Peer;
use super::stepped::{Stepped, kinds, said, socket};
use crate::event::Event;
use crate::ffi::{Kind as SocketKind, option};

/// A bridge that has replaced this one may get acknowledgements for the messages of the one before.
#[test]
fn what_is_said_of_another_stream_is_not_heard() {
    let (mut side, mut peer, _) = Stepped::met(false, None);
    side.jobs.send(0).unwrap();
    side.step();
    let own = mem::replace(&mut peer.of, side.duplex.session ^ 1);
    peer.expected = 1;
    peer.say(Kind::Answer, 0, 0, &[]);
    side.step();
    assert!(side.duplex.sending.is_waiting());
    peer.of = own;
    peer.say(Kind::Answer, 0, 0, &[]);
    side.step();
    assert!(!side.duplex.sending.is_waiting());
}

/// A bridge that keeps its messages, has sent both, and their end. The other side, and the address for further peers.
fn keeping_two() -> (Stepped, Peer, String) {
    let (mut side, mut peer, address) = Stepped::met(true, None);
    for number in 0..2 {
        side.jobs.send(number).unwrap();
    }
    side.end();
    side.step();
    assert_eq!(said(&mut peer), [Kind::Messages, Kind::Messages, Kind::End]);
    (side, peer, address)
}

#[test]
fn what_is_kept_is_sent_again_after_an_answer() {
    /// What it sends once this many are acknowledged, and both sides have agreed again from where to go on.
    fn again(side: &mut Stepped, peer: &mut Peer, expected: u64) -> Vec<Header> {
        peer.expected = expected;
        peer.say(Kind::Answer, 0, 0, &[]);
        side.step();
        side.age();
        side.step();
        side.answer(peer);
        side.step();
        peer.heard()
    }
    let (mut side, mut peer, _) = keeping_two();
    let heard = again(&mut side, &mut peer, 1);
    assert_eq!((kinds(&heard), heard[0].number), (vec![Kind::Messages, Kind::End], 1));
    assert_eq!(side.statistics().repeated, 1);
    // The end marker alone.
    let heard = again(&mut side, &mut peer, 2);
    assert_eq!((kinds(&heard), side.statistics().repeated), (vec![Kind::End], 1));
    assert!(!side.duplex.is_done());
    let flags = Flags { has_all: true, ..Flags::default() };
    peer.speak(Header { flags, ..peer.header(Kind::Answer, 0, 0) }, &[]);
    side.step();
    assert!(side.duplex.is_done());
}

#[test]
fn one_that_lacks_some_is_asked_from_where_on() {
    let (mut side, mut peer, _) = Stepped::met(true, None);
    side.jobs.send(0).unwrap();
    side.step();
    peer.heard();
    let flags = Flags { lacks: true, ..Flags::default() };
    peer.speak(Header { flags, ..peer.header(Kind::Answer, 0, 0) }, &[]);
    side.step();
    let hello = peer.heard();
    assert_eq!((kinds(&hello), hello[0].number), (vec![Kind::Hello], 0));
    // Once: it is on its way.
    peer.speak(Header { flags, ..peer.header(Kind::Answer, 0, 0) }, &[]);
    side.step();
    assert_eq!(said(&mut peer), []);
    peer.say(Kind::Answer, 0, hello[0].messages, &[]);
    side.step();
    assert_eq!(said(&mut peer), [Kind::Messages]);
}

#[test]
fn what_is_in_the_channel_is_to_be_done() {
    let (mut side, _) = Stepped::bound(false, None);
    side.duplex.close(&mut side.tools).unwrap();
    assert!(side.duplex.is_done());
    side.jobs.send(0).unwrap();
    assert!(!side.duplex.is_done());
    assert_eq!(side.duplex.left(), 1);
}

/// A ROUTER does not report a peer's room: the bridge tries again.
#[test]
fn one_without_room_is_sent_the_rest_later() {
    let (mut side, address) = Stepped::bound(false, None);
    let socket = socket(SocketKind::Dealer);
    socket.set(option::RECEIVE_MARK, 1).unwrap();
    socket.connect(&address).unwrap();
    let mut peer = Peer { socket, session: 1, of: 0, expected: 0, lost: 0 };
    side.meet(&mut peer);
    for number in 0..20 {
        side.jobs.send(number).unwrap();
    }
    side.end();
    let (mut last, mut ended) = (0, false);
    while !ended {
        side.step();
        // Two hellos, an answer, and the end marker.
        let is_over = side.statistics().frames_out == 20 + 3;
        assert_eq!(side.duplex.blocked, !is_over);
        assert!(is_over || !side.duplex.wanted().source);
        for header in peer.heard() {
            if header.kind == Kind::Messages {
                assert_eq!(header.number, last);
                last += u64::from(header.messages);
            }
            ended |= header.kind == Kind::End;
        }
    }
    side.step();
    assert_eq!((last, said(&mut peer), side.told()), (20, vec![], vec![]));
}

/// What is not sent to one that is gone is the next one's.
#[test]
fn one_that_is_gone_is_sent_nothing() {
    let (mut side, first, address) = Stepped::met(false, None);
    side.leave(first);
    side.jobs.send(0).unwrap();
    side.step();
    assert_eq!((side.statistics().messages_out, side.duplex.line.is_there()), (0, false));
    let mut second = Peer::connect_to(&address, 2);
    side.meet(&mut second);
    assert_eq!((said(&mut second), side.statistics().messages_out), (vec![Kind::Messages], 1));
    assert_eq!(side.told(), [Event::Replaced]);
}

/// A peer that gets what was kept for another with more room gets no more of it than it allows, and then the end
/// marker.
#[test]
fn what_was_kept_waits_for_the_limit() {
    let (mut side, first, address) = keeping_two();
    side.leave(first);
    let mut second = Peer::connect_to(&address, 2);
    for (limit, expected) in [(0, &[][..]), (1, &[Kind::Messages]), (1, &[]), (3, &[Kind::Messages, Kind::End])] {
        let hello = side.duplex.hello.mark();
        if limit == 0 {
            second.speak(Header { limit, ..second.header(Kind::Hello, 0, 1) }, &[]);
            side.step();
            let hello = second.heard().into_iter().find(|header| header.kind == Kind::Hello).unwrap();
            second.speak(Header { limit, ..second.header(Kind::Answer, 0, hello.messages) }, &[]);
        } else {
            second.speak(Header { limit, ..second.header(Kind::Answer, 0, hello) }, &[]);
        }
        side.step();
        side.step();
        assert_eq!(said(&mut second), expected, "{limit}");
    }
    // All of it is done: nothing more is wanted of the channel.
    assert!(!side.duplex.wanted().source);
}

/// Another peer gets the end marker as well, whether or not the one before had received it.
#[test]
fn the_end_is_sent_to_the_next_peer() {
    let (mut side, address) = Stepped::bound(false, None);
    side.end();
    for (session, has_heard) in [(1, false), (2, true), (3, false)] {
        let mut peer = Peer::connect_to(&address, session);
        side.meet(&mut peer);
        side.step();
        assert_eq!(said(&mut peer), [Kind::End]);
        if has_heard {
            let flags = Flags { has_all: true, ..Flags::default() };
            peer.speak(Header { flags, ..peer.header(Kind::Answer, 0, 0) }, &[]);
            side.step();
        }
        assert_eq!(side.duplex.is_done(), has_heard);
        side.leave(peer);
    }
}

/// A closing bridge stops receiving if others receive from its channel as well.
#[test]
fn one_that_closes_leaves_the_channel_to_others() {
    let mut shared = Shared::new(SocketKind::Router, |outgoing| {
        Duplex::<_, u64>::new(outgoing, spsc::unbounded().0, false, Line::bound())
    });
    let mut peer = Peer::connect_to(&shared.address, 1);
    peer.say(Kind::Hello, 0, 1, &[]);
    shared.work.step(&mut shared.tools).unwrap();
    let hello = peer.heard().into_iter().find(|header| header.kind == Kind::Hello).unwrap();
    peer.say(Kind::Answer, 0, hello.messages, &[]);
    assert!(shared.is_told());
    shared.close();
    assert!(shared.leaves_all());
}

/// Whatever its header says, it has no more than it was sent, and not the end before that was sent.
#[test]
fn one_that_acknowledges_all_has_what_was_sent() {
    let (mut side, mut peer, _) = Stepped::met(false, None);
    let has_all = |peer: &Peer| {
        let flags = Flags { has_all: true, ..Flags::default() };
        peer.speak(Header { flags, ..peer.header(Kind::Answer, 0, 0) }, &[]);
    };
    has_all(&peer);
    side.jobs.send(0).unwrap();
    side.step();
    side.end();
    side.step();
    assert_eq!(said(&mut peer), [Kind::Messages, Kind::End]);
    has_all(&peer);
    side.step();
    assert!(!side.duplex.is_done());
    peer.expected = 1;
    has_all(&peer);
    side.step();
    assert!(side.duplex.is_done());
}

/// It gets the end marker, and neither what was kept nor what is in the channel.
#[test]
fn one_that_refuses_is_sent_nothing_more() {
    for keeps in [false, true] {
        let (mut side, mut peer, _) = Stepped::met(keeps, None);
        for number in 0..2 {
            side.jobs.send(number).unwrap();
        }
        side.step();
        assert_eq!(said(&mut peer), [Kind::Messages, Kind::Messages]);
        side.jobs.send(2).unwrap();
        let flags = Flags { refuses: true, ..Flags::default() };
        peer.speak(Header { flags, ..peer.header(Kind::Answer, 0, 0) }, &[]);
        side.step();
        side.step();
        assert_eq!(said(&mut peer), [Kind::End]);
        assert!(side.jobs.is_disconnected() && side.duplex.is_done());
        assert_eq!(side.duplex.left(), 3);
    }
}

/// What is under way to one that has no connection is not done, nor what was never sent.
#[test]
fn what_is_under_way_is_to_be_done() {
    let (mut side, _peer, _) = Stepped::met(false, None);
    side.duplex.close(&mut side.tools).unwrap();
    side.jobs.send(0).unwrap();
    side.step();
    side.duplex.line = Line::bound();
    assert!(!side.duplex.is_done());
    assert_eq!(side.duplex.left(), 1);
}
