//! The limits of the machine, and the targets of this project.

use ybench_core::figures::{figure, interval};
use ybench_core::record::{Goal, Session, Unit};

use super::grid::{Grid, Tone};

/// The limits of the machine, each with what it is.
pub fn limits_grid(session: &Session, about: impl Fn(&str) -> &'static str) -> Grid {
    let mut grid = Grid::new(&["limit", ">median", ">min .. max", "unit", "what it is"]);
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

pub fn limits(session: &Session, about: impl Fn(&str) -> &'static str) -> String {
    format!("{}\n", limits_grid(session, about).terminal())
}

pub fn goals_grid(goals: &[Goal]) -> Grid {
    let mut grid = Grid::new(&["target", ">measured", ">min .. max", ">wanted", ""]);
    for goal in goals {
        let wanted = format!("{} {}", if goal.at_least { "at least" } else { "at most" }, figure(goal.target));
        let word = match goal.met {
            Some(true) => "pass",
            Some(false) => "MISS",
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
    grid.notes.push(format!("{met} of {} targets met.", goals.len()));
    grid
}

pub fn goals(goals: &[Goal]) -> String {
    format!("{}\n", goals_grid(goals).terminal())
}
