//! A watch: one sender, any number of receivers, of which each receives the newest value. The sender writes a value once,
//! into memory that all receivers map, and waits for none of them; a receiver copies what is newest when it looks.
//!
//! The sender has a lane for each receiver, as the receiver of a funnel has one for each sender, with a page and a bell of
//! its own: so each pair sleeps and wakes as the ends of a pipe do, and a receiver sees nothing of the others.

mod bytes;
mod receiver;
mod sender;

pub use self::bytes::BytesWatchSender;
pub use self::receiver::WatchReceiver;
pub use self::sender::WatchSender;

use crate::funnel::Bytes;
use crate::os::{Own, Peer};
use crate::page::{BEGUN, Kind, PUBLISHED, Shape};
use crate::ring::latest::{Value, Versions};
use crate::{Message, Options};

/// How a watch carries it.
pub(crate) trait Watched: Value + Send + 'static {
    fn shape(options: &Options) -> Shape;
}

impl<T: Message> Watched for T {
    fn shape(options: &Options) -> Shape {
        Shape { kind: Kind::Watch, size: size_of::<T>(), align: align_of::<T>(), name: options.name }
    }
}

impl Watched for Bytes {
    fn shape(options: &Options) -> Shape {
        Shape { kind: Kind::WatchBytes, size: 1, align: 1, name: options.name }
    }
}

fn own_versions(memory: &Own) -> Versions<'_> {
    Versions { begun: memory.word(BEGUN), published: memory.word(PUBLISHED) }
}

fn versions_of(memory: &Peer) -> Versions<'_> {
    Versions { begun: memory.word(BEGUN), published: memory.word(PUBLISHED) }
}
