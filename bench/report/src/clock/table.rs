//! The clock as tables, made from the stored facts.

use ybench_measure::clock::cost::{GETTIMEOFDAY, OURS, RDTSC};
use ybench_measure::clock::facts::{Facts, distortion};
use ybench_measure::env::Environment;

use super::published::{PROCESSORS, RATES};
use crate::table::{Grid, Part, Tone, figure, grouped, interval};

const HERE: &str = "this machine";

/// The article's table of the cost of a reading, with this machine.
pub fn article(facts: &Facts, environment: &Environment) -> Part {
    let mut grid = Grid::new(&["CPU", ">CPU frequency", ">gettimeofday", ">RDTSC"]);
    for published in PROCESSORS {
        let cells = [
            published.cpu.to_owned(),
            format!("{} GHz", published.gigahertz),
            format!("{} ns", published.gettimeofday),
            format!("{} ns", published.rdtsc),
        ];
        grid.push(Tone::Plain, None, cells.to_vec());
    }
    let cost = |name| facts.cost_of(name).map_or("-".to_owned(), |cost| format!("{} ns", figure(cost)));
    let frequency = environment.cpu_megahertz.map_or("-".to_owned(), |rate| format!("{:.1} GHz", rate / 1000.0));
    grid.push(Tone::Plain, None, vec![here(environment), frequency, cost(GETTIMEOFDAY), cost(RDTSC)]);
    Part::Table("Overhead of a reading, as published and here".to_owned(), grid)
}

fn here(environment: &Environment) -> String {
    environment.cpu_model.as_ref().map_or(HERE.to_owned(), |model| format!("{model} ({HERE})"))
}

/// Every way to read a clock.
pub fn costs(facts: &Facts) -> Part {
    let mut grid = Grid::new(&["way to read a clock", ">ns", ">min .. max"]);
    for row in &facts.table {
        let name = if row.name == OURS { format!("{OURS}: {}", facts.source) } else { row.name.clone() };
        let cells = match (row.nanoseconds, &row.absent) {
            (Some(spread), _) => [figure(spread.median), interval(spread)],
            (None, reason) => ["-".to_owned(), reason.clone().unwrap_or_default()],
        };
        grid.push(Tone::Plain, None, [vec![name], cells.to_vec()].concat());
    }
    Part::Table("Every way to read a clock".to_owned(), grid)
}

/// The clock of single messages, and whether it can be used across CPUs.
pub fn sentences(facts: &Facts) -> String {
    let [cost, resolution, tick] = [facts.cost_ns, facts.resolution_ns, facts.tick_ns].map(figure);
    let invariant = match facts.invariant {
        Some(true) => "\nThe processor promises that its counter runs at one rate.",
        Some(false) => "\nThe processor does not promise that its counter runs at one rate.",
        None => "",
    };
    let step = match facts.step.one_way() {
        Ok(()) => format!("One-way times can be told: {}.", facts.step),
        Err(reason) => reason,
    };
    let overhead = facts.overhead_ns.map_or(String::new(), |overhead| {
        let of = overhead / facts.cost_ns * 100.0;
        format!("\nAn empty round trip takes {} ns here, {of:.0} % of one reading.", figure(overhead))
    });
    format!(
        "Single messages are timed with {}: {cost} ns for a reading, times from {resolution} ns on can be told apart, \
         and a tick is {tick} ns.{invariant}{overhead}\n{step}\n",
        facts.source
    )
}

/// The cost of two readings per message.
pub fn distortions(facts: &Facts, environment: &Environment) -> Part {
    let heads = RATES.map(|rate| format!(">at {} msgs/s", grouped(rate)));
    let mut grid = Grid::new(&["CPU", "clock", ">ns", &heads[0], &heads[1]]);
    let mut add = |cpu: String, clock: &str, cost: f64| {
        let shares = RATES.map(|rate| format!("{:.1} %", distortion(cost, rate) * 100.0));
        grid.push(Tone::Plain, None, [vec![cpu, clock.to_owned(), figure(cost)], shares.to_vec()].concat());
    };
    for published in PROCESSORS {
        add(published.cpu.to_owned(), RDTSC, published.rdtsc);
    }
    for name in [RDTSC, OURS] {
        if let Some(cost) = facts.cost_of(name) {
            add(here(environment), name, cost);
        }
    }
    Part::Table("What two readings add to the time of a message".to_owned(), grid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ybench_measure::clock::cost::Row;
    use ybench_measure::clock::{Source, step::InStep};
    use ybench_measure::stats::Spread;

    fn facts() -> Facts {
        let row = |name: &str, cost: f64| Row {
            name: name.to_owned(),
            nanoseconds: Some(Spread { median: cost, min: cost - 1.0, max: cost + 1.0 }),
            absent: None,
        };
        let absent = Row { name: "rdtscp".into(), nanoseconds: None, absent: Some("no such instruction".into()) };
        Facts {
            source: Source::OrderedCounter,
            cost_ns: 20.0,
            resolution_ns: 18.0,
            tick_ns: 0.4,
            invariant: Some(true),
            step: InStep::No { low: 400.0, high: 600.0 },
            table: vec![row(GETTIMEOFDAY, 30.0), row(RDTSC, 10.0), absent, row(OURS, 20.0)],
            overhead_ns: Some(20.6),
        }
    }

    fn environment() -> Environment {
        Environment { cpu_model: Some("Fast 1".into()), cpu_megahertz: Some(2_600.0), ..Environment::default() }
    }

    fn shown(part: Part) -> String {
        crate::table::part::terminal(&[part])
    }

    /// The cells of the line with this beginning.
    fn line(text: &str, begin: &str) -> String {
        let line = text.lines().find(|line| line.trim_start().starts_with(begin)).unwrap_or_default();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_article_s_table_has_this_machine_as_its_last_row() {
        let text = shown(article(&facts(), &environment()));
        assert!(line(&text, "Intel(R) Core").ends_with("1 GHz 1437 ns 60 ns"), "{text}");
        assert!(line(&text, "AMD Athlon").ends_with("2 GHz 1932 ns 7 ns"), "{text}");
        assert!(line(&text, "Intel(R) Pentium").ends_with("3 GHz 103 ns 33 ns"), "{text}");
        assert!(line(&text, "Fast 1 (this machine)").ends_with("2.6 GHz 30.0 ns 10.0 ns"), "{text}");
    }

    #[test]
    fn a_way_that_is_not_there_says_why() {
        let text = shown(costs(&facts()));
        assert_eq!(line(&text, "rdtscp"), "rdtscp - no such instruction");
        assert_eq!(line(&text, "rdtsc "), "rdtsc 10.0 9.00 .. 11.0");
    }

    #[test]
    fn the_answer_is_one_sentence() {
        let text = sentences(&facts());
        assert!(text.contains("One-way times cannot be told: the clocks of the two CPUs are out of step"), "{text}");
        let text = sentences(&Facts { step: InStep::OneCpu, ..facts() });
        assert!(text.contains("One-way times can be told: both threads are on one CPU"), "{text}");
    }

    #[test]
    fn the_cost_of_the_benchmark_is_printed_with_the_cost_of_a_reading() {
        let text = sentences(&facts());
        assert!(text.contains("An empty round trip takes 20.6 ns here, 103 % of one reading."), "{text}");
        assert!(!sentences(&Facts { overhead_ns: None, ..facts() }).contains("An empty round trip"));
    }

    #[test]
    fn two_readings_add_what_they_cost() {
        let text = shown(distortions(&facts(), &environment()));
        assert!(line(&text, "Intel(R) Pentium").ends_with("rdtsc 33.0 19.8 % 9.9 %"), "{text}");
        assert!(line(&text, "Fast 1 (this machine) ").ends_with("rdtsc 10.0 6.0 % 3.0 %"), "{text}");
    }
}
