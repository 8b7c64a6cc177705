//! A logger that never blocks its callers: each thread has a lane of its own in an `mpsc`, and one thread writes. The
//! writer gathers lines while they come and flushes when none has come for a moment. While there is nothing it sleeps.
//!
//! The lanes have no bound, so a slow disk costs memory. With `bounded` and `try_send` it would cost lines instead.
//! `cargo run --release -p ysuite --example logger`

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::thread;
use std::time::{Duration, Instant};

use ysuite::{mpsc, spsc};

const THREADS: usize = 8;
const LINES: usize = 5_000;
/// The time without a new line after which the lines are flushed.
const SILENCE: Duration = Duration::from_millis(2);
/// But if lines come continuously, none waits longer than this.
const LATEST: Duration = Duration::from_secs(1);

/// The data that callers send: the number of the thread, and of the request. The writer's thread formats it.
struct Record(usize, usize);

/// A clone is a lane of its own: callers never contend, and the lines of each stay in order.
#[derive(Clone)]
struct Logger(mpsc::Sender<Record>);

impl Logger {
    fn log(&mut self, record: Record) {
        // A log that cannot be written must not end the program.
        drop(self.0.send(record));
    }
}

/// Writes until no logger is left. Reports after each flush the number of lines, and returns the number of flushes.
fn write(mut records: mpsc::Receiver<Record>, file: File, mut flushed: spsc::Sender<usize>) -> io::Result<usize> {
    let mut file = BufWriter::with_capacity(1 << 16, file);
    let (mut batch, mut lines, mut flushes) = (Vec::new(), 0, 0);
    while records.recv_batch(&mut batch, 256).is_ok() {
        let latest = Instant::now() + LATEST;
        loop {
            lines += batch.len();
            for Record(thread, request) in batch.drain(..) {
                writeln!(file, "{thread} has served request {request}")?;
            }
            let Ok(record) = records.recv_deadline(latest.min(Instant::now() + SILENCE)) else { break };
            batch.push(record);
            let _ = records.try_recv_batch(&mut batch, 256);
        }
        file.flush()?;
        flushes += 1;
        let _ = flushed.send(lines);
    }
    Ok(flushes)
}

fn main() -> io::Result<()> {
    let path = std::env::temp_dir().join(format!("ysuite-logger-{}.log", std::process::id()));
    let ((sender, records), (told, mut flushed), file) = (mpsc::unbounded(), spsc::unbounded(), File::create(&path)?);
    let (mut logger, writer) = (Logger(sender), thread::spawn(move || write(records, file, told)));
    for thread in 0..THREADS {
        let mut logger = logger.clone();
        thread::spawn(move || (0..LINES).for_each(|request| logger.log(Record(thread, request))));
    }
    // A logger still exists, so only the silence can cause this flush.
    flushed.iter().find(|&lines| lines == THREADS * LINES).expect("every line is written");
    logger.log(Record(THREADS, 0));
    drop(logger);
    let flushes = writer.join().expect("a writer")?;
    let text = fs::read_to_string(&path)?;
    fs::remove_file(path)?;
    for thread in (0..THREADS).map(|thread| thread.to_string()) {
        let of_thread = text.lines().filter(|line| line.split(' ').next() == Some(&thread));
        assert!(of_thread.eq((0..LINES).map(|request| format!("{thread} has served request {request}"))));
    }
    assert!(text.ends_with(&format!("\n{THREADS} has served request 0\n")));
    println!("{} lines, flushed {flushes} times", text.lines().count());
    Ok(())
}
