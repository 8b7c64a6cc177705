//! Batches that are longer than what a handle moves at a time: all that are requested and available, in their order,
//! and nothing else.

mod support;

use support::*;
use ysuite_c::*;

/// Around what an mpmc receiver receives at a time, 256, and beyond several times that.
const COUNTS: [usize; 9] = [1, 255, 256, 257, 511, 512, 513, 1000, 5000];

/// This many numbers are received by one call that asks for `max`; room beyond that is not touched.
fn received(rx: *mut ys_rx, max: usize, ns: i64, expected: core::ops::Range<u64>) {
    let mut room = vec![u64::MAX; max + 1];
    // SAFETY: a handle that was opened, and enough room.
    let some = unsafe { ys_recv_batch(rx, room.as_mut_ptr().cast(), max, ns) };
    let (got, rest) = room.split_at(usize::try_from(some).expect("a count"));
    assert!(got.iter().copied().eq(expected), "{some} of {max}");
    assert!(rest.iter().all(|word| *word == u64::MAX));
}

fn send_batch(tx: *mut ys_tx, count: usize) {
    let numbers: Vec<u64> = (0..count as u64).collect();
    // SAFETY: a handle that was opened, and this many messages.
    assert_eq!(unsafe { ys_send_batch(tx, numbers.as_ptr().cast(), count, -1) }, count as isize);
}

#[test]
fn a_long_batch_is_received_by_one_call() {
    for open in &KINDS[..3] {
        for count in COUNTS {
            for capacity in [0, count] {
                let (tx, rx) = numbers(*open, capacity);
                for ns in [0, LONG, -1] {
                    let all = count as u64;
                    // The requested number, or fewer, or more.
                    send_batch(tx, count);
                    received(rx, count, ns, 0..all);
                    send_batch(tx, count);
                    received(rx, count + 300, ns, 0..all);
                    send_batch(tx, count);
                    received(rx, count.div_ceil(2), ns, 0..all.div_ceil(2));
                    if count > 1 {
                        received(rx, count, ns, all.div_ceil(2)..all);
                    }
                    assert_eq!(recv_for(rx, 0), Err(EMPTY));
                }
                // What is left after the disconnect.
                send_batch(tx, count);
                // SAFETY: not used any more.
                unsafe { ys_tx_free(tx) };
                received(rx, count + 300, -1, 0..count as u64);
                assert_eq!(recv(rx), Err(CLOSED));
                // SAFETY: as above.
                unsafe { ys_rx_free(rx) };
            }
        }
    }
}

/// Messages that are shorter than their slots go one by one into an array without gaps.
#[test]
fn long_batches_of_every_size_arrive() {
    for open in &KINDS[..3] {
        for size in [1, 5, 12, 20, 33, 100, 128] {
            for count in [256, 257, 700] {
                let (tx, rx) = opened(*open, &options(size, 1, 0));
                let bytes: Vec<u8> = (0..size * count).map(|at| (at * 7 + at / 251) as u8).collect();
                let mut back = vec![0_u8; size * count];
                // SAFETY: handles that were opened, this many messages, and room for them.
                unsafe {
                    assert_eq!(ys_send_batch(tx, bytes.as_ptr().cast(), count, -1), count as isize);
                    assert_eq!(ys_recv_batch(rx, back.as_mut_ptr().cast(), count, 0), count as isize);
                }
                assert!(back == bytes, "{count} of {size}");
                free(tx, rx);
            }
        }
    }
}

/// Several receivers of an mpmc channel compete for long batches: every message is received once, each one's in
/// order.
#[test]
fn receivers_of_an_mpmc_channel_share_long_batches() {
    const MESSAGES: u64 = 100_000;
    let (tx, rx) = numbers(ys_exchange_open, 0);
    let mut other = core::ptr::null_mut();
    // SAFETY: a handle that was opened, and a place for another.
    assert_eq!(unsafe { ys_rx_clone(rx, &mut other) }, OK);
    let take_all = |rx: Moved<ys_rx>| {
        let rx = rx.end();
        let (mut got, mut room) = (Vec::new(), vec![0_u64; 600]);
        loop {
            // SAFETY: a handle that was opened, and enough room.
            let some = unsafe { ys_recv_batch(rx, room.as_mut_ptr().cast(), room.len(), -1) };
            if some == wide(CLOSED) {
                break;
            }
            got.extend_from_slice(&room[..usize::try_from(some).expect("a count")]);
        }
        // SAFETY: not used any more.
        unsafe { ys_rx_free(rx) };
        got
    };
    let (one, two) = (Moved(rx), Moved(other));
    let threads = [std::thread::spawn(move || take_all(one)), std::thread::spawn(move || take_all(two))];
    for first in (0..MESSAGES).step_by(1000) {
        let batch: Vec<u64> = (first..first + 1000).collect();
        // SAFETY: a handle that was opened, and this many messages.
        assert_eq!(unsafe { ys_send_batch(tx, batch.as_ptr().cast(), batch.len(), -1) }, 1000);
    }
    // SAFETY: not used any more.
    unsafe { ys_tx_free(tx) };
    let got = threads.map(|thread| thread.join().expect("it has received"));
    assert!(got.iter().all(|numbers| numbers.is_sorted()));
    let mut all = got.concat();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..MESSAGES));
}

/// A batch of none of every waiting time, with room and without.
fn none(rx: *mut ys_rx) -> [isize; 6] {
    let mut room = u64::MAX;
    let nowhere = core::ptr::null_mut();
    // SAFETY: a handle that was opened; nothing is put anywhere.
    let said = unsafe {
        [0, LONG, -1].map(|ns| [ys_recv_batch(rx, place(&mut room), 0, ns), ys_recv_batch(rx, nowhere, 0, ns)])
    };
    assert_eq!(room, u64::MAX);
    said.concat().try_into().expect("six")
}

const MAY_GO_ON: [isize; 6] = [0; 6];
const IS_OVER: [isize; 6] = [wide(CLOSED); 6];

/// It never waits, and reports when nothing more will come: a loop over a computed number stops then.
///
/// Claim: In the C interface an empty batch never waits, takes no message, and reports a disconnection.
#[test]
fn a_batch_of_none_says_when_nothing_more_will_come() {
    for open in KINDS {
        let capacities: &[usize] = if is(open, ys_oneshot_open) { &[0] } else { &[0, 2] };
        for (capacity, window) in capacities.iter().flat_map(|most| [(*most, 0), (*most, YS_WINDOW_VERSION)]) {
            let opened = || opened(open, &ys_options { window, ..options(8, 8, capacity) });
            // The sender goes.
            let (tx, rx) = opened();
            assert_eq!(none(rx), MAY_GO_ON);
            assert_eq!((send(tx, 7), none(rx)), (OK, MAY_GO_ON));
            // SAFETY: a handle that was opened, and is used no more.
            unsafe { ys_tx_free(tx) };
            assert_eq!((none(rx), recv(rx), none(rx), none(rx)), (MAY_GO_ON, Ok(7), IS_OVER, IS_OVER));
            // SAFETY: as above.
            unsafe { ys_rx_free(rx) };
            // The channel is closed by its receiver, and by its sender.
            let (tx, rx) = opened();
            // SAFETY: a handle that was opened.
            assert_eq!((unsafe { ys_rx_close(rx) }, none(rx)), (OK, IS_OVER));
            free(tx, rx);
            let (tx, rx) = opened();
            // SAFETY: as above.
            assert_eq!((unsafe { ys_tx_close(tx) }, none(rx)), (OK, IS_OVER));
            free(tx, rx);
        }
    }
}

/// A message that was waited for is still there, also where the channel keeps it no more.
#[test]
fn a_batch_of_none_tells_no_end_before_a_message_that_was_waited_for() {
    for open in [ys_pipe_open as Open, ys_funnel_open, ys_oneshot_open] {
        let (tx, rx) = numbers(open, 0);
        assert_eq!(send(tx, 7), OK);
        // SAFETY: handles that were opened; one is used no more.
        unsafe {
            ys_tx_free(tx);
            assert_eq!(ys_wait(rx, -1), OK);
        }
        assert_eq!((none(rx), recv(rx), none(rx)), (MAY_GO_ON, Ok(7), IS_OVER));
        // SAFETY: as above.
        unsafe { ys_rx_free(rx) };
    }
}

/// It takes nothing: what is shown stays so, of the lane that has shown it.
#[test]
fn a_batch_of_none_leaves_what_is_shown() {
    for (open, window) in LANES.into_iter().flat_map(|open| [(open, 0), (open, YS_WINDOW_VERSION)]) {
        let (tx, rx) = opened(open, &ys_options { window, ..options(8, 8, 0) });
        let mut other = core::ptr::null_mut();
        (0..3).for_each(|number| assert_eq!(send(tx, number), OK));
        // SAFETY: handles that were opened, and places.
        unsafe {
            if ys_tx_clone(tx, &mut other) == OK {
                assert_eq!(send(other, 9), OK);
            }
            let mut at = core::ptr::null_mut();
            assert_eq!(ys_peek(rx, &mut at), 3);
            for number in 0..3 {
                assert_eq!((none(rx), ys_consume(rx, 1)), (MAY_GO_ON, OK), "{number}");
            }
            assert_eq!(ys_consume(rx, 1), EINVAL);
            ys_tx_free(tx);
            if !other.is_null() {
                assert_eq!(recv(rx), Ok(9));
                ys_tx_free(other);
            }
            assert_eq!(none(rx), IS_OVER);
            ys_rx_free(rx);
        }
    }
}

/// Nothing is waited for, so nothing is stopped; and the id of a handle in a set stays as it is.
#[test]
fn a_batch_of_none_finds_nothing_and_is_not_stopped() {
    for open in KINDS {
        let (tx, rx) = numbers(open, 0);
        let (mut set, mut stopper, mut id) = (core::ptr::null_mut(), core::ptr::null_mut(), 0);
        // SAFETY: handles that were opened, places, and what was put there.
        unsafe {
            assert_eq!(ys_set_open(4, &mut set), OK);
            assert_eq!(ys_set_attach_rx(set, rx, 3), OK);
            assert_eq!(none(rx), MAY_GO_ON);
            assert_eq!((ys_set_wait(set, &mut id, 1, 0), id), (1, 3), "an id is up at first");
            assert_eq!(recv_for(rx, 0), Err(EMPTY));
            assert_eq!(none(rx), MAY_GO_ON);
            assert_eq!(ys_set_wait(set, &mut id, 1, 0), wide(EMPTY));
            assert_eq!(ys_rx_stopper(rx, &mut stopper), OK);
            assert_eq!((ys_stop(stopper), none(rx)), (OK, MAY_GO_ON));
            ys_tx_free(tx);
            assert_eq!(none(rx), IS_OVER);
            ys_stopper_free(stopper);
            ys_rx_free(rx);
            ys_set_free(set);
        }
    }
}

/// As an iterator that has nothing, in Rust: what was hidden is shown, and a receiver that is gone is no error.
///
/// Claim: In the C interface sending an empty batch publishes hidden messages.
#[test]
fn a_batch_of_none_that_is_sent_shows_what_was_hidden() {
    let nowhere = core::ptr::null();
    for (open, window) in KINDS.into_iter().flat_map(|open| [(open, 0), (open, YS_WINDOW_VERSION)]) {
        for ns in [0, LONG, -1] {
            let count = Count::default();
            let (tx, rx) = opened(open, &ys_options { window, ..count.of_numbers(0) });
            // SAFETY: handles that were opened, and messages.
            unsafe {
                assert_eq!(ys_send_batch(tx, nowhere, 0, ns), 0);
                assert_eq!(recv_for(rx, 0), Err(EMPTY));
                if is_lane(open) {
                    assert_eq!(ys_write(tx, address(&7_u64)), OK);
                    assert_eq!(recv_for(rx, 0), Err(EMPTY));
                    assert_eq!(ys_send_batch(tx, nowhere, 0, ns), 0);
                    assert_eq!(recv_for(rx, 0), Ok(7));
                    assert_eq!(ys_write(tx, address(&8_u64)), OK);
                }
                ys_rx_free(rx);
                assert_eq!(ys_send_batch(tx, nowhere, 0, ns), 0);
                // As by a flush, what was hidden is dropped there, and not when the sender goes.
                assert_eq!(count.sum(), if is_lane(open) { 8 } else { 0 });
                ys_tx_free(tx);
            }
        }
    }
}
