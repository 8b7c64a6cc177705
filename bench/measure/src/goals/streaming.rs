//! System calls and allocations of all handles of a channel while messages stream through it one by one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::allocations::allocations;
use crate::error::Fault;
use crate::place::Place;
use crate::scenario::many;
use crate::transport::{Closed, Receiver, Sender, Shape, Transport};

const MESSAGES: u64 = 10_000_000;

/// Calls and allocations for a million messages, all threads together, including the few at the beginning and at the
/// end.
pub(super) fn counted<T: Transport>(place: Place, messages: Option<u64>) -> Result<Vec<f64>, Fault> {
    let messages = messages.unwrap_or(MESSAGES);
    let (sender, receiver) = T::open::<usize>()?;
    let totals = Arc::new(Totals::default());
    let (sender, receiver) = (Watched::new(sender, &totals), Watched::new(receiver, &totals));
    many::play(place, Shape::ONE_TO_ONE, many::Ends::of(vec![sender], vec![receiver]), messages)?;
    // ORDERING: Relaxed: both threads have ended.
    let of = |total: &AtomicU64| total.load(Ordering::Relaxed) as f64 * 1e6 / messages as f64;
    Ok(vec![of(&totals.calls), of(&totals.allocations)])
}

#[derive(Default)]
struct Totals {
    calls: AtomicU64,
    allocations: AtomicU64,
}

/// A handle that reports the system calls and allocations of its thread between its first message and its own drop.
struct Watched<E> {
    end: E,
    /// Calls and allocations of this thread at its first message.
    before: Option<(u64, u64)>,
    totals: Arc<Totals>,
}

impl<E> Watched<E> {
    fn new(end: E, totals: &Arc<Totals>) -> Self {
        Self { end, before: None, totals: totals.clone() }
    }

    #[inline(always)]
    fn begin(&mut self) {
        if self.before.is_none() {
            self.before = Some((ysuite::os::calls(), allocations()));
        }
    }
}

impl<E> Drop for Watched<E> {
    fn drop(&mut self) {
        if let Some((calls, allocated)) = self.before {
            // ORDERING: Relaxed: read when this thread has ended.
            self.totals.calls.fetch_add(ysuite::os::calls() - calls, Ordering::Relaxed);
            self.totals.allocations.fetch_add(allocations() - allocated, Ordering::Relaxed);
        }
    }
}

impl<E: Sender<usize>> Sender<usize> for Watched<E> {
    #[inline(always)]
    fn send(&mut self, message: usize) -> Result<(), Closed> {
        self.begin();
        self.end.send(message)
    }
}

impl<E: Receiver<usize>> Receiver<usize> for Watched<E> {
    #[inline(always)]
    fn recv(&mut self) -> Result<usize, Closed> {
        self.begin();
        self.end.recv()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::{mpsc, spsc, std_mpsc};

    #[test]
    fn a_queue_of_blocks_asks_for_memory_again_and_again() {
        let place = Place::choose(None).unwrap();
        let blocks = counted::<std_mpsc::Channel>(place, Some(100_000)).unwrap()[1];
        // 31 messages in a block.
        assert!((20_000.0..50_000.0).contains(&blocks), "{blocks}");
        let none = counted::<std_mpsc::SyncChannel>(place, Some(100_000)).unwrap()[1];
        assert!(none < 1_000.0, "{none}");
    }

    /// Calls of both threads while `messages` messages are bounced. One is in flight at a time, so a handle that sleeps
    /// at once finds nothing nearly each time, on any CPUs.
    fn calls_of_bouncing<T: Transport>(messages: usize) -> u64 {
        let totals = Arc::new(Totals::default());
        let pair = || {
            let (sender, receiver) = T::open::<usize>().unwrap();
            (Watched::new(sender, &totals), Watched::new(receiver, &totals))
        };
        let ((mut there, mut arriving), (mut back, mut returning)) = (pair(), pair());
        let echo = std::thread::spawn(move || {
            for _ in 0..messages {
                let message = arriving.recv().unwrap();
                back.send(message).unwrap();
            }
        });
        for message in 0..messages {
            there.send(message).unwrap();
            assert_eq!(returning.recv(), Ok(message));
        }
        drop((there, returning));
        echo.join().unwrap();
        // ORDERING: Relaxed: the other thread has ended.
        totals.calls.load(Ordering::Relaxed)
    }

    #[test]
    fn the_calls_of_both_handles_are_counted() {
        assert!(calls_of_bouncing::<spsc::Sleeping>(1_000) > 0);
        assert!(calls_of_bouncing::<mpsc::Sleeping>(1_000) > 0);
    }
}
