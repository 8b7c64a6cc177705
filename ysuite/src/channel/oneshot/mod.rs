//! **The oneshot**: one message, once. For an answer: the asking thread or task sends one end along with its question.
//!
//! Made, sent and received for one allocation and one read-modify-write. Whoever waits may be a thread, a task, or a
//! set of signals; the same receiver can do all of it.
//!
//! ```
//! use ysuite::oneshot;
//!
//! let (sender, receiver) = oneshot::channel();
//! let thread = std::thread::spawn(move || sender.send("the answer"));
//! assert_eq!(receiver.recv(), Ok("the answer"));
//! thread.join().unwrap().unwrap();
//! ```
//!
//! The receiver is a future by itself, of any `async` runtime:
//!
//! ```
//! # use std::future::Future;
//! # use std::pin::pin;
//! # use std::task::{Context, Poll, Waker};
//! async fn ask(receiver: ysuite::oneshot::Receiver<u32>) -> u32 {
//!     receiver.await.unwrap_or(0)
//! }
//! # let (sender, receiver) = ysuite::oneshot::channel();
//! # let mut asking = pin!(ask(receiver));
//! # let mut context = Context::from_waker(Waker::noop());
//! # assert!(asking.as_mut().poll(&mut context).is_pending());
//! # sender.send(4).unwrap();
//! # assert_eq!(asking.as_mut().poll(&mut context), Poll::Ready(4));
//! ```
//!
//! # One message, then nothing
//!
//! Sending takes the sender, and [`recv`](Receiver::recv) takes the receiver: the compiler sees to it that nothing is
//! sent or awaited twice.
//!
//! ```compile_fail,E0382
//! let (sender, receiver) = ysuite::oneshot::channel();
//! sender.send(1).unwrap();
//! sender.send(2).unwrap(); // use of moved value
//! # drop(receiver);
//! ```
//!
//! What borrows the receiver ([`try_recv`](Receiver::try_recv), [`recv_timeout`](Receiver::recv_timeout),
//! polling) leaves one behind that is *spent* once it has given the message, or has told that none will come: from then
//! on it says `Disconnected`, at once and for ever, and has no memory but its own two words.
//!
//! # When not to use it
//!
//! For more than one message: an [`spsc`](crate::spsc) makes no allocation for each. For an answer that several want.
//!
//! # Sources
//!
//! That the state of such a channel is one word, in which the sender's only step says both "sent" and "does somebody
//! wait?", is the idea of the crate `oneshot` (Linus Färnstrand); that the sender can wait for the receiver to go is
//! tokio's. The protocol is another, in which no end ever waits for the other to finish.

mod handshake;
mod receiver;
mod sender;
mod shared;

#[cfg(feature = "in-place")]
pub(super) use self::handshake::Handshake;
pub use self::receiver::Receiver;
pub use self::sender::Sender;
pub use super::error::{RecvError, RecvTimeoutError, SendError, TryRecvError};

/// A channel for one message.
///
/// Allocates once: for a message of one word 40 bytes, on a machine of 64 bits. The end that goes last frees it.
#[must_use]
#[inline]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let link = shared::OneshotLink::new();
    (Sender::new(link), Receiver::new(link))
}
