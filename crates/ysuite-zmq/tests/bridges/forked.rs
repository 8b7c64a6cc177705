//! Bridges in a forked child: libzmq's threads stay with the parent, so that nothing of its contexts may be used there.

use std::panic::catch_unwind;

use ysuite::spsc;
use ysuite_zmq::{Bridge, Closed, Context, Error, KeyPair};

use crate::support::{GUARD, address, expect, runs_alone, until};

unsafe extern "C" {
    fn fork() -> i32;
    fn waitpid(child: i32, status: *mut i32, options: i32) -> i32;
    fn kill(process: i32, signal: i32) -> i32;
    fn _exit(status: i32) -> !;
}

const NO_WAIT: i32 = 1;
const KILL: i32 = 9;

/// A message through a bridge into another, both with the context of the process.
fn exchange() {
    let (pull, mut work) = Bridge::pull::<u64>().bind("tcp://127.0.0.1:*").start().unwrap();
    let (mut jobs, out) = spsc::bounded::<u64>(4);
    let push = Bridge::push(out).connect(address(&pull)).start().unwrap();
    jobs.send(1).unwrap();
    expect(&mut work, 1..2);
    assert_eq!(push.close(GUARD), Closed::Flushed);
}

/// In a process of its own, which has no other threads than its bridges'.
#[test]
fn bridges_begin_in_a_forked_child() {
    if runs_alone("forked::bridges_begin_in_a_forked_child") {
        return;
    }
    exchange();
    // A context whose threads have run: libzmq's and the gatekeeper.
    let own = Context::new(1).unwrap();
    let key = KeyPair::generate().unwrap();
    let server =
        Bridge::pull::<u64>().context(&own).bind("tcp://127.0.0.1:*").curve_server(key.clone(), [key.public()]);
    assert_eq!(server.start().unwrap().0.close(GUARD), Closed::Flushed);
    // SAFETY: what the child needs of locks are those of the allocator, which a fork leaves free, and of what is its own.
    let child = unsafe { fork() };
    if child == 0 {
        let sound = catch_unwind(|| {
            exchange();
            let started = Bridge::pull::<u64>().context(&own).bind("inproc://parent").start();
            assert!(matches!(started, Err(Error::Forked)));
            drop(own);
        });
        // SAFETY: ends the child here and now.
        unsafe { _exit(i32::from(sound.is_err())) };
    }
    assert!(child > 0, "{}", std::io::Error::last_os_error());
    let mut status = 0;
    let ended = catch_unwind(core::panic::AssertUnwindSafe(|| {
        // SAFETY: our child, and a number to be written.
        until("the child has ended", || unsafe { waitpid(child, &mut status, NO_WAIT) } == child);
    }));
    if ended.is_err() {
        // SAFETY: our child, which was not waited for yet.
        unsafe { kill(child, KILL) };
    }
    assert!(ended.is_ok() && status == 0, "{status}");
    exchange();
}
