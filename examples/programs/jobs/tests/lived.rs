//! A short life of all processes, with every kind of death.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// It ends by itself long before; if it does not, so does the test.
const GUARD: Duration = Duration::from_secs(300);

/// A process and all that it starts: they end with this, also if the test panics.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        // An error: all have ended.
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        let _ = self.0.wait();
    }
}

/// The number behind the last `name=`, or `name: `.
fn number(said: &str, name: &str) -> u64 {
    let behind = said.rsplit_once(name).unwrap_or_else(|| panic!("no {name} in {said}")).1;
    let digits = behind.trim_start_matches(['=', ':', ' ']).split(|letter: char| !letter.is_ascii_digit()).next();
    digits.and_then(|digits| digits.parse().ok()).unwrap_or_else(|| panic!("no number behind {name} in {said}"))
}

#[test]
fn every_job_is_answered_while_workers_and_submitters_are_killed() {
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("lived");
    fs::create_dir_all(&out).expect("a folder");
    let said = out.join("said.txt");
    let mut program = Command::new(env!("CARGO_BIN_EXE_jobs"));
    program.args(["lived", "--jobs", "3000", "--seed", "7", "--every", "80", "--sample", "100", "--out"]).arg(&out);
    program.stdout(File::create(&said).expect("a file")).process_group(0);
    let mut group = Group(program.spawn().expect("the program"));
    let begun = Instant::now();
    let status = loop {
        match group.0.try_wait().expect("its state") {
            Some(status) => break status,
            None if begun.elapsed() > GUARD => {
                panic!("it has not ended: {}", fs::read_to_string(&said).unwrap_or_default())
            }
            None => thread::sleep(Duration::from_millis(50)),
        }
    };
    let said = fs::read_to_string(said).expect("what it said");
    assert!(status.success(), "{said}");
    assert_eq!(number(&said, "jobs"), 3_000);
    assert!(number(&said, "workers_killed") >= 12, "{said}");
    assert!(number(&said, "workers_stopped") >= 2 && number(&said, "submitters_killed") >= 1, "{said}");
    // Three jobs have ended six workers or more each. One that is killed may be about to end in any case.
    assert!(number(&said, "lost") >= 18 + 6, "{said}");
    assert!(number(&said, "retried") >= 18 && number(&said, "cancelled") >= 19, "{said}");
    for (file, begins) in [("lived.csv", "seconds,"), ("lived.svg", "<svg ")] {
        let written = fs::read_to_string(out.join(file)).expect("a file");
        assert!(written.starts_with(begins) && written.lines().count() > 2, "{file}");
    }
}
