//! The end of every measurement: the result is printed, drawn, stored as a page and as the file the page can be made
//! from again, and compared with the baseline.

use ybench_measure::error::Error;
use ybench_measure::record::Report;

use crate::output::say;
use crate::report::Study;
use crate::report::{self, Shown, files, output_dir, terminal};
use crate::request::Request;
use crate::{choose, doubts, storage, study, table};

/// All of these steps. An interrupted run with complete rounds is stored like any other, and then reported as an error.
/// So is one in which a competitor failed validation, which is told before anything else.
pub fn finish(report: &Report, request: &Request) -> Result<(), Error> {
    doubts::broken(report).for_each(say);
    let study = study::of(report, request.beyond);
    said(report, &study, request);
    say_if_any(&table::against(report, &request.against));
    let with_page = !matches!(report.command.as_str(), "clock" | "limits" | "goals") && !report.sessions.is_empty();
    let page = if with_page { Some(page(report, study, request)?) } else { None };
    if !request.quiet {
        cautions(report, request.verbose);
    }
    let kept = kept(report, request);
    page.into_iter().filter(|_| !request.quiet).for_each(say);
    kept.and_then(|()| report.honest())
}

fn said(report: &Report, study: &Study, request: &Request) {
    let text = match report.command.as_str() {
        "choose" if !request.verbose => choose::short(report),
        _ if !study.parts.is_empty() => table::part::terminal(&study.parts),
        "quick" if report.sessions.is_empty() => return,
        "quick" if request.verbose => terminal::results(report, study, request.beyond) + &terminal::screen(report),
        "quick" => terminal::screen(report),
        "scale" => table::growths(report),
        "clock" => terminal::clock(report),
        _ => terminal::results(report, study, request.beyond),
    };
    say(text.trim_end());
    say("");
}

fn say_if_any(text: &str) {
    if !text.is_empty() {
        say(text);
    }
}

/// Returns a sentence with the paths. An earlier result in the folder keeps another name.
fn page(report: &Report, study: Study, request: &Request) -> Result<String, Error> {
    files::write(&request.out, &study.pictures)?;
    let [json, page] = ["report.json", "report.html"].map(|name| request.out.join(name));
    let earlier = storage::set_aside(&json)?;
    storage::write_report(&json, report)?;
    let shown = Shown { name: "report.json", report, study };
    storage::write_text(&page, &report::html::page(&[shown], request.beyond))?;
    output_dir::index_beside(&request.out)?;
    let earlier = earlier.map_or(String::new(), |path| format!(" The earlier result is now {}.", path.display()));
    Ok(format!("The report: {} (made from {}).{earlier}", page.display(), json.display()))
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
    let shown = || [Shown { name: "this run", report, study: study::of(report, request.beyond) }];
    if let Some(path) = &request.markdown {
        storage::write_told(path, report::markdown::text(&shown(), request.beyond).trim_end())?;
    }
    if let Some(path) = &request.csv {
        storage::write_told(path, report::csv::text(&shown()).trim_end())?;
    }
    if let Some(baseline) = &request.baseline {
        baseline.compare(report);
    }
    // An interrupted run is no baseline for later runs.
    if let Some(path) = request.save_baseline.as_ref().filter(|_| !report.interrupted) {
        let replaced = storage::replaced(path);
        storage::write_report(path, report)?;
        say(format_args!("Stored as a baseline in {}{replaced}.", path.display()));
    }
    complete()
}

fn cautions(report: &Report, all: bool) {
    for (at, line) in doubts::lines(report, all).iter().enumerate() {
        say(format_args!("{}  {line}", if at == 0 { "Warnings:\n" } else { "" }));
    }
}
