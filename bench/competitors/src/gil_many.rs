//! `gil`: its `mpsc` and `mpmc`, polled without end.
//!
//! Rings whose slots have numbers, after a known design. The documentation recommends the one that fits the number of
//! receivers. The sharded kinds have a ring for each sender, and no order between them. Only handles of messages that
//! can be cloned can be cloned, so the content is a message's plain bytes.

use ::gil::{mpmc, mpsc};
use ybench_measure::transport::spinning::{Pop, Push, Queue, Shared};
use ybench_measure::transport::{Ends, Message, Shape, Traits, copies};

use crate::end::End;
use crate::gil::room;

pub struct Mpsc;
pub struct Mpmc<const SLOTS: usize>;

impl Queue for Mpsc {
    const NAMES: [&'static str; 2] = ["gil-mpsc-1k", "gil-mpsc-1k-no-pause"];
    const ABOUT: [&'static str; 2] = [
        "gil's mpsc with 1,024 slots, all threads spinning",
        "gil's mpsc with 1,024 slots, all threads spinning without a pause between two polls",
    ];
    const TRAITS: Traits = Traits { bounded: true, senders: Ends::Many, ..crate::COMMON };
    type Push<M: Message> = End<mpsc::Sender<M::Wire>>;
    type Pop<M: Message> = End<mpsc::Receiver<M::Wire>>;

    fn open<M: Message>() -> (Self::Push<M>, Self::Pop<M>) {
        let (sender, receiver) = mpsc::channel(room::<M::Wire>(1_024));
        (End(sender), End(receiver))
    }
}

impl Shared for Mpsc {
    fn open_many<M: Message>(shape: Shape) -> (Vec<Self::Push<M>>, Vec<Self::Pop<M>>) {
        let (sender, receiver) = Self::open::<M>();
        (copies(sender, shape.senders), vec![receiver])
    }
}

impl<const SLOTS: usize> Queue for Mpmc<SLOTS> {
    const NAMES: [&'static str; 2] = match SLOTS {
        1_024 => ["gil-mpmc-1k", "gil-mpmc-1k-no-pause"],
        65_536 => ["gil-mpmc-64k", "gil-mpmc-64k-no-pause"],
        _ => panic!("a new size of ring needs a name"),
    };
    const ABOUT: [&'static str; 2] = match SLOTS {
        1_024 => [
            "gil's mpmc with 1,024 slots, all threads spinning",
            "gil's mpmc with 1,024 slots, all threads spinning without a pause between two polls",
        ],
        _ => [
            "gil's mpmc with 65,536 slots, all threads spinning",
            "gil's mpmc with 65,536 slots, all threads spinning without a pause between two polls",
        ],
    };
    const TRAITS: Traits =
        Traits { bounded: true, senders: Ends::Many, receivers: Ends::Many, variant: SLOTS == 65_536, ..crate::COMMON };
    type Push<M: Message> = End<mpmc::Sender<M::Wire>>;
    type Pop<M: Message> = End<mpmc::Receiver<M::Wire>>;

    fn open<M: Message>() -> (Self::Push<M>, Self::Pop<M>) {
        let (sender, receiver) = mpmc::channel(room::<M::Wire>(SLOTS));
        (End(sender), End(receiver))
    }
}

impl<const SLOTS: usize> Shared for Mpmc<SLOTS> {
    fn open_many<M: Message>(shape: Shape) -> (Vec<Self::Push<M>>, Vec<Self::Pop<M>>) {
        let (sender, receiver) = Self::open::<M>();
        (copies(sender, shape.senders), copies(receiver, shape.receivers))
    }
}

macro_rules! tried {
    ($($sender:ty, $receiver:ty;)+) => { $(
        impl<M: Message> Push<M> for End<$sender> {
            #[inline(always)]
            fn push(&mut self, message: M) -> Result<(), M> {
                // SAFETY: the returned bytes have not been sent.
                self.0.try_send(message.into_wire()).map_err(|wire| unsafe { M::from_wire(wire) })
            }
        }

        impl<M: Message> Pop<M> for End<$receiver> {
            #[inline(always)]
            fn pop(&mut self) -> Option<M> {
                // SAFETY: `push` has sent it, and it is received once.
                self.0.try_recv().map(|wire| unsafe { M::from_wire(wire) })
            }
        }
    )+ };
}
tried! {
    mpsc::Sender<M::Wire>, mpsc::Receiver<M::Wire>;
    mpmc::Sender<M::Wire>, mpmc::Receiver<M::Wire>;
}
