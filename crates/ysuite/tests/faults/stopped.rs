//! A process that is stopped and goes on, at random moments, as job control, debuggers and freezers have it. All its
//! threads stop at any point; their time limits run out meanwhile.
//!
//! Claim: Stopping and continuing the process at random moments loses, duplicates or reorders no message.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::flows::FAMILY;
use super::messages;
use super::support::Random;

const TEST: &str = "stopped::stopped_and_continued_at_random_moments";
const STOPPED: &str = "YSUITE_TEST_STOPPED";

#[test]
fn stopped_and_continued_at_random_moments() {
    if std::env::var_os(STOPPED).is_some() {
        FAMILY.iter().for_each(|make| make(messages(2_000)).run(|_| {}, |_| thread::sleep(Duration::from_millis(1))));
        return;
    }
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", TEST, "--nocapture", "--test-threads=1"])
        .env(STOPPED, "")
        .stdout(Stdio::null())
        .spawn()
        .expect("a child");
    let (process, mut random, mut stops) = (Pid::from_child(&child), Random::new(11), 0);
    while !has_ended(&mut child) {
        thread::sleep(Duration::from_micros(random.next() % 3_000));
        // A child that has ended meanwhile has not been waited for: its number was not reused.
        kill_process(process, Signal::STOP).expect("a child");
        thread::sleep(Duration::from_micros(random.next() % 3_000));
        kill_process(process, Signal::CONT).expect("a child");
        stops += 1;
    }
    assert!(child.wait().expect("a child").success(), "the child failed");
    assert!(stops > 10, "it was stopped {stops} times only");
    let _ = writeln!(std::io::stdout(), "stopped and continued: {stops} times");
}

/// Whether it is over. It is waited for by no other call than `wait`, so that its number stays its own.
fn has_ended(child: &mut Child) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("a child that was not waited for");
    state.rsplit(')').next().is_some_and(|rest| rest.starts_with(" Z"))
}
