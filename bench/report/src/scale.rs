//! `ybench scale`: the cost of a message for 1 to thousands of threads and channels: a table and a picture for each
//! scenario, and which transports keep their speed.

use ybench_measure::error::Error;
use ybench_measure::plan;
use ybench_measure::record::Report;
use ybench_measure::scenario::Entry;
use ybench_measure::scenario::{Scenario, idle_senders, receivers, senders, sources};

use crate::measure;
use crate::plot::{Looks, Picture};
use crate::report::sweeps;
use crate::request::Request;
use crate::table::sections;

static SCENARIOS: [&Scenario; 5] =
    [&senders::SCENARIO, &idle_senders::SCENARIO, &receivers::SCENARIO, &sources::ONE_AT_A_TIME, &sources::ALL_BUSY];

/// The transports measured by default: the usual choices for many threads or channels. Other ways of waiting and the
/// kernel's mechanisms are not the question here.
const USUAL: [&str; 15] = [
    "mpsc",
    "mpsc-bounded",
    "mpmc",
    "mailbox",
    "hub",
    "spscs-pollset",
    "spscs-epoll",
    "std-channel",
    "std-sync-channel",
    "crossbeam-unbounded",
    "crossbeam-bounded",
    "crossbeam-select",
    "std-eventfds",
    "mutex-condvar",
    "mutex-condvar-asleep",
];

const SECONDS: f64 = 120.0;
/// If the number of messages is fixed, and so the time.
const ROUNDS: u32 = 5;

pub fn run(request: &Request) -> Result<Report, Error> {
    senders::room_for(SCENARIOS.iter().flat_map(|scenario| scenario.parameters).copied())?;
    let entries = entries(request);
    let usual = measure::Usual { command: "scale", seconds: SECONDS, rounds: ROUNDS, nobody: measure::NOBODY };
    measure::in_rounds(request, usual, |frame, warnings| {
        SCENARIOS.iter().flat_map(|scenario| plan::every(scenario, &entries, frame, warnings)).collect()
    })
}

fn entries(request: &Request) -> Vec<&'static Entry> {
    let wanted = |entry: &&Entry| request.named || USUAL.contains(&entry.traits.name);
    request.entries.iter().copied().filter(wanted).collect()
}

/// The time over each quantity, with the file names.
pub fn pictures(report: &Report) -> Vec<(String, Picture)> {
    let looks = Looks::of([report]);
    let mut pictures = Vec::new();
    for section in sections::sections(report) {
        let drawn = sweeps::pictures(&section, &looks).into_iter().next();
        pictures.extend(drawn.map(|picture| (format!("scale-{}", section.scenario), picture)));
    }
    pictures
}

#[cfg(test)]
mod tests {
    use super::*;
    use ybench_measure::registry;

    #[test]
    fn every_default_transport_exists_and_takes_part_somewhere() {
        for name in USUAL {
            let traits = &registry::named(name).unwrap().traits;
            assert!(SCENARIOS.iter().any(|scenario| (scenario.able)(traits)), "{name}");
        }
    }

    #[test]
    fn every_scenario_has_many_columns_for_us_and_for_others() {
        let frame = ybench_measure::frame::Frame {
            place: ybench_measure::place::Place { first: 0, second: 1 },
            rounds: 1,
            transports: ybench_measure::rounds::Length::Units(1),
            limits: ybench_measure::rounds::Length::Units(1),
            named: false,
        };
        let entries: Vec<_> = registry::all().iter().collect();
        for scenario in SCENARIOS {
            let plans = plan::every(scenario, &entries, frame, &mut Vec::new());
            assert!(plans.len() == scenario.parameters.len() && plans.len() >= 7, "{}", scenario.name);
            for plan in plans {
                let there = |name: &str| plan.contenders.iter().any(|one| one.contestant.name == name);
                assert!(there("mpmc") && there("crossbeam-unbounded") && there("mutex-condvar"), "{}", plan.scenario);
                assert_eq!(there("mailbox"), there("hub"));
                assert_eq!(there("hub"), plan.scenario != receivers::SCENARIO.name, "one thread receives");
                let served = plan.scenario.contains("sources");
                assert_eq!(served, there("spscs-pollset") && there("crossbeam-select") && there("std-eventfds"));
            }
        }
    }
}
