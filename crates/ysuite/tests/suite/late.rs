//! Handles that are used, and dropped, while a thread's locals are being destroyed: everything works as before.
//!
//! Claim: Handles can be used and dropped during the destruction of thread-locals.
//! Also: suite mpsc::shared::thread_locals_that_are_destroyed_may_send.

use std::cell::RefCell;
use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::support::guarded;
use ysuite::signal::{ReadySet, Signal, Wait, YPollset, YSemaphore};
use ysuite::{mpsc, oneshot, spsc};

/// Does something when it is dropped, which is late.
struct Late(Option<Box<dyn FnOnce()>>);

impl Drop for Late {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(|act| act());
    }
}

std::thread_local! {
    static LATE: RefCell<Vec<Late>> = const { RefCell::new(Vec::new()) };
}

/// Runs this on another thread, which has begun already: on Windows a thread begins with the loader's lock, which another
/// has while its locals are destroyed.
fn beside(act: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    let (begin, begun) = channel();
    let helper = thread::spawn(move || {
        begin.send(()).unwrap();
        act();
    });
    begun.recv().unwrap();
    helper
}

/// Runs this on a thread of its own, when its locals are destroyed.
fn past_locals(act: impl FnOnce() + Send + 'static) {
    let thread = thread::spawn(move || LATE.with(|late| late.borrow_mut().push(Late(Some(Box::new(act))))));
    // A panic in there ends the process.
    thread.join().unwrap();
}

#[test]
fn ends_of_channels_are_used_past_the_threads_locals() {
    guarded(|| {
        let (mut to, mut from) = spsc::bounded(2);
        let (report, mut reports) = mpsc::unbounded();
        let mut first = report.clone();
        let (answer, asked) = oneshot::channel();
        let helper = beside(move || {
            // Slowly, so that both sides have to sleep.
            thread::sleep(Duration::from_millis(1));
            answer.send(20).unwrap();
            for number in 0..6 {
                thread::sleep(Duration::from_millis(1));
                // The last one may come too late.
                let _ = to.send(number);
            }
        });
        past_locals(move || {
            let mut clone = report.clone();
            clone.send(asked.recv().unwrap()).unwrap();
            for number in 0..2 {
                clone.send(from.recv().unwrap()).unwrap();
                first.write(number + 10).unwrap();
                clone.send(from.recv_timeout(Duration::MAX).unwrap()).unwrap();
            }
            assert!(from.recv_batch(&mut Vec::new(), 1).is_ok());
            assert!(first.unwrite().is_some());
            // All of them are dropped here.
        });
        helper.join().unwrap();
        let mut all: Vec<_> = reports.iter().collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 10, 20]);
    });
}

#[test]
fn sets_are_used_past_the_threads_locals() {
    guarded(|| {
        let (mut to, from) = mpsc::bounded::<u8>(1);
        let (mut semaphore, mut set) = (YSemaphore::new(), YPollset::new());
        let (wake, raise) = (semaphore.signaler(), set.signaler());
        let helper = beside(move || {
            thread::sleep(Duration::from_millis(1));
            wake.signal(0);
            thread::sleep(Duration::from_millis(1));
            raise.signal(30);
            thread::sleep(Duration::from_millis(1));
            to.send(7).unwrap();
            thread::sleep(Duration::from_millis(1));
        });
        past_locals(move || {
            let mut from = from;
            assert_eq!(semaphore.wait().next(), Some(0));
            assert_eq!(set.wait().next(), Some(30));
            let mut select = ReadySet::new();
            let id = select.add(&mut from).unwrap();
            loop {
                assert_eq!(select.wait(), id);
                if let Ok(message) = from.try_recv() {
                    break assert_eq!(message, 7);
                }
            }
            #[cfg(any(unix, windows))]
            {
                let mut pair = ysuite::signal::YSocketpair::new().unwrap();
                assert_eq!(select.remove(&mut from), Some(id));
                pair.attach(&mut from, 200).unwrap();
                assert_eq!(pair.wait().next(), Some(200));
            }
        });
        helper.join().unwrap();
    });
}
