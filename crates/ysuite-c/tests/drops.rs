//! Messages that are never received are dropped by the callback: once, whichever handle is dropped first, and in spsc
//! and mpsc channels in place.

mod support;

use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use std::sync::atomic::Ordering;

use support::inline::{CLASSES, Geometry, tx_is_shut};
use support::*;
use ysuite_c::*;

/// Claim: In the C interface remaining messages are dropped once, in place, whichever handle is freed first.
#[test]
fn what_is_left_is_dropped_once_in_any_order_of_frees() {
    for open in KINDS {
        let sent = if is(open, ys_oneshot_open) { 1 } else { 100 };
        for receiver_first in [false, true] {
            for taken in [0, 1, 37] {
                let taken = taken.min(sent);
                let count = Count::default();
                let (tx, rx) = opened(open, &count.of_numbers(0));
                (0..sent).for_each(|number| assert_eq!(send(tx, number), OK));
                (0..taken).for_each(|number| assert_eq!(recv(rx), Ok(number)));
                // SAFETY: not used any more.
                unsafe {
                    if receiver_first {
                        ys_rx_free(rx);
                        assert_eq!(count.dropped() as u64, sent - taken);
                        ys_tx_free(tx);
                    } else {
                        ys_tx_free(tx);
                        assert_eq!(count.dropped(), 0);
                        ys_rx_free(rx);
                    }
                }
                assert_eq!(count.dropped() as u64, sent - taken);
                assert_eq!(count.sum() as u64, (taken..sent).sum());
            }
        }
    }
}

/// The message that a oneshot's receiver has waited for, and not received.
#[test]
fn a_message_that_was_waited_for_is_dropped_with_its_receiver() {
    let count = Count::default();
    let (tx, rx) = opened(ys_oneshot_open, &count.of_numbers(0));
    assert_eq!(send(tx, 5), OK);
    // SAFETY: a handle that was opened.
    assert_eq!(unsafe { ys_wait(rx, -1) }, OK);
    free(tx, rx);
    assert_eq!((count.dropped(), count.sum()), (1, 5));
}

#[test]
fn a_message_that_is_not_sent_is_the_callers() {
    for open in KINDS {
        let count = Count::default();
        let (tx, rx) = opened(open, &count.of_numbers(0));
        // SAFETY: handles that were opened, and messages.
        unsafe {
            ys_rx_free(rx);
            assert_eq!(send(tx, 1), CLOSED);
            assert_eq!(try_send(tx, 1), CLOSED);
            assert_eq!(ys_send_batch(tx, address(&[1_u64, 2, 3]), 3, -1), wide(CLOSED));
            ys_tx_free(tx);
        }
        assert_eq!(count.dropped(), 0);
    }
    for open in &KINDS[..3] {
        let count = Count::default();
        let (tx, rx) = opened(*open, &count.of_numbers(1));
        assert_eq!((send(tx, 1), try_send(tx, 2)), (OK, FULL));
        // SAFETY: handles that were opened, and messages.
        unsafe {
            assert_eq!(ys_send_for(tx, address(&2_u64), SOON), TIMEOUT);
            assert_eq!(ys_send_batch(tx, address(&[2_u64, 3]), 2, SOON), wide(TIMEOUT));
        }
        assert_eq!(count.dropped(), 0);
        free(tx, rx);
        assert_eq!(count.dropped(), 1);
    }
}

#[test]
fn hidden_messages_are_dropped_once() {
    for open in LANES {
        for way in 0..4 {
            let count = Count::default();
            let (tx, rx) = opened(open, &count.of_numbers(0));
            // SAFETY: handles that were opened, and messages.
            unsafe {
                for number in 1..=30_u64 {
                    assert_eq!(ys_write(tx, address(&number)), OK);
                }
                match way {
                    // Sent when the sender is dropped, and never received.
                    0 => free(tx, rx),
                    1 => {
                        ys_rx_free(rx);
                        assert_eq!(count.dropped(), 0);
                        assert_eq!(ys_flush(tx), CLOSED);
                        assert_eq!(count.dropped(), 30);
                        ys_tx_free(tx);
                    }
                    2 => {
                        assert_eq!(ys_rx_close(rx), OK);
                        // The others go with it; this one stays the caller's.
                        assert_eq!(send(tx, 31), CLOSED);
                        assert_eq!(count.dropped(), 30);
                        free(tx, rx);
                    }
                    _ => {
                        ys_rx_free(rx);
                        ys_tx_free(tx);
                    }
                }
            }
            assert_eq!((count.dropped(), count.sum()), (30, (1..=30).sum()));
        }
    }
}

#[test]
fn slots_that_are_not_committed_are_not_dropped() {
    for open in LANES {
        for window in [0, YS_WINDOW_VERSION] {
            let count = Count::default();
            let (tx, rx) = opened(open, &ys_options { window, ..count.of_numbers(0) });
            let mut at = null_mut();
            // SAFETY: handles that were opened; only reserved slots are written.
            unsafe {
                let slots = ys_reserve(tx, &mut at) as usize;
                (0..slots).for_each(|slot| at.cast::<u64>().add(slot).write(1));
                assert_eq!(ys_commit(tx, 1), 1);
                assert!(ys_reserve(tx, &mut at) >= 1);
                at.cast::<u64>().write(1000);
                free(tx, rx);
            }
            assert_eq!((count.dropped(), count.sum()), (1, 1));
        }
    }
}

/// Messages that hold their own address, constructed in slots: the callback finds them there.
#[test]
fn messages_are_dropped_where_they_were_constructed() {
    for open in LANES {
        for class in CLASSES {
            for capacity in [0, 1, 7, 20] {
                for way in 0..5 {
                    let count = Count::default();
                    let drop: Option<unsafe extern "C-unwind" fn(*mut c_void, *mut c_void)> = Some(count_address);
                    let base = options(class.0, class.1, capacity);
                    let window = if way % 2 == 0 { 0 } else { YS_WINDOW_VERSION };
                    let (tx, rx) = opened(open, &ys_options { drop, context: count.context(), window, ..base });
                    let (mut sent, mut taken) = (0, 0);
                    let mut at = null_mut();
                    // SAFETY: handles that were opened; only reserved slots are written.
                    unsafe {
                        while sent < 100 {
                            let slots = ys_reserve(tx, &mut at);
                            if slots == wide(FULL) {
                                break;
                            }
                            let slots = slots as usize;
                            for slot in 0..slots {
                                let to = at.cast::<u8>().add(slot * class.0).cast::<usize>();
                                to.write(to.addr());
                            }
                            assert_eq!(ys_commit(tx, slots), slots as isize);
                            sent += slots;
                            // Some are taken out where they lie.
                            if sent % 3 == 0 {
                                assert_eq!(ys_take(rx, &mut at, 0), OK);
                                assert_eq!(at.cast::<usize>().read(), at.addr());
                                taken += 1;
                            } else if sent % 5 == 0 {
                                assert!(ys_peek(rx, &mut at) >= 1);
                                assert_eq!(at.cast::<usize>().read(), at.addr());
                                assert_eq!(ys_consume(rx, 1), OK);
                                taken += 1;
                            }
                        }
                        match way {
                            0 | 1 => free(tx, rx),
                            2 => {
                                ys_rx_free(rx);
                                ys_tx_free(tx);
                            }
                            _ => {
                                // What comes back in its slot is the caller's there.
                                assert_eq!(ys_rx_close(rx), OK);
                                if ys_reserve(tx, &mut at) >= 1 {
                                    at.cast::<usize>().write(at.addr());
                                    assert_eq!(ys_commit(tx, 1), wide(CLOSED));
                                    assert_eq!(at.cast::<usize>().read(), at.addr());
                                }
                                free(tx, rx);
                            }
                        }
                    }
                    assert_eq!(count.dropped() + taken, sent, "{class:?} {capacity} {way}");
                    // ORDERING: SeqCst, as in the callback.
                    assert_eq!(count.displaced.load(Ordering::SeqCst), 0, "{class:?} {capacity} {way}");
                }
            }
        }
    }
}

/// One thread sends until it is disconnected, the other receives some and drops its handle: all that was sent is
/// received or dropped.
#[test]
fn ends_that_race_lose_no_message_and_drop_none_twice() {
    for open in &KINDS[..3] {
        for round in 0..200_u64 {
            let count = Count::default();
            let capacity = (round % 5) as usize * 3;
            let window = if round % 2 == 0 { 0 } else { YS_WINDOW_VERSION };
            let (tx, rx) = opened(*open, &ys_options { window, ..count.of_numbers(capacity) });
            let is_inline = window != 0 && is_lane(*open);
            let tx = Moved(tx);
            let sender = std::thread::spawn(move || {
                let tx = tx.end();
                let geometry = Geometry::new((8, 8));
                let mut sent = 0_u64;
                // One thread stops by itself.
                while sent < 3000 {
                    let number = sent + 1;
                    // SAFETY: a handle that was opened.
                    let by_window = if is_inline { unsafe { geometry.send(tx, &number.to_ne_bytes()) } } else { None };
                    if by_window.unwrap_or_else(|| send(tx, number)) != OK {
                        break;
                    }
                    sent += 1;
                }
                // SAFETY: not used any more.
                unsafe { ys_tx_free(tx) };
                sent
            });
            let mut received = 0_i64;
            let mut some = 0;
            while some < round * 7 {
                match recv(rx) {
                    Ok(number) => received += number as i64,
                    Err(code) => {
                        assert_eq!(code, CLOSED);
                        break;
                    }
                }
                some += 1;
            }
            // SAFETY: a handle that was opened, and is used no more.
            unsafe {
                if round % 3 == 0 {
                    ys_rx_close(rx);
                    while let Ok(number) = recv(rx) {
                        received += number as i64;
                        some += 1;
                    }
                }
                ys_rx_free(rx);
            }
            let sent = sender.join().expect("the sender is done");
            assert_eq!(count.dropped() as u64 + some, sent, "round {round}");
            assert_eq!(count.sum() + received, (1..=sent as i64).sum::<i64>(), "round {round}");
        }
    }
}

/// Claim: A C callback that panics does not unwind into C. Its handle reports that from then on.
#[test]
fn a_callback_that_panics_ends_the_use_of_its_end() {
    for open in LANES {
        for window in [0, YS_WINDOW_VERSION] {
            let count = Count::default();
            // ORDERING: SeqCst, as in the callback.
            count.panics_at.store(2, Ordering::SeqCst);
            let (tx, rx) = opened(open, &ys_options { window, ..count.of_numbers(0) });
            let mut at = null_mut();
            let mut other = null_mut();
            // SAFETY: handles that were opened, and messages.
            unsafe {
                for number in 1..=5_u64 {
                    assert_eq!(ys_write(tx, address(&number)), OK);
                }
                ys_rx_free(rx);
                assert_eq!(ys_flush(tx), EPANIC);
                // The others were dropped all the same.
                assert_eq!((count.dropped(), count.sum()), (5, 15));
                assert!(tx_is_shut(tx));
                assert_eq!(send(tx, 1), EPANIC);
                assert_eq!(try_send(tx, 1), EPANIC);
                assert_eq!(ys_send_batch(tx, address(&1_u64), 1, 0), wide(EPANIC));
                assert_eq!(ys_write(tx, address(&1_u64)), EPANIC);
                assert_eq!(ys_flush(tx), EPANIC);
                assert_eq!(ys_reserve(tx, &mut at), wide(EPANIC));
                assert_eq!(ys_commit(tx, 0), wide(EPANIC));
                assert_eq!(ys_wait_room(tx, 0), EPANIC);
                assert_eq!(ys_tx_clone(tx, &mut other), EPANIC);
                assert_eq!(ys_tx_close(tx), EPANIC);
                assert_eq!(ys_tx_wait_closed(tx, 0), EPANIC);
                assert_eq!(ys_tx_is_closed(tx), EPANIC);
                assert_eq!(ys_tx_len(tx), wide(EPANIC));
                assert_eq!(ys_tx_set_spin(tx, 0), EPANIC);
                assert_eq!(ys_tx_stride(tx), 8);
                ys_tx_free(tx);
            }
            assert_eq!(count.dropped(), 5);
        }
    }
}

#[test]
fn a_callback_that_panics_in_a_free_keeps_no_other_message() {
    for open in &KINDS[..3] {
        let count = Count::default();
        // ORDERING: SeqCst, as in the callback.
        count.panics_at.store(1, Ordering::SeqCst);
        let (tx, rx) = opened(*open, &count.of_numbers(0));
        (1..=20).for_each(|number| assert_eq!(send(tx, number), OK));
        // SAFETY: a handle that was opened, and is used no more.
        unsafe { ys_rx_free(rx) };
        assert_eq!((count.dropped(), count.sum()), (20, 210));
        assert_eq!(send(tx, 1), CLOSED);
        // SAFETY: as above.
        unsafe { ys_tx_free(tx) };
        assert_eq!(count.dropped(), 20);
    }
}

/// Of a callback that uses other channels.
struct Nested {
    other: *mut ys_tx,
    /// A channel without a callback, with a message, for the callback to free.
    plain: *mut ys_rx,
    codes: Vec<c_int>,
}

unsafe extern "C-unwind" fn use_others(message: *mut c_void, context: *mut c_void) {
    // SAFETY: the context is a `Nested`, the message a number.
    unsafe {
        let nested = &mut *context.cast::<Nested>();
        nested.codes.push(ys_send(nested.other, message));
        ys_rx_free(nested.plain);
        nested.plain = null_mut();
    }
}

#[test]
fn callbacks_use_other_channels() {
    for open in KINDS {
        let count = Count::default();
        let (other_tx, other_rx) = opened(ys_pipe_open, &count.of_numbers(0));
        let (plain_tx, plain_rx) = numbers(ys_pipe_open, 0);
        assert_eq!(send(plain_tx, 9), OK);
        let mut nested = Nested { other: other_tx, plain: plain_rx, codes: Vec::new() };
        let context = place(&mut nested);
        let (tx, rx) = opened(open, &ys_options { drop: Some(use_others), context, ..options(8, 8, 0) });
        let mut sent = 0;
        while sent < 3 && send(tx, sent) == OK {
            sent += 1;
        }
        free(tx, rx);
        assert_eq!(nested.codes, vec![OK; sent as usize]);
        (0..sent).for_each(|number| assert_eq!(recv(other_rx), Ok(number)));
        assert_eq!(send(plain_tx, 1), CLOSED);
        // SAFETY: not used any more.
        unsafe { ys_tx_free(plain_tx) };
        free(other_tx, other_rx);
        assert_eq!(count.dropped(), 0);
    }
}

/// The payload of a callback's panic: it frees a handle when it is dropped.
struct Frees(*mut ys_rx);

// SAFETY: a handle may move between threads.
unsafe impl Send for Frees {}

impl Drop for Frees {
    fn drop(&mut self) {
        // SAFETY: a handle that was opened, and is used no more.
        unsafe { ys_rx_free(self.0) };
    }
}

/// For a callback that panics once, with a handle.
struct PanicsWith {
    dropped: usize,
    end: *mut ys_rx,
}

unsafe extern "C-unwind" fn panic_with_an_end(_: *mut c_void, context: *mut c_void) {
    // SAFETY: the context is a `PanicsWith`.
    let context = unsafe { &mut *context.cast::<PanicsWith>() };
    context.dropped += 1;
    let end = core::mem::replace(&mut context.end, null_mut());
    if !end.is_null() {
        std::panic::resume_unwind(Box::new(Frees(end)));
    }
}

#[test]
fn what_a_panic_carries_is_dropped_outside_of_the_call() {
    for open in LANES {
        for in_free in [false, true] {
            // Without a callback: its messages are bytes, and none of the other channel's.
            let (plain_tx, plain_rx) = numbers(ys_pipe_open, 0);
            (0..3).for_each(|number| assert_eq!(send(plain_tx, number), OK));
            let mut panics = PanicsWith { dropped: 0, end: plain_rx };
            let context = place(&mut panics);
            let (tx, rx) = opened(open, &ys_options { drop: Some(panic_with_an_end), context, ..options(8, 8, 0) });
            // SAFETY: handles that were opened, and messages.
            unsafe {
                for number in 1..=5_u64 {
                    assert_eq!(ys_write(tx, address(&number)), OK);
                }
                if in_free {
                    assert_eq!(ys_flush(tx), OK);
                    ys_rx_free(rx);
                } else {
                    ys_rx_free(rx);
                    assert_eq!(ys_flush(tx), EPANIC);
                }
                assert_eq!(send(plain_tx, 1), CLOSED);
                ys_tx_free(plain_tx);
                ys_tx_free(tx);
            }
            assert!(panics.end.is_null());
            assert_eq!(panics.dropped, 5);
        }
    }
}
