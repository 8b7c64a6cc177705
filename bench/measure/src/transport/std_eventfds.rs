//! A `std::sync::mpsc::channel` and an eventfd for each sender, all eventfds in one epoll. A program without a set of
//! signals serves many channels in this way alongside its sockets.
//!
//! ```text
//!   sender 0   send, write eventfd 0 --+
//!   sender 1   send, write eventfd 1 --+--> epoll_wait, read eventfd n, try_recv from channel n   receiver thread
//!   sender 2   send, write eventfd 2 --+
//! ```
//!
//! The eventfd is read before its channel, so that a message that arrives meanwhile signals again. Needs a descriptor
//! for each sender.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{self, TryRecvError};

use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::io::{read, write};

use super::{Closed, Ends, Many, Message, Shape, Sides, Traits, Transport, Waits};

pub struct Eventfds;

pub struct Sender<M> {
    /// `None` at the very end only.
    channel: Option<mpsc::Sender<M>>,
    bell: Arc<OwnedFd>,
}

struct Source<M> {
    channel: mpsc::Receiver<M>,
    bell: Arc<OwnedFd>,
}

/// The number of descriptors that one call reports.
const EVENTS: usize = 64;

pub struct Receiver<M> {
    /// Channels whose senders are dropped are `None`.
    sources: Vec<Option<Source<M>>>,
    open: usize,
    epoll: OwnedFd,
    rung: Vec<usize>,
    reading: Option<usize>,
}

fn ends<M: Message>(count: usize) -> io::Result<(Vec<Sender<M>>, Receiver<M>)> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let (mut senders, mut sources) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for id in 0..count {
        let (sender, receiver) = mpsc::channel();
        let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        epoll::add(&epoll, &*bell, epoll::EventData::new_u64(id as u64), epoll::EventFlags::IN)?;
        senders.push(Sender { channel: Some(sender), bell: bell.clone() });
        sources.push(Some(Source { channel: receiver, bell }));
    }
    Ok((senders, Receiver { sources, open: count, epoll, rung: Vec::with_capacity(EVENTS), reading: None }))
}

impl<M> Sender<M> {
    fn ring(&self) {
        // It fails only where the count is at its maximum: a reader that has not polled for so long will find it
        // readable.
        let _ = write(&*self.bell, &1u64.to_ne_bytes());
    }
}

impl<M: Message> super::Sender<M> for Sender<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        self.channel.as_ref().ok_or(Closed)?.send(message).map_err(|_| Closed)?;
        self.ring();
        Ok(())
    }
}

impl<M> Drop for Sender<M> {
    fn drop(&mut self) {
        self.channel = None;
        self.ring();
    }
}

impl<M> Receiver<M> {
    /// Waits until some have been written to. An interrupted wait found nothing.
    fn wait(&mut self) {
        let mut events = [MaybeUninit::uninit(); EVENTS];
        if let Ok((found, _)) = epoll::wait(&self.epoll, &mut events, None) {
            self.rung.extend(found.iter().map(|event| event.data.u64() as usize));
        }
    }

    /// The next one that was written to, after its eventfd has been read.
    fn next(&mut self) -> Option<usize> {
        let id = self.rung.pop()?;
        if let Some(source) = &self.sources[id] {
            let _ = read(&*source.bell, &mut [0; 8]);
        }
        Some(id)
    }
}

impl<M: Message> super::Receiver<M> for Receiver<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        loop {
            if let Some(place) = self.reading.and_then(|id| self.sources.get_mut(id)) {
                match place.as_ref().map_or(Err(TryRecvError::Empty), |source| source.channel.try_recv()) {
                    Ok(message) => return Ok(message),
                    Err(TryRecvError::Empty) => {}
                    Err(TryRecvError::Disconnected) => {
                        *place = None;
                        self.open -= 1;
                    }
                }
            }
            self.reading = self.next();
            match (self.reading, self.open) {
                (None, 0) => return Err(Closed),
                (None, _) => self.wait(),
                (Some(_), _) => {}
            }
        }
    }
}

impl Transport for Eventfds {
    const TRAITS: Traits = Traits {
        name: "std-eventfds",
        about: "A std::sync::mpsc::channel for each sender with an eventfd written at every message, all in one epoll",
        waits: Waits::SleepsInPoll,
        one_by_one: false,
        works_with_epoll: true,
        senders: Ends::Many,
        one_order: false,
        ..Traits::COMMON
    };
    type Sender<M: Message> = Sender<M>;
    type Receiver<M: Message> = Receiver<M>;

    fn open<M: Message>() -> io::Result<(Sender<M>, Receiver<M>)> {
        let (mut senders, receiver) = ends(1)?;
        Ok((senders.remove(0), receiver))
    }
}

impl Many for Eventfds {
    fn open_many<M: Message>(shape: Shape) -> io::Result<Sides<Self, M>> {
        let (senders, receiver) = ends(shape.senders)?;
        Ok((senders, vec![receiver]))
    }
}
