//! Which mechanisms work in epoll alongside sockets: the result of trying it.

use ybench_measure::record::{InEpoll, Report};
use ybench_measure::scenario::Entry;
use ybench_measure::transport::epoll_proof;

use super::designs::DESIGNS;
use crate::table::{Grid, Part, Tone};

/// The measured mechanisms that have such a test.
pub(super) fn tried(entries: &[&'static Entry]) -> Vec<InEpoll> {
    let asked = |name: &str| entries.iter().any(|entry| entry.traits.name == name);
    let proofs = epoll_proof::proofs().into_iter().filter(|proof| asked(proof.name));
    proofs.map(|proof| InEpoll { name: proof.name.to_owned(), works: proof.works, how: proof.how }).collect()
}

pub(super) fn table(report: &Report) -> Part {
    let mut grid = Grid::new(&["mechanism", "transport", "works", "how"]);
    for tried in &report.epoll {
        let label = DESIGNS.iter().find(|design| design.transport == tried.name).map_or("", |design| design.label);
        let works = if tried.works { "yes" } else { "no" };
        grid.push(Tone::Plain, None, [label, &tried.name, works, &tried.how].map(str::to_owned).to_vec());
    }
    Part::Table(String::new(), grid)
}
