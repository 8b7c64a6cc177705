//! [`Source`]: the receivers that a bridge can take messages from.

use std::sync::{Mutex, PoisonError};
use std::thread;

use ysuite::TryRecvError;
use ysuite::signal::Attach;
use ysuite::{mpmc, mpsc, spsc};

use super::work::AT_ONCE;

/// A receiver whose messages leave the program: of [`spsc`], [`mpsc`] and [`mpmc`].
#[diagnostic::on_unimplemented(
    message = "a bridge cannot take messages from `{Self}`",
    label = "no receiver, or only borrowed",
    note = "a bridge is given the receiver of an spsc, mpsc or mpmc, and keeps it; the program keeps the sender, and of an mpmc \
            clones of the receiver"
)]
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

/// Held while a bridge leaves its channel: of several that leave one, each would see the others there still, and none would count
/// what is in it.
///
/// The program's own receivers do not hold it. A receiver that is dropped after the check and before the bridge's own
/// receiver could as well have been dropped after that: then it was the last, and the channel's messages went with it.
/// A receiver that is made from a weak handle after the check receives alongside the bridge, which counts what it takes
/// itself. A wake-up that the bridge's receiver had and did not use is passed on when that is dropped.
static LEAVING: Mutex<()> = Mutex::new(());

/// Drops what is in the channel, and leaves it. Returns how many messages that were: none where others receive them.
pub(super) fn left<S: Source>(mut source: S) -> usize {
    // It guards no data that could be broken.
    let leaving = LEAVING.lock().unwrap_or_else(PoisonError::into_inner);
    if !source.end() {
        drop(source);
        return 0;
    }
    // Whatever the messages' `Drop` does.
    drop(leaving);
    let (mut left, mut taken) = (0, Vec::new());
    loop {
        match source.take(&mut taken, AT_ONCE) {
            Ok(messages) => left += messages,
            // A sender has a place and has not filled it yet.
            Err(TryRecvError::Empty) => thread::yield_now(),
            Err(TryRecvError::Disconnected) => return left,
        }
        taken.clear();
    }
}
