//! From which size on a message is better passed by address than by value: for each size a verdict from two sessions,
//! and over the sizes the turning point. Pure.
//!
//! The two ways are measured in separate sessions, one right after the other, and compared by the medians of their
//! times, as two runs are (`stats::change`).

use ybench_measure::record::Quantity;
use ybench_measure::stats::DIFFERENCE;
use ybench_measure::stats::change::{Change, within_a_run};

use super::designs::{DESIGNS, Design};
use super::matrix::{Matrix, bytes, way};
use crate::table::{Grid, Part, Tone};

/// One size: the time by address as a multiple of the time by value, and the verdict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) bytes: f64,
    pub(super) times: f64,
    pub(super) change: Change,
}

/// The turning point.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Onset {
    /// Nothing was measured both ways.
    Unknown,
    TooFewRounds,
    /// No size has a verdict.
    Uncalled,
    Everywhere,
    /// From this size on, interpolated between the last size that does not pay and the first that does.
    From(f64),
    /// Between these: the sizes between have no verdict. The first is `None` if no size is clearly against it.
    Between(Option<f64>, f64),
    /// It pays at these sizes, and no longer above them, as far as there are verdicts. `perhaps`: from this size on it
    /// may; infinite if the largest is clearly against it.
    Only {
        sizes: Vec<f64>,
        perhaps: f64,
    },
    /// It pays nowhere up to this size; these sizes have no verdict. `perhaps`: as above.
    Nowhere {
        largest: f64,
        close: Vec<f64>,
        perhaps: f64,
    },
}

impl Onset {
    /// For these sizes in ascending order.
    pub(super) fn of(points: &[Point]) -> Self {
        let Some(largest) = points.last().map(|point| point.bytes) else { return Self::Unknown };
        if points.iter().all(|point| point.change == Change::TooFewRounds) {
            return Self::TooFewRounds;
        }
        if !points.iter().any(|point| matches!(point.change, Change::Faster | Change::Slower)) {
            return Self::Uncalled;
        }
        let those = |wanted: fn(Change) -> bool| -> Vec<f64> {
            points.iter().filter(|point| wanted(point.change)).map(|point| point.bytes).collect()
        };
        let paying = those(|change| change == Change::Faster);
        let not_paying = points.iter().rposition(|point| point.change != Change::Faster);
        let Some(at) = not_paying else { return Self::Everywhere };
        let behind = points.iter().rposition(|point| point.change == Change::Slower).map_or(0, |at| at + 1);
        let perhaps = points.get(behind).map_or(f64::INFINITY, |point| point.bytes);
        if paying.is_empty() {
            return Self::Nowhere { largest, close: those(|change| change != Change::Slower), perhaps };
        }
        let (before, Some(first)) = (&points[at], points.get(at + 1)) else {
            return Self::Only { sizes: paying, perhaps };
        };
        if before.change == Change::Slower {
            return Self::From(crossing(before, first));
        }
        let against = points[..at].iter().rfind(|point| point.change == Change::Slower);
        Self::Between(against.map(|point| point.bytes), first.bytes)
    }

    /// The range of the size from which it pays.
    pub(super) fn range(&self) -> Option<(f64, f64)> {
        match self {
            Self::Unknown | Self::TooFewRounds => None,
            Self::Uncalled => Some((0.0, f64::INFINITY)),
            Self::Everywhere => Some((0.0, 0.0)),
            Self::From(size) => Some((*size, *size)),
            Self::Between(from, to) => Some((from.unwrap_or(0.0), *to)),
            Self::Only { perhaps, .. } | Self::Nowhere { perhaps, .. } => Some((*perhaps, f64::INFINITY)),
        }
    }

    pub(super) fn in_words(&self) -> String {
        let sizes = |those: &[f64]| those.iter().map(|size| bytes(*size)).collect::<Vec<_>>().join(", ");
        match self {
            Self::Unknown => String::new(),
            Self::TooFewRounds => "too few rounds".to_owned(),
            Self::Uncalled => "unknown, too close at every size".to_owned(),
            Self::Everywhere => "at every size".to_owned(),
            Self::From(size) => format!("from about {}", about(*size)),
            Self::Between(Some(from), to) => format!("too close between {} and {}", bytes(*from), bytes(*to)),
            Self::Between(None, to) => format!("from {}, too close below", bytes(*to)),
            Self::Only { sizes: those, .. } => format!("at {} only", sizes(those)),
            Self::Nowhere { largest, close, .. } if close.is_empty() => format!("at no size up to {}", bytes(*largest)),
            Self::Nowhere { close, .. } => format!("at no size for certain, unknown at {}", sizes(close)),
        }
    }
}

/// "1.5 KiB", "700 B".
fn about(size: f64) -> String {
    match size {
        size if size >= 1_024.0 => format!("{:.1} KiB", size / 1_024.0),
        size if size >= 100.0 => format!("{:.0} B", (size / 10.0).round() * 10.0),
        size => format!("{size:.0} B"),
    }
}

/// Where the line between two points crosses 1, both axes logarithmic.
fn crossing(before: &Point, after: &Point) -> f64 {
    let (above, below) = (before.times.ln().max(0.0), (-after.times.ln()).max(0.0));
    let share = if above + below > 0.0 { above / (above + below) } else { 0.5 };
    before.bytes * (after.bytes / before.bytes).powf(share)
}

/// The verdict of every size that was measured both ways.
pub(super) fn points(matrix: &Matrix<'_>, way: Quantity, transport: &str) -> Vec<Point> {
    let point = |bytes: f64| {
        let [by_value, other] = [Quantity::BytesByValue, way].map(|way| matrix.at(way, bytes)?.measured(transport));
        let (change, times) = within_a_run(&by_value?, &other?, DIFFERENCE)?;
        Some(Point { bytes, times, change })
    };
    matrix.sizes().into_iter().filter_map(point).collect()
}

/// All mechanisms by all shapes, for each way except by value.
pub(super) fn tables(matrices: &[Matrix<'_>]) -> Vec<Part> {
    let mut ways: Vec<Quantity> = matrices.iter().flat_map(Matrix::ways).collect();
    ways.sort_unstable();
    ways.dedup();
    ways.retain(|way| *way != Quantity::BytesByValue);
    if ways.is_empty() {
        return vec![Part::Said("Messages were carried in one way only.".to_owned())];
    }
    ways.into_iter().map(|way| Part::Table(String::new(), table(matrices, way))).collect()
}

fn table(matrices: &[Matrix<'_>], way: Quantity) -> Grid {
    let heads: Vec<String> = matrices.iter().map(|matrix| matrix.shape.to_string()).collect();
    let name = format!("{}, pays", self::way(way));
    let mut grid = Grid::new(&[&[name.as_str()], &heads.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat());
    for design in &DESIGNS {
        let cells: Vec<String> = matrices.iter().map(|matrix| told(matrix, way, design)).collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            grid.push(Tone::Plain, None, [vec![design.label.to_owned()], cells].concat());
        }
    }
    grid
}

fn told(matrix: &Matrix<'_>, way: Quantity, design: &Design) -> String {
    let points = points(matrix, way, design.transport);
    let told = Onset::of(&points).in_words();
    let measured = |way, bytes| matrix.at(way, bytes).is_some_and(|one| one.density(design.transport).is_some());
    let alone = |bytes: &f64| measured(way, *bytes) && !measured(Quantity::BytesByValue, *bytes);
    match matrix.sizes().into_iter().find(alone).filter(|_| !told.is_empty()) {
        Some(size) => format!("{told}; the only way from {}", bytes(size)),
        None => told,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(those: &[(f64, f64, Change)]) -> Vec<Point> {
        those.iter().map(|&(bytes, times, change)| Point { bytes, times, change }).collect()
    }

    fn said(those: &[(f64, f64, Change)]) -> String {
        Onset::of(&points(those)).in_words()
    }

    use Change::{Faster, NoneSeen, OtherState, Slower, TooFewRounds};

    #[test]
    fn the_crossing_lies_where_the_ratio_is_one() {
        assert_eq!(said(&[(1_024.0, 2.0, Slower), (4_096.0, 0.5, Faster)]), "from about 2.0 KiB");
        let near =
            said(&[(512.0, 4.0, Slower), (1_024.0, 1.2, Slower), (2_048.0, 0.6, Faster), (4_096.0, 0.4, Faster)]);
        assert_eq!(near, "from about 1.2 KiB");
        assert_eq!(said(&[(8.0, 8.0, Slower), (64.0, 0.5, Faster)]), "from about 38 B");
    }

    #[test]
    fn everywhere_and_nowhere_are_said() {
        assert_eq!(said(&[(8.0, 0.5, Faster), (64.0, 0.5, Faster)]), "at every size");
        assert_eq!(said(&[(8.0, 3.0, Slower), (65_536.0, 2.0, Slower)]), "at no size up to 64 KiB");
        let close = said(&[(8.0, 3.0, Slower), (65_536.0, 1.0, NoneSeen)]);
        assert_eq!(close, "at no size for certain, unknown at 64 KiB");
        let unknown = said(&[(8.0, 3.0, NoneSeen), (65_536.0, 1.0, OtherState), (1e5, 1.0, TooFewRounds)]);
        assert_eq!(unknown, "unknown, too close at every size");
        assert_eq!(said(&[]), "");
        assert_eq!(said(&[(8.0, 3.0, TooFewRounds), (64.0, 0.1, TooFewRounds)]), "too few rounds");
        // One session with too few rounds does not hide the others.
        assert_eq!(said(&[(8.0, 3.0, TooFewRounds), (64.0, 0.1, Faster)]), "from 64 B, too close below");
    }

    #[test]
    fn what_cannot_be_called_is_no_crossing() {
        let between = said(&[(512.0, 2.0, Slower), (1_024.0, 1.0, NoneSeen), (2_048.0, 0.5, Faster)]);
        assert_eq!(between, "too close between 512 B and 2 KiB");
        assert_eq!(said(&[(512.0, 2.0, OtherState), (1_024.0, 0.5, Faster)]), "from 1 KiB, too close below");
        let dip = said(&[(8.0, 0.5, Faster), (64.0, 2.0, Slower), (512.0, 1.0, NoneSeen)]);
        assert_eq!(dip, "at 8 B only");
    }

    #[test]
    fn the_range_holds_the_crossing() {
        let range = |those: &[_]| Onset::of(&points(those)).range();
        assert_eq!(range(&[(1_024.0, 2.0, Slower), (4_096.0, 0.5, Faster)]), Some((2_048.0, 2_048.0)));
        assert_eq!(range(&[(8.0, 1.0, NoneSeen), (64.0, 0.5, Faster)]), Some((0.0, 64.0)));
        assert_eq!(range(&[(8.0, 2.0, Slower)]), Some((f64::INFINITY, f64::INFINITY)));
        assert_eq!(range(&[(8.0, 2.0, TooFewRounds)]), None);
        // A size without a verdict, below one that is clearly against it, decides nothing. Later sizes without a
        // verdict only prevent "never".
        let (never, from) = (Some((f64::INFINITY, f64::INFINITY)), |size| Some((size, f64::INFINITY)));
        assert_eq!(range(&[(8.0, 1.0, NoneSeen), (4_096.0, 2.0, Slower)]), never);
        assert_eq!(range(&[(8.0, 2.0, Slower), (512.0, 1.0, NoneSeen), (4_096.0, 1.0, NoneSeen)]), from(512.0));
        assert_eq!(range(&[(8.0, 0.5, Faster), (64.0, 2.0, Slower)]), never);
        assert_eq!(range(&[(8.0, 0.5, Faster), (64.0, 2.0, Slower), (512.0, 1.0, NoneSeen)]), from(512.0));
    }
}
