//! Messages, a heartbeat and a deadline, in one loop and without another thread. `cargo run -p ysuite --example timers`

use std::thread;
use std::time::Duration;

use ysuite::{signal::ReadySet, spsc, timer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut orders, mut orders_in) = spsc::unbounded();
    thread::spawn(move || {
        for order in ["tea", "cake", "the bill"] {
            thread::sleep(Duration::from_millis(12));
            orders.send(order).expect("a waiter");
        }
    });

    let heartbeat = timer::tick(Duration::from_millis(10));
    let end = timer::after(Duration::from_millis(60));
    let mut select = ReadySet::new();
    let order = select.add(&mut orders_in)?;
    let (beat, closing) = (select.add_timer(&heartbeat)?, select.add_timer(&end)?);
    loop {
        match select.wait() {
            id if id == order => {
                orders_in.try_iter().for_each(|order| println!("{order}, please"));
                if orders_in.is_disconnected() && orders_in.is_empty() {
                    select.remove(&mut orders_in);
                }
            }
            // A missed tick is skipped: there is at most one.
            id if id == beat => heartbeat.try_iter().for_each(|_| println!("still here")),
            id if id == closing => break,
            _ => {}
        }
    }
    println!("closed");
    Ok(())
}
