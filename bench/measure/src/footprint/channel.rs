//! A kind of channel as `ybench footprint` and `ci/steps/footprint` use it: both ends made, one message sent and
//! received, all by one thread.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// A message that is copied, and recognised when it arrives.
pub trait Letter: Copy + Send + Sync + 'static {
    fn numbered(number: usize) -> Self;
    fn number(&self) -> usize;
}

impl Letter for usize {
    fn numbered(number: usize) -> Self {
        number
    }

    fn number(&self) -> usize {
        *self
    }
}

/// The bytes of [`Large`].
pub const LARGE: usize = 32 * 1_024;

/// A message that shows on a stack.
#[derive(Clone, Copy, Debug)]
pub struct Large([usize; LARGE / 8]);

impl Letter for Large {
    fn numbered(number: usize) -> Self {
        Self([number; LARGE / 8])
    }

    fn number(&self) -> usize {
        self.0[LARGE / 8 - 1]
    }
}

/// The places of a channel with a bound.
pub const PLACES: usize = 16;

/// A kind of channel. Its operations are those that its users call, and none of them ever has to wait here.
pub trait Channel: 'static {
    const NAME: &'static str;
    /// One sentence, without its full stop.
    const ABOUT: &'static str;
    /// Whether it takes any number of messages before the first is received.
    const UNBOUNDED: bool = false;
    /// Both ends.
    type Ends<M: Letter>;

    fn make<M: Letter>() -> Self::Ends<M>;

    /// Whether it was sent.
    fn send<M: Letter>(ends: &mut Self::Ends<M>, message: M) -> bool;

    /// A message that has been sent.
    fn receive<M: Letter>(ends: &mut Self::Ends<M>) -> Option<M>;

    /// Both, one after the other.
    fn exchange<M: Letter>(ends: &mut Self::Ends<M>, message: M) -> Option<M> {
        if Self::send(ends, message) { Self::receive(ends) } else { None }
    }
}

/// Kinds of channel whose ends are sent to and received from alike. Each has a name, a sentence, whether it is without a
/// bound, the types of its ends for messages `M`, and how they are made.
#[macro_export]
macro_rules! kinds_of_channel {
    (
        |$sender:ident, $message:ident| $send:expr, |$receiver:ident| $receive:expr;
        $($kind:ident: $name:literal, $about:literal, $unbounded:literal, $from:ty, $to:ty, $made:expr;)+
    ) => { $(
        pub struct $kind;

        impl Channel for $kind {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = $about;
            const UNBOUNDED: bool = $unbounded;
            type Ends<M: Letter> = ($from, $to);

            fn make<M: Letter>() -> Self::Ends<M> {
                $made
            }

            fn send<M: Letter>(($sender, _): &mut Self::Ends<M>, $message: M) -> bool {
                $send
            }

            fn receive<M: Letter>((_, $receiver): &mut Self::Ends<M>) -> Option<M> {
                $receive
            }
        }
    )+ };
}
pub use kinds_of_channel;

/// The output of a future that is ready at once.
pub fn ready<F: Future>(future: F) -> Option<F::Output> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}
