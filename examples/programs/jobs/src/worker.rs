//! A worker: takes jobs of the coordinator's work queue, one after the other. It reports the result of a job, and only then
//! finishes it: if it dies in between, the job is done twice; if it dies before, another worker gets it.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use ysuite_shm::{Bytes, Error, Sender, WatchReceiver, WorkReceiver, connect};

use crate::Outcome;
use crate::protocol::{Report, ReportWords, Said, read_sheet, withdrawals};
use crate::task;

/// Reports that wait for a coordinator that is busy.
const REPORTS: usize = 64;
/// A job that takes longer than this says so: who is silent for too long is thought to hang.
const SIGN_OF_LIFE: Duration = Duration::from_millis(500);

/// What the coordinator hears.
struct Reports {
    sender: Sender<ReportWords>,
    last: Instant,
}

impl Reports {
    fn say(&mut self, id: u64, attempt: u32, said: Said) -> Result<(), Error> {
        self.last = Instant::now();
        self.sender.send(Report { id, attempt, said }.words()).map_err(|error| error.1)
    }
}

/// Jobs that nobody wants any more: the newest list of them.
struct Withdrawn {
    watch: WatchReceiver<Bytes>,
    ids: Vec<u8>,
}

impl Withdrawn {
    fn has(&mut self, id: u64) -> bool {
        if let Ok(newest) = self.watch.try_recv() {
            self.ids = newest.0;
        }
        self.ids.chunks_exact(8).any(|listed| listed == id.to_le_bytes())
    }
}

/// Works until the coordinator of this name is gone. Its jobs are its standard input, its reports its standard output.
pub(crate) fn work(name: &str) -> Outcome<()> {
    let mut jobs = WorkReceiver::<Bytes>::from_fd(io::stdin().as_fd().try_clone_to_owned()?)?;
    let sender = Sender::from_fd(io::stdout().as_fd().try_clone_to_owned()?, REPORTS)?;
    let mut reports = Reports { sender, last: Instant::now() };
    let mut watch = WatchReceiver::from_fd(connect(&withdrawals(name))?)?;
    // Else a job that kills its workers would come before the news that it is withdrawn.
    watch.meet_timeout(Duration::from_secs(1))?;
    let mut withdrawn = Withdrawn { watch, ids: Vec::new() };
    while let Ok(job) = jobs.recv() {
        let (id, attempt, task) = read_sheet(&job.0)?;
        let said = if withdrawn.has(id) {
            Said::Withdrawn
        } else {
            reports.say(id, attempt, Said::Begun)?;
            task::run(&task, attempt, || {
                if reports.last.elapsed() > SIGN_OF_LIFE {
                    // If it fails, so does the report of the result.
                    let _ = reports.say(id, attempt, Said::Alive);
                }
                !withdrawn.has(id)
            })
        };
        reports.say(id, attempt, said)?;
        job.finish();
    }
    Ok(())
}
