//! A pool of workers that crash. Each is a process with a pipe of jobs and a lane of a funnel for its answers. A worker
//! looks at a job, answers it, and only then consumes it; so whatever it dies over goes to the worker that takes its
//! place, and no job is lost. A job whose answer was sent just before the crash is answered twice: the pool counts it once.
//!
//! ```sh
//! cargo run -p ysuite-shm --example workers
//! ```

#[cfg(target_os = "linux")]
mod program {
    use std::collections::{HashMap, VecDeque};
    use std::os::fd::{AsFd, OwnedFd};
    use std::process::{Child, Command, Stdio};

    use ysuite_shm::{Event, Funnel, Receiver, Sender, TrySendError, pipe};

    pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error>>;
    type Answer = [u64; 2];

    const JOBS: u64 = 1_000;
    /// A worker crashes over each job that this divides, once in two times.
    const HARD: u64 = 97;

    /// A worker has inherited its jobs as its standard input, and its lane as its standard output.
    pub(crate) fn worker(may_crash: bool) -> Outcome<()> {
        let mut jobs = Receiver::<u64>::from_fd(std::io::stdin().as_fd().try_clone_to_owned()?)?;
        let mut answers = Sender::<Answer>::from_fd(std::io::stdout().as_fd().try_clone_to_owned()?, 64)?;
        let mut done = 0;
        loop {
            let job = match jobs.peek() {
                Some(job) => job,
                None if jobs.is_disconnected() && jobs.peek().is_none() => return Ok(()),
                None => {
                    std::thread::yield_now();
                    continue;
                }
            };
            if may_crash && job % HARD == HARD - 1 && done > 0 {
                std::process::abort();
            }
            answers.send([job, job * job])?;
            jobs.consume();
            done += 1;
        }
    }

    struct Worker {
        jobs: Sender<u64>,
        process: Child,
    }

    struct Pool {
        answers: Funnel<Answer>,
        workers: HashMap<u64, Worker>,
        waiting: VecDeque<u64>,
        crashes: u32,
    }

    impl Pool {
        fn hire(&mut self) -> Outcome<()> {
            let (jobs, end) = pipe::<u64>(16)?;
            let Ok(end) = end.into_fd() else { unreachable!("nobody has used it") };
            let (number, seat): (u64, OwnedFd) = self.answers.seat()?;
            let mut program = Command::new(std::env::current_exe()?);
            program.arg(if self.crashes < 10 { "worker" } else { "careful worker" });
            let process = program.stdin(Stdio::from(end)).stdout(Stdio::from(seat)).spawn()?;
            self.workers.insert(number, Worker { jobs, process });
            Ok(())
        }

        fn give_out(&mut self) {
            for worker in self.workers.values_mut() {
                while let Some(job) = self.waiting.pop_front() {
                    if let Err(TrySendError::Full(job) | TrySendError::Ended(job, _)) = worker.jobs.try_send(job) {
                        self.waiting.push_front(job);
                        break;
                    }
                }
            }
        }

        /// What a worker had not dealt with is given out again.
        fn bury(&mut self, number: u64) -> Outcome<()> {
            let Some(Worker { jobs, mut process }) = self.workers.remove(&number) else { return Ok(()) };
            process.wait()?;
            self.crashes += 1;
            let Ok(unread) = jobs.into_unread() else { unreachable!("its reader is gone") };
            unread.into_iter().rev().for_each(|job| self.waiting.push_front(job));
            self.hire()
        }
    }

    pub(crate) fn pool() -> Outcome<()> {
        let waiting = (1..=JOBS).collect();
        let mut pool = Pool { answers: Funnel::without_name()?, workers: HashMap::new(), waiting, crashes: 0 };
        (0..3).try_for_each(|_| pool.hire())?;
        let mut answered = HashMap::new();
        while answered.len() < JOBS as usize {
            pool.give_out();
            match pool.answers.recv_event()? {
                Event::Message(_, [job, answer]) => drop(answered.insert(job, answer)),
                Event::Ended(ended) => pool.bury(ended.sender)?,
            }
        }
        let Pool { workers, crashes, .. } = pool;
        for mut worker in workers.into_values() {
            drop(worker.jobs);
            worker.process.wait()?;
        }
        assert!(crashes > 0);
        println!("{JOBS} jobs answered, their sum is {}; workers crashed", answered.values().sum::<u64>());
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
