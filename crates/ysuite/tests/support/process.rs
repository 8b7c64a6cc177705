//! The process and its threads: which CPUs, how often switched, how much memory, and children that run one test.

use std::env;
use std::process::Command;

const CHILD: &str = "YSUITE_TEST_CHILD";

/// This program once more. `YSUITE_RUNNER` has the words of what runs it where the kernel cannot: it is another machine's.
pub(crate) fn again() -> Command {
    let this = env::current_exe().expect("this test");
    let runner = env::var("YSUITE_RUNNER").unwrap_or_default();
    let mut words = runner.split_whitespace();
    let Some(program) = words.next() else { return Command::new(this) };
    let mut command = Command::new(program);
    command.args(words).arg(this);
    command
}

/// True in a process of its own, where nothing but the calling test runs. False in the parent, after the child has
/// passed. `test` is the calling test's path in its file.
#[track_caller]
pub(crate) fn alone(test: &str) -> bool {
    if env::var(CHILD).is_ok_and(|child| child == test) {
        return true;
    }
    let output =
        again().args(["--exact", test, "--nocapture", "--test-threads=1"]).env(CHILD, test).output().expect("a child");
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the child failed: {said}\n{complained}");
    // A name that is misspelt runs nothing, and that passes.
    assert!(said.contains("1 passed"), "the child ran no test {test}: {said}");
    false
}

/// Whether a forked child of this process could do that. The child is a copy of the calling thread alone.
///
/// # Safety
///
/// What it does allocates and locks nothing, and does not unwind: another thread may have held any lock when the child was
/// made.
#[cfg(unix)]
pub(crate) unsafe fn forked_child_can(act: impl FnOnce() -> bool) -> bool {
    // The C library's, which std links already.
    unsafe extern "C" {
        fn fork() -> i32;
        fn waitpid(child: i32, status: *mut i32, options: i32) -> i32;
        fn _exit(status: i32) -> !;
    }
    // SAFETY: by the caller.
    let child = unsafe { fork() };
    if child == 0 {
        let done = act();
        // SAFETY: it exits here.
        unsafe { _exit(if done { 0 } else { 1 }) };
    }
    let mut status = -1;
    // SAFETY: a child of this process, and a place for its status.
    assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
    status == 0
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;

    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    /// CPUs this thread may use.
    pub(crate) fn cpus() -> Vec<usize> {
        let mask = sched_getaffinity(None).expect("an affinity mask");
        (0..CpuSet::MAX_CPU).filter(|&cpu| mask.is_set(cpu)).collect()
    }

    /// Restricts this thread to some CPUs.
    pub(crate) fn pin(cpus: &[usize]) {
        let mut mask = CpuSet::new();
        cpus.iter().for_each(|&cpu| mask.set(cpu));
        sched_setaffinity(None, &mask).expect("these CPUs were allowed a moment ago");
    }

    /// This thread, for [`is_asleep`].
    pub(crate) fn thread_id() -> i32 {
        rustix::thread::gettid().as_raw_nonzero().get()
    }

    /// Whether a thread of this process sleeps just now. 0 is none.
    pub(crate) fn is_asleep(thread: i32) -> bool {
        // The state follows the thread's name, which is in brackets.
        let state = fs::read_to_string(format!("/proc/self/task/{thread}/stat"));
        state.is_ok_and(|text| text.rsplit(')').next().is_some_and(|rest| rest.starts_with(" S")))
    }

    /// How often this thread has gone to sleep so far (voluntary context switches).
    pub(crate) fn sleeps() -> u64 {
        status("/proc/thread-self/status", "voluntary_ctxt_switches:")
    }

    fn status(file: &str, field: &str) -> u64 {
        let text = fs::read_to_string(file).expect("a mounted /proc");
        let line = text.lines().find(|line| line.starts_with(field)).expect("the field");
        line.split_whitespace().nth(1).and_then(|value| value.parse().ok()).expect("a number")
    }

    /// CPU time of this thread so far, in clock ticks (hundredths of a second).
    pub(crate) fn ticks() -> u64 {
        let text = fs::read_to_string("/proc/thread-self/stat").expect("a mounted /proc");
        // The name, in parentheses, may contain spaces; user and system time are the 12th and 13th field after it.
        let (_, fields) = text.rsplit_once(')').expect("a name");
        fields.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<u64>().expect("a number")).sum()
    }

    /// Resident memory of this process that is not a file's, in bytes.
    pub(crate) fn resident() -> u64 {
        status("/proc/self/status", "RssAnon:") * 1024
    }

    /// Addresses of this process that are mapped, in bytes.
    pub(crate) fn mapped() -> u64 {
        status("/proc/self/status", "VmSize:") * 1024
    }

    /// Maps that this process has, and the number that the kernel allows.
    pub(crate) fn maps() -> usize {
        fs::read_to_string("/proc/self/maps").expect("a mounted /proc").lines().count()
    }

    /// Descriptors this process has open.
    pub(crate) fn descriptors() -> usize {
        fs::read_dir("/proc/self/fd").expect("a mounted /proc").count()
    }
}

/// What a system without Linux's files tells of a thread.
#[cfg(not(target_os = "linux"))]
mod elsewhere {
    pub(crate) fn thread_id() -> i32 {
        0
    }

    /// Nobody says.
    pub(crate) fn is_asleep(_thread: i32) -> bool {
        false
    }

    /// How often this thread has called the system in the library: to sleep, or to wake one that sleeps.
    pub(crate) fn sleeps() -> u64 {
        ysuite::os::calls()
    }
}

#[cfg(not(target_os = "linux"))]
#[allow(unused_imports)]
pub(crate) use elsewhere::{is_asleep, sleeps, thread_id};
#[cfg(target_os = "linux")]
#[allow(unused_imports)]
pub(crate) use linux::{cpus, descriptors, is_asleep, mapped, maps, pin, resident, sleeps, thread_id, ticks};
