//! Suite: crossbeam-channel tests/golang.rs; upstream 26, carried over here 11, excluded 0.
//!
//! Go's own tests of its channels. Those that select with sends are in `crossbeam_golang_select.rs`.

use std::thread;

use ysuite::{TryRecvError, TrySendError};

use crate::common::{alone, choosing, crowds};
use crate::ends::{Kind, MEETING, Rx, Tx, first_of};
use crate::tools::{LONG, both, each};

carried! {
    fifo_asynch_fifo => crowds::all_then_all(Some(10), 10): Funnel Pipe;
    goroutines_main => from_the_right_to_the_left: Funnel Pipe;
    nonblock_main => asking_until_it_works: Funnel Pipe;
    select4_main => choosing::the_one_with_a_message(Some(1), 2): Exchange Funnel Pipe;
    select6_main => a_wait_between_two_receivers: Exchange;
    sieve1_main => primes: Funnel Pipe;
    zerosize_zero_size_struct => alone::messages_of_no_size(Some(1)): Funnel Pipe;
    zerosize_zero_size_array => alone::messages_of_no_size(None): Funnel Pipe;
    test_nonblock_recv_race => a_message_or_the_end: Exchange;
    test_nonblock_select_race => one_of_two_is_ready(false): Exchange;
    test_nonblock_select_race2 => one_of_two_is_ready(true): Exchange;
}

/// A hundred threads in a row, each handing one message on.
fn from_the_right_to_the_left(kind: Kind) {
    const THREADS: usize = 100;
    let (mut left, mut leftmost) = kind.open(Some(MEETING));
    let mut row = Vec::new();
    for _ in 0..THREADS {
        let (right, from_the_right) = kind.open(Some(MEETING));
        row.push((std::mem::replace(&mut left, right), from_the_right));
    }
    both(
        || each(row, |(mut to, mut from): (Tx<i32>, Rx<i32>)| to.send(from.recv().unwrap()).unwrap()),
        || {
            left.send(1).unwrap();
            assert_eq!(leftmost.recv(), Ok(1));
        },
    );
}

/// Without ever blocking: asks for room, and for a message, until there is some. Messages of four types.
fn asking_until_it_works(kind: Kind) {
    fn of<T: Clone + PartialEq + std::fmt::Debug + Send + Sync>(kind: Kind, bound: usize, message: T, another: T) {
        let (mut tx, mut rx) = kind.open(Some(bound));
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        let (mut rx, mut tx) = both(
            || {
                assert_eq!(rx.recv(), Ok(message.clone()));
                rx
            },
            || {
                let mut back = message.clone();
                while let Err(TrySendError::Full(again)) = tx.try_send(back) {
                    back = again;
                    thread::yield_now();
                }
                tx
            },
        );
        both(
            || tx.send(another.clone()).unwrap(),
            || {
                loop {
                    match rx.try_recv() {
                        Ok(message) => break assert_eq!(message, another),
                        Err(error) => assert_eq!(error, TryRecvError::Empty),
                    }
                    thread::yield_now();
                }
            },
        );
    }
    for bound in [MEETING, 1] {
        of(kind, bound, 123_i32, 234);
        of(kind, bound, 123_456_i64, 234_567);
        of(kind, bound, true, false);
        of(kind, bound, String::from("hello"), String::from("hello again"));
    }
}

/// A thread waits for one of two channels. Another thread waits for the first as well; the second has the message.
fn a_wait_between_two_receivers(kind: Kind) {
    let (mut tx_a, rx_a) = kind.open(Some(MEETING));
    let (mut tx_b, mut rx_b) = kind.open(Some(MEETING));
    let (mut done, mut is_done) = kind.open(Some(MEETING));
    let mut both_of_a = rx_a.split(2);
    let (mut other, mut own) = (both_of_a.pop().expect("two"), both_of_a.pop().expect("two"));
    thread::scope(|scope| {
        scope.spawn(move || other.recv().unwrap());
        scope.spawn(move || {
            assert_eq!(first_of(&mut [&mut own, &mut rx_b], LONG), Some((1, Ok(true))));
            done.send(true).unwrap();
            own.recv().unwrap();
        });
        scope.spawn(move || tx_b.send(true).unwrap());
        is_done.recv().unwrap();
        tx_a.send(true).unwrap();
        tx_a.send(true).unwrap();
    });
}

/// The sieve of Eratosthenes, a thread for each prime; all stop when no more primes are wanted.
fn primes(kind: Kind) {
    const PRIMES: [u32; 15] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47];
    thread::scope(|scope| {
        let (mut tx, mut numbers) = kind.open(Some(1));
        scope.spawn(move || (2..).take_while(|&number| tx.send(number).is_ok()).count());
        for expected in PRIMES {
            let prime = numbers.recv().unwrap();
            assert_eq!(prime, expected);
            let (mut tx, rest) = kind.open(Some(1));
            let mut rx = std::mem::replace(&mut numbers, rest);
            scope.spawn(move || rx.iter().filter(|number| number % prime != 0).all(|number| tx.send(number).is_ok()));
        }
    });
}

/// One message, two receivers, and the sender that goes meanwhile: neither gets the result that there is nothing *yet*.
fn a_message_or_the_end(kind: Kind) {
    for _ in 0..500 {
        let (mut tx, rx) = kind.open(Some(1));
        tx.send(1).unwrap();
        let mut receivers = rx.split(2);
        let mut asks = receivers.pop().expect("two");
        both(
            move || assert_ne!(asks.try_recv(), Err(TryRecvError::Empty)),
            move || {
                drop(tx);
                let _ = receivers[0].recv();
            },
        );
    }
}

/// A thread polls two channels; one has something at every moment (or is disconnected): that is what it finds.
fn one_of_two_is_ready(kind: Kind, by_its_end: bool) {
    for _ in 0..500 {
        let ((mut tx_a, rx_a), (tx_b, mut rx_b)) = (kind.open(Some(1)), kind.open(Some(1)));
        tx_a.send(1).unwrap();
        let mut both_of_a = rx_a.split(2);
        let (mut other, mut own) = (both_of_a.pop().expect("two"), both_of_a.pop().expect("two"));
        // The receivers stay until both are through: what is sent is received, or left.
        both(
            || assert!(first_of(&mut [&mut own, &mut rx_b], LONG).is_some()),
            || {
                let mut tx_b = Some(tx_b);
                if by_its_end {
                    drop(tx_b.take());
                } else {
                    tx_b.as_mut().expect("it is there").send(1).unwrap();
                }
                let _ = other.try_recv();
                tx_b
            },
        );
    }
}
