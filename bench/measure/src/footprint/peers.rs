//! The kinds of channel of the standard library, and of the crates that this package has anyway. And the baseline: a queue of
//! one thread.

use std::collections::VecDeque;
use std::sync::mpsc;

use ::oneshot as crate_oneshot;
use crossbeam_channel as crossbeam;
use tokio::sync::{broadcast, mpsc as tokio_mpsc, oneshot, watch};

use super::channel::{Channel, Letter, PLACES, kinds_of_channel, ready};

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

kinds_of_channel! {
    |sender, message| sender.send(message).is_ok(), |receiver| receiver.recv().ok();
    Std: "std-channel", "std::sync::mpsc::channel, without a bound", true, mpsc::Sender<M>, mpsc::Receiver<M>,
        mpsc::channel();
    StdSync: "std-sync-channel", "std::sync::mpsc::sync_channel with room for 16 messages", false,
        mpsc::SyncSender<M>, mpsc::Receiver<M>, mpsc::sync_channel(PLACES);
    Crossbeam: "crossbeam-unbounded", "crossbeam-channel without a bound", true, crossbeam::Sender<M>,
        crossbeam::Receiver<M>, crossbeam::unbounded();
    CrossbeamBounded: "crossbeam-bounded", "crossbeam-channel with room for 16 messages", false,
        crossbeam::Sender<M>, crossbeam::Receiver<M>, crossbeam::bounded(PLACES);
}

kinds_of_channel! {
    |sender, message| sender.send(message).is_ok(), |receiver| ready(receiver.recv())?;
    Tokio: "tokio-mpsc", "tokio::sync::mpsc::unbounded_channel", true, tokio_mpsc::UnboundedSender<M>,
        tokio_mpsc::UnboundedReceiver<M>, tokio_mpsc::unbounded_channel();
}

kinds_of_channel! {
    |sender, message| ready(sender.send(message)).is_some_and(|sent| sent.is_ok()), |receiver| ready(receiver.recv())?;
    TokioBounded: "tokio-mpsc-bounded", "tokio::sync::mpsc::channel with room for 16 messages", false,
        tokio_mpsc::Sender<M>, tokio_mpsc::Receiver<M>, tokio_mpsc::channel(PLACES);
}

kinds_of_channel! {
    |sender, message| sender.take().is_some_and(|sender| sender.send(message).is_ok()),
    |receiver| ready(receiver.take()?)?.ok();
    TokioOneshot: "tokio-oneshot", "tokio::sync::oneshot", false, Option<oneshot::Sender<M>>,
        Option<oneshot::Receiver<M>>, {
            let (sender, receiver) = oneshot::channel();
            (Some(sender), Some(receiver))
        };
}

kinds_of_channel! {
    |sender, message| sender.send(message).is_ok(), |receiver| ready(receiver.recv())?.ok();
    TokioBroadcast: "tokio-broadcast", "tokio::sync::broadcast with room for 16 messages, to one receiver", false,
        broadcast::Sender<M>, broadcast::Receiver<M>, broadcast::channel(PLACES);
}

kinds_of_channel! {
    |sender, message| sender.send(message).is_ok(),
    |receiver| ready(receiver.changed())?.ok().map(|()| *receiver.borrow_and_update());
    TokioWatch: "tokio-watch", "tokio::sync::watch, its value seen by one receiver", false, watch::Sender<M>,
        watch::Receiver<M>, watch::channel(M::numbered(0));
}

kinds_of_channel! {
    |sender, message| sender.take().is_some_and(|sender| sender.send(message).is_ok()),
    |receiver| receiver.take()?.recv().ok();
    OneshotCrate: "oneshot-crate", "the crate oneshot", false, Option<crate_oneshot::Sender<M>>,
        Option<crate_oneshot::Receiver<M>>, {
            let (sender, receiver) = crate_oneshot::channel();
            (Some(sender), Some(receiver))
        };
}
