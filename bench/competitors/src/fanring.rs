//! `fanring`: its `mpsc`, a ring for each sender and a receiver that takes turns among them.
//!
//! A thread that has to wait pauses up to 128 times and then parks: the default strategy, which the documentation
//! recommends where CPUs are shared. The receiver takes several messages from a ring before it returns their places,
//! and receives batches. The sender counts the room. Its `mpmc` guarantees no order, not even of the messages of one
//! sender. The instrument compares queues that have one, and could not tell a lost message from a late one.

use std::io;

use ::fanring::mpsc;
use ybench_measure::transport::spinning::places;
use ybench_measure::transport::{self, Closed, Ends, Many, Message, Shape, Sides, Traits, Transport};

use crate::end::{End, channels};

const COMMON: Traits = Traits { senders: Ends::Many, one_order: false, bounded: true, ..crate::COMMON };

channels! {
    Mpsc: "fanring-mpsc-1k", "fanring's mpsc with room for 1,024 messages of each sender", {},
        mpsc::Sender<M>, mpsc::Receiver<M>, mpsc::channel(1_024);
    MpscRoomy: "fanring-mpsc-64k", "fanring's mpsc with room for 65,536 messages of each sender", { variant: true, },
        mpsc::Sender<M>, mpsc::Receiver<M>, mpsc::channel(places::<M>(65_536));
}

impl<M: Message> transport::Sender<M> for End<mpsc::Sender<M>> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        self.0.send(message).map_err(|_| Closed)
    }
}

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

macro_rules! several {
    ($($transport:ty),+) => { $(
        impl Many for $transport {
            /// Each further sender registers itself in addition to the first.
            fn open_many<M: Message>(shape: Shape) -> io::Result<Sides<Self, M>> {
                let (first, receiver) = Self::open::<M>()?;
                let gone = || io::Error::other("no further sender can be registered");
                let mut senders = Vec::with_capacity(shape.senders);
                for _ in 1..shape.senders {
                    senders.push(End(first.0.try_clone().ok_or_else(gone)?));
                }
                senders.push(first);
                Ok((senders, vec![receiver]))
            }
        }
    )+ };
}
several!(Mpsc, MpscRoomy);
