//! An allocator that has no memory. If a signature can report that, it does: a pool, whose memory the kernel gives.
//! Everything else that allocates ends the process by the standard library's own handler, as every `Box` and `Vec`
//! does, and neither goes on with half of a message nor hangs. What needs no memory goes on without any.
//!
//! Claim: Without memory, a pool returns an error and existing channels continue. Everything else ends in the standard
//! handler.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use ysuite::pool::{Pool, PoolError};
use ysuite::{broadcast, mpmc, mpsc, oneshot, spsc, watch};

use super::support::panics;
use super::support::process::alone;

/// The system's, as long as there is memory.
struct Scarce;

thread_local! {
    /// For this thread. The harness's has its own business.
    static NOTHING_LEFT: Cell<bool> = const { Cell::new(false) };
}

#[global_allocator]
static ALLOCATOR: Scarce = Scarce;

// SAFETY: the system's allocator, or no memory, which is allowed.
unsafe impl GlobalAlloc for Scarce {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if NOTHING_LEFT.get() {
            return std::ptr::null_mut();
        }
        // SAFETY: by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: by the caller.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Runs `act` while there is no memory. It must not panic: what is said then needs memory.
fn without_memory<R>(act: impl FnOnce() -> R) -> R {
    NOTHING_LEFT.set(true);
    let result = act();
    NOTHING_LEFT.set(false);
    result
}

/// A thousand messages through each, without any request, or the process would end.
#[test]
fn channels_that_have_their_memory_go_on_without_any() {
    if !alone("allocating::channels_that_have_their_memory_go_on_without_any") {
        return;
    }
    let (mut pipe, mut pipe_in) = spsc::bounded(8);
    let (mut lane, mut funnel_in) = mpsc::bounded(8);
    let (exchange, exchange_in) = mpmc::bounded(8);
    let (board, mut seen) = watch::channel(0_u64);
    let pool = Pool::new(&[(16, 4)]).unwrap();
    let (ask, answer) = oneshot::channel();
    // What a first use makes is made.
    drop(pool.take(9));
    for _ in 0..100 {
        lane.send(0).unwrap();
        pipe.send(0).unwrap();
        assert_eq!((pipe_in.recv(), funnel_in.recv()), (Ok(0), Ok(0)));
    }
    let right = without_memory(|| {
        let mut right = ask.send(7).is_ok() && answer.recv() == Ok(7);
        for number in 0..1_000_u64 {
            right &= pipe.send(number).is_ok() && pipe_in.recv() == Ok(number);
            right &= lane.send(number).is_ok() && funnel_in.recv() == Ok(number);
            right &= exchange.send(number).is_ok() && exchange_in.recv() == Ok(number);
            right &= board.send(number).is_ok() && seen.changed().is_ok() && *seen.borrow() == number;
            right &= pool.try_take(9).is_some();
        }
        right
    });
    assert!(right);
}

/// The process may have no more memory than it has: the pool says so, with the bytes that it has asked for, and smaller ones
/// can be had.
#[test]
fn a_pool_says_that_there_is_no_memory() {
    if !alone("allocating::a_pool_says_that_there_is_no_memory") {
        return;
    }
    // As much as a pointer of this machine reaches, and half of that.
    const BLOCKS: usize = if usize::BITS == 32 { 2_000 } else { 1 << 14 };
    let before = getrlimit(Resource::As);
    let half = Rlimit { current: Some((BLOCKS as u64) << 19), maximum: before.maximum };
    setrlimit(Resource::As, half).unwrap();
    for _ in 0..3 {
        let error = Pool::new(&[(1 << 20, BLOCKS)]).map(drop).expect_err("more than there may be");
        assert!(matches!(error, PoolError::OutOfMemory { bytes } if bytes >= BLOCKS << 20), "{error}");
        assert!(Pool::new(&[(1 << 10, 1 << 4)]).unwrap().try_take(100).is_some());
    }
    setrlimit(Resource::As, before).unwrap();
}

/// No address space has room for these.
#[test]
fn a_bound_that_no_memory_has_room_for_is_a_panic() {
    for capacity in [1_usize << (usize::BITS - 14), 1 << (usize::BITS - 6), usize::MAX] {
        let makers: [fn(usize); 4] = [
            |capacity| drop(broadcast::bounded::<u64>(capacity)),
            |capacity| drop(broadcast::lossy::<u64>(capacity)),
            |capacity| drop(broadcast::bounded::<[u64; 100]>(capacity)),
            |capacity| drop(mpmc::bounded::<u64>(capacity)),
        ];
        for make in makers {
            assert!(panics(|| make(capacity)).contains("does not fit into memory"), "{capacity}");
        }
        // These take memory as they fill.
        let (mut sender, mut receiver) = spsc::bounded::<u64>(capacity);
        assert!(sender.send(7).is_ok() && receiver.recv() == Ok(7));
        let (mut sender, mut receiver) = mpsc::bounded::<u64>(capacity);
        assert!(sender.send(7).is_ok() && receiver.recv() == Ok(7));
    }
}

/// If a channel needs memory and there is none, the standard library aborts the process, for every channel.
#[test]
fn what_needs_memory_ends_the_process_where_there_is_none() {
    const TEST: &str = "allocating::what_needs_memory_ends_the_process_where_there_is_none";
    const WHICH: &str = "YSUITE_TEST_WHICH";
    let needs: [fn(); 5] = [
        || drop(without_memory(spsc::unbounded::<u8>)),
        || {
            let (mut sender, _receiver) = spsc::unbounded();
            without_memory(|| (0..1 << 20).for_each(|number: u64| assert_eq!(sender.send(number), Ok(()))));
        },
        || {
            let (sender, _receiver) = mpmc::unbounded();
            without_memory(|| (0..1 << 20).for_each(|number: u64| assert_eq!(sender.send(number), Ok(()))));
        },
        || {
            let (sender, _receiver) = mpsc::unbounded::<u8>();
            without_memory(|| drop(sender.clone()));
        },
        || drop(without_memory(oneshot::channel::<u8>)),
    ];
    if let Some(which) = std::env::var_os(WHICH) {
        needs[which.into_string().unwrap().parse::<usize>().unwrap()]();
        return;
    }
    for which in 0..needs.len() {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", TEST, "--nocapture", "--test-threads=1"]).env(WHICH, which.to_string());
        let output = child.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        const ABORTED: i32 = 6;
        assert_eq!(output.status.signal(), Some(ABORTED), "{which}: {said}");
        assert!(said.contains("memory allocation of"), "{which}: {said}");
    }
}
