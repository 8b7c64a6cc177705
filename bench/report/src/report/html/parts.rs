//! The parts of a page and their contents.

use askama::Template;
use serde_json::Value;
use ybench_measure::clock::Facts;
use ybench_measure::env::advice;
use ybench_measure::record::{Report, SCHEMA, Session};
use ybench_measure::transport::Family;

use super::{pictures, single};
use crate::clock;
use crate::plot::{Look, Looks, Picture};
use crate::report::sweeps;
use crate::table::Part;
use crate::table::sections::Section;
use crate::table::{self, Beside, Grid, Matrix, Tone, figure, interval, time};

#[derive(Template)]
#[template(path = "figure.html")]
pub(super) struct Figure {
    pub(super) picture: Picture,
}

pub(super) fn figures(pictures: impl IntoIterator<Item = Picture>) -> Vec<Figure> {
    pictures.into_iter().map(|picture| Figure { picture }).collect()
}

/// A grid with the marks of its transports.
#[derive(Template)]
#[template(path = "table.html")]
pub(super) struct Table {
    title: String,
    grid: Grid,
    looks: Looks,
}

impl Table {
    pub(super) fn of(title: &str, grid: Grid, looks: &Looks) -> Self {
        Self { title: title.to_owned(), grid, looks: looks.clone() }
    }

    /// The mark is before the name, in any column.
    fn mark(&self, row: &table::Row, cell: &str) -> Option<Look> {
        let name = row.name.as_deref().filter(|name| *name == cell && row.tone != Tone::Limit)?;
        Some(self.looks.look(name))
    }

    fn right(&self, at: &usize) -> bool {
        self.grid.columns.get(*at).is_some_and(|column| column.right)
    }
}

impl Tone {
    /// The class in the style sheet.
    fn class(self) -> &'static str {
        match self {
            Self::Leader => "leader",
            Self::Tied => "tied",
            Self::Unsure => "unsure",
            Self::Limit => "limit",
            Self::Plain => "plain",
        }
    }
}

pub(super) struct Verdict {
    id: String,
    name: String,
    /// The sentence for quoting.
    spoken: Option<String>,
    sentences: Vec<String>,
}

#[derive(Template)]
#[template(path = "summary.html")]
pub(super) struct Summary {
    verdicts: Vec<Verdict>,
    /// "a message", or what else the times are of.
    units: String,
    matrix: Matrix,
    looks: Looks,
    notes: Vec<String>,
    warnings: Vec<(String, &'static str)>,
}

impl Summary {
    pub(super) fn of(id: &str, report: &Report, matrix: Matrix, sections: &[Section<'_>], looks: &Looks) -> Self {
        let mut verdicts = Vec::new();
        for (number, section) in sections.iter().enumerate() {
            let measured = |session: &&Session| session.transports().next().is_some();
            let sessions: Vec<&Session> = section.sessions.iter().copied().filter(measured).collect();
            if !sessions.is_empty() {
                verdicts.push(Verdict {
                    id: format!("{id}-{}", number + 1),
                    name: section.scenario.to_owned(),
                    spoken: if let [only] = sessions[..] { table::spoken(only) } else { None },
                    sentences: table::judgements(&sessions),
                });
            }
        }
        let told = report.warnings.iter().map(|warning| (warning.to_string(), warning.advice()));
        let mut units: Vec<&str> = report.sessions.iter().map(|session| session.unit().spoken()).collect();
        units.dedup();
        let units = if units.is_empty() { "a message".to_owned() } else { units.join(" or ") };
        let notes = crate::doubts::broken(report).chain(report.notes.iter().cloned()).collect();
        Self { verdicts, units, matrix, looks: looks.clone(), notes, warnings: told.collect() }
    }

    fn time(&self, nanoseconds: &f64) -> String {
        time(*nanoseconds)
    }

    fn figure(&self, ratio: &f64) -> String {
        figure(*ratio)
    }

    /// A heading if there is more than one kind.
    fn family(&self, kin: &table::Kin) -> Option<&'static str> {
        kin.family.map(Family::in_words)
    }
}

fn sentences(session: &Session) -> Vec<String> {
    table::judgement(session).lines().map(str::to_owned).collect()
}

#[derive(Template)]
#[template(path = "scenario.html")]
pub(super) struct Scenario {
    id: String,
    name: String,
    about: String,
    /// Over all sessions, if there are several.
    sentences: Vec<String>,
    sweeps: Vec<Figure>,
    growths: Vec<GrowthPart>,
    sessions: Vec<SessionPart>,
}

impl Scenario {
    pub(super) fn of(id: String, section: &Section<'_>, looks: &Looks, beside: Beside) -> Self {
        let one_of_many = section.sessions.len() > 1;
        let sessions = section.sessions.iter().map(|session| SessionPart::of(session, one_of_many, looks, beside));
        Self {
            name: section.scenario.to_owned(),
            about: section.about.to_owned(),
            sentences: if one_of_many { table::judgements(&section.sessions) } else { Vec::new() },
            sweeps: figures(sweeps::pictures(section, looks)),
            growths: table::Growth::of(section).iter().map(|growth| GrowthPart::of(growth, looks)).collect(),
            sessions: sessions.collect(),
            id,
        }
    }
}

/// The time of a message over the number of threads or channels.
pub(super) struct GrowthPart {
    sentences: Vec<String>,
    times: Table,
    growth: Table,
}

impl GrowthPart {
    fn of(growth: &table::Growth<'_>, looks: &Looks) -> Self {
        Self {
            sentences: growth.sentences(),
            times: Table::of(&growth.heading(), growth.times(), looks),
            growth: Table::of("Growth of the ratio to the baseline in the same rounds", growth.growth(), looks),
        }
    }
}

#[derive(Template)]
#[template(path = "session.html")]
pub(super) struct SessionPart {
    title: String,
    /// Folded if there are several.
    folded: bool,
    sentences: Vec<String>,
    figures: Vec<Figure>,
    table: Table,
    singles: Vec<single::Single>,
    metrics: Option<Table>,
}

impl SessionPart {
    fn of(session: &Session, folded: bool, looks: &Looks, beside: Beside) -> Self {
        let title = session.title();
        if session.transports().next().is_none() {
            let grid = table::limits_grid(session);
            let table = Table::of(&title, grid, looks);
            return Self {
                title,
                folded,
                sentences: Vec::new(),
                figures: Vec::new(),
                table,
                singles: Vec::new(),
                metrics: None,
            };
        }
        let metrics = table::metrics_grid(session);
        Self {
            folded,
            sentences: sentences(session),
            figures: figures(pictures::ranked(session, looks).into_iter().chain(single::overview(session, looks))),
            table: Table::of(&format!("Ranking, {title}"), table::ranking_grid(session), looks),
            singles: single::all(session, looks, beside),
            metrics: metrics.map(|grid| Table::of(&format!("Also measured, {title}"), grid, looks)),
            title,
        }
    }
}

/// How it was measured, session by session.
#[derive(Template)]
#[template(path = "method.html")]
pub(super) struct Method {
    rounds: Option<Table>,
    /// Sentences about the clock.
    clock: Vec<String>,
    clocks: Option<Table>,
    dropped: Vec<(String, usize, String)>,
    seconds: String,
}

impl Method {
    pub(super) fn of(report: &Report, looks: &Looks) -> Self {
        let mut grid = Grid::new(&["session", ">rounds that count", ">of", "baseline before and after", ">seconds"]);
        let mut dropped = Vec::new();
        for session in &report.sessions {
            let seconds: f64 = session.rounds.iter().map(|round| round.seconds).sum();
            let cells = vec![
                session.title(),
                session.counted().count().to_string(),
                session.rounds.len().to_string(),
                session.floor.clone(),
                figure(seconds),
            ];
            grid.push(Tone::Plain, None, cells);
            let reasons = session.rounds.iter().enumerate();
            dropped.extend(reasons.filter_map(|(at, round)| Some((session.title(), at + 1, round.dropped.clone()?))));
        }
        let seconds: f64 = report.sessions.iter().flat_map(|session| &session.rounds).map(|round| round.seconds).sum();
        let sentences = report.clock.as_ref().map(clock::table::sentences).unwrap_or_default();
        Self {
            rounds: (!report.sessions.is_empty()).then(|| Table::of("Rounds", grid, looks)),
            clock: sentences.lines().map(str::to_owned).collect(),
            clocks: report.clock.as_ref().and_then(clocks).map(|grid| Table::of("Clocks", grid, looks)),
            dropped,
            seconds: figure(seconds),
        }
    }
}

/// The cost of every way to read a clock, if it was measured.
fn clocks(facts: &Facts) -> Option<Grid> {
    let mut grid = Grid::new(&["way to read a clock", ">ns", ">min .. max"]);
    for row in &facts.table {
        let cost = row.nanoseconds;
        let spread = cost.map_or_else(|| row.absent.clone().unwrap_or_default(), interval);
        grid.push(
            Tone::Plain,
            None,
            vec![row.name.clone(), cost.map_or("-".to_owned(), |cost| figure(cost.median)), spread],
        );
    }
    (!grid.rows.is_empty()).then_some(grid)
}

/// One piece of an analysis.
#[derive(Template)]
#[template(path = "piece.html")]
pub(super) struct Piece {
    part: Part,
    table: Option<Table>,
}

impl Piece {
    pub(super) fn of(part: &Part, looks: &Looks) -> Self {
        let table = match part {
            Part::Table(title, grid) => Some(Table::of(title, grid.clone(), looks)),
            _ => None,
        };
        Self { part: part.clone(), table }
    }
}

/// What each transport is.
#[derive(Template)]
#[template(path = "glossary.html")]
pub(super) struct Glossary {
    kin: Vec<(&'static str, Vec<Known>)>,
}

struct Known {
    name: String,
    look: Look,
    waits: &'static str,
    explained: String,
}

impl Glossary {
    pub(super) fn of(report: &Report, matrix: &Matrix, looks: &Looks) -> Self {
        let known = |name: &str| {
            let one = report.sessions.iter().find_map(|session| session.contestant(name))?;
            let waits = one.waits.map_or("", |waits| waits.in_words());
            let explained = Some(one.explained.clone()).filter(|explained| !explained.is_empty())?;
            Some(Known { name: name.to_owned(), look: looks.look(name), waits, explained })
        };
        let of = |kin: &table::Kin| {
            let known: Vec<Known> = kin.rows.iter().filter_map(|line| known(&line.name)).collect();
            Some((kin.family?.in_words(), known))
        };
        Self { kin: matrix.kin.iter().filter_map(of).collect() }
    }
}

/// All facts about the machine in the result.
#[derive(Template)]
#[template(path = "environment.html")]
pub(super) struct Environment {
    facts: Vec<(String, String)>,
    advice: Vec<(String, String)>,
    file: String,
    command: String,
    schema: u32,
}

impl Environment {
    pub(super) fn of(report: &Report, file: &str) -> Self {
        let mut facts = Vec::new();
        if let Ok(value) = serde_json::to_value(&report.environment) {
            tell("", &value, &mut facts);
        }
        let advice = advice(&report.environment, report.cpus);
        Self { facts, advice, file: file.to_owned(), command: report.command.clone(), schema: SCHEMA }
    }
}

/// The leaves of a value, with their paths in words.
fn tell(name: &str, value: &Value, facts: &mut Vec<(String, String)>) {
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            for (field, value) in fields {
                let field = field.replace(['_', '-'], " ");
                let name = if name.is_empty() { field } else { format!("{name}, {field}") };
                tell(&name, value, facts);
            }
        }
        Value::Array(values) if values.iter().any(|value| value.is_object() || value.is_array()) => {
            for (at, value) in values.iter().enumerate() {
                tell(&format!("{name} {}", at + 1), value, facts);
            }
        }
        Value::Array(values) => {
            let told: Vec<String> = values.iter().map(leaf).collect();
            facts.push((name.to_owned(), told.join(", ")));
        }
        other => facts.push((name.to_owned(), leaf(other))),
    }
}

fn leaf(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        other => other.to_string(),
    }
}
