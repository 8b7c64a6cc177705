//! The article's tables in the article's columns, each figure with the published one, and compared with local sockets.

use ybench_measure::outcome::Metric;
use ybench_measure::record::Session;
use ybench_measure::stats::Spread;

use super::published::{self, Row};
use crate::table::{Grid, Tone, figure, grouped, interval, significant};

/// Averages of the runs, as in the article; the ratio is the median over the rounds.
pub(super) fn article(session: &Session, rows: &[Row]) -> Grid {
    let any_published = rows.iter().any(|row| row.published.is_some());
    let mut head =
        vec!["transport", ">density ns/msg", ">throughput msgs/sec", ">times sockets' speed", "+>min .. max"];
    if any_published {
        head = vec![
            "transport",
            ">density ns/msg",
            "+>published",
            ">throughput msgs/sec",
            "+>published",
            ">times sockets' speed",
            "+>min .. max",
            "+>published",
        ];
    }
    let counted = rows.iter().any(|row| session.metric(row.transport, Metric::Switches).is_some());
    head.extend(counted.then_some(">switches/msg"));
    let mut grid = Grid::new(&head);
    for row in rows {
        let mean = session.mean(row.transport);
        let faster = faster_than_sockets(session, row);
        let shown = |value: Option<f64>, form: fn(f64) -> String| value.map_or("-".to_owned(), form);
        let density = shown(mean, figure);
        let throughput = shown(mean.map(|mean| 1e9 / mean), significant);
        let ratio = shown(faster.map(|faster| faster.median), figure);
        let spread = faster.map_or(String::new(), interval);
        let mut cells = vec![row.label.to_owned(), density, throughput, ratio, spread];
        if any_published {
            let published = row.published;
            let sockets = rows[0].published.map(|sockets| sockets.density);
            let ratio = published.zip(sockets).map(|(published, sockets)| sockets / published.density);
            cells.insert(2, shown(published.map(|published| published.density), grouped));
            cells.insert(4, shown(published.map(|published| published.throughput), grouped));
            cells.push(shown(ratio, figure));
        }
        if counted {
            cells.push(shown(session.metric(row.transport, Metric::Switches).map(|count| count.median), figure));
        }
        grid.push(Tone::Plain, None, cells);
    }
    grid
}

/// How many times as fast as local sockets, formed within each round.
fn faster_than_sockets(session: &Session, row: &Row) -> Option<Spread> {
    session.ratio(published::SOCKETS, row.transport)
}
