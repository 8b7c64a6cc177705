//! Jobs over processes and machines. Submitters, anywhere, ask a coordinator over ZeroMQ; it hands their jobs to worker processes
//! by shared memory, and answers each when it is done. Workers may die, hang or be killed: their jobs go to others.
//!
//! ```sh
//! jobs coordinate tcp://127.0.0.1:5555 3       # with three workers; ends with its standard input
//! jobs ask tcp://127.0.0.1:5555 1000036000099  # the smallest factor
//! jobs progress NAME                           # as `coordinate` has printed it
//! jobs lived --jobs 100000 --seed 1            # all of it at once, for a while, with a killer; see `lived`
//! ```

mod coordinator;
mod lived;
mod plan;
mod protocol;
mod submit;
mod task;
mod worker;

use std::process::ExitCode;

/// Of any thread.
type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

const USAGE: &str = "jobs coordinate ADDRESS WORKERS [NAME]
jobs ask ADDRESS NUMBER
jobs progress NAME
jobs lived [--jobs N] [--seconds S] [--seed S] [--workers W] [--submitters M] [--every JOBS] [--sample MS] [--out FOLDER]";

fn run(words: &[&str]) -> Outcome<bool> {
    match words {
        ["coordinate", address, workers] => {
            coordinator::coordinate(address, workers.parse()?, &format!("jobs-{}", std::process::id()))?;
        }
        ["coordinate", address, workers, name] => coordinator::coordinate(address, workers.parse()?, name)?,
        ["ask", address, number] => println!("{:?}", submit::ask(address, number.parse()?)?),
        ["progress", name] => submit::progress(name)?,
        ["lived", options @ ..] => return lived::live(&lived::Settings::read(options)?),
        // These two are started by the others.
        ["work", name] => worker::work(name)?,
        ["submit", address, name, seed] => submit::submit(address, name, seed.parse()?)?,
        _ => return Err(USAGE.into()),
    }
    Ok(true)
}

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args().skip(1).collect();
    match run(&words.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(cause) => {
            eprintln!("{cause}");
            ExitCode::FAILURE
        }
    }
}
