//! Messages that come in batches travel in batches: written one by one, hidden, and published all at once.
//!
//! `cargo run --release -p ysuite --example batch`

use std::thread;

use ysuite::spsc;

fn main() {
    let (mut sender, mut receiver) = spsc::unbounded();

    let thread = thread::spawn(move || {
        for packet in 0..1_000_u64 {
            for reading in 0..30 {
                sender.write(packet * 30 + reading).expect("the receiver is there");
            }
            // The last reading of every tenth packet turns out to be wrong: no receiver has seen it yet.
            if packet % 10 == 9 {
                sender.unwrite();
            }
            sender.flush();
        }
    });

    // Waits for the first, then takes all messages that are there, whole batches or parts of them.
    let (mut readings, mut batches) = (Vec::new(), 0);
    while receiver.recv_batch(&mut readings, 4_096).is_ok() {
        batches += 1;
    }
    thread.join().expect("the sender does not panic");
    assert_eq!(readings.len(), 30_000 - 100);
    println!("{} readings received in {batches} batches", readings.len());
}
