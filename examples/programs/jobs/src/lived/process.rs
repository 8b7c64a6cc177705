//! Other processes: what they use, by `/proc`, and signals that reach no stranger.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, pidfd_send_signal};

/// What Linux counts CPU time in, as it tells programs.
const TICKS_PER_SECOND: u64 = 100;

/// What processes use. Of one that has just ended: nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    pub(super) processes: u64,
    pub(super) resident_kib: u64,
    pub(super) descriptors: u64,
    /// In milliseconds, with that of children that have ended and were waited for.
    pub(super) cpu: u64,
}

/// In milliseconds: of the fields from user time to the system time of children that were waited for, those of this range.
fn cpu(fields: &[String], range: std::ops::Range<usize>) -> u64 {
    let ticks = fields.get(range).unwrap_or_default().iter().filter_map(|field| field.parse::<u64>().ok()).sum::<u64>();
    ticks * 1_000 / TICKS_PER_SECOND
}

impl Usage {
    /// The CPU time of the children of this process that have ended.
    pub(super) fn of_the_dead() -> Self {
        let fields = stat(std::process::id()).unwrap_or_default();
        Self { cpu: cpu(&fields, 13..15), ..Self::default() }
    }

    pub(super) fn add(&mut self, process: u32) {
        let Some(fields) = stat(process) else { return };
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let resident = resident.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        self.processes += 1;
        self.resident_kib += resident.unwrap_or_default();
        self.descriptors += fs::read_dir(format!("/proc/{process}/fd")).map_or(0, |all| all.count() as u64);
        self.cpu += cpu(&fields, 11..15);
    }
}

/// The fields of a process behind its name: its state first, then its parent.
fn stat(process: u32) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    Some(stat.rsplit_once(')')?.1.split_whitespace().map(str::to_owned).collect())
}

/// A process that may be given signals: by its descriptor, which is never another's.
pub(super) struct Target(OwnedFd);

impl Target {
    /// The process of this number, if it is a child of that one.
    pub(super) fn child_of(process: u32, of: u32) -> Option<Self> {
        let descriptor = pidfd_open(Pid::from_raw(process.try_into().ok()?)?, PidfdFlags::empty()).ok()?;
        // Behind the opening: if the number is a stranger's by now, the descriptor's process is dead, and gets no signal.
        let fields = stat(process)?;
        let is_alive = fields.first()? != "Z";
        (is_alive && fields.get(1)?.parse::<u32>() == Ok(of)).then_some(Self(descriptor))
    }

    /// An error: it has ended.
    pub(super) fn send(&self, signal: Signal) -> io::Result<()> {
        Ok(pidfd_send_signal(&self.0, signal)?)
    }
}

/// Ends all children of this process, and theirs, which become its own (it is a reaper). How many there were.
pub(super) fn end_all_children() -> usize {
    let own = std::process::id();
    let mut ended = 0;
    loop {
        let all = fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let targets = numbers.filter_map(|process| Target::child_of(process, own));
        targets.for_each(|target| drop(target.send(Signal::KILL)));
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(_) => ended += 1,
            // None is left.
            Err(_) => return ended,
        }
    }
}

/// Sockets of a name that somebody still has.
pub(super) fn sockets_of(name: &str) -> usize {
    fs::read_to_string("/proc/net/unix").unwrap_or_default().lines().filter(|line| line.contains(name)).count()
}

/// Files of shared memory with such a name.
pub(super) fn files_of(name: &str) -> usize {
    let all = fs::read_dir("/dev/shm").into_iter().flatten().flatten();
    all.filter(|file| file.file_name().to_string_lossy().contains(name)).count()
}
