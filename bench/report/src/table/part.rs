//! An analysis as pieces, before it is text: made once from the result, then printed on a terminal, in Markdown and on
//! a page.

use textwrap::Options;

use super::Grid;

#[derive(Clone, Debug)]
pub enum Part {
    /// The heading of all pieces up to the next heading.
    Heading(String),
    /// A table with its title.
    Table(String, Grid),
    Said(String),
    Claim(Claim),
}

/// A claim of an article, and the verdict of this machine.
#[derive(Clone, Debug)]
pub struct Claim {
    /// In the words of the article, or close to them.
    pub claim: &'static str,
    /// How it is measured, and the figure.
    pub here: String,
    /// Without a full stop.
    pub verdict: String,
}

/// For a terminal.
pub fn terminal(parts: &[Part]) -> String {
    let part = |part: &Part| match part {
        Part::Heading(heading) => format!("{heading}\n{}", "=".repeat(heading.chars().count())),
        Part::Table(title, grid) if title.is_empty() => grid.terminal(),
        Part::Table(title, grid) => format!("{}\n{}", wrapped(title, ""), grid.terminal()),
        Part::Said(said) => wrapped(said, ""),
        Part::Claim(Claim { claim, here, verdict }) => {
            let here = wrapped(&format!("  here: {here}"), "    ");
            format!("{}\n{here}\n  {verdict}.", wrapped(claim, ""))
        }
    };
    parts.iter().map(|one| part(one).trim_end().to_owned() + "\n\n").collect()
}

/// Wrapped to the terminal. Each line of the input begins a new line.
pub fn wrapped(text: &str, indent: &str) -> String {
    textwrap::fill(text, Options::new(Grid::line_width()).subsequent_indent(indent))
}

pub fn markdown(parts: &[Part]) -> String {
    let part = |part: &Part| match part {
        Part::Heading(heading) => format!("\n## {heading}\n"),
        Part::Table(title, grid) if title.is_empty() => format!("\n{}", grid.markdown()),
        Part::Table(title, grid) => format!("\n{title}:\n\n{}", grid.markdown()),
        Part::Said(said) => format!("\n{}\n", said.replace('\n', " ")),
        Part::Claim(Claim { claim, here, verdict }) => format!("\n- {claim} Here: {here}. **{verdict}.**\n"),
    };
    parts.iter().map(part).collect()
}
