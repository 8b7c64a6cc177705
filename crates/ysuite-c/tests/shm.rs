//! What the checked build finds out about handles of channels between processes. `c/shm.c` has the channels themselves.
#![cfg(all(feature = "checked", feature = "shm", target_os = "linux"))]

mod support;

use core::ffi::c_int;
use core::ptr::{null, null_mut};

use support::*;
use ysuite_c::*;

fn pipe() -> (*mut ys_shm_tx, *mut ys_shm_rx) {
    let (mut tx, mut rx) = (null_mut(), null_mut());
    // SAFETY: places for both handles.
    assert_eq!(unsafe { ys_shm_pipe_open(1024, null(), &mut tx, &mut rx) }, OK);
    (tx, rx)
}

fn listener(test: &str) -> *mut ys_shm_listener {
    let name = std::ffi::CString::new(format!("test-{}-{test}", std::process::id())).expect("no zero");
    let mut listener = null_mut();
    // SAFETY: a name, and a place for a handle.
    assert_eq!(unsafe { ys_shm_listener_open(name.as_ptr(), null(), &mut listener) }, OK);
    listener
}

const EBUSY: c_int = ys_code::YS_EBUSY as c_int;
const EFREED: c_int = ys_code::YS_EFREED as c_int;

struct Moved<T>(*mut T);
// SAFETY: of a handle, which may move between threads.
unsafe impl<T> Send for Moved<T> {}

impl<T> Moved<T> {
    fn handle(&self) -> *mut T {
        self.0
    }
}

/// Calls a receiver until another thread is inside it.
///
/// # Safety
/// The receiver is alive.
unsafe fn until_busy(rx: *mut ys_shm_rx) {
    // SAFETY: by the caller; the checked build takes any use of a handle that was made.
    while unsafe { ys_shm_rx_fd(rx) } != EBUSY {
        std::thread::yield_now();
    }
}

/// Waits in a receiver: for a message, or, in the process that is to end, for ever.
fn waiting(rx: *mut ys_shm_rx) -> std::thread::JoinHandle<c_int> {
    let waiting = Moved(rx);
    std::thread::spawn(move || {
        let (mut byte, mut length) = (0_u8, 0);
        loop {
            // SAFETY: as above. It may come while the other thread is inside to check, and is refused then.
            match unsafe { ys_shm_recv(waiting.handle(), place(&mut byte), 1, &mut length) } {
                EBUSY => {}
                code => break code,
            }
        }
    })
}

/// Claim: The checked C build reports two threads in one handle of a channel between processes.
#[test]
fn a_second_thread_in_an_end_is_refused() {
    let (tx, rx) = pipe();
    let waiting = waiting(rx);
    // SAFETY: the checked build takes any use of a handle that was made.
    unsafe {
        until_busy(rx);
        let (mut byte, mut length) = (0_u8, 0);
        assert_eq!(ys_shm_try_recv(rx, place(&mut byte), 1, &mut length), EBUSY);
        assert_eq!((ys_shm_rx_arm(rx), ys_shm_rx_into_fd(rx), ys_shm_rx_close(rx)), (EBUSY, EBUSY, EBUSY));
        assert_eq!(ys_shm_send(tx, address(&7_u8), 1), OK);
        assert_eq!(waiting.join().expect("it has received"), OK);
        ys_shm_tx_free(tx);
        ys_shm_rx_free(rx);
    }
}

/// Claim: The checked C build reports the use of a freed handle of a channel between processes.
#[test]
fn what_was_freed_says_so() {
    let ((tx, rx), listener, mut funnel) = (pipe(), listener("freed"), null_mut());
    let (mut byte, mut length, mut sender, mut why) = (0_u8, 0, 0, 0);
    let number = &raw mut sender;
    // SAFETY: the checked build takes any use of a handle that was freed.
    unsafe {
        ys_shm_tx_free(tx);
        ys_shm_rx_free(rx);
        ys_shm_listener_free(listener);
        assert_eq!(ys_shm_funnel_open(null(), null(), &mut funnel), OK);
        ys_shm_funnel_free(funnel);
        assert_eq!((ys_shm_send(tx, null(), 0), ys_shm_try_send(tx, null(), 0)), (EFREED, EFREED));
        assert_eq!((ys_shm_send_for(tx, null(), 0, -1), ys_shm_tx_arm(tx, 0)), (EFREED, EFREED));
        assert_eq!((ys_shm_tx_fd(tx), ys_shm_tx_is_closed(tx)), (EFREED, EFREED));
        assert_eq!((ys_shm_tx_into_fd(tx), ys_shm_tx_close(tx)), (EFREED, EFREED));
        assert_eq!((ys_shm_tx_largest(tx), errno::errno().0), (0, libc::EINVAL));
        assert_eq!(ys_shm_recv(rx, place(&mut byte), 1, &mut length), EFREED);
        assert_eq!(ys_shm_try_recv(rx, place(&mut byte), 1, &mut length), EFREED);
        assert_eq!(ys_shm_recv_for(rx, place(&mut byte), 1, &mut length, -1), EFREED);
        assert_eq!((ys_shm_rx_fd(rx), ys_shm_rx_arm(rx)), (EFREED, EFREED));
        assert_eq!((ys_shm_rx_into_fd(rx), ys_shm_rx_close(rx)), (EFREED, EFREED));
        assert_eq!((ys_shm_accept(listener, -1), ys_shm_listener_fd(listener)), (EFREED, EFREED));
        assert_eq!(ys_shm_funnel_recv(funnel, place(&mut byte), 1, &mut length, null_mut()), EFREED);
        assert_eq!(ys_shm_funnel_try_recv(funnel, place(&mut byte), 1, &mut length, null_mut()), EFREED);
        assert_eq!(ys_shm_funnel_recv_for(funnel, place(&mut byte), 1, &mut length, null_mut(), -1), EFREED);
        assert_eq!((ys_shm_funnel_fd(funnel), ys_shm_funnel_arm(funnel)), (EFREED, EFREED));
        assert_eq!((ys_shm_funnel_seat(funnel, number), ys_shm_funnel_senders(funnel)), (EFREED, wide(EFREED)));
        assert_eq!(ys_shm_funnel_next_ended(funnel, number, &mut why), EFREED);
    }
}

/// Claim: The checked C build reports the use of a freed handle of a broadcast or a watch between processes.
#[test]
fn what_was_freed_of_many_says_so() {
    let (mut cast, mut watch) = (null_mut(), null_mut());
    let (mut cast_rx, mut watch_rx) = (null_mut(), null_mut());
    let (mut byte, mut length) = (0_u8, 0);
    // SAFETY: the checked build takes any use of a handle that was freed.
    unsafe {
        assert_eq!(ys_shm_broadcast_open(null(), 64, 0, null(), &mut cast), OK);
        assert_eq!(ys_shm_watch_open(null(), null(), 0, 8, null(), &mut watch), OK);
        assert_eq!(ys_shm_broadcast_rx_open(ys_shm_broadcast_seat(cast), null(), &mut cast_rx), OK);
        assert_eq!(ys_shm_watch_rx_open(ys_shm_watch_seat(watch), null(), &mut watch_rx), OK);
        ys_shm_broadcast_free(cast);
        ys_shm_watch_free(watch);
        ys_shm_broadcast_rx_free(cast_rx);
        ys_shm_watch_rx_free(watch_rx);
        assert_eq!((ys_shm_broadcast_seat(cast), ys_shm_broadcast_serve(cast, 0)), (EFREED, EFREED));
        assert_eq!(
            (ys_shm_broadcast_send(cast, null(), 0), ys_shm_broadcast_try_send(cast, null(), 0)),
            (EFREED, EFREED)
        );
        assert_eq!((ys_shm_broadcast_send_for(cast, null(), 0, 0), ys_shm_broadcast_arm(cast, 0)), (EFREED, EFREED));
        assert_eq!((ys_shm_broadcast_largest(cast), errno::errno().0), (0, libc::EINVAL));
        assert_eq!((ys_shm_broadcast_fd(cast), ys_shm_broadcast_receivers(cast)), (EFREED, wide(EFREED)));
        let (to, lost) = (place(&mut byte), null_mut());
        assert_eq!(ys_shm_broadcast_recv(cast_rx, to, 1, &mut length, lost), EFREED);
        assert_eq!(ys_shm_broadcast_try_recv(cast_rx, to, 1, &mut length, lost), EFREED);
        assert_eq!(ys_shm_broadcast_recv_for(cast_rx, to, 1, &mut length, lost, -1), EFREED);
        assert_eq!((ys_shm_broadcast_rx_fd(cast_rx), ys_shm_broadcast_rx_arm(cast_rx)), (EFREED, EFREED));
        assert_eq!((ys_shm_watch_seat(watch), ys_shm_watch_serve(watch, 0)), (EFREED, EFREED));
        assert_eq!((ys_shm_watch_send(watch, null(), 0), ys_shm_watch_arm(watch)), (EFREED, EFREED));
        assert_eq!((ys_shm_watch_fd(watch), ys_shm_watch_receivers(watch)), (EFREED, wide(EFREED)));
        assert_eq!(ys_shm_watch_recv(watch_rx, to, 1, &mut length), EFREED);
        assert_eq!(ys_shm_watch_try_recv(watch_rx, to, 1, &mut length), EFREED);
        assert_eq!(ys_shm_watch_recv_for(watch_rx, to, 1, &mut length, -1), EFREED);
        assert_eq!((ys_shm_watch_rx_fd(watch_rx), ys_shm_watch_rx_arm(watch_rx)), (EFREED, EFREED));
    }
}

/// Claim: The checked C build reports the use of a freed handle of loans between processes.
#[test]
fn what_was_freed_of_loans_says_so() {
    let (mut tx, mut rx, mut borrowed, mut none, mut to) = (null_mut(), null_mut(), null_mut(), null_mut(), null_mut());
    let mut byte = 0_u8;
    // SAFETY: the checked build takes any use of a handle that was freed.
    unsafe {
        assert_eq!(ys_shm_loan_open(null(), 1, 8, null(), &mut tx), OK);
        assert_eq!(ys_shm_loan_rx_open(ys_shm_loan_seat(tx), null(), &mut rx), OK);
        assert_eq!((ys_shm_loan_serve(tx, 0), ys_shm_loan_reserve(tx, 1, &mut to)), (OK, OK));
        assert_eq!((ys_shm_loan_commit(tx, 1), ys_shm_loan_recv(rx, &mut borrowed)), (OK, OK));
        ys_shm_borrowed_free(borrowed);
        ys_shm_loan_rx_free(rx);
        ys_shm_loan_free(tx);
        assert_eq!((ys_shm_borrowed_length(borrowed), errno::errno().0), (0, libc::EINVAL));
        assert_eq!(ys_shm_borrowed_copy(borrowed, 0, place(&mut byte), 1), wide(EFREED));
        assert!(ys_shm_borrowed_sealed(borrowed).is_null() && ys_shm_borrowed_untrusted(borrowed).is_null());
        assert_eq!((ys_shm_loan_recv(rx, &mut none), ys_shm_loan_try_recv(rx, &mut none)), (EFREED, EFREED));
        assert_eq!((ys_shm_loan_recv_for(rx, &mut none, -1), ys_shm_loan_rx_arm(rx)), (EFREED, EFREED));
        assert_eq!((ys_shm_loan_rx_fd(rx), ys_shm_loan_seat(tx)), (EFREED, EFREED));
        assert_eq!((ys_shm_loan_reserve(tx, 1, &mut to), ys_shm_loan_try_reserve(tx, 1, &mut to)), (EFREED, EFREED));
        assert_eq!(ys_shm_loan_reserve_for(tx, 1, &mut to, -1), EFREED);
        assert_eq!((ys_shm_loan_reserve_large(tx, 1, &mut to, -1), ys_shm_loan_commit(tx, 1)), (EFREED, EFREED));
        assert_eq!((ys_shm_loan_largest(tx), errno::errno().0), (0, libc::EINVAL));
        assert_eq!((ys_shm_loan_unused(tx), ys_shm_loan_held(tx)), (wide(EFREED), wide(EFREED)));
        assert_eq!((ys_shm_loan_serve(tx, 0), ys_shm_loan_receivers(tx)), (EFREED, wide(EFREED)));
        assert_eq!((ys_shm_loan_fd(tx), ys_shm_loan_arm(tx), ys_shm_loan_arm_large(tx)), (EFREED, EFREED, EFREED));
    }
}

/// Claim: The checked C build reports the use of a freed handle of calls between processes.
#[test]
fn what_was_freed_of_calls_says_so() {
    let (mut rx, mut caller, mut question, mut none) = (null_mut(), null_mut(), null_mut(), null_mut());
    let (mut byte, mut length, mut number, mut why) = (0_u8, 0, 0, 0);
    let to = place(&mut byte);
    // SAFETY: the checked build takes any use of a handle that was freed.
    unsafe {
        assert_eq!(ys_shm_questions_open(null(), 8, null(), &mut rx), OK);
        let seat = ys_shm_questions_seat(rx, &mut number);
        assert_eq!(ys_shm_caller_open(seat, 8, null(), &mut caller), OK);
        assert_eq!(ys_shm_caller_ask(caller, null(), 0, &mut number), OK);
        assert_eq!(ys_shm_questions_recv(rx, &mut question, null_mut()), OK);
        ys_shm_question_free(question);
        ys_shm_caller_free(caller);
        ys_shm_questions_free(rx);
        assert_eq!(ys_shm_question_answer(question, null(), 0), EFREED);
        assert_eq!((ys_shm_question_length(question), errno::errno().0), (0, libc::EINVAL));
        assert!(ys_shm_question_bytes(question).is_null());
        assert_eq!(ys_shm_caller_call(caller, null(), 0, to, 1, &mut length, -1), EFREED);
        assert_eq!(ys_shm_caller_ask(caller, null(), 0, &mut number), EFREED);
        assert_eq!(ys_shm_caller_try_ask(caller, null(), 0, &mut number), EFREED);
        assert_eq!(ys_shm_caller_ask_for(caller, null(), 0, &mut number, -1), EFREED);
        assert_eq!(ys_shm_caller_recv(caller, 1, to, 1, &mut length), EFREED);
        assert_eq!(ys_shm_caller_try_recv(caller, 1, to, 1, &mut length), EFREED);
        assert_eq!(ys_shm_caller_recv_for(caller, 1, to, 1, &mut length, -1), EFREED);
        assert_eq!((ys_shm_caller_give_up(caller, 1), ys_shm_caller_is_closed(caller)), (EFREED, EFREED));
        assert_eq!((ys_shm_caller_fd(caller), ys_shm_caller_arm(caller)), (EFREED, EFREED));
        assert_eq!(ys_shm_caller_arm_to_ask(caller), EFREED);
        assert_eq!(ys_shm_questions_seat(rx, &mut number), EFREED);
        assert_eq!(ys_shm_questions_recv(rx, &mut none, null_mut()), EFREED);
        assert_eq!(ys_shm_questions_try_recv(rx, &mut none, null_mut()), EFREED);
        assert_eq!(ys_shm_questions_recv_for(rx, &mut none, null_mut(), -1), EFREED);
        assert_eq!(ys_shm_questions_next_ended(rx, &mut number, &mut why), EFREED);
        assert_eq!((ys_shm_questions_callers(rx), ys_shm_questions_fd(rx)), (wide(EFREED), EFREED));
        assert_eq!(ys_shm_questions_arm(rx), EFREED);
    }
}

/// Claim: The checked C build reports the use of a freed handle of a work queue between processes.
#[test]
fn what_was_freed_of_work_says_so() {
    let (mut tx, mut rx) = (null_mut(), null_mut());
    let (mut byte, mut length) = (0_u8, 0);
    let to = place(&mut byte);
    // SAFETY: the checked build takes any use of a handle that was freed.
    unsafe {
        assert_eq!(ys_shm_work_open(null(), 8, 1, null(), &mut tx), OK);
        assert_eq!(ys_shm_work_rx_open(ys_shm_work_seat(tx), null(), &mut rx), OK);
        ys_shm_work_free(tx);
        ys_shm_work_rx_free(rx);
        assert_eq!((ys_shm_work_seat(tx), ys_shm_work_send(tx, null(), 0)), (EFREED, EFREED));
        assert_eq!((ys_shm_work_try_send(tx, null(), 0), ys_shm_work_send_for(tx, null(), 0, -1)), (EFREED, EFREED));
        assert_eq!((ys_shm_work_settle(tx, -1), ys_shm_work_serve(tx, -1)), (EFREED, EFREED));
        assert_eq!((ys_shm_work_finished(tx), ys_shm_work_unfinished(tx)), (wide(EFREED), wide(EFREED)));
        assert_eq!((ys_shm_work_workers(tx), ys_shm_work_fd(tx)), (wide(EFREED), EFREED));
        assert_eq!((ys_shm_work_arm(tx), ys_shm_work_arm_to_settle(tx)), (EFREED, EFREED));
        assert_eq!(ys_shm_work_recv(rx, to, 1, &mut length), EFREED);
        assert_eq!(ys_shm_work_try_recv(rx, to, 1, &mut length), EFREED);
        assert_eq!(ys_shm_work_recv_for(rx, to, 1, &mut length, -1), EFREED);
        assert_eq!((ys_shm_work_finish(rx), ys_shm_work_give_back(rx)), (EFREED, EFREED));
        assert_eq!((ys_shm_work_rx_fd(rx), ys_shm_work_rx_arm(rx)), (EFREED, EFREED));
    }
}

/// The mistakes that end the process. Runs only as a child of the test below.
fn mistake(name: &str) {
    let (tx, rx) = pipe();
    // SAFETY: the checked build takes any use of a handle that was made.
    unsafe {
        match name {
            "tx twice" => {
                ys_shm_tx_free(tx);
                ys_shm_tx_free(tx);
            }
            "rx twice" => {
                ys_shm_rx_free(rx);
                ys_shm_rx_free(rx);
            }
            "rx inside" => {
                drop(waiting(rx));
                until_busy(rx);
                ys_shm_rx_free(rx);
            }
            "funnel twice" => {
                let mut funnel = null_mut();
                assert_eq!(ys_shm_funnel_open(null(), null(), &mut funnel), OK);
                ys_shm_funnel_free(funnel);
                ys_shm_funnel_free(funnel);
            }
            "borrowed twice" => {
                let (mut tx, mut rx, mut borrowed, mut to) = (null_mut(), null_mut(), null_mut(), null_mut());
                assert_eq!(ys_shm_loan_open(null(), 1, 8, null(), &mut tx), OK);
                assert_eq!(ys_shm_loan_rx_open(ys_shm_loan_seat(tx), null(), &mut rx), OK);
                assert_eq!((ys_shm_loan_serve(tx, 0), ys_shm_loan_reserve(tx, 1, &mut to)), (OK, OK));
                assert_eq!((ys_shm_loan_commit(tx, 1), ys_shm_loan_recv(rx, &mut borrowed)), (OK, OK));
                ys_shm_borrowed_free(borrowed);
                ys_shm_borrowed_free(borrowed);
            }
            "listener twice" => {
                let listener = listener("twice");
                ys_shm_listener_free(listener);
                ys_shm_listener_free(listener);
            }
            _ => match libc::fork() {
                0 => {
                    ys_shm_send(tx, null(), 0);
                }
                child => {
                    let mut status = 0;
                    assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
                    assert_eq!(libc::WTERMSIG(status), libc::SIGABRT);
                    std::process::abort();
                }
            },
        }
    }
}

/// Claim: The checked C build reports a double free, and a forked child's use, of a handle of a channel between
/// processes, and ends the process.
#[test]
fn a_mistake_ends_the_process_with_a_sentence() {
    const CHILD: &str = "YSUITE_C_MISTAKE";
    if let Ok(name) = std::env::var(CHILD) {
        return mistake(&name);
    }
    let sentences = [
        ("tx twice", "ysuite: ys_shm_tx_free was called for a handle that was freed before.\n"),
        ("rx twice", "ysuite: ys_shm_rx_free was called for a handle that was freed before.\n"),
        ("rx inside", "ysuite: ys_shm_rx_free was called for a handle that has a thread inside.\n"),
        ("borrowed twice", "ysuite: ys_shm_borrowed_free was called for a handle that was freed before.\n"),
        ("listener twice", "ysuite: ys_shm_listener_free was called for a handle that was freed before.\n"),
        ("funnel twice", "ysuite: ys_shm_funnel_free was called for a handle that was freed before.\n"),
        ("fork", "ysuite: a forked child has used a handle of its parent; it may only call ys_shm_tx_free.\n"),
    ];
    for (name, sentence) in sentences {
        let child = std::process::Command::new(std::env::current_exe().expect("this is a program"))
            .args(["--exact", "a_mistake_ends_the_process_with_a_sentence", "--nocapture"])
            .env(CHILD, name)
            .output()
            .expect("a child runs");
        let signal = std::os::unix::process::ExitStatusExt::signal(&child.status);
        assert_eq!((signal, &*String::from_utf8_lossy(&child.stderr)), (Some(libc::SIGABRT), sentence), "{name}");
    }
}
