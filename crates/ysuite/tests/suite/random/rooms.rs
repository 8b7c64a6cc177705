//! The channels as the machine sees them: what each has in addition to the common part.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::{Sink, Stream};
use ysuite::SendError;
use ysuite::signal::{AttachError, YPollset, YSocketpair};
use ysuite::{mpmc, mpsc, spsc};

use crate::conformance::channel::{Hiding, Receiving, Sending};
use crate::random::foreign::Message;

/// Both kinds of set.
pub(crate) struct Sets {
    pub(crate) pollset: YPollset,
    pub(crate) socketpair: YSocketpair,
}

pub(crate) type Sinking<'a> = Pin<Box<dyn Sink<Message, Error = SendError<()>> + 'a>>;

/// A kind of channel.
pub(crate) trait Room: 'static {
    type Sender: Sending<Message> + 'static;
    type Receiver: Receiving<Message> + Stream<Item = Message> + Unpin + 'static;
    /// The bounds to try.
    const CAPACITIES: &'static [Option<usize>];
    /// All senders write into one queue; there may be several receivers; nothing is hidden.
    const SHARED: bool = false;

    fn pair(capacity: Option<usize>) -> (Self::Sender, Self::Receiver);
    fn more_senders(_: &Self::Sender) -> Option<Self::Sender> {
        None
    }
    fn more_receivers(_: &Self::Receiver) -> Option<Self::Receiver> {
        None
    }
    fn attach(receiver: &mut Self::Receiver, sets: &mut Sets, set: usize, id: usize) -> Result<(), AttachError>;
    fn detach(receiver: &mut Self::Receiver, sets: &mut Sets, set: usize) -> Option<usize>;
    fn leave_set(receiver: &mut Self::Receiver) -> bool;

    // What only those have that hide.
    fn hiding(_: &mut Self::Sender) -> &mut dyn Hiding<Message> {
        unreachable!("hides nothing")
    }
    fn sink(_: &mut Self::Sender) -> Sinking<'_> {
        unreachable!("is no sink")
    }
    fn poll_ready(_: &mut Self::Sender, _: &mut Context<'_>) -> Poll<()> {
        unreachable!("has none")
    }
    fn peek(_: &mut Self::Receiver) -> Option<usize> {
        unreachable!("has none")
    }
    fn close_sender(_: &mut Self::Sender) -> bool {
        unreachable!("has none")
    }
    fn close_receiver(_: &mut Self::Receiver) -> bool {
        unreachable!("has none")
    }
}

pub(crate) struct Pipe;
pub(crate) struct Funnel;
pub(crate) struct Exchange;

macro_rules! attaching {
    ($channel:ident) => {
        fn attach(receiver: &mut Self::Receiver, sets: &mut Sets, set: usize, id: usize) -> Result<(), AttachError> {
            if set == 0 { sets.pollset.attach(receiver, id) } else { sets.socketpair.attach(receiver, id) }
        }
        fn detach(receiver: &mut Self::Receiver, sets: &mut Sets, set: usize) -> Option<usize> {
            if set == 0 { sets.pollset.detach(receiver) } else { sets.socketpair.detach(receiver) }
        }
        fn leave_set(receiver: &mut Self::Receiver) -> bool {
            $channel::Receiver::detach(receiver)
        }
    };
}

macro_rules! hiding {
    ($channel:ident) => {
        fn hiding(sender: &mut Self::Sender) -> &mut dyn Hiding<Message> {
            sender
        }
        fn sink(sender: &mut Self::Sender) -> Sinking<'_> {
            Box::pin(sender.sink())
        }
        fn poll_ready(sender: &mut Self::Sender, context: &mut Context<'_>) -> Poll<()> {
            $channel::Sender::poll_ready(sender, context)
        }
        fn peek(receiver: &mut Self::Receiver) -> Option<usize> {
            receiver.peek().map(|message| message.0)
        }
        fn close_sender(sender: &mut Self::Sender) -> bool {
            sender.close()
        }
        fn close_receiver(receiver: &mut Self::Receiver) -> bool {
            receiver.close()
        }
    };
}

impl Room for Pipe {
    type Sender = spsc::Sender<Message>;
    type Receiver = spsc::Receiver<Message>;
    const CAPACITIES: &'static [Option<usize>] = &[None, Some(1), Some(2), Some(7)];

    fn pair(capacity: Option<usize>) -> (Self::Sender, Self::Receiver) {
        capacity.map_or_else(spsc::unbounded, spsc::bounded)
    }
    attaching!(spsc);
    hiding!(spsc);
}

impl Room for Funnel {
    type Sender = mpsc::Sender<Message>;
    type Receiver = mpsc::Receiver<Message>;
    const CAPACITIES: &'static [Option<usize>] = &[None, Some(1), Some(2), Some(7)];

    fn pair(capacity: Option<usize>) -> (Self::Sender, Self::Receiver) {
        capacity.map_or_else(mpsc::unbounded, mpsc::bounded)
    }
    fn more_senders(sender: &Self::Sender) -> Option<Self::Sender> {
        Some(sender.clone())
    }
    attaching!(mpsc);
    hiding!(mpsc);
}

impl Room for Exchange {
    type Sender = mpmc::Sender<Message>;
    type Receiver = mpmc::Receiver<Message>;
    const CAPACITIES: &'static [Option<usize>] = &[None, Some(1), Some(2), Some(7)];
    const SHARED: bool = true;

    fn pair(capacity: Option<usize>) -> (Self::Sender, Self::Receiver) {
        capacity.map_or_else(mpmc::unbounded, mpmc::bounded)
    }
    fn more_senders(sender: &Self::Sender) -> Option<Self::Sender> {
        Some(sender.clone())
    }
    fn more_receivers(receiver: &Self::Receiver) -> Option<Self::Receiver> {
        Some(receiver.clone())
    }
    attaching!(mpmc);
}
