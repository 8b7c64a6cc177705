//! An event that any thread can notify. It is reset by hand: a wait for it, which may be the application's, takes nothing
//! away.

use std::io;
use std::os::windows::io::{AsHandle, OwnedHandle};

use crate::os::notifier::{Descriptor, Notifier};
use crate::os::{count_call, sys};

pub(crate) struct WakeupEvent(OwnedHandle);

impl WakeupEvent {
    /// # Errors
    /// Those of `CreateEventW`: no handles or no memory left.
    pub(crate) fn new() -> io::Result<Self> {
        count_call();
        sys::event().map(Self)
    }
}

impl Notifier for WakeupEvent {
    fn descriptor(&self) -> Descriptor<'_> {
        self.0.as_handle()
    }

    fn notify(&self) {
        count_call();
        sys::set_event(self.descriptor());
    }

    fn clear(&self) -> bool {
        count_call();
        sys::reset_event(self.descriptor())
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use core::time::Duration;

    use super::*;
    use crate::os::Deadline;

    /// Claim: On Windows a wait for the event of a set takes no notification away; the set's own check does.
    #[test]
    fn waits_take_no_notification_and_one_clear_takes_it() {
        let event = WakeupEvent::new().unwrap();
        let now = Deadline::after(Duration::ZERO);
        assert!(!event.wait(now) && !event.clear());
        event.notify();
        for _ in 0..3 {
            assert!(event.wait(Deadline::Never));
        }
        assert_eq!([event.clear(), event.clear()], [true, false]);
        while event.wait(Deadline::after(Duration::from_micros(1))) {}
    }
}
