//! `std::sync::mpsc`: `channel()` and `sync_channel(1024)`, both with a blocking `recv`.
//!
//! ```text
//!   sender thread   send ----> blocks of slots, or a ring of 1,024 ----> recv   receiver thread
//! ```

use std::sync::mpsc;

use super::channels::{blocking, channels};
use super::{Ends, Traits, ends_by_cloning};

const COMMON: Traits = Traits { senders: Ends::Many, ..Traits::COMMON };

channels! {
    Channel: "std-channel", "std::sync::mpsc::channel, without a bound",
        { ..COMMON }, mpsc::Sender<M>, mpsc::Receiver<M>, mpsc::channel();
    SyncChannel: "std-sync-channel", "std::sync::mpsc::sync_channel with room for 1,024 messages",
        { bounded: true, ..COMMON }, mpsc::SyncSender<M>, mpsc::Receiver<M>, mpsc::sync_channel(1024);
}
ends_by_cloning!(senders: Channel, SyncChannel);
blocking!(send: mpsc::Sender<M>, mpsc::SyncSender<M>; recv: mpsc::Receiver<M>);
