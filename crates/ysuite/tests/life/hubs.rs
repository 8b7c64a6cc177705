//! A hub that stays: handles cloned and dropped, functions posted, timers made and cancelled. Its receivers and descriptors are
//! in `connections`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::life::{Steps, live};
use ysuite::hub::{Handle, Hub};

#[test]
fn a_handle_for_each_function() {
    live("hubs::a_handle_for_each_function", Steps::Calls, |life| {
        let mut hub = Hub::new().unwrap();
        let stays = hub.handle();
        let called = Arc::new(AtomicU64::new(0));
        let mut lags = 0;
        while life.step() {
            let (handle, own) = (stays.clone(), called.clone());
            handle
                .post(move |hub| {
                    own.fetch_add(1, Ordering::Relaxed);
                    drop(hub.handle());
                })
                .unwrap();
            let another = hub.handle();
            drop((handle, another));
            lags += 1;
            // One turn serves several posts.
            if life.number() % 3 == 0 {
                while lags > 0 {
                    hub.run_once(Duration::from_secs(60)).unwrap();
                    lags = life.number() - called.load(Ordering::Relaxed);
                }
            }
        }
    });
}

/// A hub that always has something posted more.
#[test]
fn functions_that_post_the_next_by_a_handle_of_its_own() {
    /// Posts itself anew, by another handle.
    fn post(handle: &Handle, called: &Arc<AtomicU64>) {
        let (next, own) = (handle.clone(), called.clone());
        let function = move |_: &mut Hub| {
            own.fetch_add(1, Ordering::Relaxed);
            post(&next, &own);
        };
        handle.post(function).unwrap();
    }
    live("hubs::functions_that_post_the_next_by_a_handle_of_its_own", Steps::Calls, |life| {
        let mut hub = Hub::new().unwrap();
        let called = Arc::new(AtomicU64::new(0));
        (0..3).for_each(|_| post(&hub.handle(), &called));
        while life.step() {
            while called.load(Ordering::Relaxed) < life.number() {
                hub.run_once(Duration::from_secs(60)).unwrap();
            }
        }
    });
}

#[test]
fn timers_that_are_made_and_cancelled() {
    live("hubs::timers_that_are_made_and_cancelled", Steps::Calls, |life| {
        let mut hub = Hub::new().unwrap();
        let late = hub.after(Duration::from_secs(36_000), |_| {});
        let mut pending = std::collections::VecDeque::new();
        while life.step() {
            let hour = Duration::from_secs(3_600);
            pending.push_back(hub.after(hour, |_| {}));
            pending.push_back(hub.at(Instant::now() + 2 * hour, |_| {}));
            pending.push_back(hub.every(hour, |_| {}));
            // One that is due, and one that ends itself.
            hub.after(Duration::ZERO, |_| {});
            hub.every(Duration::ZERO, |hub| {
                let timer = hub.current_timer().unwrap();
                assert!(hub.cancel(timer));
            });
            while hub.timeout() == Some(Duration::ZERO) {
                hub.dispatch().unwrap();
            }
            while pending.len() > 30 {
                assert!(hub.cancel(pending.pop_front().unwrap()));
            }
        }
        assert!(hub.cancel(late));
    });
}

#[test]
fn a_hub_for_each_task() {
    live("hubs::a_hub_for_each_task", Steps::Few, |life| {
        while life.step() {
            let mut hub = if life.number() % 2 == 0 { Hub::new() } else { Hub::with_receivers(4) }.unwrap();
            let handle = hub.handle();
            handle.post(|hub| _ = hub.after(Duration::ZERO, |hub| hub.stop())).unwrap();
            hub.run().unwrap();
            if life.number() % 3 == 0 {
                handle.stop().unwrap();
                hub.run().unwrap();
            }
            // Kept beyond its hub.
            drop(hub);
            assert!(handle.post(|_| {}).is_err());
        }
    });
}

#[test]
fn handles_in_short_lived_threads() {
    live("hubs::handles_in_short_lived_threads", Steps::Threads, |life| {
        let mut hub = Hub::new().unwrap();
        let stays = hub.handle();
        let called = Arc::new(AtomicU64::new(0));
        while life.step() {
            let (handle, own) = (stays.clone(), called.clone());
            let thread = thread::spawn(move || handle.post(move |_| _ = own.fetch_add(1, Ordering::Relaxed)).unwrap());
            while called.load(Ordering::Relaxed) < life.number() {
                hub.run_once(Duration::from_secs(60)).unwrap();
            }
            thread.join().unwrap();
        }
    });
}
