//! `fanring`: a ring for each sender, and a receiver, or several, that go round them.
//!
//! Whoever has to wait pauses up to 128 times and then parks: the strategy by default, which the documentation recommends
//! where CPUs are shared. Its `mpsc` takes several messages from a ring before it gives their places back, and receives
//! batches. Its `mpmc` promises no order, not even of the messages of one sender. Room is counted by the sender.

use std::io;

use ::fanring::{mpmc, mpsc};
use ybench_core::transport::spinning::places;
use ybench_core::transport::{self, Closed, Ends, Many, Message, Shape, Sides, Traits, Transport};

use crate::end::{End, blocking, channels};

const COMMON: Traits = Traits { senders: Ends::Many, one_order: false, bounded: true, ..Traits::COMMON };

channels! {
    Mpsc: "fanring-mpsc-1k", "fanring's mpsc with room for 1,024 messages of each sender", {},
        mpsc::Sender<M>, mpsc::Receiver<M>, mpsc::channel(1_024);
    MpscRoomy: "fanring-mpsc-64k", "fanring's mpsc with room for 65,536 messages of each sender", { variant: true, },
        mpsc::Sender<M>, mpsc::Receiver<M>, mpsc::channel(places::<M>(65_536));
    Mpmc: "fanring-mpmc-1k", "fanring's mpmc with room for 1,024 messages of each sender", { receivers: Ends::Many, },
        mpmc::Sender<M>, mpmc::Receiver<M>, mpmc::channel(1_024);
}
blocking!(send: mpsc::Sender<M>, mpmc::Sender<M>; recv: mpmc::Receiver<M>);

impl<M: Message> transport::Receiver<M> for End<mpsc::Receiver<M>> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        self.0.recv().map_err(|_| Closed)
    }

    #[inline(always)]
    fn recv_batch(&mut self, into: &mut Vec<M>, max: usize) -> Result<(), Closed> {
        self.0.recv_batch_into(into, max).map(drop).map_err(|_| Closed)
    }
}

/// The first end, and others that `register` themselves beside it.
fn registered<S>(first: S, register: impl Fn(&S) -> Option<S>, count: usize) -> io::Result<Vec<End<S>>> {
    let gone = || io::Error::other("no further sender can be registered");
    let mut ends = Vec::with_capacity(count);
    for _ in 1..count {
        ends.push(End(register(&first).ok_or_else(gone)?));
    }
    ends.push(End(first));
    Ok(ends)
}

macro_rules! several {
    ($($transport:ty, $receivers:expr;)+) => { $(
        impl Many for $transport {
            fn open_many<M: Message>(shape: Shape) -> io::Result<Sides<Self, M>> {
                let (sender, receiver) = Self::open::<M>()?;
                let senders = registered(sender.0, |first| first.try_clone(), shape.senders)?;
                Ok((senders, $receivers(receiver, shape.receivers)))
            }
        }
    )+ };
}
several! {
    Mpsc, |receiver, _| vec![receiver];
    MpscRoomy, |receiver, _| vec![receiver];
    Mpmc, transport::copies;
}
