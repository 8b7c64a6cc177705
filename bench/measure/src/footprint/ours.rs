//! The kinds of channel of `ysuite`.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use ysuite::mailbox::{Address, Mailbox};
use ysuite::{broadcast, mpmc, mpsc, oneshot, spsc, watch};

use super::channel::{Channel, Letter, PLACES, kinds_of_channel};

kinds_of_channel! {
    |sender, message| sender.send(message).is_ok(), |receiver| receiver.recv().ok();
    Spsc: "spsc", "ysuite::spsc without a bound", true, spsc::Sender<M>, spsc::Receiver<M>, spsc::unbounded();
    SpscBounded: "spsc-bounded", "ysuite::spsc with room for 16 messages", false, spsc::Sender<M>, spsc::Receiver<M>,
        spsc::bounded(PLACES);
    Mpsc: "mpsc", "ysuite::mpsc without a bound", true, mpsc::Sender<M>, mpsc::Receiver<M>, mpsc::unbounded();
    MpscBounded: "mpsc-bounded", "ysuite::mpsc with room for 16 messages of each sender", false, mpsc::Sender<M>,
        mpsc::Receiver<M>, mpsc::bounded(PLACES);
    MpscShared: "mpsc-shared", "ysuite::mpsc without a bound, sent to by its SharedSender", true,
        mpsc::SharedSender<M>, mpsc::Receiver<M>, {
            let (sender, receiver) = mpsc::unbounded();
            (sender.share(), receiver)
        };
    Mpmc: "mpmc", "ysuite::mpmc with room for 16 messages", false, mpmc::Sender<M>, mpmc::Receiver<M>,
        mpmc::bounded(PLACES);
    MpmcUnbounded: "mpmc-unbounded", "ysuite::mpmc without a bound", true, mpmc::Sender<M>, mpmc::Receiver<M>,
        mpmc::unbounded();
    Broadcast: "broadcast", "ysuite::broadcast with room for 16 messages, to one receiver", false,
        broadcast::Sender<M>, broadcast::Receiver<M>, broadcast::bounded(PLACES);
}

kinds_of_channel! {
    |sender, message| sender.take().is_some_and(|sender| sender.send(message).is_ok()),
    |receiver| receiver.take()?.recv().ok();
    Oneshot: "oneshot", "ysuite::oneshot", false, Option<oneshot::Sender<M>>, Option<oneshot::Receiver<M>>, {
        let (sender, receiver) = oneshot::channel();
        (Some(sender), Some(receiver))
    };
}

kinds_of_channel! {
    |sender, message| sender.send(message).is_ok(),
    |receiver| receiver.changed().ok().map(|()| *receiver.borrow_and_update());
    Watch: "watch", "ysuite::watch, its value seen by one receiver", false, watch::Sender<M>, watch::Receiver<M>,
        watch::channel(M::numbered(0));
}

kinds_of_channel! {
    |address, message| address.send(message).is_ok(), |mailbox| mailbox.receive::<M>().ok();
    Letterbox: "mailbox", "ysuite::mailbox and one address of it", true, Address, Mailbox, {
        let mailbox = Mailbox::new();
        (mailbox.address(), mailbox)
    };
}

pub struct Rendezvous;

impl Channel for Rendezvous {
    const NAME: &'static str = "rendezvous";
    const ABOUT: &'static str = "ysuite::mpmc with a bound of 0, its receiver waiting as a task";
    type Ends<M: Letter> = (mpmc::Sender<M>, mpmc::Receiver<M>);

    fn make<M: Letter>() -> Self::Ends<M> {
        mpmc::bounded(0)
    }

    fn send<M: Letter>((sender, _): &mut Self::Ends<M>, message: M) -> bool {
        sender.try_send(message).is_ok()
    }

    fn receive<M: Letter>((_, receiver): &mut Self::Ends<M>) -> Option<M> {
        receiver.try_recv().ok()
    }

    /// A message can be sent only while a receiver waits.
    fn exchange<M: Letter>(ends: &mut Self::Ends<M>, message: M) -> Option<M> {
        let (sender, receiver) = ends;
        let mut context = Context::from_waker(Waker::noop());
        let mut waiting = pin!(receiver.recv_async());
        if waiting.as_mut().poll(&mut context).is_ready() || sender.try_send(message).is_err() {
            return None;
        }
        match waiting.poll(&mut context) {
            Poll::Ready(received) => received.ok(),
            Poll::Pending => None,
        }
    }
}
