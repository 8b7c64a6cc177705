//! What other libraries need to see of this one. One file, one feature for each; without the feature none of their types
//! appears in this crate's interface.
//!
//! | feature | gives | for |
//! |---|---|---|
//! | `stream` | `futures_core::Stream` for every receiver | any `async` runtime |
//! | `futures` | the same, and `futures_sink::Sink` for the senders of [`spsc`](crate::spsc) and [`mpsc`](crate::mpsc) | any `async` runtime |
//! | `tokio` | the same streams, and `AsyncSocketpair`: a set of signals that a task waits for | tokio |
//! | `mio` | `mio::event::Source` for [`YSocketpair`](crate::signal::YSocketpair) | mio |
//! | `calloop` | `SetSource` and `ReceiverSource`: a set of signals, or the messages of a receiver, as events | calloop |
//!
//! No runtime is needed for `recv_async` and `send_async`, and no feature: they are woken like any other future.
//!
//! There is no `Sink` for an [exchange's](crate::mpmc) sender: the room that one of many was promised may be another's when
//! it sends. Use `send_async`.

#[cfg(all(feature = "calloop", unix))]
pub mod calloop;
#[cfg(all(feature = "mio", unix))]
mod mio;
#[cfg(feature = "futures")]
mod sink;
#[cfg(all(feature = "tokio", unix))]
pub mod tokio;
