//! What the tests of bridges share.

#![allow(dead_code, reason = "each binary uses its part")]

pub(crate) mod proxy;
pub(crate) mod zmtp;

use std::future::Future;
use std::pin::pin;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};
use std::{env, thread};

use ysuite::RecvTimeoutError;
use ysuite::{mpmc, spsc};
use ysuite_zmq::{Closed, Event, Started};

/// Longer than anything here takes on the slowest machine.
pub(crate) const GUARD: Duration = Duration::from_secs(60);

/// One address of each transport.
pub(crate) const EVERYWHERE: [&str; 3] = ["tcp://127.0.0.1:*", "ipc://*", "inproc://there"];

/// Where others can connect to it.
pub(crate) fn address(bridge: &Started) -> String {
    bridge.addresses()[0].clone()
}

/// Sends these numbers from a thread of its own, then drops the sender.
pub(crate) fn send(mut sender: spsc::Sender<u64>, numbers: std::ops::Range<u64>) -> thread::JoinHandle<()> {
    thread::spawn(move || numbers.for_each(|number| sender.send(number).expect("the bridge receives")))
}

/// Receives these numbers, and nothing between them.
pub(crate) fn expect(receiver: &mut spsc::Receiver<u64>, numbers: std::ops::Range<u64>) {
    numbers.for_each(|number| assert_eq!(receiver.recv_timeout(GUARD), Ok(number)));
}

/// No message is there, and the channel has ended.
pub(crate) fn expect_end<T: std::fmt::Debug + PartialEq>(receiver: &mut spsc::Receiver<T>) {
    assert_eq!(receiver.recv_timeout(GUARD), Err(RecvTimeoutError::Disconnected));
}

#[track_caller]
pub(crate) fn expect_flushed(bridge: Started) {
    assert_eq!(bridge.close(GUARD), Closed::Flushed);
}

/// As above, of a bridge with a connection that has ended meanwhile, or whose other side goes as soon as it has
/// everything: whether anything went with it cannot be known here.
#[track_caller]
pub(crate) fn expect_left(bridge: Started) {
    expect_all_left(bridge.close(GUARD));
}

#[track_caller]
pub(crate) fn expect_all_left(closed: Closed) {
    assert!(matches!(closed, Closed::Flushed | Closed::Unsent { messages: 0, more: true }), "{closed:?}");
}

/// Waits for such an event, past all others.
pub(crate) fn wait_for(events: &mpmc::Receiver<Event>, what: impl Fn(&Event) -> bool) -> Event {
    loop {
        match events.recv_timeout(GUARD) {
            Ok(event) if what(&event) => return event,
            Ok(_) => {}
            Err(error) => panic!("the event did not come: {error}"),
        }
    }
}

/// Until this is true.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < GUARD, "{what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Polls it whenever it is woken.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(thread::Thread, AtomicBool);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.1.store(true, Ordering::Release);
            self.0.unpark();
        }
    }
    let unpark = Arc::new(Unpark(thread::current(), AtomicBool::new(false)));
    let waker = Waker::from(unpark.clone());
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        while !unpark.1.swap(false, Ordering::Acquire) {
            thread::park();
        }
    }
}

/// Runs the test of this name in a process of its own, where nothing of other tests is. False: this is that process.
#[track_caller]
pub(crate) fn runs_alone(name: &str) -> bool {
    const ALONE: &str = "YSUITE_ZMQ_ALONE";
    if env::var_os(ALONE).is_some() {
        return false;
    }
    let mut again = Command::new(env::current_exe().expect("a path"));
    let done = again.args([name, "--exact", "--nocapture"]).env(ALONE, "1").output().expect("a process");
    let said = [done.stdout, done.stderr].concat();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&said));
    true
}
