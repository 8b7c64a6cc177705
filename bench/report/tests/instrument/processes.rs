//! Messages between processes: that every transport delivers all of them, that a process which dies is reported and not
//! waited for, and that nothing is left over, however the program ends.
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use ybench::place::Place;
use ybench::scenario::{Entry, checks};
use ybench::{memory, registry};

use crate::program::{command, refused, stderr, succeeded, ybench};

const LONG: Duration = Duration::from_secs(120);

/// Far below the time of the stream that is cut short.
const AT_ONCE: Duration = Duration::from_secs(30);

fn between_processes() -> impl Iterator<Item = &'static Entry> {
    memory::this_is_the_program_at(PathBuf::from(env!("CARGO_BIN_EXE_ybench")));
    registry::here().filter(|entry| entry.traits.between_processes)
}

#[test]
fn every_transport_delivers_everything_to_another_process() {
    let place = Place::choose(None).unwrap();
    for entry in between_processes() {
        checks::between_processes(entry, place).unwrap();
    }
}

#[test]
fn every_transport_delivers_everything_between_processes_that_share_a_cpu() {
    let place = Place::choose(None).unwrap().together();
    for entry in between_processes().filter(|entry| entry.traits.waits.sleeps()) {
        checks::between_processes(entry, place).unwrap();
    }
}

#[test]
fn a_process_that_sleeps_leaves_its_cpu_and_one_that_spins_uses_it() {
    let place = Place::choose(None).unwrap();
    between_processes().for_each(|entry| checks::waits_between_processes(entry, place).unwrap());
}

/// The children of a process that are sides.
fn sides(parent: u32) -> Vec<Pid> {
    let task = format!("/proc/{parent}/task");
    let threads = fs::read_dir(task).into_iter().flatten().flatten();
    let children = threads.map(|thread| fs::read_to_string(thread.path().join("children")).unwrap_or_default());
    let all = children.collect::<Vec<_>>().join(" ");
    let is_side =
        |id: &i32| fs::read_to_string(format!("/proc/{id}/cmdline")).is_ok_and(|line| line.contains("process-side"));
    let ids = all.split_whitespace().filter_map(|id| id.parse().ok()).filter(is_side);
    ids.filter_map(Pid::from_raw).collect()
}

/// A measurement that lasts for hours, ended with the test.
struct AtWork {
    program: Option<Child>,
    sides: [Pid; 2],
}

impl Drop for AtWork {
    fn drop(&mut self) {
        if let Some(mut program) = self.program.take() {
            let _ = program.kill();
            let _ = program.wait();
        }
    }
}

/// A System V queue is removed by its sides only when they know its number.
fn has_its_queue(transport: &str, sides: &[Pid]) -> bool {
    let sender = |row: &str| row.split_whitespace().nth(5).and_then(|id| Pid::from_raw(id.parse().ok()?));
    let rows = fs::read_to_string("/proc/sysvipc/msg").unwrap_or_default();
    transport != "process-sysv-mq" || rows.lines().skip(1).any(|row| sender(row).is_some_and(|id| sides.contains(&id)))
}

/// Both of its sides are at work.
fn at_work(transport: &str) -> AtWork {
    let arguments =
        ["run", "process-stream", "--transport", transport, "--messages", "1000000000", "--rounds", "1", "--quiet"];
    let program = command(&arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let (id, start) = (program.id(), Instant::now());
    let mut work = AtWork { program: Some(program), sides: [Pid::INIT; 2] };
    // A first run is short. Those that are still there after this time are at work on the long one.
    const SHORT: Duration = Duration::from_millis(500);
    let (mut seen, mut since) = (Vec::new(), start);
    while seen.len() < 2 || since.elapsed() < SHORT || !has_its_queue(transport, &seen) {
        assert!(start.elapsed() < LONG, "{transport}: its processes were never seen");
        let now = sides(id);
        if now != seen {
            (seen, since) = (now, Instant::now());
        }
        sleep(Duration::from_millis(1));
    }
    work.sides = [seen[0], seen[1]];
    work
}

fn is_there(id: Pid) -> bool {
    // One that has ended and was not waited for has no command line.
    fs::read(format!("/proc/{}/cmdline", id.as_raw_nonzero())).is_ok_and(|line| !line.is_empty())
}

fn are_gone(ids: &[Pid]) {
    let start = Instant::now();
    while ids.iter().any(|id| is_there(*id)) {
        assert!(start.elapsed() < AT_ONCE, "{ids:?} go on");
        sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_process_that_is_killed_ends_the_run_with_its_name() {
    for entry in between_processes().filter(|entry| !entry.traits.variant) {
        let transport = entry.traits.name;
        for at in 0..2 {
            let mut work = at_work(transport);
            let (program, start) = (work.program.take().unwrap(), Instant::now());
            kill_process(work.sides[at], Signal::KILL).unwrap();
            let output = program.wait_with_output().unwrap();
            let said = stderr(&output);
            assert!(start.elapsed() < AT_ONCE, "{transport}");
            assert_eq!(output.status.code(), Some(1), "{transport}: {said}");
            let process = ["the sending process", "the receiving process"]
                .map(|process| format!("{transport} lost {process}, which was killed by signal 9."));
            assert!(process.iter().any(|sentence| said.contains(sentence)), "{transport}: {said}");
            are_gone(&work.sides);
        }
    }
}

#[test]
fn both_processes_end_with_the_one_that_measures_and_leave_nothing() {
    for entry in between_processes() {
        let before = left_over();
        let work = at_work(entry.traits.name);
        let sides = work.sides;
        // By SIGKILL.
        drop(work);
        are_gone(&sides);
        nothing_new(&before, entry.traits.name);
    }
}

/// Names of shared memory and of queues, and numbers of queues, that belong to the system and not to a process.
fn left_over() -> BTreeSet<String> {
    let names = |folder: &str| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = names("/dev/shm").chain(names("/dev/mqueue")).map(|path| path.display().to_string());
    let rows = fs::read_to_string("/proc/sysvipc/msg").unwrap_or_default();
    let queues = rows.lines().skip(1).filter_map(|row| row.split_whitespace().nth(1).map(|id| format!("queue {id}")));
    files.chain(queues).collect()
}

/// Other tests have such things too, for a while.
fn nothing_new(before: &BTreeSet<String>, what: &str) {
    let new = &left_over() - before;
    let start = Instant::now();
    while new.iter().any(|one| left_over().contains(one)) {
        assert!(start.elapsed() < LONG, "{what} has left {new:?}");
        sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_measurement_of_all_leaves_nothing() {
    let before = left_over();
    let names: Vec<&str> = between_processes().map(|entry| entry.traits.name).collect();
    let arguments = ["run", "process-ping-pong", "process-one-cpu", "process-stream", "process-size", "process-wake"];
    let said =
        succeeded(&[&arguments[..], &["--messages", "20", "--rounds", "1", "--transport", &names.join(",")]].concat());
    assert!(names.iter().all(|name| said.contains(name)), "{said}");
    nothing_new(&before, "a run of all");
}

#[test]
fn the_command_of_the_sides_is_not_for_users() {
    assert_eq!(refused(&["process-side"]), "This command is for the processes that a measurement starts.\n");
    assert!(!succeeded(&["--help"]).contains("process-side"));
}

#[test]
fn sizes_between_processes_are_their_own() {
    let arguments = ["run", "process-size", "--messages", "9", "--rounds", "1", "--transport", "shm-pipe", "--size"];
    assert!(ybench(&[&arguments[..], &["256"]].concat()).status.success());
    let sentence = refused(&[&arguments[..], &["512"]].concat());
    assert!(sentence.contains("8, 64, 256, 4096 or 65536 bytes, not 512"), "{sentence}");
    assert!(refused(&["run", "size", "--size", "256"]).contains("16384"));
}
