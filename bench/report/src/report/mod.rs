//! A result as text, as a page, as Markdown and as CSV. Several results are shown one after the other: no ratio is
//! formed across two of them.

pub mod csv;
pub mod files;
pub mod html;
mod load;
pub mod markdown;
pub mod output_dir;
mod study;
pub mod sweeps;
pub mod terminal;
pub mod when;

use ybench_measure::record::Report;

pub use self::load::load;
pub use self::study::Study;

/// A result with its name and its analysis.
#[derive(Debug)]
pub struct Shown<'a> {
    pub name: &'a str,
    pub report: &'a Report,
    pub study: Study,
}
