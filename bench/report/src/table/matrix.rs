//! The result of a run on one screen: a row for each transport, grouped by kind, a column for each session. Each cell
//! is the median time of a message.

use ybench_measure::figures::time;
use ybench_measure::record::{Parameter, Report, Session};
use ybench_measure::transport::Family;

use super::grid::{Grid, Row, Tone};
use super::standing::{Standing, standings};

/// One transport in one session.
#[derive(Clone, Debug)]
pub struct Cell {
    pub nanoseconds: f64,
    /// To the session's baseline.
    pub ratio: f64,
    pub tone: Tone,
}

#[derive(Clone, Debug)]
pub struct Heading {
    pub scenario: String,
    /// Its parameter in short form, or empty.
    pub parameter: String,
    pub reference: String,
    /// Nanoseconds per unit.
    pub reference_nanoseconds: Option<f64>,
}

/// Transports of one kind, each with its cells.
#[derive(Clone, Debug)]
pub struct Kin {
    /// `None` in old results without it.
    pub family: Option<Family>,
    pub rows: Vec<Line>,
}

#[derive(Clone, Debug)]
pub struct Line {
    pub name: String,
    /// Whether its receiver never sleeps.
    pub spins: bool,
    pub cells: Vec<Option<Cell>>,
}

/// The whole matrix, before it is text.
#[derive(Clone, Debug, Default)]
pub struct Matrix {
    pub columns: Vec<Heading>,
    /// The transports in the order of the report.
    pub kin: Vec<Kin>,
}

impl Matrix {
    /// Sessions in which no transport took part have no column.
    pub fn of(report: &Report) -> Self {
        let sessions: Vec<&Session> =
            report.sessions.iter().filter(|session| session.transports().next().is_some()).collect();
        let all: Vec<(&Session, Vec<Standing>)> =
            sessions.iter().map(|session| (*session, standings(session))).collect();
        let cell = |name: &str, (session, standings): &(&Session, Vec<Standing>)| {
            let standing = standings.iter().find(|standing| standing.name == name)?;
            let nanoseconds = session.density(name)?.median;
            Some(Cell { nanoseconds, ratio: standing.ratio.median, tone: standing.tone })
        };
        let mut kin: Vec<Kin> = Vec::new();
        for one in sessions.iter().flat_map(|session| session.transports()) {
            let row = || Line {
                name: one.name.clone(),
                spins: one.waits.is_some_and(|waits| !waits.sleeps()),
                cells: all.iter().map(|session| cell(&one.name, session)).collect(),
            };
            match kin.iter_mut().find(|kin| kin.family == one.family) {
                Some(kin) if kin.rows.iter().any(|line| line.name == one.name) => {}
                Some(kin) => kin.rows.push(row()),
                None => kin.push(Kin { family: one.family, rows: vec![row()] }),
            }
        }
        kin.sort_by_key(|kin| kin.family.map_or(Family::ALL.len(), |family| family as usize));
        Self { columns: sessions.into_iter().map(heading).collect(), kin }
    }
}

fn heading(session: &Session) -> Heading {
    Heading {
        scenario: session.scenario.clone(),
        parameter: session.parameter.map_or(String::new(), Parameter::short),
        reference: session.limit.clone(),
        reference_nanoseconds: session.density(&session.limit).map(|density| density.median),
    }
}

/// As text.
pub fn matrix(report: &Report) -> String {
    let matrix = Matrix::of(report);
    if matrix.columns.is_empty() {
        return "No transport was measured.\n".to_owned();
    }
    format!(
        "{}\nThe ranking time, median. *: the fastest; ~: tied with it, less than 10 % apart; ?: not \
         distinguishable from it;\n{SPINS}: its receiver never sleeps; blank: took no part. Baseline: a bare primitive \
         (futex, cache-line\nhand-over) without a queue; no lower bound.\n",
        grid(&matrix).terminal()
    )
}

/// Name and parameter, wrapped between the parts of a name.
fn head(column: &Heading) -> String {
    let name = column.scenario.replacen('-', "-\n", 1);
    let parameter = match column.parameter.chars().count() {
        0 => return name,
        1..8 => column.parameter.clone(),
        _ => column.parameter.replacen(' ', "\n", 1),
    };
    format!("{name}\n{parameter}")
}

fn grid(matrix: &Matrix) -> Grid {
    let heads: Vec<String> =
        std::iter::once(String::new()).chain(matrix.columns.iter().map(|one| format!(">{}", head(one)))).collect();
    let mut grid = Grid::new(&heads.iter().map(String::as_str).collect::<Vec<_>>());
    grid.tight = true;
    let reference =
        |column: &Heading| column.reference_nanoseconds.map_or(String::new(), |one| time(one) + mark(Tone::Limit));
    let cells = std::iter::once("baseline".to_owned()).chain(matrix.columns.iter().map(reference)).collect();
    grid.rows.push(Row { tone: Tone::Limit, name: None, cells });
    for kin in &matrix.kin {
        if let Some(family) = kin.family {
            let blank = std::iter::repeat_n(String::new(), matrix.columns.len());
            grid.push(Tone::Plain, None, std::iter::once(format!("· {}", family.in_words())).chain(blank).collect());
        }
        for Line { name, spins, cells } in &kin.rows {
            let shown = cells.iter().map(|cell| cell.as_ref().map_or(String::new(), marked));
            let named = if *spins { format!("{name} {SPINS}") } else { name.clone() };
            grid.push(Tone::Plain, Some(name), std::iter::once(named).chain(shown).collect());
        }
    }
    grid
}

/// Follows the name of a transport that never sleeps.
pub const SPINS: &str = "°";

fn marked(cell: &Cell) -> String {
    format!("{}{}", time(cell.nanoseconds), mark(cell.tone))
}

/// A space if there is no mark keeps the figures aligned.
fn mark(tone: Tone) -> &'static str {
    match tone {
        Tone::Leader => "*",
        Tone::Tied => "~",
        Tone::Unsure => "?",
        Tone::Plain | Tone::Limit => " ",
    }
}
