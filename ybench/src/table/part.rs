//! What a study says, piece by piece, before it is text: made once from the record, then printed on a terminal, in Markdown
//! and on a page.

use textwrap::Options;

use super::Grid;

#[derive(Clone, Debug)]
pub enum Part {
    /// Of all that follows, up to the next one.
    Heading(String),
    /// A table and what stands above it.
    Table(String, Grid),
    Said(String),
    Claim(Claim),
}

/// What somebody claims, and what this machine says.
#[derive(Clone, Debug)]
pub struct Claim {
    /// In the words of the article, or near them.
    pub claim: &'static str,
    /// How it is read, and the figure.
    pub here: String,
    /// Without its full stop.
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

/// Broken into lines that fit the terminal; each of its own lines begins a new one.
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
