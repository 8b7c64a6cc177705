//! Messages of a pool through every kind of channel, with fewer blocks than the channels have room for: the senders
//! wait for the pool.

use std::thread;

use ysuite::pool::{Message, Pool};
use ysuite::{mpmc, mpsc, spsc};

use super::{all, guarded};

const MESSAGES: u64 = 30_000;

/// A message of a length of its own, whose bytes all have its number.
fn make(pool: &Pool, number: u64) -> Message {
    let mut message = pool.take(8 + (number % 400) as usize);
    message[..8].copy_from_slice(&number.to_ne_bytes());
    message[8..].fill(number as u8);
    message
}

/// Its number, if it is whole.
fn check(message: &Message) -> u64 {
    let number = u64::from_ne_bytes(message[..8].try_into().unwrap());
    assert_eq!(message.len() as u64, 8 + number % 400);
    assert!(message[8..].iter().all(|byte| *byte == number as u8));
    number
}

fn pool() -> Pool {
    Pool::new(&[(40, 50), (200, 200), (500, 100)]).unwrap()
}

fn assert_whole(pool: &Pool) {
    assert_eq!([8, 200, 500].map(|len| all(pool, len).len()), [50, 200, 100]);
}

#[test]
fn the_pipe() {
    guarded(|| {
        let pool = pool();
        let (mut sender, mut receiver) = spsc::unbounded();
        thread::scope(|scope| {
            scope.spawn(|| (0..MESSAGES).for_each(|number| sender.send(make(&pool, number)).unwrap()));
            (0..MESSAGES).for_each(|expected| assert_eq!(check(&receiver.recv().unwrap()), expected));
        });
        assert_whole(&pool);
    });
}

#[test]
fn the_funnel() {
    guarded(|| {
        let pool = pool();
        let (sender, mut receiver) = mpsc::unbounded();
        thread::scope(|scope| {
            for first in 0..3 {
                let (mut sender, pool) = (sender.clone(), &pool);
                scope.spawn(move || {
                    (first..MESSAGES).step_by(3).for_each(|number| sender.send(make(pool, number)).unwrap());
                });
            }
            drop(sender);
            let mut expected = [0, 1, 2];
            while let Ok(message) = receiver.recv() {
                let number = check(&message);
                assert_eq!(number, expected[(number % 3) as usize]);
                expected[(number % 3) as usize] += 3;
            }
            assert_eq!(expected.iter().sum::<u64>(), 3 * MESSAGES + 3);
        });
        assert_whole(&pool);
    });
}

#[test]
fn the_exchange() {
    guarded(|| {
        let pool = pool();
        let (sender, receiver) = mpmc::bounded(1_024);
        let sum = thread::scope(|scope| {
            for first in 0..2 {
                let (sender, pool) = (sender.clone(), &pool);
                scope.spawn(move || {
                    (first..MESSAGES).step_by(2).for_each(|number| sender.send(make(pool, number)).unwrap());
                });
            }
            drop(sender);
            let readers = [receiver.clone(), receiver]
                .map(|receiver| scope.spawn(move || receiver.iter().map(|message| check(&message)).sum::<u64>()));
            readers.map(|reader| reader.join().unwrap()).iter().sum::<u64>()
        });
        assert_eq!(sum, MESSAGES * (MESSAGES - 1) / 2);
        assert_whole(&pool);
    });
}
