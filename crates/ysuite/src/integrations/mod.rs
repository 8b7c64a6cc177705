//! Traits and types of other libraries, implemented for the types of this crate. Each library has one file and one
//! feature. Without the feature none of its types appears in this crate's interface.
//!
//! | feature | gives | for |
//! |---|---|---|
//! | `stream` | `futures_core::Stream` and `FusedStream` for the receivers of `spsc`, `mpsc`, `mpmc` and, where `T: Clone`, of `broadcast` and `watch` | any `async` runtime |
//! | `futures` | the same, and [`SenderSink`], a `futures_sink::Sink`, of the senders of [`spsc`](crate::spsc), [`mpsc`](crate::mpsc), [`mpmc`](crate::mpmc) and `broadcast` | any `async` runtime |
//! | `tokio` | the same streams; `AsyncSocketpair`, a set of signals that a task waits for (Unix); with `timer`, `Timer::recv_async`; sends with a time limit; the cooperative budget | tokio |
//! | `mio` | `mio::event::Source` for [`YSocketpair`](crate::signal::YSocketpair) (Unix) | mio |
//! | `calloop` | `SetSource` and `ReceiverSource`: a set of signals, or the messages of a receiver, as events (Unix) | calloop |
//!
//! `recv_async` and `send_async` need no runtime and no feature: they are woken like any other future.
//!
//! Under `tokio`, an operation is one step of a task's cooperative budget: each message that a task receives or sends
//! by `recv_async`, `poll_recv`, a stream, a sink, `send_async` or `poll_ready`. So is each batch, each permit, each
//! value of a [`watch`](crate::watch), a [`oneshot`](crate::oneshot) and a tick. A task that has used its steps is
//! polled again when other tasks have had their turn. Outside a runtime nothing is counted.
//!
//! An executor that blocks *within* a task of tokio, such as a `block_on` there, uses up that task's steps. With
//! tokio's own channels it then waits for ever. With these channels it continues: each operation is refused once, its
//! waker is called, and the next poll makes a step all the same.
//!
//! Receivers are streams by themselves: none of their own methods has a name that `StreamExt` uses. Senders are no
//! sinks by themselves, since `send`, `flush` and `close` are names of `SinkExt` as well: `sender.sink()` and
//! `sender.into_sink()` make them a [`SenderSink`].

#[cfg(all(feature = "calloop", unix))]
pub mod calloop;
#[cfg(all(feature = "mio", unix))]
mod mio;
#[cfg(feature = "futures")]
mod sink;
#[cfg(feature = "tokio")]
pub mod tokio;

#[cfg(feature = "futures")]
pub use self::sink::SenderSink;
