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

/// The handle has told that its other side is gone.
#[cold]
pub(super) fn tell_end(end: &impl Attach) {
    end.with_registration(&mut |registration| registration.tell_end());
}

/// Makes handles equal, strong or weak, whose field `shared` is what all handles of the channel share. A macro, as these
/// traits are foreign: they cannot be implemented once for all handles.
macro_rules! impl_identity {
    ($handle:ident) => {
        /// By the channel: clones are equal.
        impl<T> PartialEq for $handle<T> {
            fn eq(&self, other: &Self) -> bool {
                $crate::sync::Arc::ptr_eq(&self.shared, &other.shared)
            }
        }

        impl<T> Eq for $handle<T> {}

        impl<T> core::hash::Hash for $handle<T> {
            fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
                $crate::sync::Arc::as_ptr(&self.shared).addr().hash(state);
            }
        }
    };
}

pub(super) use impl_identity;
