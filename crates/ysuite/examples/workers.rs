//! Work for any free worker: several producers, several workers, one bounded queue. A full queue slows the producers
//! down; an idle worker costs nothing.
//!
//! `cargo run --release -p ysuite --example workers`

use std::thread;

use ysuite::mpmc;

fn main() {
    let (sender, receiver) = mpmc::bounded(256);

    let workers: Vec<_> = (0..3)
        .map(|_| {
            let receiver = receiver.clone();
            // Each worker takes the next piece of work, and ends when no producer is left.
            thread::spawn(move || receiver.iter().fold((0, 0), |(done, sum), work: u64| (done + 1, sum + work % 97)))
        })
        .collect();
    let producers: Vec<_> = (0..2)
        .map(|producer| {
            let sender = sender.clone();
            thread::spawn(move || (0..50_000).for_each(|work| sender.send(work * 2 + producer).expect("a worker")))
        })
        .collect();
    // The channel is disconnected with the last of its senders; these two handles belong to the main thread.
    drop((sender, receiver));

    producers.into_iter().for_each(|producer| producer.join().expect("no producer panics"));
    let done: Vec<_> = workers.into_iter().map(|worker| worker.join().expect("no worker panics")).collect();
    assert_eq!(done.iter().map(|(done, _)| done).sum::<u64>(), 100_000);
    println!("pieces of work done by each worker: {:?}", done.iter().map(|(done, _)| done).collect::<Vec<_>>());
}
