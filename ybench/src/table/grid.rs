//! A table before it is text: built once, then printed on a terminal, in Markdown and on a page.

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

/// What a row deserves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    Leader,
    /// Too close to the leader to call.
    Tied,
    #[default]
    Plain,
    Limit,
}

#[derive(Clone, Debug, Default)]
pub struct Row {
    pub tone: Tone,
    /// The transport this row is about, where it is about one.
    pub name: Option<String>,
    pub cells: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Column {
    pub head: String,
    /// Whether its cells are figures, which stand below each other's last digit.
    pub right: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Grid {
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
    /// Whether its columns stand nearer to each other on a terminal.
    pub tight: bool,
    /// Sentences below.
    pub notes: Vec<String>,
}

impl Grid {
    /// A head that begins with '>' is that of figures.
    pub fn new(heads: &[&str]) -> Self {
        let column = |head: &&str| match head.strip_prefix('>') {
            Some(head) => Column { head: head.to_owned(), right: true },
            None => Column { head: (*head).to_owned(), right: false },
        };
        Self { columns: heads.iter().map(column).collect(), ..Self::default() }
    }

    pub fn push(&mut self, tone: Tone, name: Option<&str>, cells: Vec<String>) {
        self.rows.push(Row { tone, name: name.map(str::to_owned), cells });
    }

    pub fn terminal(&self) -> String {
        self.terminal_within(None)
    }

    /// Broken into lines where it would be wider than so many letters.
    pub fn terminal_within(&self, width: Option<u16>) -> String {
        let heads: Vec<&str> = self.columns.iter().map(|column| column.head.as_str()).collect();
        let mut table = new_table(&heads);
        for row in &self.rows {
            table.add_row(row.cells.clone());
        }
        let right: Vec<usize> =
            self.columns.iter().enumerate().filter(|(_, column)| column.right).map(|(at, _)| at).collect();
        align_right(&mut table, &right);
        for column in table.column_iter_mut().filter(|_| self.tight) {
            column.set_padding((1, 0));
        }
        if let Some(width) = width {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        }
        let mut text = self::text(&table);
        for note in &self.notes {
            text.push('\n');
            text.push_str(note);
        }
        text
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

/// What would end a cell or begin markup does neither.
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
