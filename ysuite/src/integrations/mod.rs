//! Traits and types of other libraries, implemented for the types of this one. One file and one feature for each library;
//! without the feature none of its types appears in this crate's interface.
//!
//! | feature | gives | for |
//! |---|---|---|
//! | `stream` | `futures_core::Stream` and `FusedStream` for every receiver | any `async` runtime |
//! | `futures` | the same, and `futures_sink::Sink` for the senders of [`spsc`](crate::spsc) and [`mpsc`](crate::mpsc) | any `async` runtime |
//! | `tokio` | the same streams; `AsyncSocketpair`, a set of signals that a task waits for; `Timer::recv_async`; the cooperative budget | tokio |
//! | `mio` | `mio::event::Source` for [`YSocketpair`](crate::signal::YSocketpair) | mio |
//! | `calloop` | `SetSource` and `ReceiverSource`: a set of signals, or the messages of a receiver, as events | calloop |
//!
//! `recv_async` and `send_async` need no runtime and no feature: they are woken like any other future.
//!
//! Under `tokio` each message that a task receives or sends by `recv_async`, `poll_recv`, a stream or `send_async` is a step
//! of those that the runtime lets a task make at once; so is each value of a [`watch`](crate::watch). A task that has made
//! them is polled again when others have had their turn. Outside a runtime nothing is counted. An executor that blocks
//! *within* a task of tokio uses that task's steps up, and then waits for ever, as it does with tokio's own channels.
//!
//! There is no `Sink` for an [exchange's](crate::mpmc) sender: between `poll_ready` and `start_send` another sender may take
//! the room. Use `send_async`.

#[cfg(all(feature = "calloop", unix))]
pub mod calloop;
#[cfg(all(feature = "mio", unix))]
mod mio;
#[cfg(feature = "futures")]
mod sink;
#[cfg(all(feature = "tokio", unix))]
pub mod tokio;
