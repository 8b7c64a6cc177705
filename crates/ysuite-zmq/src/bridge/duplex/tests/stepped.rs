//! A duplex without a thread: each step is made by hand, so that what it says and wants is known after each.

use std::mem;
use std::sync::Arc;
use std::time::Instant;

use ysuite::{mpmc, spsc};

use super::super::super::outgoing::Outgoing;
use super::super::super::tools::Tools;
use super::super::super::work::Work as _;
use super::super::header::{Flags, Header, Kind};
use super::super::{Duplex, Hello, Line, PATIENCE};
use super::{Peer, until};
use crate::context::Context;
use crate::event::{self, Event};
use crate::ffi::{Kind as SocketKind, option};
use crate::socket::Socket;
use crate::statistics::{Counters, Statistics};

pub(super) struct Stepped {
    pub(super) duplex: Duplex<spsc::Receiver<u64>, u64>,
    pub(super) tools: Tools,
    pub(super) jobs: spsc::Sender<u64>,
    pub(super) received: spsc::Receiver<u64>,
    pub(super) events: mpmc::Receiver<Event>,
}

impl Stepped {
    pub(super) fn new(socket: Socket, line: Line, keeps: bool, room: Option<usize>) -> Self {
        let (told, events) = event::channel();
        let tools = Tools::new(socket, Arc::new(Counters::default()), told).unwrap();
        let (jobs, out) = spsc::bounded::<u64>(64);
        let (sender, received) = room.map_or_else(spsc::unbounded, spsc::bounded);
        let duplex = Duplex::new(Outgoing::new(out, 1, 1 << 20), sender, keeps, line);
        Self { duplex, tools, jobs, received, events }
    }

    /// One that binds, and where.
    pub(super) fn bound(keeps: bool, room: Option<usize>) -> (Self, String) {
        let (socket, address) = (socket(SocketKind::Router), Context::fresh_name("stepped"));
        socket.set(option::ROUTER_MANDATORY, 1).unwrap();
        socket.set(option::SEND_MARK, 1).unwrap();
        socket.bind(&address).unwrap();
        (Self::new(socket, Line::bound(), keeps, room), address)
    }

    /// As above, and another side that it has met.
    pub(super) fn met(keeps: bool, room: Option<usize>) -> (Self, Peer, String) {
        let (mut side, address) = Self::bound(keeps, room);
        let mut peer = Peer::connect_to(&address, 1);
        side.meet(&mut peer);
        (side, peer, address)
    }

    /// One that has connected to another side, of this session, and has not heard of the connection.
    pub(super) fn connected(session: u64) -> (Self, Peer) {
        let (socket, other) = (socket(SocketKind::Dealer), socket(SocketKind::Dealer));
        let address = Context::fresh_name("stepped");
        other.bind(&address).unwrap();
        socket.connect(&address).unwrap();
        let side = Self::new(socket, Line::connected(true), false, None);
        (side, Peer { socket: other, session, of: 0, expected: 0, lost: 0 })
    }

    pub(super) fn step(&mut self) -> usize {
        // libzmq checks its own internal commands now and then.
        self.tools.socket.ready().unwrap();
        self.duplex.step(&mut self.tools).unwrap()
    }

    pub(super) fn rest(&mut self) {
        self.duplex.rest(&mut self.tools).unwrap();
    }

    /// Both have sent hello, and both have answered.
    pub(super) fn meet(&mut self, peer: &mut Peer) {
        peer.say(Kind::Hello, 0, 1, &[]);
        self.step();
        self.answer(peer);
    }

    /// The other side answers the last hello.
    pub(super) fn answer(&mut self, peer: &mut Peer) {
        let hello = peer.heard().into_iter().rfind(|header| header.kind == Kind::Hello);
        peer.say(Kind::Answer, 0, hello.expect("it has sent hello").messages, &[]);
        self.step();
        assert!(matches!(self.duplex.hello, Hello::Answered { .. }));
    }

    /// The other side is gone, and libzmq knows. Whether this side does is left as it was.
    pub(super) fn leave(&mut self, peer: Peer) {
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

    /// As if the time limit for an answer were over.
    pub(super) fn age(&mut self) {
        self.duplex.since = Instant::now() - PATIENCE;
    }

    /// All senders of what leaves are gone.
    pub(super) fn end(&mut self) {
        drop(mem::replace(&mut self.jobs, spsc::bounded(1).0));
    }

    pub(super) fn statistics(&self) -> Statistics {
        self.tools.counters.read()
    }

    /// The events since the last call.
    pub(super) fn told(&self) -> Vec<Event> {
        self.events.try_iter().collect()
    }
}

pub(super) fn socket(kind: SocketKind) -> Socket {
    Socket::new(&Context::of_the_process().unwrap(), kind).unwrap()
}

pub(super) fn kinds(heard: &[Header]) -> Vec<Kind> {
    heard.iter().map(|header| header.kind).collect()
}

/// What this one has said since it was last asked.
pub(super) fn said(peer: &mut Peer) -> Vec<Kind> {
    kinds(&peer.heard())
}

pub(super) fn keeping() -> Flags {
    Flags { keeps: true, ..Flags::default() }
}

pub(super) fn lost(messages: u64) -> Event {
    Event::Lost { messages }
}
