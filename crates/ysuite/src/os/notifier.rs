//! What any thread can notify, and the owner of a set waits for, alone or in an event loop.

#[cfg(unix)]
pub(crate) use std::os::fd::BorrowedFd as Descriptor;
#[cfg(windows)]
pub(crate) use std::os::windows::io::BorrowedHandle as Descriptor;

use super::sys::poll_readable;
use super::{Deadline, count_call};

/// A descriptor that any thread can notify, and that becomes readable by it; on Windows a handle that becomes signalled.
/// Carries wake-ups only, never ids.
pub(crate) trait Notifier: Send + Sync {
    fn descriptor(&self) -> Descriptor<'_>;

    /// Makes the descriptor readable. A descriptor that is full already is readable: that is success.
    fn notify(&self);

    /// Clears a notification. False when there was none. A return of true happens after the write of the notification
    /// it cleared, and so after all that the notifying thread had done before.
    fn clear(&self) -> bool;

    /// Blocks until the descriptor is readable (true) or the deadline has passed (false). May return early for no
    /// reason, but not because of a signal handler. A return because of a notification happens after all that the
    /// notifying thread had done before.
    fn wait(&self, deadline: Deadline) -> bool {
        // ENOMEM is the only other error of a valid call; the callers poll again in a loop, and so where a long time is
        // cut short.
        loop {
            count_call();
            if poll_readable(self.descriptor(), deadline.left_for_a_call()) {
                break;
            }
        }
        !deadline.is_over()
    }
}
