//! What an idle hub costs, in system calls, and what it allocates not.

use std::thread;
use std::time::Duration;

use ysuite::Spin;
use ysuite::hub::{Hub, Interest};
use ysuite::spsc;

use crate::hub::descriptors::pair;
use crate::support::{calls, guarded};

/// A hub with a source of each kind, and nothing to do.
fn full() -> (Hub, impl Sized) {
    let mut hub = Hub::new().unwrap();
    let ((near, far), (sender, receiver), handle) = (pair(), spsc::unbounded::<u8>(), hub.handle());
    hub.watch(far, Interest::READABLE, |_, _, _| {}).unwrap();
    hub.receive(receiver, |_, _| {}).unwrap();
    hub.after(Duration::from_secs(3_600), |_| {});
    // The first time it polls before it sleeps it asks for the number of CPUs.
    while hub.run_once(Duration::from_millis(1)).unwrap() != 0 {}
    (hub, (near, sender, handle))
}

/// Claim: A sleep of the hub is one system call.
#[test]
fn a_sleep_is_one_system_call() {
    guarded(|| {
        let (mut hub, _others) = full();
        for _ in 0..20 {
            let before = calls();
            assert_eq!(hub.run_once(Duration::from_millis(1)).unwrap(), 0);
            assert_eq!(calls() - before, 1);
        }
        // A timer too: it wakes, is served, and the next sleep begins.
        for _ in 0..20 {
            hub.after(Duration::from_millis(1), |_| {});
            let before = calls();
            assert_eq!(hub.run_once(None).unwrap(), 1);
            assert_eq!(calls() - before, 1);
        }
    });
}

/// The same, as the kernel counts: sleeps, and calls that read or write.
///
/// Claim: A hub that waits for a time limit sleeps in one system call and does not spin.
#[cfg(target_os = "linux")]
#[test]
fn a_sleeping_hub_stays_asleep() {
    use crate::support::process::{alone, sleeps};

    if !alone("hub::idle::a_sleeping_hub_stays_asleep") {
        return;
    }
    let (mut hub, _others) = full();
    let before = (sleeps(), calls());
    assert_eq!(hub.run_once(Duration::from_millis(300)).unwrap(), 0);
    // Pages that come late are sleeps too: a loaded machine has some. A poll every ten milliseconds would be thirty.
    let slept = sleeps() - before.0;
    assert!(slept <= 20, "it has woken {slept} times for nothing");
    assert_eq!(calls() - before.1, 1);
}

#[test]
fn waking_costs_each_side_what_it_must() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        hub.set_spin(Spin::None);
        let handle = hub.handle();
        for _ in 0..50 {
            // Nothing is there: it takes its signal down, which reads the descriptor, and sleeps.
            hub.run_once(Duration::from_micros(1)).unwrap();
            let before = calls();
            (0..10).for_each(|_| handle.post(|_| {}).unwrap());
            assert_eq!(calls() - before, 1, "the first wakes; the others find it woken");
            let before = calls();
            assert_eq!(hub.run_once(None).unwrap(), 10);
            assert_eq!(calls() - before, 0, "there was no need to sleep");
        }
    });
}

/// Claim: A stream through the hub makes no system call.
#[test]
fn a_stream_makes_no_system_call() {
    guarded(|| {
        const POSTS: u64 = 200_000;
        let mut hub = Hub::new().unwrap();
        let handle = hub.handle();
        hub.set_spin(Spin::Forever);
        let thread = thread::spawn(move || {
            let before = calls();
            (0..POSTS).for_each(|_| handle.post(|_| {}).unwrap());
            (calls() - before, handle.stop())
        });
        let before = calls();
        hub.run().unwrap();
        let (posting, stopped) = thread.join().unwrap();
        stopped.unwrap();
        // With a reader that never sleeps: chunks of memory, at most, and the first wake-up.
        assert!(posting + (calls() - before) < POSTS / 1_000, "{posting} calls of the poster");
    });
}

#[test]
fn a_hub_without_anything_to_wait_for_sleeps_where_its_time_is_limited() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        while hub.run_once(Duration::from_millis(1)).unwrap() != 0 {}
        for _ in 0..5 {
            let before = calls();
            assert_eq!(hub.run_once(Duration::from_millis(1)).unwrap(), 0);
            assert_eq!(calls() - before, 1);
        }
    });
}
