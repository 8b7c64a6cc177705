//! Single messages: the figures of their distributions, and the messages themselves.

use askama::Template;
use ybench_measure::distribution::Distribution;
use ybench_measure::outcome::Series;
use ybench_measure::record::Session;
use ybench_measure::stats::Spread;
use ybench_measure::trace::Trace;

use super::parts::{Figure, Table, figures};
use crate::plot::{Growth, Histogram, Looks, Percentiles, Picture, Ridges, Rise, Scatter, Shown};
use crate::table::{self, Beside, Tone, standings, what};

/// One series of a session.
#[derive(Template)]
#[template(path = "single.html")]
pub(super) struct Single {
    name: String,
    table: Option<Table>,
    figures: Vec<Figure>,
    /// Folded: many and large.
    scatters: Vec<Figure>,
    /// The number of transports without a scatter plot here.
    left_out: usize,
}

/// More series than this in one picture hide each other.
const OVERLAID: usize = 4;

/// The number of transports whose single messages are drawn: the fastest. The file has all of them.
const SCATTERED: usize = 6;

/// A latency that grows by this factor from the first to the last tenth of a run shows a queue that is overrun.
const RISES: f64 = 3.0;

/// The distributions of all transports in one picture, of the first available series: for the head of a session.
pub(super) fn overview(session: &Session, looks: &Looks) -> Option<Picture> {
    let (series, named) = Series::ALL
        .into_iter()
        .map(|series| (series, table::distributions(session, series)))
        .find(|(_, named)| !named.is_empty())?;
    let title = format!("{}: all transports", what(session, series));
    Some(Ridges { title, series: shown(&named, looks) }.picture())
}

fn shown<'a>(named: &'a [(String, Tone, &'a Distribution)], looks: &Looks) -> Vec<Shown<'a>> {
    named.iter().map(|(name, _, times)| Shown { label: name, look: looks.look(name), times }).collect()
}

pub(super) fn all(session: &Session, looks: &Looks, beside: Beside) -> Vec<Single> {
    let mut all: Vec<Single> = Vec::new();
    for series in Series::ALL {
        let first = all.is_empty();
        all.extend(single(session, series, first, looks, beside));
    }
    all
}

/// The overview of the first series is at the head of the session.
fn single(session: &Session, series: Series, first: bool, looks: &Looks, beside: Beside) -> Option<Single> {
    let named = table::distributions(session, series);
    let shown = shown(&named, looks);
    let traces = traces(session, series);
    if shown.is_empty() && traces.is_empty() {
        return None;
    }
    let what = what(session, series);
    let mut drawn: Vec<Picture> = growth(&what, &traces, looks).into_iter().collect();
    if !first && !shown.is_empty() {
        drawn.push(Ridges { title: format!("{what}: all transports"), series: shown.clone() }.picture());
    }
    drawn.extend(distributions(&what, &shown));
    let scatters = scatters(session, series, &traces, looks);
    let grid = table::latency_grid(session, series, beside);
    Some(Single {
        name: series.in_words().to_owned(),
        table: (!grid.rows.is_empty()).then(|| Table::of(&format!("{what}, in nanoseconds"), grid, looks)),
        figures: figures(drawn),
        left_out: traces.len() - scatters.len(),
        scatters: figures(scatters),
    })
}

/// The fastest transport first.
fn traces(session: &Session, series: Series) -> Vec<(String, &Trace)> {
    if session.details.values().all(|details| !details.traces.contains_key(&series)) {
        return Vec::new();
    }
    let names = standings(session).into_iter().map(|standing| standing.name);
    names.filter_map(|name| session.trace(&name, series).map(|trace| (name, trace))).collect()
}

fn distributions(what: &str, shown: &[Shown<'_>]) -> Vec<Picture> {
    if shown.is_empty() {
        return Vec::new();
    }
    let quickest = &shown[..shown.len().min(OVERLAID)];
    let those = if shown.len() > OVERLAID { "the fastest four" } else { "how often" };
    vec![
        Percentiles { title: format!("{what}: the tail"), series: shown.to_vec() }.picture(),
        Histogram { title: format!("{what}: {those}"), series: quickest.to_vec() }.picture(),
    ]
}

fn growth(what: &str, traces: &[(String, &Trace)], looks: &Looks) -> Option<Picture> {
    if !traces.iter().any(|(_, trace)| rises(trace)) {
        return None;
    }
    let rise = |(name, trace): &'_ (String, &'_ Trace)| (name.clone(), looks.look(name), (*trace).clone());
    let rising: Vec<_> = traces.iter().map(rise).collect();
    let rises = rising.iter().map(|(label, look, trace)| Rise { label, look: *look, trace }).collect();
    Some(Growth { title: format!("{what}: growing with the queue"), rises }.picture())
}

fn rises(trace: &Trace) -> bool {
    let median = |points: &[(u64, f64)]| {
        Spread::of(&points.iter().map(|(_, time)| *time).collect::<Vec<_>>()).map_or(0.0, |spread| spread.median)
    };
    let tenth = trace.points.len() / 10;
    let (first, last) = (&trace.points[..tenth], &trace.points[trace.points.len() - tenth..]);
    tenth > 0 && median(last) > RISES * median(first)
}

fn scatters(session: &Session, series: Series, traces: &[(String, &Trace)], looks: &Looks) -> Vec<Picture> {
    let some = &traces[..traces.len().min(SCATTERED)];
    let range = Scatter::common_range(some.iter().map(|(_, trace)| *trace));
    let draw = |(name, trace): &(String, &Trace)| {
        let median = session.distribution(name, series).filter(|times| !times.is_empty()).map(|times| times.median());
        let title = format!("{name}: {}", series.in_words());
        Scatter { title, look: looks.look(name), trace, median, range }.picture()
    };
    some.iter().map(draw).collect()
}
