//! [`Bridge`] and the builders it begins: one for each kind, all with the same words.

use std::collections::HashMap;
use std::marker::PhantomData;

use ysuite::spsc;

use super::duplex::{Duplex as Talk, HEADER, Line};
use super::incoming::Incoming;
use super::options::Options;
use super::outgoing::Outgoing;
use super::publish::{Publishing, WhenFull};
use super::sets::Sets;
use super::source::Source;
use super::started::{Started, start};
use crate::context::Context;
use crate::curve::{KeyPair, PublicKey};
use crate::error::Error;
use crate::ffi::{Kind, option};
use crate::socket::Socket;
use crate::wire::{FromWire, ToWire};

/// Messages that a duplex keeps, unless told otherwise: as many as the other side has room for, unless told otherwise.
const KEPT: usize = 1 << 16;

/// Begins a bridge: see the [crate's documentation](crate).
#[derive(Clone, Copy, Debug)]
pub struct Bridge;

/// Sends what a channel holds: each message to one of those that pull. Begun by [`Bridge::push`].
#[derive(Debug)]
#[must_use = "a bridge begins with `start`"]
pub struct Push<S> {
    options: Options,
    source: S,
}

/// Receives, from those that push, into a channel of its own. Begun by [`Bridge::pull`].
#[derive(Debug)]
#[must_use = "a bridge begins with `start`"]
pub struct Pull<T> {
    options: Options,
    messages: PhantomData<fn() -> T>,
}

/// Sends what a channel holds to all that have subscribed. Begun by [`Bridge::publish`].
#[derive(Debug)]
#[must_use = "a bridge begins with `start`"]
pub struct Publish<S> {
    options: Options,
    source: S,
    topic: String,
    when_full: WhenFull,
}

/// Receives what is published into a channel of its own. Begun by [`Bridge::subscribe`].
#[derive(Debug)]
#[must_use = "a bridge begins with `start`"]
pub struct Subscribe<T> {
    options: Options,
    messages: PhantomData<fn() -> T>,
}

/// Sends what a channel holds to one other bridge, and receives from it into a channel of its own. Begun by [`Bridge::duplex`].
#[derive(Debug)]
#[must_use = "a bridge begins with `start`"]
pub struct Duplex<S, T> {
    options: Options,
    source: S,
    keeps: bool,
    unacknowledged: usize,
    messages: PhantomData<fn() -> T>,
}

impl Bridge {
    /// From this receiver's channel to those that pull. Several of them share the messages, in turn, as long as they have room: one
    /// that is stuck holds as much as its connection does, with the marks and the kernels' buffers, of which
    /// [`kernel_buffers`](Push::kernel_buffers) makes little.
    pub fn push<S: Source<Message: ToWire>>(source: S) -> Push<S> {
        Push { options: Options::new(), source }
    }

    /// From those that push to a new channel.
    pub fn pull<T: FromWire>() -> Pull<T> {
        Pull { options: Options::new(), messages: PhantomData }
    }

    /// From this receiver's channel to all that have subscribed.
    pub fn publish<S: Source<Message: ToWire>>(source: S) -> Publish<S> {
        Publish { options: Options::new(), source, topic: String::new(), when_full: WhenFull::default() }
    }

    /// Between this receiver's channel with a new one here, and the same of one other bridge. What leaves here comes there, and
    /// each side knows what the other has received.
    pub fn duplex<S: Source<Message: ToWire>, T: FromWire>(source: S) -> Duplex<S, T> {
        Duplex { options: Options::new(), source, keeps: false, unacknowledged: KEPT, messages: PhantomData }
    }

    /// From a publisher to a new channel.
    pub fn subscribe<T: FromWire>() -> Subscribe<T> {
        Subscribe { options: Options::new(), messages: PhantomData }
    }
}

/// What every builder can be told.
macro_rules! impl_common {
    ($builder:ident, $($parameter:ident),*) => {
        impl<$($parameter),*> $builder<$($parameter),*> {
            /// Waits for others at this address: `tcp://*:5555`, `tcp://127.0.0.1:*`, `ipc:///run/jobs`, `inproc://jobs`. May be
            /// said more than once, and together with [`connect`](Self::connect). An IPv6 address stands in brackets; `*` is
            /// all of IPv4's, `[::]` all of both.
            ///
            /// The file of an `ipc` address is there as long as the bridge is. One that somebody listens at is in use; one
            /// that was left behind is replaced. Whether somebody listens is found by connecting: to them it is a
            /// connection that ends at once.
            pub fn bind(mut self, address: impl Into<String>) -> Self {
                self.options.bind(address.into());
                self
            }

            /// Connects to this address, by IPv4 where its host has such an address, else by IPv6, and again whenever the
            /// connection ends, after 0.1 to 5 seconds. Nobody need be there yet. After a mistake of the other side, such as
            /// another program, another security, a key that is refused, or a frame that is too large, again after 0.5 to 5
            /// seconds: [`Event`](crate::Event)s tell of each. To a name of `inproc` whenever it is bound.
            pub fn connect(mut self, address: impl Into<String>) -> Self {
                self.options.connect(address.into());
                self
            }

            /// Uses this context in place of the process's own. Addresses of `inproc` are names in one context.
            pub fn context(mut self, context: &Context) -> Self {
                self.options.context = Some(context.clone());
                self
            }

            /// How much waits in libzmq before a connection, in messages, and behind it, in frames of whatever size whoever sends
            /// makes them: 1,000 frames each, unless told otherwise. With what the channels and the kernel hold, and up to 32
            /// messages or a frame in the bridge's own hands, that is all that can be under way. What comes waits there once
            /// the channel behind it is full: to one without a bound the bridge hands everything on, and the mark is never
            /// reached.
            pub fn high_water_marks(mut self, send: usize, receive: usize) -> Self {
                (self.options.send_mark, self.options.receive_mark) = (Some(send), Some(receive));
                self
            }

            /// Has the kernel hold no more bytes than that before and behind each connection over tcp, as far as it can: what it
            /// does by itself, up to some megabytes, is best for throughput. Linux takes twice of either for its own
            /// needs, and at least about 4,600 and 2,300 bytes. Not more than what the system allows.
            pub fn kernel_buffers(mut self, send: usize, receive: usize) -> Self {
                self.options.kernel_buffers = Some((send, receive));
                self
            }

            /// Ends a connection over which a frame of more bytes comes: 64 MiB, unless told otherwise. Frames of the handshake are
            /// measured as well: with fewer than 600 bytes a connection may never come about. That is a bound of each
            /// frame, not of what somebody may have libzmq keep: a message of ØMQ may have frames without end, none of which is
            /// seen here before the last has come. Only CURVE keeps strangers out.
            ///
            /// Packs of records are made no larger than that; a single message may be, and the other side must then allow it: a
            /// duplex that sends it [`at_least_once`](Duplex::at_least_once) to one that does not would send it again without end.
            pub fn largest_frame(mut self, bytes: usize) -> Self {
                self.options.largest = bytes;
                self
            }

            /// Speaks CURVE, as the client of a server that has this key: both are sure of each other, nobody else can read.
            pub fn curve(mut self, own: KeyPair, server: PublicKey) -> Self {
                self.options.curve(own, server);
                self
            }

            /// Speaks CURVE, as a server that admits the owners of these keys, and nobody else.
            pub fn curve_server(mut self, own: KeyPair, allowed: impl IntoIterator<Item = PublicKey>) -> Self {
                self.options.curve_server(own, allowed.into_iter().collect());
                self
            }

            /// Says a name and a password, which everybody on the way can read: not over tcp, unless
            /// [`plain_over_tcp`](Self::plain_over_tcp) is said as well.
            pub fn plain(mut self, name: impl Into<String>, password: impl Into<String>) -> Self {
                self.options.plain(name.into(), password.into());
                self
            }

            /// Admits those with one of these names and its password.
            pub fn plain_server(mut self, users: HashMap<String, String>) -> Self {
                self.options.plain_server(users);
                self
            }

            /// Sends passwords readable over tcp: through a tunnel, say, that is safe itself.
            pub fn plain_over_tcp(mut self) -> Self {
                self.options.plain_over_tcp = true;
                self
            }
        }
    };
}

impl_common!(Push, S);
impl_common!(Pull, T);
impl_common!(Publish, S);
impl_common!(Subscribe, T);
impl_common!(Duplex, S, T);

/// What every builder of a bridge that receives can be told.
macro_rules! impl_receiving {
    ($builder:ident, $($parameter:ident),*) => {
        impl<$($parameter),*> $builder<$($parameter),*> {
            /// Gives the channel room for whatever comes: the network is emptied into it as fast as it comes, and where
            /// the receiver is slower all of that waits in memory. No mark of libzmq's then means anything on this side. Up to
            /// 65,536 messages of a duplex may be under way to such a channel.
            pub fn unbounded(mut self) -> Self {
                self.options.bound = None;
                self
            }

            /// Refuses a frame with a message in which values lie in each other deeper: 128 levels, unless told otherwise. Of
            /// messages that can, as [`Postcard`](crate::Postcard) of a type with itself in it: each level takes some
            /// of the bridge's stack of 2 MiB, a hundred bytes for small structures, more for large ones.
            pub fn deepest_message(mut self, levels: usize) -> Self {
                self.options.limits.depth = levels;
                self
            }

            /// Refuses a frame whose messages would take more bytes of memory once they are read than this, or than eight times
            /// those of the frame, where that is more: 64 MiB, unless told otherwise. Of messages whose
            /// [`Layout`](crate::Layout) is `Lengths`, as [`Postcard`](crate::Postcard); all others take about as
            /// many as the frame. Counted are values and elements of lists, before they are in the channel.
            pub fn memory_of_a_frame(mut self, bytes: usize) -> Self {
                self.options.limits.memory = bytes;
                self
            }
        }
    };
}

impl_receiving!(Pull, T);
impl_receiving!(Subscribe, T);
impl_receiving!(Duplex, S, T);

impl<S: Source<Message: ToWire>> Push<S> {
    /// Puts up to so many messages into a frame, from 1 to 2^20; 1 unless told otherwise. A frame never waits to be full. Of
    /// messages whose [`Layout`](crate::Layout) is `Whole` each is a frame, whatever is said here. Of those whose layout is
    /// `Records` there are no more in a frame than its [largest size](Self::largest_frame) has room for.
    pub fn pack(mut self, messages: usize) -> Self {
        self.options.pack = messages;
        self
    }

    /// Starts the bridge. Never waits for the other side. Names of hosts are looked up for a second at most; those that are not
    /// found by then are looked up again, each time later, up to every 5 seconds, which
    /// [`Event::Unresolved`](crate::Event::Unresolved) tells of.
    ///
    /// # Errors
    /// [`Error`] names what was wrong. The receiver is dropped then, as if the bridge had ended.
    pub fn start(self) -> Result<Started, Error> {
        let Self { options, mut source } = self;
        options.check()?;
        let sets = Sets::default().source(&mut source)?;
        start(&options, Kind::Push, |_| Ok(()), sets, Outgoing::new(source, options.pack, options.largest))
    }
}

impl<S: Source<Message: ToWire>> Publish<S> {
    /// As [`Push::pack`].
    pub fn pack(mut self, messages: usize) -> Self {
        self.options.pack = messages;
        self
    }

    /// What stands before each frame, and what subscribers ask for by its beginning; empty unless told otherwise.
    pub fn topic(mut self, topic: impl Into<String>) -> Self {
        self.topic = topic.into();
        self
    }

    /// What becomes of messages while a subscriber has no room.
    pub fn when_full(mut self, when_full: WhenFull) -> Self {
        self.when_full = when_full;
        self
    }

    /// As [`Push::start`].
    ///
    /// # Errors
    /// As there.
    pub fn start(self) -> Result<Started, Error> {
        let Self { options, mut source, topic, when_full } = self;
        options.check()?;
        let sets = Sets::default().source(&mut source)?;
        let prepare = |socket: &Socket| {
            socket.set(option::XPUB_NO_DROP, 1)?;
            // Tells of every subscriber that comes and goes, not of the first and the last.
            Ok(socket.set(option::XPUB_VERBOSER, 1)?)
        };
        let outgoing = Outgoing::new(source, options.pack, options.largest);
        start(&options, Kind::XPub, prepare, sets, Publishing::new(outgoing, topic.into_bytes(), when_full))
    }
}

/// A channel of so many messages, or without a bound.
fn channel<T>(bound: Option<usize>) -> (spsc::Sender<T>, spsc::Receiver<T>) {
    bound.map_or_else(spsc::unbounded, spsc::bounded)
}

impl<T: FromWire> Pull<T> {
    /// Gives the channel room for so many messages: 1,000, unless told otherwise. While it is full nothing is taken from the
    /// network, and in the end the other side's senders wait.
    pub fn bounded(mut self, messages: usize) -> Self {
        self.options.bound = Some(messages);
        self
    }

    /// Hosts are looked up so, for a test.
    #[cfg(test)]
    pub(super) fn looked_up(mut self, lookup: super::names::Lookup) -> Self {
        self.options.lookup = lookup;
        self
    }

    /// As [`Push::start`], with the receiver of the channel. The bridge takes no more from the network when that is dropped.
    ///
    /// # Errors
    /// As there.
    pub fn start(self) -> Result<(Started, spsc::Receiver<T>), Error> {
        self.options.check()?;
        let (mut sender, receiver) = channel(self.options.bound);
        let sets = Sets::default().sink(&mut sender)?;
        let started = start(
            &self.options,
            Kind::Pull,
            |_| Ok(()),
            sets,
            Incoming::new(sender, false).limited(self.options.limits),
        )?;
        Ok((started, receiver))
    }
}

impl<T: FromWire> Subscribe<T> {
    /// As [`Pull::bounded`], and as many unless told otherwise. A subscriber that stays full has its publisher drop, or wait.
    pub fn bounded(mut self, messages: usize) -> Self {
        self.options.bound = Some(messages);
        self
    }

    /// Asks for everything whose topic begins so; may be said more than once. Without it, for everything.
    pub fn topic(mut self, beginning: impl Into<String>) -> Self {
        self.options.topics.push(beginning.into());
        self
    }

    /// As [`Pull::start`].
    ///
    /// # Errors
    /// As there.
    pub fn start(self) -> Result<(Started, spsc::Receiver<T>), Error> {
        self.options.check()?;
        let (mut sender, receiver) = channel(self.options.bound);
        let sets = Sets::default().sink(&mut sender)?;
        let all = [String::new()];
        let topics = if self.options.topics.is_empty() { &all[..] } else { &self.options.topics };
        // A publisher counts beginnings that reach its topic: what another covers would make two subscribers of one. One that is
        // said twice libzmq itself says once, to a connection that comes later, as all of them do.
        let is_covered =
            |topic: &String| topics.iter().any(|beginning| topic != beginning && topic.starts_with(beginning));
        let prepare = |socket: &Socket| {
            let mut needed = topics.iter().filter(|topic| !is_covered(topic));
            needed.try_for_each(|topic| Ok(socket.set_bytes(option::SUBSCRIBE, topic.as_bytes())?))
        };
        let work = Incoming::new(sender, true).limited(self.options.limits);
        let started = start(&self.options, Kind::Sub, prepare, sets, work)?;
        Ok((started, receiver))
    }
}

impl<S: Source<Message: ToWire>, T: FromWire> Duplex<S, T> {
    /// As [`Push::pack`].
    pub fn pack(mut self, messages: usize) -> Self {
        self.options.pack = messages;
        self
    }

    /// As [`Pull::bounded`], and as many unless told otherwise; and exact: the other side sends no more than there is room for.
    ///
    /// What was allowed once stays allowed. A bridge that comes back after others had taken its place, of the last 16,
    /// may still send what it had been allowed before, though they have filled the channel meanwhile: that waits in
    /// this bridge, up to as many messages of each of them as the channel has room for, and one frame.
    pub fn bounded(mut self, messages: usize) -> Self {
        self.options.bound = Some(messages);
        self
    }

    /// Keeps what the other side has not acknowledged, and sends it again when a connection has ended before that. The other side
    /// leaves out by number what it has received already: as long as both bridges live, every message is received exactly once,
    /// and in order. That holds for a bridge that comes back after others had taken its place, up to 16 of them: of one before those
    /// it is forgotten what was received, and what it sends again is received twice. Whoever takes the place of a bridge that has
    /// ended without a word is sent what that one had not acknowledged: a message may be received by both.
    ///
    /// No more than 65,536 messages are kept, unless [told otherwise](Self::unacknowledged). While so many are not acknowledged
    /// the channel fills, and its senders wait.
    pub fn at_least_once(mut self) -> Self {
        self.keeps = true;
        self
    }

    /// Keeps so many messages at most, with [`at_least_once`](Self::at_least_once): 65,536, unless told otherwise. That is
    /// all the memory that the other side can take by acknowledging nothing, whatever it says that it has room for. The
    /// other side acknowledges what it has received when it has nothing more to receive, or something to say: with much less than
    /// what is under way on the network this one waits for it.
    pub fn unacknowledged(mut self, messages: usize) -> Self {
        self.unacknowledged = messages;
        self
    }

    /// As [`Pull::start`]. The receiver sees the end of its channel when all senders of the other side's are gone, or its bridge
    /// has been closed; the senders of this one's see it when nobody receives at the other side any more.
    ///
    /// # Errors
    /// As there.
    pub fn start(self) -> Result<(Started, spsc::Receiver<T>), Error> {
        let Self { options, mut source, keeps, unacknowledged, .. } = self;
        if unacknowledged == 0 {
            return Err(Error::Bound);
        }
        options.check()?;
        let line = options.line()?;
        let kind = if matches!(line, Line::Bound { .. }) { Kind::Router } else { Kind::Dealer };
        let (mut sender, receiver) = channel(options.bound);
        let sets = Sets::default().source(&mut source)?.sink(&mut sender)?;
        let largest = options.largest.saturating_sub(HEADER);
        let talk = Talk::new(Outgoing::new(source, options.pack, largest), sender, keeps, line).limited(options.limits);
        let talk = if keeps { talk.keeping(unacknowledged) } else { talk };
        let prepare = |socket: &Socket| match kind {
            // Says so where nobody has that name any more.
            Kind::Router => Ok(socket.set(option::ROUTER_MANDATORY, 1)?),
            _ => Ok(()),
        };
        Ok((start(&options, kind, prepare, sets, talk)?, receiver))
    }
}
