//! Figures over time: what `/proc` says of a process, quantiles of latencies, a file of comma-separated values, and a drawing.

use std::fmt::{self, Write};
use std::fs;
use std::io;
use std::time::Duration;

/// Latencies, counted in buckets that are at most a sixteenth of their value wide.
pub struct Latencies {
    counts: Vec<u64>,
    longest: Duration,
}

impl Default for Latencies {
    fn default() -> Self {
        Self { counts: vec![0; 64 * 16], longest: Duration::ZERO }
    }
}

impl Latencies {
    pub fn add(&mut self, took: Duration) {
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX).max(16);
        // The highest bit and the four below it.
        let shift = nanoseconds.ilog2() - 4;
        self.counts[(shift as usize) * 16 + (nanoseconds >> shift) as usize - 16] += 1;
        self.longest = self.longest.max(took);
    }

    /// In microseconds: the upper edge of the bucket. 0 where there is none.
    pub fn quantile(&self, part: f64) -> f64 {
        let mut left = (self.counts.iter().sum::<u64>() as f64 * part).ceil();
        for (index, count) in self.counts.iter().enumerate() {
            left -= *count as f64;
            if left <= 0.0 && *count > 0 {
                let edge = (17 + index % 16) as f64 * 2f64.powi((index / 16) as i32) / 1e3;
                return edge.min(self.longest());
            }
        }
        0.0
    }

    pub fn longest(&self) -> f64 {
        self.longest.as_secs_f64() * 1e6
    }
}

/// Figures by name, in order.
pub type Row = Vec<(String, f64)>;

pub fn row<const N: usize>(figures: [(&str, f64); N]) -> Row {
    figures.map(|(name, figure)| (name.to_owned(), figure)).to_vec()
}

/// Those of a line in which they are `name=figure`.
pub fn read(line: &str) -> Row {
    let pairs = line.split_whitespace().filter_map(|word| word.split_once('='));
    pairs.filter_map(|(name, figure)| Some((name.to_owned(), figure.parse().ok()?))).collect()
}

/// Not a number where there is none of this name, so that no check passes.
pub fn of(row: &[(String, f64)], name: &str) -> f64 {
    row.iter().find(|(of, _)| of == name).map_or(f64::NAN, |(_, figure)| *figure)
}

/// What a process takes. Linux.
pub fn process(id: u32) -> io::Result<Row> {
    /// `USER_HZ`, which is the same on all usual machines.
    const TICKS_PER_SECOND: f64 = 100.0;
    let status = fs::read_to_string(format!("/proc/{id}/status"))?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(f64::NAN)
    };
    let stat = fs::read_to_string(format!("/proc/{id}/stat"))?;
    // Behind the name, which may have any characters: the state is field 3, and the times are 14 and 15.
    let behind = stat.rsplit_once(')').map_or("", |(_, behind)| behind);
    let ticks: f64 = behind.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
    let descriptors = fs::read_dir(format!("/proc/{id}/fd"))?.count() as f64;
    let (memory, threads) = (field("VmRSS:"), field("Threads:"));
    let cpu = ticks / TICKS_PER_SECOND;
    Ok(row([("resident_kib", memory), ("descriptors", descriptors), ("threads", threads), ("cpu_s", cpu)]))
}

/// A row for each sample, with the same columns.
#[derive(Default)]
pub struct Table {
    rows: Vec<Row>,
}

impl Table {
    pub fn push(&mut self, row: Row) {
        self.rows.push(row);
    }

    pub fn column(&self, name: &str) -> Vec<f64> {
        self.rows.iter().map(|row| of(row, name)).collect()
    }

    /// How much a column grows for each unit of another, from row to row.
    pub fn rate(&self, name: &str, by: &str) -> Vec<f64> {
        let steps = |name| self.column(name).windows(2).map(|two| two[1] - two[0]).collect::<Vec<_>>();
        let mut rates: Vec<_> = steps(name).iter().zip(steps(by)).map(|(step, by)| step / by.max(1e-3)).collect();
        // The first row has none before it.
        rates.insert(0, rates.first().copied().unwrap_or(0.0));
        rates
    }

    /// The mean of a column in each third of the rows.
    pub fn thirds(&self, name: &str) -> [f64; 3] {
        let (column, third) = (self.column(name), self.rows.len() / 3);
        [0, 1, 2].map(|part| column[part * third..][..third].iter().sum::<f64>() / third as f64)
    }

    pub fn csv(&self) -> String {
        let line = |cells: Vec<String>| cells.join(",") + "\n";
        let head = self.rows.first().map(|row| line(row.iter().map(|(name, _)| name.clone()).collect()));
        let rounded = |(_, figure): &(String, f64)| ((figure * 1e3).round() / 1e3).to_string();
        let rows = self.rows.iter().map(|row| line(row.iter().map(rounded).collect()));
        head.into_iter().chain(rows).collect()
    }

    /// About `count` rows, for people.
    pub fn print(&self, columns: &[&str], count: usize) {
        let step = self.rows.len().div_ceil(count).max(1);
        let line = |cells: Vec<String>| println!("{}", cells.concat());
        line(columns.iter().map(|column| format!("{column:>13}")).collect());
        for (index, row) in self.rows.iter().enumerate() {
            if index % step == 0 || index + 1 == self.rows.len() {
                line(columns.iter().map(|column| format!("{:>13}", (of(row, column) * 10.0).round() / 10.0)).collect());
            }
        }
    }
}

/// A title, and lines by name. All have the same x values.
pub type Diagram<'a> = (&'a str, Vec<(&'a str, Vec<f64>)>);

/// Diagrams one below the other. Each begins at 0.
pub fn svg(heading: &str, x: &[f64], diagrams: &[Diagram<'_>]) -> String {
    const WIDTH: f64 = 900.0;
    const HEIGHT: f64 = 130.0;
    const LEFT: f64 = 80.0;
    const RIGHT: f64 = LEFT + WIDTH;
    const COLOURS: [&str; 3] = ["#0072b2", "#d55e00", "#009e73"];
    let last = x.iter().copied().fold(1e-9, f64::max);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"{LEFT}\" y=\"25\" font-size=\"16\">{heading}</text>\n",
        RIGHT + 30.0,
        (HEIGHT + 50.0) * diagrams.len() as f64 + 60.0,
    );
    let mut say = |text: fmt::Arguments<'_>| svg.write_fmt(text).expect("a String takes it");
    for (index, (title, lines)) in diagrams.iter().enumerate() {
        let top = 60.0 + (HEIGHT + 50.0) * index as f64;
        let (bottom, above) = (top + HEIGHT, top - 8.0);
        let most = lines.iter().flat_map(|(_, values)| values).copied().fold(1e-9, f64::max);
        say(format_args!("<text x=\"{LEFT}\" y=\"{above}\" font-weight=\"bold\">{title}</text>\n"));
        say(format_args!("<path d=\"M{LEFT} {top}V{bottom}H{RIGHT}\" fill=\"none\" stroke=\"#888\"/>\n"));
        let marks =
            [(LEFT - 6.0, top + 10.0, most, ""), (LEFT - 6.0, bottom, 0.0, ""), (RIGHT, bottom + 15.0, last, " s")];
        for (x, y, figure, unit) in marks {
            say(format_args!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"end\">{figure:.0}{unit}</text>\n"));
        }
        for (at, (name, values)) in lines.iter().enumerate() {
            let (colour, legend) = (COLOURS[at % COLOURS.len()], RIGHT - 110.0 * (lines.len() - at) as f64);
            say(format_args!(
                "<text x=\"{legend}\" y=\"{above}\" fill=\"{colour}\">{name}</text>\n<polyline points=\""
            ));
            for (x, value) in x.iter().zip(values) {
                say(format_args!("{:.1},{:.1} ", LEFT + WIDTH * x / last, bottom - HEIGHT * value / most));
            }
            say(format_args!("\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>\n"));
        }
    }
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_at_most_a_sixteenth_too_large() {
        let mut latencies = Latencies::default();
        assert_eq!((latencies.quantile(0.5), latencies.longest()), (0.0, 0.0));
        (1..=1000).for_each(|microseconds| latencies.add(Duration::from_micros(microseconds)));
        for (part, exact) in [(0.001, 1.0), (0.5, 500.0), (0.99, 990.0)] {
            let found = latencies.quantile(part);
            assert!(found >= exact && found <= exact * 17.0 / 16.0, "{part}: {found}");
        }
        assert_eq!((latencies.quantile(1.0), latencies.longest()), (1000.0, 1000.0));
        latencies.add(Duration::ZERO);
        latencies.add(Duration::MAX);
    }

    #[test]
    fn this_process_has_a_thread_and_descriptors() {
        let process = process(std::process::id()).unwrap();
        assert!(of(&process, "resident_kib") > 0.0 && of(&process, "cpu_s") >= 0.0, "{process:?}");
        assert!(of(&process, "threads") >= 1.0 && of(&process, "descriptors") >= 3.0, "{process:?}");
    }

    #[test]
    fn thirds_and_rates_are_those_of_the_rows() {
        let mut table = Table::default();
        (1..=7).for_each(|n| table.push(row([("n", f64::from(n)), ("square", f64::from(n * n))])));
        assert_eq!(table.thirds("n"), [1.5, 3.5, 5.5]);
        assert_eq!(table.rate("square", "n"), [3.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0]);
        assert!(table.thirds("none").iter().all(|mean| mean.is_nan()));
        assert_eq!(read("STATS open=2 word lost=3 x=y"), row([("open", 2.0), ("lost", 3.0)]));
    }
}
