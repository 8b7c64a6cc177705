//! Every example runs to completion, and prints what it should.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ysuite::spsc;
use ysuite_zmq::{Bridge, Closed};

/// Cargo has built them together with this test.
fn example(name: &str) -> Command {
    let test = std::env::current_exe().expect("a path");
    let folder = test.parent().and_then(Path::parent).expect("a folder of the profile");
    Command::new(folder.join("examples").join(name))
}

/// At work; killed if it has not ended.
struct Running(Child, BufReader<std::process::ChildStdout>);

impl Running {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("an example");
        let said = BufReader::new(child.stdout.take().expect("its output"));
        Self(child, said)
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.1.read_line(&mut line).expect("its output");
        line.trim_end().to_owned()
    }

    /// The rest of its output.
    fn rest(mut self) -> String {
        let mut said = String::new();
        self.1.read_to_string(&mut said).expect("its output");
        assert!(self.0.wait().expect("its end").success(), "{said}");
        said
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn two_programs_share_work() {
    let mut out = example("work_out");
    out.arg("tcp://127.0.0.1:*");
    let mut out = Running::start(out);
    let there = out.line().rsplit(' ').next().expect("an address").to_owned();
    let mut worker = example("work_in");
    worker.arg(there);
    assert_eq!(Running::start(worker).rest(), "10000 jobs done, all answers received\n");
    assert_eq!(out.rest(), "all is answered: 333283335000\n");
}

#[test]
fn a_program_in_python_sends_jobs() {
    let python = ["python3", "/usr/bin/python3"].into_iter().find(|python| {
        let asked = Command::new(python).args(["-c", "import zmq"]).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    });
    let Some(python) = python else { return println!("no Python here has pyzmq: its example is not run") };
    let mut peer = Running::start(example("python_peer"));
    let words = peer.line();
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/python_peer.py");
    let mut other = Command::new(python);
    other.arg(script).args(words.split(' '));
    assert_eq!(Running::start(other).rest(), "10000 answers\n");
    let said = peer.rest();
    assert!(said.starts_with("all answers have left"), "{said}");
}

/// The other side in Python is `examples/duplex-python`, whose tests run this example as well.
#[test]
fn an_echo_sends_all_back() {
    let mut echo = example("echo");
    echo.arg("tcp://127.0.0.1:*");
    let mut echo = Running::start(echo);
    let there = echo.line().rsplit(' ').next().expect("an address").to_owned();
    let (mut messages, out) = spsc::bounded::<Vec<u8>>(64);
    let (duplex, mut back) = Bridge::duplex::<_, Vec<u8>>(out).connect(there).start().expect("a bridge");
    for number in 0..1_000_u32 {
        messages.send(number.to_le_bytes().to_vec()).expect("the bridge receives");
        assert_eq!(back.recv(), Ok(number.to_le_bytes().to_vec()));
    }
    drop(messages);
    assert_eq!(duplex.close(Duration::from_secs(60)), Closed::Flushed);
    assert_eq!(echo.rest(), "1000 messages sent back: Flushed\n");
}

#[test]
fn a_hub_serves_bridges() {
    let said = Running::start(example("hub")).rest();
    assert!(said.contains("10000 readings, 49995000 in sum\nthe sensor's bridge: Flushed\n"), "{said}");
}

#[test]
fn questions_are_answered() {
    let said = Running::start(example("question")).rest();
    assert_eq!(said, "999 answers, and bye to you\nall was answered: Flushed\n1000 questions\n");
}

#[test]
fn what_a_bridge_costs_is_said() {
    let said = Running::start(example("scale")).rest();
    assert!(said.lines().count() == 4 || said.contains("does not say"), "{said}");
}

#[test]
fn a_simulation_says_the_same_twice() {
    let simulated = |seed: &str| {
        let mut command = example("simulate");
        command.arg(seed);
        Running::start(command).rest()
    };
    let said = simulated("7");
    assert_eq!(said.lines().count(), 2 + 4 * 3);
    assert_eq!(said, simulated("7"));
    assert_ne!(said, simulated("8"));
}
