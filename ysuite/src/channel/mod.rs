//! Channels: a queue and the ways to sleep at its ends, joined.
//!
//! One word for each waiting end says how it sleeps now (in the kernel, as a task, attached to a signaler), so the
//! channel types carry no type for the way of waiting: the same channel serves a plain thread today and an event loop
//! tomorrow. Nothing here makes a system call itself; that is [`crate::os`]'s business.

mod error;
mod inbox;
mod iter;
pub mod mpmc;
pub mod mpsc;
mod receive;
mod receiver;
mod send;
pub mod spsc;

pub use self::error::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
pub(crate) use self::inbox::{Inbox, InboxSender};
#[doc(hidden)]
pub use self::iter::Receive;
pub use self::iter::{IntoIter, Iter, TryIter};
pub use crate::wait::Spin;
