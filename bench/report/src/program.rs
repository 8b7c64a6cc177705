//! The whole program, for our `main` and for one that adds queues of its own.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use ybench_measure::error::Error;
use ybench_measure::registry;
use ybench_measure::scenario::cells::drivers::{self, Drivers};
use ybench_measure::scenario::{self, Entry};
use ybench_measure::{interrupt, memory};

use crate::cli::{ArticleName, Cli, Colour, Command};
use crate::{
    article, choose, clock, commands, compare, competitors, footprint, goals, limits, manual, measurements, output,
    results, scale, turn, turns,
};

/// Carries out the command line and returns the exit status. `guests` are third-party adapters to measure as well.
///
/// `drivers` let them take part in `ybench competitors`; without drivers they are in all other tables.
pub fn run(guests: Vec<Entry>, drivers: Vec<Drivers>) -> ExitCode {
    let cli = Cli::parse();
    output::colour(match cli.options.color {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => {
            std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty())
        }
    });
    // Must come before the first search for a transport.
    let outcome = welcome(guests, drivers).and_then(|()| carried_out(&cli)).and_then(|()| output::whole());
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            error.exit_status().into()
        }
    }
}

fn welcome(guests: Vec<Entry>, offered: Vec<Drivers>) -> Result<(), Error> {
    if !guests.is_empty() {
        registry::welcome(guests)?;
    }
    if offered.is_empty() { Ok(()) } else { drivers::offer(offered) }
}

fn carried_out(cli: &Cli) -> Result<(), Error> {
    match &cli.command {
        Some(Command::Compare(asked)) => cli.nothing_to_measure(&[]).and_then(|()| compare::run(asked)),
        Some(Command::Report(asked)) => {
            let checked = cli.nothing_to_measure(&["--markdown", "--csv", "--against"]);
            checked.and_then(|()| commands::report::run(asked, &cli.options.of_a_report()?))
        }
        Some(Command::Held { transport, backlog }) => commands::held(transport, *backlog),
        Some(Command::Taken { transport, bytes, backlog }) => commands::taken(transport, *bytes, *backlog),
        Some(Command::Weigh { kind, what, number }) => {
            footprint::weigh(kind, *what, *number, cli.options.cpus.as_deref())
        }
        Some(Command::ProcessSide) => scenario::process::side::run(registry::named),
        Some(Command::Measurements(asked)) => cli.nothing_to_measure(&[]).and_then(|()| measurements::run(asked)),
        Some(Command::List) => {
            cli.nothing_to_measure(&["--json"]).and_then(|()| commands::list(cli.options.json.as_deref()))
        }
        Some(Command::Completions { shell }) => cli.nothing_to_measure(&[]).map(|()| manual::completions(*shell)),
        Some(Command::Man) => cli.nothing_to_measure(&[]).and_then(|()| manual::man()),
        measuring => measured(cli, measuring.as_ref()),
    }
}

fn measured(cli: &Cli, command: Option<&Command>) -> Result<(), Error> {
    memory::this_is_the_program();
    interrupt::install(Duration::from_millis(cli.options.patience_ms));
    let request = cli.request()?;
    if cli.options.in_turn {
        turn::ask();
    }
    let report = match command {
        Some(Command::Choose(wanted)) => choose::run(&request, wanted)?,
        Some(Command::Ab(asked)) => return turns::run(&request, asked),
        Some(Command::Run(selection)) => commands::run::run(&request, selection)?,
        Some(Command::Scale) => scale::run(&request)?,
        Some(Command::Footprint(asked)) => footprint::run(&request, asked)?,
        Some(Command::Competitors(asked)) => match competitors::run(&request, asked)? {
            Some(report) => report,
            None => return Ok(()),
        },
        Some(Command::Article { name: ArticleName::YSuite }) => article::y_suite::run(&request)?,
        Some(Command::Article { name: ArticleName::Nanosecond }) => article::nanosecond::run(&request)?,
        Some(Command::Article { name: ArticleName::Threads }) => article::threads::run(&request)?,
        Some(Command::Article { name: ArticleName::Linux }) => article::linux::run(&request)?,
        Some(Command::Clock) => clock::command::run(&request)?,
        Some(Command::Limits) => limits::run(&request)?,
        Some(Command::Goals) => goals::run(&request)?,
        _ => commands::default::run(&request)?,
    };
    results::finish(&report, &request)
}
