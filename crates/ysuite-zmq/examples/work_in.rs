//! Takes work from another program, and answers: `work_in [ADDRESS]`, with `work_out` on the other side.

use std::time::Duration;

use ysuite::spsc;
use ysuite_zmq::{Bridge, Closed, Error};

fn main() -> Result<(), Error> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "tcp://127.0.0.1:5555".to_owned());
    let (mut answers, out) = spsc::bounded::<[u64; 2]>(1_024);
    let bridge = Bridge::duplex::<_, u64>(out).connect(address).bounded(1_024).pack(64).at_least_once();
    let (bridge, mut jobs) = bridge.start()?;
    let mut done = 0;
    // Disconnected when the other program has no more.
    while let Ok(job) = jobs.recv() {
        if answers.send([job, job * job]).is_err() {
            println!("no program takes answers any more");
            break;
        }
        done += 1;
    }
    drop(answers);
    match bridge.close(Duration::from_secs(5)) {
        Closed::Flushed => println!("{done} jobs done, all answers received"),
        Closed::Unsent { messages, .. } => println!("{done} jobs done, {messages} answers were not received"),
    }
    Ok(())
}
