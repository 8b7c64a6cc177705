//! Messages of many lengths, written once and never copied: a pointer passes through the channel, and the last owner of
//! a message gives its memory back to the pool.
//!
//! `cargo run --release -p ysuite --example pool`

use std::thread;

use ysuite::pool::{Message, Pool, PoolError};
use ysuite::spsc;

fn main() -> Result<(), PoolError> {
    // Short messages and long ones. No message is longer than 4 KiB.
    let pool = Pool::new(&[(64, 1_024), (512, 256), (4_096, 64)])?;
    let (mut sender, mut receiver) = spsc::unbounded::<Message>();

    let reader = thread::spawn(move || {
        // Each message goes back to its pool here.
        receiver.iter().map(|message| message.iter().map(|byte| u64::from(*byte)).sum::<u64>()).sum::<u64>()
    });
    let mut sent = 0;
    for number in 0..100_000_usize {
        let len = 1 + number * 31 % 4_096;
        // If the reader still has all blocks of this size, this waits for it: a bound for memory.
        let mut message = pool.take(len);
        message.fill(number as u8);
        sent += len as u64 * u64::from(number as u8);
        sender.send(message).expect("a reader");
    }
    drop(sender);

    assert_eq!(reader.join().expect("a sum"), sent);
    for class in pool.stats() {
        println!("{class:?}");
    }
    Ok(())
}
