#![doc = include_str!("../README.md")]
#![cfg(target_os = "linux")]
#![allow(clippy::result_large_err, reason = "an end that cannot be given away goes on")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod end;
mod error;
mod funnel;
#[cfg(all(test, not(ysuite_loom)))]
mod hostile;
#[cfg(any(feature = "mio", feature = "tokio"))]
mod integrations;
mod link;
mod listener;
mod nap;
mod options;
mod os;
mod page;
mod pipe;
mod ring;
mod sync;

pub use self::error::{Error, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError, Why};
pub use self::funnel::{Ended, Event, Funnel};
#[cfg(feature = "tokio")]
pub use self::integrations::Async;
pub use self::listener::{Listener, connect};
pub use self::options::Options;
pub use self::pipe::{BytesReceiver, BytesSender, IntoIter, Iter, Receiver, Sender, TryIter, pipe, pipe_bytes};
#[doc(no_inline)]
pub use zerocopy;

/// What can be a message: any bytes are one, and it has no padding by which memory would leak to the peer. Derive
/// `FromBytes`, `IntoBytes`, `Immutable` and `KnownLayout` of [`zerocopy`]. It is aligned to 64 bytes at most.
pub trait Message:
    zerocopy::FromBytes + zerocopy::IntoBytes + zerocopy::Immutable + zerocopy::KnownLayout + Send + 'static
{
}

impl<T> Message for T where
    T: zerocopy::FromBytes + zerocopy::IntoBytes + zerocopy::Immutable + zerocopy::KnownLayout + Send + 'static
{
}
