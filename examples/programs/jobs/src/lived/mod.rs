//! A life: a coordinator, its workers and its submitters under load, while workers are killed, stopped and continued, and
//! submitters killed and started again. At the end: was each job answered rightly, and did anything stay or grow?
//!
//! The numbers of the jobs are a work queue themselves, whose workers are the threads of the submitters: so what a submitter
//! has asked when it is killed is asked again by another.

mod process;
mod record;

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Signal, getpid, set_child_subreaper};
use ysuite_shm::{Funnel, WatchReceiver, WorkSender, connect};

use self::process::{Target, Usage, end_all_children, files_of, sockets_of};
use self::record::{HEAD, Sample, Times, write_csv, write_svg};
use crate::Outcome;
use crate::plan::Random;
use crate::protocol::{Progress, ProgressWords, progress};
use crate::submit::{THREADS, Verdict, numbers, verdicts};

/// If nothing is answered for so long, nothing will be.
const LONGEST_SILENCE: Duration = Duration::from_secs(60);
/// By how much the last third of the time may exceed the second: a tenth, and this.
const MORE_MIB: f64 = 6.0;
const MORE_DESCRIPTORS: f64 = 24.0;
/// Fewer samples say nothing about growth.
const FEWEST_SAMPLES: usize = 30;

pub(crate) struct Settings {
    jobs: u64,
    /// No job is begun after that.
    seconds: u64,
    seed: u64,
    workers: u64,
    submitters: u64,
    /// Jobs between two deeds of the killer, on average.
    every: u64,
    sample: Duration,
    out: PathBuf,
}

impl Settings {
    pub(crate) fn read(words: &[&str]) -> Outcome<Self> {
        let (jobs, seconds, seed, workers, submitters, every) = (10_000, u64::MAX, 1, 3, 2, 200);
        let (sample, out) = (Duration::from_millis(500), PathBuf::from("."));
        let mut read = Self { jobs, seconds, seed, workers, submitters, every, sample, out };
        for option in words.chunks(2) {
            match option {
                ["--out", folder] => read.out = folder.into(),
                ["--sample", number] => read.sample = Duration::from_millis(number.parse()?),
                [name, number] => {
                    let number: u64 = number.parse()?;
                    *match *name {
                        "--jobs" => &mut read.jobs,
                        "--seconds" => &mut read.seconds,
                        "--seed" => &mut read.seed,
                        "--workers" => &mut read.workers,
                        "--submitters" => &mut read.submitters,
                        "--every" => &mut read.every,
                        _ => return Err(crate::USAGE.into()),
                    } = number;
                }
                _ => return Err(crate::USAGE.into()),
            }
        }
        Ok(read)
    }
}

/// All processes but this one. They end with it, also if it panics.
struct Family {
    coordinator: Child,
    address: String,
    submitters: Vec<Child>,
    name: String,
    seed: u64,
    progress: WatchReceiver<ProgressWords>,
}

/// Waits for a process, but not for ever.
fn ended(process: &mut Child) -> Outcome<ExitStatus> {
    let until = Instant::now() + LONGEST_SILENCE;
    while Instant::now() < until {
        if let Some(status) = process.try_wait()? {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(10));
    }
    Err(format!("process {} does not end", process.id()).into())
}

impl Drop for Family {
    fn drop(&mut self) {
        end_all_children();
    }
}

impl Family {
    fn start(settings: &Settings) -> Outcome<Self> {
        set_child_subreaper(Some(getpid()))?;
        let name = format!("jobs-{}", std::process::id());
        let mut program = Command::new(std::env::current_exe()?);
        program.args(["coordinate", "tcp://127.0.0.1:*", &settings.workers.to_string(), &name]);
        let mut coordinator = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        if let Some(output) = &mut coordinator.stdout {
            BufReader::new(output).read_line(&mut line)?;
        }
        let address = line.split(' ').next().unwrap_or_default().to_owned();
        let progress = WatchReceiver::from_fd(connect(&progress(&name))?)?;
        let (submitters, seed) = (Vec::new(), settings.seed);
        let mut family = Self { coordinator, address, submitters, name, seed, progress };
        (0..settings.submitters).try_for_each(|_| family.add_submitter())?;
        Ok(family)
    }

    fn add_submitter(&mut self) -> Outcome<()> {
        let mut program = Command::new(std::env::current_exe()?);
        program.args(["submit", &self.address, &self.name, &self.seed.to_string()]);
        self.submitters.push(program.stdin(Stdio::null()).spawn()?);
        Ok(())
    }

    fn progress(&mut self) -> Progress {
        self.progress.latest().map(|words| Progress::of(&words)).unwrap_or_default()
    }

    fn usage(&mut self) -> Usage {
        let mut usage = Usage::of_the_dead();
        let submitters = self.submitters.iter().map(Child::id);
        let all: Vec<_> = submitters.chain([self.coordinator.id()]).collect();
        all.into_iter().chain(self.progress().workers).for_each(|process| usage.add(process));
        usage
    }

    /// All have answered, and go home.
    fn end(&mut self) -> Outcome<()> {
        self.submitters.drain(..).try_for_each(|mut submitter| ended(&mut submitter).map(drop))?;
        // It ends with its standard input, when no job is open.
        drop(self.coordinator.stdin.take());
        let status = ended(&mut self.coordinator)?;
        if status.success() { Ok(()) } else { Err(format!("the coordinator: {status}").into()) }
    }
}

/// Kills, stops and continues.
struct Killer {
    random: Random,
    every: u64,
    /// After this number of answers.
    next: u64,
    stopped: Vec<(Target, Instant)>,
    workers_killed: u64,
    workers_stopped: u64,
    submitters_killed: u64,
}

impl Killer {
    fn new(seed: u64, every: u64) -> Self {
        let (random, stopped) = (Random(seed), Vec::new());
        Self { random, every, next: every, stopped, workers_killed: 0, workers_stopped: 0, submitters_killed: 0 }
    }

    fn act(&mut self, answered: u64, family: &mut Family) -> Outcome<()> {
        let now = Instant::now();
        for (target, _) in self.stopped.extract_if(.., |(_, until)| *until <= now) {
            // An error: it was killed meanwhile.
            let _ = target.send(Signal::CONT);
        }
        if answered < self.next {
            return Ok(());
        }
        self.next = answered + self.random.within(self.every / 2, self.every * 3 / 2 + 1);
        let deed = self.random.within(0, 8);
        if deed == 0 && !family.submitters.is_empty() {
            let at = self.random.within(0, family.submitters.len() as u64) as usize;
            let mut submitter = family.submitters.swap_remove(at);
            // An error: it has ended.
            let _ = submitter.kill();
            submitter.wait()?;
            self.submitters_killed += 1;
            return family.add_submitter();
        }
        let workers = family.progress().workers;
        let coordinator = family.coordinator.id();
        let at = self.random.within(0, workers.len().max(1) as u64) as usize;
        let Some(target) = workers.get(at).and_then(|worker| Target::child_of(*worker, coordinator)) else {
            // It has just ended.
            self.next = answered + 1;
            return Ok(());
        };
        if deed <= 2 {
            // Some for so long that they are taken to hang.
            let until = now + Duration::from_millis(self.random.within(1, 3_000));
            self.workers_stopped += u64::from(target.send(Signal::STOP).is_ok());
            self.stopped.push((target, until));
        } else {
            self.workers_killed += u64::from(target.send(Signal::KILL).is_ok());
        }
        Ok(())
    }
}

/// What was given out and answered.
struct Ledger {
    numbers: WorkSender<u64>,
    verdicts: Funnel<Verdict>,
    given: u64,
    /// No number beyond this is given out.
    limit: u64,
    /// Of each job: how often it was answered.
    answers: Vec<u8>,
    answered: u64,
    repeated: u64,
    wrong: u64,
    last: Instant,
    all: Times,
    recent: Times,
}

impl Ledger {
    fn new(name: &str, jobs: u64) -> Result<Self, ysuite_shm::Error> {
        let (numbers, verdicts) = (WorkSender::bind(&numbers(name), 1)?, Funnel::bind(&verdicts(name))?);
        let (all, recent, last) = (Times::new(), Times::new(), Instant::now());
        let (given, answered, repeated, wrong, answers) = (0, 0, 0, 0, Vec::new());
        Ok(Self { numbers, verdicts, given, limit: jobs, answers, answered, repeated, wrong, last, all, recent })
    }

    fn give_out(&mut self) {
        self.numbers.serve();
        while self.given < self.limit && self.numbers.try_send(self.given).is_ok() {
            self.given += 1;
            self.answers.push(0);
        }
    }

    fn hear(&mut self) {
        let mut heard = self.verdicts.recv_timeout(Duration::from_millis(2)).ok();
        while let Some([number, is_right, time]) = heard {
            let times = &mut self.answers[number as usize];
            *times = times.saturating_add(1);
            let is_first = *times == 1;
            self.answered += u64::from(is_first);
            self.repeated += u64::from(!is_first);
            self.wrong += u64::from(is_right == 0);
            self.last = Instant::now();
            self.all.add(time);
            self.recent.add(time);
            heard = self.verdicts.try_recv().ok();
        }
    }

    fn is_settled(&self) -> bool {
        self.given == self.limit && self.numbers.unfinished() == 0 && self.answered == self.given
    }
}

struct Life {
    begun: Instant,
    family: Family,
    ledger: Ledger,
    killer: Killer,
    samples: Vec<Sample>,
    cpu: u64,
}

impl Life {
    fn sample(&mut self) {
        let (usage, progress) = (self.family.usage(), self.family.progress());
        let seconds = self.begun.elapsed().as_secs_f64();
        let before = self.samples.last().copied().unwrap_or_default();
        let recent = std::mem::replace(&mut self.ledger.recent, Times::new());
        let passed = (seconds - before.seconds).max(1e-3);
        // What a process has used that was killed since goes over to its parent a little later.
        let cpu = usage.cpu.max(self.cpu) - self.cpu;
        self.cpu = usage.cpu.max(self.cpu);
        self.samples.push(Sample {
            seconds,
            answered: self.ledger.answered,
            per_second: (self.ledger.answered - before.answered) as f64 / passed,
            resident_mib: usage.resident_kib as f64 / 1024.0,
            descriptors: usage.descriptors as f64,
            processes: usage.processes,
            cpu: cpu as f64 / 10.0 / passed,
            p50: recent.quantile(0.5),
            p99: recent.quantile(0.99),
            largest: recent.largest(),
            open: progress.counts.open,
            workers_ended: progress.lost,
            submitters_killed: self.killer.submitters_killed,
            retried: progress.counts.retried,
        });
    }

    fn run(&mut self, settings: &Settings) -> Outcome<()> {
        let mut due = self.begun;
        while !self.ledger.is_settled() {
            self.ledger.give_out();
            self.ledger.hear();
            self.killer.act(self.ledger.answered, &mut self.family)?;
            if Instant::now() >= due {
                self.sample();
                due += settings.sample;
            }
            if self.begun.elapsed().as_secs() >= settings.seconds {
                self.ledger.limit = self.ledger.given;
            }
            if self.ledger.last.elapsed() > LONGEST_SILENCE {
                return Err(
                    format!("no answer any more after {} of {}", self.ledger.answered, self.ledger.given).into()
                );
            }
        }
        for (target, _) in self.killer.stopped.drain(..) {
            let _ = target.send(Signal::CONT);
        }
        Ok(())
    }
}

/// Of the second and of the last third: the mean.
fn thirds(samples: &[Sample], of: fn(&Sample) -> f64) -> (f64, f64) {
    let third = samples.len() / 3;
    let mean = |part: &[Sample]| part.iter().map(of).sum::<f64>() / part.len().max(1) as f64;
    (mean(&samples[third..2 * third]), mean(&samples[2 * third..]))
}

/// Lives, and says whether all was well.
pub(crate) fn live(settings: &Settings) -> Outcome<bool> {
    let name = format!("jobs-{}", std::process::id());
    let ledger = Ledger::new(&name, settings.jobs)?;
    let family = Family::start(settings)?;
    let killer = Killer::new(settings.seed, settings.every.max(2));
    let mut life = Life { begun: Instant::now(), family, ledger, killer, samples: Vec::new(), cpu: 0 };
    life.run(settings)?;
    let Life { mut family, ledger, killer, samples, .. } = life;
    let Ledger { numbers, verdicts, given, answers, repeated, wrong, all, .. } = ledger;
    // The submitters have no more to do.
    drop((numbers, verdicts));
    family.end()?;
    // A watch keeps the last value of a sender that is gone.
    let end = family.progress();
    let left = (end_all_children(), sockets_of(&name), files_of(&name));

    std::fs::create_dir_all(&settings.out)?;
    write_csv(&samples, &settings.out.join("lived.csv"))?;
    write_svg(&samples, &settings.out.join("lived.svg"))?;
    println!("{HEAD}");
    samples.iter().step_by(samples.len().div_ceil(12).max(1)).for_each(|sample| println!("{}", sample.line()));
    println!(
        "jobs={given} p50_ms={:.2} p99_ms={:.2} max_ms={:.2}",
        all.quantile(0.5),
        all.quantile(0.99),
        all.largest()
    );
    let Killer { workers_killed, workers_stopped, submitters_killed, .. } = killer;
    println!("workers_killed={workers_killed} workers_stopped={workers_stopped} submitters_killed={submitters_killed}");
    println!("{end:?}");

    let (memory, descriptors) =
        (thirds(&samples, |sample| sample.resident_mib), thirds(&samples, |sample| sample.descriptors));
    println!("means of the second and the last third: {memory:.1?} MiB, {descriptors:.1?} descriptors");
    let grows = |(second, last): (f64, f64), more: f64| samples.len() >= FEWEST_SAMPLES && last > second * 1.1 + more;
    let checks = [
        (answers.iter().all(|times| *times > 0), "each job was answered"),
        (wrong == 0, "each answer was right"),
        // At most the jobs that a submitter had in its hands when it was killed.
        (repeated <= submitters_killed * THREADS as u64, "none was answered twice, but to who was killed"),
        (end.counts.open == 0, "no job is open"),
        (left == (0, 0, 0), "no process, socket or file is left"),
        (!grows(memory, MORE_MIB), "memory does not grow"),
        (!grows(descriptors, MORE_DESCRIPTORS), "descriptors do not grow"),
    ];
    for (holds, what) in checks {
        println!("{} {what}", if holds { "yes:" } else { "NO: " });
    }
    Ok(checks.iter().all(|(holds, _)| *holds))
}
