//! The command line, and the errors for invalid requests.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use ybench_measure::error::Error;
use ybench_measure::place::{Place, keep_on};
use ybench_measure::registry;
use ybench_measure::stats::LEAST_ROUNDS;

use crate::choose::Wanted;
use crate::commands::run::Selection;
use crate::compare::{self, Baseline};
use crate::report::output_dir;
use crate::request::{LIMIT_BESIDE_FIXED_MESSAGES, Request};
use crate::table;
use crate::{commands, competitors, footprint, measurements, output, quantity, turns};

/// Benchmarks for passing messages between the threads of one process, on this machine.
///
/// Without a command: compares all transports in less than a minute.
///
/// Ctrl-C stops the measurement after the current run. Complete rounds are printed and stored as usual, and the exit
/// status is 130. A second Ctrl-C stops at once. If killed (SIGKILL) while it measures `sysv-mq`, ybench leaves System
/// V message queues: `ipcs -q` lists them, `ipcrm -q ID` removes them. Nothing else outlives the process.
///
/// Other exit statuses: 0 success; 1 if a transport failed validation, a result could not be written, or
/// `--fail-on-regression` applies; 2 invalid request; 3 inconclusive `--fail-on-regression`.
#[derive(Debug, Parser)]
#[command(name = "ybench", version)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub options: Options,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the transports that meet your requirements, the fastest first, and why the others were excluded
    Choose(Wanted),
    /// Measure the named scenarios
    Run(Selection),
    /// Measure the cost of a message for 1 to thousands of threads or channels
    Scale,
    /// Measure what many channels cost: time and bytes for each, what a burst leaves, stack; and what compiling costs
    Footprint(footprint::Asked),
    /// Benchmark all competitors, grouped by capability, with messages of 8, 24, 64 and 256 bytes
    Competitors(competitors::Asked),
    /// Reproduce an article, table by table, with the published figures
    Article { name: ArticleName },
    /// Measure the cost of reading a clock, and check whether the clocks of the two CPUs are in step
    Clock,
    /// Compare two stored results: what is slower, what is faster
    Compare(compare::Asked),
    /// Run two builds of ybench by turns: what is slower, what is faster, whatever the machine does meanwhile (A/B)
    Ab(turns::Asked),
    /// Measure the baselines: bare primitives of the kernel and the CPU, without a queue
    Limits,
    /// Make tables, a page, Markdown and CSV from stored results
    Report(commands::report::Asked),
    /// Print the bytes per message of `backlog` messages in a transport
    #[command(hide = true)]
    Held { transport: String, backlog: u64 },
    /// Print the bytes per message of `backlog` messages of `bytes` bytes in a transport, and the bytes still held
    /// afterwards
    #[command(hide = true)]
    Taken { transport: String, bytes: u64, backlog: u64 },
    /// Write the project's document of measurements from stored results
    #[command(hide = true)]
    Measurements(measurements::Asked),
    /// Print the times and bytes of many channels of one kind, or the bytes that a burst leaves
    #[command(hide = true)]
    Weigh { kind: String, what: footprint::Weighed, number: u64 },
    /// Send or receive as one of the two processes of a measurement, which starts it
    #[command(hide = true)]
    ProcessSide,
    /// List all scenarios, transports and articles; with --json for programs
    List,
    /// Print the completions of a shell, for a file that it reads at its start
    Completions { shell: clap_complete::Shell },
    /// Print the man page (roff): `ybench man > ybench.1`
    Man,
    /// Measure this project's own targets
    #[command(hide = true)]
    Goals,
}

impl Command {
    /// The suffix of the name of the output folder.
    fn name(&self) -> &'static str {
        match self {
            Self::Article { name: ArticleName::YSuite } => "y-suite",
            Self::Article { name: ArticleName::Nanosecond } => "nanosecond",
            Self::Article { name: ArticleName::Threads } => "threads",
            Self::Article { name: ArticleName::Linux } => "linux",
            Self::Choose(_) => "choose",
            Self::Scale => "scale",
            Self::Footprint(_) => "footprint",
            Self::Competitors(_) => "competitors",
            Self::Ab(_) => "ab",
            _ => "run",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ArticleName {
    /// "Y-suite": local sockets and the ypipe, with and without polling
    YSuite,
    /// "Nanosecond-precision test": clocks, and the time of every single message
    Nanosecond,
    /// "Messaging between threads": four designs, tails, bursts, silences, crowds
    Threads,
    /// Message passing in Linux: the kernel's mechanisms and a queue of our own, by shape, size and way of waiting
    Linux,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    Auto,
    Always,
    Never,
}

/// More messages in a run hardly end, and say no more.
const MOST_MESSAGES: u64 = 1_000_000_000;

/// The same of rounds.
const MOST_ROUNDS: u32 = 1_000_000;

#[derive(Debug, Args)]
pub struct Options {
    /// Store the result, with every round, in this file; - is standard output, and all other output goes to stderr
    #[arg(long, global = true, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the tables as Markdown
    #[arg(long, global = true, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write a line for each scenario, parameter and transport
    #[arg(long, global = true, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Exact number of rounds [default: until the intervals are narrow, within the time; with --messages 7; in an
    /// article as many as its claims need]
    #[arg(long, global = true, value_name = "N")]
    pub rounds: Option<u32>,
    /// At least this many rounds, however narrow the intervals are [default: 5]
    #[arg(long, global = true, value_name = "N", conflicts_with = "rounds")]
    pub least_rounds: Option<u32>,
    /// Rounds of each scenario that are run first and do not count, in addition to the run that finds the number of
    /// messages [default: 0]
    #[arg(long, global = true, value_name = "ROUNDS")]
    pub warm_up: Option<u32>,
    /// The CPUs of the sending and the receiving thread; one number for the same CPU
    #[arg(long, global = true, value_name = "A,B")]
    pub cpus: Option<String>,
    /// Only this transport; repeatable, and several may be separated by commas
    #[arg(long = "transport", global = true, value_name = "NAME", value_delimiter = ',')]
    pub transports: Vec<String>,
    /// Compare each other transport with this one, with intervals; repeatable, or separated by commas
    #[arg(long, global = true, value_name = "NAME", value_delimiter = ',')]
    pub against: Vec<String>,
    /// Number of messages in each run (10k, 1M) [default: as the time allows]
    #[arg(long, global = true, value_name = "N", value_parser = quantity::whole)]
    pub messages: Option<u64>,
    /// Approximate time of the whole measurement (90s, 2m) [default: 40; choose: 30; run: 60; scale, footprint: 120; competitors:
    /// 900; limits: 20]
    #[arg(long, global = true, value_name = "SECONDS", value_parser = quantity::seconds, allow_negative_numbers = true)]
    pub time: Option<f64>,
    /// Folder for the report and the pictures [default: $YBENCH_OUT, or a new folder in target/ybench, where
    /// index.html lists all of them]
    #[arg(long, alias = "svg", global = true, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Count the messages that took longer than this many microseconds [default: 10]
    #[arg(long, global = true, value_name = "US")]
    pub beyond: Option<f64>,
    /// Store the run as the baseline of this name
    #[arg(long, global = true, value_name = "NAME")]
    pub save_baseline: Option<String>,
    /// Compare the run with the baseline of this name
    #[arg(long, global = true, value_name = "NAME")]
    pub baseline: Option<String>,
    /// Folder of the stored baselines [default: target/ybench/baselines]
    #[arg(long, global = true, value_name = "DIR", env = "YBENCH_BASELINES")]
    pub baselines: Option<PathBuf>,
    /// Print all tables and all warnings
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Print the result only: no progress and no warnings, except of a broken word
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// When to colour the output; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Colour,
    /// Ask for each round on standard output, and wait for a line: for `ab`
    #[arg(long, global = true, hide = true)]
    pub in_turn: bool,
    /// Milliseconds after which a run is ended that a signal does not end: for tests
    #[arg(long, global = true, hide = true, value_name = "MS", env = "YBENCH_PATIENCE_MS", default_value_t = 10_000)]
    pub patience_ms: u64,
    /// Milliseconds of a baseline's run if the number of messages is fixed: for tests, which need no figures
    #[arg(long, global = true, hide = true, value_name = "MS", env = "YBENCH_LIMIT_MS")]
    pub limit_ms: Option<u64>,
}

impl Options {
    /// [`Options::beyond`] in nanoseconds.
    pub fn beyond(&self) -> Result<f64, Error> {
        match self.beyond {
            Some(limit) if !(limit > 0.0 && limit.is_finite()) => {
                Err(Error::Refused("--beyond takes a number of microseconds above 0.".to_owned()))
            }
            limit => Ok(limit.map_or(table::BEYOND, |microseconds| microseconds * 1e3)),
        }
    }

    /// Those that mean something to a stored result.
    pub fn of_a_report(&self) -> Result<commands::report::Wanted<'_>, Error> {
        Ok(commands::report::Wanted {
            markdown: self.markdown.as_deref(),
            csv: self.csv.as_deref(),
            against: &self.against,
            beyond: self.beyond()?,
        })
    }

    fn without_meaning_to_a_clock(&self) -> Result<(), Error> {
        let given = [
            ("--transport", !self.transports.is_empty()),
            ("--messages", self.messages.is_some()),
            ("--rounds", self.rounds.is_some()),
            ("--time", self.time.is_some()),
        ];
        let Some((name, _)) = given.into_iter().find(|(_, given)| *given) else { return Ok(()) };
        Err(Error::Refused(format!("{name} has no meaning here: this command measures clocks, not messages.")))
    }
}

impl Cli {
    /// Refuses options about measuring, for a command that does not measure, except these.
    pub fn nothing_to_measure(&self, except: &[&str]) -> Result<(), Error> {
        let options = &self.options;
        let given = [
            ("--json", options.json.is_some()),
            ("--markdown", options.markdown.is_some()),
            ("--csv", options.csv.is_some()),
            ("--rounds", options.rounds.is_some()),
            ("--cpus", options.cpus.is_some()),
            ("--least-rounds", options.least_rounds.is_some()),
            ("--warm-up", options.warm_up.is_some()),
            ("--transport", !options.transports.is_empty()),
            ("--against", !options.against.is_empty()),
            ("--messages", options.messages.is_some()),
            ("--time", options.time.is_some()),
            ("--out", options.out.is_some()),
            ("--save-baseline", options.save_baseline.is_some()),
            ("--baseline", options.baseline.is_some()),
        ];
        match given.into_iter().find(|(name, given)| *given && !except.contains(name)) {
            Some((name, _)) => {
                Err(Error::Refused(format!("{name} has no meaning here: this command measures nothing.")))
            }
            None => Ok(()),
        }
    }

    /// Refuses options that this command ignores.
    fn refuse_what_means_nothing(&self) -> Result<(), Error> {
        let options = &self.options;
        let refuse = |sentence: &str| Err(Error::Refused(sentence.to_owned()));
        let baselined = options.baseline.is_some() || options.save_baseline.is_some();
        match self.command {
            Some(Command::Limits | Command::Goals) if !options.transports.is_empty() => {
                refuse("--transport has no meaning here: no transport is chosen by this command.")
            }
            Some(Command::Footprint(_)) if !options.transports.is_empty() => {
                refuse("--transport has no meaning here: --kind names kinds of channels.")
            }
            Some(Command::Clock | Command::Limits) if baselined => {
                refuse("A baseline has no meaning here: this command measures no transport.")
            }
            Some(Command::Clock) => options.without_meaning_to_a_clock(),
            Some(Command::Ab(_)) => self.nothing_to_measure(&[
                "--rounds",
                "--warm-up",
                "--cpus",
                "--transport",
                "--messages",
                "--time",
                "--out",
            ]),
            Some(Command::Article { .. }) if options.time.is_some() => {
                refuse("--time has no meaning here: this command measures fixed numbers of messages.")
            }
            _ => Ok(()),
        }
    }

    /// Finds every error in a request before anything is measured.
    pub fn request(&self) -> Result<Request, Error> {
        let options = &self.options;
        let refuse = |sentence: &str| Err(Error::Refused(sentence.to_owned()));
        if options.rounds == Some(0) {
            return refuse("There must be at least one round.");
        }
        if options.messages == Some(0) {
            return refuse("There must be at least one message.");
        }
        if options.messages.is_some_and(|messages| messages > MOST_MESSAGES) {
            return refuse("--messages takes 1 to 1,000,000,000 messages: more hardly end, and say no more.");
        }
        if options.rounds.is_some_and(|rounds| rounds > MOST_ROUNDS)
            || options.least_rounds.is_some_and(|least| least > MOST_ROUNDS)
        {
            return refuse("There are at most 1,000,000 rounds.");
        }
        if options.time.is_some_and(|seconds| !(seconds > 0.0 && seconds <= 86_400.0)) {
            return refuse("--time takes a number of seconds above 0 and up to a day.");
        }
        self.refuse_what_means_nothing()?;
        registry::chosen(&options.against)?;
        // The transports that others are compared with take part.
        let named: &[String] = if options.transports.is_empty() { &[] } else { &options.against };
        let mut entries = registry::chosen(&[&options.transports[..], named].concat())?;
        if self.command.is_none() && options.transports.is_empty() {
            entries.retain(|entry| !entry.traits.variant);
        }
        let place = Place::choose(options.cpus.as_deref())?;
        if options.cpus.is_some() {
            // With --cpus no thread may run on another CPU, however many threads there are.
            let _ = keep_on(&place.cpus());
        }
        if let Some(Command::Run(selection)) = &self.command {
            selection.resolved()?;
        }
        if let Some(Command::Ab(asked)) = &self.command {
            asked.check()?;
        }
        if let Some(Command::Competitors(asked)) = &self.command {
            asked.resolved()?;
        }
        if let Some(Command::Footprint(asked)) = &self.command {
            asked.check()?;
        }
        if let Some(Command::Choose(wanted)) = &self.command {
            wanted.check()?;
        }
        let from_environment = || std::env::var_os("YBENCH_OUT").map(PathBuf::from);
        let out = options.out.clone().or_else(from_environment);
        let out = out.unwrap_or_else(|| output_dir::folder(self.command.as_ref().map_or("quick", Command::name)));
        if options.quiet {
            crate::progress::silence();
        }
        for path in [&options.markdown, &options.csv].into_iter().flatten() {
            crate::storage::check_file(path)?;
        }
        if let Some(path) = &options.json {
            crate::storage::check_file(path)?;
            if path == Path::new(crate::storage::STANDARD_OUTPUT) {
                output::beside();
            }
        }
        if matches!(
            self.command,
            None | Some(
                Command::Article { .. }
                    | Command::Ab(_)
                    | Command::Choose(_)
                    | Command::Run(_)
                    | Command::Scale
                    | Command::Footprint(_)
                    | Command::Competitors(_)
            )
        ) {
            crate::storage::check_folder(&out)?;
        }
        let baselines = options.baselines.clone().unwrap_or_else(|| PathBuf::from("target/ybench/baselines"));
        let baseline = options.baseline.as_ref().map(|name| Baseline::open(&baselines, name, place)).transpose()?;
        let save_baseline = options.save_baseline.as_ref().map(|name| Baseline::to_be(&baselines, name)).transpose()?;
        Ok(Request {
            place,
            cpus: options.cpus.clone(),
            rounds: options.rounds,
            least_rounds: options.least_rounds.unwrap_or(LEAST_ROUNDS as u32).max(1),
            warm_up: options.warm_up.unwrap_or(0),
            entries,
            named: !options.transports.is_empty(),
            messages: options.messages,
            seconds: options.time,
            limit_beside_fixed_messages: options.limit_ms.map_or(LIMIT_BESIDE_FIXED_MESSAGES, Duration::from_millis),
            json: options.json.clone(),
            markdown: options.markdown.clone(),
            csv: options.csv.clone(),
            against: options.against.clone(),
            verbose: options.verbose,
            quiet: options.quiet,
            out,
            beyond: options.beyond()?,
            baseline,
            save_baseline,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    fn refusal(arguments: &[&str]) -> String {
        let cli = Cli::try_parse_from([&["ybench"], arguments].concat()).unwrap();
        cli.request().unwrap_err().to_string()
    }

    #[test]
    fn invalid_requests_are_refused_in_one_sentence() {
        assert_eq!(refusal(&["--rounds", "0"]), "There must be at least one round.");
        assert_eq!(refusal(&["--messages", "0"]), "There must be at least one message.");
        for time in ["0", "86401", "25h"] {
            let argument = format!("--time={time}");
            assert!(refusal(&[&argument]).starts_with("--time takes"), "{time}");
        }
        for arguments in [["--time", "-1"], ["--time", "NaN"], ["--messages", "1.5"], ["--messages", "ten"]] {
            let error = Cli::try_parse_from([&["ybench"], &arguments[..]].concat()).unwrap_err().to_string();
            assert!(error.contains(&format!("'{}' is no ", arguments[1])), "{error}");
        }
        assert!(refusal(&["--messages", "18446744073709"]).starts_with("--messages takes 1 to 1,000,000,000"));
        assert!(refusal(&["--transport", "spcs"]).contains("'spcs'; did you mean spsc?"));
        assert!(refusal(&["run", "throughputt"]).contains("'throughputt'; did you mean throughput?"));
        assert!(refusal(&["--against", "spcs"]).contains("did you mean spsc?"));
        assert!(refusal(&["limits", "--transport", "spsc"]).starts_with("--transport has no meaning"));
    }

    #[test]
    fn numbers_have_suffixes() {
        let cli = Cli::try_parse_from(["ybench", "run", "size", "--messages", "10k", "--time", "1m", "--size", "4KiB"]);
        let cli = cli.unwrap();
        assert_eq!((cli.options.messages, cli.options.time), (Some(10_000), Some(60.0)));
        assert!(matches!(cli.command, Some(Command::Run(selection)) if selection.sizes == [4_096.0]));
    }

    #[test]
    fn options_may_stand_behind_the_command() {
        let cli = Cli::try_parse_from(["ybench", "article", "y-suite", "--rounds", "2"]).unwrap();
        assert_eq!(cli.options.rounds, Some(2));
        assert!(matches!(cli.command, Some(Command::Article { name: ArticleName::YSuite })));
    }
}
