//! The channel of a handle: handles that can be cloned can be compared. And whether a handle is in a set. Any thread;
//! wait-free.

use crate::signal::Attach;

// MUTANT: Speed only: how long to poll for a message that another thread is still writing. The next call finds it.
/// Whether a handle is in a set now. A handle that was polled, or was in a set once, may appear the same.
pub(super) fn is_attached(end: &impl Attach) -> bool {
    let mut is_attached = false;
    end.with_registration(&mut |_| is_attached = true);
    is_attached
}

/// Gives a handle, strong or weak, `same_channel`, `Eq` and `Hash`, all by its channel. `$shared` is what all handles of
/// the channel share.
macro_rules! impl_identity {
    ($end:ident, $([$bound:lifetime],)? |$this:ident| $shared:expr) => {
        impl<T $(: $bound)?> $end<T> {
            /// Whether both are handles of the same channel. So does `==`, and the hash is the channel's. Wait-free.
            #[must_use]
            pub fn same_channel(&self, other: &Self) -> bool {
                self.channel_address() == other.channel_address()
            }

            fn channel_address(&self) -> usize {
                let $this = self;
                $crate::sync::Arc::as_ptr($shared).addr()
            }
        }

        /// By the channel: clones are equal.
        impl<T $(: $bound)?> PartialEq for $end<T> {
            fn eq(&self, other: &Self) -> bool {
                self.same_channel(other)
            }
        }

        impl<T $(: $bound)?> Eq for $end<T> {}

        impl<T $(: $bound)?> core::hash::Hash for $end<T> {
            fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
                self.channel_address().hash(state);
            }
        }
    };
}

pub(super) use impl_identity;
