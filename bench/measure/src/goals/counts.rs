//! The targets that are no ratios of times: sizes, counts, and the cost of small operations. Each is measured several
//! times, and judged by its median.

use super::{goal, idle, many, memory, streaming, timers};
use crate::error::{Error, Fault};
use crate::place::Place;
use crate::record::{Count, Goal, Report};
use crate::stats::Spread;
use crate::transport::{mpmc, mpsc, spsc};

/// The figures of one run, and the upper target of each.
struct Measure {
    /// Named if it fails.
    of: &'static str,
    /// In the order of the run's figures.
    wanted: &'static [(&'static str, f64)],
    /// The number of messages, where the user has given one.
    run: fn(Place, Option<u64>) -> Result<Vec<f64>, Fault>,
}

/// Memory comes first: memory that earlier runs have freed and the allocator has kept would hide the use.
static MEASURES: [Measure; 9] = [
    Measure {
        of: "spsc",
        wanted: &[
            ("bytes for each of 10,000,000 queued 8-byte messages", 17.0),
            ("MiB still resident when they are drained", 1.0),
        ],
        run: |_, messages| memory::queued_and_drained(memory::of_spsc, messages.unwrap_or(memory::MESSAGES)),
    },
    Measure {
        of: "mpmc-unbounded",
        wanted: &[
            ("bytes for each of 10,000,000 queued in mpmc without a bound", 10.0),
            ("MiB still resident when that is drained", 1.0),
        ],
        run: |_, messages| memory::queued_and_drained(memory::of_mpmc, messages.unwrap_or(memory::MESSAGES)),
    },
    Measure {
        of: "spsc",
        wanted: &[
            ("system calls of an idle receiver in 200 ms", 0.0),
            ("CPU time of an idle receiver in 200 ms, percent", 0.1),
        ],
        run: |place, _| idle::measured(place),
    },
    Measure {
        of: "spsc",
        wanted: &[
            ("spsc: system calls per million messages while it streams", 100.0),
            ("spsc: allocations per million messages while it streams", 100.0),
        ],
        run: streaming::counted::<spsc::Adaptive>,
    },
    Measure {
        of: "mpsc",
        wanted: &[
            ("mpsc: system calls per million messages while it streams", 100.0),
            ("mpsc: allocations per million messages while it streams", 100.0),
        ],
        run: streaming::counted::<mpsc::Adaptive>,
    },
    Measure {
        of: "mpmc",
        wanted: &[
            ("mpmc: system calls per million messages while it streams", 100.0),
            ("mpmc: allocations per million messages while it streams", 100.0),
        ],
        run: streaming::counted::<mpmc::Adaptive>,
    },
    Measure {
        of: "mpsc",
        wanted: &[("bytes of a sender of mpsc that sends nothing", 512.0), ("us to make a sender of mpsc", 2.0)],
        run: |_, _| Ok(many::idle_sender()),
    },
    Measure {
        of: "hub",
        wanted: &[("system calls of an idle hub in 200 ms, except the one in which it sleeps", 0.0)],
        run: |_, _| idle::of_a_hub().map(|calls| vec![calls]),
    },
    Measure {
        of: "hub",
        wanted: &[
            ("us to set one of 10,000 timers of a hub", 1.0),
            ("us to cancel one of 10,000 timers of a hub", 1.0),
        ],
        run: |_, _| timers::set_and_cancelled(),
    },
];

/// Measures every figure up to three times.
///
/// # Errors
///
/// Names the measured operation if it failed validation.
pub fn measured(place: Place, messages: Option<u64>, rounds: u32) -> Result<Vec<Count>, Error> {
    let mut counts = Vec::new();
    for measure in &MEASURES {
        let broken = |fault| Error::Broken { contender: measure.of.to_owned(), fault };
        let mut taken = vec![Vec::new(); measure.wanted.len()];
        for _ in 0..rounds.min(3) {
            let figures = (measure.run)(place, messages).map_err(broken)?;
            taken.iter_mut().zip(figures).for_each(|(values, figure)| values.push(figure));
        }
        let named = measure.wanted.iter().zip(taken);
        counts.extend(named.map(|((name, _), values)| Count { name: (*name).to_owned(), values }));
    }
    Ok(counts)
}

pub(super) fn judged(report: &Report) -> impl Iterator<Item = Goal> {
    MEASURES.iter().flat_map(|measure| measure.wanted).map(|&(name, most)| {
        let count = report.counts.iter().find(|count| count.name == name);
        goal(name.to_owned(), count.and_then(|count| Spread::of(&count.values)), most, false)
    })
}
