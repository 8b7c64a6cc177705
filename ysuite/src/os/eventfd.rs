//! Linux `eventfd(2)` as a notifier. Notifications add up in its counter, so it carries wake-ups only; the set's bits
//! tell which ids are raised.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{EventfdFlags, eventfd};

use super::{Notifier, count_call, uninterrupted};

pub(crate) struct Eventfd(OwnedFd);

impl Eventfd {
    /// # Errors
    /// Those of `eventfd(2)`: no descriptors left (`EMFILE`, `ENFILE`), no memory, forbidden by a filter.
    pub(crate) fn new() -> io::Result<Self> {
        count_call();
        let fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        super::socketpair::above_stdio(fd).map(Self)
    }
}

impl AsFd for Eventfd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Notifier for Eventfd {
    fn notify(&self) {
        // EAGAIN: the counter is full, so the descriptor is readable already.
        let _ = uninterrupted(|| rustix::io::write(&self.0, &1u64.to_ne_bytes()));
    }

    fn clear(&self) -> bool {
        uninterrupted(|| rustix::io::read(&self.0, &mut [0u8; 8])).is_ok()
    }
}
