//! A report as Markdown: the verdicts first, then the tables.

use ybench_measure::outcome::Series;
use ybench_measure::record::Session;

use super::{Shown, when};
use crate::clock;
use crate::table::part;
use crate::table::sections::sections;
use crate::table::{self, Beside, Grid, Growth};

pub fn text(loaded: &[Shown<'_>], beyond: f64) -> String {
    loaded.iter().map(|one| report(one, beyond)).collect::<Vec<_>>().join("\n")
}

fn report(shown: &Shown<'_>, beyond: f64) -> String {
    let Shown { name, report, study } = shown;
    let mut text = format!(
        "# ybench {}\n\n{}\n\n{} {}, from `{name}`.\n",
        report.command,
        report.environment.in_words(),
        table::threads(report),
        when::date(report.started)
    );
    for section in sections(report) {
        let measured = |session: &&Session| session.transports().next().is_some();
        let sessions: Vec<&Session> = section.sessions.iter().copied().filter(measured).collect();
        if !sessions.is_empty() {
            text += &format!("\n- **{}**: {}", section.scenario, table::judgements(&sessions).join(" "));
        }
    }
    text.push('\n');
    text.extend(crate::doubts::broken(report).map(|line| format!("\n**{line}**\n")));
    if !report.warnings.is_empty() {
        text += "\n## Warnings\n\n";
    }
    for warning in &report.warnings {
        text += &format!("- {warning} {}\n", warning.advice());
    }
    if let Some(facts) = &report.clock {
        text += &format!("\n## Clock\n\n{}\n", clock::table::sentences(facts).trim_end().replace('\n', "\n\n"));
    }
    text += &part::markdown(&study.parts);
    for section in sections(report) {
        text += &format!("\n## {}\n\n{}.\n", section.scenario, section.about);
        for growth in Growth::of(&section) {
            text += &format!("\n{}\n", growth.sentences().join(" "));
            text += &format!("\n{}:\n\n{}", growth.heading(), growth.times().markdown());
            text += &format!("\nGrowth of the ratio to the baseline:\n\n{}", growth.growth().markdown());
        }
        for session in &section.sessions {
            text += &self::session(session, section.sessions.len() > 1, Beside::of(report, beyond));
        }
    }
    if !study.goals.is_empty() {
        text += &format!("\n## Targets\n\n{}", table::goals_grid(&study.goals).markdown());
    }
    text
}

fn session(session: &Session, titled: bool, beside: Beside) -> String {
    let mut text = String::new();
    if titled {
        text += &format!("\n### {}\n", session.title());
    }
    if session.transports().next().is_none() {
        return text + "\n" + &table::limits_grid(session).markdown();
    }
    text += &format!("\n{}\n\n", table::judgement(session).replace('\n', " "));
    text += &table::ranking_grid(session).markdown();
    let mut more = |title: String, grid: Grid| {
        if !grid.rows.is_empty() {
            text += &format!("\n{title}:\n\n{}", grid.markdown());
        }
    };
    for series in Series::ALL {
        more(format!("Single messages, {}, in ns", series.in_words()), table::latency_grid(session, series, beside));
    }
    if let Some(grid) = table::metrics_grid(session) {
        more("Also measured".to_owned(), grid);
    }
    text
}
