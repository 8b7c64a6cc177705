//! [`Tools`]: what the thread of a bridge has for every kind of work.

use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use super::reconnect::{self, Reconnect};
use crate::error::{Error, Failure};
use crate::event::{Event, Told};
use crate::frame::Frame;
use crate::monitor::{Monitor, Seen};
use crate::names::{Inproc, is_inproc};
use crate::socket::Socket;
use crate::statistics::Counters;
use crate::wire::Malformed;

pub(super) struct Tools {
    /// Dropped before the socket.
    pub(super) inproc: Inproc,
    pub(super) socket: Socket,
    /// Dropped after the socket.
    pub(super) monitor: Monitor,
    /// Connections that had ended before anything was handed over, as far as has been heard.
    pub(super) ended_empty: u64,
    reconnect: Reconnect,
    pub(super) counters: Arc<Counters>,
    pub(super) events: Told,
    /// The bridge is about to sleep: a handle that finds nothing takes its id down, and its other side pays for raising
    /// it.
    pub(super) arms: bool,
    /// What is received into: the last part of what came last.
    pub(super) frame: Frame,
    /// Where frames are written before they are copied into libzmq's memory. Empty between two of them.
    pub(super) scratch: Vec<u8>,
}

impl Tools {
    pub(super) fn new(mut socket: Socket, counters: Arc<Counters>, events: Told) -> Result<Self, Error> {
        let monitor = Monitor::of(&mut socket)?;
        let inproc = Inproc::new(socket.context());
        Ok(Self {
            inproc,
            socket,
            monitor,
            ended_empty: 0,
            reconnect: Reconnect::after(reconnect::BY_LIBZMQ),
            counters,
            events,
            arms: false,
            frame: Frame::empty(),
            scratch: Vec::new(),
        })
    }

    /// Before anything is connected: how long libzmq itself waits until it tries again.
    pub(super) fn reconnect_after(&mut self, times: (Duration, Duration)) {
        self.reconnect = Reconnect::after(times);
    }

    /// Binds this address. Returns how libzmq spells it.
    pub(super) fn bind(&mut self, address: &str) -> Result<String, Error> {
        if is_inproc(address) { self.inproc.bind(&self.socket, address) } else { self.socket.bind(address) }
    }

    /// Connects to this address, over IPv6 or over IPv4, now and whenever it is needed later. The waker is woken when a name has been
    /// bound.
    pub(super) fn connect(&mut self, address: &str, is_v6: bool, waker: &Waker) -> Result<(), Error> {
        if is_inproc(address) { self.inproc.connect(address, waker) } else { self.reach(address, is_v6) }
    }

    /// Connects to an address that is no name within the process.
    pub(super) fn reach(&mut self, address: &str, is_v6: bool) -> Result<(), Error> {
        self.socket.connect_over(address, is_v6)?;
        self.reconnect.add(address, is_v6);
        Ok(())
    }

    /// Connects to a name that has been bound, or once more if libzmq has given up an address. Returns the event to
    /// report.
    fn meet(&mut self) -> Option<Event> {
        match self.inproc.join(&self.socket) {
            Ok(Some(address)) => return Some(Event::Connected(address)),
            Ok(None) => {}
            // For want of descriptors or memory: there may be some later.
            Err(_) => return None,
        }
        self.reconnect.next()?;
        self.reconnect.again(&self.socket, Instant::now()).map(Event::Retrying)
    }

    /// When there is something to connect to.
    pub(super) fn meets_at(&self) -> Option<Instant> {
        self.reconnect.next()
    }

    /// Connects anew to all addresses that libzmq tries to connect to: what waits in it for them is dropped. What has come
    /// was taken before.
    pub(super) fn renew(&mut self) {
        self.reconnect.renew(&self.socket);
    }

    /// The number of connections that have ended after frames may have gone over them.
    pub(super) fn ended(&self) -> u64 {
        self.monitor.ended() + self.inproc.ended()
    }

    /// Never waits: if they are not read, the oldest events are dropped.
    pub(super) fn tell(&self, event: Event) {
        self.events.tell(event);
    }

    /// What has happened to a connection since the last check.
    pub(super) fn hear(&mut self) -> Result<Option<Event>, Failure> {
        while let Some(seen) = self.monitor.look()? {
            if let Some(turn) = self.monitor.take_turn() {
                self.reconnect.notice(&turn, Instant::now());
            }
            if let Seen::Event(event) = seen {
                return Ok(Some(event));
            }
        }
        if self.counters.frames_out.get() == 0 {
            self.ended_empty = self.ended();
        }
        Ok(self.meet())
    }

    /// Counts a malformed frame, and reports it.
    pub(super) fn refuse(&self, malformed: Malformed) {
        self.counters.malformed.add(1);
        self.tell(Event::Malformed(malformed));
    }

    /// Counts a frame that has come, and the messages in it that are new.
    pub(super) fn received(&self, bytes: usize, messages: usize) {
        self.counters.frames_in.add(1);
        self.counters.bytes_in.add(bytes);
        self.counters.messages_in.add(messages);
    }

    // MUTANT: libzmq shows no part before it has all of them.
    /// Receives all parts of what comes next, shows each before the last to `before_last`, and answers how many there were:
    /// none where nothing is there.
    pub(super) fn receive(&mut self, mut before_last: impl FnMut(&mut Frame)) -> Result<usize, Failure> {
        if !self.socket.receive(&mut self.frame)? {
            return Ok(0);
        }
        let mut parts = 1;
        while self.frame.more() {
            before_last(&mut self.frame);
            // They come together: libzmq shows none before it has all.
            if !self.socket.receive(&mut self.frame)? {
                break;
            }
            parts += 1;
        }
        Ok(parts)
    }

    /// Hands over a message of several parts: those before the last, and the last. False: the socket has no room, and all
    /// of them hold what they held.
    pub(super) fn send_all(&self, before: &mut Vec<Frame>, last: &mut Frame, messages: usize) -> Result<bool, Failure> {
        for (at, part) in before.iter_mut().enumerate() {
            if !self.send(part, true, 0)? && at == 0 {
                return Ok(false);
            }
            // MUTANT: Needs a connection that ends between two parts.
            // Where a later part is refused its connection has ended, and took the earlier ones with it: libzmq then
            // drops what follows, up to the last part.
        }
        let is_alone = before.is_empty();
        if !self.send(last, false, messages)? {
            if is_alone {
                return Ok(false);
            }
            // MUTANT: As above.
            // As above, but nothing follows: once more it would be a message of its own. It counts as what libzmq
            // throws away with a connection.
            self.counters.frames_out.add(1);
            self.counters.messages_out.add(messages);
        }
        before.clear();
        Ok(true)
    }

    /// Hands over the contents of a frame of `messages` messages. False: the socket has no room, and the frame still
    /// holds them.
    pub(super) fn send(&self, frame: &mut Frame, more: bool, messages: usize) -> Result<bool, Failure> {
        match self.socket.send(frame, more) {
            Ok(bytes) => {
                self.counters.bytes_out.add(bytes);
                if !more {
                    self.counters.frames_out.add(1);
                    self.counters.messages_out.add(messages);
                }
                Ok(true)
            }
            // MUTANT: libzmq gives no other error here.
            Err(cause) if cause.would_wait() => Ok(false),
            Err(cause) => Err(cause),
        }
    }
}
