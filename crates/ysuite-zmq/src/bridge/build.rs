//! [`Bridge`] and the builders it begins: one for each kind, all with the same words.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::time::Duration;

use ysuite::{mpmc, spsc};

use super::answer::Answer;
use super::ask::Ask;
use super::duplex::{Duplex as Talk, HEADER, Line};
use super::gate::Gate;
use super::incoming::{Incoming, Topics};
use super::options::Options;
use super::outgoing::Outgoing;
use super::publish::WhenFull;
use super::sets::Sets;
use super::source::Source;
use super::started::{Started, start};
use crate::context::Context;
use crate::curve::{KeyPair, PublicKey};
use crate::error::Error;
use crate::ffi::{Kind, option};
use crate::socket::Socket;
use crate::topic::Topic;
use crate::wire::{FromWire, ToWire, Wire};

/// Messages that a duplex keeps by default: the other side's default capacity.
const KEPT: usize = 1 << 16;

/// The functions that begin a bridge: see the [crate's documentation](crate).
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
    pub(super) options: Options,
    pub(super) source: S,
    pub(super) topic: Topic,
    pub(super) places: Topics,
    pub(super) when_full: WhenFull,
}

/// Receives what is published into a channel of its own. Begun by [`Bridge::subscribe`].
#[derive(Debug)]
#[must_use = "a bridge begins with `start`"]
pub struct Subscribe<T> {
    pub(super) options: Options,
    /// Nothing: everything.
    pub(super) topics: Option<Vec<Topic>>,
    pub(super) places: Topics,
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
    /// Begins a bridge from this receiver's channel to the `pull` bridges. Several of them share the messages, in turn,
    /// as long as they have room. A stuck one holds what its connection holds: the marks and the kernels' buffers,
    /// which [`kernel_buffers`](Push::kernel_buffers) limits.
    pub fn push<S: Source<Message: ToWire>>(source: S) -> Push<S> {
        const { assert!(!S::Message::HAS_TOPIC, "a message with a topic is published") };
        Push { options: Options::new(), source }
    }

    /// Begins a bridge from those that push to a new channel.
    pub fn pull<T: FromWire>() -> Pull<T> {
        const { assert!(!T::HAS_TOPIC, "a message with a topic is published") };
        Pull { options: Options::new(), messages: PhantomData }
    }

    /// Begins a bridge from this receiver's channel to all that have subscribed. Each message has the topic of the
    /// bridge, or, where it is [`Published`](crate::Published), its own.
    pub fn publish<S: Source<Message: ToWire>>(source: S) -> Publish<S> {
        let (options, when_full) = (Options::new(), WhenFull::default());
        Publish { options, source, topic: Topic::default(), places: Topics::Part, when_full }
    }

    /// Begins a bridge between this receiver's channel, with a new one here, and the same of one other bridge. What
    /// leaves here comes there, and each side knows what the other has received.
    pub fn duplex<S: Source<Message: ToWire>, T: FromWire>(source: S) -> Duplex<S, T> {
        const { assert!(!S::Message::HAS_TOPIC && !T::HAS_TOPIC, "a message with a topic is published") };
        Duplex { options: Options::new(), source, keeps: false, unacknowledged: KEPT, messages: PhantomData }
    }

    /// Begins a bridge that asks those that answer, and returns each answer to the thread or task that asked. The other
    /// side is a bridge that [answers](Self::answer), a REP, or a ROUTER that sends back what is before the question.
    /// Several of them are asked in turn.
    pub fn ask<Q: ToWire, A: FromWire>() -> Ask<Q, A> {
        const { assert!(!Q::HAS_TOPIC && !A::HAS_TOPIC, "a message with a topic is published") };
        Ask::new()
    }

    /// Begins a bridge from those that ask to a new channel, and back. The other side is a bridge that
    /// [asks](Self::ask), a REQ, or a DEALER.
    pub fn answer<Q: FromWire, A: ToWire>() -> Answer<Q, A> {
        const { assert!(!Q::HAS_TOPIC && !A::HAS_TOPIC, "a message with a topic is published") };
        Answer::new()
    }

    /// Begins a bridge from publishers to a new channel. Messages that are [`Published`](crate::Published) come with
    /// their topics.
    pub fn subscribe<T: FromWire>() -> Subscribe<T> {
        Subscribe { options: Options::new(), topics: None, places: Topics::Part, messages: PhantomData }
    }
}

/// The options of every builder.
macro_rules! impl_common {
    ($builder:ident, $($parameter:ident),*) => {
        impl<$($parameter),*> $builder<$($parameter),*> {
            /// Binds this address: `tcp://*:5555`, `tcp://127.0.0.1:*`, `ipc:///run/jobs`, `inproc://jobs`. May be
            /// called more than once, and together with [`connect`](Self::connect). An IPv6 address is in brackets; `*`
            /// is all of IPv4's, `[::]` all of both.
            ///
            /// The file of an `ipc` address exists as long as the bridge. A file with a listener is in use; one without
            /// is replaced. The bridge connects to find out: the listener sees a connection that ends at once.
            pub fn bind(mut self, address: impl Into<String>) -> Self {
                self.options.bind(address.into());
                self
            }

            /// Connects to this address, by IPv4 where its host has such an address, else by IPv6, and again whenever the
            /// connection ends, after 0.1 to 5 seconds, or as [`reconnect_after`](Self::reconnect_after) says. The
            /// other side need not exist yet. After a mistake of the other
            /// side, such as another program, another security, a key that is refused, or a frame that is too large,
            /// again after 0.5 to 5 seconds: [`Event`](crate::Event)s report each. To a name of `inproc` when it is
            /// bound.
            pub fn connect(mut self, address: impl Into<String>) -> Self {
                self.options.connect(address.into());
                self
            }

            /// Uses this context in place of the process's own. Addresses of `inproc` are names in one context.
            pub fn context(mut self, context: &Context) -> Self {
                self.options.context = Some(context.clone());
                self
            }

            /// Limits what libzmq queues on this side of a connection: `send` in messages, and `receive` in frames,
            /// whose size the sender chooses; 1,000 frames each by default. Together with the channels, the kernel's
            /// buffers, and up to 32 messages or a frame in the bridge itself, that is all that can be in transit.
            /// Messages wait there once the receiving channel is full. To an unbounded channel the bridge passes
            /// everything on, and the mark is never reached.
            pub fn high_water_marks(mut self, send: usize, receive: usize) -> Self {
                (self.options.send_mark, self.options.receive_mark) = (Some(send), Some(receive));
                self
            }

            /// Limits the bytes that the kernel buffers for sending and for receiving on each tcp connection, as far as
            /// it can. The kernel's own sizes, up to some megabytes, are best for throughput. Linux takes twice of each
            /// for its own needs, and at least about 4,600 and 2,300 bytes. The system's own limits apply.
            pub fn kernel_buffers(mut self, send: usize, receive: usize) -> Self {
                self.options.kernel_buffers = Some((send, receive));
                self
            }

            /// Sets how long libzmq waits before it connects again: `first`, then twice as long each time, up to
            /// `longest`; 0.1 and 5 seconds by default. After a mistake of the other side the bridge waits so as well,
            /// but at least half a second. Counted in milliseconds, one at least.
            pub fn reconnect_after(mut self, first: Duration, longest: Duration) -> Self {
                self.options.reconnect = (first, longest);
                self
            }

            /// Ends a tcp connection to a machine that has answered nothing for so long: whether or not something is
            /// under way, the system asks. By default that takes a minute while nothing is under way, and else as long as
            /// the system tries. Counted in seconds; less than 6 may take longer.
            ///
            /// A stopped program is not noticed: its machine answers. These are not libzmq's own heartbeats, which end
            /// the connection, and at times the process, of a side that is only made to wait (libzmq#3937). Those of a
            /// peer are answered.
            pub fn keep_alive(mut self, silent: Duration) -> Self {
                self.options.keep_alive = Some(silent);
                self
            }

            /// Ends a connection over which a longer frame arrives: 64 MiB by default. Frames of the handshake are
            /// measured as well: with fewer than 600 bytes the handshake may never succeed. This bounds each frame, not
            /// the memory of libzmq: a message of ØMQ may have any number of frames, and the bridge sees none of them
            /// before the last has arrived. Only CURVE keeps strangers out.
            ///
            /// Packs of records are no larger than that. A single message may be, and the other side must then allow
            /// it: a duplex with [`at_least_once`](crate::Duplex::at_least_once) would otherwise send it again without end.
            pub fn largest_frame(mut self, bytes: usize) -> Self {
                self.options.largest = bytes;
                self
            }

            /// Speaks CURVE, as the client of a server that has this key: both sides are authenticated, and the traffic
            /// is encrypted.
            pub fn curve(mut self, own: KeyPair, server: PublicKey) -> Self {
                self.options.curve(own, server);
                self
            }

            /// Speaks CURVE, as a server that admits only the owners of these keys.
            pub fn curve_server(mut self, own: KeyPair, allowed: impl IntoIterator<Item = PublicKey>) -> Self {
                self.options.curve_server(own, allowed.into_iter().collect());
                self
            }

            /// Sends a name and a password, which every host on the route can read: not over tcp, unless
            /// [`plain_over_tcp`](Self::plain_over_tcp) is called as well.
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

pub(super) use impl_common;

impl_common!(Push, S);
impl_common!(Pull, T);
impl_common!(Publish, S);
impl_common!(Subscribe, T);
impl_common!(Duplex, S, T);

/// The options of every builder of a bridge that receives.
macro_rules! impl_receiving {
    ($builder:ident, $($parameter:ident),*) => {
        impl<$($parameter),*> $builder<$($parameter),*> {
            /// Makes the channel unbounded: the bridge takes messages from the network as fast as they arrive, and a
            /// slower receiver's messages wait in memory. libzmq's marks then have no effect on this side. Up to 65,536
            /// messages of a duplex may be in transit to such a channel.
            pub fn unbounded(mut self) -> Self {
                self.options.bound = None;
                self
            }

            /// Refuses a frame with a message whose values are nested deeper: 128 levels by default. It applies to
            /// recursive types, such as [`Postcard`](crate::Postcard) of a type that contains itself. Each level takes
            /// some of the bridge's stack of 2 MiB: a hundred bytes for small structures, more for large ones.
            pub fn deepest_message(mut self, levels: usize) -> Self {
                self.options.limits.depth = levels;
                self
            }

            /// Refuses a frame whose messages would take more bytes of memory once they are read than this, or than eight times
            /// those of the frame, where that is more: 64 MiB by default. It applies to messages whose
            /// [`Layout`](crate::Layout) is `Lengths`, such as [`Postcard`](crate::Postcard); all others take about the
            /// size of the frame. Values and elements of lists are counted, before they are in the channel.
            pub fn memory_of_a_frame(mut self, bytes: usize) -> Self {
                self.options.limits.memory = bytes;
                self
            }
        }
    };
}

pub(super) use impl_receiving;

impl_receiving!(Pull, T);
impl_receiving!(Subscribe, T);
impl_receiving!(Duplex, S, T);

impl<S: Source<Message: ToWire>> Push<S> {
    /// Puts up to this many messages into a frame, from 1 to 2^20; 1 by default. A frame never waits to be full. A
    /// message whose [`Layout`](crate::Layout) is `Whole` is always a frame of its own. With the layout `Records` a
    /// frame has no more messages than its [largest size](Self::largest_frame) allows.
    pub fn pack(mut self, messages: usize) -> Self {
        self.options.pack = messages;
        self
    }

    /// Starts the bridge. Never waits for the other side. Host names are resolved for a second at most. Those that are
    /// not found by then are tried again at growing intervals, up to every 5 seconds, and
    /// [`Event::Unresolved`](crate::Event::Unresolved) reports that.
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

/// A channel with this capacity, or without a bound.
fn channel<T>(bound: Option<usize>) -> (spsc::Sender<T>, spsc::Receiver<T>) {
    bound.map_or_else(spsc::unbounded, spsc::bounded)
}

/// What a channel that waits for its receiver needs, once the options are right.
pub(super) fn waiting<T: Send + 'static>(options: &Options) -> Result<(Gate<T>, Sets, spsc::Receiver<T>), Error> {
    options.check()?;
    let (mut sender, receiver) = channel(options.bound);
    let sets = Sets::default().sink(&mut sender)?;
    Ok((Gate::Waits(sender), sets, receiver))
}

/// The same, of a channel that does not.
pub(super) fn conflated<T: Send + 'static>(options: &Options) -> Result<(Gate<T>, mpmc::Receiver<T>), Error> {
    options.check()?;
    let (sender, receiver) = options.bound.map_or_else(mpmc::unbounded, mpmc::bounded);
    Ok((Gate::Newest(sender, 0), receiver))
}

impl<T: FromWire> Pull<T> {
    /// Sets the capacity of the channel, in messages: 1,000 by default. While it is full the bridge takes nothing from
    /// the network, and finally the other side's senders wait.
    pub fn bounded(mut self, messages: usize) -> Self {
        self.options.bound = Some(messages);
        self
    }

    /// Resolves hosts with this function, for a test.
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
        let (gate, sets, receiver) = waiting(&self.options)?;
        Ok((self.begin(gate, sets)?, receiver))
    }

    /// As [`start`](Self::start), with a channel that is never full for the bridge: a message that finds no room replaces
    /// the oldest one, and [`dropped`](crate::Statistics::dropped) counts that. With [`bounded(1)`](Self::bounded) only
    /// the newest message is kept, as with libzmq's `ZMQ_CONFLATE`. The other side never waits for this one.
    ///
    /// # Errors
    /// As there.
    pub fn start_conflated(self) -> Result<(Started, mpmc::Receiver<T>), Error> {
        let (gate, receiver) = conflated(&self.options)?;
        Ok((self.begin(gate, Sets::default())?, receiver))
    }

    fn begin(self, gate: Gate<T>, sets: Sets) -> Result<Started, Error> {
        let work = Incoming::new(gate).limited(self.options.limits);
        start(&self.options, Kind::Pull, |_| Ok(()), sets, work)
    }
}

impl<S: Source<Message: ToWire>, T: FromWire> Duplex<S, T> {
    /// As [`Push::pack`].
    pub fn pack(mut self, messages: usize) -> Self {
        self.options.pack = messages;
        self
    }

    /// As [`Pull::bounded`], with the same default; and exact: the other side sends no more than there is room for.
    ///
    /// A grant stays valid. A bridge that comes back after others had taken its place, of the last 16, may still send
    /// what it had been granted before, though they have filled the channel meanwhile. Those messages wait in this
    /// bridge: of each such bridge up to the channel's capacity, and one frame.
    pub fn bounded(mut self, messages: usize) -> Self {
        self.options.bound = Some(messages);
        self
    }

    /// Keeps what the other side has not acknowledged, and sends it again when a connection has ended before that. The other side
    /// leaves out by number what it has received already: as long as both bridges live, every message is received exactly once,
    /// and in order. That holds for a bridge that comes back after others had taken its place, up to 16 of them: what
    /// was received of an older one is forgotten, and what it sends again is received twice. A bridge that takes the
    /// place of one that has ended without a word gets the messages that the old one had not acknowledged: both may
    /// receive a message.
    ///
    /// At most 65,536 messages are kept; [`unacknowledged`](Self::unacknowledged) changes that. While that many are not
    /// acknowledged the channel fills, and its senders wait.
    pub fn at_least_once(mut self) -> Self {
        self.keeps = true;
        self
    }

    /// Limits how many messages are kept, with [`at_least_once`](Self::at_least_once): 65,536 by default. That bounds
    /// the memory that the other side can take by acknowledging nothing, whatever room it announces. The other side
    /// acknowledges when it has nothing more to receive, or something to send. If the limit is much less than what is
    /// in transit on the network, this side waits for it.
    pub fn unacknowledged(mut self, messages: usize) -> Self {
        self.unacknowledged = messages;
        self
    }

    /// As [`Pull::start`]. This side's receiver is disconnected when all senders of the other side are gone, or its
    /// bridge has been closed. This side's senders are disconnected when the other side has no receiver any more.
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
            // Reports it if no socket has that name any more.
            Kind::Router => Ok(socket.set(option::ROUTER_MANDATORY, 1)?),
            _ => Ok(()),
        };
        Ok((start(&options, kind, prepare, sets, talk)?, receiver))
    }
}
