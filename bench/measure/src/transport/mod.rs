//! One file per measured mechanism. This one states what each of them provides, and `registry` names them all.
//!
//! A message is a counter, alone or with a block after it (see `message`). The loops of streams, bursts and bounces are
//! generic over [`Transport`], so each is compiled for its competitor alone: no indirect call is made per message. Loops
//! that read the clock or sleep for each message in one direction are compiled once, for handles behind pointers: see
//! `scenario::handles`. A handle may block or spin as its mechanism does. It must return [`Closed`] once its peer is dropped, so that a lost
//! message ends a run instead of hanging it.
//!
//! `ysuite`'s `watch` and `timer` are no transports. A `watch` loses values that were not observed, and every driver
//! counts its messages. A `timer` carries none.

pub mod attached;
pub mod broadcast;
pub mod channels;
pub mod check;
pub mod crossbeam;
pub mod crossbeam_select;
pub mod empty;
pub mod epoll_proof;
pub mod handed;
pub mod hub;
pub mod hub_loaded;
pub mod in_epoll;
pub mod kernel;
pub mod logged;
pub mod mailbox;
pub mod mailbox_types;
pub mod message;
pub mod mpmc;
pub mod mpsc;
pub mod mutex_condvar;
pub mod mutex_condvar_any;
pub mod mutex_eventfd_loop;
mod mutex_queue;
pub mod mutex_spin;
pub mod oneshot;
mod parcel;
mod pooled;
pub mod process;
pub mod rtrb;
pub mod shape;
pub mod slowed;
pub mod spinning;
pub mod spsc;
pub mod std_eventfds;
pub mod std_mpsc;
pub mod tasks;
pub mod tcp_stream;
pub mod tokio_mpsc;
pub mod unix_stream;
pub mod ypipe_spin;
pub mod ypipe_woken;

use std::io;

pub use self::message::Message;
pub use self::shape::{Ends, Shape};
pub use crate::record::{Family, Waits};

/// The peer is dropped, and with it every message that was still due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed;

/// The properties and abilities of a transport.
#[derive(Clone, Copy, Debug)]
pub struct Traits {
    /// The name on the command line.
    pub name: &'static str,
    /// One sentence, without its full stop.
    pub about: &'static str,
    /// Its origin, set by the registry.
    pub family: Family,
    pub waits: Waits,
    /// Whether it takes part when single messages are measured. A transport made for batches only, or to serve many
    /// channels, does not.
    pub one_by_one: bool,
    /// Whether its sender can publish several messages at once.
    pub batches: bool,
    /// Whether its receiver can wait in epoll alongside sockets.
    pub works_with_epoll: bool,
    /// Whether its sender waits when no more messages fit.
    pub bounded: bool,
    /// The numbers of threads that can send and receive. Where several can receive, all messages are in one order.
    pub senders: Ends,
    pub receivers: Ends,
    /// Whether a message that one sender sends after another sender's message arrives after it: one order of all
    /// messages. Otherwise each sender has a lane, and its own order only.
    pub one_order: bool,
    /// The most bytes of one message between a number of threads, on the machine as it is set up now.
    pub most_bytes: fn(Shape) -> usize,
    /// Whether it has loops for messages of the few smallest sizes only, and by value: each further kind of message
    /// costs seconds of every build. [`Traits::most_bytes`] then agrees with it.
    pub few_sizes: bool,
    /// Whether this machine has it, and if not, the reason without a full stop. Called before it is measured.
    pub available: fn() -> Result<(), String>,
    /// Whether it takes part only when asked for by name: made to test the instrument.
    pub hidden: bool,
    /// Whether it is a variant of another: it waits differently, has other room, or is made for other uses than streams
    /// from one to one. It is left out of the comparison without a command, unless named.
    pub variant: bool,
    /// Whether its receiver invents the messages instead of receiving them. Times from one side to the other are then
    /// meaningless.
    pub invents: bool,
    /// Whether its two sides are processes, and not threads of this one: it takes part in the scenarios of those only.
    pub between_processes: bool,
    /// Whether its threads belong to another process: the threads, memory and calls counted here are then not its own.
    pub apart: bool,
    /// Whether it comes from another package. Set by the registry when it is added. A third-party competitor that fails
    /// validation is taken out; a failure of one of our own ends the run.
    pub guest: bool,
}

impl Traits {
    /// For struct update: the properties that most transports share.
    pub const COMMON: Self = Self {
        name: "",
        about: "",
        family: Family::Crates,
        waits: Waits::LooksThenSleeps,
        one_by_one: true,
        batches: false,
        works_with_epoll: false,
        bounded: false,
        senders: Ends::One,
        receivers: Ends::One,
        one_order: true,
        most_bytes: |_| usize::MAX,
        few_sizes: false,
        available: || Ok(()),
        hidden: false,
        variant: false,
        invents: false,
        between_processes: false,
        apart: false,
        guest: false,
    };
}

/// A way of passing messages from one thread to another, in order.
pub trait Transport: 'static {
    const TRAITS: Traits;
    type Sender<M: Message>: Sender<M>;
    type Receiver<M: Message>: Receiver<M>;

    /// A new pair of handles, made on the thread that starts the measurement.
    fn open<M: Message>() -> io::Result<(Self::Sender<M>, Self::Receiver<M>)>;

    /// The same for exactly `messages` messages and the end after them. Only a transport that invents its messages
    /// needs the number.
    fn open_for<M: Message>(_messages: usize) -> io::Result<(Self::Sender<M>, Self::Receiver<M>)> {
        Self::open()
    }
}

/// A transport whose [`Traits`] say that several threads can send, or receive.
pub trait Many: Transport {
    /// New handles for each side, as many as `shape` says and its traits allow.
    fn open_many<M: Message>(shape: Shape) -> io::Result<Sides<Self, M>>;
}

/// The handles of all senders, and those of all receivers.
pub type Sides<T, M> = (Vec<<T as Transport>::Sender<M>>, Vec<<T as Transport>::Receiver<M>>);

/// The handle itself and its clones, `count` together. A plain loop: this is compiled for every transport and message.
pub fn copies<E: Clone>(end: E, count: usize) -> Vec<E> {
    let mut ends = Vec::with_capacity(count);
    while ends.len() + 1 < count {
        ends.push(end.clone());
    }
    if ends.len() < count {
        ends.push(end);
    }
    ends
}

/// [`Many`] for transports whose further handles are clones of the first: those of senders, or of both sides.
#[macro_export]
macro_rules! ends_by_cloning {
    (senders: $($transport:ty),+) => { $(
        impl $crate::transport::Many for $transport {
            fn open_many<M: $crate::transport::Message>(
                shape: $crate::transport::Shape,
            ) -> std::io::Result<$crate::transport::Sides<Self, M>> {
                let (sender, receiver) = <Self as $crate::transport::Transport>::open::<M>()?;
                Ok(($crate::transport::copies(sender, shape.senders), vec![receiver]))
            }
        }
    )+ };
    (both: $($transport:ty),+) => { $(
        impl $crate::transport::Many for $transport {
            fn open_many<M: $crate::transport::Message>(
                shape: $crate::transport::Shape,
            ) -> std::io::Result<$crate::transport::Sides<Self, M>> {
                let (sender, receiver) = <Self as $crate::transport::Transport>::open::<M>()?;
                let senders = $crate::transport::copies(sender, shape.senders);
                Ok((senders, $crate::transport::copies(receiver, shape.receivers)))
            }
        }
    )+ };
}
pub use ends_by_cloning;

/// The handle of the sending thread.
pub trait Sender<M: Message>: Send + 'static {
    /// Sends one message, visible at once. Blocks or spins while a bounded transport is full.
    fn send(&mut self, message: M) -> Result<(), Closed>;

    /// Sends `count` messages counting up from `first`, published together where the transport can do that.
    fn send_batch(&mut self, first: usize, count: usize) -> Result<(), Closed> {
        for number in first..first + count {
            self.send(M::numbered(number))?;
        }
        Ok(())
    }
}

/// The handle of the receiving thread.
pub trait Receiver<M: Message>: Send + 'static {
    /// Waits for the next message, in the transport's way.
    fn recv(&mut self) -> Result<M, Closed>;

    /// Waits for the next message and appends it. Where the transport can, also appends up to `max - 1` more that are
    /// ready.
    fn recv_batch(&mut self, into: &mut Vec<M>, _max: usize) -> Result<(), Closed> {
        into.push(self.recv()?);
        Ok(())
    }
}
