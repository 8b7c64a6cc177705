//! `ysuite::spsc` attached to a `YSocketpair` whose descriptor waits in a real epoll, as beside sockets.
//!
//! ```text
//!   sender thread   send ----> chunks of messages ------> try_recv   receiver thread
//!                     \-- only if asleep --> descriptor --> epoll_wait, check
//! ```
//!
//! The receiver goes to epoll only when `try_recv` finds nothing, and then asks the set which receivers are up.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::event::epoll;
use ysuite::signal::{Wait, YSocketpair};
use ysuite::spsc;

use super::{Closed, Traits, Transport, Waits};

pub struct SpscEpoll;

pub struct Sender(spsc::Sender<usize>);

pub struct Receiver {
    messages: spsc::Receiver<usize>,
    set: YSocketpair,
    epoll: OwnedFd,
}

impl Transport for SpscEpoll {
    const TRAITS: Traits = Traits {
        name: "spsc-epoll",
        about: "ysuite::spsc attached to a YSocketpair, waiting in epoll as beside sockets",
        waits: Waits::SleepsInPoll,
        one_by_one: true,
        batches: false,
        works_with_epoll: true,
    };
    type Sender = Sender;
    type Receiver = Receiver;

    fn open() -> io::Result<(Sender, Receiver)> {
        let (sender, mut messages) = spsc::unbounded();
        let mut set = YSocketpair::new()?;
        set.attach(&mut messages, 0)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &set, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
        Ok((Sender(sender), Receiver { messages, set, epoll }))
    }
}

impl super::Sender for Sender {
    #[inline(always)]
    fn send(&mut self, message: usize) -> Result<(), Closed> {
        self.0.send(message).map_err(|_| Closed)
    }
}

impl super::Receiver for Receiver {
    #[inline(always)]
    fn recv(&mut self) -> Result<usize, Closed> {
        loop {
            match self.messages.try_recv() {
                Ok(message) => return Ok(message),
                Err(spsc::TryRecvError::Disconnected) => return Err(Closed),
                Err(spsc::TryRecvError::Empty) => self.wait(),
            }
        }
    }
}

impl Receiver {
    fn wait(&mut self) {
        let mut events = [MaybeUninit::uninit(); 8];
        // An interrupted wait is a wait that found nothing: the caller looks again.
        let _ = epoll::wait(&self.epoll, &mut events, None);
        for _id in self.set.check() {}
    }
}
