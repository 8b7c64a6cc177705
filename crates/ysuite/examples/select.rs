//! Waits for A, or B, or until the time is up. `cargo run -p ysuite --example select`

use std::thread;
use std::time::Duration;

use ysuite::{signal::ReadySet, spsc};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut readings, mut readings_in) = spsc::unbounded();
    let (mut orders, mut orders_in) = spsc::unbounded();

    thread::spawn(move || {
        for degrees in [19, 20, 22] {
            readings.send(degrees).expect("a listener");
            thread::sleep(Duration::from_millis(3));
        }
    });
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(25));
        orders.send("stop").expect("a listener");
    });

    let mut select = ReadySet::new();
    let (reading, order) = (select.add(&mut readings_in)?, select.add(&mut orders_in)?);
    loop {
        // A receiver is named again until it has found itself empty, which `try_iter` does.
        match select.wait_timeout(Duration::from_millis(5)) {
            Some(id) if id == reading => readings_in.try_iter().for_each(|degrees| println!("{degrees} degrees")),
            Some(id) if id == order => orders_in.try_iter().for_each(|order| println!("an order: {order}")),
            _ => println!("nothing for five milliseconds"),
        }
        // A disconnected receiver is named until it is removed.
        if readings_in.is_disconnected() && readings_in.is_empty() {
            select.remove(&mut readings_in);
        }
        if orders_in.is_disconnected() && orders_in.is_empty() {
            return Ok(());
        }
    }
}
