//! [`SignalSet`]: a set of signals for code that does not depend on how its owner sleeps.
//!
//! The owner's thread only, as [`Wait`] is. Each operation promises what the method of the same name of a
//! [`YPollset`](super::YPollset) or `YSocketpair` promises.
//!
//! Cannot: make a set. Making one with a descriptor may fail, making one without cannot.

use super::{Attach, AttachError, Signaler, Wait};

/// A set of many signals, which one thread waits for, and to which receivers can be attached.
///
/// The trait is dyn-compatible, so a program can choose the kind of set while it runs:
///
/// ```
/// use ysuite::signal::{AttachError, Signal, SignalSet, YPollset};
/// use ysuite::spsc;
///
/// fn serve(set: &mut dyn SignalSet, numbers: &mut spsc::Receiver<u32>) -> Result<Vec<usize>, AttachError> {
///     set.attach(numbers, 3)?;
///     set.signaler().signal(7);
///     Ok(set.wait().collect())
/// }
///
/// let (_sender, mut numbers) = spsc::unbounded();
/// // The id of an attached receiver is up at first: there may be messages already.
/// assert_eq!(serve(&mut YPollset::new(), &mut numbers)?, [3, 7]);
/// # Ok::<(), AttachError>(())
/// ```
pub trait SignalSet: Wait {
    /// Returns the number of signals: ids go from 0 to one less. Wait-free.
    fn capacity(&self) -> usize;

    /// Returns a handle that raises signals of this set, for another thread. Wait-free.
    fn signaler(&self) -> Signaler;

    /// Attaches `receiver` to `id`: from now on `id` is up exactly while that receiver may hold a message.
    /// Level-triggered: every poll reports `id` until the receiver finds itself empty. Never blocks.
    #[doc = cost!(signal ATTACH)]
    ///
    /// # Errors
    /// [`AttachError`] if the set does not have this id, another receiver has it, or this receiver is attached already,
    /// to this set or another: [`detach`](Self::detach) it first. Nothing has changed.
    fn attach(&mut self, receiver: &mut dyn Attach, id: usize) -> Result<(), AttachError>;

    /// Takes `receiver` out of this set, and returns the id it had: down, and free. Returns `None`, and changes
    /// nothing, if it is not in this set. Its messages stay, and it can be attached again, to any set. Never blocks.
    ///
    /// A sender that was about to raise the id may still do so once: the next owner of the id must take that for a
    /// spurious signal.
    #[doc = cost!(signal DETACH)]
    fn detach(&mut self, receiver: &mut dyn Attach) -> Option<usize>;
}

/// The methods that every set of signals has, however its owner sleeps: for a type with a field `core`.
macro_rules! impl_set {
    ($set:ident) => {
        impl $set {
            /// Returns a handle that raises signals of this set, for another thread. Wait-free.
            #[must_use]
            pub fn signaler(&self) -> $crate::signal::Signaler {
                $crate::signal::Signaler { core: $crate::sync::Arc::clone(&self.core) }
            }

            /// Returns the number of signals: ids go from 0 to one less. Wait-free.
            #[must_use]
            pub fn capacity(&self) -> usize {
                self.core.bits.capacity
            }

            /// Takes `receiver` out of this set, and returns the id it had: down, and free. Returns `None`, and changes
            /// nothing, if it is not in this set. Its messages stay, and it can be attached again, to any set. Never
            /// blocks.
            ///
            /// A sender that was about to raise the id may still do so once: the next owner of the id must take that
            /// for a spurious signal.
            #[doc = cost!(signal DETACH)]
            pub fn detach(&mut self, receiver: &mut impl Attach) -> Option<usize> {
                $crate::signal::attach::detach(&self.core, receiver)
            }
        }

        impl $crate::signal::Wait for $set {
            fn wait(&mut self) -> $crate::signal::Signals {
                self.core.poll(None)
            }

            fn check(&mut self) -> $crate::signal::Signals {
                self.core.check()
            }

            fn wait_timeout(&mut self, timeout: core::time::Duration) -> $crate::signal::Signals {
                self.core.poll(Some(timeout))
            }
        }

        impl $crate::signal::SignalSet for $set {
            fn capacity(&self) -> usize {
                self.capacity()
            }

            fn signaler(&self) -> $crate::signal::Signaler {
                self.signaler()
            }

            fn attach(&mut self, receiver: &mut dyn Attach, id: usize) -> Result<(), AttachError> {
                $crate::signal::attach::attach(&self.core, receiver, id)
            }

            fn detach(&mut self, receiver: &mut dyn Attach) -> Option<usize> {
                $crate::signal::attach::detach(&self.core, receiver)
            }
        }
    };
}

pub(super) use impl_set;
