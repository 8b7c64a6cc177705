//! The baselines of the machine, and the targets of this project.

use ybench_measure::figures::{figure, interval};
use ybench_measure::limits;
use ybench_measure::record::{Goal, Pair, Session, Unit};

use super::grid::{Grid, Tone};

/// The baselines, each with its description.
pub fn limits_grid(session: &Session) -> Grid {
    let about = |name: &str| limits::all().iter().find(|probe| probe.name == name).map_or("", |probe| probe.about);
    let mut grid = Grid::new(&["baseline", ">median", "+>min .. max", "unit", "what it is"]);
    grid.folds = true;
    for one in &session.contenders {
        let Some(density) = session.density(&one.name) else { continue };
        let unit = match one.unit {
            Unit::Kibibyte => format!("{} = {:.1} GiB/s", one.unit.per(), 1e9 / density.median / f64::from(1 << 20)),
            _ => one.unit.per().to_owned(),
        };
        let cells =
            vec![one.name.clone(), figure(density.median), interval(density), unit, about(&one.name).to_owned()];
        grid.push(Tone::Limit, None, cells);
    }
    grid
}

/// A row and a column for each CPU.
pub fn pairs(pairs: &[Pair]) -> Grid {
    let mut cpus: Vec<usize> = pairs.iter().flat_map(|pair| [pair.first, pair.second]).collect();
    cpus.sort_unstable();
    cpus.dedup();
    let heads: Vec<String> = cpus.iter().map(|cpu| format!(">{cpu}")).collect();
    let mut grid = Grid::new(&[&["CPU"], &heads.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat());
    grid.tight = true;
    for &row in &cpus {
        let between = |column: &usize| {
            let (first, second) = (row.min(*column), row.max(*column));
            let pair = pairs.iter().find(|pair| (pair.first, pair.second) == (first, second));
            pair.map_or(String::new(), |pair| figure(pair.nanoseconds.median))
        };
        grid.push(Tone::Plain, None, std::iter::once(row.to_string()).chain(cpus.iter().map(between)).collect());
    }
    grid
}

pub fn goals_grid(goals: &[Goal]) -> Grid {
    let mut grid = Grid::new(&["target", ">measured", "+>min .. max", ">wanted", ""]);
    for goal in goals {
        let wanted = format!("{} {}", if goal.at_least { "at least" } else { "at most" }, figure(goal.target));
        let word = match goal.met {
            Some(true) => "pass",
            Some(false) => "MISS",
            None if goal.measured.is_some() => "inconclusive",
            None => "not measured",
        };
        let cells = vec![
            goal.name.clone(),
            goal.measured.map_or(String::new(), |spread| figure(spread.median)),
            goal.measured.map_or(String::new(), interval),
            wanted,
            word.to_owned(),
        ];
        grid.push(Tone::Plain, None, cells);
    }
    let met = goals.iter().filter(|goal| goal.met == Some(true)).count();
    let open = goals.iter().filter(|goal| goal.met.is_none() && goal.measured.is_some()).count();
    let open = if open == 0 { String::new() } else { format!(" {open} inconclusive: too few rounds, or too close.") };
    grid.notes.push(format!("{met} of {} targets met.{open}", goals.len()));
    grid
}

pub fn goals(goals: &[Goal]) -> String {
    format!("{}\n", goals_grid(goals).terminal())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ybench_measure::stats::Spread;

    #[test]
    fn inconclusive_is_neither_met_nor_missed_nor_unmeasured() {
        let measured = Some(Spread { median: 2.0, min: 1.0, max: 3.0 });
        let goal = Goal { name: "a".into(), measured, target: 2.0, at_least: true, met: None };
        let text = goals(&[goal]);
        assert!(text.lines().any(|line| line.contains("at least 2.00") && line.contains("inconclusive")), "{text}");
        assert!(text.contains("0 of 1 targets met. 1 inconclusive: too few rounds, or too close."), "{text}");
    }

    #[test]
    fn every_pair_of_cpus_is_on_both_sides_of_the_diagonal() {
        let pair = |first, second, median| Pair { first, second, nanoseconds: Spread { median, min: 1.0, max: 1e3 } };
        let grid = pairs(&[pair(0, 1, 40.0), pair(0, 4, 120.0), pair(1, 4, 130.0)]);
        let rows: Vec<String> = grid.rows.iter().map(|row| row.cells.join(" ")).collect();
        assert_eq!(rows, ["0  40.0 120", "1 40.0  130", "4 120 130 "]);
    }
}
