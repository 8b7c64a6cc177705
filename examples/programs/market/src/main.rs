//! A market-data server with order entry, on tokio and `ysuite`, and the load to live with it.
//!
//! ```sh
//! cargo run --release -- lived --connections 1000000 --at-once 100 --folder target/lived
//! cargo run --release -- serve --listen 127.0.0.1:7000 --audit audit.log
//! cargo run --release -- load --server 127.0.0.1:7000 --connections 10000 --at-once 100
//! ```
//!
//! | what | channel | why |
//! |---|---|---|
//! | orders, from each connection's task to the thread of the market | `mpsc::bounded_for` | a sender for each connection is a lane of its own; their number is limited, and so are the connections |
//! | an order's answer | `oneshot` | the task awaits it |
//! | quotes and trades, to all who have subscribed | `broadcast::lossy` | a slow client holds nobody up, and learns how many it has lost |
//! | the newest prices | `watch` | each who asks gets the newest, and no history is kept |
//! | the audit log | `mpsc::unbounded` | trading does not wait for the disk |
//! | the stop | `watch` | every task hears it |

mod audit;
mod book;
mod feed;
mod figures;
mod lived;
mod load;
mod protocol;
mod server;
mod session;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::{Display, Write};
use std::fs;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use load::Complaint;

const USAGE: &str = "usage: market MODE --NAME VALUE ..
  serve  [--listen ADDRESS] [--audit FILE] [--most CONNECTIONS] [--patience-ms MS]
         until SIGTERM; its address is printed
  load   --server ADDRESS --connections N [--at-once N] [--seconds S] [--until-stop true] [--answers FILE]
         fails if a visit does; with --until-stop a server may go
  lived  --connections N [--at-once N] [--seconds S] [--folder FOLDER]
         both, sampled over time and checked";

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("market: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool, Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let mode = words.next().ok_or(USAGE)?;
    let mut arguments = Arguments::read(words)?;
    match mode.as_str() {
        "serve" => {
            let options = server::Options {
                listen: arguments.take("listen", Some("127.0.0.1:7000"))?,
                audit: arguments.take("audit", Some("audit.log"))?,
                most: arguments.take("most", Some("10000"))?,
                patience: Duration::from_millis(arguments.take("patience-ms", Some("1000"))?),
            };
            arguments.end()?;
            server::serve(&options).map(|()| true)
        }
        "load" => {
            let options = load::Options {
                server: arguments.take("server", None)?,
                connections: arguments.take("connections", None)?,
                at_once: arguments.take("at-once", Some("100"))?,
                time: arguments.time()?,
            };
            let until_stop = arguments.take("until-stop", Some("false"))?;
            let answers: String = arguments.take("answers", Some(""))?;
            arguments.end()?;
            run_load(options, until_stop, &answers)
        }
        "lived" => {
            let options = lived::Options {
                connections: arguments.take("connections", None)?,
                at_once: arguments.take("at-once", Some("100"))?,
                time: arguments.time()?,
                folder: arguments.take("folder", Some("target/lived"))?,
            };
            arguments.end()?;
            lived::run(&options)
        }
        _ => Err(USAGE.into()),
    }
}

/// Prints the figures. Writes a line for each order that was accepted: its reference and its number.
fn run_load(options: load::Options, until_stop: bool, answers: &str) -> Result<bool, Box<dyn Error>> {
    let mut load = load::start(options)?;
    let (mut latencies, mut lines) = (figures::Latencies::default(), String::new());
    let (mut visits, mut gone, mut wrong) = (0, 0, 0);
    for outcome in &mut load.outcomes {
        visits += 1;
        for answered in &outcome.answered {
            latencies.add(answered.took);
            writeln!(lines, "{} {}", answered.reference, answered.id)?;
        }
        match outcome.complaint {
            None => {}
            Some(Complaint::Gone(_)) if until_stop => {
                gone += 1;
                // The others end as soon as they ask for the next visit.
                if gone == options.at_once {
                    break;
                }
            }
            Some(complaint) => {
                wrong += 1;
                println!("{:?}: {complaint}", outcome.kind);
            }
        }
    }
    if !answers.is_empty() {
        fs::write(answers, lines)?;
    }
    let (p50, p99, longest) = (latencies.quantile(0.5), latencies.quantile(0.99), latencies.longest());
    println!(
        "{visits} visits, {wrong} wrong; from an order to its answer p50 {p50:.0} µs, p99 {p99:.0}, longest {longest:.0}"
    );
    Ok(wrong == 0)
}

/// `--name value ..`
struct Arguments(BTreeMap<String, String>);

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = BTreeMap::new();
        while let Some(word) = words.next() {
            let name = word.strip_prefix("--").ok_or(USAGE)?.to_owned();
            let value = words.next().ok_or_else(|| format!("--{name} has no value"))?;
            arguments.insert(name, value);
        }
        Ok(Self(arguments))
    }

    fn take<T: FromStr<Err: Display>>(&mut self, name: &str, default: Option<&str>) -> Result<T, String> {
        let value = self.0.remove(name).or(default.map(str::to_owned)).ok_or_else(|| format!("--{name} is missing"))?;
        value.parse::<T>().map_err(|error| format!("--{name} {value}: {error}"))
    }

    fn time(&mut self) -> Result<Option<Duration>, String> {
        let seconds: u64 = self.take("seconds", Some("0"))?;
        Ok((seconds > 0).then_some(Duration::from_secs(seconds)))
    }

    fn end(self) -> Result<(), String> {
        self.0.keys().next().map_or(Ok(()), |name| Err(format!("--{name} is not known here\n{USAGE}")))
    }
}
