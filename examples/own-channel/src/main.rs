//! A template for a channel of your own that blocks: copy this folder anywhere, put your channel in place of
//! `std::sync::mpsc::sync_channel`, and correct the two paths in Cargo.toml.
//!
//! `cargo run --release -- run throughput latency --transport own-channel --against own-channel,spsc`

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use ybench_measure::scenario::shared;
use ybench_measure::transport::{self, Closed, Ends, Message, Traits, Transport, ends_by_cloning};

struct Own;

/// The ends of your channel. A type of your own, as the traits are not yours.
struct Tx<M>(SyncSender<M>);
struct Rx<M>(Receiver<M>);

impl<M> Clone for Tx<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl Transport for Own {
    // `Traits` has more: whether it works in epoll, sends batches, can have several receivers, sleeps at once.
    const TRAITS: Traits = Traits {
        name: "own-channel",
        about: "My channel, with room for 1,024 messages",
        bounded: true,
        senders: Ends::Many,
        ..Traits::COMMON
    };
    type Sender<M: Message> = Tx<M>;
    type Receiver<M: Message> = Rx<M>;

    fn open<M: Message>() -> io::Result<(Tx<M>, Rx<M>)> {
        let (sender, receiver) = sync_channel(1_024);
        Ok((Tx(sender), Rx(receiver)))
    }
}

// Without several senders: no Clone, not this line, and `entry` in place of `shared`.
ends_by_cloning!(senders: Own);

impl<M: Message> transport::Sender<M> for Tx<M> {
    fn send(&mut self, message: M) -> Result<(), Closed> {
        self.0.send(message).map_err(|_| Closed)
    }
}

impl<M: Message> transport::Receiver<M> for Rx<M> {
    fn recv(&mut self) -> Result<M, Closed> {
        self.0.recv().map_err(|_| Closed)
    }
}

pub(crate) fn main() -> std::process::ExitCode {
    ybench::program::run(vec![shared::<Own>()], Vec::new())
}
