//! A question takes the way back along with it: each asker gets its own answer. `cargo run -p ysuite --example oneshot`

use std::thread;
use std::time::Duration;

use ysuite::oneshot::{self, RecvTimeoutError};
use ysuite::spsc;

/// A number to be squared, and where to send the square.
struct Question(u64, oneshot::Sender<u64>);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut questions, mut asked) = spsc::unbounded();
    let server = thread::spawn(move || {
        for Question(number, answer) in asked.iter() {
            thread::sleep(Duration::from_millis(number));
            // An error says that nobody waits for this any more.
            if answer.send(number * number).is_err() {
                println!("{number}: nobody wants to know");
            }
        }
    });

    let (answer, reply) = oneshot::channel();
    questions.send(Question(7, answer))?;
    println!("7 squared is {}", reply.recv()?);

    // Who does not want to wait for ever sets a limit, and drops the receiver.
    let (answer, mut reply) = oneshot::channel();
    questions.send(Question(40, answer))?;
    match reply.recv_timeout(Duration::from_millis(5)) {
        Ok(square) => println!("40 squared is {square}"),
        Err(RecvTimeoutError::Timeout) => println!("40 takes too long"),
        Err(RecvTimeoutError::Disconnected) => println!("the server is gone"),
    }
    drop(reply);

    drop(questions);
    server.join().expect("the server ends in peace");
    Ok(())
}
