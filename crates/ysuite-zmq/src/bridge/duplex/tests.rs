//! A duplex and another side that does what none of ours does, or what one of ours does at the worst moment: a bare socket.
//!
//! Claim: After each step, the state of a duplex bridge (hellos, acknowledgements, limits, resends, replaced peers) is
//! what its protocol says.

mod meeting;
mod other_stream;
mod own_stream;
mod stepped;
mod wanted;

use std::thread;
use std::time::{Duration, Instant};

use ysuite::spsc;

use super::super::build::Bridge;
use super::super::close::Closed;
use super::super::started::Started;
use super::header::{self, Flags, Header, Kind};
use crate::context::Context;
use crate::event::Event;
use crate::ffi::Kind as SocketKind;
use crate::frame::Frame;
use crate::socket::Socket;

/// Longer than anything here takes on the slowest machine.
const GUARD: Duration = Duration::from_secs(60);

/// Until this finds something.
fn until<R>(what: &str, mut find: impl FnMut() -> Option<R>) -> R {
    let begun = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(begun.elapsed() < GUARD, "{what}");
        thread::sleep(Duration::from_millis(1));
    }
}

fn until_malformed(bridge: &Started, frames: u64) {
    until("`frames` frames are refused", || (bridge.statistics().malformed >= frames).then_some(()));
    assert_eq!(bridge.statistics().malformed, frames);
}

/// A connection to a bridge that waits for one.
struct Peer {
    socket: Socket,
    session: u64,
    /// The bridge's session, once it has said it.
    of: u64,
    /// What is said of the bridge's stream: up to where it has come, and how many of those before never did.
    expected: u64,
    lost: u64,
}

impl Peer {
    fn connect(to: &Started, session: u64) -> Self {
        Self::connect_to(&to.addresses()[0], session)
    }

    fn connect_to(address: &str, session: u64) -> Self {
        let socket = Socket::new(&Context::of_the_process().unwrap(), SocketKind::Dealer).unwrap();
        socket.connect(address).unwrap();
        Self { socket, session, of: 0, expected: 0, lost: 0 }
    }

    /// Of a stream without a limit for the bridge.
    fn header(&self, kind: Kind, number: u64, messages: u32) -> Header {
        let Self { session, of, expected, lost, .. } = *self;
        let flags = Flags::default();
        Header { kind, flags, messages, session, number, of, expected, limit: 1_000, lost }
    }

    fn say(&self, kind: Kind, number: u64, messages: u32, body: &[u64]) {
        self.speak(self.header(kind, number, messages), body);
    }

    fn speak(&self, header: Header, body: &[u64]) {
        let bytes: Vec<u8> =
            header.bytes().into_iter().chain(body.iter().flat_map(|number| number.to_le_bytes())).collect();
        until("there is room", || self.socket.send(&mut Frame::copied(&bytes).unwrap(), false).ok());
    }

    /// The next header of this kind.
    fn hear(&mut self, kind: Kind) -> Header {
        let mut frame = Frame::empty();
        loop {
            until("the bridge says something", || self.socket.receive(&mut frame).unwrap().then_some(()));
            let heard = Header::of(&frame).unwrap();
            self.of = heard.session;
            if heard.kind == kind {
                assert!(kind != Kind::Messages || heard.messages as usize == (frame.len() - header::BYTES) / 8);
                return heard;
            }
        }
    }

    /// All headers that are there.
    fn heard(&mut self) -> Vec<Header> {
        let (mut all, mut frame) = (Vec::new(), Frame::empty());
        while self.socket.receive(&mut frame).unwrap() {
            all.push(Header::of(&frame).unwrap());
        }
        self.of = all.last().map_or(self.of, |header: &Header| header.session);
        all
    }

    /// Says hello until it is heard: the bridge may not know yet that the one before is gone.
    fn take_over(&mut self, keeps: bool, number: u64) {
        let (flags, mut marks) = (Flags { keeps, ..Flags::default() }, 1..);
        until("it is heard", || {
            self.speak(Header { flags, ..self.header(Kind::Hello, number, marks.next()?) }, &[]);
            let again = Instant::now() + Duration::from_millis(500);
            let mut frame = Frame::empty();
            while Instant::now() < again {
                if self.socket.receive(&mut frame).unwrap() {
                    self.of = Header::of(&frame).unwrap().session;
                    return Some(());
                }
                thread::sleep(Duration::from_millis(1));
            }
            None
        });
    }

    /// Until the bridge has taken in all that was said so far.
    fn be_heard(&mut self) {
        self.say(Kind::Hello, 0, 1 << 20, &[]);
        while self.hear(Kind::Answer).messages != 1 << 20 {}
    }

    /// Gone, and the bridge knows.
    fn leave(self, events: &ysuite::mpmc::Receiver<Event>) {
        drop(self);
        while !matches!(events.recv_timeout(GUARD).unwrap(), Event::Disconnected(_)) {}
    }

    /// Sends hello with this mark, and answers the bridge's.
    fn greet(&mut self, mark: u32) {
        self.say(Kind::Hello, 0, mark, &[]);
        let hello = self.hear(Kind::Hello);
        self.say(Kind::Answer, 0, hello.messages, &[]);
    }
}

/// What was kept for a bridge with much room goes to one with little, and the channel is disconnected after it.
#[test]
fn another_with_less_room_is_sent_what_was_kept() {
    let (mut jobs, out) = spsc::bounded::<u64>(100);
    (0..100).for_each(|number| jobs.send(number).unwrap());
    drop(jobs);
    let keeper = Bridge::duplex::<_, u64>(out).bind("tcp://127.0.0.1:*").pack(64).at_least_once();
    let (keeper, _nothing) = keeper.start().unwrap();
    let mut gone = Peer::connect(&keeper, 1);
    gone.greet(1);
    assert_eq!(gone.hear(Kind::Messages).messages, 64);
    drop(gone);

    let (_back, nothing) = spsc::bounded::<u64>(1);
    let other = Bridge::duplex::<_, u64>(nothing).connect(keeper.addresses()[0].as_str()).bounded(4);
    let (other, mut received) = other.start().unwrap();
    (0..100).for_each(|number| assert_eq!(received.recv_timeout(GUARD), Ok(number)));
    assert!(received.recv_timeout(GUARD).is_err_and(|error| error.is_disconnected()));
    assert_eq!((keeper.statistics().malformed, other.statistics().malformed), (0, 0));
    assert_eq!(keeper.close(GUARD), Closed::Flushed);
}

/// What is above the limit waits in the bridge, which has not received it before the channel has: no more than one frame of it, and
/// the bridge hears on meanwhile.
#[test]
fn what_is_above_the_limit_waits_and_is_not_acknowledged() {
    let (mut jobs, out) = spsc::bounded::<u64>(4);
    let server = Bridge::duplex::<_, u64>(out).bind("tcp://127.0.0.1:*").bounded(4);
    let (server, mut received) = server.start().unwrap();
    let mut peer = Peer::connect(&server, 1);
    peer.greet(1);
    peer.say(Kind::Messages, 0, 6, &[0, 1, 2, 3, 4, 5]);
    peer.say(Kind::Messages, 3, 5, &[3, 4, 5, 6, 7]);
    peer.say(Kind::Messages, 6, 1, &[6]);
    until_malformed(&server, 2);
    peer.say(Kind::End, 6, 0, &[]);
    jobs.send(1).unwrap();
    let heard = peer.hear(Kind::Messages);
    assert!(heard.expected <= 4 && !heard.flags.has_all, "{heard:?}");
    (0..6).for_each(|number| assert_eq!(received.recv_timeout(GUARD), Ok(number)));
    assert!(received.recv_timeout(GUARD).is_err_and(|error| error.is_disconnected()));
    while !peer.hear(Kind::Answer).flags.has_all {}
}

/// Nor is it when there is no receiver any more, whatever the other side sends then.
#[test]
fn what_had_no_room_when_the_receiver_went_is_not_acknowledged() {
    for ends_before in [false, true] {
        let (_jobs, out) = spsc::bounded::<u64>(4);
        let server = Bridge::duplex::<_, u64>(out).bind("tcp://127.0.0.1:*").bounded(4);
        let (server, received) = server.start().unwrap();
        let mut peer = Peer::connect(&server, 1);
        peer.greet(1);
        peer.say(Kind::Messages, 0, 6, &[0, 1, 2, 3, 4, 5]);
        if ends_before {
            peer.say(Kind::End, 6, 0, &[]);
        }
        peer.say(Kind::Messages, 6, 1, &[6]);
        until_malformed(&server, 1);
        drop(received);
        while !peer.hear(Kind::Answer).flags.refuses {}
        peer.say(Kind::End, 6, 0, &[]);
        peer.say(Kind::Hello, 0, 2, &[]);
        let heard =
            until("the hello is answered", || Some(peer.hear(Kind::Answer)).filter(|heard| heard.messages == 2));
        assert!(heard.expected <= 4 && heard.flags.refuses && !heard.flags.has_all, "{heard:?}");
    }
}

/// Nor is it when the bridge closes.
#[test]
fn what_had_no_room_when_the_bridge_closed_is_not_acknowledged() {
    let (_jobs, out) = spsc::bounded::<u64>(4);
    let server = Bridge::duplex::<_, u64>(out).bind("tcp://127.0.0.1:*").bounded(4);
    let (server, _received) = server.start().unwrap();
    let mut peer = Peer::connect(&server, 1);
    peer.greet(1);
    peer.say(Kind::Messages, 0, 6, &[0, 1, 2, 3, 4, 5]);
    peer.say(Kind::Messages, 6, 1, &[6]);
    until_malformed(&server, 1);
    let closing = thread::spawn(move || server.close(GUARD));
    let heard = peer.hear(Kind::End);
    assert!(heard.expected <= 4 && heard.flags.refuses, "{heard:?}");
    let complete = Header { flags: Flags { has_all: true, ..Flags::default() }, ..peer.header(Kind::Answer, 0, 0) };
    until("there is room", || peer.socket.send(&mut Frame::copied(&complete.bytes()).unwrap(), false).ok());
    assert_eq!(closing.join().unwrap(), Closed::Flushed);
}

/// Near the largest number nothing could be added to it.
#[test]
fn numbers_that_no_stream_reaches_are_refused() {
    let (_jobs, out) = spsc::bounded::<u64>(4);
    let server = Bridge::duplex::<_, u64>(out).bind("tcp://127.0.0.1:*").bounded(4);
    let (server, mut received) = server.start().unwrap();
    let mut peer = Peer::connect(&server, 1);
    peer.say(Kind::Hello, u64::MAX, 1, &[]);
    until_malformed(&server, 1);
    peer.greet(1);
    peer.say(Kind::Messages, u64::MAX, 1_000, &[0; 1_000]);
    peer.say(Kind::End, u64::MAX, 0, &[]);
    until_malformed(&server, 3);
    // More than any bridge puts into a frame.
    peer.say(Kind::Messages, 0, u32::MAX, &[0]);
    until_malformed(&server, 4);
    peer.say(Kind::Messages, 0, 1, &[7]);
    assert_eq!(received.recv_timeout(GUARD), Ok(7));
}

/// A hello of the connection before, read after that of the next, does not take the line back.
#[test]
fn a_hello_of_a_connection_that_is_gone_is_not_heard() {
    let (mut jobs, out) = spsc::bounded::<u64>(4);
    let (server, _nothing) = Bridge::duplex::<_, u64>(out).bind("tcp://127.0.0.1:*").start().unwrap();
    let mut before = Peer::connect(&server, 1);
    before.greet(1);
    let mut next = Peer::connect(&server, 1);
    next.of = before.of;
    next.greet(2);
    before.say(Kind::Hello, 0, 1, &[]);
    // Of no sender, and read after it.
    before.session = 0;
    before.say(Kind::Messages, 0, 0, &[]);
    until_malformed(&server, 1);
    drop(before);
    let events = server.events();
    while !matches!(events.recv_timeout(GUARD).unwrap(), Event::Disconnected(_)) {}
    jobs.send(7).unwrap();
    assert_eq!(next.hear(Kind::Messages).number, 0);
}

/// One that comes back after another had taken its place sends again what was not acknowledged. It is known by its number still.
#[test]
fn one_that_comes_back_is_known_again() {
    let (_jobs, out) = spsc::bounded::<u64>(4);
    let (server, mut received) = Bridge::duplex::<_, u64>(out).bind("tcp://127.0.0.1:*").start().unwrap();
    let events = server.events();
    let mut expect =
        |numbers: &[u64]| numbers.iter().for_each(|&number| assert_eq!(received.recv_timeout(GUARD), Ok(number)));
    let mut one = Peer::connect(&server, 1);
    one.take_over(false, 0);
    one.say(Kind::Messages, 0, 3, &[0, 1, 2]);
    expect(&[0, 1, 2]);
    one.leave(&events);
    for session in 2..=17 {
        let mut other = Peer::connect(&server, session);
        other.take_over(false, 0);
        other.say(Kind::Messages, 0, 1, &[session * 100]);
        expect(&[session * 100]);
        other.leave(&events);
    }
    let mut one = Peer::connect(&server, 1);
    one.take_over(false, 0);
    one.say(Kind::Messages, 0, 3, &[0, 1, 2]);
    one.say(Kind::Messages, 3, 1, &[3]);
    expect(&[3]);
    assert_eq!(server.statistics().duplicates, 3);
}

/// Nothing is kept: the bridge that comes back had what it was sent, and never was sent what another has received
/// meanwhile.
#[test]
fn what_one_that_comes_back_had_is_not_lost() {
    let (mut jobs, out) = spsc::bounded::<u64>(20);
    let (server, _nothing) = Bridge::duplex::<_, u64>(out).bind("tcp://127.0.0.1:*").start().unwrap();
    let events = server.events();
    let mut send = |numbers: core::ops::Range<u64>| numbers.for_each(|number| jobs.send(number).unwrap());
    let hear_all = |peer: &mut Peer, up_to| {
        while peer.expected < up_to {
            let heard = peer.hear(Kind::Messages);
            assert_eq!(heard.number, peer.expected);
            peer.expected += u64::from(heard.messages);
        }
    };
    let begin = |session, expected, lost| {
        let mut peer = Peer { expected, lost, ..Peer::connect(&server, session) };
        peer.take_over(false, 0);
        let hello = peer.hear(Kind::Hello);
        (peer, hello)
    };
    let (mut one, hello) = begin(1, 0, 0);
    one.say(Kind::Answer, 0, hello.messages, &[]);
    send(0..10);
    hear_all(&mut one, 10);
    // Without a word of what it has.
    one.leave(&events);
    let (mut other, hello) = begin(2, 0, 0);
    assert_eq!(hello.number, 10);
    other.expected = 10;
    other.say(Kind::Answer, 0, hello.messages, &[]);
    send(10..15);
    hear_all(&mut other, 15);
    other.be_heard();
    other.leave(&events);
    let (mut one, hello) = begin(1, 10, 0);
    assert_eq!(hello.number, 15);
    (one.expected, one.lost) = (15, 5);
    one.say(Kind::Answer, 0, hello.messages, &[]);
    let closing = thread::spawn(move || server.close(GUARD));
    one.hear(Kind::End);
    one.speak(Header { flags: Flags { has_all: true, ..Flags::default() }, ..one.header(Kind::Answer, 0, 0) }, &[]);
    assert_eq!(closing.join().unwrap(), Closed::Flushed);
}

/// For a peer that may have been forgotten, and keeps nothing, all that came before counts as lost: it is not
/// acknowledged.
#[test]
fn what_is_forgotten_was_not_received() {
    let (_jobs, out) = spsc::bounded::<u64>(4);
    let (server, _received) = Bridge::duplex::<_, u64>(out).bind("tcp://127.0.0.1:*").start().unwrap();
    let events = server.events();
    for session in 1..=18 {
        let mut peer = Peer::connect(&server, session);
        peer.take_over(false, 0);
        peer.leave(&events);
    }
    for (keeps, session, lost) in [(false, 1, 3), (true, 2, 0)] {
        let mut one = Peer::connect(&server, session);
        one.take_over(keeps, 3);
        let heard = one.hear(Kind::Answer);
        assert_eq!((heard.expected, heard.lost), (3, lost));
        one.leave(&events);
    }
}

/// The messages that wait for room do not belong to the stream of the next peer.
#[test]
fn what_is_held_is_of_the_stream_it_came_in() {
    let (_jobs, out) = spsc::bounded::<u64>(4);
    let server = Bridge::duplex::<_, u64>(out).bind("tcp://127.0.0.1:*").bounded(4);
    let (server, _received) = server.start().unwrap();
    let events = server.events();
    let mut one = Peer::connect(&server, 1);
    one.greet(1);
    one.say(Kind::Messages, 0, 6, &[0, 1, 2, 3, 4, 5]);
    one.be_heard();
    one.leave(&events);
    let mut other = Peer::connect(&server, 2);
    other.take_over(false, 10);
    assert_eq!(other.hear(Kind::Answer).expected, 10);
    other.leave(&events);
    // The first has it still.
    let mut one = Peer::connect(&server, 1);
    one.take_over(false, 0);
    assert_eq!(one.hear(Kind::Answer).expected, 4);
}

/// A bridge with room for four. It holds two messages of the first stream, whose sender is gone.
fn with_two_held() -> (Started, spsc::Sender<u64>, spsc::Receiver<u64>) {
    let (jobs, out) = spsc::bounded::<u64>(4);
    let server = Bridge::duplex::<_, u64>(out).bind("tcp://127.0.0.1:*").bounded(4);
    let (server, received) = server.start().unwrap();
    let mut one = Peer::connect(&server, 1);
    one.greet(1);
    one.say(Kind::Messages, 0, 6, &[0, 1, 2, 3, 4, 5]);
    one.be_heard();
    one.leave(&server.events());
    (server, jobs, received)
}

/// Closes the bridge while this is its other side, which disconnects when it knows. The first peer, which comes back
/// then, gets this number of its messages acknowledged.
fn expect_of_the_first(server: Started, mut other: Peer, messages: u64) {
    let (address, events) = (server.addresses()[0].clone(), server.events());
    let closing = thread::spawn(move || server.close(GUARD));
    while !other.hear(Kind::Answer).flags.refuses {}
    other.leave(&events);
    let mut one = Peer::connect_to(&address, 1);
    one.take_over(false, 0);
    let heard = one.hear(Kind::Answer);
    assert_eq!((heard.expected, heard.lost), (messages, 0));
    // Now it can close.
    let hello = one.hear(Kind::Hello);
    one.say(Kind::Answer, 0, hello.messages, &[]);
    one.hear(Kind::End);
    one.speak(Header { flags: Flags { has_all: true, ..Flags::default() }, ..one.header(Kind::Answer, 0, 0) }, &[]);
    assert_eq!(closing.join().unwrap(), Closed::Flushed);
}

/// What a bridge holds when it closes is dropped: also of those before the other side none of it was received.
#[test]
fn what_was_held_of_one_before_when_the_bridge_closed_is_not_acknowledged() {
    let (server, _jobs, _received) = with_two_held();
    let mut other = Peer::connect(&server, 2);
    other.take_over(false, 10);
    expect_of_the_first(server, other, 4);
}

/// But what has entered the channel since was, whatever is held of others.
#[test]
fn what_is_held_of_others_when_the_bridge_closes_says_nothing_of_one_before() {
    let (server, _jobs, mut received) = with_two_held();
    (0..6).for_each(|number| assert_eq!(received.recv_timeout(GUARD), Ok(number)));
    let mut other = Peer::connect(&server, 2);
    other.take_over(false, 0);
    other.say(Kind::Messages, 0, 6, &[10, 11, 12, 13, 14, 15]);
    other.be_heard();
    expect_of_the_first(server, other, 6);
}

/// Nor is anything received that was held when the receiver went, where the bridge closes with the stream of the other
/// side.
#[test]
fn what_was_held_of_one_before_when_the_receiver_went_is_not_acknowledged() {
    for keeps in [false, true] {
        let (server, _jobs, received) = with_two_held();
        let mut other = Peer::connect(&server, 2);
        other.take_over(false, 10);
        drop(received);
        while !other.hear(Kind::Answer).flags.refuses {}
        other.say(Kind::End, 10, 0, &[]);
        other.be_heard();
        other.leave(&server.events());
        let mut one = Peer::connect(&server, 1);
        one.take_over(keeps, 0);
        let heard = one.hear(Kind::Answer);
        assert_eq!((heard.expected, heard.lost), (4, 0));
    }
}

/// What was allowed once stays allowed, though another has filled the channel meanwhile.
#[test]
fn one_that_comes_back_may_send_what_it_had_been_allowed() {
    let (_jobs, out) = spsc::bounded::<u64>(4);
    let server = Bridge::duplex::<_, u64>(out).bind("tcp://127.0.0.1:*").bounded(4);
    let (server, mut received) = server.start().unwrap();
    let events = server.events();
    let mut one = Peer::connect(&server, 1);
    one.take_over(false, 0);
    assert_eq!(one.hear(Kind::Answer).limit, 4);
    one.leave(&events);
    let mut other = Peer::connect(&server, 2);
    other.take_over(false, 0);
    other.say(Kind::Messages, 0, 4, &[10, 11, 12, 13]);
    other.be_heard();
    other.leave(&events);
    let mut one = Peer::connect(&server, 1);
    one.take_over(false, 0);
    one.say(Kind::Messages, 0, 4, &[0, 1, 2, 3]);
    one.say(Kind::Messages, 4, 1, &[4]);
    until_malformed(&server, 1);
    for number in [10, 11, 12, 13, 0, 1, 2, 3] {
        assert_eq!(received.recv_timeout(GUARD), Ok(number));
    }
}
