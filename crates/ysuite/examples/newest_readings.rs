//! A display that shows the newest readings and must never block the sensors: if the channel is full, a reading
//! replaces the oldest one. The display closes the channel when it has seen enough, and the sensors' next send fails.
//!
//! `cargo run --release -p ysuite --example newest_readings`

use std::thread;
use std::time::Duration;

use ysuite::mpmc;

fn main() {
    let (sender, receiver) = mpmc::bounded(8);

    let sensors: Vec<_> = (0..2)
        .map(|sensor| {
            let sender = sender.clone();
            thread::spawn(move || {
                let mut displaced = 0;
                for reading in 0_u64.. {
                    match sender.force_send((sensor, reading)) {
                        Ok(oldest) => displaced += u64::from(oldest.is_some()),
                        // The display has closed the channel.
                        Err(_) => return (reading, displaced),
                    }
                }
                unreachable!("the display closes the channel")
            })
        })
        .collect();

    for _ in 0..5 {
        thread::sleep(Duration::from_millis(2));
        let newest = receiver.try_iter().last();
        println!("newest reading of a sensor: {newest:?}");
    }
    receiver.close();
    for sensor in sensors {
        let (readings, displaced) = sensor.join().expect("no sensor panics");
        println!("{readings} readings, {displaced} times an older one was replaced");
    }
}
