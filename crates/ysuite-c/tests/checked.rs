//! The checked build finds two threads in one handle, uses after free, and double frees.
#![cfg(feature = "checked")]

mod support;

use core::ptr::null_mut;

use support::inline::{rx_is_shut, tx_is_shut};
use support::*;
use ysuite_c::*;

const EBUSY: core::ffi::c_int = ys_code::YS_EBUSY as core::ffi::c_int;
const EFREED: core::ffi::c_int = ys_code::YS_EFREED as core::ffi::c_int;

#[test]
fn no_window_is_open() {
    let (tx, rx) = opened(ys_pipe_open, &ys_options { window: YS_WINDOW_VERSION, ..options(8, 8, 0) });
    assert!(tx_is_shut(tx) && rx_is_shut(rx));
    assert_eq!((ys_window_version(), ys_is_checked()), (0, 1));
    free(tx, rx);
}

/// Claim: The checked C build reports two threads in one handle.
#[test]
fn a_second_thread_in_an_end_is_refused() {
    for open in KINDS {
        let (tx, rx) = numbers(open, 0);
        let waiting = Moved(rx);
        // It may come while the other thread is inside to check, and is refused then as well.
        let thread = std::thread::spawn(move || {
            let end = waiting.end();
            std::iter::repeat_with(|| recv(end)).find(|got| *got != Err(EBUSY)).expect("without a limit")
        });
        // SAFETY: the checked build takes any use of a handle that was made.
        unsafe {
            // Until the thread is inside.
            let begun = std::time::Instant::now();
            while ys_rx_len(rx) != wide(EBUSY) {
                assert!(begun.elapsed().as_secs() < 60, "the thread never comes");
                std::thread::yield_now();
            }
            let (mut number, mut at) = (0_u64, null_mut());
            assert_eq!(ys_try_recv(rx, place(&mut number)), EBUSY);
            assert_eq!(ys_recv_batch(rx, place(&mut number), 1, 0), wide(EBUSY));
            assert_eq!(ys_peek(rx, &mut at), wide(EBUSY));
            assert_eq!(ys_rx_close(rx), EBUSY);
            // What never changes any thread may see.
            assert_eq!(ys_rx_stride(rx), 8);
        }
        assert_eq!(send(tx, 4), OK);
        assert_eq!(thread.join().expect("it has received"), Ok(4));
        free(tx, rx);
    }
}

unsafe extern "C-unwind" fn use_own_end(_: *mut core::ffi::c_void, context: *mut core::ffi::c_void) {
    // SAFETY: the context is the sender, and a place for a code.
    unsafe {
        let (tx, code) = *context.cast::<(*mut ys_tx, *mut core::ffi::c_int)>();
        *code = ys_flush(tx);
    }
}

#[test]
fn a_callback_that_uses_its_own_end_is_refused() {
    let mut code = OK;
    let mut context = (null_mut::<ys_tx>(), &raw mut code);
    let given = place(&mut context);
    let (tx, rx) = opened(ys_pipe_open, &ys_options { drop: Some(use_own_end), context: given, ..options(8, 8, 0) });
    // SAFETY: handles that were opened; the context is read by the callback only.
    unsafe {
        given.cast::<(*mut ys_tx, *mut core::ffi::c_int)>().write((tx, &raw mut code));
        assert_eq!(ys_write(tx, address(&1_u64)), OK);
        ys_rx_free(rx);
        assert_eq!(ys_flush(tx), CLOSED);
        ys_tx_free(tx);
    }
    assert_eq!(code, EBUSY);
}

/// Claim: The checked C build reports the use of a freed handle.
#[test]
fn what_was_freed_says_so() {
    let mut at = null_mut();
    let mut number = 0_u64;
    let mut ids = [0; 2];
    for open in KINDS {
        let (tx, rx) = numbers(open, 0);
        free(tx, rx);
        // SAFETY: the checked build takes any use of a handle that was freed.
        unsafe {
            assert_eq!((send(tx, 1), try_send(tx, 1)), (EFREED, EFREED));
            assert_eq!(ys_send_batch(tx, address(&number), 1, 0), wide(EFREED));
            assert_eq!((ys_write(tx, address(&number)), ys_flush(tx)), (EFREED, EFREED));
            assert_eq!((ys_reserve(tx, &mut at), ys_commit(tx, 0)), (wide(EFREED), wide(EFREED)));
            assert_eq!(ys_tx_discard(tx, at), EFREED);
            assert_eq!((ys_wait_room(tx, 0), ys_tx_close(tx), ys_tx_is_closed(tx)), (EFREED, EFREED, EFREED));
            assert_eq!((ys_tx_len(tx), ys_tx_set_spin(tx, 0)), (wide(EFREED), EFREED));
            assert_eq!(ys_tx_wait_closed(tx, -1), EFREED);
            let mut other = null_mut();
            assert_eq!(ys_tx_clone(tx, &mut other), EFREED);
            assert_eq!((recv(rx), recv_for(rx, 0)), (Err(EFREED), Err(EFREED)));
            assert_eq!(ys_recv_batch(rx, place(&mut number), 1, 0), wide(EFREED));
            assert_eq!((ys_peek(rx, &mut at), ys_consume(rx, 0)), (wide(EFREED), EFREED));
            assert_eq!((ys_take(rx, &mut at, -1), ys_wait(rx, -1), ys_rx_close(rx)), (EFREED, EFREED, EFREED));
            assert_eq!((ys_rx_is_closed(rx), ys_rx_len(rx), ys_rx_set_spin(rx, 0)), (EFREED, wide(EFREED), EFREED));
            let mut other = null_mut();
            assert_eq!(ys_rx_clone(rx, &mut other), EFREED);
            assert_eq!((ys_tx_stride(tx), ys_rx_stride(rx)), (0, 0));
            assert!(ys_tx_channel(tx).is_null() && ys_rx_channel(rx).is_null());
            assert_eq!(errno::errno().0, libc::EINVAL);
        }
    }
    // SAFETY: as above.
    unsafe {
        let (mut set, mut signaler, mut select, mut pool) = (null_mut(), null_mut(), null_mut(), null_mut());
        let (tx, rx) = numbers(ys_pipe_open, 0);
        assert_eq!(ys_pollset_open(2, &mut set), OK);
        assert_eq!(ys_set_signaler(set, &mut signaler), OK);
        assert_eq!(ys_select_open(2, &mut select), OK);
        assert_eq!(ys_pool_open(&ys_pool_class { bytes: 64, blocks: 1 }, 1, &mut pool), OK);
        ys_set_free(set);
        ys_signaler_free(signaler);
        ys_select_free(select);
        ys_pool_free(pool);
        assert_eq!(ys_set_wait(set, ids.as_mut_ptr(), 2, 0), wide(EFREED));
        assert_eq!((ys_set_fd(set), ys_set_attach_rx(set, rx, 0), ys_signal(signaler, 0)), (EFREED, EFREED, EFREED));
        assert_eq!(
            (ys_select_wait(select, -1), ys_select_add_tx(select, tx, ids.as_mut_ptr())),
            (wide(EFREED), EFREED)
        );
        assert!(ys_pool_take(pool, 1, -1).is_null());
        assert_eq!(errno::errno().0, libc::EINVAL);
        free(tx, rx);
    }
}

/// The mistakes that end the process. Runs only as a child of the test below.
fn mistake(name: &str) {
    let (tx, rx) = numbers(ys_pipe_open, 0);
    // SAFETY: the checked build takes any use of a handle that was made.
    unsafe {
        match name {
            "tx twice" => {
                ys_tx_free(tx);
                ys_tx_free(tx);
            }
            "rx twice" => {
                ys_rx_free(rx);
                ys_rx_free(rx);
            }
            "rx inside" => {
                let waiting = Moved(rx);
                // Refused if it enters while this thread checks.
                std::thread::spawn(move || {
                    let end = waiting.end();
                    while recv(end) == Err(EBUSY) {}
                });
                while ys_rx_len(rx) != wide(EBUSY) {
                    std::thread::yield_now();
                }
                ys_rx_free(rx);
            }
            _ => {
                let mut set = null_mut();
                assert_eq!(ys_pollset_open(2, &mut set), OK);
                ys_set_free(set);
                ys_set_free(set);
            }
        }
    }
}

/// Claim: The checked C build reports a double free and ends the process.
#[test]
fn a_second_free_ends_the_process_with_a_sentence() {
    const CHILD: &str = "YSUITE_C_MISTAKE";
    if let Ok(name) = std::env::var(CHILD) {
        return mistake(&name);
    }
    let sentences = [
        ("tx twice", "ysuite: ys_tx_free was called for a handle that was freed before.\n"),
        ("rx twice", "ysuite: ys_rx_free was called for a handle that was freed before.\n"),
        ("rx inside", "ysuite: ys_rx_free was called for a handle that has a thread inside.\n"),
        ("set twice", "ysuite: ys_set_free was called for a handle that was freed before.\n"),
    ];
    for (name, sentence) in sentences {
        let child = std::process::Command::new(std::env::current_exe().expect("this is a program"))
            .args(["--exact", "a_second_free_ends_the_process_with_a_sentence", "--nocapture"])
            .env(CHILD, name)
            .output()
            .expect("a child runs");
        assert!(!child.status.success(), "{name}");
        #[cfg(unix)]
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&child.status), Some(libc::SIGABRT), "{name}");
        assert_eq!(String::from_utf8_lossy(&child.stderr), sentence, "{name}");
    }
}
