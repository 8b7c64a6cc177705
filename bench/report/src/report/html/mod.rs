//! A report as one self-contained page: no network, no other file. Each part has a struct and a template of the same
//! name, checked at compile time.
//!
//! The page's security policy forbids every request. Scripts only make values easier to read.

mod parts;
mod pictures;
mod single;

use std::fmt::Display;

use askama::Template;
use ybench_measure::record::Report;

use super::Shown;
use super::Study;
use super::when;
use crate::plot::{self, Looks};
use crate::table::sections::{Section, sections};
use crate::table::{self, Beside, Matrix};
use parts::{Environment, Figure, Glossary, Method, Piece, Scenario, Summary, Table};

/// The whole document.
#[derive(Template)]
#[template(path = "page.html")]
struct Page {
    title: String,
    light: String,
    dark: String,
    results: Vec<Result>,
}

/// One report within it.
#[derive(Template)]
#[template(path = "result.html")]
struct Result {
    id: String,
    /// Only if there are several.
    name: Option<String>,
    command: String,
    machine: String,
    when: String,
    summary: Summary,
    /// In the shape of the reproduced article, or of the comparison with competitors.
    article: Option<Article>,
    glossary: Glossary,
    scenarios: Vec<Scenario>,
    goals: Option<Table>,
    method: Method,
    environment: Environment,
}

/// An analysis's own tables and pictures.
struct Article {
    title: &'static str,
    pieces: Vec<Piece>,
    figures: Vec<Figure>,
}

/// The page. `beyond` is in nanoseconds.
pub fn page(loaded: &[Shown<'_>], beyond: f64) -> String {
    let looks = Looks::of(loaded.iter().map(|one| one.report));
    let several = loaded.len() > 1;
    let result = |(at, one): (usize, &Shown<'_>)| result(at, one, several, &looks, beyond);
    let page = Page {
        title: title(loaded),
        light: plot::colour_variables(false),
        dark: plot::colour_variables(true),
        results: loaded.iter().enumerate().map(result).collect(),
    };
    rendered(&page)
}

fn title(loaded: &[Shown<'_>]) -> String {
    match loaded {
        [only] => format!("ybench {}, {}", only.report.command, when::date(only.report.started)),
        several => format!("ybench, {} results", several.len()),
    }
}

fn result(at: usize, one: &Shown<'_>, several: bool, looks: &Looks, beyond: f64) -> Result {
    let report = one.report;
    let id = format!("r{}", at + 1);
    let scenario = |(number, section): (usize, &Section<'_>)| {
        Scenario::of(format!("{id}-{}", number + 1), section, looks, Beside::of(report, beyond))
    };
    let sections = sections(report);
    let matrix = Matrix::of(report);
    Result {
        name: several.then(|| one.name.to_owned()),
        command: report.command.clone(),
        machine: machine(report),
        when: when::date(report.started),
        glossary: Glossary::of(report, &matrix, looks),
        summary: Summary::of(&id, report, matrix, &sections, looks),
        article: article(&one.study, looks),
        scenarios: sections.iter().enumerate().map(scenario).collect(),
        goals: (!one.study.goals.is_empty()).then(|| Table::of("Targets", table::goals_grid(&one.study.goals), looks)),
        method: Method::of(report, looks),
        environment: Environment::of(report, one.name),
        id,
    }
}

fn article(study: &Study, looks: &Looks) -> Option<Article> {
    let figures = parts::figures(study.pictures.iter().map(|(_, picture)| picture.clone()));
    let pieces = study.parts.iter().map(|part| Piece::of(part, looks)).collect();
    (!study.parts.is_empty()).then_some(Article { title: study.title, pieces, figures })
}

fn machine(report: &Report) -> String {
    format!("{}. {}", report.environment.in_words(), table::threads(report))
}

/// A part as text, for its enclosing template.
fn rendered(part: &impl Display) -> String {
    part.to_string()
}
