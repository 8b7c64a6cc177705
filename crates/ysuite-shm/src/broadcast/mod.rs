//! A broadcast: one sender, any number of receivers, each of which receives all messages. The sender writes a message once,
//! into a ring that all receivers map; each receiver has a page with its own cursor.
//!
//! A bounded one waits for the slowest of its receivers; one that is gone no longer counts. A lossy one waits for nobody: a
//! receiver copies, and then looks whether the sender has come round to that group.

mod receiver;
mod sender;

pub use self::receiver::BroadcastReceiver;
pub use self::sender::BroadcastSender;

use crate::page::{Kind, Shape};
use crate::{Message, Options};

fn shape<T: Message>(options: &Options, kind: Kind) -> Shape {
    Shape { kind, size: size_of::<T>(), align: align_of::<T>(), name: options.name }
}
