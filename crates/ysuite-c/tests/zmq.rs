//! What the checked build finds out about handles of bridges. `c/zmq.c` and `c/zmq_questions.c` have the bridges themselves.
#![cfg(all(feature = "checked", feature = "zmq", target_os = "linux"))]

mod support;

use core::ffi::{c_char, c_int};
use core::mem::{MaybeUninit, size_of};
use core::ptr::{null, null_mut};

use support::*;
use ysuite_c::*;

const EBUSY: c_int = ys_code::YS_EBUSY as c_int;
const EFREED: c_int = ys_code::YS_EFREED as c_int;

/// One side of a duplex, with nobody at the other.
fn duplex() -> (*mut ys_zmq_bridge, *mut ys_zmq_tx, *mut ys_zmq_rx) {
    let bind: [*const c_char; 2] = [c"tcp://127.0.0.1:*".as_ptr(), null()];
    // SAFETY: all zeros are valid options.
    let mut options: ys_zmq_options = unsafe { MaybeUninit::zeroed().assume_init() };
    (options.struct_size, options.bind) = (size_of::<ys_zmq_options>() as u32, bind.as_ptr());
    let (mut bridge, mut tx, mut rx) = (null_mut(), null_mut(), null_mut());
    // SAFETY: options, and places for the handles.
    assert_eq!(unsafe { ys_zmq_duplex_open(&raw const options, &mut bridge, &mut tx, &mut rx) }, OK);
    (bridge, tx, rx)
}

struct Moved(*mut ys_zmq_rx);
// SAFETY: of a handle, which may move between threads.
unsafe impl Send for Moved {}

impl Moved {
    fn handle(&self) -> *mut ys_zmq_rx {
        self.0
    }
}

/// Waits in a receiver until its bridge is closed.
fn waiting(rx: *mut ys_zmq_rx) -> std::thread::JoinHandle<c_int> {
    let waiting = Moved(rx);
    std::thread::spawn(move || {
        let (mut bytes, mut length) = (null(), 0);
        loop {
            // SAFETY: the checked build takes any use of a handle that was made. It may come while the other thread is
            // inside to check, and is refused then.
            match unsafe { ys_zmq_recv(waiting.handle(), &mut bytes, &mut length, -1) } {
                EBUSY => {}
                code => break code,
            }
        }
    })
}

/// Claim: The checked C build reports two threads in one handle of a bridge; closing the bridge meanwhile is no such use.
#[test]
fn a_second_thread_in_a_receiver_is_refused() {
    let (bridge, tx, rx) = duplex();
    let waiting = waiting(rx);
    // SAFETY: the checked build takes any use of a handle that was made.
    unsafe {
        while ys_zmq_rx_fd(rx) != EBUSY {
            std::thread::yield_now();
        }
        let (mut bytes, mut length) = (null(), 0);
        assert_eq!(ys_zmq_recv(rx, &mut bytes, &mut length, 0), EBUSY);
        assert_eq!(ys_zmq_rx_arm(rx), EBUSY);
        let _ = ys_zmq_bridge_close(bridge, 1, null_mut());
        assert_eq!(waiting.join().expect("it has ended"), ys_code::YS_CLOSED as c_int);
        ys_zmq_bridge_free(bridge);
        ys_zmq_tx_free(tx);
        ys_zmq_rx_free(rx);
    }
}

/// Claim: The checked C build reports the use of a freed handle of a bridge.
#[test]
fn what_was_freed_says_so() {
    let (bridge, tx, rx) = duplex();
    let (mut bytes, mut length) = (null(), 0);
    let mut event = ys_zmq_event::YS_ZMQ_OTHER;
    let mut counts = ys_zmq_statistics::default();
    // SAFETY: the checked build takes any use of a handle that was freed.
    unsafe {
        ys_zmq_tx_free(tx);
        ys_zmq_rx_free(rx);
        ys_zmq_bridge_free(bridge);
        assert_eq!((ys_zmq_send(tx, null(), 0, 0), ys_zmq_publish(tx, null(), 0, null(), 0, 0)), (EFREED, EFREED));
        assert_eq!((ys_zmq_tx_fd(tx), ys_zmq_tx_arm(tx)), (EFREED, EFREED));
        assert_eq!(ys_zmq_recv(rx, &mut bytes, &mut length, -1), EFREED);
        assert!(ys_zmq_rx_topic(rx, &mut length).is_null());
        assert!(ys_zmq_rx_part(rx, 0, &mut length).is_null());
        let one = [ys_zmq_part { bytes: null(), length: 0 }];
        assert_eq!(ys_zmq_send_parts(tx, one.as_ptr(), 1, 0), EFREED);
        assert_eq!((ys_zmq_rx_fd(rx), ys_zmq_rx_arm(rx)), (EFREED, EFREED));
        assert_eq!(ys_zmq_bridge_close(bridge, 0, null_mut()), EFREED);
        assert!(ys_zmq_bridge_address(bridge, 0).is_null());
        assert_eq!(ys_zmq_bridge_event(bridge, &mut event, null_mut()), EFREED);
        assert_eq!(ys_zmq_bridge_statistics(bridge, &mut counts, size_of::<ys_zmq_statistics>()), EFREED);
        assert_eq!(ys_zmq_bridge_subscribe(bridge, null(), 0), EFREED);
        assert_eq!(ys_zmq_bridge_unsubscribe(bridge, null(), 0), EFREED);
        assert_eq!(ys_zmq_bridge_wait_subscribers(bridge, null(), 0, 1, 0), EFREED);
        assert_eq!(ys_zmq_bridge_admit(bridge, [null()].as_ptr()), EFREED);
    }
}
