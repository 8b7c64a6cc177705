//! The program and the kernel's message queues: that it leaves none, and its behaviour on kernels without them.
use std::fs;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::program::{self, command, stderr, stdout};
use ybench::record::Report;
use ybench::registry;

/// A signal that terminates a program by default.
const ENDING: [libc::c_int; 3] = [libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

const LONG: Duration = Duration::from_secs(120);

fn here(transport: &str) -> bool {
    registry::here().any(|entry| entry.traits.name == transport)
}

/// The queues to which `process` was the last sender.
fn queues_of(process: u32) -> usize {
    let rows = fs::read_to_string("/proc/sysvipc/msg").unwrap_or_default();
    let process = process.to_string();
    rows.lines().filter(|row| row.split_whitespace().nth(5) == Some(&process)).count()
}

/// A long measurement of System V queues, while it runs.
fn at_work() -> Child {
    let arguments = ["run", "throughput", "--transport", "sysv-mq", "--time", "100", "--rounds", "100"];
    let mut command = command(&arguments);
    let by_default = || {
        for signal in ENDING {
            // SAFETY: no memory is involved.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // The test's parent may ignore some signals, and a child would inherit that.
    // SAFETY: between fork and exec it only makes system calls.
    unsafe { command.pre_exec(by_default) };
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while queues_of(child.id()) == 0 {
        assert!(child.try_wait().unwrap().is_none() && start.elapsed() < LONG, "no queue was ever seen");
        sleep(Duration::from_millis(1));
    }
    child
}

fn signal(child: &Child, signal: libc::c_int) {
    // SAFETY: no memory is involved, and the child has not been waited for, so that its number is still its own.
    unsafe { libc::kill(child.id() as libc::pid_t, signal) };
}

#[test]
fn a_terminated_program_leaves_no_queue() {
    if !here("sysv-mq") {
        return;
    }
    for number in ENDING {
        let mut child = at_work();
        signal(&child, number);
        let process = child.id();
        let status = child.wait().unwrap();
        // Complete rounds are stored, as after Ctrl-C; only SIGQUIT ends without that.
        let ended = if number == libc::SIGQUIT { (None, Some(number)) } else { (Some(130), None) };
        assert_eq!((status.code(), status.signal()), ended, "{status}");
        assert_eq!(queues_of(process), 0);
    }
}

#[test]
fn a_second_ctrl_c_leaves_no_queue() {
    if !here("sysv-mq") {
        return;
    }
    let mut child = at_work();
    let process = child.id();
    let start = Instant::now();
    // Two signals at the same time count as one.
    while child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < LONG, "Ctrl-C does not end it");
        signal(&child, libc::SIGINT);
        sleep(Duration::from_millis(1));
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("Ctrl-C again stops at once"), "{said}");
    assert_eq!(queues_of(process), 0);
}

/// Lets this process and its children make all system calls except these, which fail with the given error.
fn forbid(calls: &[(libc::c_long, libc::c_int)]) -> io::Result<()> {
    let statement = |code: u32, jump_if_not: u8, value: u32| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: jump_if_not,
        k: value,
    };
    // The number of the call is the first word of a filter's input.
    let mut filter = vec![statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0)];
    for &(call, error) in calls {
        filter.push(statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, call as u32));
        filter.push(statement(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ERRNO | error as u32));
    }
    filter.push(statement(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW));
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the filter outlives the calls, which copy it.
    let refused = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) != 0
    };
    if refused { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// On a kernel without POSIX queues, where System V queues are forbidden.
fn without_queues(arguments: &[&str]) -> Option<Output> {
    let mut command: Command = command(arguments);
    // SAFETY: between fork and exec it allocates, which is safe in a child that no allocator's lock was held for: the
    // test starts it from its only busy thread, and glibc makes its allocator usable after fork anyway.
    unsafe { command.pre_exec(|| forbid(&[(libc::SYS_mq_open, libc::ENOSYS), (libc::SYS_msgget, libc::EPERM)])) };
    // Without support for filters there is nothing to test.
    command.output().ok()
}

#[test]
fn a_missing_mechanism_is_left_out_and_reported_once() {
    let json = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ybench-without-queues.json");
    let arguments = ["run", "throughput", "ping-pong", "--messages", "500", "--rounds", "1", "--json"];
    let three = ["--transport", "posix-mq", "--transport", "sysv-mq", "--transport", "pipe"];
    let Some(output) = without_queues(&[&arguments[..], &[json.to_str().unwrap()], &three].concat()) else { return };
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    for sentence in [
        "posix-mq cannot run here: this kernel has no POSIX message queues, or hides them",
        "sysv-mq cannot run here: this process may not use System V message queues",
    ] {
        assert_eq!(text.matches(sentence).count(), 1, "{sentence}: {text}");
    }
    let report: Report = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(report.sessions.len(), 2);
    for session in &report.sessions {
        assert!(session.contenders.iter().any(|one| one.name == "pipe"));
        assert!(!session.contenders.iter().any(|one| one.name.ends_with("-mq")));
    }
    // A mechanism that could not be opened is not used.
    let limits = &report.environment.kernel_limits;
    assert!(limits["fs.pipe-max-size"].used.is_some());
    assert!(limits.get("kernel.msgmnb").is_none_or(|limit| limit.used.is_none()));
}

#[test]
fn a_choice_of_missing_mechanisms_only_is_refused() {
    let Some(output) = without_queues(&["--transport", "posix-mq"]) else { return };
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""));
    let said = stderr(&output);
    assert!(said.starts_with("posix-mq cannot run here: ") && said.ends_with(".\n"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn the_list_shows_how_far_the_kernel_s_limits_are_used() {
    let text = program::succeeded(&["list"]);
    for words in ["PIPE_BUF", "net.core.wmem_max", "bytes in a pipe; used "] {
        assert!(text.contains(words), "{words}: {text}");
    }
}
