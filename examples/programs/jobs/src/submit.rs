//! Who asks: a submitter of a [life](crate::lived), with several threads; and what a person at a terminal needs.

use std::thread;
use std::time::{Duration, Instant};

use ysuite_shm::{Sender, WatchReceiver, WorkReceiver, connect};
use ysuite_zmq::{Asker, Bridge, Started};

use crate::Outcome;
use crate::plan::Plan;
use crate::protocol::{Answer, Progress, Request, Task, Work, progress as name_of_progress};

/// Jobs that a submitter has open at a time.
pub(crate) const THREADS: usize = 8;

/// What a submitter tells of a job: its number, whether it was answered as it must be, and after how many nanoseconds.
pub(crate) type Verdict = [u64; 3];

/// Where a life gives out the numbers of jobs.
pub(crate) fn numbers(name: &str) -> String {
    format!("{name}-numbers")
}

/// Where it takes the verdicts.
pub(crate) fn verdicts(name: &str) -> String {
    format!("{name}-verdicts")
}

type AskBytes = Asker<Vec<u8>, Vec<u8>>;

fn asker(address: &str) -> Result<(Started, AskBytes), ysuite_zmq::Error> {
    Bridge::ask().connect(address).timeout(Duration::from_secs(60)).start()
}

/// Asks until the life of this name gives out no more.
pub(crate) fn submit(address: &str, name: &str, seed: u64) -> Outcome<()> {
    let (bridge, asker) = asker(address)?;
    let all: Vec<_> = (0..THREADS)
        .map(|_| {
            let (name, asker) = (name.to_owned(), asker.clone());
            thread::spawn(move || ask_all(&name, seed, &asker))
        })
        .collect();
    for one in all {
        one.join().map_err(|_| "a thread has panicked")??;
    }
    let _ = bridge.close(Duration::from_secs(1));
    Ok(())
}

/// One thread: a verdict first, and then the end of the job's number. So each has a verdict, even if this process is killed.
fn ask_all(name: &str, seed: u64, asker: &AskBytes) -> Outcome<()> {
    let mut given = WorkReceiver::<u64>::from_fd(connect(&numbers(name))?)?;
    let mut told = Sender::<Verdict>::from_fd(connect(&verdicts(name))?, 16)?;
    while let Ok(number) = given.recv() {
        // Another process may have asked it, and died.
        let tag = u64::from(std::process::id()) << 40 | *number;
        let plan = Plan::of(seed, *number);
        let asked = Instant::now();
        let verdict = plan.ask(tag, asker);
        let time = asked.elapsed().as_nanos() as u64;
        if let Err(instead) = &verdict {
            eprintln!("job {}: {instead}", *number);
        }
        told.send([*number, verdict.is_ok().into(), time])?;
        number.finish();
    }
    Ok(())
}

/// Has a number factored.
pub(crate) fn ask(address: &str, number: u64) -> Outcome<Answer> {
    let (_bridge, asker) = asker(address)?;
    let task = Task { pause: 0, fails: 0, work: Work::Factor(number) };
    let answer = asker.ask(Request::Do { tag: std::process::id().into(), task }.encode())?;
    Ok(Answer::decode(&answer)?)
}

/// Prints what the coordinator does, whenever that changes.
pub(crate) fn progress(name: &str) -> Outcome<()> {
    let mut watch = WatchReceiver::from_fd(connect(&name_of_progress(name))?)?;
    let mut last = None;
    for words in watch.iter() {
        let progress = Progress::of(&words);
        if last.as_ref() != Some(&progress) {
            println!("{progress:?}");
            last = Some(progress);
        }
    }
    Ok(())
}
