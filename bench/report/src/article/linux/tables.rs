//! The article's four tables: the own queue by its way of waiting, and every mechanism by size, one table for each
//! shape.

use ybench_measure::record::{Quantity, Report};
use ybench_measure::registry;

use super::designs::{DESIGNS, Design, Kind, UNSTABLE, of};
use super::matrix::{Matrix, bytes, rate, way};
use crate::table::{Grid, Part, Tone};
use crate::table::{count, figure, grouped, significant, time};

/// The own queue with messages of one word: the median with the minimum and the maximum.
pub(super) fn waiting(matrices: &[Matrix<'_>]) -> Part {
    let mut grid =
        Grid::new(&["threads", "waiting", ">ns/msg", ">msgs/s", ">least", ">most", ">most / least", ">rounds"]);
    for matrix in matrices {
        let Some(session) = matrix.words() else { continue };
        for design in of(|kind| kind == Kind::Own) {
            let Some(time) = session.density(design.transport) else { continue };
            let rate = rate(1e9, time);
            let mut cells = vec![matrix.shape.to_string(), design.label.to_owned(), figure(time.median)];
            cells.extend([rate.median, rate.min, rate.max].map(significant));
            cells.extend([figure(rate.max / rate.min), session.figures(design.transport).len().to_string()]);
            grid.push(Tone::Plain, None, cells);
        }
    }
    if grid.rows.is_empty() {
        return Part::Said("The own queue was not measured with one word a message.".to_owned());
    }
    for (matrix, session) in matrices.iter().filter_map(|matrix| Some((matrix, matrix.words()?))) {
        let cpus: Vec<String> = session.shared_cpus().iter().map(usize::to_string).collect();
        if !cpus.is_empty() {
            grid.notes.push(format!("{}: on CPUs {}.", matrix.shape, cpus.join(", ")));
        }
    }
    let sentence = "The article: with spin and futex the least and the most may differ by";
    grid.notes.push(format!(
        "{sentence} {UNSTABLE} times, and eventfd is always the slowest. Writers spin for room in all of them."
    ));
    Part::Table(String::new(), grid)
}

/// All ways of one shape.
pub(super) fn mechanisms(matrix: &Matrix<'_>, report: &Report) -> impl Iterator<Item = Part> {
    let table = |way| Part::Table(format!("{}, {}", matrix.shape, self::way(way)), by_size(matrix, way, report));
    matrix.ways().into_iter().map(table)
}

fn by_size(matrix: &Matrix<'_>, way: Quantity, report: &Report) -> Grid {
    let sizes = matrix.sizes();
    let heads: Vec<String> = sizes.iter().map(|size| format!(">{}", bytes(*size))).collect();
    let mut grid = Grid::new(&[&["mechanism"], &heads.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat());
    grid.tight = true;
    for design in &DESIGNS {
        let cells: Vec<String> = sizes.iter().map(|size| cell(matrix, way, *size, design, report)).collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            grid.push(Tone::Plain, None, [vec![design.label.to_owned()], cells].concat());
        } else if registry::named(design.transport).is_none() {
            grid.push(Tone::Plain, None, vec![design.label.to_owned(), format!("no {} yet", design.transport)]);
        }
    }
    grid
}

/// Messages per second and the time of one, with half the range as a percentage of the median; or the reason why there
/// is no figure.
fn cell(matrix: &Matrix<'_>, way: Quantity, size: f64, design: &Design, report: &Report) -> String {
    let measured = matrix.at(way, size).and_then(|session| session.density(design.transport));
    if let Some(taken) = measured {
        let around = (taken.max - taken.min) / taken.median * 50.0;
        return format!("{}/s {} ±{around:.0}%", count(1e9 / taken.median), time(taken.median));
    }
    let shape = (matrix.shape.senders, matrix.shape.receivers);
    let here = report.bounds.iter().find(|one| one.name == design.transport && (one.senders, one.receivers) == shape);
    let too_long = here.filter(|one| way == Quantity::BytesByValue && (one.bytes as f64) < size);
    too_long.map_or(String::new(), |one| format!("limit {} B", grouped(one.bytes as f64)))
}
