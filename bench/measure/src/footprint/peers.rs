//! The kinds of channel of the standard library, and of the crates that this package has anyway. And the baseline: a queue of
//! one thread.

use std::collections::VecDeque;
use std::sync::mpsc;

use ::oneshot as crate_oneshot;
use crossbeam_channel as crossbeam;
use tokio::sync::{broadcast, mpsc as tokio_mpsc, oneshot, watch};

use super::channel::{Channel, Letter, PLACES, ready};

/// `std::collections::VecDeque`.
pub struct Plain;

impl Channel for Plain {
    const NAME: &'static str = "VecDeque";
    const ABOUT: &'static str = "std::collections::VecDeque, a queue of one thread";
    const UNBOUNDED: bool = true;
    type Ends<M: Letter> = VecDeque<M>;

    fn make<M: Letter>() -> VecDeque<M> {
        VecDeque::new()
    }

    fn send<M: Letter>(ends: &mut VecDeque<M>, message: M) -> bool {
        ends.push_back(message);
        true
    }

    fn receive<M: Letter>(ends: &mut VecDeque<M>) -> Option<M> {
        ends.pop_front()
    }
}

/// Channels whose two ends have `send` and `recv`.
#[macro_export]
macro_rules! pairs_of_ends {
    ($($kind:ident: $name:literal, $about:literal, $unbounded:literal, $sender:ty, $receiver:ty, $made:expr;)+) => { $(
        pub struct $kind;

        impl $crate::footprint::channel::Channel for $kind {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = $about;
            const UNBOUNDED: bool = $unbounded;
            type Ends<M: $crate::footprint::channel::Letter> = ($sender, $receiver);

            fn make<M: $crate::footprint::channel::Letter>() -> Self::Ends<M> {
                $made
            }

            fn send<M: $crate::footprint::channel::Letter>((sender, _): &mut Self::Ends<M>, message: M) -> bool {
                sender.send(message).is_ok()
            }

            fn receive<M: $crate::footprint::channel::Letter>((_, receiver): &mut Self::Ends<M>) -> Option<M> {
                receiver.recv().ok()
            }
        }
    )+ };
}
pub use pairs_of_ends;

pairs_of_ends! {
    Std: "std-channel", "std::sync::mpsc::channel, without a bound", true, mpsc::Sender<M>, mpsc::Receiver<M>,
        mpsc::channel();
    StdSync: "std-sync-channel", "std::sync::mpsc::sync_channel with room for 16 messages", false,
        mpsc::SyncSender<M>, mpsc::Receiver<M>, mpsc::sync_channel(PLACES);
    Crossbeam: "crossbeam-unbounded", "crossbeam-channel without a bound", true, crossbeam::Sender<M>,
        crossbeam::Receiver<M>, crossbeam::unbounded();
    CrossbeamBounded: "crossbeam-bounded", "crossbeam-channel with room for 16 messages", false,
        crossbeam::Sender<M>, crossbeam::Receiver<M>, crossbeam::bounded(PLACES);
}

pub struct Tokio;

impl Channel for Tokio {
    const NAME: &'static str = "tokio-mpsc";
    const ABOUT: &'static str = "tokio::sync::mpsc::unbounded_channel";
    const UNBOUNDED: bool = true;
    type Ends<M: Letter> = (tokio_mpsc::UnboundedSender<M>, tokio_mpsc::UnboundedReceiver<M>);

    fn make<M: Letter>() -> Self::Ends<M> {
        tokio_mpsc::unbounded_channel()
    }

    fn send<M: Letter>((sender, _): &mut Self::Ends<M>, message: M) -> bool {
        sender.send(message).is_ok()
    }

    fn receive<M: Letter>((_, receiver): &mut Self::Ends<M>) -> Option<M> {
        ready(receiver.recv())?
    }
}

pub struct TokioBounded;

impl Channel for TokioBounded {
    const NAME: &'static str = "tokio-mpsc-bounded";
    const ABOUT: &'static str = "tokio::sync::mpsc::channel with room for 16 messages";
    type Ends<M: Letter> = (tokio_mpsc::Sender<M>, tokio_mpsc::Receiver<M>);

    fn make<M: Letter>() -> Self::Ends<M> {
        tokio_mpsc::channel(PLACES)
    }

    fn send<M: Letter>((sender, _): &mut Self::Ends<M>, message: M) -> bool {
        ready(sender.send(message)).is_some_and(|sent| sent.is_ok())
    }

    fn receive<M: Letter>((_, receiver): &mut Self::Ends<M>) -> Option<M> {
        ready(receiver.recv())?
    }
}

pub struct TokioOneshot;

impl Channel for TokioOneshot {
    const NAME: &'static str = "tokio-oneshot";
    const ABOUT: &'static str = "tokio::sync::oneshot";
    type Ends<M: Letter> = (Option<oneshot::Sender<M>>, Option<oneshot::Receiver<M>>);

    fn make<M: Letter>() -> Self::Ends<M> {
        let (sender, receiver) = oneshot::channel();
        (Some(sender), Some(receiver))
    }

    fn send<M: Letter>((sender, _): &mut Self::Ends<M>, message: M) -> bool {
        sender.take().is_some_and(|sender| sender.send(message).is_ok())
    }

    fn receive<M: Letter>((_, receiver): &mut Self::Ends<M>) -> Option<M> {
        ready(receiver.take()?)?.ok()
    }
}

pub struct TokioBroadcast;

impl Channel for TokioBroadcast {
    const NAME: &'static str = "tokio-broadcast";
    const ABOUT: &'static str = "tokio::sync::broadcast with room for 16 messages, to one receiver";
    type Ends<M: Letter> = (broadcast::Sender<M>, broadcast::Receiver<M>);

    fn make<M: Letter>() -> Self::Ends<M> {
        broadcast::channel(PLACES)
    }

    fn send<M: Letter>((sender, _): &mut Self::Ends<M>, message: M) -> bool {
        sender.send(message).is_ok()
    }

    fn receive<M: Letter>((_, receiver): &mut Self::Ends<M>) -> Option<M> {
        ready(receiver.recv())?.ok()
    }
}

pub struct TokioWatch;

impl Channel for TokioWatch {
    const NAME: &'static str = "tokio-watch";
    const ABOUT: &'static str = "tokio::sync::watch, its value seen by one receiver";
    type Ends<M: Letter> = (watch::Sender<M>, watch::Receiver<M>);

    fn make<M: Letter>() -> Self::Ends<M> {
        watch::channel(M::numbered(0))
    }

    fn send<M: Letter>((sender, _): &mut Self::Ends<M>, message: M) -> bool {
        sender.send(message).is_ok()
    }

    fn receive<M: Letter>((_, receiver): &mut Self::Ends<M>) -> Option<M> {
        ready(receiver.changed())?.ok()?;
        Some(*receiver.borrow_and_update())
    }
}

pub struct OneshotCrate;

impl Channel for OneshotCrate {
    const NAME: &'static str = "oneshot-crate";
    const ABOUT: &'static str = "the crate oneshot";
    type Ends<M: Letter> = (Option<crate_oneshot::Sender<M>>, Option<crate_oneshot::Receiver<M>>);

    fn make<M: Letter>() -> Self::Ends<M> {
        let (sender, receiver) = crate_oneshot::channel();
        (Some(sender), Some(receiver))
    }

    fn send<M: Letter>((sender, _): &mut Self::Ends<M>, message: M) -> bool {
        sender.take().is_some_and(|sender| sender.send(message).is_ok())
    }

    fn receive<M: Letter>((_, receiver): &mut Self::Ends<M>) -> Option<M> {
        receiver.take()?.recv().ok()
    }
}
