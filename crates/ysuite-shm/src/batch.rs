//! Messages that are written one by one, and of which receivers are notified once for many.

/// A sender whose receivers may be notified later than it writes.
pub(crate) trait Notify {
    /// Wakes the receivers that sleep.
    fn notify(&mut self);
}

/// A sender that has written messages of which the receivers have not been notified yet. They are on drop, so also if the
/// caller's iterator panics.
pub(crate) struct Batch<'a, S: Notify> {
    pub(crate) sender: &'a mut S,
    quiet: u32,
}

impl<'a, S: Notify> Batch<'a, S> {
    /// An iterator may take its time.
    const MOST: u32 = 16;

    pub(crate) fn new(sender: &'a mut S) -> Self {
        Self { sender, quiet: 0 }
    }

    /// After each message.
    #[inline(always)]
    pub(crate) fn wrote(&mut self) {
        self.quiet += 1;
        if self.quiet == Self::MOST {
            self.notify();
        }
    }

    /// Before a wait for room: a receiver that sleeps would never make any.
    #[inline(always)]
    pub(crate) fn notify(&mut self) {
        self.quiet = 0;
        self.sender.notify();
    }
}

impl<S: Notify> Drop for Batch<'_, S> {
    fn drop(&mut self) {
        if self.quiet > 0 {
            self.notify();
        }
    }
}
