//! Asks and answers, in one program or in two: `question answer ADDRESS` answers, `question ask ADDRESS` asks a thousand times,
//! and `question` alone does both. Either may talk to the other's counterpart in any language: a REP or ROUTER, a REQ or
//! DEALER.

use std::env;
use std::thread;
use std::time::Duration;

use ysuite_zmq::{Bridge, Closed, Error};

/// Binds, and answers until the other thread, or the program, ends.
fn answer(address: &str) -> Result<(String, thread::JoinHandle<usize>), Error> {
    let (bridge, mut questions) = Bridge::answer::<String, String>().bind(address).start()?;
    let there = bridge.addresses()[0].clone();
    let answers = thread::spawn(move || {
        let mut answered = 0;
        while let Ok(question) = questions.recv() {
            let is_last = question.message == "bye";
            let answer = format!("{} to you", question.message);
            answered += usize::from(question.answer(answer).is_ok());
            if is_last {
                break;
            }
        }
        // The one that asked may go as soon as it has its answer.
        let _: Closed = bridge.close(Duration::from_secs(5));
        answered
    });
    Ok((there, answers))
}

fn ask(address: &str) -> Result<(), Error> {
    let (bridge, asker) = Bridge::ask::<String, String>().connect(address).timeout(Duration::from_secs(10)).start()?;
    // Many at once: each has its own answer, whatever comes first.
    let pending: Vec<_> = (0..999).filter_map(|number| asker.begin(format!("good day {number}")).ok()).collect();
    let answers = pending.into_iter().filter_map(|pending| pending.wait().ok()).count();
    match asker.ask("bye".to_owned()) {
        Ok(last) => println!("{answers} answers, and {last}"),
        Err(unanswered) => println!("{answers} answers, and then: {unanswered}"),
    }
    println!("all was answered: {:?}", bridge.close(Duration::from_secs(5)));
    Ok(())
}

fn main() -> Result<(), Error> {
    let words: Vec<_> = env::args().skip(1).collect();
    match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["ask", address] => ask(address)?,
        ["answer", address] => {
            let (there, answers) = answer(address)?;
            println!("answers at {there}");
            println!("{} questions", answers.join().unwrap_or_default());
        }
        _ => {
            let (there, answers) = answer("tcp://127.0.0.1:*")?;
            ask(&there)?;
            println!("{} questions", answers.join().unwrap_or_default());
        }
    }
    Ok(())
}
