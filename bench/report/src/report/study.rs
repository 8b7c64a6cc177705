//! An analysis: its own tables and pictures, made from a result.

use ybench_measure::record::Goal;

use crate::plot::Picture;
use crate::table::Part;

/// Tables and pictures of one command, in addition to those of every result.
#[derive(Debug, Default)]
pub struct Study {
    /// The title on a page.
    pub title: &'static str,
    pub parts: Vec<Part>,
    /// With the file names.
    pub pictures: Vec<(String, Picture)>,
    /// The project's own targets, judged.
    pub goals: Vec<Goal>,
}
