//! The process that measures: starts a process for each side, waits until both have reported, and ends both if one of
//! them fails, dies, or takes too long.

use std::any::Any;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::letters::{self, Job, Report, Role};
use super::loops::{Drivers, monotonic};
use super::{COMMAND, side};
use crate::error::Fault;
use crate::memory;
use crate::place::Place;
use crate::scenario::Entry;
use crate::stage::Patience;
use crate::transport::process::{Channel, Side};

/// One run: what both sides do.
pub(super) struct Run {
    roles: [Role; 2],
    place: Place,
    size: usize,
    messages: u64,
    silence: Duration,
}

impl Run {
    pub(super) fn stream(place: Place, size: usize, messages: u64) -> Self {
        Self { roles: [Role::Pours, Role::Drains], place, size, messages, silence: Duration::ZERO }
    }

    pub(super) fn bounces(place: Place, bounces: u64) -> Self {
        Self { roles: [Role::Asks, Role::Answers], ..Self::stream(place, 0, bounces) }
    }

    pub(super) fn wakes(place: Place, messages: u64, silence: Duration) -> Self {
        Self { roles: [Role::Wakes, Role::IsWoken], silence, ..Self::stream(place, 0, messages) }
    }

    fn channels(&self, drivers: &Drivers) -> io::Result<Channels> {
        let Channel { sender, receiver, kept } = drivers.open(self.size)?;
        let mut channels = Channels { sides: [vec![sender], vec![receiver]], kept: vec![kept] };
        if self.roles[0] == Role::Asks {
            let back = drivers.open(self.size)?;
            channels.sides[0].push(back.receiver);
            channels.sides[1].push(back.sender);
            channels.kept.push(back.kept);
        }
        Ok(channels)
    }

    fn job(&self, entry: &Entry, at: usize) -> Job {
        Job {
            transport: entry.traits.name.to_owned(),
            role: self.roles[at],
            size: self.size,
            messages: self.messages as usize,
            cpu: [self.place.first, self.place.second][at],
            silence: self.silence,
            parent: std::process::id(),
        }
    }
}

/// What each process gets, and what is kept until both have ended.
struct Channels {
    sides: [Vec<Side>; 2],
    kept: Vec<Box<dyn Any>>,
}

/// What both sides report.
pub(super) fn conducted(entry: &Entry, run: &Run) -> Result<[Report; 2], Fault> {
    let drivers = entry.processes.ok_or_else(|| io::Error::other("it is not between processes"))?;
    let Channels { sides: [first, second], kept } = run.channels(&drivers)?;
    let mut both = Both { sides: [Started::new(run.job(entry, 0), first)?, Started::new(run.job(entry, 1), second)?] };
    let silences = run.silence.saturating_mul(run.messages.try_into().unwrap_or(u32::MAX));
    let patience = Patience::of_this_thread().over(run.messages).saturating_add(silences);
    let reported = both.work(Instant::now(), patience);
    // Both processes have ended before what they used is removed.
    drop(both);
    drop(kept);
    reported
}

/// A process, ended when this is dropped.
struct Started {
    process: Child,
    socket: OwnedFd,
    role: Role,
}

impl Started {
    fn new(job: Job, sides: Vec<Side>) -> io::Result<Self> {
        let program = memory::program().ok_or_else(|| io::Error::other("this process is not the program `ybench`"))?;
        let (socket, its) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        let mut command = Command::new(program);
        // A group of its own: Ctrl-C is for the process that measures, which lets a run end.
        command.arg(COMMAND).stdin(Stdio::from(its)).stdout(Stdio::null()).process_group(0);
        let started = Self { process: command.spawn()?, socket, role: job.role };
        letters::send_job(&started.socket, &job, &sides)?;
        Ok(started)
    }

    /// Why its socket is closed.
    fn died(&mut self) -> Fault {
        match self.process.wait() {
            Ok(status) => Fault::Died { process: self.role.in_words(), how: ended(status) },
            Err(cause) => Fault::System(cause),
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A process's end in words.
fn ended(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match status.signal() {
        Some(signal) => format!("was killed by signal {signal}"),
        None => format!("ended with {status}"),
    }
}

struct Both {
    sides: [Started; 2],
}

/// What a side has said, if it has.
type Said = Option<Result<Report, Fault>>;

/// After one side has failed, the other normally reports within this time.
const LAST_WORDS: Duration = Duration::from_secs(1);

impl Both {
    fn work(&mut self, start: Instant, patience: Duration) -> Result<[Report; 2], Fault> {
        self.both_say(start, patience, |socket, words| match words {
            [only] if only == "ready" => Ok(Report::default()),
            // A fault instead.
            words => letters::receive_report(socket, words),
        })?;
        let go = format!("go {}", monotonic() + side::LEAD.as_nanos() as u64);
        for side in &self.sides {
            // One that has ended is noticed below.
            let _ = letters::send(&side.socket, go.as_bytes());
        }
        let reports = self.both_say(start, patience, |socket, words| letters::receive_report(socket, words))?;
        for side in &mut self.sides {
            // One that has ended has nothing left to do.
            let _ = letters::send(&side.socket, b"bye");
        }
        for side in &mut self.sides {
            left(&mut side.process)?;
        }
        Ok(reports)
    }

    /// Waits until each side has said something.
    fn both_say(
        &mut self,
        start: Instant,
        patience: Duration,
        understood: impl Fn(&OwnedFd, &[String]) -> Result<Report, Fault>,
    ) -> Result<[Report; 2], Fault> {
        let mut said: [Said; 2] = [None, None];
        let mut limit = start + patience;
        while said.iter().any(Option::is_none) {
            let Some(at) = self.next_of(&said, limit)? else { break };
            let side = &mut self.sides[at];
            let words = letters::words(&side.socket)?;
            let one = if words.is_empty() { Err(side.died()) } else { understood(&side.socket, &words) };
            if one.is_err() {
                limit = limit.min(Instant::now() + LAST_WORDS);
            }
            said[at] = Some(one);
        }
        judged(said, patience)
    }

    /// A side that has not spoken and now has. `None`: none has up to `limit`.
    fn next_of(&self, said: &[Said; 2], limit: Instant) -> io::Result<Option<usize>> {
        let silent: Vec<usize> = (0..2).filter(|at| said[*at].is_none()).collect();
        loop {
            let left = limit.saturating_duration_since(Instant::now());
            let time = Timespec::try_from(left).map_err(io::Error::other)?;
            let mut polled: Vec<PollFd<'_>> =
                silent.iter().map(|at| PollFd::new(&self.sides[*at].socket, PollFlags::IN)).collect();
            match poll(&mut polled, Some(&time)) {
                Ok(0) => return Ok(None),
                Ok(_) => {
                    let at = polled.iter().position(|one| !one.revents().is_empty());
                    return Ok(at.map(|at| silent[at]));
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(cause) => return Err(cause.into()),
            }
        }
    }
}

/// Both reports, or the fault that explains the other.
fn judged(said: [Said; 2], patience: Duration) -> Result<[Report; 2], Fault> {
    let stuck = Err(Fault::Stuck { within: patience });
    match said {
        [Some(Ok(first)), Some(Ok(second))] => Ok([first, second]),
        // The side that only saw the other one stop knows less.
        [Some(Err(one)), Some(Err(other))] => Err(if only_saw(&one) { other } else { one }),
        [Some(Err(fault)), _] | [_, Some(Err(fault))] => Err(fault),
        [None, _] | [_, None] => stuck,
    }
}

fn only_saw(fault: &Fault) -> bool {
    matches!(fault, Fault::Lost { .. } | Fault::Disconnected { .. })
}

/// Waits until a process has ended that has nothing left to do.
fn left(process: &mut Child) -> Result<(), Fault> {
    const MOST: Duration = Duration::from_secs(10);
    const EACH: Duration = Duration::from_micros(200);
    let start = Instant::now();
    while start.elapsed() < MOST {
        if process.try_wait()?.is_some() {
            return Ok(());
        }
        std::thread::sleep(EACH);
    }
    Err(Fault::Stuck { within: MOST })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fault_that_explains_the_other_is_reported() {
        let lost = || Some(Err(Fault::Lost { expected: 3 }));
        let died = || Some(Err(Fault::Died { process: "it", how: "ended".to_owned() }));
        for said in [[lost(), died()], [died(), lost()], [None, died()], [died(), Some(Ok(Report::default()))]] {
            assert!(matches!(judged(said, Duration::ZERO), Err(Fault::Died { .. })));
        }
        assert!(matches!(judged([None, Some(Ok(Report::default()))], LAST_WORDS), Err(Fault::Stuck { .. })));
    }
}
