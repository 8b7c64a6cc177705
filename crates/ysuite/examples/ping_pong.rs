//! A request and its reply: two channels between two threads, each asleep while it has nothing to do.
//!
//! `cargo run --release -p ysuite --example ping_pong`

use std::thread;
use std::time::Instant;

use ysuite::spsc;

const ROUNDS: u32 = 100_000;

fn main() {
    let (mut ping, mut pinged) = spsc::bounded(1);
    let (mut pong, mut ponged) = spsc::bounded(1);

    let echo = thread::spawn(move || {
        for number in pinged.iter() {
            if pong.send(number).is_err() {
                break;
            }
        }
    });

    let start = Instant::now();
    for number in 0..ROUNDS {
        ping.send(number).expect("the echo listens");
        assert_eq!(ponged.recv(), Ok(number));
    }
    let each = start.elapsed() / ROUNDS;

    // The echo's iterator ends when no sender is left.
    drop(ping);
    echo.join().expect("the echo does not panic");
    println!("{ROUNDS} round trips, {} ns each", each.as_nanos());
}
