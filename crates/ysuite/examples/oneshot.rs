//! A question carries the sender for its reply: each client gets its own reply. `cargo run -p ysuite --example oneshot`

use std::thread;
use std::time::Duration;

use ysuite::RecvTimeoutError;
use ysuite::oneshot;
use ysuite::spsc;

/// A number to be squared, and the sender for the square.
struct Question(u64, oneshot::Sender<u64>);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut questions, mut asked) = spsc::unbounded();
    let server = thread::spawn(move || {
        for Question(number, answer) in asked.iter() {
            thread::sleep(Duration::from_millis(number));
            // An error says that the client no longer waits for this.
            if answer.send(number * number).is_err() {
                println!("{number}: no client waits");
            }
        }
    });

    let (answer, reply) = oneshot::channel();
    questions.send(Question(7, answer))?;
    println!("7 squared is {}", reply.recv()?);

    // A client that does not want to wait for ever sets a time limit, and drops the receiver.
    let (answer, mut reply) = oneshot::channel();
    questions.send(Question(40, answer))?;
    match reply.recv_timeout(Duration::from_millis(5)) {
        Ok(square) => println!("40 squared is {square}"),
        Err(RecvTimeoutError::Timeout) => println!("40 takes too long"),
        Err(RecvTimeoutError::Disconnected) => println!("the server is gone"),
    }
    drop(reply);

    drop(questions);
    server.join().expect("the server does not panic");
    Ok(())
}
