//! The kinds of channel of `ysuite`.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use ysuite::mailbox::{Address, Mailbox};
use ysuite::{broadcast, mpmc, mpsc, oneshot, spsc, watch};

use super::channel::{Channel, Letter, PLACES};

/// Channels whose two ends have `send` and `recv`.
macro_rules! pairs {
    ($($kind:ident: $name:literal, $about:literal, $module:ident, $unbounded:literal, $made:expr;)+) => { $(
        pub struct $kind;

        impl Channel for $kind {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = $about;
            const UNBOUNDED: bool = $unbounded;
            type Ends<M: Letter> = ($module::Sender<M>, $module::Receiver<M>);

            fn make<M: Letter>() -> Self::Ends<M> {
                $made
            }

            #[allow(unused_mut)]
            fn send<M: Letter>((sender, _): &mut Self::Ends<M>, message: M) -> bool {
                sender.send(message).is_ok()
            }

            fn receive<M: Letter>((_, receiver): &mut Self::Ends<M>) -> Option<M> {
                receiver.recv().ok()
            }
        }
    )+ };
}

pairs! {
    Spsc: "spsc", "ysuite::spsc without a bound", spsc, true, spsc::unbounded();
    SpscBounded: "spsc-bounded", "ysuite::spsc with room for 16 messages", spsc, false, spsc::bounded(PLACES);
    Mpsc: "mpsc", "ysuite::mpsc without a bound", mpsc, true, mpsc::unbounded();
    MpscBounded: "mpsc-bounded", "ysuite::mpsc with room for 16 messages of each sender", mpsc, false,
        mpsc::bounded(PLACES);
    Mpmc: "mpmc", "ysuite::mpmc with room for 16 messages", mpmc, false, mpmc::bounded(PLACES);
    MpmcUnbounded: "mpmc-unbounded", "ysuite::mpmc without a bound", mpmc, true, mpmc::unbounded();
    Broadcast: "broadcast", "ysuite::broadcast with room for 16 messages, to one receiver", broadcast, false,
        broadcast::bounded(PLACES);
}

pub struct MpscShared;

impl Channel for MpscShared {
    const NAME: &'static str = "mpsc-shared";
    const ABOUT: &'static str = "ysuite::mpsc without a bound, sent to by its SharedSender";
    const UNBOUNDED: bool = true;
    type Ends<M: Letter> = (mpsc::SharedSender<M>, mpsc::Receiver<M>);

    fn make<M: Letter>() -> Self::Ends<M> {
        let (sender, receiver) = mpsc::unbounded();
        (sender.share(), receiver)
    }

    fn send<M: Letter>((sender, _): &mut Self::Ends<M>, message: M) -> bool {
        sender.send(message).is_ok()
    }

    fn receive<M: Letter>((_, receiver): &mut Self::Ends<M>) -> Option<M> {
        receiver.recv().ok()
    }
}

pub struct Oneshot;

impl Channel for Oneshot {
    const NAME: &'static str = "oneshot";
    const ABOUT: &'static str = "ysuite::oneshot";
    type Ends<M: Letter> = (Option<oneshot::Sender<M>>, Option<oneshot::Receiver<M>>);

    fn make<M: Letter>() -> Self::Ends<M> {
        let (sender, receiver) = oneshot::channel();
        (Some(sender), Some(receiver))
    }

    fn send<M: Letter>((sender, _): &mut Self::Ends<M>, message: M) -> bool {
        sender.take().is_some_and(|sender| sender.send(message).is_ok())
    }

    fn receive<M: Letter>((_, receiver): &mut Self::Ends<M>) -> Option<M> {
        receiver.take()?.recv().ok()
    }
}

pub struct Watch;

impl Channel for Watch {
    const NAME: &'static str = "watch";
    const ABOUT: &'static str = "ysuite::watch, its value seen by one receiver";
    type Ends<M: Letter> = (watch::Sender<M>, watch::Receiver<M>);

    fn make<M: Letter>() -> Self::Ends<M> {
        watch::channel(M::numbered(0))
    }

    fn send<M: Letter>((sender, _): &mut Self::Ends<M>, message: M) -> bool {
        sender.send(message).is_ok()
    }

    fn receive<M: Letter>((_, receiver): &mut Self::Ends<M>) -> Option<M> {
        receiver.changed().ok()?;
        Some(*receiver.borrow_and_update())
    }
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

pub struct Letterbox;

impl Channel for Letterbox {
    const NAME: &'static str = "mailbox";
    const ABOUT: &'static str = "ysuite::mailbox and one address of it";
    const UNBOUNDED: bool = true;
    type Ends<M: Letter> = (Address, Mailbox);

    fn make<M: Letter>() -> Self::Ends<M> {
        let mailbox = Mailbox::new();
        (mailbox.address(), mailbox)
    }

    fn send<M: Letter>((address, _): &mut Self::Ends<M>, message: M) -> bool {
        address.send(message).is_ok()
    }

    fn receive<M: Letter>((_, mailbox): &mut Self::Ends<M>) -> Option<M> {
        mailbox.receive::<M>().ok()
    }
}
