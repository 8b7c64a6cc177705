//! The floor: one thread with the workers and all that is shared with them. A hub serves the keeper's orders, the descriptors of
//! the shared memory, and the timers: attempts that come later, and a tick.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ysuite::hub::{Hub, Interest};
use ysuite::mailbox::Address;
use ysuite::{spsc, watch};
use ysuite_shm::{BytesWatchSender, BytesWorkSender, Funnel, WatchSender};

use crate::protocol::{
    self, Counts, LARGEST_SHEET, Progress, ProgressWords, Report, ReportWords, Said, progress, withdrawals,
};

/// Jobs of a worker at a time: one more than it works on.
const CREDIT: usize = 2;
/// Jobs that are withdrawn and may still come to a worker: of more, the newest are told.
const MOST_WITHDRAWN: usize = 1_000;
const TICK: Duration = Duration::from_millis(50);
/// While a job is overdue by this, a worker that has been silent for as long is taken to hang, and killed.
const PATIENCE: Duration = Duration::from_secs(2);
/// For workers to go home.
const FAREWELL: Duration = Duration::from_secs(2);
/// Looks at everything before the hub has its turn again.
const ROUNDS: usize = 16;

/// An attempt.
pub(crate) struct Sheet {
    pub(crate) id: u64,
    pub(crate) attempt: u32,
    pub(crate) bytes: Vec<u8>,
}

/// What the keeper wants.
pub(crate) enum Order {
    Give(Sheet),
    GiveLater(Sheet, Duration),
    /// Nobody waits for this job any more.
    Withdraw(u64),
    /// No worker has it any more.
    Forget(u64),
    Stop,
}

struct Worker {
    /// Of its reports.
    lane: u64,
    process: Child,
    /// When it has last said something.
    heard: Instant,
}

impl Worker {
    fn bury(mut self) {
        // Errors: it has ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) struct Floor {
    name: String,
    wanted: usize,
    keeper: Address,
    counted: watch::Receiver<Counts>,
    jobs: BytesWorkSender,
    reports: Funnel<ReportWords>,
    withdrawals: BytesWatchSender,
    progress: WatchSender<ProgressWords>,
    workers: Vec<Worker>,
    /// Those that no worker has room for.
    waiting: VecDeque<Sheet>,
    /// Those that workers have, since when.
    given: HashMap<(u64, u32), Instant>,
    withdrawn: BTreeSet<u64>,
    lost: u64,
    silenced: u64,
}

/// Nothing panics under it.
fn lock(floor: &Mutex<Floor>) -> MutexGuard<'_, Floor> {
    floor.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Floor {
    pub(crate) fn open(
        name: &str,
        wanted: usize,
        keeper: Address,
        counted: watch::Receiver<Counts>,
    ) -> Result<Self, ysuite_shm::Error> {
        Ok(Self {
            name: name.to_owned(),
            wanted,
            keeper,
            counted,
            jobs: BytesWorkSender::without_name(CREDIT, LARGEST_SHEET)?,
            reports: Funnel::without_name()?,
            withdrawals: BytesWatchSender::bind(&withdrawals(name), 8 * MOST_WITHDRAWN, &[])?,
            progress: WatchSender::bind(&progress(name), Progress::default().words())?,
            workers: Vec::new(),
            waiting: VecDeque::new(),
            given: HashMap::new(),
            withdrawn: BTreeSet::new(),
            lost: 0,
            silenced: 0,
        })
    }

    /// Serves until the keeper says stop.
    pub(crate) fn run(self, orders: spsc::Receiver<Order>) -> io::Result<()> {
        let descriptors = self.descriptors()?;
        // One thread has it. Handlers are `Send`, and share nothing but what is locked.
        let floor = Arc::new(Mutex::new(self));
        let mut hub = Hub::new()?;
        for descriptor in descriptors {
            let floor = floor.clone();
            hub.watch(descriptor, Interest::READABLE, move |_, _, _| lock(&floor).step())?;
        }
        let ordered = floor.clone();
        hub.receive(orders, move |hub, order| match order {
            Ok(Order::Give(sheet)) => lock(&ordered).give(sheet),
            Ok(Order::GiveLater(sheet, after)) => {
                let floor = ordered.clone();
                hub.after(after, move |_| lock(&floor).give(sheet));
            }
            Ok(Order::Withdraw(id)) => lock(&ordered).withdraw(id),
            Ok(Order::Forget(id)) => lock(&ordered).forget(id),
            Ok(Order::Stop) | Err(_) => hub.stop(),
        })?;
        let ticked = floor.clone();
        hub.every(TICK, move |_| lock(&ticked).tick());
        lock(&floor).tick();
        hub.run()?;
        drop(hub);
        let floor = Arc::into_inner(floor).expect("the hub had the others");
        floor.into_inner().unwrap_or_else(PoisonError::into_inner).close();
        Ok(())
    }

    /// Copies, as the ends themselves are used by all handlers.
    fn descriptors(&self) -> io::Result<Vec<OwnedFd>> {
        let ends = [self.jobs.as_fd(), self.reports.as_fd(), self.withdrawals.as_fd(), self.progress.as_fd()];
        ends.into_iter().map(|end| end.try_clone_to_owned()).collect()
    }

    fn give(&mut self, sheet: Sheet) {
        // It waited for its time when it was withdrawn.
        if !self.withdrawn.contains(&sheet.id) {
            self.waiting.push_back(sheet);
            self.step();
        } else if !self.given.keys().any(|(id, _)| *id == sheet.id) {
            self.forget(sheet.id);
        }
    }

    fn withdraw(&mut self, id: u64) {
        let before = self.waiting.len();
        self.waiting.retain(|sheet| sheet.id != id);
        // A work queue does not take a job back: the worker that gets it is told.
        if self.waiting.len() == before {
            self.withdrawn.insert(id);
            self.tell_withdrawn();
        }
    }

    fn forget(&mut self, id: u64) {
        if self.withdrawn.remove(&id) {
            self.tell_withdrawn();
        }
    }

    fn tell_withdrawn(&mut self) {
        let newest = self.withdrawn.iter().rev().take(MOST_WITHDRAWN);
        self.withdrawals.send(&newest.flat_map(|id| id.to_le_bytes()).collect::<Vec<_>>());
    }

    /// Does all that can be done now, until the descriptors tell of more; or the tick, if there is no end of it.
    fn step(&mut self) {
        for _ in 0..ROUNDS {
            self.hear();
            self.jobs.serve();
            self.give_out();
            // Without workers there is always something to be done, as an end says: to hire some.
            if self.workers.is_empty() || self.arm() {
                break;
            }
        }
    }

    /// Whether the descriptors will tell.
    fn arm(&mut self) -> bool {
        let jobs = match (self.waiting.is_empty(), self.jobs.unfinished()) {
            (false, _) => self.jobs.arm(),
            (true, 0) => true,
            (true, _) => self.jobs.arm_to_settle(),
        };
        jobs && self.reports.arm() && self.withdrawals.arm() && self.progress.arm()
    }

    fn give_out(&mut self) {
        while let Some(sheet) = self.waiting.front() {
            if self.jobs.try_send(&sheet.bytes).is_err() {
                break;
            }
            self.given.insert((sheet.id, sheet.attempt), Instant::now());
            self.waiting.pop_front();
        }
    }

    fn hear(&mut self) {
        while let Ok((lane, words)) = self.reports.try_recv_from() {
            if let Some(worker) = self.workers.iter_mut().find(|worker| worker.lane == lane) {
                worker.heard = Instant::now();
            }
            let Some(report) = Report::of(words) else { continue };
            let attempt = (report.id, report.attempt);
            match report.said {
                Said::Alive => continue,
                // It may have begun before, with a worker that has died.
                Said::Begun => {
                    self.given.entry(attempt).and_modify(|since| *since = Instant::now());
                }
                Said::Done(_) | Said::Failed | Said::Withdrawn => {
                    self.given.remove(&attempt);
                    self.forget(report.id);
                }
            }
            // An error: the keeper has ended, and its last order is on its way.
            let _ = self.keeper.send(report);
        }
        while let Some(ended) = self.reports.next_ended() {
            if let Some(at) = self.workers.iter().position(|worker| worker.lane == ended.sender) {
                self.workers.swap_remove(at).bury();
                self.lost += 1;
                self.hire();
            }
        }
    }

    fn hire(&mut self) {
        while self.workers.len() < self.wanted {
            match self.start() {
                Ok(worker) => self.workers.push(worker),
                Err(cause) => return eprintln!("no worker can be hired now: {cause}"),
            }
        }
    }

    fn start(&mut self) -> io::Result<Worker> {
        let (jobs, (lane, reports)) = (self.jobs.seat()?, self.reports.seat()?);
        let mut program = Command::new(std::env::current_exe()?);
        program.args(["work", &self.name]).stdin(Stdio::from(jobs)).stdout(Stdio::from(reports));
        Ok(Worker { lane, process: program.spawn()?, heard: Instant::now() })
    }

    fn tick(&mut self) {
        self.hire();
        // A work queue does not say who has a job. Who works says something within this time.
        if self.given.values().any(|since| since.elapsed() > PATIENCE) {
            for worker in self.workers.iter_mut().filter(|worker| worker.heard.elapsed() > PATIENCE) {
                self.silenced += u64::from(worker.process.kill().is_ok());
                worker.heard = Instant::now();
            }
        }
        self.step();
        let workers = self.workers.iter().map(|worker| worker.process.id()).collect();
        let (counts, lost, silenced) = (*self.counted.borrow(), self.lost, self.silenced);
        self.progress.send(protocol::Progress { counts, lost, silenced, workers }.words());
    }

    /// Workers end when they have no jobs any more; or are killed.
    fn close(mut self) {
        self.tick();
        let Self { jobs, mut reports, workers, .. } = self;
        drop(jobs);
        let until = Instant::now() + FAREWELL;
        while reports.recv_deadline(until).is_ok() {}
        workers.into_iter().for_each(Worker::bury);
    }
}
