//! All transports of one session with the baselines among them, the fastest first, with the verdict.

use ybench_measure::figures::{figure, interval, several, significant};
use ybench_measure::limits;
use ybench_measure::record::{Contestant, Kind, Session};

use super::grid::{Grid, Tone};
use super::spoken::spoken;
use super::standing::{judgement, standings};

/// The table with the verdict below.
pub fn ranking(session: &Session) -> String {
    let (kept, of) = (session.counted().count(), session.rounds.len());
    let title = format!("{}: {} ({kept} of {})", session.title(), session.about, several(of, "round"));
    let said: Vec<String> = spoken(session).into_iter().chain([judgement(session)]).collect();
    format!("{title}\n{}\n{}\n", ranking_grid(session).terminal(), said.join("\n"))
}

/// The table alone.
pub fn ranking_grid(session: &Session) -> Grid {
    let ratio_head = format!(">times {}", session.limit);
    let streams = limits::of_streams(&session.limit);
    let unit = format!(">{}", session.unit().per());
    let mut heads = vec!["#", "transport", "waiting", &unit, "+>msgs/s", &ratio_head, "+>min .. max"];
    heads.retain(|head| streams || *head != "+>msgs/s");
    let other_limits = session.transports().any(|one| !own_limit(session, one).is_empty());
    if other_limits {
        heads.push("own baseline");
    }
    let mut grid = Grid::new(&heads);
    let standings = standings(session);
    let mut rank = 0;
    for one in comparable(session) {
        let Some(density) = session.density(&one.name) else { continue };
        let place = if one.kind == Kind::Transport {
            rank += 1;
            rank.to_string()
        } else {
            "baseline".to_owned()
        };
        let ratio = session.ratio(&one.name, &session.limit);
        let mut cells = vec![
            place,
            one.name.clone(),
            one.waits.map_or("", |waits| waits.in_words()).to_owned(),
            figure(density.median),
            ratio.map_or(String::new(), |ratio| figure(ratio.median)),
            ratio.map_or(String::new(), interval),
        ];
        if streams {
            cells.insert(4, significant(1e9 / density.median));
        }
        if other_limits {
            cells.push(own_limit(session, one));
        }
        let standing = standings.iter().find(|standing| standing.name == one.name);
        grid.push(standing.map_or(Tone::Limit, |standing| standing.tone), Some(&one.name), cells);
    }
    grid
}

/// The rows that can be compared, the fastest first.
pub fn comparable(session: &Session) -> Vec<&Contestant> {
    // The floor shows how steady the machine was. If it is not the ranking baseline, it does not belong to this table.
    let comparable = |one: &&Contestant| one.name != session.floor || session.floor == session.limit;
    let mut rows: Vec<&Contestant> = session.contenders.iter().filter(comparable).collect();
    let median = |one: &&Contestant| session.density(&one.name).map_or(f64::INFINITY, |time| time.median);
    rows.sort_by(|a, b| median(a).total_cmp(&median(b)));
    rows
}

/// The baseline of its own kind, if it differs from that of the table.
fn own_limit(session: &Session, one: &Contestant) -> String {
    let own = one.limit.as_deref().filter(|limit| *limit != session.limit);
    let ratio = own.and_then(|limit| Some((limit, session.ratio(&one.name, limit)?)));
    ratio.map_or(String::new(), |(limit, ratio)| format!("{} times {limit}", figure(ratio.median)))
}
