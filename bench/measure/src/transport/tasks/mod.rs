//! Channels between tasks: what each of them provides. Ours and tokio's are here, others in the package of the
//! competitors.
//!
//! A handle returns the very future that its library makes, and a loop awaits it. There is no code between the two: the
//! measurement is of that future and the loop.
//!
//! | file | contents |
//! |---|---|
//! | `ours` | `ysuite`'s `spsc`, `mpsc` and `mpmc`, by `send_async` and `recv_async` |
//! | `tokio_mpsc` | tokio's own channel |

pub mod ours;
pub mod tokio_mpsc;

use std::io;

use super::{Closed, Message, Traits, Waits, copies};

/// For struct update: what all transports of tasks share. No thread sends or receives by them.
pub const COMMON: Traits = Traits { waits: Waits::Suspends, one_by_one: false, ..Traits::COMMON };

/// Room for this number of messages, where there is a bound.
pub const PLACES: usize = 1_024;

/// A way of passing messages from one task to another, in the order of each sender.
pub trait TaskTransport: 'static {
    const TRAITS: Traits;
    type Sender<M: Message>: TaskSender<M>;
    type Receiver<M: Message>: TaskReceiver<M>;

    /// A number of new sending handles, as far as the traits allow, and the one receiving handle.
    fn open<M: Message>(senders: usize) -> io::Result<Opened<Self, M>>;
}

pub type Opened<T, M> = (Vec<<T as TaskTransport>::Sender<M>>, <T as TaskTransport>::Receiver<M>);

/// The handle of a sending task.
pub trait TaskSender<M: Message>: Send + 'static {
    /// Sends one message, visible at once. Waits while a bounded transport is full.
    fn send(&mut self, message: M) -> impl Future<Output: Sent> + Send;
}

/// The handle of the receiving task.
pub trait TaskReceiver<M: Message>: Send + 'static {
    /// Waits for the next message.
    fn recv(&mut self) -> impl Future<Output: Received<M>> + Send;
}

/// A library's result of a send.
pub trait Sent {
    fn is_sent(&self) -> bool;
}

impl<E> Sent for Result<(), E> {
    #[inline(always)]
    fn is_sent(&self) -> bool {
        self.is_ok()
    }
}

/// A library's result of a receive.
pub trait Received<M> {
    fn message(self) -> Result<M, Closed>;
}

impl<M> Received<M> for Option<M> {
    #[inline(always)]
    fn message(self) -> Result<M, Closed> {
        self.ok_or(Closed)
    }
}

impl<M, E> Received<M> for Result<M, E> {
    #[inline(always)]
    fn message(self) -> Result<M, Closed> {
        self.map_err(|_| Closed)
    }
}

/// Both handles, where only one can send.
pub fn alone<S, R>((sender, receiver): (S, R)) -> impl FnOnce(usize) -> (Vec<S>, R) {
    |_| (vec![sender], receiver)
}

/// The handles of a number of senders, which are clones of the first.
pub fn cloned<S: Clone, R>((sender, receiver): (S, R)) -> impl FnOnce(usize) -> (Vec<S>, R) {
    |senders| (copies(sender, senders), receiver)
}

/// Transports of tasks: for each a name, a description, traits in addition to the file's `COMMON`, the types of both
/// handles for messages `M`, and a function that makes them for a number of senders.
#[macro_export]
macro_rules! task_transports {
    ($($transport:ident: $name:literal, $about:literal, { $($traits:tt)* }, $sender:ty, $receiver:ty, $open:expr;)+) => { $(
        pub struct $transport;

        impl $crate::transport::tasks::TaskTransport for $transport {
            const TRAITS: $crate::transport::Traits =
                $crate::transport::Traits { name: $name, about: $about, $($traits)* ..COMMON };
            type Sender<M: $crate::transport::Message> = $sender;
            type Receiver<M: $crate::transport::Message> = $receiver;

            fn open<M: $crate::transport::Message>(
                senders: usize,
            ) -> std::io::Result<$crate::transport::tasks::Opened<Self, M>> {
                Ok($open(senders))
            }
        }
    )+ };
}

/// Handles by the futures of their library: the call, and the types that have it.
#[macro_export]
macro_rules! task_ends {
    (
        $(send($end:ident, $message:ident) $sent:expr => $($sender:ty),+;)*
        $(recv($from:ident) $received:expr => $($receiver:ty),+;)*
    ) => {
        $($crate::task_ends!(@send $end $message ($sent) $($sender)+);)*
        $($crate::task_ends!(@recv $from ($received) $($receiver)+);)*
    };
    (@send $end:ident $message:ident ($sent:expr) $($sender:ty)+) => { $(
        impl<M: $crate::transport::Message> $crate::transport::tasks::TaskSender<M> for $sender {
            #[inline(always)]
            fn send(&mut self, $message: M) -> impl Future<Output: $crate::transport::tasks::Sent> + Send {
                let $end = self;
                $sent
            }
        }
    )+ };
    (@recv $end:ident ($received:expr) $($receiver:ty)+) => { $(
        impl<M: $crate::transport::Message> $crate::transport::tasks::TaskReceiver<M> for $receiver {
            #[inline(always)]
            fn recv(&mut self) -> impl Future<Output: $crate::transport::tasks::Received<M>> + Send {
                let $end = self;
                $received
            }
        }
    )+ };
}
pub use {task_ends, task_transports};
