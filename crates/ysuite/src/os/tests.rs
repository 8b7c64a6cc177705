//! What every platform's layer promises, on the one of this build: to sleep and to wake, and memory.

use core::time::Duration;
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::thread;

use super::{Deadline, Waited, sleep_on, wait, wake};
use crate::sync::AtomicU32;

/// Longer than any wait whose wake-up was not lost.
const HANGS: Duration = Duration::from_secs(60);

#[test]
fn a_word_that_has_changed_before_is_not_slept_on() {
    let word = AtomicU32::new(0);
    // The wake-up of a change that came first: nobody sleeps yet, and nothing keeps it.
    // ORDERING: Relaxed; one thread.
    word.store(1, Ordering::Relaxed);
    wake(&word, 1);
    wake(&word, u32::MAX);
    assert_eq!(wait(&word, 0, None), Waited::Look);
    assert_eq!(sleep_on(&word, 0, Deadline::after(HANGS)), Waited::Look);
}

/// Time that is not a multiple of a millisecond, too little for one, and none.
///
/// Claim: On every platform a wait that says that its time is over is right.
#[test]
fn a_time_limit_is_over_when_the_wait_says_so() {
    let word = AtomicU32::new(0);
    for time in [0, 1, 999, 50_000, 1_000_001, 20_500_000].map(Duration::from_nanos) {
        for _ in 0..3 {
            let deadline = Deadline::after(time);
            // A wait may end early for no reason.
            while sleep_on(&word, 0, deadline) == Waited::Look {}
            assert!(deadline.is_over(), "{time:?}");
        }
    }
}

#[test]
fn a_time_that_no_clock_can_represent_is_no_limit() {
    for time in [Duration::MAX, Duration::from_secs(u64::MAX / 2), Duration::from_millis(u64::from(u32::MAX) + 5)] {
        let word = Arc::new(AtomicU32::new(0));
        let (begin, begun) = mpsc::channel();
        let sleeper = {
            let word = word.clone();
            thread::spawn(move || {
                begin.send(()).unwrap();
                // ORDERING: Relaxed, here and below; the value guards no other data.
                while word.load(Ordering::Relaxed) == 0 {
                    assert_eq!(wait(&word, 0, Some(time)), Waited::Look);
                }
            })
        };
        begun.recv().unwrap();
        thread::yield_now();
        word.store(1, Ordering::Relaxed);
        wake(&word, 1);
        sleeper.join().unwrap();
    }
}

/// Each wait ends by a wake-up of its own: the word never changes. The waker wakes again as long as some sleep, for it
/// cannot know who does.
#[test]
fn sleepers_are_woken_one_by_one_by_twos_and_many_at_once() {
    for sleepers in [1, 2, 100, i32::MAX as u32, u32::MAX] {
        let word = Arc::new(AtomicU32::new(0));
        let threads: Vec<_> = (0..5)
            .map(|_| {
                let word = word.clone();
                thread::spawn(move || assert_eq!(wait(&word, 0, Some(HANGS)), Waited::Look))
            })
            .collect();
        while !threads.iter().all(thread::JoinHandle::is_finished) {
            wake(&word, sleepers);
            thread::yield_now();
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

/// Two threads take turns on a word, each with one wake-up for each turn of the other; some waits have a time limit.
///
/// Claim: On every platform a change of the word followed by a wake-up ends the wait that began before.
#[test]
fn no_wake_up_is_lost_where_two_take_turns() {
    const TURNS: u32 = 20_000;
    let word = AtomicU32::new(0);
    let turns = |mine: u32| {
        for turn in (mine..TURNS).step_by(2) {
            loop {
                // ORDERING: Acquire pairs with the Release store by which the other thread ends its turn.
                let now = word.load(Ordering::Acquire);
                if now == turn {
                    break;
                }
                let time = if turn % 5 == 0 { Duration::from_micros(u64::from(turn % 50)) } else { HANGS };
                let waited = wait(&word, now, Some(time));
                assert!(time != HANGS || waited == Waited::Look, "a wake-up was lost");
            }
            // ORDERING: Release pairs with the Acquire load by which the other thread finds its turn.
            word.store(turn + 1, Ordering::Release);
            wake(&word, 1);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| turns(1));
        turns(0);
    });
    // ORDERING: Relaxed; the thread was joined, which orders its stores before this load.
    assert_eq!(word.load(Ordering::Relaxed), TURNS);
}

#[cfg(all(any(target_os = "linux", target_os = "android", windows), not(ysuite_portable)))]
mod memory {
    use crate::os::*;

    /// Blocks, and whether each comes from the kernel: of few bytes, of many, and with as much alignment as a page has,
    /// or more.
    fn blocks() -> [(Layout, bool); 4] {
        [(64, 64, false), (64 << 10, 64, true), (64 << 10, 4 << 10, true), (64 << 10, 64 << 10, false)]
            .map(|(size, align, is_paged)| (Layout::from_size_align(size, align).unwrap(), is_paged))
    }

    #[test]
    fn what_comes_from_the_kernel_goes_back_to_it_and_all_is_aligned() {
        let makers: [fn(Layout) -> NonNull<u8>; 3] =
            [allocate, |layout| allocate_zeroed(layout).expect("there is memory"), reserve];
        for (layout, is_paged) in blocks() {
            for make in makers {
                let before = calls();
                let memory = make(layout);
                // None, where the block was mapped before. A region that is made takes four more.
                let most = if is_paged { 5 } else { 0 };
                assert!(calls() - before <= most && memory.as_ptr().addr() % layout.align() == 0, "{layout:?}");
                let before = calls();
                // SAFETY: made just now with this layout, and used by this thread alone.
                unsafe {
                    memory.as_ptr().write_bytes(7, layout.size());
                    deallocate(memory, layout);
                }
                // The last of a region unmaps that.
                let given = if is_paged { 1..=2 } else { 0..=0 };
                assert!(given.contains(&(calls() - before)), "{layout:?}");
            }
        }
    }

    #[test]
    fn pages_that_are_given_back_read_as_zero_and_what_the_allocator_keeps_as_before() {
        for (layout, is_paged) in blocks() {
            let memory = reserve(layout);
            let (before, call) = (calls(), u64::from(is_paged));
            let populated = if cfg!(windows) { 0 } else { call };
            // SAFETY: reserved just now with this layout, and used by this thread alone.
            unsafe { populate(memory, layout.size(), layout) };
            assert_eq!(calls() - before, populated, "{layout:?}");
            // SAFETY: as above.
            let bytes = unsafe {
                memory.as_ptr().write_bytes(7, layout.size());
                discard(memory, layout);
                core::slice::from_raw_parts(memory.as_ptr(), layout.size())
            };
            assert_eq!(calls() - before, populated + call, "{layout:?}");
            assert!(bytes.iter().all(|&byte| byte == if is_paged { 0 } else { 7 }), "{layout:?}");
            // SAFETY: as above, and `bytes` is not used any more.
            unsafe { deallocate(memory, layout) };
        }
    }
}
