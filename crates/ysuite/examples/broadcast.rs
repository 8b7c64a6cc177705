//! Every listener gets every price; a slow listener learns how many it missed.
//!
//! `cargo run --release --example broadcast`

use std::thread;
use std::time::Duration;

use ysuite::broadcast::{self, RecvError};

const PRICES: u64 = 200_000;

fn main() {
    // With `bounded` the slow listener would block the sender instead.
    let (sender, receiver) = broadcast::lossy(1024);
    let listeners: Vec<_> = [("quick", None), ("slow", Some(Duration::from_micros(50)))]
        .into_iter()
        .map(|(name, pause)| {
            let mut receiver = receiver.clone();
            thread::spawn(move || {
                let mut seen = 0;
                loop {
                    match receiver.recv() {
                        Ok(_price) => seen += 1,
                        Err(RecvError::Lagged(_)) => {}
                        Err(RecvError::Disconnected) => break,
                    }
                    pause.inspect(|pause| thread::sleep(*pause));
                }
                println!("the {name} listener saw {seen} prices and missed {}", receiver.missed());
                assert_eq!(seen + receiver.missed(), PRICES);
            })
        })
        .collect();
    drop(receiver);
    for price in 0..PRICES {
        sender.send(price).expect("a listener");
    }
    drop(sender);
    listeners.into_iter().for_each(|listener| listener.join().expect("no panic"));
}
