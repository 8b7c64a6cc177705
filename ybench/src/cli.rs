//! What can be asked for on the command line, and the refusal of what cannot be done.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use ybench_core::error::Error;
use ybench_core::place::{Place, keep_on};
use ybench_core::registry;

use crate::choose::Wanted;
use crate::commands::run::Selection;
use crate::compare::{self, Baseline};
use crate::report::output_dir;
use crate::request::{LIMIT_BESIDE_FIXED_MESSAGES, Request};
use crate::table;
use crate::{commands, measurements, output, rivals};

/// Measures ways of passing messages between the threads of one process, on this machine.
///
/// Without a command: a comparison of every transport in less than a minute.
///
/// Ctrl-C ends a measurement after the run at work; what is complete is printed and kept as usual, and the exit status
/// is 130. A second Ctrl-C ends it at once. Killed (SIGKILL) while it measures `sysv-mq`, it leaves System V message
/// queues behind: `ipcs -q` names them, `ipcrm -q ID` removes them. Nothing else of it outlives it. Other exit statuses: 0 for a result, 1 if a transport broke its word, a
/// result could not be written or `--fail-on-regression` applies, 2 for what cannot be done, 3 if nothing is
/// called slower but `--fail-on-regression` cannot be told of everything.
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
    /// Say which transports do what you need, which of them are quickest here, and why not the others
    Choose(Wanted),
    /// Measure the scenarios of these names
    Run(Selection),
    /// Measure what a message costs as threads and channels become more, from 1 to thousands
    Scale,
    /// Measure everybody side by side, like beside like: every way of use, with messages of 8, 24, 64 and 256 bytes
    Rivals(rivals::Asked),
    /// Reproduce an article, table by table, beside the published figures
    Article { name: ArticleName },
    /// Measure what it costs to read a clock, and whether the clocks of the two CPUs are in step
    Clock,
    /// Say what has become slower or faster between two kept results
    Compare(compare::Asked),
    /// Measure what the machine itself cannot do faster
    Limits,
    /// Make tables, a page, Markdown and CSV again from kept results
    Report(commands::report::Asked),
    /// Tell the bytes that each of so many messages holds in a transport, and nothing else
    #[command(hide = true)]
    Held { transport: String, backlog: u64 },
    /// Tell the bytes that each of so many messages of that size holds in a transport, and those that stay behind
    #[command(hide = true)]
    Taken { transport: String, bytes: u64, backlog: u64 },
    /// Write the project's own document of figures from kept results
    #[command(hide = true)]
    Measurements(measurements::Asked),
    /// Name every scenario, transport and article
    List,
    /// Measure this project's own targets
    #[command(hide = true)]
    Goals,
}

impl Command {
    /// As the folder of its results is called.
    fn name(&self) -> &'static str {
        match self {
            Self::Article { name: ArticleName::YSuite } => "y-suite",
            Self::Article { name: ArticleName::Nanosecond } => "nanosecond",
            Self::Article { name: ArticleName::Threads } => "threads",
            Self::Article { name: ArticleName::Linux } => "linux",
            Self::Choose(_) => "choose",
            Self::Scale => "scale",
            Self::Rivals(_) => "rivals",
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
    /// Message passing in Linux: what the kernel offers and a queue of our own, by shape, size and way of waiting
    Linux,
}

#[derive(Debug, Args)]
pub struct Options {
    /// Keep the run, every round of it, in this file; - is standard output, and all else is then said to stderr
    #[arg(long, global = true, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Exactly so many rounds [default: until the intervals are tight, within the time; with --messages 7; in an
    /// article as many as its claims need]
    #[arg(long, global = true, value_name = "N")]
    pub rounds: Option<u32>,
    /// The CPUs of the sending and the receiving thread; one number for both on the same CPU
    #[arg(long, global = true, value_name = "A,B")]
    pub cpus: Option<String>,
    /// Only this transport; may be given more than once, and may be several with commas between
    #[arg(long = "transport", global = true, value_name = "NAME", value_delimiter = ',')]
    pub transports: Vec<String>,
    /// So many messages in each run, instead of as many as the time allows
    #[arg(long, global = true, value_name = "N")]
    pub messages: Option<u64>,
    /// About how long the whole measurement takes [default: 40; choose: 30; run: 60; scale: 120; rivals: 900;
    /// limits: 20]
    #[arg(long, global = true, value_name = "SECONDS")]
    pub time: Option<f64>,
    /// Where the report and pictures are written [default: $YBENCH_OUT, or a new folder in target/ybench, where
    /// index.html names them all]
    #[arg(long, alias = "svg", global = true, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Count the messages that took longer than so many microseconds [default: 10]
    #[arg(long, global = true, value_name = "US")]
    pub beyond: Option<f64>,
    /// Keep the run as the baseline of this name
    #[arg(long, global = true, value_name = "NAME")]
    pub save_baseline: Option<String>,
    /// Compare the run with the baseline of this name
    #[arg(long, global = true, value_name = "NAME")]
    pub baseline: Option<String>,
    /// Where baselines are kept [default: target/ybench/baselines]
    #[arg(long, global = true, value_name = "DIR", env = "YBENCH_BASELINES")]
    pub baselines: Option<PathBuf>,
    /// Milliseconds of a run of a limit where the number of messages is fixed: for tests, to which no figure matters
    #[arg(long, global = true, hide = true, value_name = "MS", env = "YBENCH_LIMIT_MS")]
    pub limit_ms: Option<u64>,
}

impl Options {
    /// The limit of [`Options::beyond`], in nanoseconds.
    pub fn beyond(&self) -> Result<f64, Error> {
        match self.beyond {
            Some(limit) if !(limit > 0.0 && limit.is_finite()) => {
                Err(Error::Refused("--beyond takes a number of microseconds above 0.".to_owned()))
            }
            limit => Ok(limit.map_or(table::BEYOND, |microseconds| microseconds * 1e3)),
        }
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
    /// Refuses options about measuring, for a command that does not.
    pub fn nothing_to_measure(&self) -> Result<(), Error> {
        let options = &self.options;
        let given = [
            ("--json", options.json.is_some()),
            ("--rounds", options.rounds.is_some()),
            ("--cpus", options.cpus.is_some()),
            ("--transport", !options.transports.is_empty()),
            ("--messages", options.messages.is_some()),
            ("--time", options.time.is_some()),
            ("--out", options.out.is_some()),
            ("--save-baseline", options.save_baseline.is_some()),
            ("--baseline", options.baseline.is_some()),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((name, _)) => {
                Err(Error::Refused(format!("{name} has no meaning here: this command measures nothing.")))
            }
            None => Ok(()),
        }
    }

    /// Refuses options that this command would not look at.
    fn refuse_what_means_nothing(&self) -> Result<(), Error> {
        let options = &self.options;
        let refuse = |sentence: &str| Err(Error::Refused(sentence.to_owned()));
        let baselined = options.baseline.is_some() || options.save_baseline.is_some();
        match self.command {
            Some(Command::Limits | Command::Goals) if !options.transports.is_empty() => {
                refuse("--transport has no meaning here: no transport is chosen by this command.")
            }
            Some(Command::Clock | Command::Limits | Command::List) if baselined => {
                refuse("A baseline has no meaning here: this command measures no transport.")
            }
            Some(Command::Clock) => options.without_meaning_to_a_clock(),
            Some(Command::Article { .. }) if options.time.is_some() => {
                refuse("--time has no meaning here: this command measures fixed numbers of messages.")
            }
            _ => Ok(()),
        }
    }

    /// Everything that can be wrong with a request is found here, before anything is measured.
    pub fn request(&self) -> Result<Request, Error> {
        let options = &self.options;
        let refuse = |sentence: &str| Err(Error::Refused(sentence.to_owned()));
        if options.rounds == Some(0) {
            return refuse("There must be at least one round.");
        }
        if options.messages == Some(0) {
            return refuse("There must be at least one message.");
        }
        if options.time.is_some_and(|seconds| !(seconds > 0.0 && seconds <= 86_400.0)) {
            return refuse("--time takes a number of seconds above 0 and up to a day.");
        }
        self.refuse_what_means_nothing()?;
        let mut entries = registry::chosen(&options.transports)?;
        if self.command.is_none() && options.transports.is_empty() {
            entries.retain(|entry| !entry.traits.variant);
        }
        let place = Place::choose(options.cpus.as_deref())?;
        if options.cpus.is_some() {
            // Whoever names CPUs wants no others, of however many threads.
            let _ = keep_on(&place.cpus());
        }
        if let Some(Command::Run(selection)) = &self.command {
            selection.resolved()?;
        }
        if let Some(Command::Rivals(asked)) = &self.command {
            asked.resolved()?;
        }
        if let Some(Command::Choose(wanted)) = &self.command {
            wanted.check()?;
        }
        let from_environment = || std::env::var_os("YBENCH_OUT").map(PathBuf::from);
        let out = options.out.clone().or_else(from_environment);
        let out = out.unwrap_or_else(|| output_dir::folder(self.command.as_ref().map_or("quick", Command::name)));
        if let Some(path) = &options.json {
            crate::storage::check_file(path)?;
            if path == Path::new(crate::storage::STANDARD_OUTPUT) {
                output::beside();
            }
        }
        if matches!(
            self.command,
            None | Some(
                Command::Article { .. } | Command::Choose(_) | Command::Run(_) | Command::Scale | Command::Rivals(_)
            )
        ) {
            crate::storage::check_folder(&out)?;
        }
        let baselines = options.baselines.clone().unwrap_or_else(|| PathBuf::from("target/ybench/baselines"));
        let baseline = options.baseline.as_ref().map(|name| Baseline::open(&baselines, name, place)).transpose()?;
        let save_baseline = options.save_baseline.as_ref().map(|name| Baseline::to_be(&baselines, name)).transpose()?;
        Ok(Request {
            place,
            rounds: options.rounds,
            entries,
            named: !options.transports.is_empty(),
            messages: options.messages,
            seconds: options.time,
            limit_beside_fixed_messages: options.limit_ms.map_or(LIMIT_BESIDE_FIXED_MESSAGES, Duration::from_millis),
            json: options.json.clone(),
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
    fn what_cannot_be_done_is_refused_in_one_sentence() {
        assert_eq!(refusal(&["--rounds", "0"]), "There must be at least one round.");
        assert_eq!(refusal(&["--messages", "0"]), "There must be at least one message.");
        for time in ["0", "-1", "NaN", "inf"] {
            let argument = format!("--time={time}");
            assert!(refusal(&[&argument]).starts_with("--time takes"), "{time}");
        }
        assert!(refusal(&["limits", "--transport", "spsc"]).starts_with("--transport has no meaning"));
    }

    #[test]
    fn options_may_stand_behind_the_command() {
        let cli = Cli::try_parse_from(["ybench", "article", "y-suite", "--rounds", "2"]).unwrap();
        assert_eq!(cli.options.rounds, Some(2));
        assert!(matches!(cli.command, Some(Command::Article { name: ArticleName::YSuite })));
    }
}
