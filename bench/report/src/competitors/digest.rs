//! All cases in one table, for `docs/benchmarks/measurements.md`: a line for each group and figure, with the best of
//! ours, the three nearest competitors, and every other one that is ahead anywhere. Made from the result alone.

use std::collections::BTreeSet;
use std::fmt::Write;

use ybench_measure::record::{Report, Session};
use ybench_measure::scenario::cells::{self, Cell, Figure};

use super::beside::Beside;
use super::table::{LEVEL, bytes, taken_out};
use crate::table::figure;
use crate::table::sections::{Section, sections};

/// The number of competitors in a line, whether or not one is ahead.
const NAMED: usize = 3;

/// `None` if the report is of another command, or if no transport was measured.
pub fn digest(report: &Report) -> Option<String> {
    if report.command != super::COMMAND {
        return None;
    }
    let mut sizes: Vec<f64> = report.sessions.iter().filter_map(|one| Some(one.parameter?.value)).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let written: Vec<String> = sizes.iter().copied().map(bytes).collect();
    let mut text =
        format!("| case | group | ours, at {} | nearest, times ours |\n|---|---|---|---|", written.join(", "));
    let mut lines = 0;
    for section in sections(report) {
        let Some(cell) = cells::named(section.scenario) else { continue };
        for line in lines_of(&section, cell, &sizes) {
            let _ = write!(text, "\n{line}");
            lines += 1;
        }
    }
    // Once for each transport that failed validation, not for each size.
    let out: BTreeSet<String> = cells::all().iter().flat_map(|cell| told(cell.scenario.name, report)).collect();
    if !out.is_empty() {
        let _ = write!(text, "\n\n{}", Vec::from_iter(out).join(" "));
    }
    (lines > 0).then_some(text)
}

/// The transports excluded from a case, as sentences that name it.
fn told(cell: &str, report: &Report) -> Vec<String> {
    taken_out(cell, report).into_iter().map(|out| format!("In {cell} {out}")).collect()
}

fn lines_of(section: &Section<'_>, cell: &Cell, sizes: &[f64]) -> Vec<String> {
    let mut lines = Vec::new();
    for group in cell.groups {
        for judged in cell.figures.iter().filter(|figure| figure.judged) {
            let at = |size: &f64| {
                let session: &Session =
                    section.sessions.iter().copied().find(|one| one.parameter.map(|one| one.value) == Some(*size))?;
                let group = session.groups.iter().find(|one| one.name == group.name)?;
                Some(Beside::of(session, group, judged))
            };
            let besides: Vec<Option<Beside>> = sizes.iter().map(at).collect();
            if let Some(competitors) = nearest(&besides) {
                let head = format!("{}, {}", section.scenario, judged.name);
                lines.push(format!("| {head} | {} | {} | {competitors} |", group.name, ours(&besides, judged)));
            }
        }
    }
    lines
}

/// The best of ours at each size; its name is written once if it is the same everywhere.
fn ours(besides: &[Option<Beside>], judged: &Figure) -> String {
    let mut said = None;
    let mut at = |beside: &Option<Beside>| {
        let beside = beside.as_ref()?;
        let best = beside.best.as_deref()?;
        let value = (judged.form)(beside.member(best)?.value.median);
        let named = if said.as_deref() == Some(best) { value } else { format!("`{best}` {value}") };
        said = Some(best.to_owned());
        Some(named)
    };
    besides.iter().map(|beside| at(beside).unwrap_or_else(|| "–".to_owned())).collect::<Vec<_>>().join(", ")
}

/// The competitors with the smallest geometric mean of their ratios, and all that are ahead at one size at least,
/// however far they are at others. Each with its ratio at every size; ratios below 1 in bold.
fn nearest(besides: &[Option<Beside>]) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for (competitor, _) in besides.iter().flatten().flat_map(Beside::competitors) {
        if !names.contains(&competitor.name.as_str()) {
            names.push(&competitor.name);
        }
    }
    let ratio = |name: &str, beside: &Option<Beside>| Some(beside.as_ref()?.member(name)?.ratio?.median);
    let mean = |name: &str| {
        let logarithms: Vec<f64> = besides.iter().filter_map(|one| Some(ratio(name, one)?.ln())).collect();
        logarithms.iter().sum::<f64>() / logarithms.len().max(1) as f64
    };
    names.sort_by(|one, other| mean(one).total_cmp(&mean(other)));
    let is_ahead = |ratio: f64| ratio < LEVEL;
    let is_named = |&(place, name): &(usize, &&str)| {
        place < NAMED || besides.iter().any(|one| ratio(name, one).is_some_and(is_ahead))
    };
    let times = |ratio: f64| {
        let short = figure(ratio);
        if is_ahead(ratio) { format!("**{short}**") } else { short }
    };
    let of = |(_, name): (usize, &&str)| {
        let each = besides.iter().map(|beside| ratio(name, beside).map_or_else(|| "–".to_owned(), times));
        format!("{name} {}", each.collect::<Vec<_>>().join(", "))
    };
    let named: Vec<String> = names.iter().enumerate().filter(is_named).map(of).collect();
    (!named.is_empty()).then(|| named.join("; "))
}

#[cfg(test)]
mod tests {
    use ybench_measure::record::{Group, Parameter, Quantity, Round};
    use ybench_measure::warnings::Warning;

    use super::*;

    fn session(bytes: f64, times: &[(&str, f64)]) -> Session {
        let nanoseconds = times.iter().map(|(name, time)| ((*name).to_owned(), *time)).collect();
        let (ours, competitors): (Vec<&str>, Vec<&str>) =
            times.iter().map(|(name, _)| *name).partition(|name| name.starts_with("mpmc"));
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
        Session {
            scenario: "2-to-2".to_owned(),
            parameter: Some(Parameter { quantity: Quantity::BytesByValue, value: bytes }),
            groups: vec![Group { name: "can sleep".to_owned(), ours: owned(ours), competitors: owned(competitors) }],
            rounds: vec![Round { nanoseconds, ..Round::default() }],
            ..Session::default()
        }
    }

    fn report(sessions: Vec<Session>) -> Report {
        Report { command: super::super::COMMAND.to_owned(), sessions, ..Report::default() }
    }

    #[test]
    fn a_line_has_the_best_of_ours_and_the_three_nearest_with_ratios_below_1_in_bold() {
        let eight = [("mpmc", 10.0), ("mpmc-unbounded", 20.0), ("kanal", 8.0), ("flume", 14.0), ("std", 90.0)];
        let more = [("mpmc", 40.0), ("mpmc-unbounded", 20.0), ("kanal", 30.0), ("crossfire", 22.0)];
        let text = digest(&report(vec![session(8.0, &eight), session(64.0, &more)])).unwrap();
        let due = "| 2-to-2, ns a message | can sleep | `mpmc` 10.0, `mpmc-unbounded` 20.0 \
                   | kanal **0.80**, 1.50; crossfire –, 1.10; flume 1.40, – |";
        assert_eq!(text.lines().last(), Some(due));
        assert!(text.starts_with("| case | group | ours, at 8 B, 64 B | nearest, times ours |\n"), "{text}");
    }

    #[test]
    fn a_competitor_ahead_at_one_size_is_named_however_far_on_average() {
        let others = [("mpmc", 10.0), ("kanal", 11.0), ("flume", 12.0), ("std", 13.0), ("farther", 99.0)];
        let with = |far: f64| [&others[..], &[("far", far)]].concat();
        let text = digest(&report(vec![session(8.0, &with(9.0)), session(64.0, &with(90.0))])).unwrap();
        let due = "| kanal 1.10, 1.10; flume 1.20, 1.20; std 1.30, 1.30; far **0.90**, 9.00 |";
        assert!(text.ends_with(due), "{text}");
    }

    #[test]
    fn whoever_was_taken_out_is_told_below() {
        let mut report = report(vec![session(8.0, &[("mpmc", 10.0), ("kanal", 25.0)])]);
        let taken = Warning::TakenOut {
            scenario: "2-to-2".to_owned(),
            name: "flume".to_owned(),
            sentence: "lost a message".to_owned(),
        };
        // At two sizes.
        report.warnings = vec![taken.clone(), taken];
        let text = digest(&report).unwrap();
        assert!(text.ends_with("kanal 2.50 |\n\nIn 2-to-2 flume was taken out: it lost a message."), "{text}");
    }

    #[test]
    fn without_a_competitor_there_is_no_table() {
        assert_eq!(digest(&report(vec![session(8.0, &[("mpmc", 10.0)])])), None);
        assert_eq!(digest(&Report { command: "run".to_owned(), ..Report::default() }), None);
    }
}
