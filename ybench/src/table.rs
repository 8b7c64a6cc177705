//! Sessions as tables for a terminal. Plain text out; the caller prints it.

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

use crate::judgement::Judgement;
use crate::record::{Contestant, Goal, Kind, Report, Session, Unit};
use crate::stats::Spread;

/// The head of every output: where and with what.
pub fn heading(report: &Report) -> String {
    let [first, second] = report.cpus;
    let cpus = if first == second { format!("CPU {first}") } else { format!("CPUs {first} and {second}") };
    format!("{}\nThreads on {cpus}.\n", report.environment.in_words())
}

/// Everybody in one scenario, limits between the transports, quickest first, and a sentence of verdict.
pub fn ranking(session: &Session) -> String {
    let ratio_head = format!("times {}", session.limit);
    let mut head = vec!["#", "transport", "waiting", "ns/msg", "msgs/s", &ratio_head, "min .. max"];
    let other_limits = session.transports().any(|one| !own_limit(session, one).is_empty());
    if other_limits {
        head.push("own limit");
    }
    let mut table = new_table(&head);
    // The floor tells how steady the machine was; where it is not what ranks, it has nothing to do with the others.
    let comparable = |one: &&Contestant| one.name != session.floor || session.floor == session.limit;
    let mut rows: Vec<&Contestant> = session.contenders.iter().filter(comparable).collect();
    // By the ratio, as the verdict does: medians of times taken at different moments may order them differently.
    let median =
        |one: &&Contestant| session.ratio(&one.name, &session.limit).map_or(f64::INFINITY, |ratio| ratio.median);
    rows.sort_by(|a, b| median(a).total_cmp(&median(b)));
    let mut rank = 0;
    for one in rows {
        let Some(density) = session.density(&one.name) else { continue };
        let place = if one.kind == Kind::Transport {
            rank += 1;
            rank.to_string()
        } else {
            "limit".to_owned()
        };
        let ratio = session.ratio(&one.name, &session.limit);
        let mut row = vec![
            place,
            one.name.clone(),
            one.waits.map_or("", |waits| waits.in_words()).to_owned(),
            figure(density.median),
            grouped(1e9 / density.median),
            ratio.map_or(String::new(), |ratio| figure(ratio.median)),
            ratio.map_or(String::new(), interval),
        ];
        if other_limits {
            row.push(own_limit(session, one));
        }
        table.add_row(row);
    }
    align_right(&mut table, &[3, 4, 5, 6]);
    let (kept, of) = (session.counted().count(), session.rounds.len());
    let title = format!("{}: {} ({kept} of {of} rounds)", session.scenario, session.about);
    format!("{title}\n{}\n{}\n", text(&table), Judgement::of(session))
}

/// The limit of its own kind where that is not the one of the whole table.
fn own_limit(session: &Session, one: &Contestant) -> String {
    let own = one.limit.as_deref().filter(|limit| *limit != session.limit);
    let ratio = own.and_then(|limit| Some((limit, session.ratio(&one.name, limit)?)));
    ratio.map_or(String::new(), |(limit, ratio)| format!("{} times {limit}", figure(ratio.median)))
}

/// The limits of the machine, each with what it is.
pub fn limits(session: &Session, about: impl Fn(&str) -> &'static str) -> String {
    let mut table = new_table(&["limit", "median", "min .. max", "unit", "what it is"]);
    for one in &session.contenders {
        let Some(density) = session.density(&one.name) else { continue };
        let unit = match one.unit {
            Unit::Kibibyte => format!("{} = {:.1} GiB/s", one.unit.per(), 1e9 / density.median / f64::from(1 << 20)),
            _ => one.unit.per().to_owned(),
        };
        table.add_row(vec![
            one.name.clone(),
            figure(density.median),
            interval(density),
            unit,
            about(&one.name).to_owned(),
        ]);
    }
    align_right(&mut table, &[1, 2]);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(120);
    format!("{}\n", text(&table))
}

pub fn goals(goals: &[Goal]) -> String {
    let mut table = new_table(&["target", "measured", "min .. max", "wanted", ""]);
    for goal in goals {
        let wanted = format!("{} {}", if goal.at_least { "at least" } else { "at most" }, figure(goal.target));
        let word = match goal.met {
            Some(true) => "pass",
            Some(false) => "MISS",
            None => "not measured",
        };
        table.add_row(vec![
            goal.name.clone(),
            goal.measured.map_or(String::new(), |spread| figure(spread.median)),
            goal.measured.map_or(String::new(), interval),
            wanted,
            word.to_owned(),
        ]);
    }
    align_right(&mut table, &[1, 2, 3]);
    let met = goals.iter().filter(|goal| goal.met == Some(true)).count();
    format!("{}\n{met} of {} targets met.\n", text(&table), goals.len())
}

/// A line under the head and one under the last row; nothing between the rows.
const STYLE: TableStyle = TableStyle::new()
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

pub fn new_table(head: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE).set_header(head.iter().map(Cell::new));
    table
}

/// Without the blanks that a table leaves at the end of each line.
pub fn text(table: &Table) -> String {
    table.trim_fmt()
}

pub fn align_right(table: &mut Table, columns: &[usize]) {
    for &column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

pub fn interval(spread: Spread) -> String {
    format!("{} .. {}", figure(spread.min), figure(spread.max))
}

/// Three digits that mean something, and none that do not.
pub fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 => grouped(value),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.01 || size == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.1e}"),
    }
}

/// Whole, with a comma at every third digit, as the articles print their figures.
pub fn grouped(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value <= -0.5 { format!("-{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(grouped(0.0), "0");
        assert_eq!(grouped(999.0), "999");
        assert_eq!(grouped(157_430.4), "157,430");
        assert_eq!(grouped(-1234.0), "-1,234");
        assert_eq!(grouped(f64::INFINITY), "-");
    }

    #[test]
    fn figures_keep_about_three_digits() {
        let shown = [0.0, 0.0004, 0.456, 2.345, 23.45, 234.5, 2345.6].map(figure);
        assert_eq!(shown, ["0.00", "4.0e-4", "0.46", "2.35", "23.4", "234", "2,346"]);
    }
}
