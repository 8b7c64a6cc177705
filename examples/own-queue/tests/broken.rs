//! Queues that break their word, each in its own way. Each is told first, is in no table, and the exit status is 1.
//!
//! The test starts itself as the program with these queues.
use std::process::{Command, ExitCode, Output};
use std::sync::Arc;

use crossbeam_queue::ArrayQueue;
use ybench_measure::scenario::entry;
use ybench_measure::transport::spinning::{Pop, Push, Queue, Spinning, places};
use ybench_measure::transport::{Message, Traits};

/// Is set where this is the program.
const PROGRAM: &str = "YBENCH_BROKEN_QUEUES";

/// The number of the message that is not treated as it should be.
const BAD: usize = 40;

const LOSES: u8 = 0;
const DOUBLES: u8 = 1;
const SWAPS: u8 = 2;
const PANICS: u8 = 3;
const NAMES: [[&str; 2]; 4] =
    [["loses", "loses-2"], ["doubles", "doubles-2"], ["swaps", "swaps-2"], ["panics", "panics-2"]];

struct Broken<const HOW: u8>;

impl<const HOW: u8> Queue for Broken<HOW> {
    const NAMES: [&'static str; 2] = NAMES[HOW as usize];
    const ABOUT: [&'static str; 2] = ["A queue that breaks its word"; 2];
    const TRAITS: Traits = Traits { bounded: true, ..Traits::COMMON };
    type Push<M: Message> = End<M>;
    type Pop<M: Message> = Reader<M, HOW>;

    fn open<M: Message>() -> (End<M>, Reader<M, HOW>) {
        let queue = Arc::new(ArrayQueue::new(places::<M>(1_024)));
        (End(queue.clone()), Reader { queue, held: None })
    }
}

struct End<M>(Arc<ArrayQueue<M>>);

impl<M: Message> Push<M> for End<M> {
    fn push(&mut self, message: M) -> Result<(), M> {
        self.0.push(message)
    }
}

struct Reader<M, const HOW: u8> {
    queue: Arc<ArrayQueue<M>>,
    held: Option<M>,
}

impl<M: Message, const HOW: u8> Pop<M> for Reader<M, HOW> {
    fn pop(&mut self) -> Option<M> {
        let message = self.held.take().or_else(|| self.queue.pop())?;
        if message.number() != BAD {
            return Some(message);
        }
        match HOW {
            LOSES => self.queue.pop(),
            // The one before it once more, and itself never.
            DOUBLES => Some(M::numbered(BAD - 1)),
            SWAPS => {
                let next = self.queue.pop();
                self.held = Some(message);
                next
            }
            _ => panic!("at message {BAD}"),
        }
    }
}

fn main() -> ExitCode {
    if std::env::var_os(PROGRAM).is_none() {
        check();
        return ExitCode::SUCCESS;
    }
    let all = vec![
        entry::<Spinning<Broken<LOSES>, true>>(),
        entry::<Spinning<Broken<DOUBLES>, true>>(),
        entry::<Spinning<Broken<SWAPS>, true>>(),
        entry::<Spinning<Broken<PANICS>, true>>(),
    ];
    ybench::program::run(all, Vec::new())
}

fn check() {
    for (name, words) in [
        ("loses", "delivered message 41 where message 40 was due"),
        ("doubles", "delivered message 39 where message 40 was due"),
        ("swaps", "delivered message 41 where message 40 was due"),
        ("panics", "panicked: at message 40"),
    ] {
        let both = format!("{name},spsc");
        let output = run(&["run", "throughput", "many-2x2", "density", "--transport", &both, "--rounds", "2"]);
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{name}: {said}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.ends_with(&format!("In no table, because it failed validation: {name}.\n")), "{name}: {told}");
        let broken = said.find("BROKEN: ").expect("it is told");
        let first_table = said.find("spsc").expect("the others have tables");
        assert!(broken < first_table, "{name}: {said}");
        assert!(said[broken..].starts_with(&format!("BROKEN: {name} {words}")), "{name}: {said}");
        // The warnings name it, and no row of a table.
        let is_row =
            |line: &str| !line.starts_with("BROKEN") && line.split_whitespace().take(2).any(|word| word == name);
        let tables = said.split("Warnings:").next().unwrap_or_default();
        assert!(!tables.lines().any(is_row), "{name}: {said}");
    }
    // Alone as well.
    assert_eq!(run(&["run", "throughput", "--transport", "loses", "--rounds", "1"]).status.code(), Some(1));
}

/// This program again, with queues.
fn run(arguments: &[&str]) -> Output {
    let out = concat!(env!("CARGO_TARGET_TMPDIR"), "/broken-queues");
    let mut command = Command::new(std::env::current_exe().expect("the test has a path"));
    command.env(PROGRAM, "1").args(arguments).args(["--messages", "100", "--out", out]).env("YBENCH_LIMIT_MS", "2");
    command.output().expect("the test can start itself")
}
