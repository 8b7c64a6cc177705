//! What a message costs as threads or channels become more: a row for each transport, a column for each number of them,
//! the times first and then the growth, and who stays level.
//!
//! The columns are sessions of their own, minutes apart, in which the speed of the machine may have changed. So growth is
//! that of the ratio to the limit, which was measured in the same rounds as the time. Where the limit has become quicker and a
//! time has not, the ratio has grown as well, by a state of the machine that does not help everybody: so whoever is to be called
//! not level has grown by time, too.

use ybench_core::figures::figure;
use ybench_core::record::{Quantity, Report, Session};
use ybench_core::stats::{LEAST_ROUNDS, listed};

use super::grid::{Grid, Tone};
use super::sections::{Section, sections};
use super::standing::judgement;

/// Whoever stays within so many times its own first figure is level.
const LEVEL: f64 = 2.0;

/// Wider than this, the columns of figures lose their blanks.
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
    /// Nanoseconds for a message, and how many times its first figure that is; one for each column.
    times: Vec<Option<f64>>,
    growth: Vec<Option<f64>>,
}

/// What becomes of a transport over the columns.
enum Course {
    /// Within so many times its first figure everywhere.
    Level,
    /// Beyond that somewhere, by the ratio to the limit and by time: in words.
    Rises(String),
    /// Beyond that by the ratio alone.
    Open,
    /// There are too few columns to call it anything.
    Unknown,
}

/// Of every scenario that was measured at several numbers of threads or channels.
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

    /// Nanoseconds for a message.
    pub fn times(&self) -> Grid {
        self.grid("ns/msg", |row| &row.times)
    }

    /// Times its own first column.
    pub fn growth(&self) -> Grid {
        self.grid("times the first", |row| &row.growth)
    }

    /// What the columns of both tables count.
    pub fn heading(&self) -> String {
        format!("{} over {}", self.scenario, self.quantity.in_words())
    }

    /// Who stays level, who does not, and who is the fastest at the end.
    pub fn sentences(&self) -> Vec<String> {
        let called = self.columns.iter().filter(|column| sound(column)).count();
        if called < 2 || !self.columns.first().is_some_and(sound) {
            return vec!["Too few rounds to call who stays level.".to_owned()];
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
                "Neither, as the ratio has grown beside a limit that was quicker than at first, and the time has not: {}.",
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
            sentences.push(format!("Not considered, with too few rounds beyond doubt: {places}."));
        }
        sentences
    }

    /// Whether a transport is within its level, and if not, from where on and how far at most.
    fn course(&self, row: &Row<'_>) -> Course {
        let columns = self.columns.iter().zip(&row.growth).zip(&row.times).enumerate();
        let considered = columns.filter(|(_, ((column, _), _))| sound(column));
        // By the number of the column: the growth of the ratio, and that of the time.
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
            "Growth is that of the ratio to the limit measured in the same rounds.".to_owned(),
            self.sentences().join("\n"),
        ];
        parts.join("\n") + "\n"
    }
}

/// Whether a column has enough rounds to say something.
fn sound((_, session): &(f64, &Session)) -> bool {
    session.sound() >= LEAST_ROUNDS
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use ybench_core::record::{Contestant, Parameter, Round};

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
        // The machine is half as fast in the last session: that is no growth.
        let sessions = vec![
            session(quantity, 1.0, 10.0, &[("flat", 20.0), ("bump", 20.0), ("steep", 10.0)], rounds),
            session(quantity, 3.0, 10.0, &[("flat", 25.0), ("bump", 90.0), ("steep", 21.0)], rounds),
            session(quantity, 7.0, 20.0, &[("flat", 42.0), ("bump", 50.0), ("steep", 2_000.0)], rounds),
        ];
        Report { sessions, ..Report::default() }
    }

    #[test]
    fn who_stays_level_is_told_and_from_where_on_others_do_not() {
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
    fn nobody_rises_by_a_limit_that_has_become_quicker() {
        let mut report = report(Quantity::Senders, LEAST_ROUNDS);
        let times = [("flat", 20.0), ("bump", 20.0), ("steep", 30.0)];
        report.sessions[2] = session(Quantity::Senders, 7.0, 3.0, &times, LEAST_ROUNDS);
        let text = growths(&report);
        for due in [
            "Not level: bump 4.50 times at 3, level again at the end; steep from 3 on, 10.0 times at 7.",
            "Neither, as the ratio has grown beside a limit that was quicker than at first, and the time has not: flat.",
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
    fn few_rounds_call_nobody_and_other_quantities_have_no_growth() {
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
            "Not considered, with too few rounds beyond doubt: 7.",
        ] {
            assert!(text.contains(due), "{due}\n{text}");
        }
        report.sessions[0].rounds.truncate(1);
        assert!(growths(&report).contains("Too few rounds to call who stays level."));
    }
}
