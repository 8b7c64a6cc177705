//! The result of a run on one screen: a row for each transport, a column for each session, in each cell the median
//! ratio to the limit of that column.

use ybench_core::figures::figure;
use ybench_core::record::{Parameter, Report, Session};

use super::grid::{Grid, Row, Tone};
use super::standing::{Standing, standings};

/// Wider than this, the columns go on below.
const WIDTH: usize = 120;

/// One transport in one session.
#[derive(Clone, Debug)]
pub struct Cell {
    pub ratio: f64,
    pub tone: Tone,
}

#[derive(Clone, Debug)]
pub struct Heading {
    pub scenario: String,
    /// Its parameter, short, or nothing.
    pub parameter: String,
    pub limit: String,
    /// Nanoseconds per unit.
    pub limit_nanoseconds: Option<f64>,
}

/// The whole of it, before it is text.
#[derive(Clone, Debug, Default)]
pub struct Matrix {
    pub columns: Vec<Heading>,
    /// The transports in the order in which the report has them.
    pub rows: Vec<(String, Vec<Option<Cell>>)>,
}

impl Matrix {
    /// Sessions in which no transport took part have no column.
    pub fn of(report: &Report) -> Self {
        let sessions: Vec<&Session> =
            report.sessions.iter().filter(|session| session.transports().next().is_some()).collect();
        let all: Vec<Vec<Standing>> = sessions.iter().map(|session| standings(session)).collect();
        let mut names: Vec<String> = Vec::new();
        for one in sessions.iter().flat_map(|session| session.transports()) {
            if !names.contains(&one.name) {
                names.push(one.name.clone());
            }
        }
        let cell = |name: &str, standings: &[Standing]| {
            let found = standings.iter().find(|standing| standing.name == name);
            found.map(|standing| Cell { ratio: standing.ratio.median, tone: standing.tone })
        };
        let row = |name: String| {
            let cells = all.iter().map(|standings| cell(&name, standings)).collect();
            (name, cells)
        };
        Self { columns: sessions.into_iter().map(heading).collect(), rows: names.into_iter().map(row).collect() }
    }
}

fn heading(session: &Session) -> Heading {
    Heading {
        scenario: session.scenario.clone(),
        parameter: session.parameter.map_or(String::new(), Parameter::short),
        limit: session.limit.clone(),
        limit_nanoseconds: session.density(&session.limit).map(|density| density.median),
    }
}

/// As text, not wider than 120 letters: what does not fit beside each other stands below.
pub fn matrix(report: &Report) -> String {
    let matrix = Matrix::of(report);
    if matrix.columns.is_empty() {
        return "No transport was measured.\n".to_owned();
    }
    let first = matrix.rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).max(LIMIT.len());
    let mut text = String::new();
    let mut from = 0;
    while from < matrix.columns.len() {
        let mut used = first + BLANKS;
        let fits = (from..matrix.columns.len()).take_while(|at| {
            used += width(&matrix, *at) + BLANKS;
            used <= WIDTH
        });
        let to = from + fits.count().max(1);
        text += &panel(&matrix, from, to).terminal();
        text.push('\n');
        from = to;
    }
    text + "Times the limit of each column. *: the leader; ~: too close to the leader to call; blank: took no part.\n"
}

const LIMIT: &str = "limit, ns";

/// Between two columns.
const BLANKS: usize = 2;

/// Name and parameter, broken where a name may be broken.
fn head(column: &Heading) -> String {
    let name = column.scenario.replacen('-', "-\n", 1);
    let parameter = match column.parameter.chars().count() {
        0 => return name,
        1..8 => column.parameter.clone(),
        _ => column.parameter.replacen(' ', "\n", 1),
    };
    format!("{name}\n{parameter}")
}

fn width(matrix: &Matrix, at: usize) -> usize {
    let head = head(&matrix.columns[at]);
    let cells = matrix.rows.iter().filter_map(|(_, cells)| Some(marked(cells[at].as_ref()?)));
    let texts = head.lines().map(str::to_owned).chain(cells).chain([limit(&matrix.columns[at])]);
    texts.map(|text| text.chars().count()).max().unwrap_or(0)
}

fn limit(column: &Heading) -> String {
    column.limit_nanoseconds.map_or(String::new(), |limit| format!("{}{}", figure(limit), mark(Tone::Limit)))
}

fn panel(matrix: &Matrix, from: usize, to: usize) -> Grid {
    let columns = &matrix.columns[from..to];
    let heads: Vec<String> =
        std::iter::once("transport".to_owned()).chain(columns.iter().map(|one| format!(">{}", head(one)))).collect();
    let mut grid = Grid::new(&heads.iter().map(String::as_str).collect::<Vec<_>>());
    grid.tight = true;
    let cells = std::iter::once(LIMIT.to_owned()).chain(columns.iter().map(limit)).collect();
    grid.rows.push(Row { tone: Tone::Limit, name: None, cells });
    for (name, cells) in &matrix.rows {
        let cells = &cells[from..to];
        if cells.iter().all(Option::is_none) {
            continue;
        }
        let shown = cells.iter().map(|cell| cell.as_ref().map_or(String::new(), marked));
        grid.push(Tone::Plain, Some(name), std::iter::once(name.clone()).chain(shown).collect());
    }
    grid
}

fn marked(cell: &Cell) -> String {
    format!("{}{}", figure(cell.ratio), mark(cell.tone))
}

/// A blank where there is no mark keeps the figures below each other.
fn mark(tone: Tone) -> &'static str {
    match tone {
        Tone::Leader => "*",
        Tone::Tied => "~",
        Tone::Plain | Tone::Limit => " ",
    }
}
