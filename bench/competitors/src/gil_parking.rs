//! `gil`: its parking channels, one to one and many to one.
//!
//! A thread that has to wait pauses 16 times between two yields, four times, and then sleeps in a futex. The
//! documentation recommends them where threads may be idle. Each send reads a word that says whether the other side
//! sleeps. The many-to-one kind has a ring for each sender, as many as were requested at first, to the next power of
//! two. A dropped peer is not detected: only the watchdog finds a lost message.

use std::io;
use std::num::NonZeroUsize;

use ::gil::mpsc::sharded_parking;
use ::gil::spsc::parking;
use ybench_measure::transport::{self, Closed, Ends, Many, Message, Shape, Sides, Traits};

use crate::end::{End, channels};
use crate::gil::room;

const COMMON: Traits = Traits { bounded: true, ..crate::COMMON };

channels! {
    Roomy: "gil-parking-64k", "gil's parking spsc with 65,536 slots", {},
        parking::Sender<M>, parking::Receiver<M>, parking::channel(room::<M>(65_536));
    Bounded: "gil-parking-1k", "gil's parking spsc with 1,024 slots", { variant: true, },
        parking::Sender<M>, parking::Receiver<M>, parking::channel(room::<M>(1_024));
    Sharded: "gil-mpsc-parking-1k", "gil's sharded parking mpsc with 1,024 slots for each sender", { senders: Ends::Many, one_order: false, },
        sharded_parking::Sender<M>, sharded_parking::Receiver<M>, shards(1);
}

fn shards<M>(senders: usize) -> (sharded_parking::Sender<M>, sharded_parking::Receiver<M>) {
    let shards = NonZeroUsize::new(senders.next_power_of_two()).unwrap_or(NonZeroUsize::MIN);
    sharded_parking::channel(shards, room::<M>(1_024))
}

impl Many for Sharded {
    fn open_many<M: Message>(shape: Shape) -> io::Result<Sides<Self, M>> {
        let (sender, receiver) = shards::<M>(shape.senders);
        let full = || io::Error::other("there is no shard for a further sender");
        let mut senders = Vec::with_capacity(shape.senders);
        for _ in 1..shape.senders {
            senders.push(End(sender.clone().ok_or_else(full)?));
        }
        senders.push(End(sender));
        Ok((senders, vec![End(receiver)]))
    }
}

macro_rules! endless {
    (send: $($sender:ty),+; recv: $($receiver:ty),+) => {
        $(
            impl<M: Message> transport::Sender<M> for End<$sender> {
                #[inline(always)]
                fn send(&mut self, message: M) -> Result<(), Closed> {
                    self.0.send(message);
                    Ok(())
                }
            }
        )+
        $(
            impl<M: Message> transport::Receiver<M> for End<$receiver> {
                #[inline(always)]
                fn recv(&mut self) -> Result<M, Closed> {
                    Ok(self.0.recv())
                }
            }
        )+
    };
}
endless!(send: parking::Sender<M>, sharded_parking::Sender<M>; recv: parking::Receiver<M>, sharded_parking::Receiver<M>);
