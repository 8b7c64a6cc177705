//! The lock of a watch under the model checker.

use loom::thread;

use super::lock::WatchLock;
use crate::runner::model;
use crate::sync::{Arc, Handed};

/// A value behind the lock.
struct Locked {
    lock: WatchLock,
    value: Handed,
}

// SAFETY: there is nothing in the memory; the model checker says where it is used without an order.
unsafe impl Send for Locked {}
// SAFETY: as above.
unsafe impl Sync for Locked {}

impl Locked {
    fn new() -> Arc<Self> {
        Arc::new(Self { lock: WatchLock::new(), value: Handed::default() })
    }

    fn write(&self) {
        let _writing = self.lock.write();
        self.value.written();
    }

    fn read(&self) {
        let _reading = self.lock.read();
        self.value.read();
    }
}

#[test]
fn two_writers_against_a_reader() {
    model(|| {
        let locked = Locked::new();
        let threads = [locked.clone(), locked.clone()].map(|locked| thread::spawn(move || locked.write()));
        locked.read();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn a_writer_against_two_readers() {
    model(|| {
        let locked = Locked::new();
        let threads = [locked.clone(), locked.clone()].map(|locked| thread::spawn(move || locked.read()));
        locked.write();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// The writer may come between the two, and waits for the first.
#[test]
fn a_writer_against_a_thread_that_reads_twice() {
    model(|| {
        let locked = Locked::new();
        let other = locked.clone();
        let thread = thread::spawn(move || other.write());
        let first = locked.lock.read();
        let second = locked.lock.read();
        locked.value.read();
        drop((first, second));
        thread.join().unwrap();
    });
}
