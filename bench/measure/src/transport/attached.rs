//! A `ysuite::spsc` for each sender, all attached to one set. One thread waits in that set, and so serves many
//! channels.
//!
//! ```text
//!   sender 0   send ----> spsc --+                             receiver thread: the ids that are ready,
//!   sender 1   send ----> spsc --+--> YPollset, or YSocketpair     then try_recv from those channels alone
//!   sender 2   send ----> spsc --+    in epoll
//! ```
//!
//! A channel is read until it is found empty. Then its id is no longer ready. Cannot: be fair to the others while one
//! sender never pauses.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::event::epoll;
use ysuite::TryRecvError;
use ysuite::signal::{Attach, Signals, Wait, YPollset, YSocketpair};
use ysuite::spsc;

use super::channels::channels;
use super::{Closed, Ends, Many, Message, Shape, Sides, Traits, Waits};

const COMMON: Traits = Traits { one_by_one: false, senders: Ends::Many, one_order: false, ..Traits::COMMON };

/// A set of a number of signals, and the way to wait for one of them.
pub trait Set: Sized + Send + 'static {
    fn of(signals: usize) -> io::Result<Self>;

    fn attach(&mut self, receiver: &mut impl Attach, id: usize) -> io::Result<()>;

    fn wait(&mut self) -> Signals;
}

impl Set for YPollset {
    fn of(signals: usize) -> io::Result<Self> {
        Ok(Self::with_capacity(signals))
    }

    fn attach(&mut self, receiver: &mut impl Attach, id: usize) -> io::Result<()> {
        Ok(Self::attach(self, receiver, id)?)
    }

    #[inline(always)]
    fn wait(&mut self) -> Signals {
        Wait::wait(self)
    }
}

pub struct Polled {
    set: YSocketpair,
    epoll: OwnedFd,
}

impl Set for Polled {
    fn of(signals: usize) -> io::Result<Self> {
        let set = YSocketpair::with_capacity(signals)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &set, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
        Ok(Self { set, epoll })
    }

    fn attach(&mut self, receiver: &mut impl Attach, id: usize) -> io::Result<()> {
        Ok(self.set.attach(receiver, id)?)
    }

    fn wait(&mut self) -> Signals {
        let mut events = [MaybeUninit::uninit(); 8];
        // An interrupted wait found nothing: the caller polls again.
        let _ = epoll::wait(&self.epoll, &mut events, None);
        self.set.check()
    }
}

pub struct Receiver<M, S> {
    /// Channels whose senders are dropped are `None`.
    channels: Vec<Option<spsc::Receiver<M>>>,
    open: usize,
    set: S,
    /// The ids that the last poll has found, and the one that is being read.
    up: Signals,
    reading: Option<usize>,
}

type Channels<M, S> = (Vec<spsc::Sender<M>>, Receiver<M, S>);

fn ends<M: Message, S: Set>(count: usize) -> io::Result<Channels<M, S>> {
    let mut set = S::of(count)?;
    let (mut senders, mut channels) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for id in 0..count {
        let (sender, mut receiver) = spsc::unbounded();
        set.attach(&mut receiver, id)?;
        senders.push(sender);
        channels.push(Some(receiver));
    }
    Ok((senders, Receiver { channels, open: count, set, up: Signals::default(), reading: None }))
}

impl<M: Message, S: Set> super::Receiver<M> for Receiver<M, S> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        loop {
            if let Some(channel) = self.reading.and_then(|id| self.channels.get_mut(id)) {
                match channel.as_mut().map_or(Err(TryRecvError::Empty), spsc::Receiver::try_recv) {
                    Ok(message) => return Ok(message),
                    Err(TryRecvError::Empty) => {}
                    Err(TryRecvError::Disconnected) => {
                        *channel = None;
                        self.open -= 1;
                    }
                }
            }
            self.reading = self.up.next();
            match (self.reading, self.open) {
                (None, 0) => return Err(Closed),
                (None, _) => self.up = self.set.wait(),
                (Some(_), _) => {}
            }
        }
    }
}

channels! {
    /// In a [`YPollset`].
    InPollset: "spscs-pollset", "A ysuite::spsc for each sender, all attached to one YPollset",
        { ..COMMON }, spsc::Sender<M>, Receiver<M, YPollset>, one()?;
    /// In a [`YSocketpair`] that is in an epoll.
    InEpoll: "spscs-epoll",
        "A ysuite::spsc for each sender, all attached to one YSocketpair, waiting in epoll as alongside sockets",
        { waits: Waits::SleepsInPoll, works_with_epoll: true, ..COMMON },
        spsc::Sender<M>, Receiver<M, Polled>, one()?;
}

fn one<M: Message, S: Set>() -> io::Result<(spsc::Sender<M>, Receiver<M, S>)> {
    let (mut senders, receiver) = ends(1)?;
    Ok((senders.remove(0), receiver))
}

macro_rules! a_channel_for_each {
    ($($transport:ty),+) => { $(
        impl Many for $transport {
            fn open_many<M: Message>(shape: Shape) -> io::Result<Sides<Self, M>> {
                let (senders, receiver) = ends(shape.senders)?;
                Ok((senders, vec![receiver]))
            }
        }
    )+ };
}

a_channel_for_each!(InPollset, InEpoll);
