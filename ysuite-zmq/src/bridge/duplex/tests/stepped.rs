//! A duplex without a thread: each step is made by hand, so that what it says and wants is known after each.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Wake, Waker};
use std::time::Instant;

use ysuite::{mpmc, spsc};

use super::super::super::outgoing::Outgoing;
use super::super::super::outgoing::tests::Shared;
use super::super::super::tools::Tools;
use super::super::super::work::{AT_ONCE, Wanted, Work};
use super::super::header::{Flags, Header, Kind, LAST};
use super::super::{Duplex, Hello, Line, PATIENCE};
use super::{Peer, until};
use crate::context::Context;
use crate::event::{self, Event};
use crate::ffi::{Kind as SocketKind, option};
use crate::frame::Frame;
use crate::socket::Socket;
use crate::statistics::{Counters, Statistics};
use crate::wire::Malformed;

struct Stepped {
    duplex: Duplex<spsc::Receiver<u64>, u64>,
    tools: Tools,
    jobs: spsc::Sender<u64>,
    received: spsc::Receiver<u64>,
    events: mpmc::Receiver<Event>,
}

impl Stepped {
    fn new(socket: Socket, line: Line, keeps: bool, room: Option<usize>) -> Self {
        let (told, events) = event::channel();
        let tools = Tools::new(socket, Arc::new(Counters::default()), told).unwrap();
        let (jobs, out) = spsc::bounded::<u64>(64);
        let (sender, received) = room.map_or_else(spsc::unbounded, spsc::bounded);
        let duplex = Duplex::new(Outgoing::new(out, 1, 1 << 20), sender, keeps, line);
        Self { duplex, tools, jobs, received, events }
    }

    /// One that binds, and where.
    fn bound(keeps: bool, room: Option<usize>) -> (Self, String) {
        let (socket, address) = (socket(SocketKind::Router), Context::fresh_name("stepped"));
        socket.set(option::ROUTER_MANDATORY, 1).unwrap();
        socket.set(option::SEND_MARK, 1).unwrap();
        socket.bind(&address).unwrap();
        (Self::new(socket, Line::bound(), keeps, room), address)
    }

    /// One that has connected to another side, of this session, and has not heard of the connection.
    fn connected(session: u64) -> (Self, Peer) {
        let (socket, other) = (socket(SocketKind::Dealer), socket(SocketKind::Dealer));
        let address = Context::fresh_name("stepped");
        other.bind(&address).unwrap();
        socket.connect(&address).unwrap();
        let side = Self::new(socket, Line::connected(true), false, None);
        (side, Peer { socket: other, session, of: 0, expected: 0, lost: 0 })
    }

    fn step(&mut self) -> usize {
        // What libzmq has to tell itself it looks at now and then.
        self.tools.socket.ready().unwrap();
        self.duplex.step(&mut self.tools).unwrap()
    }

    fn rest(&mut self) {
        self.duplex.rest(&mut self.tools).unwrap();
    }

    /// Both have said hello, and both have answered.
    fn meet(&mut self, peer: &mut Peer) {
        peer.say(Kind::Hello, 0, 1, &[]);
        self.step();
        self.answer(peer);
    }

    /// The other side answers the last hello.
    fn answer(&mut self, peer: &mut Peer) {
        let hello = peer.heard().into_iter().rfind(|header| header.kind == Kind::Hello);
        peer.say(Kind::Answer, 0, hello.expect("it has said hello").messages, &[]);
        self.step();
        assert!(matches!(self.duplex.hello, Hello::Answered { .. }));
    }

    /// The other side is gone, and libzmq knows. Whether this side does is left as it was.
    fn leave(&mut self, peer: Peer) {
        let Line::Bound { other, .. } = &self.duplex.line else { unreachable!("it has bound") };
        let name = other.clone();
        drop(peer);
        until("it is gone", || {
            self.tools.socket.ready().unwrap();
            self.duplex.say(Kind::Answer, 0, 0, &self.tools).unwrap();
            (!self.duplex.line.is_there()).then_some(())
        });
        let Line::Bound { other, .. } = &mut self.duplex.line else { unreachable!("it has bound") };
        *other = name;
    }

    /// As if the patience for an answer were over.
    fn age(&mut self) {
        self.duplex.since = Instant::now() - PATIENCE;
    }

    /// All senders of what leaves are gone.
    fn end(&mut self) {
        drop(mem::replace(&mut self.jobs, spsc::bounded(1).0));
    }

    fn statistics(&self) -> Statistics {
        self.tools.counters.read()
    }

    /// What has been told since this was last asked.
    fn told(&self) -> Vec<Event> {
        self.events.try_iter().collect()
    }
}

fn socket(kind: SocketKind) -> Socket {
    Socket::new(&Context::of_the_process().unwrap(), kind).unwrap()
}

fn kinds(heard: &[Header]) -> Vec<Kind> {
    heard.iter().map(|header| header.kind).collect()
}

/// What this one has said since it was last asked.
fn said(peer: &mut Peer) -> Vec<Kind> {
    kinds(&peer.heard())
}

fn keeping() -> Flags {
    Flags { keeps: true, ..Flags::default() }
}

#[test]
fn a_hello_is_answered_each_time_and_brings_no_other() {
    let (mut side, address) = Stepped::bound(false, None);
    let mut peer = Peer::connect_to(&address, 1);
    side.meet(&mut peer);
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
    let (mut side, address) = Stepped::bound(false, None);
    let mut peer = Peer::connect_to(&address, 1);
    side.meet(&mut peer);
    // From nothing that is waited for to something: it begins there.
    side.age();
    side.jobs.send(0).unwrap();
    assert_eq!((side.step(), said(&mut peer)), (1, vec![Kind::Messages]));
    assert_eq!((side.step(), said(&mut peer)), (0, vec![]));
    // What is sent besides does not begin it anew, nor does what says nothing of what is waited for.
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
    // And when it is over hello is said, and nothing else until that is answered.
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

/// A bridge that has come in the place of this one may be told what the other side had of the one before.
#[test]
fn what_is_said_of_another_stream_is_not_heard() {
    let (mut side, address) = Stepped::bound(false, None);
    let mut peer = Peer::connect_to(&address, 1);
    side.meet(&mut peer);
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
fn what_is_kept_is_sent_again_behind_an_answer() {
    let (mut side, address) = Stepped::bound(true, None);
    let mut peer = Peer::connect_to(&address, 1);
    side.meet(&mut peer);
    for number in 0..2 {
        side.jobs.send(number).unwrap();
    }
    side.step();
    side.end();
    side.step();
    assert_eq!(said(&mut peer), [Kind::Messages, Kind::Messages, Kind::End]);
    peer.expected = 1;
    peer.say(Kind::Answer, 0, 0, &[]);
    side.step();
    side.age();
    side.step();
    side.answer(&mut peer);
    side.step();
    let heard = peer.heard();
    assert_eq!((kinds(&heard), heard[0].number), (vec![Kind::Messages, Kind::End], 1));
    assert_eq!(side.statistics().repeated, 1);
    // The end alone.
    peer.expected = 2;
    peer.say(Kind::Answer, 0, 0, &[]);
    side.step();
    side.age();
    side.step();
    side.answer(&mut peer);
    side.step();
    assert_eq!((said(&mut peer), side.statistics().repeated), (vec![Kind::End], 1));
    assert!(!side.duplex.is_done());
    let flags = Flags { has_all: true, ..Flags::default() };
    peer.speak(Header { flags, ..peer.header(Kind::Answer, 0, 0) }, &[]);
    side.step();
    assert!(side.duplex.is_done());
}

#[test]
fn who_lacks_some_is_asked_from_where_on() {
    let (mut side, address) = Stepped::bound(true, None);
    let mut peer = Peer::connect_to(&address, 1);
    side.meet(&mut peer);
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
fn a_third_is_told_of_once() {
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
fn who_takes_a_place_is_told_of_with_what_went_with_the_one_before() {
    let (mut side, address) = Stepped::bound(false, None);
    let mut first = Peer::connect_to(&address, 1);
    side.meet(&mut first);
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

/// There is one connection: whoever speaks there is the other side.
#[test]
fn who_connects_hears_whoever_is_there() {
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
    // Nor anything but hello to somebody who has not said it.
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
    // The next may be there before the one before is told of.
    line.notice(&begun);
    line.notice(&begun);
    assert!(line.notice(&ended) && line.is_there());
    // Inside of the process nobody tells.
    assert!(Line::connected(false).is_there());
    let mut line = Line::bound();
    assert!(!line.is_there() && !line.tells_of_room() && !line.is_doubted());
    assert!(!line.notice(&begun) && !line.is_doubted());
    assert!(!line.notice(&ended) && line.is_doubted());
    line.trust();
    assert!(!line.is_doubted());
}

/// Where half of what was allowed has come, and so much more may come that it is worth a frame.
#[test]
fn room_is_told_of_before_it_is_short() {
    /// What it says now of how much may be sent, if anything.
    fn limits(side: &mut Stepped, peer: &mut Peer) -> Vec<u64> {
        side.step();
        peer.heard().iter().map(|header| header.limit).collect()
    }
    let (mut side, address) = Stepped::bound(false, Some(8));
    let mut peer = Peer::connect_to(&address, 1);
    side.meet(&mut peer);
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
    // Nobody receives: no room is wanted, and none told of.
    peer.say(Kind::Messages, 7, 4, &[7, 8, 9, 10]);
    assert_eq!(limits(&mut side, &mut peer), []);
    assert!(side.duplex.wanted().sink);
    drop(mem::replace(&mut side.received, spsc::bounded(1).1));
    assert_eq!((limits(&mut side, &mut peer), side.duplex.wanted().sink), (vec![], false));
}

/// Without a bound so much may be under way.
#[test]
fn room_without_a_bound_is_told_of_as_well() {
    let (mut side, address) = Stepped::bound(false, None);
    let mut peer = Peer::connect_to(&address, 1);
    side.meet(&mut peer);
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
    // No room in the socket: it looks again soon, and wants nothing else.
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
fn one_that_has_connected_is_told_of_room() {
    let (mut side, mut peer) = Stepped::connected(1);
    let nothing = Wanted { receive: true, ..Wanted::default() };
    side.duplex.noticed(&Event::Connected(String::new()));
    side.step();
    let wanted = side.duplex.wanted();
    // Nobody is there who could be told that there is room.
    assert_eq!(Wanted { until: None, ..wanted }, nothing);
    side.meet(&mut peer);
    side.duplex.blocked = true;
    assert_eq!(side.duplex.wanted(), Wanted { send: true, ..nothing });
    side.duplex.noticed(&Event::Disconnected(String::new()));
    assert_eq!(side.duplex.wanted(), nothing);
}

/// Whatever has become of the line, what waits wants room; nothing else does.
#[test]
fn one_without_a_connection_wants_room_for_what_waits() {
    for (messages, waits) in [(2, false), (6, true)] {
        let (mut side, address) = Stepped::bound(false, Some(4));
        let mut peer = Peer::connect_to(&address, 1);
        side.meet(&mut peer);
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

/// Where no set tells of it, and there is somebody to be told.
#[test]
fn a_receiver_that_goes_wakes_one_who_can_say_so() {
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
        let (mut side, address) = Stepped::bound(false, Some(4));
        let mut peer = Peer::connect_to(&address, 1);
        side.meet(&mut peer);
        (side, peer)
    };
    let (side, _peer) = begin();
    assert!(wakes(side, |_| {}));
    let (side, _peer) = begin();
    assert!(!wakes(side, |side| side.duplex.blocked = true));
    let (side, _peer) = begin();
    assert!(!wakes(side, |side| side.duplex.line = Line::bound()));
    let (side, peer) = begin();
    // Its set tells.
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

/// Of what has come, and where nobody is left who could be told it is not tried.
#[test]
fn what_has_come_is_said_before_a_rest() {
    let (mut side, address) = Stepped::bound(false, None);
    let mut peer = Peer::connect_to(&address, 1);
    side.meet(&mut peer);
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

#[test]
fn the_last_word_is_said_where_somebody_has_heard_all() {
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
    assert!(!side.duplex.has_said_all(), "nobody has been told of the message");
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
    assert!(!side.duplex.has_said_all() && !side.duplex.lingers(), "nobody is there");
}

/// Behind a hello that the other side has answered nothing is doubted.
#[test]
fn a_hello_settles_a_doubt() {
    let (mut side, address) = Stepped::bound(false, None);
    let mut peer = Peer::connect_to(&address, 1);
    side.meet(&mut peer);
    side.duplex.noticed(&Event::Disconnected(String::new()));
    assert!(!side.duplex.has_said_all());
    side.step();
    side.answer(&mut peer);
    side.rest();
    assert!(side.duplex.has_said_all());
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

/// A ROUTER tells of nobody's room: it is tried again.
#[test]
fn who_has_no_room_is_sent_the_rest_later() {
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
        // Two hellos, an answer, and the end.
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
fn who_is_gone_is_sent_nothing() {
    let (mut side, address) = Stepped::bound(false, None);
    let mut first = Peer::connect_to(&address, 1);
    side.meet(&mut first);
    side.leave(first);
    side.jobs.send(0).unwrap();
    side.step();
    assert_eq!((side.statistics().messages_out, side.duplex.line.is_there()), (0, false));
    let mut second = Peer::connect_to(&address, 2);
    side.meet(&mut second);
    assert_eq!((said(&mut second), side.statistics().messages_out), (vec![Kind::Messages], 1));
    assert_eq!(side.told(), [Event::Replaced]);
}

/// Whoever says something without end does not keep the bridge from everything else.
#[test]
fn so_much_is_heard_at_once() {
    let (mut side, address) = Stepped::bound(false, None);
    let mut peer = Peer::connect_to(&address, 1);
    side.meet(&mut peer);
    (0..AT_ONCE + 2).for_each(|_| peer.say(Kind::Answer, 0, 0, &[]));
    side.jobs.send(0).unwrap();
    assert_eq!((side.step(), said(&mut peer)), (AT_ONCE + 1, vec![Kind::Messages]));
    assert_eq!(side.step(), 2);
    peer.say(Kind::Messages, 0, 3, &[0, 1, 2]);
    assert_eq!(side.step(), 4);
}

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
fn what_is_left_out_is_lost_and_told() {
    let (mut side, address) = Stepped::bound(false, None);
    let mut peer = Peer::connect_to(&address, 1);
    side.meet(&mut peer);
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
    // And by the end.
    peer.say(Kind::End, 12, 0, &[]);
    side.step();
    side.rest();
    let answer = *peer.heard().last().unwrap();
    assert_eq!((answer.expected, answer.lost, answer.flags.has_all, answer.flags.lacks), (12, 9, true, false));
    assert_eq!(side.told(), [lost(2)]);
    assert!(side.received.try_recv().is_err_and(|error| error.is_disconnected()));
}

fn lost(messages: u64) -> Event {
    Event::Lost { messages }
}

/// Whoever keeps its messages is told, and sends them again.
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

/// Nobody receives: what is left out is missed by nobody.
#[test]
fn what_is_refused_is_not_lacked() {
    for keeps in [false, true] {
        let (mut side, address) = Stepped::bound(false, None);
        let mut peer = Peer::connect_to(&address, 1);
        side.meet(&mut peer);
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

/// Those that wait for room are of the stream they came in, whoever has come and gone meanwhile; so is its end.
#[test]
fn another_stream_has_its_own_end() {
    let (mut side, address) = Stepped::bound(false, Some(4));
    let mut first = Peer::connect_to(&address, 1);
    side.meet(&mut first);
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

/// As many of its messages as came since it was back, and as were held then, and no more.
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

/// One that is to have what was kept for another with more room gets no more of it than it allows, and the end behind it.
#[test]
fn what_was_kept_waits_for_the_limit() {
    let (mut side, address) = Stepped::bound(true, None);
    let mut first = Peer::connect_to(&address, 1);
    side.meet(&mut first);
    for number in 0..2 {
        side.jobs.send(number).unwrap();
    }
    side.end();
    side.step();
    side.step();
    assert_eq!(said(&mut first), [Kind::Messages, Kind::Messages, Kind::End]);
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

/// Another is told of the end as well, whether the one before had heard of it or not.
#[test]
fn the_end_is_said_to_whoever_comes_next() {
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

/// One that closes stands aside where others receive from its channel as well.
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

/// Whatever it says, it has no more than it was sent, and the end not before it was said.
#[test]
fn who_says_that_it_has_all_has_what_was_sent() {
    let (mut side, address) = Stepped::bound(false, None);
    let mut peer = Peer::connect_to(&address, 1);
    side.meet(&mut peer);
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

/// It is told that this was all, and neither what was kept nor what is in the channel.
#[test]
fn who_refuses_is_sent_nothing_more() {
    for keeps in [false, true] {
        let (mut side, address) = Stepped::bound(keeps, None);
        let mut peer = Peer::connect_to(&address, 1);
        side.meet(&mut peer);
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

#[test]
fn a_frame_has_as_many_messages_as_it_says() {
    let (mut side, address) = Stepped::bound(false, None);
    let mut peer = Peer::connect_to(&address, 1);
    side.meet(&mut peer);
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

/// What is under way to one that has no connection is not done, nor what was never sent.
#[test]
fn what_is_under_way_is_to_be_done() {
    let (mut side, address) = Stepped::bound(false, None);
    let mut peer = Peer::connect_to(&address, 1);
    side.meet(&mut peer);
    side.duplex.close(&mut side.tools).unwrap();
    side.jobs.send(0).unwrap();
    side.step();
    side.duplex.line = Line::bound();
    assert!(!side.duplex.is_done());
    assert_eq!(side.duplex.left(), 1);
}

#[test]
fn who_keeps_says_so() {
    for keeps in [false, true] {
        let (mut side, address) = Stepped::bound(keeps, None);
        let mut peer = Peer::connect_to(&address, 1);
        peer.say(Kind::Hello, 0, 1, &[]);
        side.step();
        assert!(peer.heard().iter().all(|header| header.flags.keeps == keeps));
    }
}
