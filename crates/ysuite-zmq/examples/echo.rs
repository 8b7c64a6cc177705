//! Sends back what comes over a duplex, until the other side has no sender any more. The other side may be another program in any
//! language: `examples/duplex-python` is one.
//!
//! ```sh
//! cargo run -p ysuite-zmq --example echo -- tcp://127.0.0.1:5555
//! ```

use std::time::Duration;

use ysuite::spsc;
use ysuite_zmq::Bridge;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let there = std::env::args().nth(1).unwrap_or_else(|| "tcp://127.0.0.1:5555".to_owned());
    let (mut back, out) = spsc::bounded::<Vec<u8>>(64);
    let duplex = Bridge::duplex::<_, Vec<u8>>(out).bind(there).bounded(64).at_least_once();
    let (duplex, mut messages) = duplex.start()?;
    println!("listens at {}", duplex.addresses()[0]);
    let mut count = 0_u64;
    while let Ok(message) = messages.recv() {
        back.send(message)?;
        count += 1;
    }
    drop(back);
    println!("{count} messages sent back: {:?}", duplex.close(Duration::from_secs(10)));
    Ok(())
}
