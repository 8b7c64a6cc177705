//! How a sleeping hub knows when a timer is due: by the poller's milliseconds, rounded up. So it sleeps once for each
//! moment, and neither polls repeatedly for a part of a millisecond, nor wakes early.
//!
//! Claim: The hub sleeps once for a timer. It rounds up to a millisecond.
//! Also: stress hub::turns_and_timers.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ysuite::Spin;
use ysuite::hub::Hub;
use ysuite::os::calls;

use super::support::guarded;

#[test]
fn a_timer_of_a_part_of_a_millisecond_is_one_sleep_and_never_early() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        hub.set_spin(Spin::None);
        // The first sleep asks for what is asked once.
        assert_eq!(hub.run_once(Duration::from_millis(1)).unwrap(), 0);
        for micros in [1, 10, 250, 999, 1_001, 1_500, 2_999] {
            let rang = Arc::new(Mutex::new(None));
            let (note, due) = (rang.clone(), Instant::now() + Duration::from_micros(micros));
            hub.at(due, move |_| *note.lock().unwrap() = Some(Instant::now()));
            let before = calls();
            assert_eq!(hub.run_once(None).unwrap(), 1);
            // None where the thread was preempted until the timer was due.
            assert!(calls() - before <= 1, "{} sleeps for {micros} us", calls() - before);
            assert!(rang.lock().unwrap().is_some_and(|rang| rang >= due), "{micros} us: early");
        }
    });
}

/// Timers within one millisecond are served by one sleep each at most, in the order of their moments.
#[test]
fn timers_of_one_millisecond_ring_in_their_order() {
    guarded(|| {
        for _ in 0..20 {
            let mut hub = Hub::new().unwrap();
            let rang = Arc::new(Mutex::new(Vec::new()));
            let now = Instant::now();
            for micros in [700_u64, 100, 900, 300, 500] {
                let rang = rang.clone();
                hub.at(now + Duration::from_micros(micros), move |_| rang.lock().unwrap().push(micros));
            }
            let before = calls();
            hub.run().unwrap();
            assert_eq!(*rang.lock().unwrap(), [100, 300, 500, 700, 900]);
            assert!(calls() - before <= 12, "{} system calls", calls() - before);
        }
    });
}
