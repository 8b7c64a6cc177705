//! The cost of a message for more threads or channels: a row for each transport, a column for each number of them.
//! First the times, then the growth, and which transports stay level.
//!
//! The columns are separate sessions, minutes apart, and the speed of the machine may have changed between them. So
//! growth is the growth of the ratio to the baseline, which was measured in the same rounds as the time. If the
//! baseline became faster and a time did not, the ratio has grown because of the machine's state. So a transport is
//! called "not level" only if its time has grown as well.

use ybench_measure::figures::figure;
use ybench_measure::record::{Quantity, Report, Session};
use ybench_measure::stats::{LEAST_ROUNDS, listed};

use super::grid::{Grid, Tone};
use super::sections::{Section, sections};
use super::standing::judgement;

/// A transport whose figures stay within this multiple of its first one is level.
const LEVEL: f64 = 2.0;

/// A wider table is printed with narrower columns.
const COLUMNS: usize = 8;

/// One scenario over one quantity.
pub struct Growth<'a> {
    scenario: &'a str,
    about: &'a str,
    quantity: Quantity,
    columns: Vec<(f64, &'a Session)>,
    rows: Vec<Row<'a>>,
}

struct Row<'a> {
    name: &'a str,
    /// Nanoseconds per message, and their multiple of the first figure; one for each column.
    times: Vec<Option<f64>>,
    growth: Vec<Option<f64>>,
}

/// The verdict on a transport over the columns.
enum Course {
    /// Within this multiple of its first figure everywhere.
    Level,
    /// Above it somewhere, by the ratio to the baseline and by time: in words.
    Rises(String),
    /// Above it by the ratio alone.
    Open,
    /// Too few columns for a verdict.
    Unknown,
}

/// For every scenario that was measured at several numbers of threads or channels.
pub fn growths(report: &Report) -> String {
    let mut text = String::new();
    for section in sections(report) {
        for growth in Growth::of(&section) {
            text += &growth.text();
            text.push('\n');
        }
    }
    text
}

impl<'a> Growth<'a> {
    /// One for each quantity that counts threads or channels.
    pub fn of(section: &Section<'a>) -> Vec<Self> {
        let counts = |quantity: &Quantity| {
            use Quantity::{IdleSenders, Receivers, Senders, Sources};
            matches!(quantity, Senders | IdleSenders | Receivers | Sources)
        };
        let sweeps = section.sweeps().into_iter().filter(|(quantity, _)| counts(quantity));
        sweeps.map(|(quantity, columns)| Self::over(section.scenario, section.about, quantity, columns)).collect()
    }

    fn over(scenario: &'a str, about: &'a str, quantity: Quantity, columns: Vec<(f64, &'a Session)>) -> Self {
        let mut names: Vec<&'a str> = Vec::new();
        for one in columns.iter().flat_map(|(_, session)| session.transports()) {
            if !names.contains(&one.name.as_str()) {
                names.push(&one.name);
            }
        }
        let row = |name: &'a str| {
            let of = |figure: &dyn Fn(&Session) -> Option<f64>| -> Vec<Option<f64>> {
                columns.iter().map(|(_, session)| figure(session)).collect()
            };
            let times = of(&|session| session.density(name).map(|time| time.median));
            let ratios = of(&|session| session.ratio(name, &session.limit).map(|ratio| ratio.median));
            let first = ratios[0];
            let growth = ratios.into_iter().map(|ratio| Some(ratio? / first?)).collect();
            Row { name, times, growth }
        };
        let rows = names.into_iter().map(row).collect();
        Self { scenario, about, quantity, columns, rows }
    }

    fn grid(&self, head: &str, cells: impl for<'r> Fn(&'r Row<'a>) -> &'r [Option<f64>]) -> Grid {
        let numbers = self.columns.iter().map(|(value, _)| format!(">{}", self.number(*value)));
        let heads: Vec<String> = std::iter::once(head.to_owned()).chain(numbers).collect();
        let mut grid = Grid::new(&heads.iter().map(String::as_str).collect::<Vec<_>>());
        grid.tight = self.columns.len() > COLUMNS;
        for row in &self.rows {
            let shown = cells(row).iter().map(|cell| cell.map_or(String::new(), figure));
            grid.push(Tone::Plain, Some(row.name), std::iter::once(row.name.to_owned()).chain(shown).collect());
        }
        grid
    }

    /// Nanoseconds per message.
    pub fn times(&self) -> Grid {
        self.grid("ns/msg", |row| &row.times)
    }

    /// Multiples of its first column.
    pub fn growth(&self) -> Grid {
        self.grid("times the first", |row| &row.growth)
    }

    /// The quantity of the columns of both tables.
    pub fn heading(&self) -> String {
        format!("{} over {}", self.scenario, self.quantity.in_words())
    }

    /// Which transports stay level, which do not, and the fastest in the last column.
    pub fn sentences(&self) -> Vec<String> {
        let called = self.columns.iter().filter(|column| sound(column)).count();
        if called < 2 || !self.columns.first().is_some_and(sound) {
            return vec!["Too few rounds to call which transports stay level.".to_owned()];
        }
        let (mut level, mut rises, mut open) = (Vec::new(), Vec::new(), Vec::new());
        for row in &self.rows {
            match self.course(row) {
                Course::Level => level.push(row.name),
                Course::Rises(how) => rises.push(how),
                Course::Open => open.push(row.name),
                Course::Unknown => {}
            }
        }
        let mut sentences = Vec::new();
        if !level.is_empty() {
            sentences.push(format!("Level, always within {LEVEL} times the first figure: {}.", listed(&level)));
        }
        if !rises.is_empty() {
            sentences.push(format!("Not level: {}.", rises.join("; ")));
        }
        if !open.is_empty() {
            sentences.push(format!(
                "Undecided: the ratio has grown because the baseline became faster, and the time has not: {}.",
                listed(&open)
            ));
        }
        if let Some((value, last)) = self.columns.iter().rfind(|column| sound(column)) {
            let fastest = judgement(last);
            sentences.push(format!("At {}: {}", self.number(*value), fastest.lines().next().unwrap_or_default()));
        }
        let doubtful = self.columns.iter().filter(|column| !sound(column)).map(|(value, _)| self.number(*value));
        let doubtful: Vec<String> = doubtful.collect();
        if !doubtful.is_empty() {
            let places = listed(&doubtful.iter().map(String::as_str).collect::<Vec<_>>());
            sentences.push(format!("Ignored, because too few rounds count: {places}."));
        }
        sentences
    }

    /// Whether a transport is level, and if not, from which column on, and its largest growth.
    fn course(&self, row: &Row<'_>) -> Course {
        let columns = self.columns.iter().zip(&row.growth).zip(&row.times).enumerate();
        let considered = columns.filter(|(_, ((column, _), _))| sound(column));
        // By the number of the column: the growth of the ratio, and the growth of the time.
        let measured: Vec<(usize, f64, f64)> = considered
            .filter_map(|(at, ((_, growth), time))| Some((at, (*growth)?, (*time)? / row.times[0]?)))
            .collect();
        if measured.len() < 2 {
            return Course::Unknown;
        }
        if measured.iter().all(|(_, growth, _)| *growth <= LEVEL) {
            return Course::Level;
        }
        let is_above = |(_, growth, time): &(usize, f64, f64)| *growth > LEVEL && *time > LEVEL;
        let above = measured.iter().filter(|one| is_above(one));
        let Some(&(at, most, _)) = above.max_by(|one, other| one.1.total_cmp(&other.1)) else { return Course::Open };
        let number = |at: usize| self.number(self.columns[at].0);
        let peak = format!("{} times at {}", figure(most), number(at));
        let from = measured.rsplit(|one| !is_above(one)).next().and_then(|end| end.first());
        Course::Rises(match from {
            Some(&(from, _, _)) => format!("{} from {} on, {peak}", row.name, number(from)),
            None => format!("{} {peak}, level again at the end", row.name),
        })
    }

    fn number(&self, value: f64) -> String {
        super::grouped(self.quantity.on_axis(value))
    }

    fn text(&self) -> String {
        let parts = [
            format!("{}: {}.", self.scenario, self.about),
            format!("Over {}:", self.quantity.in_words()),
            self.times().terminal(),
            self.growth().terminal(),
            "Growth of the ratio to the baseline, measured in the same rounds.".to_owned(),
            self.sentences().join("\n"),
        ];
        parts.join("\n") + "\n"
    }
}

/// Whether a column has enough rounds for a verdict.
fn sound((_, session): &(f64, &Session)) -> bool {
    session.sound() >= LEAST_ROUNDS
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use ybench_measure::record::{Contestant, Parameter, Round};

    fn session(quantity: Quantity, value: f64, limit: f64, figures: &[(&str, f64)], rounds: usize) -> Session {
        let contestant = |(name, _): &(&str, f64)| Contestant { name: (*name).to_owned(), ..Contestant::default() };
        let times = figures.iter().copied().chain([("limit", limit)]);
        let nanoseconds: BTreeMap<String, f64> = times.map(|(name, time)| (name.to_owned(), time)).collect();
        Session {
            scenario: "made-up".into(),
            about: "About it".into(),
            parameter: Some(Parameter { quantity, value }),
            limit: "limit".into(),
            contenders: figures.iter().map(contestant).collect(),
            rounds: vec![Round { nanoseconds, ..Round::default() }; rounds],
            ..Session::default()
        }
    }

    fn report(quantity: Quantity, rounds: usize) -> Report {
        // The machine is half as fast in the last session: that does not count as growth.
        let sessions = vec![
            session(quantity, 1.0, 10.0, &[("flat", 20.0), ("bump", 20.0), ("steep", 10.0)], rounds),
            session(quantity, 3.0, 10.0, &[("flat", 25.0), ("bump", 90.0), ("steep", 21.0)], rounds),
            session(quantity, 7.0, 20.0, &[("flat", 42.0), ("bump", 50.0), ("steep", 2_000.0)], rounds),
        ];
        Report { sessions, ..Report::default() }
    }

    #[test]
    fn level_transports_are_listed_and_where_others_leave_the_level() {
        let text = growths(&report(Quantity::Senders, LEAST_ROUNDS));
        for due in [
            "made-up: About it.\nOver threads that send:\n",
            "Level, always within 2 times the first figure: flat.",
            "Not level: bump 4.50 times at 3, level again at the end; steep from 3 on, 100 times at 7.",
            "At 7: flat is the fastest; next is bump, 1.19 times slower.",
        ] {
            assert!(text.contains(due), "{due}\n{text}");
        }
        let row = |start: &str| text.lines().filter(|line| line.trim_start().starts_with(start)).collect::<Vec<_>>();
        let cells = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let flat = row("flat");
        assert_eq!(cells(flat[0]), ["flat", "20.0", "25.0", "42.0"]);
        assert_eq!(cells(flat[1]), ["flat", "1.00", "1.25", "1.05"]);
    }

    #[test]
    fn a_faster_baseline_is_no_growth() {
        let mut report = report(Quantity::Senders, LEAST_ROUNDS);
        let times = [("flat", 20.0), ("bump", 20.0), ("steep", 30.0)];
        report.sessions[2] = session(Quantity::Senders, 7.0, 3.0, &times, LEAST_ROUNDS);
        let text = growths(&report);
        for due in [
            "Not level: bump 4.50 times at 3, level again at the end; steep from 3 on, 10.0 times at 7.",
            "Undecided: the ratio has grown because the baseline became faster, and the time has not: flat.",
        ] {
            assert!(text.contains(due), "{due}\n{text}");
        }
        assert!(!text.contains("Level, always"), "{text}");
    }

    #[test]
    fn idle_senders_are_counted_with_the_one_that_is_not() {
        let text = growths(&report(Quantity::IdleSenders, LEAST_ROUNDS));
        assert!(text.contains("steep from 4 on, 100 times at 8"), "{text}");
    }

    #[test]
    fn few_rounds_have_no_verdict_and_other_quantities_no_growth() {
        let text = growths(&report(Quantity::Senders, LEAST_ROUNDS - 1));
        assert!(text.contains("Too few rounds") && !text.contains("Level, always"), "{text}");
        assert_eq!(growths(&report(Quantity::Rate, LEAST_ROUNDS)), "");
    }

    #[test]
    fn a_column_with_too_few_rounds_is_left_out_of_the_verdict() {
        let mut report = report(Quantity::Senders, LEAST_ROUNDS);
        report.sessions[2].rounds.truncate(LEAST_ROUNDS - 1);
        let text = growths(&report);
        for due in [
            "Not level: bump from 3 on, 4.50 times at 3; steep from 3 on, 2.10 times at 3.",
            "At 3: steep is the fastest; next is flat, 1.19 times slower.",
            "Ignored, because too few rounds count: 7.",
        ] {
            assert!(text.contains(due), "{due}\n{text}");
        }
        report.sessions[0].rounds.truncate(1);
        assert!(growths(&report).contains("Too few rounds to call which transports stay level."));
    }
}
