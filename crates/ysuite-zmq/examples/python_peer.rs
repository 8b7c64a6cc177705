//! Does jobs that a program in Python sends, `python_peer.py`, and answers it: `python_peer` prints two addresses and the key of the
//! server, and waits for `python_peer.py PULL PUSH SERVER-KEY PUBLIC-KEY SECRET-KEY`. Both use CURVE: no other program
//! can send a job or read an answer.

use std::time::Duration;

use ysuite::spsc;
use ysuite_zmq::{Bridge, Closed, Error, KeyPair};

/// As Python has it: `struct.Struct('<Qd')`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Job {
    number: u64,
    price: f64,
}

// SAFETY: two words without padding, of which every pattern of bits is one.
unsafe impl ysuite_zmq::bytemuck::Zeroable for Job {}
// SAFETY: as above.
unsafe impl ysuite_zmq::bytemuck::Pod for Job {}
ysuite_zmq::record!(Job);

fn main() -> Result<(), Error> {
    let (own, python) = (KeyPair::generate()?, KeyPair::generate()?);
    let pull = Bridge::pull::<Job>().bind("tcp://127.0.0.1:*").bounded(256);
    let (pull, mut jobs) = pull.curve_server(own.clone(), [python.public()]).start()?;
    let (mut answers, out) = spsc::bounded::<Job>(256);
    let push = Bridge::push(out).bind("tcp://127.0.0.1:*").pack(64);
    let push = push.curve_server(own.clone(), [python.public()]).start()?;
    let words = [&pull.addresses()[0], &push.addresses()[0], &own.public().to_string(), &python.public().to_string()];
    println!("{} {} {} {} {}", words[0], words[1], words[2], words[3], python.secret());

    // A job of no number is the last.
    while let Ok(job) = jobs.recv() {
        if job.number == u64::MAX || answers.send(Job { price: job.price * 2.0, ..job }).is_err() {
            break;
        }
    }
    drop(answers);
    match push.close(Duration::from_secs(5)) {
        Closed::Flushed => println!("all answers have left"),
        // The other program has gone already: it alone knows whether it had them all.
        Closed::Unsent { messages: 0, more: true } => println!("all answers have left, or went with the connection"),
        unsent => println!("{unsent:?}"),
    }
    Ok(())
}
