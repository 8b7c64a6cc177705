//! A thread of the pool iterates, a task takes what comes: through a channel of async-channel.

use futures_lite::{StreamExt, future};

fn main() {
    const ITEMS: u64 = 3_000_000;
    let sum = future::block_on(blocking::Unblock::with_capacity(1024, 0..ITEMS).fold(0, |sum, item| sum + item));
    assert_eq!(sum, ITEMS * (ITEMS - 1) / 2);
}
