//! Every function of channels, and every code it may return.

mod support;

use core::ffi::{CStr, c_int, c_void};
use core::ptr::{null, null_mut};
use std::process::Command;

use support::inline::{rx_is_shut, tx_is_shut};
use support::*;
use ysuite_c::*;

/// Claim: In the C interface every kind of channel carries numbers.
#[test]
fn numbers_go_through_every_kind_of_channel() {
    for open in KINDS {
        let (tx, rx) = numbers(open, 0);
        assert_eq!(send(tx, 7), OK);
        assert_eq!(recv(rx), Ok(7));
        free(tx, rx);
    }
    for open in &KINDS[..3] {
        let (tx, rx) = numbers(*open, 0);
        (0..10_000).for_each(|number| assert_eq!(send(tx, number), OK));
        (0..10_000).for_each(|number| assert_eq!(recv(rx), Ok(number)));
        free(tx, rx);
    }
}

#[test]
fn pointers_that_are_null_are_refused() {
    // SAFETY: every function takes NULL.
    unsafe {
        let (none, no_rx) = (null_mut::<ys_tx>(), null_mut::<ys_rx>());
        let (mut tx, mut rx, wanted) = (null_mut(), null_mut(), options(8, 8, 0));
        let mut number = 0_u64;
        let mut at = null_mut();
        for open in KINDS {
            assert_eq!(open(null(), &mut tx, &mut rx), EINVAL);
            assert_eq!(open(&wanted, null_mut(), &mut rx), EINVAL);
            assert_eq!(open(&wanted, &mut tx, null_mut()), EINVAL);
            assert!(tx.is_null() && rx.is_null());
        }
        assert_eq!(ys_send(none, address(&number)), EINVAL);
        assert_eq!(ys_try_send(none, address(&number)), EINVAL);
        assert_eq!(ys_send_for(none, address(&number), 1), EINVAL);
        assert_eq!(ys_send_batch(none, address(&number), 1, 0), wide(EINVAL));
        assert_eq!(ys_write(none, address(&number)), EINVAL);
        assert_eq!(ys_flush(none), EINVAL);
        assert_eq!(ys_reserve(none, &mut at), wide(EINVAL));
        assert_eq!(ys_commit(none, 0), wide(EINVAL));
        assert_eq!(ys_wait_room(none, 0), EINVAL);
        assert_eq!(ys_tx_clone(none, &mut tx), EINVAL);
        assert_eq!(ys_tx_close(none), EINVAL);
        assert_eq!(ys_tx_wait_closed(none, 0), EINVAL);
        assert_eq!(ys_tx_is_closed(none), EINVAL);
        assert_eq!(ys_tx_len(none), wide(EINVAL));
        assert_eq!(ys_tx_set_spin(none, 0), EINVAL);
        assert_eq!(ys_tx_stride(none), 0);
        assert!(ys_tx_channel(none).is_null());
        assert_eq!(errno(), libc::EINVAL);
        assert_eq!((ys_tx_answer(none), ys_tx_discard(none, null())), (EINVAL, EINVAL));
        ys_tx_free(none);

        assert_eq!(ys_recv(no_rx, place(&mut number)), EINVAL);
        assert_eq!(ys_try_recv(no_rx, place(&mut number)), EINVAL);
        assert_eq!(ys_recv_for(no_rx, place(&mut number), 1), EINVAL);
        assert_eq!(ys_recv_batch(no_rx, place(&mut number), 1, 0), wide(EINVAL));
        assert_eq!(ys_peek(no_rx, &mut at), wide(EINVAL));
        assert_eq!(ys_consume(no_rx, 0), EINVAL);
        assert_eq!(ys_take(no_rx, &mut at, 0), EINVAL);
        assert_eq!(ys_wait(no_rx, 0), EINVAL);
        assert_eq!(ys_rx_clone(no_rx, &mut rx), EINVAL);
        assert_eq!(ys_rx_close(no_rx), EINVAL);
        assert_eq!(ys_rx_is_closed(no_rx), EINVAL);
        assert_eq!(ys_rx_len(no_rx), wide(EINVAL));
        assert_eq!(ys_rx_set_spin(no_rx, 0), EINVAL);
        assert_eq!(ys_rx_stride(no_rx), 0);
        assert!(ys_rx_channel(no_rx).is_null());
        ys_rx_credit(no_rx);
        ys_rx_free(no_rx);

        for open in KINDS {
            let (tx, rx) = numbers(open, 0);
            assert_eq!(ys_send(tx, null()), EINVAL);
            assert_eq!(ys_try_send(tx, null()), EINVAL);
            assert_eq!(ys_send_for(tx, null(), 1), EINVAL);
            assert_eq!(ys_send_batch(tx, null(), 1, 0), wide(EINVAL));
            assert_eq!(ys_send_batch(tx, null(), 0, 0), 0);
            assert_eq!(ys_write(tx, null()), EINVAL);
            assert_eq!(ys_reserve(tx, null_mut()), wide(EINVAL));
            assert_eq!(ys_tx_clone(tx, null_mut()), EINVAL);
            assert_eq!(ys_recv(rx, null_mut()), EINVAL);
            assert_eq!(ys_try_recv(rx, null_mut()), EINVAL);
            assert_eq!(ys_recv_for(rx, null_mut(), 1), EINVAL);
            assert_eq!(ys_recv_batch(rx, null_mut(), 1, 0), wide(EINVAL));
            assert_eq!(ys_recv_batch(rx, null_mut(), 0, 0), 0);
            assert_eq!(ys_peek(rx, null_mut()), wide(EINVAL));
            assert_eq!(ys_take(rx, null_mut(), 0), EINVAL);
            assert_eq!(ys_rx_clone(rx, null_mut()), EINVAL);
            free(tx, rx);
        }
    }
}

#[test]
fn options_that_cannot_be_are_refused() {
    let (mut tx, mut rx) = (null_mut(), null_mut());
    let mut refused = |open: Open, wanted: ys_options| {
        // SAFETY: places for both handles, and options.
        assert_eq!(unsafe { open(&wanted, &mut tx, &mut rx) }, EINVAL);
        assert!(tx.is_null() && rx.is_null());
    };
    for open in KINDS {
        for (size, align) in [(0, 8), (129, 8), (129, 16), (8, 3), (8, 32), (usize::MAX, 8), (8, usize::MAX)] {
            refused(open, options(size, align, 0));
        }
        refused(open, ys_options { struct_size: 4, ..options(8, 8, 0) });
        refused(open, ys_options { struct_size: 0, ..options(8, 8, 0) });
        // Without its size.
        refused(open, ys_options { struct_size: 8, ..options(8, 8, 0) });
        refused(open, ys_options { senders: 1, ..options(8, 8, 0) });
    }
    for open in [ys_pipe_open as Open, ys_exchange_open, ys_oneshot_open] {
        refused(open, ys_options { senders: 2, ..options(8, 8, 4) });
    }
    refused(ys_oneshot_open, options(8, 8, 1));
    refused(ys_funnel_open, ys_options { senders: usize::MAX, ..options(8, 8, 4) });
    refused(ys_exchange_open, options(8, 8, usize::MAX));
    // The second would do where the kernel gives any address space that is asked for.
    for capacity in [1 << 56, (1 << 36) + 1] {
        // SAFETY: places for both handles, and options.
        assert_eq!(unsafe { ys_exchange_open(&options(8, 8, capacity), &mut tx, &mut rx) }, ENOMEM);
    }
}

#[test]
fn options_of_an_older_and_of_a_newer_header_are_taken() {
    for open in KINDS {
        // Up to size: the rest would be refused, and is not checked.
        let old = ys_options { struct_size: 16, align: 3, capacity: 9, senders: 7, ..options(8, 8, 0) };
        let (tx, rx) = opened(open, &old);
        // SAFETY: a handle that was opened.
        assert_eq!(unsafe { ys_tx_stride(tx) }, 8);
        assert_eq!(send(tx, 1), OK);
        assert_eq!(recv(rx), Ok(1));
        free(tx, rx);

        #[repr(C)]
        struct Newer {
            known: ys_options,
            unknown: [u64; 4],
        }
        let known = ys_options { struct_size: size_of::<Newer>() as u32, ..options(24, 8, 0) };
        let newer = Newer { known, unknown: [u64::MAX; 4] };
        let (tx, rx) = opened(open, &newer.known);
        // SAFETY: handles that were opened.
        unsafe {
            assert_eq!(ys_rx_stride(rx), 24);
            assert_eq!(ys_tx_channel(tx), ys_rx_channel(rx));
        }
        assert_eq!(newer.unknown, [u64::MAX; 4]);
        free(tx, rx);
    }
}

/// Every class, and sizes between the classes: bytes arrive, as an array too, from addresses that are not aligned.
#[test]
fn messages_of_every_size_arrive() {
    for open in KINDS {
        let most = if is(open, ys_oneshot_open) { 1 } else { 40 };
        for align in [0, 1, 8, 16] {
            for size in 1..=128 {
                let (tx, rx) = opened(open, &options(size, align, 0));
                let bytes: Vec<u8> = (0..size * most + 1).map(|at| (at * 7 + size) as u8).collect();
                let mut back = vec![0_u8; size * most + 1];
                // SAFETY: handles that were opened, this many bytes, and room for them.
                unsafe {
                    let from = bytes.as_ptr().add(1).cast::<c_void>();
                    assert_eq!(ys_send_batch(tx, from, most, 0), most as isize);
                    let mut got = 0;
                    while got < most {
                        let some = ys_recv_batch(rx, back.as_mut_ptr().add(1 + got * size).cast(), most - got, 0);
                        assert!(some >= 1, "{some}");
                        got += some as usize;
                    }
                }
                assert_eq!(back[1..], bytes[1..], "{size} {align}");
                free(tx, rx);
            }
        }
    }
}

/// Claim: C return codes give the reason of a failed send.
#[test]
fn codes_of_sends_say_why() {
    for open in &KINDS[..3] {
        let (tx, rx) = numbers(*open, 2);
        assert_eq!(try_send(tx, 1), OK);
        // SAFETY: handles that were opened, and messages.
        unsafe {
            assert_eq!(ys_send_for(tx, address(&2_u64), LONG), OK);
            assert_eq!(try_send(tx, 3), FULL);
            assert_eq!(ys_send_for(tx, address(&3_u64), SOON), TIMEOUT);
            let more = [3_u64, 4, 5];
            assert_eq!(ys_send_batch(tx, address(&more), 3, 0), wide(FULL));
            assert_eq!(ys_send_batch(tx, address(&more), 3, SOON), wide(TIMEOUT));
            assert_eq!(ys_tx_len(tx), 2);
            assert_eq!(ys_rx_len(rx), 2);
            assert_eq!(recv(rx), Ok(1));
            // Up to the room.
            assert_eq!(ys_send_batch(tx, address(&more), 3, SOON), 1);
            assert_eq!((recv(rx), recv(rx)), (Ok(2), Ok(3)));
            assert_eq!(ys_tx_is_closed(tx), 0);
            assert_eq!(ys_tx_wait_closed(tx, 0), TIMEOUT);
            assert_eq!(ys_tx_wait_closed(tx, SOON), TIMEOUT);
            assert_eq!(ys_rx_close(rx), OK);
            assert_eq!(ys_rx_close(rx), CLOSED);
            assert_eq!(send(tx, 6), CLOSED);
            assert_eq!(try_send(tx, 6), CLOSED);
            assert_eq!(ys_send_for(tx, address(&6_u64), LONG), CLOSED);
            assert_eq!(ys_send_for(tx, address(&6_u64), -1), CLOSED);
            assert_eq!(ys_send_batch(tx, address(&more), 3, -1), wide(CLOSED));
            assert_eq!(ys_send_batch(tx, address(&more), 3, 0), wide(CLOSED));
            assert_eq!(ys_tx_is_closed(tx), 1);
            assert_eq!(ys_tx_wait_closed(tx, -1), OK);
            assert_eq!(ys_tx_close(tx), CLOSED);
        }
        free(tx, rx);
    }
}

/// Claim: C return codes give the reason of a failed receive.
#[test]
fn codes_of_receives_say_why() {
    for open in KINDS {
        let (tx, rx) = numbers(open, 0);
        let mut numbers = [0_u64; 4];
        // SAFETY: handles that were opened, and room.
        unsafe {
            assert_eq!(recv_for(rx, 0), Err(EMPTY));
            assert_eq!(recv_for(rx, SOON), Err(TIMEOUT));
            assert_eq!(ys_recv_batch(rx, place(&mut numbers), 4, 0), wide(EMPTY));
            assert_eq!(ys_recv_batch(rx, place(&mut numbers), 4, SOON), wide(TIMEOUT));
            assert_eq!(ys_rx_is_closed(rx), 0);
            assert_eq!(send(tx, 5), OK);
            assert_eq!(ys_rx_len(rx), 1);
            assert_eq!(ys_recv_batch(rx, place(&mut numbers), 4, -1), 1);
            assert_eq!((numbers[0], ys_rx_len(rx)), (5, 0));
            ys_tx_free(tx);
            assert_eq!(ys_rx_is_closed(rx), 1);
            for ns in [-1, 0, SOON] {
                assert_eq!(recv_for(rx, ns), Err(CLOSED));
                assert_eq!(ys_recv_batch(rx, place(&mut numbers), 4, ns), wide(CLOSED));
            }
            assert_eq!(recv(rx), Err(CLOSED));
            assert_eq!(ys_rx_close(rx), CLOSED);
            ys_rx_free(rx);
        }
    }
}

#[test]
fn what_was_sent_before_the_end_is_received() {
    for open in KINDS {
        let (tx, rx) = numbers(open, 0);
        assert_eq!(send(tx, 3), OK);
        // SAFETY: handles that were opened.
        let first = unsafe { ys_tx_close(tx) };
        // A oneshot that has sent is over.
        assert_eq!(first, if is(open, ys_oneshot_open) { CLOSED } else { OK });
        assert_eq!(send(tx, 4), CLOSED);
        // SAFETY: as above.
        unsafe {
            assert_eq!(ys_tx_close(tx), CLOSED);
            assert_eq!(ys_tx_is_closed(tx), 1);
        }
        assert_eq!((recv(rx), recv(rx)), (Ok(3), Err(CLOSED)));
        free(tx, rx);
    }
}

#[test]
fn slots_are_reserved_and_committed() {
    for open in LANES {
        for capacity in [0, 1, 2, 5, 20] {
            let (tx, rx) = numbers(open, capacity);
            let mut at = null_mut();
            let mut next = 0_u64;
            // SAFETY: handles that were opened; only reserved slots are written.
            unsafe {
                for round in 0..200 {
                    let slots = ys_reserve(tx, &mut at);
                    assert!(slots >= 1 && (capacity == 0 || slots <= capacity as isize));
                    assert_eq!(ys_commit(tx, slots as usize + 1), wide(EINVAL));
                    let used = (round % slots) as usize + 1;
                    (0..used).for_each(|slot| at.cast::<u64>().add(slot).write(next + slot as u64));
                    // Read-only calls leave the slots reserved.
                    assert_eq!((ys_tx_is_closed(tx), ys_tx_stride(tx)), (0, 8));
                    assert_eq!(ys_tx_len(tx), 0);
                    assert_eq!(ys_commit(tx, used), used as isize);
                    assert_eq!(ys_commit(tx, 1), wide(EINVAL));
                    (0..used).for_each(|_| {
                        assert_eq!(recv(rx), Ok(next));
                        next += 1;
                    });
                    assert_eq!(recv_for(rx, 0), Err(EMPTY));
                }
                // Any send takes the reservation away.
                assert!(ys_reserve(tx, &mut at) >= 1);
                assert_eq!(send(tx, 1), OK);
                assert_eq!(ys_commit(tx, 1), wide(EINVAL));
                assert_eq!(recv(rx), Ok(1));
                if capacity > 0 {
                    (0..capacity).for_each(|_| assert_eq!(send(tx, 2), OK));
                    assert_eq!(ys_reserve(tx, &mut at), wide(FULL));
                    assert_eq!(ys_wait_room(tx, 0), FULL);
                    assert_eq!(ys_wait_room(tx, SOON), TIMEOUT);
                    (0..capacity).for_each(|_| assert_eq!(recv(rx), Ok(2)));
                }
                assert_eq!(ys_wait_room(tx, -1), OK);
                // Messages of a channel that closes stay the caller's.
                let slots = ys_reserve(tx, &mut at);
                (0..slots as usize).for_each(|slot| at.cast::<u64>().add(slot).write(slot as u64));
                assert_eq!(ys_rx_close(rx), OK);
                assert_eq!(ys_commit(tx, slots as usize), wide(CLOSED));
                (0..slots as usize).for_each(|slot| assert_eq!(at.cast::<u64>().add(slot).read(), slot as u64));
                assert_eq!(ys_wait_room(tx, -1), CLOSED);
                assert_eq!(ys_commit(tx, 0), 0);
            }
            free(tx, rx);
        }
    }
}

#[test]
fn a_reservation_is_discarded_once_and_only_while_it_is_valid() {
    let words = inline::Geometry::new((8, 8));
    for open in LANES {
        for window in [0, YS_WINDOW_VERSION] {
            let (tx, rx) = opened(open, &ys_options { window, ..options(8, 8, 0) });
            let (mut at, mut again) = (null_mut(), null_mut());
            // SAFETY: handles that were opened.
            unsafe {
                assert_eq!((ys_tx_discard(tx, null()), ys_tx_discard(tx, at)), (EINVAL, EINVAL));
                for round in 0..100 {
                    assert!(ys_reserve(tx, &mut at) >= 1);
                    // Read-only calls, and another's address, leave the slots reserved.
                    assert_eq!((ys_tx_len(tx), ys_tx_discard(tx, null())), (0, EINVAL));
                    assert_eq!(ys_tx_discard(tx, at.wrapping_byte_add(8)), EINVAL);
                    assert_eq!((ys_tx_discard(tx, at), ys_tx_discard(tx, at)), (OK, EINVAL));
                    assert_eq!(ys_commit(tx, 1), wide(EINVAL));
                    // The same slots for two: one of them has what is there.
                    assert!(ys_reserve(tx, &mut again) >= 1 && ys_reserve(tx, &mut at) >= 1 && at == again);
                    assert_eq!((ys_tx_discard(tx, at), ys_tx_discard(tx, again)), (OK, EINVAL));
                    assert!(ys_reserve(tx, &mut at) >= 1);
                    at.cast::<u64>().write(round);
                    match round % 3 {
                        0 => assert_eq!(send(tx, round), OK),
                        1 => assert_eq!(ys_commit(tx, 1), 1),
                        _ => {
                            // By the window, without the library, if there is one.
                            let sent = words.send(tx, &round.to_ne_bytes());
                            assert_eq!(sent.unwrap_or_else(|| send(tx, round)), OK);
                        }
                    }
                    assert_eq!((ys_tx_discard(tx, at), recv(rx)), (EINVAL, Ok(round)));
                }
                // What was made is the caller's also where the receiver has gone.
                assert!(ys_reserve(tx, &mut at) >= 1);
                assert_eq!((ys_rx_close(rx), ys_tx_discard(tx, at)), (OK, OK));
            }
            free(tx, rx);
        }
    }
}

#[test]
fn messages_are_seen_and_consumed_where_they_lie() {
    for open in LANES {
        let (tx, rx) = numbers(open, 0);
        let (mut at, mut next) = (null_mut(), 0_u64);
        // SAFETY: handles that were opened; only messages that are shown are read.
        unsafe {
            assert_eq!(ys_peek(rx, &mut at), wide(EMPTY));
            assert!(at.is_null());
            assert_eq!(ys_take(rx, &mut at, 0), EMPTY);
            assert_eq!(ys_take(rx, &mut at, SOON), TIMEOUT);
            assert_eq!(ys_wait(rx, 0), EMPTY);
            assert_eq!(ys_wait(rx, SOON), TIMEOUT);
            assert_eq!(ys_consume(rx, 1), EINVAL);
            (0..1000).for_each(|number| assert_eq!(send(tx, number), OK));
            assert_eq!((ys_wait(rx, 0), ys_wait(rx, -1)), (OK, OK));
            while next < 900 {
                let shown = ys_peek(rx, &mut at);
                assert!(shown >= 1);
                assert_eq!(ys_consume(rx, shown as usize + 1), EINVAL);
                (0..shown as usize).for_each(|slot| assert_eq!(at.cast::<u64>().add(slot).read(), next + slot as u64));
                // In two pieces.
                let some = shown as usize / 2;
                assert_eq!(ys_consume(rx, some), OK);
                assert_eq!(ys_rx_len(rx), (1000 - next) as isize - some as isize);
                assert_eq!(ys_consume(rx, shown as usize - some), OK);
                assert_eq!(ys_consume(rx, 1), EINVAL);
                next += shown as u64;
                assert_eq!(ys_take(rx, &mut at, -1), OK);
                assert_eq!(at.cast::<u64>().read(), next);
                next += 1;
            }
            // Any receive takes away what is shown.
            assert!(ys_peek(rx, &mut at) >= 1);
            assert_eq!(recv(rx), Ok(next));
            assert_eq!(ys_consume(rx, 1), EINVAL);
            ys_tx_free(tx);
            (next + 1..1000).for_each(|number| assert_eq!(recv(rx), Ok(number)));
            assert_eq!(ys_peek(rx, &mut at), wide(CLOSED));
            assert_eq!((ys_take(rx, &mut at, 0), ys_take(rx, &mut at, -1)), (CLOSED, CLOSED));
            assert_eq!((ys_wait(rx, 0), ys_wait(rx, -1)), (CLOSED, CLOSED));
            ys_rx_free(rx);
        }
    }
}

/// A message that was taken stays in place until the next call, whatever a sender does meanwhile.
#[test]
fn a_taken_message_is_not_written_over() {
    for open in LANES {
        for capacity in 1..=20 {
            let (tx, rx) = numbers(open, capacity);
            let mut at = null_mut();
            for round in 0..300_u64 {
                assert_eq!(send(tx, round), OK);
                // SAFETY: handles that were opened; a message that was taken is read.
                unsafe {
                    assert_eq!(ys_take(rx, &mut at, 0), OK);
                    let mut more = 0;
                    while try_send(tx, u64::MAX) == OK {
                        more += 1;
                    }
                    assert_eq!(at.cast::<u64>().read(), round);
                    (0..more).for_each(|_| assert_eq!(recv(rx), Ok(u64::MAX)));
                }
            }
            free(tx, rx);
        }
    }
}

/// Claim: In the C interface hidden messages become visible with a flush.
#[test]
fn hidden_messages_are_seen_after_a_flush() {
    for open in LANES {
        let (tx, rx) = numbers(open, 0);
        // SAFETY: handles that were opened, and messages.
        unsafe {
            assert_eq!(ys_flush(tx), OK);
            for number in 0..20_u64 {
                assert_eq!(ys_write(tx, address(&number)), OK);
            }
            assert_eq!(recv_for(rx, 0), Err(EMPTY));
            assert_eq!(ys_flush(tx), OK);
            (0..20).for_each(|number| assert_eq!(recv(rx), Ok(number)));
            // With what is hidden goes what is sent.
            assert_eq!(ys_write(tx, address(&1_u64)), OK);
            assert_eq!(send(tx, 2), OK);
            assert_eq!((recv(rx), recv(rx)), (Ok(1), Ok(2)));
            assert_eq!(ys_write(tx, address(&3_u64)), OK);
            let mut at = null_mut();
            assert!(ys_reserve(tx, &mut at) >= 1);
            at.cast::<u64>().write(4);
            assert_eq!(ys_commit(tx, 1), 1);
            assert_eq!((recv(rx), recv(rx)), (Ok(3), Ok(4)));
            assert_eq!(ys_write(tx, address(&5_u64)), OK);
            assert_eq!(ys_commit(tx, 0), 0);
            assert_eq!(recv(rx), Ok(5));
            assert_eq!(ys_write(tx, address(&6_u64)), OK);
            assert_eq!(ys_rx_close(rx), OK);
            assert_eq!(ys_flush(tx), CLOSED);
            assert_eq!(ys_flush(tx), CLOSED);
        }
        free(tx, rx);
    }
}

#[test]
fn what_a_kind_cannot_do_it_says() {
    let mut at = null_mut();
    let (mut other, mut other_rx) = (null_mut(), null_mut());
    // SAFETY: handles that were opened, and messages.
    unsafe {
        for open in [ys_exchange_open as Open, ys_oneshot_open] {
            let (tx, rx) = numbers(open, 0);
            assert_eq!(ys_write(tx, address(&1_u64)), ENOTSUP);
            assert_eq!(ys_flush(tx), ENOTSUP);
            assert_eq!(ys_reserve(tx, &mut at), wide(ENOTSUP));
            let none = wide(ENOTSUP);
            assert_eq!((ys_commit(tx, 0), ys_commit(tx, 1), ys_commit(tx, usize::MAX)), (none, none, none));
            assert_eq!(ys_wait_room(tx, 0), ENOTSUP);
            assert_eq!(ys_peek(rx, &mut at), wide(ENOTSUP));
            assert_eq!((ys_consume(rx, 0), ys_consume(rx, 1), ys_consume(rx, usize::MAX)), (ENOTSUP, ENOTSUP, ENOTSUP));
            assert_eq!(ys_take(rx, &mut at, 0), ENOTSUP);
            free(tx, rx);
        }
        for open in [ys_pipe_open as Open, ys_oneshot_open] {
            let (tx, rx) = numbers(open, 0);
            assert_eq!(ys_tx_clone(tx, &mut other), ENOTSUP);
            assert_eq!(ys_rx_clone(rx, &mut other_rx), ENOTSUP);
            assert!(other.is_null() && other_rx.is_null());
            free(tx, rx);
        }
        let (tx, rx) = numbers(ys_exchange_open, 0);
        assert_eq!(ys_wait(rx, 0), ENOTSUP);
        free(tx, rx);
        let (tx, rx) = numbers(ys_oneshot_open, 0);
        assert_eq!(ys_tx_len(tx), wide(ENOTSUP));
        assert_eq!((ys_tx_set_spin(tx, 1), ys_rx_set_spin(rx, 1)), (ENOTSUP, ENOTSUP));
        assert_eq!((ys_wait(rx, 0), ys_wait(rx, SOON)), (EMPTY, TIMEOUT));
        assert_eq!(ys_send_batch(tx, address(&[8_u64, 9]), 2, -1), 1);
        assert_eq!((ys_wait(rx, -1), ys_wait(rx, 0), ys_rx_len(rx)), (OK, OK, 1));
        assert_eq!((recv(rx), recv(rx)), (Ok(8), Err(CLOSED)));
        free(tx, rx);
        for open in &KINDS[..3] {
            let (tx, rx) = numbers(*open, 0);
            for spin in 0..3 {
                assert_eq!((ys_tx_set_spin(tx, spin), ys_rx_set_spin(rx, spin)), (OK, OK));
            }
            for spin in [-1, 3, c_int::MAX] {
                assert_eq!((ys_tx_set_spin(tx, spin), ys_rx_set_spin(rx, spin)), (EINVAL, EINVAL));
            }
            free(tx, rx);
        }
    }
}

#[test]
fn clones_are_ends_of_the_same_channel() {
    // SAFETY: handles that were opened.
    unsafe {
        for open in [ys_funnel_open as Open, ys_exchange_open] {
            let (tx, rx) = numbers(open, 4);
            let (other_tx, other_rx) = numbers(open, 4);
            assert_ne!(ys_tx_channel(tx), ys_tx_channel(other_tx));
            let mut clone = null_mut();
            assert_eq!(ys_tx_clone(tx, &mut clone), OK);
            assert_eq!(ys_tx_channel(clone), ys_rx_channel(rx));
            assert_eq!((send(tx, 1), send(clone, 2)), (OK, OK));
            ys_tx_free(tx);
            let mut got = [recv(rx), recv(rx)];
            got.sort();
            assert_eq!(got, [Ok(1), Ok(2)]);
            assert_eq!(recv_for(rx, 0), Err(EMPTY));
            ys_tx_free(clone);
            assert_eq!(recv_for(rx, 0), Err(CLOSED));
            ys_rx_free(rx);
            free(other_tx, other_rx);
        }
        let (tx, rx) = numbers(ys_exchange_open, 0);
        let mut clone = null_mut();
        assert_eq!(ys_rx_clone(rx, &mut clone), OK);
        ys_rx_free(rx);
        assert_eq!(send(tx, 4), OK);
        assert_eq!(recv(clone), Ok(4));
        free(tx, clone);

        let (tx, rx) = opened(ys_funnel_open, &ys_options { senders: 2, ..options(8, 8, 1) });
        let (mut second, mut third) = (null_mut(), null_mut());
        assert_eq!(ys_tx_clone(tx, &mut second), OK);
        assert_eq!(ys_tx_clone(tx, &mut third), ETOOMANY);
        assert!(third.is_null());
        ys_tx_free(second);
        free(tx, rx);
    }
}

/// Any thread may read what never changes, also while another is inside, which changes the handle.
#[test]
fn any_thread_asks_an_end_that_is_in_use() {
    for open in KINDS {
        let (tx, rx) = numbers(open, 0);
        // SAFETY: handles that were opened.
        let (as_tx, as_rx) = unsafe { (ys_tx_channel(tx), ys_rx_channel(rx)) };
        assert!(as_tx == as_rx && !as_tx.is_null());
        let count = if is(open, ys_oneshot_open) { 1 } else { 1000 };
        let (sender, receiver) = (Moved(tx), Moved(rx));
        let sending = std::thread::spawn(move || {
            let tx = sender.end();
            (0..count).for_each(|number| assert_eq!(send(tx, number), OK));
        });
        let receiving = std::thread::spawn(move || {
            let rx = receiver.end();
            (0..count).for_each(|number| assert_eq!(recv(rx), Ok(number)));
        });
        for _ in 0..100 {
            // SAFETY: handles that were opened; any thread may ask this.
            unsafe {
                assert_eq!((ys_tx_stride(tx), ys_rx_stride(rx)), (8, 8));
                assert_eq!((ys_tx_channel(tx), ys_rx_channel(rx)), (as_tx, as_rx));
            }
        }
        sending.join().expect("all is sent");
        receiving.join().expect("all is received");
        free(tx, rx);
    }
}

#[test]
fn the_library_tells_about_itself() {
    // SAFETY: static texts.
    let text = |code| unsafe { CStr::from_ptr(ys_error_text(code)) }.to_str().expect("a text");
    let mut texts: Vec<_> = (-41..=0).map(text).collect();
    assert_eq!(text(5), text(0));
    assert_eq!(text(-41), text(c_int::MIN));
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), 42);
    // SAFETY: as above.
    assert_eq!(unsafe { CStr::from_ptr(ys_version()) }.to_str(), Ok(env!("CARGO_PKG_VERSION")));
    assert_eq!(ys_is_checked(), c_int::from(cfg!(feature = "checked")));
    let is_shut = cfg!(feature = "checked") || std::env::var_os("YSUITE_WINDOW").is_some_and(|value| value == "0");
    assert_eq!(ys_window_version(), if is_shut { 0 } else { YS_WINDOW_VERSION });
    let (tx, rx) = opened(ys_pipe_open, &ys_options { window: YS_WINDOW_VERSION, ..options(8, 8, 0) });
    // They stay shut as well where the system has no barrier for all threads: as Wine.
    if is_shut || cfg!(not(windows)) {
        assert_eq!((tx_is_shut(tx), rx_is_shut(rx)), (is_shut, is_shut));
    }
    free(tx, rx);
}

/// The library reads its environment once.
#[test]
fn windows_stay_shut_where_the_environment_says_so() {
    for value in ["0", "1"] {
        let ended = Command::new(std::env::current_exe().unwrap())
            .env("YSUITE_WINDOW", value)
            .args(["--exact", "the_library_tells_about_itself"])
            .output()
            .unwrap();
        assert!(ended.status.success(), "{value}: {}", String::from_utf8_lossy(&ended.stdout));
        assert!(String::from_utf8_lossy(&ended.stdout).contains("1 passed"), "{value}");
    }
}

/// Messages that do not lie as the library's own: of another size than their class, in groups of three.
///
/// Claim: In the C interface an unbounded batch is seen whole, for any message size.
#[test]
fn a_batch_without_a_bound_is_seen_whole() {
    for open in LANES {
        let (tx, rx) = opened(open, &options(12, 4, 0));
        let (ready, go) = numbers(open, 0);
        let (tx, go) = (Moved(tx), Moved(go));
        let sender = std::thread::spawn(move || {
            let (tx, go, batch) = (tx.end(), go.end(), [7_u32; 3 * 7]);
            for _ in 0..20_000 {
                // SAFETY: a handle that was opened, and this many messages.
                assert_eq!(unsafe { ys_send_batch(tx, batch.as_ptr().cast(), 7, -1) }, 7);
                assert_eq!(recv(go), Ok(1));
            }
            // SAFETY: not used any more.
            unsafe { (ys_tx_free(tx), ys_rx_free(go)) };
        });
        let mut batch = [0_u32; 3 * 7];
        for _ in 0..20_000 {
            // SAFETY: a handle that was opened, and enough room.
            assert_eq!(unsafe { ys_recv_batch(rx, place(&mut batch), 7, LONG) }, 7);
            assert_eq!(send(ready, 1), OK);
        }
        sender.join().expect("the sender is done");
        free(ready, rx);
    }
}

#[test]
fn ends_wait_for_each_other() {
    for open in &KINDS[..3] {
        let (tx, rx) = numbers(*open, 3);
        let tx = Moved(tx);
        let sender = std::thread::spawn(move || {
            let tx = tx.end();
            let many: Vec<u64> = (0..500).collect();
            (0..500).for_each(|number| assert_eq!(send(tx, number), OK));
            // SAFETY: a handle that was opened, and this many messages.
            assert_eq!(unsafe { ys_send_batch(tx, many.as_ptr().cast(), many.len(), -1) }, 500);
            // SAFETY: as above.
            assert_eq!(unsafe { ys_send_batch(tx, many.as_ptr().cast(), many.len(), LONG) }, 500);
            // SAFETY: not used any more.
            unsafe { ys_tx_free(tx) };
        });
        let mut numbers = [0_u64; 7];
        let mut expected = 0;
        loop {
            // SAFETY: a handle that was opened, and enough room.
            let some = unsafe { ys_recv_batch(rx, place(&mut numbers), 7, LONG) };
            if some == wide(CLOSED) {
                break;
            }
            for number in &numbers[..usize::try_from(some).expect("a count")] {
                assert_eq!(*number, expected % 500);
                expected += 1;
            }
        }
        assert_eq!(expected, 1500);
        sender.join().expect("the sender is done");
        // SAFETY: not used any more.
        unsafe { ys_rx_free(rx) };
    }
}
