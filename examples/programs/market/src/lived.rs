//! A server that is lived with: a process of its own under load, sampled over time, stopped, and checked.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::audit::{self, Audited};
use crate::figures::{self, Diagram, Latencies, Row, Table, of};
use crate::load::{self, Answered, Complaint, Kind, Outcome};
use crate::protocol::OPERATOR;

const SAMPLES: u32 = 90;
/// The mean of the last third of the samples may exceed that of the third before by this much: allocators and page tables.
const MARGIN_KIB: f64 = 1024.0;
const MARGIN_OF_MEMORY: f64 = 0.02;
/// And by this part of the connections at once, as it depends on when they are counted.
const MARGIN_OF_DESCRIPTORS: f64 = 0.25;
/// The columns that are printed. The file has more.
const PRINTED: [&str; 12] = [
    "seconds",
    "visits",
    "resident_kib",
    "descriptors",
    "threads",
    "cpu_s",
    "accepted",
    "audited",
    "lost",
    "p50_us",
    "p99_us",
    "max_us",
];

pub struct Options {
    pub connections: u64,
    pub at_once: usize,
    pub time: Option<Duration>,
    /// Gets `audit.log`, `lived.csv` and `lived.svg`.
    pub folder: PathBuf,
}

/// Runs it, prints and writes the figures. Returns whether every check has passed.
pub fn run(options: &Options) -> Result<bool, Box<dyn Error>> {
    let Options { connections, at_once, time, folder } = options;
    fs::create_dir_all(folder)?;
    let log = folder.join("audit.log");
    let mut server = Server::start(&log)?;
    let mut operator = Operator::connect(server.address)?;
    let (mut life, before) = (Life::default(), server.process()?);
    let load = load::Options { server: server.address, connections: *connections, at_once: *at_once, time: *time };
    let (mut load, begun) = (load::start(load)?, Instant::now());
    // A sample after this many visits, or this time: whichever comes first.
    let (mut counted, mut sampled) = (0, Duration::ZERO);
    let step = (connections / u64::from(SAMPLES)).max(1);
    let pause = time.map_or(Duration::MAX, |time| time / SAMPLES);
    for outcome in &mut load.outcomes {
        life.add(outcome);
        let now = begun.elapsed();
        if life.visits - counted >= step || now - sampled >= pause {
            (counted, sampled) = (life.visits, now);
            life.sample(now, server.process()?, operator.stats()?);
        }
    }
    drop(load);
    // The last sessions end when the server has found that their clients have gone.
    while of(&operator.stats()?, "open") > 1.0 {
        thread::sleep(Duration::from_millis(10));
    }
    let at_rest = server.process()?;
    operator.say("STOP")?;
    let last = figures::read(&server.wait()?);
    life.write(folder, *at_once)?;
    let mut checks = Checks { passed: true };
    life.check(&mut checks, &audit::read(&log)?, &last, *at_once);
    for what in ["descriptors", "threads"] {
        let (before, after) = (of(&before, what), of(&at_rest, what));
        checks.add(before == after, &format!("at rest there are as many {what} as before: {before} and {after}"));
    }
    Ok(checks.passed)
}

/// The server's process. Dropped, it is killed.
struct Server {
    child: Child,
    lines: BufReader<ChildStdout>,
    address: SocketAddr,
}

impl Server {
    fn start(log: &Path) -> Result<Self, Box<dyn Error>> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["serve", "--listen", "127.0.0.1:0", "--audit"]).arg(log).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        lines.read_line(&mut line)?;
        let address = line.trim_end().strip_prefix("listening ").ok_or("the server does not listen")?.parse()?;
        Ok(Self { child, lines, address })
    }

    fn process(&self) -> Result<Row, Box<dyn Error>> {
        Ok(figures::process(self.child.id())?)
    }

    /// Waits for its end. Returns its last line.
    fn wait(&mut self) -> Result<String, Box<dyn Error>> {
        let mut line = String::new();
        self.lines.read_line(&mut line)?;
        let status = self.child.wait()?;
        if status.success() { Ok(line) } else { Err(format!("the server: {status}").into()) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Errors say that it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The operator's connection, of a thread that may block.
struct Operator(BufReader<TcpStream>);

impl Operator {
    fn connect(server: SocketAddr) -> Result<Self, Box<dyn Error>> {
        let mut operator = Self(BufReader::new(TcpStream::connect(server)?));
        operator.say(&format!("LOGIN {OPERATOR}"))?;
        Ok(operator)
    }

    /// Says it, and returns the answer.
    fn say(&mut self, line: &str) -> Result<String, Box<dyn Error>> {
        self.0.get_mut().write_all(format!("{line}\n").as_bytes())?;
        let mut answer = String::new();
        self.0.read_line(&mut answer)?;
        if answer.is_empty() { Err(format!("no answer to {line}").into()) } else { Ok(answer) }
    }

    fn stats(&mut self) -> Result<Row, Box<dyn Error>> {
        Ok(figures::read(&self.say("STATS")?))
    }
}

struct Checks {
    passed: bool,
}

impl Checks {
    fn add(&mut self, passed: bool, what: &str) {
        println!("{} {what}", if passed { "passed" } else { "FAILED" });
        self.passed &= passed;
    }
}

/// What was seen.
#[derive(Default)]
struct Life {
    visits: u64,
    by_kind: BTreeMap<Kind, u64>,
    answered: Vec<Answered>,
    heard: u64,
    lost: u64,
    complaints: Vec<(Kind, Complaint)>,
    /// Since the last sample.
    latencies: Latencies,
    table: Table,
}

impl Life {
    fn add(&mut self, outcome: Outcome) {
        self.visits += 1;
        *self.by_kind.entry(outcome.kind).or_default() += 1;
        outcome.answered.iter().for_each(|answered| self.latencies.add(answered.took));
        self.answered.extend(outcome.answered);
        self.heard += outcome.heard;
        self.lost += outcome.lost;
        self.complaints.extend(outcome.complaint.map(|complaint| (outcome.kind, complaint)));
    }

    fn sample(&mut self, now: Duration, process: Row, stats: Row) {
        let latencies = std::mem::take(&mut self.latencies);
        let (p50, p99, longest) = (latencies.quantile(0.5), latencies.quantile(0.99), latencies.longest());
        let before = figures::row([("seconds", now.as_secs_f64()), ("visits", self.visits as f64)]);
        let behind = figures::row([("p50_us", p50), ("p99_us", p99), ("max_us", longest)]);
        self.table.push([before, process, stats, behind].concat());
    }

    fn write(&self, folder: &Path, at_once: usize) -> Result<(), Box<dyn Error>> {
        let table = &self.table;
        fs::write(folder.join("lived.csv"), table.csv())?;
        let scaled = |values: Vec<f64>, by: f64| values.into_iter().map(|value| value * by).collect::<Vec<_>>();
        let (column, rate) = (|name| table.column(name), |name| table.rate(name, "seconds"));
        let diagrams: [Diagram; 6] = [
            ("Resident memory, MiB", vec![("resident", scaled(column("resident_kib"), 1.0 / 1024.0))]),
            ("Open", vec![("descriptors", column("descriptors")), ("threads", column("threads"))]),
            ("CPU of the server, percent of one", vec![("CPU", scaled(rate("cpu_s"), 100.0))]),
            ("Per second", vec![("connections", rate("visits")), ("orders", rate("accepted"))]),
            ("From an order to its answer, µs", vec![("p50", column("p50_us")), ("p99", column("p99_us"))]),
            ("The longest, µs", vec![("max", column("max_us"))]),
        ];
        let heading = format!("{} connections to a market, {at_once} at once", self.visits);
        fs::write(folder.join("lived.svg"), figures::svg(&heading, &column("seconds"), &diagrams))?;
        table.print(&PRINTED, 15);
        println!("visits: {:?}; events heard: {}, told as lost: {}", self.by_kind, self.heard, self.lost);
        Ok(())
    }

    fn check(&self, checks: &mut Checks, log: &Audited, last: &[(String, f64)], at_once: usize) {
        log.faults.iter().take(5).for_each(|fault| println!("the log: {fault}"));
        self.complaints.iter().take(5).for_each(|(kind, complaint)| println!("{kind:?}: {complaint}"));
        let (complaints, visits) = (self.complaints.len(), self.visits);
        checks.add(complaints == 0, &format!("each visit was as it should be: {visits}, {complaints} were not"));
        let (faults, orders) = (log.faults.len(), log.references.len() as f64);
        checks.add(faults == 0, &format!("the log has each order once: {orders}, {faults} faults"));
        let (accepted, answered) = (of(last, "accepted"), of(last, "answered"));
        checks.add(accepted == orders, &format!("they are those that were accepted: {accepted}"));
        let matches = |answer: &&Answered| log.reference(answer.id) == Some(answer.reference);
        let (answers, matched) = (self.answered.len(), self.answered.iter().filter(matches).count());
        checks.add(answers > 0 && matched == answers, &format!("each answer is to its order: {matched} of {answers}"));
        let given = (answers as f64..=accepted).contains(&answered);
        checks.add(given, &format!("the server has given these answers, and more to those who had gone: {answered}"));
        let [_, second, third] = self.table.thirds("resident_kib");
        let steady = third <= second * (1.0 + MARGIN_OF_MEMORY) + MARGIN_KIB;
        checks.add(steady, &format!("memory does not grow: {second:.0} KiB, then {third:.0}"));
        let [_, second, third] = self.table.thirds("descriptors");
        let steady = third <= second + at_once as f64 * MARGIN_OF_DESCRIPTORS;
        checks.add(steady, &format!("descriptors do not: {second:.0}, then {third:.0}"));
    }
}
