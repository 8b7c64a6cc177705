//! `ybench`: see `ybench --help`, or the library of the same name for how it is built.

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    use clap::Parser;
    use ybench::cli::{ArticleName, Cli, Command};
    use ybench::{
        article, clock, commands, compare, goals, interrupt, measurements, output, quick, report, rivals, scale,
        selected,
    };

    let cli = Cli::parse();
    // Before anything that looks for a transport.
    #[cfg(feature = "rivals")]
    if let Err(refused) = welcome() {
        return ended(Err(refused));
    }
    if let Some(Command::Compare(asked)) = &cli.command {
        return ended(cli.nothing_to_measure().and_then(|()| compare::run(asked)));
    }
    if let Some(Command::Report(asked)) = &cli.command {
        let checked = cli.nothing_to_measure().and_then(|()| cli.options.beyond());
        return ended(checked.and_then(|beyond| report::run(asked, beyond)));
    }
    if let Some(Command::Held { transport, backlog }) = &cli.command {
        return ended(commands::held(transport, *backlog));
    }
    if let Some(Command::Taken { transport, bytes, backlog }) = &cli.command {
        return ended(commands::taken(transport, *bytes, *backlog));
    }
    if let Some(Command::Measurements(asked)) = &cli.command {
        return ended(cli.nothing_to_measure().and_then(|()| measurements::run(asked)));
    }
    ybench::memory::this_is_the_program();
    interrupt::install();
    let outcome = cli.request().and_then(|request| match &cli.command {
        None => quick::run(&request),
        Some(Command::Run(selection)) => selected::run(&request, selection),
        Some(Command::Scale) => scale::run(&request),
        Some(Command::Rivals(asked)) => rivals::run(&request, asked),
        Some(Command::Article { name: ArticleName::YSuite }) => article::y_suite::run(&request),
        Some(Command::Article { name: ArticleName::Nanosecond }) => article::nanosecond::run(&request),
        Some(Command::Article { name: ArticleName::Threads }) => article::threads::run(&request),
        Some(Command::Article { name: ArticleName::Linux }) => article::linux::run(&request),
        Some(Command::Clock) => clock::command::run(&request),
        Some(Command::Limits) => commands::limits(&request),
        Some(Command::Goals) => goals::run(&request),
        Some(Command::List) => {
            commands::list();
            Ok(())
        }
        // Carried out above.
        Some(
            Command::Compare(_)
            | Command::Report(_)
            | Command::Held { .. }
            | Command::Taken { .. }
            | Command::Measurements(_),
        ) => Ok(()),
    });
    ended(outcome.and_then(|()| output::whole()))
}

/// Other people's, with what they do in the cells.
#[cfg(all(target_os = "linux", feature = "rivals"))]
fn welcome() -> Result<(), ybench::error::Error> {
    #[cfg_attr(not(any(feature = "cpp", feature = "d")), allow(unused_mut))]
    let (mut entries, mut drivers) = (ybench_rivals::entries(), ybench_rivals::drivers::drivers());
    #[cfg(any(feature = "cpp", feature = "d"))]
    {
        entries.extend(ybench_foreign::entries());
        drivers.extend(ybench_foreign::drivers());
    }
    ybench::transport::registry::welcome(entries)?;
    ybench::scenario::cells::drivers::offer(drivers)
}

#[cfg(target_os = "linux")]
fn ended(outcome: Result<(), ybench::error::Error>) -> std::process::ExitCode {
    match outcome {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            error.exit_status().into()
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    eprintln!("ybench measures against the limits of Linux (futex, eventfd, epoll, membarrier) and runs only there.");
    std::process::ExitCode::from(2)
}
