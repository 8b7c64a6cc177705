//! [`YSocketpair`]: many signals, from any thread to one thread that sleeps on a descriptor. Unix; on Windows the
//! descriptor is the handle of an event.
//!
//! Signalling: any thread, lock-free; as for a pollset, but the system call is a write to the descriptor, made only
//! while that is unreadable. Polling: the owner; blocks. Checking: the owner; never blocks, and reads the descriptor
//! only if it had become readable.
//!
//! The descriptor carries wake-ups only, never ids: an eventfd *adds*, so in the ancestor the same id signalled twice
//! arrived as the next id. Here the ids are bits, and the descriptor says only that there are some.
//!
//! Cannot: be shared with a forked child. It inherits the descriptor and a copy of the bits. Raises, lowers and drops
//! there concern that copy only, and leave the descriptor alone. Signal across `fork` by other means.

use core::fmt;
use std::io::{self, ErrorKind};
#[cfg(unix)]
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
#[cfg(windows)]
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, RawHandle};

use super::attach::attach;
use super::set::SetCore;
use super::{Attach, AttachError, MAX_CAPACITY, impl_set};
use crate::os::Notifier;
#[cfg(windows)]
use crate::os::WakeupEvent;
#[cfg(unix)]
use crate::os::WakeupFd;
use crate::sync::Arc;

/// What kind of descriptor a [`YSocketpair`] sleeps on. Unix.
#[cfg(unix)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Backend {
    /// Linux `eventfd(2)`: one descriptor, the cheapest to write. The default where it exists.
    #[cfg_attr(any(target_os = "linux", target_os = "android"), default)]
    Eventfd,
    /// A pair of connected local sockets: two descriptors, on every Unix. The default elsewhere.
    #[cfg_attr(not(any(target_os = "linux", target_os = "android")), default)]
    Socketpair,
}

// REUSED: the descriptor of a set; held by an event loop in which it was left; harmless: it is open until the last
//     signaler and receiver are gone, and silent; test: tests/suite/conformance/descriptor.rs:
//     a_set_that_is_gone_stays_silent_in_epoll
/// A set of signals with a descriptor: readable while something is up, so that one thread can wait for signals and
/// sockets at once, with poll, epoll or any event loop. On Windows it has the handle of an event instead, for
/// `WaitForMultipleObjects` and for loops that wait for handles.
///
/// ```
/// # #[cfg(unix)]
/// use std::os::fd::AsFd;
/// use ysuite::signal::{Signal, Wait, YSocketpair};
///
/// let mut set = YSocketpair::new()?;
/// let signaler = set.signaler();
/// std::thread::spawn(move || signaler.signal(255));
/// // Put `set.as_fd()` into an event loop, for reading, and call `check` when it becomes readable. Or:
/// assert_eq!(set.wait().collect::<Vec<_>>(), [255]);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// Wait for *reading* and call [`check`](super::Wait::check) when notified. Do not read or write the descriptor
/// yourself. It may, rarely, be readable with nothing up: such a `check` is empty, and makes it unreadable.
///
/// Prefer level-triggered use. In an edge-triggered loop, do as with sockets: serve what `check` reports,
/// reading attached receivers until they are empty, and call `check` again until *it* is empty. Then the next signal is
/// an edge.
///
/// On Windows *readable* is *signalled*. The event is reset by hand, by the set alone: a wait for the handle takes
/// nothing away, so wait for it level-triggered, and call `check` after it. Neither set nor reset it yourself.
///
/// The descriptor is closed when the set, its signalers and both sides of the channels attached to it are all gone.
/// Take it out of the event loop before dropping the set; an entry that is not removed stays silent.
pub struct YSocketpair {
    core: Arc<SetCore>,
}

impl YSocketpair {
    /// Makes a set of 256 signals, all down, on the default `Backend`, or on a socketpair if the kernel has no other
    /// or refuses it. On Windows it is on an event.
    ///
    /// # Errors
    /// Those of `eventfd(2)` and `socketpair(2)`, or of `CreateEventW`: no descriptors left, no memory, both forbidden
    /// by a filter.
    pub fn new() -> io::Result<Self> {
        // The largest capacity whose ids one poll finds without allocating.
        Self::with_capacity(256)
    }

    // MUTANT: One more attempt fails with the same error, or succeeds. Killed only by
    // `eventfd_forbidden_by_a_filter_is_made_up_for_by_sockets_unless_it_is_named`.
    /// Makes a set of exactly `capacity` signals, all down, on a descriptor as [`YSocketpair::new`] does. Allocates
    /// about a quarter of a byte per signal, at once.
    ///
    /// # Errors
    /// As [`YSocketpair::new`]; `InvalidInput` if `capacity` is 0 or larger than [`MAX_CAPACITY`].
    pub fn with_capacity(capacity: usize) -> io::Result<Self> {
        #[cfg(windows)]
        return Self::of(capacity, || Ok(Box::new(WakeupEvent::new()?)));
        #[cfg(unix)]
        match Self::with_backend(capacity, Backend::default()) {
            // An old kernel, or a sandbox.
            Err(error) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::PermissionDenied) => {
                Self::with_backend(capacity, Backend::Socketpair)
            }
            made => made,
        }
    }

    /// As [`YSocketpair::with_capacity`], on the named `backend` and on no other. Unix.
    ///
    /// # Errors
    /// As [`YSocketpair::with_capacity`]; `Unsupported` for an eventfd if the system has none, `PermissionDenied` if a
    /// filter forbids it.
    #[cfg(unix)]
    pub fn with_backend(capacity: usize, backend: Backend) -> io::Result<Self> {
        Self::of(capacity, || {
            Ok(Box::new(match backend {
                #[cfg(any(target_os = "linux", target_os = "android"))]
                Backend::Eventfd => WakeupFd::eventfd()?,
                #[cfg(not(any(target_os = "linux", target_os = "android")))]
                Backend::Eventfd => return Err(io::Error::new(ErrorKind::Unsupported, "this system has no eventfd")),
                Backend::Socketpair => WakeupFd::socketpair()?,
            }))
        })
    }

    fn of(capacity: usize, notifier: impl FnOnce() -> io::Result<Box<dyn Notifier>>) -> io::Result<Self> {
        // MUTANT: Killed only by `absurd_capacities_are_an_error`.
        if !(1..=MAX_CAPACITY).contains(&capacity) {
            let message = format!("a YSocketpair has 1 to {MAX_CAPACITY} signals, not {capacity}");
            return Err(io::Error::new(ErrorKind::InvalidInput, message));
        }
        Ok(Self { core: Arc::new(SetCore::on_descriptor(capacity, notifier()?)) })
    }

    /// Attaches `receiver` to `id`: from now on `id` is up, and the descriptor readable, exactly while that receiver
    /// may hold a message.
    ///
    /// A sender is attached likewise: `id` is up while it may have room, until `try_send` finds none.
    ///
    /// Level-triggered: every poll reports `id` until the receiver finds itself empty, on whichever thread reads it. A
    /// caller that stops half way through and polls again gets the id again. The id is up at first: the receiver may
    /// hold messages already. While the receiver is being read, nothing is written to the descriptor. Dropping the
    /// receiver frees the id; dropping the set does not affect the receiver. If an attached id is raised by hand, it is
    /// reported until the receiver next finds itself empty. Never blocks.
    #[doc = cost!(signal ATTACH)]
    ///
    /// # Errors
    /// [`AttachError`] if the set does not have this id, another receiver has it, or this receiver is attached already,
    /// to this set or another: [`detach`](Self::detach) it first. Nothing has changed.
    pub fn attach(&mut self, receiver: &mut impl Attach, id: usize) -> Result<(), AttachError> {
        attach(&self.core, receiver, id)
    }
}

impl_set!(YSocketpair);

#[cfg(unix)]
impl AsFd for YSocketpair {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.core.descriptor().expect("the set of a socketpair has a descriptor")
    }
}

#[cfg(unix)]
impl AsRawFd for YSocketpair {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

#[cfg(windows)]
impl AsHandle for YSocketpair {
    fn as_handle(&self) -> BorrowedHandle<'_> {
        self.core.descriptor().expect("the set of a socketpair has a descriptor")
    }
}

#[cfg(windows)]
impl AsRawHandle for YSocketpair {
    fn as_raw_handle(&self) -> RawHandle {
        self.as_handle().as_raw_handle()
    }
}

// USER CODE: none (it holds a word and a descriptor)
impl Drop for YSocketpair {
    // MUTANT: Killed only by `a_set_that_is_gone_stays_silent_in_epoll`.
    fn drop(&mut self) {
        self.core.abandon();
    }
}

impl fmt::Debug for YSocketpair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("YSocketpair");
        shown.field("capacity", &self.capacity());
        #[cfg(unix)]
        shown.field("fd", &self.as_raw_fd());
        #[cfg(windows)]
        shown.field("handle", &self.as_raw_handle());
        shown.field("any_up", &self.core.bits.any()).finish()
    }
}
