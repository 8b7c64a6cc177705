//! What comes: from where on, what never came, what is held for want of room.

use super::super::super::work::Work as _;
use super::super::header::{Flags, Header, Kind};
use super::Peer;
use super::stepped::{Stepped, keeping, lost, said};
use crate::event::Event;
use crate::wire::Malformed;

#[test]
fn a_stream_begins_where_it_is_said_to() {
    let (mut side, address) = Stepped::bound(false, Some(4));
    let mut peer = Peer::connect_to(&address, 1);
    peer.say(Kind::Hello, 3, 1, &[]);
    side.step();
    let answer = *peer.heard().last().unwrap();
    assert_eq!((answer.kind, answer.expected, answer.lost, answer.limit), (Kind::Answer, 3, 0, 7));
    side.leave(peer);
    // Another, whose limit has nothing to do with that.
    let mut other = Peer::connect_to(&address, 2);
    other.say(Kind::Hello, 0, 1, &[]);
    side.step();
    let answer = *other.heard().last().unwrap();
    assert_eq!((answer.expected, answer.lost, answer.limit), (0, 0, 4));
}

#[test]
fn what_is_left_out_is_lost_and_reported() {
    let (mut side, peer, address) = Stepped::met(false, None);
    peer.say(Kind::Messages, 0, 1, &[0]);
    peer.say(Kind::Messages, 3, 1, &[3]);
    peer.say(Kind::Messages, 4, 1, &[4]);
    side.step();
    assert_eq!((side.told(), side.received.try_iter().collect::<Vec<_>>()), (vec![lost(2)], vec![0, 3, 4]));
    // Said by a hello as well: of the same conversation, and of one that is taken up again.
    peer.say(Kind::Hello, 6, 2, &[]);
    side.step();
    assert_eq!(side.told(), [lost(1)]);
    peer.say(Kind::Hello, 6, 3, &[]);
    side.step();
    assert_eq!(side.told(), []);
    side.leave(peer);
    let mut other = Peer::connect_to(&address, 2);
    side.meet(&mut other);
    side.leave(other);
    let mut peer = Peer::connect_to(&address, 1);
    peer.say(Kind::Hello, 10, 1, &[]);
    side.step();
    assert_eq!(side.told(), [Event::Replaced, Event::Replaced, lost(4)]);
    let answer = *peer.heard().last().unwrap();
    assert_eq!((answer.expected, answer.lost), (10, 7));
    // And by the end marker.
    peer.say(Kind::End, 12, 0, &[]);
    side.step();
    side.rest();
    let answer = *peer.heard().last().unwrap();
    assert_eq!((answer.expected, answer.lost, answer.flags.has_all, answer.flags.lacks), (12, 9, true, false));
    assert_eq!(side.told(), [lost(2)]);
    assert!(side.received.try_recv().is_err_and(|error| error.is_disconnected()));
}

/// A peer that keeps its messages is notified, and sends them again.
#[test]
fn what_is_left_out_of_what_is_kept_is_asked_for() {
    let (mut side, address) = Stepped::bound(false, None);
    let mut peer = Peer::connect_to(&address, 1);
    let keeps =
        |peer: &Peer, kind, number, messages| Header { flags: keeping(), ..peer.header(kind, number, messages) };
    side.meet(&mut peer);
    for (kind, number, body) in [(Kind::Messages, 1, &[1][..]), (Kind::End, 2, &[])] {
        peer.speak(keeps(&peer, kind, number, body.len() as u32), body);
        side.step();
        side.rest();
        let answer = *peer.heard().last().unwrap();
        assert_eq!((answer.expected, answer.lost, answer.flags.lacks), (0, 0, true), "{kind:?}");
        // It is said once.
        side.rest();
        assert_eq!(said(&mut peer), []);
    }
    peer.speak(keeps(&peer, Kind::Messages, 0, 2), &[0, 1]);
    peer.speak(keeps(&peer, Kind::End, 2, 0), &[]);
    side.step();
    assert_eq!((side.told(), side.received.iter().collect::<Vec<_>>()), (vec![], vec![0, 1]));
    side.rest();
    let flags = peer.heard().last().unwrap().flags;
    assert!(flags.has_all && !flags.lacks && !flags.refuses);
}

/// There is no receiver: what is left out is not missed.
#[test]
fn what_is_refused_is_not_lacked() {
    for keeps in [false, true] {
        let (mut side, mut peer, _) = Stepped::met(false, None);
        side.duplex.close(&mut side.tools).unwrap();
        let flags = Flags { keeps, ..Flags::default() };
        peer.speak(Header { flags, ..peer.header(Kind::Hello, 3, 2) }, &[]);
        peer.speak(Header { flags, ..peer.header(Kind::End, 5, 0) }, &[]);
        side.step();
        side.rest();
        let heard = peer.heard();
        assert!(heard.iter().any(|header| header.kind == Kind::Answer));
        for header in heard {
            assert_eq!((header.expected, header.lost), (0, 0));
            assert!(header.flags.refuses && !header.flags.lacks && !header.flags.has_all);
        }
        assert_eq!(side.told(), []);
    }
}

/// Messages that wait for room belong to the stream they came in, whichever peers have come and gone meanwhile; so does
/// its end.
#[test]
fn another_stream_has_its_own_end() {
    let (mut side, first, address) = Stepped::met(false, Some(4));
    first.say(Kind::Messages, 0, 6, &[0, 1, 2, 3, 4, 5]);
    first.say(Kind::End, 6, 0, &[]);
    side.step();
    side.leave(first);
    let mut second = Peer::connect_to(&address, 2);
    side.meet(&mut second);
    assert_eq!(side.received.try_iter().count(), 4);
    side.step();
    assert_eq!(side.received.try_iter().count(), 2);
    side.step();
    second.say(Kind::Messages, 0, 1, &[10]);
    side.step();
    assert_eq!(side.received.try_recv(), Ok(10));
}

/// The messages that came since it was back, and those that were held then, and no more.
#[test]
fn what_is_held_of_one_that_has_come_back_twice_is_known() {
    let (mut side, address) = Stepped::bound(false, Some(4));
    // Each has been allowed four.
    for session in 1..=3 {
        let mut peer = Peer::connect_to(&address, session);
        side.meet(&mut peer);
        side.leave(peer);
    }
    let mut expected = 0;
    for (session, from, messages) in [(1, 0, 1), (2, 0, 3), (1, 1, 2), (3, 0, 2), (1, 3, 1)] {
        let mut peer = Peer::connect_to(&address, session);
        peer.say(Kind::Hello, from, 10, &[]);
        peer.say(Kind::Messages, from, messages, &[0; 4][..messages as usize]);
        side.step();
        side.rest();
        expected = peer.heard().last().unwrap().expected;
        side.leave(peer);
    }
    // The channel has the first of the first, and three of the second.
    assert_eq!((expected, side.received.len()), (1, 4));
}

#[test]
fn a_frame_has_as_many_messages_as_it_says() {
    let (mut side, mut peer, _) = Stepped::met(false, None);
    for (number, messages) in [(0, 3), (3, 1)] {
        peer.say(Kind::Messages, number, messages, &[1, 2]);
        side.step();
        assert_eq!((side.told(), side.received.len()), (vec![Event::Malformed(Malformed::Content)], 0));
    }
    // A part of them has come already.
    peer.say(Kind::Messages, 4, 2, &[4, 5]);
    peer.say(Kind::Messages, 5, 3, &[5, 6, 7]);
    side.step();
    assert_eq!(side.received.try_iter().collect::<Vec<_>>(), [4, 5, 6, 7]);
    side.rest();
    let answer = *peer.heard().last().unwrap();
    assert_eq!((answer.expected, answer.lost, side.statistics().duplicates), (8, 4, 1));
}
