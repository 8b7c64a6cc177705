//! **oneshot**: one message, once. For a reply: the thread or task that asks sends the sender along with its request.
//!
//! Making, sending and receiving take one allocation and one read-modify-write. The waiting side may be a thread, a
//! task, or a set of signals; the same receiver supports all three.
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
//! Sending takes the sender, and [`recv`](Receiver::recv) takes the receiver. So the compiler ensures that nothing is
//! sent or awaited twice.
//!
//! ```compile_fail,E0382
//! let (sender, receiver) = ysuite::oneshot::channel();
//! sender.send(1).unwrap();
//! sender.send(2).unwrap(); // use of moved value
//! # drop(receiver);
//! ```
//!
//! The methods that borrow the receiver ([`try_recv`](Receiver::try_recv), [`recv_timeout`](Receiver::recv_timeout),
//! polling) leave it *spent* after they have returned the message or the disconnection. From then on it returns
//! `Disconnected`, at once and for ever, and has no memory except its own two words.
//!
//! # When not to use it
//!
//! For more than one message: an [`spsc`](crate::spsc) makes no allocation for each. For a reply that several receivers
//! need.
//!
//! # Sources
//!
//! The state of such a channel is one word, in which one step of the sender both says "sent" and finds whether a
//! receiver waits. This is the idea of the crate `oneshot` (Linus Färnstrand). That the sender can wait for the
//! receiver's disconnection is tokio's. The protocol is different: neither handle ever waits for the other to finish.

mod handshake;
mod operations;
mod receiver;
mod sender;
mod shared;

#[cfg(feature = "in-place")]
pub(super) use self::handshake::Handshake;
pub use self::receiver::Receiver;
pub use self::sender::Sender;

/// Makes a channel for one message.
///
/// Allocates once: 40 bytes for a message of one word, on a machine of 64 bits. The handle that is dropped last frees
/// it.
#[doc = cost!(oneshot CHANNEL)]
#[must_use]
#[inline]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let link = shared::OneshotLink::new();
    (Sender::new(link), Receiver::new(link))
}
