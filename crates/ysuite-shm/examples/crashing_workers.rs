//! A pool of workers that crash. Each is a process that takes jobs of a work queue, and has a lane of a funnel for its answers.
//! It answers a job, and only then finishes it; so whatever it dies over goes to another worker, and no job is lost. A job
//! whose answer was sent just before the crash is answered twice: the pool counts it once.
//!
//! ```sh
//! cargo run -p ysuite-shm --example crashing_workers
//! ```

#[cfg(target_os = "linux")]
mod program {
    use std::collections::HashMap;
    use std::os::fd::AsFd;
    use std::process::{Child, Command, Stdio};

    use ysuite_shm::{Funnel, SendError, Sender, WorkReceiver, WorkSender};

    pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error>>;
    type Answer = [u64; 2];

    const JOBS: u64 = 1_000;
    /// A worker crashes over each job that this divides, unless it is its first one.
    const HARD: u64 = 97;

    /// A worker has inherited its jobs as its standard input, and its lane as its standard output.
    pub(crate) fn worker(may_crash: bool) -> Outcome<()> {
        let mut jobs = WorkReceiver::<u64>::from_fd(std::io::stdin().as_fd().try_clone_to_owned()?)?;
        let mut answers = Sender::<Answer>::from_fd(std::io::stdout().as_fd().try_clone_to_owned()?, 64)?;
        let mut done = 0;
        while let Ok(job) = jobs.recv() {
            if may_crash && *job % HARD == 0 && done > 0 {
                std::process::abort();
            }
            answers.send([*job, *job * *job])?;
            job.finish();
            done += 1;
        }
        Ok(())
    }

    struct Pool {
        jobs: WorkSender<u64>,
        answers: Funnel<Answer>,
        answered: HashMap<u64, u64>,
        hired: Vec<Child>,
    }

    impl Pool {
        const WORKERS: usize = 3;

        /// A new worker for each that has crashed.
        fn hire(&mut self) -> Outcome<()> {
            while self.jobs.workers() < Self::WORKERS {
                let (jobs, (_, answers)) = (self.jobs.seat()?, self.answers.seat()?);
                let mut program = Command::new(std::env::current_exe()?);
                program.arg(if self.hired.len() < 10 { "worker" } else { "careful worker" });
                self.hired.push(program.stdin(Stdio::from(jobs)).stdout(Stdio::from(answers)).spawn()?);
            }
            Ok(())
        }

        fn give_out(&mut self, mut job: u64) -> Outcome<()> {
            self.hire()?;
            // An error: all have crashed.
            while let Err(SendError(again, _)) = self.jobs.send(job) {
                job = again;
                self.hire()?;
            }
            self.answered.extend(self.answers.try_iter().map(|[job, answer]| (job, answer)));
            Ok(())
        }
    }

    pub(crate) fn pool() -> Outcome<()> {
        let (jobs, answers) = (WorkSender::without_name(4)?, Funnel::without_name()?);
        let mut pool = Pool { jobs, answers, answered: HashMap::new(), hired: Vec::new() };
        (1..=JOBS).try_for_each(|job| pool.give_out(job))?;
        while pool.jobs.settle().is_err() {
            pool.hire()?;
        }
        let Pool { jobs, mut answers, mut answered, hired } = pool;
        assert!(hired.len() > Pool::WORKERS);
        // Those that are left have no more to do, and their lanes end.
        drop(jobs);
        answered.extend(answers.iter().map(|[job, answer]| (job, answer)));
        hired.into_iter().try_for_each(|mut worker| worker.wait().map(drop))?;
        println!("{} jobs answered, their sum is {}; workers crashed", answered.len(), answered.values().sum::<u64>());
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn main() -> program::Outcome<()> {
    match std::env::args().nth(1) {
        Some(kind) => program::worker(kind == "worker"),
        None => program::pool(),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {}
