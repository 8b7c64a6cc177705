//! Jobs are accepted until the channel is closed. Accepted jobs are still done; a job that is refused goes back to its
//! sender.
//!
//! `cargo run --release -p ysuite --example shutting_down`

use std::sync::OnceLock;
use std::thread;

use ysuite::mpsc::{self, SharedSender};

/// Reached from any thread; each has a lane of its own.
static JOBS: OnceLock<SharedSender<u32>> = OnceLock::new();

const ENOUGH: u32 = 1_000;

/// Sends jobs until one is refused. Returns the number accepted.
fn customer(number: u32) -> u32 {
    let jobs = JOBS.get().expect("the shop is open");
    let accepted = (0..).take_while(|job| jobs.send(number + job).is_ok()).count();
    u32::try_from(accepted).expect("fewer than 2³²")
}

fn main() {
    let (sender, mut jobs) = mpsc::bounded(16);
    JOBS.set(sender.share()).expect("once");
    let customers: Vec<_> = (0..4).map(|number| thread::spawn(move || customer(number))).collect();
    // Another thread may only wait until the channel is closed.
    let watch = thread::spawn(move || sender.wait_closed());
    let before = jobs.iter().take(ENOUGH as usize).count();
    // From here on no job is accepted. Senders that wait for room are woken, and get their job back.
    jobs.close();
    let rest = jobs.iter().count();
    watch.join().expect("it is over");
    let accepted: u32 = customers.into_iter().map(|customer| customer.join().expect("a customer")).sum();
    assert_eq!(before + rest, accepted as usize);
    println!("{accepted} jobs accepted and done, {rest} of them after the close");
}
