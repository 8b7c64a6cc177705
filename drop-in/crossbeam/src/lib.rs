//! The interface of `crossbeam-channel` 0.5 over [`ysuite`]'s channels, for programs that were written for it.
//!
//! Thin: a channel with a capacity, or without a bound, is a [`ysuite::mpmc`]. A channel of capacity 0 is a rendezvous
//! of such a kind, whose messages are values or promises of values (see [`channel`]). `after`, `at` and `tick` are
//! [`ysuite::timer`]s. All of it may be used from any thread.
//!
//! Cannot: leak messages that stand behind one whose drop panics, as the original does. Everything is dropped here.
//!
//! [`Ysuite`] gives the end below, with all that it can do besides.

mod case;
mod channel;
mod error;
mod iter;
mod macros;
mod select;

pub use ysuite;

pub use self::channel::{Receiver, Sender, Ysuite, after, at, bounded, never, tick, unbounded};
pub use self::error::{
    ReadyTimeoutError, RecvError, RecvTimeoutError, SelectTimeoutError, SendError, SendTimeoutError, TryReadyError,
    TryRecvError, TrySelectError, TrySendError,
};
pub use self::iter::{IntoIter, Iter, TryIter};
pub use self::select::{Select, SelectedOperation};

/// What the macros need. No promise to anybody else.
#[doc(hidden)]
pub mod internal {
    pub use crate::case::{NONE, RecvCase, SendCase, choose, choose_in_time, choose_now};
}
