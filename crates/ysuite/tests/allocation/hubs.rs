//! Memory of hubs.

use std::time::Duration;

use crate::counting::held;
use ysuite::hub::Hub;

#[test]
fn timers_that_were_cancelled_leave_no_room_behind() {
    let mut hub = Hub::new().unwrap();
    let mut run = |timers: usize| {
        let set: Vec<_> = (0..timers).map(|_| hub.after(Duration::from_secs(3600), |_| {})).collect();
        set.into_iter().for_each(|timer| assert!(hub.cancel(timer)));
    };
    run(10);
    let before = held();
    run(100_000);
    let kept = held() - before;
    assert!(kept < 64 * 1024, "{kept} bytes after 100,000 timers were cancelled");
}
