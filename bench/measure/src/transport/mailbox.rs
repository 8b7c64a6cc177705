//! `ysuite::mailbox`: messages of any type to one thread, received by their type.
//!
//! ```text
//!   sender threads   Address::send ----> a lane of envelopes for each thread ----> Mailbox::receive::<M>   one thread
//! ```
//!
//! A lane belongs to the sending thread, no matter which clones of the address it uses: several addresses of one thread
//! share one lane. A message of more than three words travels in a box.

use ysuite::Spin;
use ysuite::mailbox::{Address, Builder, Crowding, Mailbox};

use super::channels::channels;
use super::{Closed, Ends, Message, Traits, Waits, ends_by_cloning};

const COMMON: Traits = Traits { works_with_epoll: true, senders: Ends::Many, one_order: false, ..Traits::COMMON };

const PLACES: usize = 1024;

channels! {
    /// The default: spins a little, then sleeps.
    Adaptive: "mailbox", "ysuite::mailbox: messages of any type, received by type",
        { ..COMMON }, Address, Mailbox, addressed(Mailbox::new());
    /// Sleeps as soon as nothing is ready.
    Sleeping: "mailbox-none", "ysuite::mailbox whose receiver sleeps at once (Spin::None)",
        { waits: Waits::Sleeps, variant: true, ..COMMON }, Address, Mailbox, addressed(sleeping());
    /// The default, with room for 1,024 messages. The sender of one more waits.
    Bounded: "mailbox-bounded", "ysuite::mailbox with room for 1,024 messages of all senders together",
        { bounded: true, one_order: true, variant: true, ..COMMON },
        Address, Mailbox, addressed(Builder::new().bounded(PLACES, Crowding::Block).build());
}

fn addressed(mailbox: Mailbox) -> (Address, Mailbox) {
    (mailbox.address(), mailbox)
}

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
