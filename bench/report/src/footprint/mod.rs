//! `ybench footprint`: what a channel library costs its users beside time in a stream: many channels, a burst, the
//! stack, and compiling it.

mod table;

use clap::{Args, ValueEnum};
use ybench_measure::error::Error;
pub use ybench_measure::footprint::offer;
use ybench_measure::footprint::{self, BURST, Measured, compile::Compile};
use ybench_measure::place::Place;
use ybench_measure::record::Report;
use ybench_measure::rounds::{Length, Rounds};

pub use self::table::{channels, resident};
use crate::measure;
use crate::output::say;
use crate::report::Study;
use crate::request::Request;
use crate::table::Part;

const COMMAND: &str = "footprint";
const SECONDS: f64 = 120.0;
/// If the number of messages is fixed, and so the time.
const ROUNDS: u32 = 5;
/// A round compiles every library twice.
const BUILDS: u32 = 3;

#[derive(Clone, Debug, Args)]
pub struct Asked {
    /// Number of channels that exist at the same time
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub channels: u64,
    /// Only this kind of channel; repeatable, and several may be separated by commas
    #[arg(long = "kind", value_name = "NAME", value_delimiter = ',')]
    pub kinds: Vec<String>,
    /// Compile a program of one line with each library as well, from nothing, three times. Needs cargo, and the network
    /// for packages that have never been fetched. If ybench is stopped at once or killed, it leaves its folder
    /// ybench-compile-PID among the temporary files
    #[arg(long)]
    pub compile: bool,
    /// The ysuite to compile: the folder of the package, or a version [default: the tree that ybench was built from]
    #[arg(long, value_name = "PATH", requires = "compile")]
    pub ysuite: Option<String>,
    /// Compile ysuite with these features too, without its default ones unless `default` is among them; repeatable
    #[arg(long, value_name = "LIST", requires = "compile")]
    pub features: Vec<String>,
}

impl Asked {
    /// # Errors
    ///
    /// Refuses a number of channels or a kind that cannot be measured.
    pub fn check(&self) -> Result<(), Error> {
        footprint::check(self.channels)?;
        footprint::chosen(&self.kinds).map(|_| ())
    }
}

pub fn run(request: &Request, asked: &Asked) -> Result<Report, Error> {
    let kinds = footprint::chosen(&asked.kinds)?;
    let compile = asked.compile.then(|| Compile::of(asked.ysuite.as_deref(), &asked.features)).transpose()?;
    let rounds = request.likely_rounds(ROUNDS);
    let frame = request.frame(rounds, Length::Time(request.limit_beside_fixed_messages));
    let builds = compile.as_ref().map(|compile| compile.plans(&kinds, frame)).transpose()?;

    let mut report = measure::begin(COMMAND, request, request.known_rounds(ROUNDS));
    measure::print_heading(&report);
    let mut plans = vec![footprint::plan(&kinds, asked.channels, Some(request.messages.unwrap_or(BURST)), frame)];
    request.adapt(&mut plans, request.seconds.unwrap_or(SECONDS));
    let mut groups = vec![plans];
    if let Some(mut builds) = builds {
        builds.iter_mut().for_each(|plan| plan.rounds = Rounds::Exactly(request.rounds.unwrap_or(BUILDS)));
        groups.push(builds.into());
    }
    measure::measure_together(request, groups, &mut report)?;
    report.notes.extend(compile.map(|compile| compile.source()));
    Ok(report)
}

/// The tables, made from the result alone.
pub fn study(report: &Report) -> Option<Study> {
    (report.command == COMMAND).then(|| {
        let notes = report.notes.iter().cloned().map(Part::Said);
        Study { title: "Footprint", parts: table::parts(report).into_iter().chain(notes).collect(), ..Study::default() }
    })
}

/// What one process measures of one kind.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Weighed {
    Many,
    Burst,
}

/// Measures one kind in this process. The plan of a measurement starts it.
pub fn weigh(kind: &str, what: Weighed, number: u64, cpus: Option<&str>) -> Result<(), Error> {
    let measured = match what {
        Weighed::Many => footprint::check(number).map(|()| Measured::Many(number))?,
        Weighed::Burst => Measured::Burst(number),
    };
    say(footprint::weighed(kind, measured, Place::choose(cpus)?)?);
    Ok(())
}
