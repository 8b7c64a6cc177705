//! **The pipe**: one sender, one receiver. The fastest channel here, and the first to reach for.
//!
//! Both ends take `&mut self`, can be moved to other threads, and cannot be cloned. Messages arrive in order. A message
//! is delivered or dropped exactly once, whichever end goes first.
//!
//! ```
//! use ysuite::spsc;
//!
//! let (mut sender, mut receiver) = spsc::unbounded();
//! let thread = std::thread::spawn(move || {
//!     for number in 0..100 {
//!         sender.send(number).unwrap();
//!     }
//! });
//! assert_eq!(receiver.iter().sum::<i32>(), 4950);
//! thread.join().unwrap();
//! ```
//!
//! # When not to use it
//!
//! For several senders or several receivers. As a way to bound memory without back-pressure: [`unbounded`] keeps
//! whatever the receiver does not fetch, and only [`bounded`] makes the sender wait.
//!
//! An end sent into its own channel keeps the channel alive, and itself: both leak, as in `std`.

mod receiver;
mod sender;

pub use self::receiver::Receiver;
pub use self::sender::Sender;
pub use super::error::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};

use crate::queue::ypipe::{self, Reader, Writer};
use crate::sync::Arc;
use crate::wait::WakeTarget;

/// What the ends share beside the pipe: how to wake each other.
struct Shared {
    receiver: WakeTarget,
    sender: WakeTarget,
}

/// A channel without a bound: sending never waits. Memory grows by chunks of up to 64 KiB as messages queue up, and is
/// given back as they are received, but for a small reserve.
#[must_use]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    ends(ypipe::unbounded())
}

/// A channel for at most `capacity` messages, exactly; a sender that finds it full waits. Where its slots take no more
/// than 1 MiB they are allocated here and nothing is allocated later; a larger channel grows as it fills and then keeps
/// what it has.
///
/// # Panics
/// Where `capacity` is 0: there is no rendezvous here.
#[must_use]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    ends(ypipe::bounded(capacity))
}

fn ends<T>((writer, reader): (Writer<T>, Reader<T>)) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Shared { receiver: WakeTarget::new(), sender: WakeTarget::new() });
    (Sender::new(writer, shared.clone()), Receiver::new(reader, shared))
}
