//! What both ends of an exchange show of it in the same way, written once. Any thread; all of it is wait-free.
//!
//! It says nothing of what is about to happen: others send and receive meanwhile.

/// Gives an end its settings and its looks at the channel. `$end` has fields `core: Arc<Core<T>>` and `backoff: SharedBackoff`.
/// What is said of three of them depends on the end.
macro_rules! wear_exchange_face {
    ($end:ident: $(#[$spin:meta])+ set_spin, $(#[$len:meta])+ len, $(#[$disconnected:meta])+ is_disconnected $(,)?) => {
        impl<T> $end<T> {
            $(#[$spin])+
            pub fn set_spin(&self, spin: Spin) {
                self.backoff.set(spin);
            }

            $(#[$len])+
            #[must_use]
            pub fn len(&self) -> usize {
                self.core.ring.len()
            }

            /// Whether no message is in the channel.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Whether there is no room for another message.
            #[must_use]
            pub fn is_full(&self) -> bool {
                self.len() == self.core.ring.capacity()
            }

            /// How many messages there may be: never `None`, as in channels that have no bound.
            #[must_use]
            pub fn capacity(&self) -> Option<usize> {
                Some(self.core.ring.capacity())
            }

            $(#[$disconnected])+
            #[must_use]
            pub fn is_disconnected(&self) -> bool {
                self.core.ring.is_closed()
            }
        }
    };
}

pub(super) use wear_exchange_face;
