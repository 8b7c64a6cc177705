//! Weak handles: they belong to a channel and do not keep it open. Any thread; lock-free.
//!
//! Each side counts its handles. A weak handle becomes a strong one by one compare-exchange of that count, which never
//! leaves 0. Once the last handle is dropped its side is disconnected for good, whatever that thread has yet to do.

use core::fmt;

use super::shared::MpmcShared;
use super::{Receiver, Sender};
use crate::channel::identity::impl_identity;
use crate::sync::Arc;
use crate::wait::SharedBackoff;

/// A sender that does not keep the channel open, and cannot send before it is [upgraded](Self::upgrade). Made by
/// [`Sender::downgrade`].
///
/// For code that sends now and then, and must not keep the receivers waiting for that: when the last [`Sender`] is
/// dropped, the receivers get the disconnection. The channel's memory is kept as long as there is a weak handle. It
/// holds no messages after the receivers have disconnected.
pub struct WeakSender<T> {
    shared: Arc<MpmcShared<T>>,
    backoff: SharedBackoff,
}

/// A receiver that does not keep the channel open, and cannot receive before it is [upgraded](Self::upgrade). Made by
/// [`Receiver::downgrade`].
///
/// When the last [`Receiver`] is dropped, so are the messages, and sending fails. The channel's memory is kept as long
/// as there is a weak handle.
pub struct WeakReceiver<T> {
    shared: Arc<MpmcShared<T>>,
    backoff: SharedBackoff,
}

macro_rules! impl_weak {
    ($weak:ident of $end:ident: $count:ident, $make:expr) => {
        impl<T> $end<T> {
            /// A weak handle of the same channel, with the same settings.
            #[doc = cost!(mpmc CLONE)]
            #[must_use]
            pub fn downgrade(&self) -> $weak<T> {
                $weak { shared: self.shared.clone(), backoff: self.backoff.again() }
            }
        }

        impl<T> $weak<T> {
            // FINAL: `None`: the count of handles never leaves 0, and the closed bit stays; test:
            //     tests/loom/exchange_close.rs: an_upgrade_against_the_last_senders_drop
            /// A strong handle of the channel, as a clone of an existing one. `None` where all of them are dropped, or
            /// the channel is closed.
            #[doc = cost!(mpmc UPGRADE)]
            #[must_use]
            pub fn upgrade(&self) -> Option<$end<T>> {
                if self.shared.is_disconnected() || !self.shared.$count.add_to_others() {
                    return None;
                }
                Some($make(self.shared.clone(), self.backoff.again()))
            }
        }

        impl<T> Clone for $weak<T> {
            fn clone(&self) -> Self {
                Self { shared: self.shared.clone(), backoff: self.backoff.again() }
            }
        }

        impl<T> fmt::Debug for $weak<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($weak), " { .. }"))
            }
        }

        impl_identity!($weak, |weak| &weak.shared);
    };
}

impl_weak!(WeakSender of Sender: writers, Sender::again);
impl_weak!(WeakReceiver of Receiver: readers, Receiver::again);
