//! The article's tables in the article's columns, each figure beside the published one, and beside local sockets.

use ybench_core::record::Session;
use ybench_core::stats::Spread;

use super::published::{self, Row};
use crate::table::{align_right, figure, grouped, interval, new_table, text};

/// Averages of the runs, as in the article; the ratio is the median over the rounds.
pub(super) fn article(session: &Session, rows: &[Row]) -> String {
    let any_published = rows.iter().any(|row| row.published.is_some());
    let mut head = vec!["transport", "density ns/msg", "throughput msgs/sec", "times sockets' speed", "min .. max"];
    if any_published {
        head = vec![
            "transport",
            "density ns/msg",
            "published",
            "throughput msgs/sec",
            "published",
            "times sockets' speed",
            "min .. max",
            "published",
        ];
    }
    let mut table = new_table(&head);
    for row in rows {
        let mean = session.mean(row.transport);
        let faster = faster_than_sockets(session, row);
        let shown = |value: Option<f64>, form: fn(f64) -> String| value.map_or("-".to_owned(), form);
        let density = shown(mean, figure);
        let throughput = shown(mean.map(|mean| 1e9 / mean), grouped);
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
        table.add_row(cells);
    }
    align_right(&mut table, &[1, 2, 3, 4, 5, 6, 7]);
    format!("{}\n", text(&table))
}

/// How many times as fast as local sockets, formed inside each round.
fn faster_than_sockets(session: &Session, row: &Row) -> Option<Spread> {
    session.ratio(published::SOCKETS, row.transport)
}

/// "We expect that performance figures with real poll would be even worse."
pub(super) fn poll_remark(worst: &Session, streamed: &Session) -> String {
    let ratio = |session: &Session| session.ratio(published::SOCKETS_POLLED, published::SOCKETS);
    let (Some(worst), Some(streamed)) = (ratio(worst), ratio(streamed)) else {
        return "Local sockets with a real poll were not measured.".to_owned();
    };
    let verdict = match (worst.min > 1.0, streamed.min > 1.0) {
        (true, true) => "worse, as the article expects",
        (false, false) => "not clearly worse, although the article expects it",
        (true, false) => "worse in the worst case only",
        (false, true) => "worse in throughput only",
    };
    format!(
        "Local sockets with a real poll take {} times as long in the worst case ({}) and {} times in throughput ({}): {verdict}.",
        figure(worst.median),
        interval(worst),
        figure(streamed.median),
        interval(streamed),
    )
}

/// "The figures are a bit better": by how much here.
pub(super) fn polling_gain(worst: &Session, streamed: &Session) -> String {
    let ratio = |session: &Session| session.ratio(published::WITH_POLLING, published::WITHOUT_POLLING);
    let (Some(worst), Some(streamed)) = (ratio(worst), ratio(streamed)) else {
        return "Polling and no polling were not both measured.".to_owned();
    };
    format!(
        "Without polling it is {} times as fast in the worst case ({}; published 1.15) and {} times in throughput ({}; \
         published 1.11).",
        figure(worst.median),
        interval(worst),
        figure(streamed.median),
        interval(streamed),
    )
}
