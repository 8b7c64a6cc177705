//! A thread that receives several types: numbers, words, a question, and a request to stop that overtakes the others.
//!
//! `cargo run --release -p ysuite --example mailbox`

use ysuite::mailbox::{Address, LinkTerminated, Mailbox};
use ysuite::receive;

struct Stop;

fn collect(mailbox: &mut Mailbox) {
    let (mut sum, mut words) = (0, Vec::new());
    loop {
        let received = receive!(mailbox => {
            number: u64 => sum += number,
            word: &'static str where !word.is_empty() => words.push(word),
            client: Address => client.send((sum, words.join(" "))).expect("the client waits for the result"),
            _: Stop => return,
            // Any message without a handler above: here, the empty word.
            other => println!("there is no handler for {other:?}"),
        });
        received.expect("an address exists until the request to stop");
    }
}

fn main() {
    let mut mailbox = Mailbox::new();
    let collector = mailbox.spawn_linked(collect);
    for (number, word) in [(1, "any"), (2, "message"), (39, "")] {
        collector.send(number as u64).expect("it is there");
        collector.send(word).expect("it is there");
    }
    collector.send(mailbox.address()).expect("it is there");
    println!("{:?}", mailbox.receive::<(u64, String)>().expect("a result"));

    collector.send_priority(Stop).expect("it is there");
    println!("{}", mailbox.receive::<LinkTerminated>().expect("it stops"));
}
