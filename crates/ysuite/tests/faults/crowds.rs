//! Very many channels at once, more receivers than there may be, and memory under full load.
//!
//! Claim: A hundred thousand channels work, and memory stays flat at full load.

use std::thread;
use std::time::{Duration, Instant};

use ysuite::Spin;
use ysuite::{broadcast, mpmc, mpsc, oneshot, spsc, watch};

use super::flows::FAMILY;
use super::support::process::{alone, resident};
use super::support::{guarded, panics};
use super::{is_long, messages};

/// A hundred thousand channels of six kinds, each with a message; all of them are there at the same time.
#[test]
fn a_hundred_thousand_channels() {
    guarded(|| {
        const EACH: usize = 20_000;
        let mut pipes: Vec<_> = (0..EACH).map(|_| spsc::bounded(1)).collect();
        let mut funnels: Vec<_> = (0..EACH).map(|_| mpsc::bounded(1)).collect();
        let exchanges: Vec<_> = (0..EACH).map(|_| mpmc::bounded(2)).collect();
        let (asks, answers): (Vec<_>, Vec<_>) = (0..EACH).map(|_| oneshot::channel()).unzip();
        let mut boards: Vec<_> = (0..EACH / 2).map(|_| watch::channel(0)).collect();
        let mut news: Vec<_> = (0..EACH / 2).map(|_| broadcast::bounded(2)).collect();
        let thread = thread::spawn(move || {
            for (number, ask) in asks.into_iter().enumerate() {
                ask.send(number).expect("a receiver");
            }
        });
        for (number, (sender, _)) in pipes.iter_mut().enumerate() {
            sender.send(number).unwrap();
        }
        for (number, (sender, _)) in funnels.iter_mut().enumerate() {
            sender.send(number).unwrap();
        }
        exchanges.iter().enumerate().for_each(|(number, (sender, _))| sender.send(number).unwrap());
        boards.iter().enumerate().for_each(|(number, (sender, _))| sender.send(number).unwrap());
        news.iter().enumerate().for_each(|(number, (sender, _))| sender.send(number).unwrap());
        assert!(pipes.iter_mut().map(|(_, receiver)| receiver.recv().unwrap()).eq(0..EACH));
        assert!(funnels.iter_mut().map(|(_, receiver)| receiver.recv().unwrap()).eq(0..EACH));
        assert!(exchanges.iter().map(|(_, receiver)| receiver.recv().unwrap()).eq(0..EACH));
        assert!(answers.into_iter().map(|answer| answer.recv().unwrap()).eq(0..EACH));
        assert!(boards.iter_mut().map(|(_, receiver)| *receiver.borrow_and_update()).eq(0..EACH / 2));
        assert!(news.iter_mut().map(|(_, receiver)| receiver.recv().unwrap()).eq(0..EACH / 2));
        thread.join().unwrap();
    });
}

/// The largest number: the next panics, and the channel goes on without it. Only in the long form: to join is to check
/// all that have, which takes minutes in unoptimised code.
#[test]
fn a_broadcast_of_too_many_receivers() {
    if !is_long() {
        return;
    }
    guarded(|| {
        const MOST: usize = 32_760;
        let (sender, first) = broadcast::bounded(4);
        let mut receivers = vec![first];
        while receivers.len() < MOST {
            receivers.push(sender.subscribe());
        }
        assert!(panics(|| drop(sender.subscribe())).contains("too many receivers"));
        assert!(panics(|| drop(receivers[7].clone())).contains("too many receivers"));
        assert_eq!(sender.receiver_count(), MOST);
        sender.send_batch([1, 2, 3, 4]).unwrap();
        for receiver in &mut receivers {
            assert!(receiver.try_iter().eq([1, 2, 3, 4]));
        }
        // One goes, and one may come.
        receivers.swap_remove(100);
        receivers.push(sender.subscribe());
        sender.send(5).unwrap();
        receivers.iter_mut().for_each(|receiver| assert_eq!(receiver.recv(), Ok(5)));
    });
}

/// Streams at full load, and all kinds of channels made and dropped, with memory as it was: half an hour in the long form.
#[test]
fn memory_stays_flat_under_full_load() {
    if !alone("crowds::memory_stays_flat_under_full_load") {
        return;
    }
    let time = Duration::from_secs(if is_long() { 1_800 } else { 2 });
    let (mut pipe, mut pipe_in) = spsc::bounded(1_000);
    let (exchange, exchange_in) = mpmc::bounded(1_000);
    let (mut lane, mut funnel_in) = mpsc::bounded(1_000);
    pipe_in.set_spin(Spin::Adaptive);
    thread::scope(|scope| {
        scope.spawn(move || while pipe.send(1_u64).is_ok() {});
        scope.spawn(move || while exchange.send(1_u64).is_ok() {});
        scope.spawn(move || while lane.send(1_u64).is_ok() {});
        let (begin, mut early, mut late, mut received) = (Instant::now(), None, 0, 0_u64);
        while begin.elapsed() < time {
            for _ in 0..10_000 {
                received += pipe_in.recv().unwrap() + exchange_in.recv().unwrap() + funnel_in.recv().unwrap();
            }
            let flows =
                || FAMILY.iter().for_each(|make| make(messages(20).min(400)).run(|_| {}, |_| thread::yield_now()));
            flows();
            late = resident();
            // What is made once has been made by then.
            if begin.elapsed() > time / 4 {
                early.get_or_insert(late);
            }
        }
        drop((pipe_in, exchange_in, funnel_in));
        let early = early.expect("more than one check");
        println!("{received} messages; {} KiB early, {} KiB at last", early >> 10, late >> 10);
        // The allocator keeps arenas for threads that come and go.
        assert!(late < early + (16 << 20), "memory has grown from {early} to {late} bytes");
    });
}
