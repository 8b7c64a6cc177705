//! Handlers of signals that run in the threads of bridges. libzmq reports them (EINTR) in calls that do not wait, too,
//! and between two parts of one message.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ysuite::spsc;
use ysuite_zmq::{Bridge, Event, KeyPair, WhenFull};

use crate::support::{GUARD, address, expect, expect_flushed, send, wait_for};

const USER_SIGNAL: i32 = 10;

unsafe extern "C" {
    fn signal(number: i32, handler: extern "C" fn(i32)) -> usize;
    fn tgkill(process: i32, thread: i32, number: i32) -> i32;
}

extern "C" fn nothing(_: i32) {}

/// Signals to all threads of this process whose names begin so, one after the other, until it is dropped.
struct Storm {
    blows: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Storm {
    fn over(names: &'static str) -> Self {
        // SAFETY: the handler does nothing, which may be done anywhere.
        unsafe { signal(USER_SIGNAL, nothing) };
        let blows = Arc::new(AtomicBool::new(true));
        let seen = blows.clone();
        let thread = thread::spawn(move || {
            let process = std::process::id() as i32;
            while seen.load(Ordering::Relaxed) {
                for task in std::fs::read_dir("/proc/self/task").expect("its threads").flatten() {
                    let name = std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
                    let Some(thread) = task.file_name().to_str().and_then(|id| id.parse().ok()) else { continue };
                    for _ in 0..if name.starts_with(names) { 5_000 } else { 0 } {
                        // SAFETY: a thread that is gone is reported as an error.
                        unsafe { tgkill(process, thread, USER_SIGNAL) };
                    }
                }
            }
        });
        Self { blows, thread: Some(thread) }
    }
}

impl Drop for Storm {
    fn drop(&mut self) {
        self.blows.store(false, Ordering::Relaxed);
        drop(self.thread.take().map(thread::JoinHandle::join));
    }
}

/// Claim: Unix signal handlers in the threads of a bridge end nothing and tear no message.
#[test]
fn a_bridge_goes_on_and_tears_no_message() {
    let (published, out) = spsc::bounded::<u64>(64);
    let publisher = Bridge::publish(out).bind("tcp://127.0.0.1:*").topic("numbers").when_full(WhenFull::Wait);
    let mut publisher = publisher.start().unwrap();
    let subscriber = Bridge::subscribe::<u64>().connect(address(&publisher)).topic("numbers").bounded(64);
    let (subscriber, mut numbers) = subscriber.start().unwrap();
    assert!(publisher.wait_for_subscribers(1, GUARD));
    let storm = Storm::over("ysuite-zmq");
    let sending = send(published, 0..60_000);
    for number in 0..60_000 {
        assert_eq!(numbers.recv_timeout(GUARD), Ok(number));
        // So that both sides sleep, and fill up.
        if number % 1_000 == 0 {
            thread::sleep(Duration::from_millis(2));
        }
    }
    sending.join().unwrap();
    drop(storm);
    for bridge in [&publisher, &subscriber] {
        let events = bridge.events();
        while let Ok(event) = events.try_recv() {
            assert!(!matches!(event, Event::Broken(_) | Event::Malformed(_)), "{event:?}");
        }
    }
    assert_eq!((publisher.statistics().dropped, subscriber.statistics().malformed), (0, 0));
    expect_flushed(publisher);
}

/// The gatekeeper goes on as well: a stranger is refused after a storm.
#[test]
fn the_list_of_a_server_holds() {
    let [server, friend, stranger] = [(); 3].map(|()| KeyPair::generate().unwrap());
    let pull = Bridge::pull::<u64>().bind("tcp://127.0.0.1:*").curve_server(server.clone(), [friend.public()]);
    let (pull, mut work) = pull.start().unwrap();
    let storm = Storm::over("ysuite-zmq gate");
    let push = |key: &KeyPair, number| {
        let (mut jobs, out) = spsc::bounded::<u64>(4);
        let push = Bridge::push(out).connect(address(&pull)).curve(key.clone(), server.public()).start().unwrap();
        jobs.send(number).unwrap();
        (push, jobs)
    };
    for number in 0..100 {
        let (push, _jobs) = push(&friend, number);
        expect(&mut work, number..number + 1);
        expect_flushed(push);
    }
    drop(storm);
    let (refused, _jobs) = push(&stranger, 0);
    wait_for(&refused.events(), |event| matches!(event, Event::Refused(_)));
    assert!(work.try_recv().is_err());
}
