//! [`Source`]: the receivers that a bridge can take messages from.

use ysuite::channel::TryRecvError;
use ysuite::signal::Attach;
use ysuite::{mpmc, mpsc, spsc};

/// A receiver whose messages leave the program: of [`spsc`], [`mpsc`] and [`mpmc`].
pub trait Source: Attach + Send + 'static {
    /// What it receives.
    type Message;

    /// Appends up to `most` messages, without waiting.
    #[doc(hidden)]
    fn take(&mut self, to: &mut Vec<Self::Message>, most: usize) -> Result<usize, TryRecvError>;

    /// Whether all senders are gone. Messages may be left.
    #[doc(hidden)]
    fn is_abandoned(&self) -> bool;

    /// Whether there is no message now.
    #[doc(hidden)]
    fn is_drained(&mut self) -> bool;

    /// Whether others may receive from the channel as well. Each message wakes one of the waiting receivers, so a
    /// receiver that would take nothing must not wait.
    #[doc(hidden)]
    fn is_shared(&self) -> bool;

    /// Closes the channel to senders, unless others receive from it as well. False: they do, and its messages are
    /// theirs.
    #[doc(hidden)]
    fn end(&mut self) -> bool;
}

macro_rules! impl_source {
    ($($channel:ident: $is_shared:literal, $end:expr;)*) => {$(
        impl<T: Send + 'static> Source for $channel::Receiver<T> {
            type Message = T;

            fn take(&mut self, to: &mut Vec<T>, most: usize) -> Result<usize, TryRecvError> {
                self.try_recv_batch(to, most)
            }

            fn is_abandoned(&self) -> bool {
                self.is_disconnected()
            }

            fn is_drained(&mut self) -> bool {
                self.is_empty()
            }

            fn is_shared(&self) -> bool {
                $is_shared
            }

            fn end(&mut self) -> bool {
                let end: fn(&mut Self) -> bool = $end;
                end(self)
            }
        }
    )*};
}

impl_source! {
    spsc: false, |receiver| {
        receiver.close();
        true
    };
    mpsc: false, |receiver| {
        receiver.close();
        true
    };
    mpmc: true, |receiver| {
        let is_last = receiver.receiver_count() == 1;
        if is_last {
            receiver.close();
        }
        is_last
    };
}
