//! Which mechanisms can stand in epoll beside sockets: what came of trying it.

use super::designs::DESIGNS;
use crate::record::Report;
use crate::table::{Grid, Tone};

pub(super) fn text(report: &Report) -> String {
    let mut grid = Grid::new(&["mechanism", "transport", "works", "how"]);
    for tried in &report.epoll {
        let label = DESIGNS.iter().find(|design| design.transport == tried.name).map_or("", |design| design.label);
        let works = if tried.works { "yes" } else { "no" };
        grid.push(Tone::Plain, None, [label, &tried.name, works, &tried.how].map(str::to_owned).to_vec());
    }
    grid.terminal()
}
