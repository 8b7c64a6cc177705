//! Sends or receives, depending on which operation is ready first. `cargo run -p ysuite --example select_once`

use std::thread;
use std::time::Duration;

use ysuite::{mpmc, select, spsc};

enum Step {
    Sent,
    Stop(&'static str),
    Idle,
}

fn main() {
    // Room for one number: the sender often has to wait.
    let (mut numbers, mut numbers_in) = spsc::bounded(1);
    // A word is passed from hand to hand.
    let (words, words_in) = mpmc::bounded(0);
    thread::spawn(move || {
        (0..3).for_each(|_| println!("got {}", numbers_in.recv().expect("a sender")));
        words.send("enough").expect("a listener");
    });

    let mut next = 0;
    loop {
        // The message stays here if it is not sent.
        let mut message = Some(next);
        let step = select()
            .send_from(&mut numbers, &mut message, |sent| sent.map_or(Step::Stop("no receiver"), |()| Step::Sent))
            .recv(&words_in, |word| Step::Stop(word.unwrap_or("no sender")))
            .after(Duration::from_secs(1), || Step::Idle)
            .wait();
        match step {
            Step::Sent => next += 1,
            Step::Stop(word) => return println!("{word}, after {next} numbers"),
            Step::Idle => println!("nothing for a second"),
        }
    }
}
