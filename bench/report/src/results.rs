//! The end of every measurement: the result is printed, drawn, stored as a page and as the file the page can be made
//! from again, and compared with the baseline.

use ybench_measure::error::Error;
use ybench_measure::record::Report;
use ybench_measure::warnings::Warning;

use crate::output::say;
use crate::report::Study;
use crate::report::{self, Shown, files, output_dir, terminal};
use crate::request::Request;
use crate::{storage, study};

/// All of these steps. An interrupted run with complete rounds is stored like any other, and then reported as an error.
pub fn finish(report: &Report, request: &Request) -> Result<(), Error> {
    let study = study::of(report, request.beyond);
    said(report, &study, request.beyond);
    let with_page = !matches!(report.command.as_str(), "clock" | "limits" | "goals") && !report.sessions.is_empty();
    let page = if with_page { Some(page(report, study, request)?) } else { None };
    doubts(report);
    let kept = kept(report, request);
    page.into_iter().for_each(say);
    kept
}

fn said(report: &Report, study: &Study, beyond: f64) {
    let text = match report.command.as_str() {
        _ if !study.parts.is_empty() => crate::table::part::terminal(&study.parts),
        "quick" if report.sessions.is_empty() => return,
        "quick" => terminal::screen(report),
        "scale" => crate::table::growths(report),
        "clock" => terminal::clock(report),
        _ => terminal::results(report, study, beyond),
    };
    say(text.trim_end());
    say("");
}

/// Returns a sentence with the paths.
fn page(report: &Report, study: Study, request: &Request) -> Result<String, Error> {
    files::write(&request.out, &study.pictures)?;
    let [json, page] = ["report.json", "report.html"].map(|name| request.out.join(name));
    storage::write_report(&json, report)?;
    let shown = Shown { name: "report.json", report, study };
    storage::write_text(&page, &report::html::page(&[shown], request.beyond))?;
    output_dir::index_beside(&request.out)?;
    Ok(format!("The report: {} (made from {}).", page.display(), json.display()))
}

fn kept(report: &Report, request: &Request) -> Result<(), Error> {
    let sessions = report.sessions.len();
    let complete = || if report.interrupted { Err(Error::Interrupted { sessions }) } else { Ok(()) };
    if sessions == 0 {
        complete()?;
    }
    if let Some(path) = &request.json {
        storage::write_result(path, report)?;
    }
    if let Some(baseline) = &request.baseline {
        baseline.compare(report);
    }
    // An interrupted run is no baseline for later runs.
    if let Some(path) = request.save_baseline.as_ref().filter(|_| !report.interrupted) {
        storage::write_report(path, report)?;
        say(format_args!("Stored as a baseline in {}.", path.display()));
    }
    complete()
}

/// All warnings. If many scenarios have one each, those are only counted.
fn doubts(report: &Report) {
    const MANY: usize = 3;
    let (of_scenarios, others): (Vec<&Warning>, Vec<&Warning>) =
        report.warnings.iter().partition(|warning| warning.is_of_one_scenario());
    let counted = of_scenarios.len() > MANY;
    let shown = others.into_iter().chain(of_scenarios.iter().copied().filter(|_| !counted));
    for (at, warning) in shown.enumerate() {
        say(format_args!("{}  {warning} {}", if at == 0 { "Warnings:\n" } else { "" }, warning.advice()));
    }
    if counted {
        say(format_args!("  {} more about single scenarios and their rounds are in the report.", of_scenarios.len()));
    }
}
