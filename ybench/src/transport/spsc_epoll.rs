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

use super::{Closed, Message, Traits, Transport, Waits};

pub struct SpscEpoll;

pub struct Receiver<M> {
    messages: spsc::Receiver<M>,
    set: YSocketpair,
    epoll: OwnedFd,
}

impl Transport for SpscEpoll {
    const TRAITS: Traits = Traits {
        name: "spsc-epoll",
        about: "ysuite::spsc attached to a YSocketpair, waiting in epoll as beside sockets",
        waits: Waits::SleepsInPoll,
        works_with_epoll: true,
        ..Traits::COMMON
    };
    type Sender<M: Message> = spsc::Sender<M>;
    type Receiver<M: Message> = Receiver<M>;

    fn open<M: Message>() -> io::Result<(spsc::Sender<M>, Receiver<M>)> {
        let (sender, mut messages) = spsc::unbounded();
        let mut set = YSocketpair::new()?;
        set.attach(&mut messages, 0)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &set, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
        Ok((sender, Receiver { messages, set, epoll }))
    }
}

impl<M: Message> super::Receiver<M> for Receiver<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        loop {
            match self.messages.try_recv() {
                Ok(message) => return Ok(message),
                Err(spsc::TryRecvError::Disconnected) => return Err(Closed),
                Err(spsc::TryRecvError::Empty) => self.wait(),
            }
        }
    }
}

impl<M> Receiver<M> {
    fn wait(&mut self) {
        let mut events = [MaybeUninit::uninit(); 8];
        // An interrupted wait is a wait that found nothing: the caller looks again.
        let _ = epoll::wait(&self.epoll, &mut events, None);
        for _id in self.set.check() {}
    }
}
