//! Linux `futex(2)`, private to the process. Any thread; blocks in `wait` only.

use core::time::Duration;

use rustix::io::Errno;
use rustix::thread::futex::{self, Flags, Timespec};

use super::{Waited, count_call};
use crate::sync::AtomicU32;

pub(super) fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) -> Waited {
    // A duration the kernel's clock cannot hold is for ever.
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    count_call();
    match futex::wait(word, Flags::PRIVATE, expected, timeout.as_ref()) {
        Err(Errno::TIMEDOUT) => Waited::TimedOut,
        // EAGAIN: the word had changed. EINTR: a signal handler ran. Both: look again.
        _ => Waited::Look,
    }
}

pub(super) fn wake(word: &AtomicU32, sleepers: u32) {
    count_call();
    // The only errors concern the address, which is a reference.
    let _ = futex::wake(word, Flags::PRIVATE, sleepers);
}
