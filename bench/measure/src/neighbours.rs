//! Threads that only compute, kept on the CPUs of a measurement: the other programs of a busy machine.
//!
//! They run from their creation until they are dropped, by any thread. Cannot: report how much of a CPU the scheduler
//! gives them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use crate::error::Fault;
use crate::place::{Place, pin};

pub struct Neighbours {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Neighbours {
    /// `each` threads on each CPU of the place. Returns when all of them are at work.
    pub fn on_every_cpu(place: Place, each: usize) -> Result<Self, Fault> {
        let mut all = Self { stop: Arc::default(), threads: Vec::new() };
        let (ready, at_work) = mpsc::channel();
        for cpu in place.cpus().into_iter().flat_map(|cpu| std::iter::repeat_n(cpu, each)) {
            let (stop, ready) = (all.stop.clone(), ready.clone());
            // Those started already stop when `all` is dropped.
            all.threads.push(thread::Builder::new().spawn(move || {
                let _ = ready.send(pin(cpu));
                compute_until(&stop);
            })?);
        }
        // One message from each.
        at_work.iter().take(all.threads.len()).collect::<Result<(), Fault>>()?;
        Ok(all)
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        // ORDERING: Relaxed: the flag carries no other data.
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // They compute and cannot panic.
            let _ = thread.join();
        }
    }
}

fn compute_until(stop: &AtomicBool) {
    let mut number = 1u64;
    // ORDERING: Relaxed: the flag carries no other data.
    while !stop.load(Ordering::Relaxed) {
        for _ in 0..1_000 {
            number = std::hint::black_box(number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_as_requested_and_they_stop_when_dropped() {
        let place = Place::choose(None).unwrap();
        let neighbours = Neighbours::on_every_cpu(place, 2).unwrap();
        assert_eq!(neighbours.threads.len(), 2 * place.cpus().len());
        assert!(neighbours.threads.iter().all(|thread| !thread.is_finished()));
        let stop = Arc::downgrade(&neighbours.stop);
        drop(neighbours);
        // Every thread held the flag.
        assert_eq!(stop.strong_count(), 0);
    }
}
