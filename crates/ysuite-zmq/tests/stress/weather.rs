//! [`Weather`]: what a thread does to the connections of a proxy, at random, until it is stopped.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::messages;
use crate::support::proxy::Proxy;

pub(crate) struct Weather {
    over: Arc<AtomicBool>,
    damage: Arc<Mutex<Damage>>,
    thread: JoinHandle<()>,
}

/// What has been done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Damage {
    /// Connections that were ended.
    pub(crate) resets: usize,
    /// Times in which nothing was carried.
    pub(crate) stands: usize,
    /// Times in which no connection was accepted.
    pub(crate) absences: usize,
}

/// What may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Everything.
    Storm,
    /// Anything that leaves connections whole.
    Fog,
}

impl Weather {
    pub(crate) fn of(proxies: Vec<Arc<Proxy>>, kind: Kind, seed: u64) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let seen = over.clone();
        let damage = Arc::new(Mutex::new(Damage::default()));
        let told = damage.clone();
        let thread = thread::spawn(move || {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut damage = Damage::default();
            while !seen.load(Ordering::Relaxed) {
                sleep(random.u64(5..120));
                let proxy = &proxies[random.usize(0..proxies.len())];
                match (kind, random.u32(0..10)) {
                    (Kind::Fog, _) | (Kind::Storm, 0..3) => {
                        // Now and then for longer than a duplex waits for an answer.
                        let long = random.u32(0..20) == 0;
                        damage.stands += 1;
                        proxy.stand(true);
                        sleep(if long { 1_300 } else { random.u64(1..200) });
                        if kind == Kind::Storm && random.bool() {
                            damage.resets += proxy.reset();
                        }
                        proxy.stand(false);
                    }
                    (Kind::Storm, 3) => {
                        damage.absences += 1;
                        proxy.refuse(true);
                        damage.resets += proxy.reset();
                        sleep(random.u64(1..400));
                        proxy.refuse(false);
                    }
                    (Kind::Storm, _) => damage.resets += proxy.reset(),
                }
                *told.lock().expect("no panic") = damage;
            }
        });
        Self { over, damage, thread }
    }

    /// What has been done so far.
    pub(crate) fn damage(&self) -> Damage {
        *self.damage.lock().expect("no panic")
    }

    pub(crate) fn stop(self) -> Damage {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().expect("no panic");
        *self.damage.lock().expect("no panic")
    }
}

fn sleep(milliseconds: u64) {
    thread::sleep(Duration::from_millis(milliseconds));
}

/// A reader that is slow now and then: it pauses before one message in 5,000, in the long form in 100,000.
pub(crate) fn rest(random: &mut fastrand::Rng) {
    if random.u64(0..messages(5_000, 100_000)) == 0 {
        sleep(random.u64(1..60));
    }
}
