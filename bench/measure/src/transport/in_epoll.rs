//! `ysuite`'s channels attached to a `YSocketpair` (an eventfd on Linux) that waits in a real epoll, as alongside
//! sockets.
//!
//! ```text
//!   sender thread   send ----> the channel's queue ------> try_recv   receiver thread
//!                     \-- only if asleep --> descriptor --> epoll_wait, check
//! ```
//!
//! A receiver waits in epoll only when `try_recv` finds nothing. It then asks its set for the ready receivers. Each of
//! several receivers has a set and an epoll of its own.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::event::epoll;
use ysuite::signal::{Attach, Wait, YSocketpair};
use ysuite::{Spin, TryRecvError};
use ysuite::{mpmc, mpsc, spsc};

use super::channels::channels;
use super::mpmc::PLACES;
use super::{Closed, Ends, Many, Message, Shape, Sides, Traits, Waits, copies, ends_by_cloning};

const COMMON: Traits = Traits { waits: Waits::SleepsInPoll, works_with_epoll: true, ..Traits::COMMON };

/// The interface of a receiver that can be attached.
pub trait Looks<M>: Attach + Send + 'static {
    fn look(&mut self) -> Result<M, TryRecvError>;
}

pub struct Receiver<R> {
    messages: R,
    set: YSocketpair,
    epoll: OwnedFd,
}

impl<R: Attach> Receiver<R> {
    fn new(mut messages: R) -> io::Result<Self> {
        let mut set = YSocketpair::new()?;
        set.attach(&mut messages, 0)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &set, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
        Ok(Self { messages, set, epoll })
    }

    fn wait(&mut self) {
        let mut events = [MaybeUninit::uninit(); 8];
        // An interrupted wait found nothing: the caller polls again.
        let _ = epoll::wait(&self.epoll, &mut events, None);
        for _id in self.set.check() {}
    }
}

impl<M: Message, R: Looks<M>> super::Receiver<M> for Receiver<R> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        loop {
            match self.messages.look() {
                Ok(message) => return Ok(message),
                Err(TryRecvError::Disconnected) => return Err(Closed),
                Err(TryRecvError::Empty) => self.wait(),
            }
        }
    }
}

channels! {
    Spsc: "spsc-epoll", "ysuite::spsc attached to a YSocketpair, waiting in epoll as alongside sockets",
        { ..COMMON }, spsc::Sender<M>, Receiver<spsc::Receiver<M>>, attached(spsc::unbounded())?;
    Mpsc: "mpsc-epoll", "ysuite::mpsc attached to a YSocketpair, waiting in epoll as alongside sockets",
        { senders: Ends::Many, one_order: false, variant: true, ..COMMON },
        mpsc::Sender<M>, Receiver<mpsc::Receiver<M>>, attached(mpsc::unbounded())?;
    Mpmc: "mpmc-eventfd",
        "ysuite::mpmc with room for 1,024 messages, each receiver waiting in an epoll of its own for an eventfd, its senders never asleep",
        { bounded: true, senders: Ends::Many, receivers: Ends::Many, variant: true, ..COMMON },
        mpmc::Sender<M>, Receiver<mpmc::Receiver<M>>, attached(bounded())?;
}
ends_by_cloning!(senders: Mpsc);

impl Many for Mpmc {
    fn open_many<M: Message>(shape: Shape) -> io::Result<Sides<Self, M>> {
        let (sender, receiver) = bounded();
        let receivers = copies(receiver, shape.receivers).into_iter().map(Receiver::new).collect::<io::Result<_>>()?;
        Ok((copies(sender, shape.senders), receivers))
    }
}

fn attached<S, R: Attach>((sender, receiver): (S, R)) -> io::Result<(S, Receiver<R>)> {
    Ok((sender, Receiver::new(receiver)?))
}

/// Its senders never sleep.
fn bounded<M>() -> (mpmc::Sender<M>, mpmc::Receiver<M>) {
    let (sender, receiver) = mpmc::bounded(PLACES);
    sender.set_spin(Spin::Forever);
    (sender, receiver)
}

impl<M: Message> Looks<M> for spsc::Receiver<M> {
    #[inline(always)]
    fn look(&mut self) -> Result<M, TryRecvError> {
        self.try_recv()
    }
}

impl<M: Message> Looks<M> for mpsc::Receiver<M> {
    #[inline(always)]
    fn look(&mut self) -> Result<M, TryRecvError> {
        self.try_recv()
    }
}

impl<M: Message> Looks<M> for mpmc::Receiver<M> {
    #[inline(always)]
    fn look(&mut self) -> Result<M, TryRecvError> {
        self.try_recv()
    }
}
