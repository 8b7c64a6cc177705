//! How late is the writer of the log? A thread without a handle reads the channel's counts, while it runs and
//! afterwards.
//!
//! `cargo run -p ysuite --features statistics --example statistics`

use std::thread;
use std::time::Duration;

use ysuite::mpsc;

fn main() {
    let (sender, mut receiver) = mpsc::bounded(100);
    let observer = receiver.observer();

    let workers: Vec<_> = (0..3)
        .map(|worker| {
            let mut sender = sender.clone();
            thread::spawn(move || (0..2_000).for_each(|line| sender.send((worker, line)).expect("the log is written")))
        })
        .collect();
    drop(sender);
    let log = thread::spawn(move || receiver.iter().map(|(_, line)| line).sum::<u64>());

    for _ in 0..3 {
        let now = observer.statistics();
        println!("{} lines are on the way, at most {} of a worker", now.sent - now.received, now.high_water);
        thread::sleep(Duration::from_millis(1));
    }
    workers.into_iter().for_each(|worker| worker.join().expect("the worker does not panic"));
    log.join().expect("the log does not panic");

    // The channel is gone; its counts are not.
    let all = observer.statistics();
    assert_eq!((all.sent, all.received), (6_000, 6_000));
    println!("{all:?}");
}
