//! `ysuite::mailbox`: messages of any type to one thread, received by their type.
//!
//! ```text
//!   sender threads   Address::send ----> a lane of envelopes for each thread ----> Mailbox::receive::<M>   one thread
//! ```
//!
//! A lane belongs to the sending thread, no matter which clones of the address it uses: several addresses of one thread
//! share one lane. A message of more than three words travels in a box.

use std::io;

use ysuite::channel::Spin;
use ysuite::mailbox::{Address, Builder, Crowding, Mailbox};

use super::{Closed, Ends, Message, Traits, Transport, Waits, ends_by_cloning};

/// The default: spins a little, then sleeps.
pub struct Adaptive;
/// Sleeps as soon as nothing is ready.
pub struct Sleeping;
/// The default, with room for 1,024 messages. The sender of one more waits.
pub struct Bounded;

const COMMON: Traits = Traits { works_with_epoll: true, senders: Ends::Many, one_order: false, ..Traits::COMMON };

const PLACES: usize = 1024;

macro_rules! mailbox {
    ($transport:ty, $make:expr, $traits:expr) => {
        impl Transport for $transport {
            const TRAITS: Traits = $traits;
            type Sender<M: Message> = Address;
            type Receiver<M: Message> = Mailbox;

            fn open<M: Message>() -> io::Result<(Address, Mailbox)> {
                let mailbox: Mailbox = $make;
                Ok((mailbox.address(), mailbox))
            }
        }
    };
}

mailbox!(
    Adaptive,
    Mailbox::new(),
    Traits { name: "mailbox", about: "ysuite::mailbox: messages of any type, received by type", ..COMMON }
);

mailbox!(
    Sleeping,
    sleeping(),
    Traits {
        name: "mailbox-none",
        about: "ysuite::mailbox whose receiver sleeps at once (Spin::None)",
        waits: Waits::Sleeps,
        variant: true,
        ..COMMON
    }
);

mailbox!(
    Bounded,
    Builder::new().bounded(PLACES, Crowding::Block).build(),
    Traits {
        name: "mailbox-bounded",
        about: "ysuite::mailbox with room for 1,024 messages of all senders together",
        bounded: true,
        one_order: true,
        variant: true,
        ..COMMON
    }
);

fn sleeping() -> Mailbox {
    let mut mailbox = Mailbox::new();
    mailbox.set_spin(Spin::None);
    mailbox
}

ends_by_cloning!(senders: Adaptive, Sleeping, Bounded);

impl<M: Message> super::Sender<M> for Address {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        Address::send(self, message).map_err(|_| Closed)
    }
}

impl<M: Message> super::Receiver<M> for Mailbox {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        self.receive().map_err(|_| Closed)
    }
}
