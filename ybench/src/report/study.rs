//! What a study leaves: its own tables and pictures, made from a record.

use ybench_core::record::Goal;

use crate::plot::Picture;
use crate::table::Part;

/// Tables and pictures in a shape of their own, beside those that every result has.
#[derive(Debug, Default)]
pub struct Study {
    /// On a page.
    pub title: &'static str,
    pub parts: Vec<Part>,
    /// With the names of their files.
    pub pictures: Vec<(String, Picture)>,
    /// The project's own targets, judged.
    pub goals: Vec<Goal>,
}
