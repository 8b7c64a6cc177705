//! Two sides connect, check each other again, and are replaced.

use super::super::super::work::{AT_ONCE, Work as _};
use super::super::header::{Kind, LAST};
use super::super::{Hello, Line, PATIENCE};
use super::Peer;
use super::stepped::{Stepped, kinds, lost, said};
use crate::event::Event;
use crate::frame::Frame;
use crate::wire::Malformed;

#[test]
fn a_hello_is_answered_each_time_and_brings_no_other() {
    let (mut side, mut peer, _) = Stepped::met(false, None);
    // However long nothing has been said: nothing is waited for.
    side.age();
    for mark in [1, 1, 2] {
        peer.say(Kind::Hello, 0, mark, &[]);
        assert_eq!(side.step(), 1);
        let heard = peer.heard();
        assert_eq!((kinds(&heard), heard[0].messages), (vec![Kind::Answer], mark));
    }
    // One that was said before is not heard.
    peer.say(Kind::Hello, 0, 1, &[]);
    assert_eq!((side.step(), said(&mut peer)), (1, vec![]));
}

#[test]
fn patience_begins_where_something_is_waited_for() {
    let (mut side, mut peer, _) = Stepped::met(false, None);
    // From nothing that is waited for to something: it begins there.
    side.age();
    side.jobs.send(0).unwrap();
    assert_eq!((side.step(), said(&mut peer)), (1, vec![Kind::Messages]));
    assert_eq!((side.step(), said(&mut peer)), (0, vec![]));
    // Other frames do not restart it, nor does a frame without what is waited for.
    side.duplex.since -= PATIENCE / 2;
    let before = side.duplex.since;
    side.jobs.send(1).unwrap();
    peer.say(Kind::Answer, 0, 0, &[]);
    assert_eq!((side.step(), said(&mut peer)), (2, vec![Kind::Messages]));
    assert_eq!(side.duplex.since, before);
    // What has come does.
    peer.expected = 1;
    peer.say(Kind::Answer, 0, 0, &[]);
    side.step();
    assert!(side.duplex.since > before);
    // And when it is over hello is sent, and nothing else until that is answered.
    side.age();
    side.jobs.send(2).unwrap();
    side.step();
    assert_eq!(said(&mut peer), [Kind::Hello]);
    assert!(!side.duplex.wanted().source);
    side.age();
    side.step();
    assert_eq!(said(&mut peer), [Kind::Hello]);
}

#[test]
fn the_last_number_is_one() {
    let (mut side, address) = Stepped::bound(false, None);
    let mut peer = Peer::connect_to(&address, 1);
    peer.say(Kind::Hello, LAST, 1, &[]);
    side.step();
    let answer = peer.heard().into_iter().find(|header| header.kind == Kind::Answer);
    assert_eq!(answer.map(|answer| (answer.expected, answer.lost)), Some((LAST, 0)));
    peer.say(Kind::Hello, LAST + 1, 2, &[]);
    side.step();
    assert_eq!((said(&mut peer), side.statistics().malformed), (vec![], 1));
}

#[test]
fn only_an_answer_answers_a_hello() {
    let (mut side, address) = Stepped::bound(false, None);
    let mut peer = Peer::connect_to(&address, 1);
    peer.say(Kind::Hello, 0, 1, &[]);
    side.step();
    peer.heard();
    let said = Hello::Said { mark: 1 };
    assert_eq!(side.duplex.hello, said);
    peer.say(Kind::Messages, 0, 1, &[5]);
    peer.say(Kind::Answer, 0, 2, &[]);
    side.step();
    assert_eq!((side.duplex.hello, side.received.try_recv()), (said, Ok(5)));
}

#[test]
fn a_third_is_reported_once() {
    let (mut side, address) = Stepped::bound(false, None);
    let [mut peer, third, fourth] = [1, 2, 3].map(|session| Peer::connect_to(&address, session));
    side.meet(&mut peer);
    for (other, told) in [(&third, 1), (&third, 0), (&fourth, 1), (&third, 1)] {
        other.say(Kind::Hello, 0, 1, &[]);
        side.step();
        assert_eq!(side.told(), vec![Event::Ignored; told]);
    }
}

#[test]
fn a_replacement_is_reported_with_what_was_lost_before() {
    let (mut side, mut first, address) = Stepped::met(false, None);
    assert_eq!(side.told(), []);
    for number in 0..3 {
        side.jobs.send(number).unwrap();
    }
    side.step();
    first.expected = 1;
    first.say(Kind::Answer, 0, 0, &[]);
    side.step();
    side.leave(first);
    let mut second = Peer::connect_to(&address, 2);
    side.meet(&mut second);
    assert_eq!(side.told(), [lost(2), Event::Replaced]);
    side.leave(second);
    side.meet(&mut Peer::connect_to(&address, 3));
    assert_eq!(side.told(), [Event::Replaced]);
}

/// There is one connection: the peer that sends there is the other side.
#[test]
fn the_connecting_side_hears_any_peer() {
    let (mut side, mut peer) = Stepped::connected(1);
    side.duplex.noticed(&Event::Connected(String::new()));
    side.meet(&mut peer);
    peer.session = 2;
    peer.of = 0;
    side.meet(&mut peer);
    assert_eq!(side.told(), [Event::Replaced]);
}

#[test]
fn nothing_is_said_where_there_is_no_connection() {
    let (mut side, mut peer) = Stepped::connected(1);
    side.step();
    side.rest();
    assert_eq!((side.statistics().frames_out, said(&mut peer)), (0, vec![]));
    side.duplex.noticed(&Event::Connected(String::new()));
    side.step();
    side.rest();
    // Nor anything but hello to a peer that has not sent it.
    assert_eq!(said(&mut peer), [Kind::Hello]);
    side.meet(&mut peer);
    peer.say(Kind::Messages, 0, 1, &[5]);
    side.step();
    side.duplex.noticed(&Event::Disconnected(String::new()));
    side.step();
    side.rest();
    assert_eq!(said(&mut peer), []);
}

#[test]
fn connections_are_counted() {
    let (begun, ended) = (Event::Connected(String::new()), Event::Disconnected(String::new()));
    let mut line = Line::connected(true);
    assert!(!line.is_there() && line.tells_of_room() && !line.is_doubted());
    assert!(line.notice(&begun) && line.is_there());
    assert!(line.notice(&ended) && !line.is_there());
    // The next may connect before the end of the previous one is reported.
    line.notice(&begun);
    line.notice(&begun);
    assert!(line.notice(&ended) && line.is_there());
    // Inside the process libzmq reports nothing.
    assert!(Line::connected(false).is_there());
    let mut line = Line::bound();
    assert!(!line.is_there() && !line.tells_of_room() && !line.is_doubted());
    assert!(!line.notice(&begun) && !line.is_doubted());
    assert!(!line.notice(&ended) && line.is_doubted());
    line.trust();
    assert!(!line.is_doubted());
}

#[test]
fn the_last_word_is_sent_to_a_peer_that_has_all() {
    let (mut side, address) = Stepped::bound(false, None);
    let mut peer = Peer::connect_to(&address, 1);
    assert!(!side.duplex.has_said_all() && !side.duplex.lingers());
    peer.say(Kind::Hello, 0, 1, &[]);
    side.step();
    side.rest();
    assert!(!side.duplex.has_said_all() && side.duplex.lingers(), "its hello is not answered");
    side.answer(&mut peer);
    assert!(side.duplex.has_said_all());
    peer.say(Kind::Messages, 0, 1, &[5]);
    side.step();
    assert!(!side.duplex.has_said_all(), "the message has not been announced");
    side.rest();
    assert!(side.duplex.has_said_all());
    peer.heard();
    // A connection has ended: it may have been this one.
    side.duplex.noticed(&Event::Disconnected(String::new()));
    assert!(!side.duplex.has_said_all());
    side.step();
    let said = side.duplex.hello;
    assert!(matches!(said, Hello::Said { .. }));
    side.duplex.noticed(&Event::Disconnected(String::new()));
    assert!(!side.duplex.has_said_all());
    assert_eq!(side.duplex.hello, said, "one is on its way");
    side.duplex.line.trust();
    side.answer(&mut peer);
    assert!(side.duplex.has_said_all());
    side.duplex.line = Line::bound();
    assert!(!side.duplex.has_said_all() && !side.duplex.lingers(), "there is no peer");
}

/// After a hello that the other side has answered nothing is checked again.
#[test]
fn a_hello_settles_a_doubt() {
    let (mut side, mut peer, _) = Stepped::met(false, None);
    side.duplex.noticed(&Event::Disconnected(String::new()));
    assert!(!side.duplex.has_said_all());
    side.step();
    side.answer(&mut peer);
    side.rest();
    assert!(side.duplex.has_said_all());
}

/// Also where its last part alone would be a hello.
#[test]
fn a_message_of_several_parts_is_malformed() {
    let (mut side, address) = Stepped::bound(false, None);
    let peer = Peer::connect_to(&address, 1);
    peer.socket.send(&mut Frame::copied(b"more").unwrap(), true).unwrap();
    peer.say(Kind::Hello, 0, 1, &[]);
    side.step();
    assert_eq!((side.duplex.peer, side.told()), (None, vec![Event::Malformed(Malformed::Parts)]));
    peer.say(Kind::Hello, 0, 1, &[]);
    side.step();
    assert_eq!((side.duplex.peer, side.told()), (Some(1), vec![]));
}

/// A peer that sends without end does not keep the bridge from everything else.
#[test]
fn so_much_is_heard_at_once() {
    let (mut side, mut peer, _) = Stepped::met(false, None);
    (0..AT_ONCE + 2).for_each(|_| peer.say(Kind::Answer, 0, 0, &[]));
    side.jobs.send(0).unwrap();
    assert_eq!((side.step(), said(&mut peer)), (AT_ONCE + 1, vec![Kind::Messages]));
    assert_eq!(side.step(), 2);
    peer.say(Kind::Messages, 0, 3, &[0, 1, 2]);
    assert_eq!(side.step(), 4);
}

#[test]
fn one_that_keeps_says_so() {
    for keeps in [false, true] {
        let (mut side, address) = Stepped::bound(keeps, None);
        let mut peer = Peer::connect_to(&address, 1);
        peer.say(Kind::Hello, 0, 1, &[]);
        side.step();
        assert!(peer.heard().iter().all(|header| header.flags.keeps == keeps));
    }
}
