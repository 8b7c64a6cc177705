//! A close that is decided but not announced yet: a thread that is refused by it finds the channel closed in every
//! later call. The closing thread may be stopped in between for any time.
//!
//! Claim: A call that a close refuses finds the channel closed.

use loom::thread;
use ysuite::{broadcast, mpmc};

use crate::model_up_to;

fn exchange(capacity: Option<usize>) {
    let (sender, receiver) = capacity.map_or_else(mpmc::unbounded::<u32>, mpmc::bounded);
    let weak = sender.downgrade();
    let closing = sender.clone();
    let thread = thread::spawn(move || closing.close());
    if sender.try_send(1).is_err_and(|error| error.is_disconnected()) {
        assert!(sender.is_disconnected() && weak.upgrade().is_none());
        assert_eq!(receiver.try_recv(), Err(ysuite::TryRecvError::Disconnected));
    }
    assert!(thread.join().unwrap());
}

#[test]
fn an_mpmc_sender() {
    model_up_to(2, || exchange(Some(1)));
}

#[test]
fn an_unbounded_mpmc_sender() {
    model_up_to(2, || exchange(None));
}

#[test]
fn a_sender_of_a_broadcast() {
    for is_lossy in [false, true] {
        model_up_to(2, move || {
            let (sender, mut receiver) = if is_lossy { broadcast::lossy(1) } else { broadcast::bounded::<u32>(1) };
            let closing = sender.clone();
            let thread = thread::spawn(move || closing.close());
            if sender.try_send(1).is_err_and(|error| error.is_disconnected()) {
                assert!(sender.is_closed() && sender.is_disconnected());
                assert_eq!(receiver.try_recv(), Err(broadcast::TryRecvError::Disconnected));
            }
            assert!(thread.join().unwrap());
        });
    }
}
