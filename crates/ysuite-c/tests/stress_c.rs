//! A stress test for lost wake-ups through the C functions: one thread sleeps in each of the ways there are, another
//! wakes it, by a call or inline. A lost wake-up shows as a wait beyond the time limit. `YSUITE_STRESS=long`: a million
//! sleeps each way.

mod support;

use core::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use support::inline::{Geometry, Random};
use support::*;
use ysuite_c::*;

fn sleeps() -> u64 {
    let is_long = std::env::var_os("YSUITE_STRESS").is_some_and(|value| value == "long");
    if is_long { 1_000_000 } else { 8_000 }
}

/// How a receiver waits.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Recv,
    RecvFor,
    Wait,
    Set,
    Select,
}

/// A little time, never the same, so that all moments of falling asleep are hit.
fn dawdle(random: &mut Random) {
    for _ in 0..random.below(400) {
        core::hint::spin_loop();
    }
    if random.below(16) == 0 {
        std::thread::yield_now();
    }
}

fn send_either(tx: *mut ys_tx, number: u64, is_inline: bool) {
    let geometry = Geometry::new((8, 8));
    // SAFETY: a handle of a channel of numbers.
    let by_window = if is_inline { unsafe { geometry.send(tx, &number.to_ne_bytes()) } } else { None };
    assert_eq!(by_window.unwrap_or_else(|| send(tx, number)), OK);
}

fn recv_either(rx: *mut ys_rx, is_inline: bool) -> Result<u64, core::ffi::c_int> {
    let geometry = Geometry::new((8, 8));
    let mut bytes = [0; 8];
    // SAFETY: a handle of a channel of numbers.
    if is_inline && unsafe { geometry.recv(rx, &mut bytes) } {
        return Ok(u64::from_ne_bytes(bytes));
    }
    recv_for(rx, 0)
}

/// The receiver sleeps, the sender wakes it.
fn stress_receiver(open: Open, way: Way, window: u32) {
    let sleeps = sleeps();
    let (tx, rx) = opened(open, &ys_options { window, ..options(8, 8, 0) });
    let is_inline = window != 0;
    let received = Arc::new(AtomicU64::new(0));
    let seen = received.clone();
    let tx = Moved(tx);
    let sender = std::thread::spawn(move || {
        let tx = tx.end();
        let mut random = Random(way as u64 + 3);
        for number in 0..sleeps {
            // One at a time: each message finds a receiver that is about to sleep, or asleep.
            while seen.load(Ordering::Relaxed) < number {
                std::thread::yield_now();
            }
            dawdle(&mut random);
            send_either(tx, number, is_inline);
        }
        // SAFETY: not used any more.
        unsafe { ys_tx_free(tx) };
    });
    let (mut set, mut select, mut id) = (null_mut(), null_mut(), 0);
    // SAFETY: handles that are opened here.
    unsafe {
        assert_eq!(ys_rx_set_spin(rx, ys_spin::YS_SPIN_NONE as i32), OK);
        match way {
            Way::Set => {
                assert_eq!(if cfg!(unix) { ys_set_open(4, &mut set) } else { ys_pollset_open(4, &mut set) }, OK);
                assert_eq!(ys_set_attach_rx(set, rx, 1), OK);
            }
            Way::Select => {
                assert_eq!(ys_select_open(4, &mut select), OK);
                assert_eq!(ys_select_add_rx(select, rx, &mut id), OK);
            }
            _ => {}
        }
        let mut expected = 0;
        while expected < sleeps {
            match recv_either(rx, is_inline) {
                Ok(number) => {
                    assert_eq!(number, expected);
                    expected += 1;
                    // ORDERING: Relaxed; a count, for the sender to go on.
                    received.store(expected, Ordering::Relaxed);
                    continue;
                }
                Err(code) => assert_eq!(code, EMPTY, "{way:?}"),
            }
            match way {
                // Guarded by the test's own limit of time.
                Way::Recv => match recv(rx) {
                    Ok(number) => {
                        assert_eq!(number, expected);
                        expected += 1;
                        // ORDERING: Relaxed, as above.
                        received.store(expected, Ordering::Relaxed);
                    }
                    Err(code) => panic!("{code}"),
                },
                Way::RecvFor => {
                    assert_eq!(recv_for(rx, LONG), Ok(expected), "a wake-up was lost");
                    expected += 1;
                    // ORDERING: Relaxed, as above.
                    received.store(expected, Ordering::Relaxed);
                }
                Way::Wait => assert_eq!(ys_wait(rx, LONG), OK, "a wake-up was lost"),
                Way::Set => assert_eq!(ys_set_wait(set, &mut id, 1, LONG), 1, "a wake-up was lost"),
                Way::Select => assert_eq!(ys_select_wait(select, LONG), 0, "a wake-up was lost"),
            }
        }
        assert_eq!(recv(rx), Err(CLOSED));
        ys_rx_free(rx);
        ys_set_free(set);
        ys_select_free(select);
    }
    sender.join().expect("the sender is done");
}

/// The sender sleeps for room, the receiver wakes it.
fn stress_sender(open: Open, window: u32, capacity: usize) {
    let sleeps = sleeps();
    let (tx, rx) = opened(open, &ys_options { window, ..options(8, 8, capacity) });
    let is_inline = window != 0;
    let rx = Moved(rx);
    let sent = Arc::new(AtomicU64::new(0));
    let seen = sent.clone();
    let receiver = std::thread::spawn(move || {
        let rx = rx.end();
        let mut random = Random(capacity as u64 + 5);
        let total = sleeps + capacity as u64;
        for number in 0..total {
            // Not before the sender has filled the channel: it is about to sleep, or asleep.
            while seen.load(Ordering::Relaxed) < (number + capacity as u64).min(total) {
                std::thread::yield_now();
            }
            dawdle(&mut random);
            assert_eq!(recv_either(rx, is_inline), Ok(number));
        }
        // SAFETY: not used any more.
        unsafe { ys_rx_free(rx) };
    });
    // SAFETY: a handle that was opened.
    assert_eq!(unsafe { ys_tx_set_spin(tx, ys_spin::YS_SPIN_NONE as i32) }, OK);
    for number in 0..sleeps + capacity as u64 {
        let geometry = Geometry::new((8, 8));
        // SAFETY: a handle of a channel of numbers.
        unsafe {
            let by_window = if is_inline { geometry.send(tx, &number.to_ne_bytes()) } else { None };
            if by_window.is_none() {
                assert_eq!(ys_send_for(tx, address(&number), LONG), OK, "a wake-up was lost");
            }
        }
        // ORDERING: Relaxed; a count, for the receiver to go on.
        sent.store(number + 1, Ordering::Relaxed);
    }
    receiver.join().expect("the receiver is done");
    // SAFETY: not used any more.
    unsafe { ys_tx_free(tx) };
}

fn stress(way: Way) {
    // The inline path only where the contract has it: a build without windows returns each time that a call is needed.
    stress_receiver(ys_pipe_open, way, 0);
    stress_receiver(ys_pipe_open, way, YS_WINDOW_VERSION);
    stress_receiver(ys_funnel_open, way, YS_WINDOW_VERSION);
    if way != Way::Wait {
        stress_receiver(ys_exchange_open, way, 0);
    }
}

/// Claim: In the C interface no wake-up is lost, in any wake mode.
#[test]
fn no_wake_up_of_a_receiver_is_lost() {
    stress(Way::Recv);
}

#[test]
fn no_wake_up_within_a_time_is_lost() {
    stress(Way::RecvFor);
}

#[test]
fn no_wake_up_of_a_wait_is_lost() {
    stress(Way::Wait);
}

#[test]
fn no_wake_up_by_a_descriptor_is_lost() {
    stress(Way::Set);
}

#[test]
fn no_wake_up_of_a_select_is_lost() {
    stress(Way::Select);
}

#[test]
fn no_wake_up_for_room_is_lost() {
    for capacity in [1, 2, 7, 8] {
        stress_sender(ys_pipe_open, 0, capacity);
        stress_sender(ys_pipe_open, YS_WINDOW_VERSION, capacity);
        stress_sender(ys_funnel_open, YS_WINDOW_VERSION, capacity);
        stress_sender(ys_exchange_open, 0, capacity);
    }
}
