//! Results and memory accesses of calls in edge cases: a channel that is closed or as large as possible, memory that
//! does not exist, or is not theirs, a time limit for several waits.

mod support;

use core::ptr::{NonNull, null, null_mut};
use std::thread;
use std::time::Duration;

use support::*;
use ysuite_c::*;

#[test]
fn a_result_without_a_code_sets_errno() {
    // SAFETY: every function takes NULL.
    let asks: [fn() -> bool; 4] = unsafe {
        [
            || ys_tx_stride(null()) == 0,
            || ys_rx_stride(null()) == 0,
            || ys_tx_channel(null()).is_null(),
            || ys_rx_channel(null()).is_null(),
        ]
    };
    for (number, ask) in asks.iter().enumerate() {
        errno::set_errno(errno::Errno(0));
        assert!(ask() && errno::errno().0 == libc::EINVAL, "{number}");
    }
}

#[test]
fn a_oneshot_is_over_when_either_end_says_so() {
    // SAFETY: handles that were opened.
    unsafe {
        let (tx, rx) = numbers(ys_oneshot_open, 0);
        assert_eq!((ys_tx_is_closed(tx), ys_rx_is_closed(rx)), (0, 0));
        assert_eq!((ys_tx_wait_closed(tx, 0), ys_tx_wait_closed(tx, SOON)), (TIMEOUT, TIMEOUT));
        assert_eq!((ys_rx_close(rx), ys_rx_close(rx)), (OK, CLOSED));
        assert_eq!((ys_tx_is_closed(tx), ys_rx_is_closed(rx)), (1, 1));
        assert_eq!((ys_tx_wait_closed(tx, 0), ys_tx_wait_closed(tx, -1)), (OK, OK));
        assert_eq!(ys_tx_close(tx), CLOSED);
        free(tx, rx);
        let (tx, rx) = numbers(ys_oneshot_open, 0);
        assert_eq!((ys_tx_close(tx), ys_tx_close(tx)), (OK, CLOSED));
        assert_eq!((ys_tx_is_closed(tx), ys_rx_is_closed(rx), ys_rx_close(rx)), (1, 1, CLOSED));
        free(tx, rx);
    }
}

#[test]
fn an_mpsc_channel_takes_the_largest_number_of_senders() {
    let most = ysuite::mpsc::MAX_SENDERS;
    let (tx, rx) = opened(ys_funnel_open, &ys_options { senders: most, ..options(8, 8, 1) });
    assert_eq!((send(tx, 7), recv(rx)), (OK, Ok(7)));
    free(tx, rx);
    let (mut tx, mut rx) = (null_mut(), null_mut());
    let wanted = ys_options { senders: most + 1, ..options(8, 8, 1) };
    // SAFETY: options, and places for both handles.
    assert_eq!(unsafe { ys_funnel_open(&wanted, &mut tx, &mut rx) }, EINVAL);
}

/// However short each wait is: the receiver takes one message after the other.
#[test]
fn a_time_is_for_all_waits_of_a_batch_together() {
    const MANY: usize = 1_000_000;
    for open in &KINDS[..3] {
        let (tx, rx) = numbers(*open, 1);
        let receiving = Moved(rx);
        let receiver = thread::spawn(move || {
            let rx = receiving.end();
            while recv(rx).is_ok() {
                thread::sleep(Duration::from_millis(1));
            }
            Moved(rx)
        });
        let batch = vec![0_u64; MANY];
        // SAFETY: a handle that was opened, and this many messages.
        let sent = unsafe { ys_send_batch(tx, batch.as_ptr().cast(), MANY, 20 * SOON) };
        assert!((1..MANY as isize).contains(&sent), "{sent}");
        // SAFETY: as above.
        assert_eq!(unsafe { ys_tx_close(tx) }, OK);
        free(tx, receiver.join().unwrap().end());
    }
}

/// Runs this test in a process of its own, whose limits it may change: true there.
#[cfg(target_os = "linux")]
fn is_in_a_process_of_its_own(test: &str) -> bool {
    use std::env;
    use std::process::Command;

    const CHILD: &str = "YSUITE_C_CHILD";
    let is_there = env::var_os(CHILD).is_some();
    if !is_there {
        let child = Command::new(env::current_exe().unwrap()).args(["--exact", test]).env(CHILD, "").status();
        assert!(child.unwrap().success());
    }
    is_there
}

#[cfg(target_os = "linux")]
fn limit(to: libc::rlim_t, set: impl FnOnce(&libc::rlimit) -> core::ffi::c_int) {
    assert_eq!(set(&libc::rlimit { rlim_cur: to, rlim_max: to }), 0);
}

/// The process may map 4 GiB.
#[cfg(target_os = "linux")]
#[test]
fn an_mpmc_channel_without_memory_is_an_error() {
    if !is_in_a_process_of_its_own("an_mpmc_channel_without_memory_is_an_error") {
        return;
    }
    // SAFETY: a limit of this process.
    limit(4 << 30, |most| unsafe { libc::setrlimit(libc::RLIMIT_AS, most) });
    let (mut tx, mut rx) = (null_mut(), null_mut());
    for capacity in [1 << 30, (1 << 36) + 1] {
        // SAFETY: options, and places for both handles.
        assert_eq!(unsafe { ys_exchange_open(&options(8, 8, capacity), &mut tx, &mut rx) }, ENOMEM, "{capacity}");
    }
    let (tx, rx) = numbers(ys_exchange_open, 1 << 20);
    assert_eq!((send(tx, 7), recv(rx)), (OK, Ok(7)));
    free(tx, rx);
}

/// The address of nothing, where something is asked for that cannot be had.
#[test]
fn what_cannot_be_had_is_null() {
    fn nothing<T>(ask: impl FnOnce(*mut *mut T)) {
        let mut put = NonNull::<T>::dangling().as_ptr();
        ask(&mut put);
        assert!(put.is_null());
    }
    // SAFETY: places for what is asked for; every function takes NULL; handles that were opened.
    unsafe {
        nothing(|pool| assert_eq!(ys_pool_open(null(), 1, pool), EINVAL));
        nothing(|set| assert_eq!(ys_pollset_open(0, set), EINVAL));
        nothing(|set| assert_eq!(ys_set_open(0, set), EINVAL));
        nothing(|select| assert_eq!(ys_select_open(0, select), EINVAL));
        nothing(|signaler| assert_eq!(ys_set_signaler(null(), signaler), EINVAL));
        nothing(|at| assert_eq!(ys_reserve(null_mut(), at), wide(EINVAL)));
        nothing(|at| assert_eq!(ys_peek(null_mut(), at), wide(EINVAL)));
        nothing(|at| assert_eq!(ys_take(null_mut(), at, 0), EINVAL));
        for open in LANES {
            for window in [0, YS_WINDOW_VERSION] {
                let (tx, rx) = opened(open, &ys_options { window, ..options(8, 8, 1) });
                nothing(|at| assert_eq!(ys_peek(rx, at), wide(EMPTY)));
                nothing(|at| assert_eq!(ys_take(rx, at, 0), EMPTY));
                assert_eq!(send(tx, 1), OK);
                nothing(|at| assert_eq!(ys_reserve(tx, at), wide(FULL)));
                free(tx, rx);
            }
        }
    }
}

/// Messages are at the end of a page, with no page after it.
#[cfg(target_os = "linux")]
#[test]
fn no_byte_beyond_a_message_is_read_or_written() {
    use core::ffi::{c_int, c_void};

    // SAFETY: a question to the system.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap();
    // SAFETY: new pages, at a place that the kernel chooses, and the second is not used.
    let end = unsafe {
        let (both, private) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let pages = libc::mmap(null_mut(), 2 * page, both, private, -1, 0);
        assert_ne!(pages, libc::MAP_FAILED);
        assert_eq!(libc::mprotect(pages.byte_add(page), page, libc::PROT_NONE), 0);
        pages.byte_add(page).cast::<u8>()
    };
    type Send = unsafe fn(*mut ys_tx, *const c_void) -> c_int;
    type Receive = unsafe fn(*mut ys_rx, *mut c_void) -> c_int;
    // SAFETY: by the callers: ends, messages, and room.
    let (sends, receives): ([Send; 4], [Receive; 4]) = unsafe {
        (
            [
                |tx, at| ys_send(tx, at),
                |tx, at| ys_try_send(tx, at),
                |tx, at| ys_send_for(tx, at, -1),
                |tx, at| c_int::from(ys_send_batch(tx, at, 1, 0) != 1),
            ],
            [
                |rx, at| ys_recv(rx, at),
                |rx, at| ys_try_recv(rx, at),
                |rx, at| ys_recv_for(rx, at, -1),
                |rx, at| c_int::from(ys_recv_batch(rx, at, 1, 0) != 1),
            ],
        )
    };
    for (open, window) in KINDS.into_iter().flat_map(|open| [(open, 0), (open, YS_WINDOW_VERSION)]) {
        for size in 1..=128 {
            let at = end.wrapping_sub(size);
            // SAFETY: this many bytes are there, before the page's end.
            let message = unsafe { core::slice::from_raw_parts_mut(at, size) };
            for (send, receive) in sends.iter().zip(receives) {
                let (tx, rx) = opened(open, &ys_options { window, ..options(size, 0, 0) });
                message.iter_mut().enumerate().for_each(|(index, byte)| *byte = (index * 7 + size) as u8);
                // SAFETY: handles that were opened, a message, and room for one.
                unsafe {
                    assert_eq!(send(tx, at.cast()), OK);
                    message.fill(0);
                    assert_eq!(receive(rx, at.cast()), OK);
                }
                assert!(message.iter().enumerate().all(|(index, byte)| *byte == (index * 7 + size) as u8), "{size}");
                free(tx, rx);
            }
        }
    }
    // SAFETY: the pages were mapped above, and are not used.
    assert_eq!(unsafe { libc::munmap(end.sub(page).cast(), 2 * page) }, 0);
}

/// What was mapped for what is opened and freed, again and again, is unmapped.
#[cfg(target_os = "linux")]
#[test]
fn what_is_freed_gives_its_memory_back() {
    fn gives_back(bytes: usize, what: fn()) {
        /// Bytes that this process has mapped.
        fn mapped() -> usize {
            let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
            pages.split_whitespace().next().unwrap().parse::<usize>().unwrap() * 4096
        }
        let before = mapped();
        // What the other tests of this process map meanwhile is less than half of it.
        (0..8).for_each(|_| what());
        assert!(mapped().saturating_sub(before) < 4 * bytes);
    }
    gives_back(1 << 28, || {
        let (mut pool, class) = (null_mut(), ys_pool_class { bytes: 1 << 24, blocks: 16 });
        // SAFETY: a class, and a place for a pool, which is not used.
        unsafe {
            assert_eq!(ys_pool_open(&class, 1, &mut pool), OK);
            ys_pool_free(pool);
        }
    });
    // A cell has a word next to its message.
    gives_back(16 << 22, || {
        let (tx, rx) = numbers(ys_exchange_open, 1 << 22);
        free(tx, rx);
    });
}

/// The process has no descriptor left.
#[cfg(target_os = "linux")]
#[test]
fn a_set_for_which_there_is_no_descriptor_says_so_in_errno() {
    if !is_in_a_process_of_its_own("a_set_for_which_there_is_no_descriptor_says_so_in_errno") {
        return;
    }
    // SAFETY: a limit of this process.
    limit(0, |most| unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, most) });
    let mut set = null_mut();
    // SAFETY: a place for a set.
    assert_eq!(unsafe { ys_set_open(1, &mut set) }, ys_code::YS_ESYSTEM as core::ffi::c_int);
    assert_eq!(errno::errno().0, libc::EMFILE);
}

/// By the quick way as well, which this thread takes when it has received before.
#[test]
fn a_message_taken_in_place_is_room_for_a_waiting_sender() {
    for open in LANES {
        for window in [0, YS_WINDOW_VERSION] {
            let (tx, rx) = opened(open, &ys_options { window, ..options(8, 8, 2) });
            (0..2).for_each(|number| assert_eq!(send(tx, number), OK));
            let waiting = Moved(tx);
            let sender = thread::spawn(move || {
                let tx = waiting.end();
                assert_eq!(send(tx, 2), OK);
                Moved(tx)
            });
            // Until it sleeps; that it does is no part of what is asked.
            thread::sleep(Duration::from_millis(20));
            let mut at = null_mut();
            // SAFETY: a handle that was opened, and a place for an address.
            assert_eq!(unsafe { ys_take(rx, &mut at, 0) }, OK);
            free(sender.join().unwrap().end(), rx);
        }
    }
}
