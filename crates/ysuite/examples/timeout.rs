//! A thread that works when there is work, and does something else now and then when there is none.
//!
//! `cargo run -p ysuite --example timeout`

use std::thread;
use std::time::Duration;

use ysuite::spsc;
use ysuite::{RecvTimeoutError, SendTimeoutError};

fn main() {
    let (mut sender, mut receiver) = spsc::bounded(2);

    let worker = thread::spawn(move || {
        loop {
            match receiver.recv_timeout(Duration::from_millis(20)) {
                Ok(job) => println!("job {job}"),
                Err(RecvTimeoutError::Timeout) => println!("nothing to do"),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            thread::sleep(Duration::from_millis(2));
        }
    });

    for job in 0..10 {
        // `send_timeout` on a full channel returns the job instead of blocking for ever.
        match sender.send_timeout(job, Duration::from_millis(1)) {
            Ok(()) => {}
            Err(SendTimeoutError::Timeout(job)) => println!("too busy for job {job}"),
            Err(SendTimeoutError::Disconnected(_)) => break,
        }
    }
    thread::sleep(Duration::from_millis(70));
    drop(sender);
    worker.join().expect("the worker does not panic");
}
