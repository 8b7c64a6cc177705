//! A process that sends or receives, started by the process that measures: gets its job and its handles over its standard
//! input, says that it is ready, works, reports, and stays until both have reported.
//!
//! It ends when the process that measures does, however that ends: the kernel then sends it SIGTERM.

use std::io;
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

use rustix::process::{Signal, getppid, set_parent_process_death_signal};

use super::letters::{self, Job};
use super::loops::{self, monotonic};
use crate::error::{Error, Fault};
use crate::place::pin;
use crate::scenario::Entry;
use crate::transport::process::Side;

/// Works as a side. `named` finds a transport.
///
/// # Errors
///
/// Refuses if no measurement has started this process. What goes wrong later is reported to that.
pub fn run(named: impl Fn(&str) -> Option<&'static Entry>) -> Result<(), Error> {
    let refused = |_| Error::Refused("This command is for the processes that a measurement starts.".to_owned());
    let socket = io::stdin();
    let (job, sides) = letters::receive_job(socket.as_fd()).map_err(refused)?;
    ends_with(job.parent);
    let reported = served(socket.as_fd(), &job, sides, named);
    // If it cannot be reported, the process that measures has ended, or sees that this one has.
    let _ = match &reported {
        Ok(report) => letters::send_report(socket.as_fd(), report),
        Err(fault) => letters::send_fault(socket.as_fd(), fault),
    };
    let _ = letters::receive(socket.as_fd());
    Ok(())
}

/// Ends this process with that one, which may have ended already.
fn ends_with(parent: u32) {
    // The parent of the program may have left it ignored.
    // SAFETY: no memory is involved.
    unsafe { libc::signal(libc::SIGTERM, libc::SIG_DFL) };
    let _ = set_parent_process_death_signal(Some(Signal::TERM));
    if getppid().is_none_or(|now| now.as_raw_nonzero().get() as u32 != parent) {
        std::process::exit(1);
    }
}

fn served(
    socket: impl AsFd,
    job: &Job,
    sides: Vec<Side>,
    named: impl Fn(&str) -> Option<&'static Entry>,
) -> Result<letters::Report, Fault> {
    let drivers = named(&job.transport).and_then(|entry| entry.processes);
    let drivers = drivers.ok_or_else(|| io::Error::other(format!("'{}' is not between processes", job.transport)))?;
    // Handles as a program has them that is free to run anywhere: some spin less where they see one CPU.
    let work = drivers.prepare(job, sides)?;
    pin(job.cpu)?;
    letters::send(&socket, b"ready")?;
    let go = letters::words(&socket)?;
    let start = go.get(1).and_then(|time| time.parse().ok()).ok_or_else(|| io::Error::other("no time to begin"))?;
    begin_at(start);
    loops::reported(work)
}

/// Both processes begin at one time, awake.
fn begin_at(start: u64) {
    while monotonic() < start {
        // The other side may have to arrive on this CPU.
        thread::yield_now();
    }
}

/// From the order to begin to the beginning: as long as it takes to wake both.
pub(super) const LEAD: Duration = Duration::from_micros(500);
