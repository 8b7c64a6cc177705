//! Each transport compared with named ones, session by session: how many times as long it takes, with the interval.

use ybench_measure::record::{Report, Session};
use ybench_measure::stats::{Distance, Interval, LEAST_ROUNDS, factor};

use super::grid::Grid;
use super::standing::standings;

/// A table for each session that has any of these names. Empty without names.
pub fn against(report: &Report, names: &[String]) -> String {
    let of = |session: &Session| {
        let grid = pairs(session, names)?;
        Some(format!("{}: times as long as\n{}\n", session.title(), grid.terminal()))
    };
    report.sessions.iter().filter_map(of).collect()
}

/// A row for each transport, and two columns for each of the names.
fn pairs(session: &Session, names: &[String]) -> Option<Grid> {
    let standings = standings(session);
    let present: Vec<&String> = names.iter().filter(|name| standings.iter().any(|one| one.name == **name)).collect();
    if present.is_empty() {
        return None;
    }
    let heads: Vec<String> =
        present.iter().flat_map(|name| [format!(">{name}"), "+>95 %".to_owned(), "+".to_owned()]).collect();
    let heads: Vec<&str> = std::iter::once("transport").chain(heads.iter().map(String::as_str)).collect();
    let mut grid = Grid::new(&heads);
    for one in &standings {
        let mut cells = vec![one.name.clone()];
        cells.extend(present.iter().flat_map(|other| pair(session, &one.name, other)));
        grid.push(one.tone, Some(&one.name), cells);
    }
    grid.notes.push("Quotients of the median times; the interval is of the ratios round by round.".to_owned());
    Some(grid)
}

fn pair(session: &Session, name: &str, other: &str) -> [String; 3] {
    let ratios = session.ratios(name, other);
    let shown = session.density(name).zip(session.density(other)).map(|(one, other)| one.median / other.median);
    let (Some(shown), Some(times)) = (shown.filter(|_| name != other), Interval::of(&ratios)) else {
        return ["".into(), "".into(), "".into()];
    };
    let two = |value: f64| format!("{value:.2}");
    [
        factor(shown, times, two),
        format!("{:.2} .. {:.2}", times.low, times.high),
        verdict(&ratios, session.sound()).into(),
    ]
}

/// In both directions.
fn verdict(ratios: &[f64], sound: usize) -> &'static str {
    let turned: Vec<f64> = ratios.iter().map(|ratio| 1.0 / ratio).collect();
    match (Distance::of(ratios, sound), Distance::of(&turned, sound)) {
        (Distance::Behind(_), _) => "slower",
        (_, Distance::Behind(_)) => "quicker",
        (Distance::Close, _) => "the same",
        _ if sound < LEAST_ROUNDS => "too few rounds",
        _ => "cannot tell",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ybench_measure::record::{Contestant, Round};

    fn report(rounds: usize) -> Report {
        let times = [("a", 10.0), ("b", 20.0), ("c", 10.5), ("limit", 1.0)];
        let nanoseconds = times.map(|(name, time)| (name.to_owned(), time)).into();
        let session = Session {
            scenario: "latency".into(),
            limit: "limit".into(),
            contenders: ["a", "b", "c"].map(|name| Contestant { name: name.into(), ..Contestant::default() }).into(),
            rounds: vec![Round { nanoseconds, ..Round::default() }; rounds],
            ..Session::default()
        };
        Report { sessions: vec![session], ..Report::default() }
    }

    #[test]
    fn every_other_transport_is_compared_with_each_named_one() {
        let said = against(&report(6), &["a".to_owned(), "b".to_owned(), "nobody".to_owned()]);
        let row = |name: &str| {
            let row = said.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
            row.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(row("a "), "a 0.50 0.50 .. 0.50 quicker");
        assert_eq!(row("b "), "b 2.00 2.00 .. 2.00 slower");
        assert_eq!(row("c "), "c 1.05 1.05 .. 1.05 the same 0.53 0.53 .. 0.53 quicker");
        assert!(against(&report(2), &["a".to_owned()]).contains("too few rounds"));
        assert_eq!(against(&report(6), &["nobody".to_owned()]) + &against(&report(6), &[]), "");
    }
}
