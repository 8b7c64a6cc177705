//! The features of ours and of each competitor, as a table. A test covers each tick.

use crate::table::Grid;

/// `None` if this program was built without competitors.
#[cfg(not(feature = "competitors"))]
pub(super) fn grid() -> Option<Grid> {
    None
}

/// `None` if this program was built without competitors.
#[cfg(feature = "competitors")]
pub(super) fn grid() -> Option<Grid> {
    use ybench_competitors::features::{Feature, KINDS, Kind, columns};

    use crate::table::Tone;

    // The names of the columns are stacked word by word, because there are many.
    let heads: Vec<String> = columns().map(|feature| feature.column().replace(' ', "\n")).collect();
    let heads: Vec<&str> = std::iter::once("").chain(heads.iter().map(String::as_str)).collect();
    let mut grid = Grid::new(&heads);
    grid.tight = true;
    #[cfg(feature = "cpp")]
    let foreign = ybench_native::LIBRARIES.map(|(name, transports)| Kind { name, transports, beside: &[] });
    #[cfg(not(feature = "cpp"))]
    let foreign: [Kind; 0] = [];
    for kind in KINDS.iter().chain(&foreign) {
        let tick = |feature: Feature| if kind.has(feature) { "✓" } else { "–" }.to_owned();
        let cells = std::iter::once(kind.name.to_owned()).chain(columns().map(tick)).collect();
        grid.push(Tone::Plain, None, cells);
    }
    grid.notes = vec!["A test covers each tick; crates/ysuite/tests/family/features.rs defines them.".to_owned()];
    Some(grid)
}
