//! Gives work to another program, and takes its answers: `work_out [ADDRESS]`, with `work_in` on the other side,
//! started before or after it, on this machine or on another. Connections may break meanwhile: no job is lost, none is
//! done twice.

use std::time::Duration;

use ysuite::spsc;
use ysuite_zmq::{Bridge, Closed, Error};

fn main() -> Result<(), Error> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "tcp://127.0.0.1:5555".to_owned());
    let (mut jobs, out) = spsc::bounded::<u64>(1_024);
    let bridge = Bridge::duplex::<_, [u64; 2]>(out).bind(address).bounded(1_024).pack(64).at_least_once();
    let (bridge, mut answers) = bridge.start()?;
    println!("jobs are given out at {}", bridge.addresses()[0]);

    let giving = std::thread::spawn(move || (0..10_000).try_for_each(|job| jobs.send(job)));
    let mut sum = 0;
    // Disconnected when the other program has answered all and is done.
    while let Ok([job, answer]) = answers.recv() {
        assert_eq!(answer, job * job);
        sum += answer;
    }
    match giving.join() {
        Ok(Ok(())) => println!("all is answered: {sum}"),
        _ => println!("the other program has stopped: {sum}"),
    }
    if let Closed::Unsent { messages, .. } = bridge.close(Duration::from_secs(5)) {
        println!("{messages} jobs were not received");
    }
    Ok(())
}
