//! One thread that serves everything, as the event loop of the thread article: its sockets are bridges. Readings come
//! from another program, or from another machine; a timer prints how many; any thread may post a function.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ysuite::hub::Hub;
use ysuite::spsc;
use ysuite_zmq::Bridge;

const READINGS: u64 = 10_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (station, readings) = Bridge::subscribe::<u64>().bind("tcp://127.0.0.1:*").bounded(1_024).start()?;
    let (_commands, orders) = Bridge::pull::<u64>().bind("tcp://127.0.0.1:*").bounded(16).start()?;

    let mut hub = Hub::new()?;
    // Both are written by handlers of the one thread, and read by it when it is done.
    let [count, sum] = [(); 2].map(|()| Arc::new(AtomicU64::new(0)));
    let counted = (count.clone(), sum.clone());
    hub.receive(readings, move |hub, reading| {
        // Its bridge is dropped after the hub.
        let Ok(reading) = reading else { return };
        counted.1.fetch_add(reading, Ordering::Relaxed);
        if counted.0.fetch_add(1, Ordering::Relaxed) + 1 == READINGS {
            hub.stop();
        }
    })?;
    hub.receive(orders, |_, order| println!("an order: {order:?}"))?;
    let looked = count.clone();
    hub.every(Duration::from_millis(20), move |_| println!("{} readings so far", looked.load(Ordering::Relaxed)));

    // Another program, as it would run elsewhere.
    let there = station.addresses()[0].clone();
    let handle = hub.handle();
    let sensor = std::thread::spawn(move || {
        let (mut sensor, out) = spsc::bounded::<u64>(1_024);
        let mut publish = Bridge::publish(out).connect(there).pack(64).start().expect("a bridge");
        assert!(publish.wait_for_subscribers(1, Duration::from_secs(10)), "the station listens");
        let _ = handle.post(|_| println!("the sensor has begun"));
        (0..READINGS).try_for_each(|reading| sensor.send(reading)).expect("the bridge receives");
        publish.close(Duration::from_secs(10))
    });
    hub.run()?;
    println!("{} readings, {} in sum", count.load(Ordering::Relaxed), sum.load(Ordering::Relaxed));
    println!("the sensor's bridge: {:?}", sensor.join().expect("a sensor"));
    Ok(())
}
