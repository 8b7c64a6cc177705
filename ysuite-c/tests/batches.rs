//! Batches that are longer than what an end moves at a time: as many as are asked for and there, in their order, and
//! nothing beside.

mod support;

use support::*;
use ysuite_c::*;

/// Around what an exchange receives at a time, 256, and beyond several times that.
const COUNTS: [usize; 9] = [1, 255, 256, 257, 511, 512, 513, 1000, 5000];

/// So many numbers are received by one call that asks for `max`; room beyond that is left alone.
fn received(rx: *mut ys_rx, max: usize, ns: i64, expected: core::ops::Range<u64>) {
    let mut room = vec![u64::MAX; max + 1];
    // SAFETY: an end that was opened, and as much room.
    let some = unsafe { ys_recv_batch(rx, room.as_mut_ptr().cast(), max, ns) };
    let (got, rest) = room.split_at(usize::try_from(some).expect("a count"));
    assert!(got.iter().copied().eq(expected), "{some} of {max}");
    assert!(rest.iter().all(|word| *word == u64::MAX));
}

fn send_batch(tx: *mut ys_tx, count: usize) {
    let numbers: Vec<u64> = (0..count as u64).collect();
    // SAFETY: an end that was opened, and so many messages.
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
                    // As many as are asked for, or fewer, or more.
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
                // What is left behind the end.
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
                // SAFETY: ends that were opened, so many messages, and as much room.
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

/// Several receivers of an exchange take long batches from each other: every message is received once, each one's in
/// order.
#[test]
fn receivers_of_an_exchange_share_long_batches() {
    const MESSAGES: u64 = 100_000;
    let (tx, rx) = numbers(ys_exchange_open, 0);
    let mut other = core::ptr::null_mut();
    // SAFETY: an end that was opened, and a place for another.
    assert_eq!(unsafe { ys_rx_clone(rx, &mut other) }, OK);
    let take_all = |rx: Moved<ys_rx>| {
        let rx = rx.end();
        let (mut got, mut room) = (Vec::new(), vec![0_u64; 600]);
        loop {
            // SAFETY: an end that was opened, and as much room.
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
        // SAFETY: an end that was opened, and so many messages.
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
