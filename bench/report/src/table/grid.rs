//! A table before it is text: built once, then printed on a terminal, in Markdown and on a page.

use std::io::IsTerminal;

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use textwrap::Options;

/// The emphasis of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    Leader,
    /// Less than 10 % behind the leader.
    Tied,
    /// Not distinguishable from the leader, because the rounds scatter or are too few.
    Unsure,
    #[default]
    Plain,
    Limit,
}

#[derive(Clone, Debug, Default)]
pub struct Row {
    pub tone: Tone,
    /// The transport of this row, if it has one.
    pub name: Option<String>,
    pub cells: Vec<String>,
}

/// The default width of a terminal, in characters.
const USUAL_WIDTH: usize = 120;

#[derive(Clone, Debug)]
pub struct Column {
    pub head: String,
    /// Whether its cells are figures, aligned by their last digit.
    pub right: bool,
    /// Whether it belongs to the column before it, and stays next to that.
    pub beside: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Grid {
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
    /// Whether its columns are narrower on a terminal.
    pub tight: bool,
    /// Whether long cells are wrapped; otherwise the columns continue below.
    pub folds: bool,
    /// Sentences below the table.
    pub notes: Vec<String>,
}

impl Grid {
    /// A head that begins with '>' is a column of figures. One that begins with "+>" has figures about the column
    /// before it.
    pub fn new(heads: &[&str]) -> Self {
        let column = |head: &&str| {
            let (beside, head) = head.strip_prefix('+').map_or((false, *head), |head| (true, head));
            let (right, head) = head.strip_prefix('>').map_or((false, head), |head| (true, head));
            Column { head: head.to_owned(), right, beside }
        };
        Self { columns: heads.iter().map(column).collect(), ..Self::default() }
    }

    pub fn push(&mut self, tone: Tone, name: Option<&str>, cells: Vec<String>) {
        self.rows.push(Row { tone, name: name.map(str::to_owned), cells });
    }

    /// Columns beyond the width of the terminal continue below, with the names repeated.
    pub fn terminal(&self) -> String {
        let mut text = String::new();
        let panels = self.panels(if self.folds { usize::MAX } else { self.room() });
        for panel in &panels {
            text += &self.panel(panel);
            text.push('\n');
        }
        for note in &self.notes {
            text.push_str(&textwrap::fill(note, Options::new(Self::line_width()).subsequent_indent("  ")));
            text.push('\n');
        }
        text.trim_end().to_owned() + if panels.len() > 1 { "\n" } else { "" }
    }

    /// The maximum width: that of the terminal; without a terminal, narrow tables use the default width.
    fn room(&self) -> usize {
        match terminal_width() {
            Some(columns) => columns,
            None if self.tight || self.folds => USUAL_WIDTH,
            None => usize::MAX,
        }
    }

    /// The maximum width of a line of sentences.
    pub fn line_width() -> usize {
        terminal_width().unwrap_or(USUAL_WIDTH).min(USUAL_WIDTH)
    }

    /// The columns that fit side by side in `room` characters. Each block after the first repeats the column of names.
    fn panels(&self, room: usize) -> Vec<Vec<usize>> {
        let named = self.columns.iter().position(|column| !column.right && column.head != "#").map_or(0, |at| at + 1);
        let gap = if self.tight { 2 } else { 3 };
        let widths: Vec<usize> = (0..self.columns.len()).map(|at| self.width(at) + gap).collect();
        let names: usize = widths[..named].iter().sum();
        let mut panels: Vec<Vec<usize>> = Vec::new();
        let mut used = usize::MAX;
        for (at, width) in widths.iter().enumerate().skip(named) {
            let beside = self.columns[at..].iter().skip(1).take_while(|column| column.beside).count();
            let together: usize = widths[at..=at + beside].iter().sum();
            if panels.is_empty() || (!self.columns[at].beside && used.saturating_add(together) > room) {
                panels.push((0..named).collect());
                used = names;
            }
            used += width;
            if let Some(panel) = panels.last_mut() {
                panel.push(at);
            }
        }
        if panels.is_empty() { vec![(0..named).collect()] } else { panels }
    }

    /// The characters of the widest cell of a column.
    fn width(&self, at: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.cells.get(at));
        let lines = cells.flat_map(|cell| cell.lines()).chain(self.columns[at].head.lines());
        lines.map(|line| line.chars().count()).max().unwrap_or(0)
    }

    /// Some of the columns, and the rows that have a value in them.
    fn panel(&self, columns: &[usize]) -> String {
        let mut table = new_table(&columns.iter().map(|&at| self.columns[at].head.as_str()).collect::<Vec<_>>());
        for row in &self.rows {
            let cells: Vec<String> = columns.iter().filter_map(|&at| row.cells.get(at).cloned()).collect();
            let whole = columns.len() == self.columns.len() || row.name.is_none();
            if whole || cells.iter().skip(1).any(|cell| !cell.is_empty()) {
                table.add_row(cells);
            }
        }
        let right = |(_, at): &(usize, &usize)| self.columns[**at].right;
        let right: Vec<usize> = columns.iter().enumerate().filter(right).map(|(place, _)| place).collect();
        align_right(&mut table, &right);
        for column in table.column_iter_mut().filter(|_| self.tight) {
            column.set_padding((1, 0));
        }
        if self.folds {
            let width = u16::try_from(self.room()).unwrap_or(u16::MAX);
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        }
        text(&table)
    }

    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = line(self.columns.iter().map(|column| cell(&column.head)).collect());
        text += &line(self.columns.iter().map(|column| if column.right { "---:" } else { "---" }.to_owned()).collect());
        for row in &self.rows {
            let leads = row.tone == Tone::Leader;
            let shown = |text: &String| match cell(text) {
                text if leads && !text.is_empty() => format!("**{text}**"),
                text => text,
            };
            text += &line(row.cells.iter().map(shown).collect());
        }
        for note in &self.notes {
            text += &format!("\n{}\n", cell(note));
        }
        text
    }
}

fn terminal_width() -> Option<usize> {
    let asked = std::io::stdout().is_terminal().then(|| console::Term::stdout().size_checked()).flatten();
    asked.map(|(_, columns)| usize::from(columns).max(40))
}

/// Escapes characters that would end a cell or begin markup.
fn cell(text: &str) -> String {
    let mut shown = String::new();
    for letter in text.chars() {
        match letter {
            '|' | '*' | '_' | '`' | '<' | '[' | '\\' => shown.extend(['\\', letter]),
            '\n' | '\r' => shown.push(' '),
            other => shown.push(other),
        }
    }
    shown
}

/// A line under the head and one under the last row; none between the rows.
const STYLE: TableStyle = TableStyle::new()
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

fn new_table(head: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE).set_header(head.iter().map(Cell::new));
    table
}

/// Without the trailing spaces that a table has on each line.
fn text(table: &Table) -> String {
    table.trim_fmt()
}

fn align_right(table: &mut Table, columns: &[usize]) {
    for &column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_keeps_its_columns_whatever_the_cells_say() {
        let mut grid = Grid::new(&["name", ">ns"]);
        grid.push(Tone::Leader, None, vec!["a|b".into(), "1".into()]);
        assert_eq!(grid.markdown(), "| name | ns |\n| --- | ---: |\n| **a\\|b** | **1** |\n");
    }
}
