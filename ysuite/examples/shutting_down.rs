//! Work is taken in until somebody says stop; what was accepted is still done, and what was not comes back to its sender.
//!
//! `cargo run --release -p ysuite --example shutting_down`

use std::sync::OnceLock;
use std::thread;

use ysuite::mpsc::{self, SharedSender};

/// Reached from any thread; each has a lane of its own.
static JOBS: OnceLock<SharedSender<u32>> = OnceLock::new();

const ENOUGH: u32 = 1_000;

/// Hands in jobs until one is refused. Returns how many were accepted.
fn customer(number: u32) -> u32 {
    let jobs = JOBS.get().expect("the shop is open");
    let accepted = (0..).take_while(|job| jobs.send(number + job).is_ok()).count();
    u32::try_from(accepted).expect("not so many")
}

fn main() {
    let (sender, mut jobs) = mpsc::bounded(16);
    JOBS.set(sender.share()).expect("once");
    let customers: Vec<_> = (0..4).map(|number| thread::spawn(move || customer(number))).collect();
    // Somebody else may only want to know when it is over.
    let watch = thread::spawn(move || sender.wait_closed());
    let before = jobs.iter().take(ENOUGH as usize).count();
    // From here on nothing is accepted; senders that wait for room are woken, and have their job back.
    jobs.close();
    let rest = jobs.iter().count();
    watch.join().expect("it is over");
    let accepted: u32 = customers.into_iter().map(|customer| customer.join().expect("a customer")).sum();
    assert_eq!(before + rest, accepted as usize);
    println!("{accepted} jobs accepted and done, {rest} of them after the close");
}
