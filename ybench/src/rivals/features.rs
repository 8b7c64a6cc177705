//! What ours and each rival have, as a table.

use crate::table::Grid;

pub(super) fn grid() -> Grid {
    Grid::default()
}
