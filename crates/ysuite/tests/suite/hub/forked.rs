//! A forked child drops the hub that it has inherited, and its parent's sleeps and wakes as ever.

use std::thread;
use std::time::Duration;

use ysuite::hub::Hub;

use crate::support::guarded;
use crate::support::process::forked_child_can;

#[test]
fn a_hub_that_a_child_drops_is_woken_in_its_parent() {
    guarded(|| {
        let hub = Hub::new().unwrap();
        let handle = hub.handle();
        let mut hub = Some(hub);
        // SAFETY: it frees memory, which the C library prepares for its forks, and locks and unwinds nothing else.
        assert!(unsafe { forked_child_can(|| hub.take().is_some()) });
        let mut hub = hub.unwrap();
        assert_eq!(hub.dispatch().unwrap(), 0, "hosted, it is as whole");
        let posting = thread::spawn(move || {
            // So that the hub sleeps, as a rule.
            thread::sleep(Duration::from_millis(20));
            handle.stop().unwrap();
        });
        hub.run().unwrap();
        posting.join().unwrap();
    });
}
