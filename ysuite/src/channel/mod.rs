//! Channels: a queue, and the ways in which its ends sleep.
//!
//! One word for each waiting end says how that end sleeps now (in the kernel, as a task, attached to a signaler). So
//! the channel types carry no type for the way of waiting: the same channel serves a plain thread today and an event
//! loop tomorrow. Nothing here makes a system call itself; [`crate::os`] does.
//!
//! # Rendezvous
//!
//! A channel with a bound of 0 holds nothing: a message goes from hand to hand. `send` returns when a receiver has the
//! message, and `recv` returns the message of a sender that waits. The `bounded` of `spsc`, `mpsc` and `mpmc` have it,
//! with all ways of waiting. `len` is 0, `capacity` is `Some(0)`, such a channel is empty and full, and there is
//! nothing to peek at.
//!
//! * `try_send` succeeds only where a receiver *waits*: in `recv`, in a future of `recv_async`, or in a
//!   [`select`](crate::select()). `try_recv` likewise needs a sender that waits. So two threads that only try never
//!   meet.
//! * An end that is attached to a set or polled (`poll_recv`, `poll_ready`) does not wait, it is *told* of another that
//!   waits: its id goes up, its task is woken, and then it tries. Two such ends never meet either. Where an end that
//!   was polled then waits in another way, such as `recv_timeout`, its task is not woken until it polls again.
//! * A future of `send_async` that is dropped before it is ready has not sent its message, which is dropped with it;
//!   unless a receiver has just taken it. A future of `recv_async` that is dropped has taken nothing: a message that it
//!   was just being handed goes to the next receiver, before all others. So in an `mpmc` a receiver may be told that
//!   nothing more will come and then, where another's future is dropped that had been handed a message, find that one.
//! * A future that is *forgotten* (`mem::forget`) while it waits stays in line: one of `recv_async` swallows a message,
//!   whose sender is told that it was received.
//! * Messages that are hidden (`write`) would lie in between: `write` hands over at once, as `send` does, and
//!   `send_batch` hands its messages over one by one.
//! * Those that wait are served in turn, under a lock that is held for some instructions. A thread that is preempted
//!   there holds up the others of its channel, `try_send` and `try_recv` as well.

pub mod broadcast;
mod closed;
mod coop;
mod error;
mod first_try;
mod identity;
#[cfg(feature = "in-place")]
#[doc(hidden)]
pub mod in_place;
mod inbox;
mod iter;
mod lane_table;
mod limit;
pub mod mpmc;
pub mod mpsc;
mod observed;
pub mod oneshot;
mod permit;
mod receive;
mod rendezvous;
mod select;
mod send;
#[cfg(feature = "futures")]
mod sink;
pub mod spsc;
#[cfg(feature = "in-place")]
mod stop;
mod task_batch;
pub mod timer;
pub mod watch;

#[cfg(all(feature = "tokio", unix))]
pub(crate) use self::coop::within_budget;
pub use self::error::{
    RecvError, RecvTimeoutError, ReserveError, SendError, SendTimeoutError, TryRecvError, TryReserveError, TrySendError,
};
pub(crate) use self::inbox::{Inbox, InboxSender};
#[doc(hidden)]
pub use self::iter::Receive;
pub use self::iter::{IntoIter, Iter, TryIter};
pub(crate) use self::lane_table::{GivenUp, LaneTable, ThreadLane, end_lanes};
#[doc(hidden)]
pub use self::permit::Reserve;
pub use self::permit::{Permit, Permits};
pub use self::select::{SelectRecv, SelectSend, Selecting, select};
#[cfg(feature = "futures")]
#[doc(hidden)]
pub use self::sink::{Fed, Feed};
pub use crate::wait::Spin;
