//! The times of single messages in figures: those that the articles give of a distribution, and a histogram as one line
//! of text for a terminal.

use ybench_measure::distribution::Distribution;
use ybench_measure::figures::{figure, grouped, percent, time};
use ybench_measure::outcome::Series;
use ybench_measure::record::{Report, Session};

use super::grid::{Grid, Tone};
use super::standing::standings;

/// The default limit: messages above this many nanoseconds have a column of their own.
pub const BEYOND: f64 = 10_000.0;

/// The share that counts as outliers: the two or three per thousand that the articles name.
const OUTLIERS: f64 = 0.003;

/// Characters of a histogram.
const WIDTH: usize = 22;

/// The distributions of a series, the fastest transport first.
pub fn distributions(session: &Session, series: Series) -> Vec<(String, Tone, &Distribution)> {
    let mut found: Vec<(String, Tone, &Distribution)> = Vec::new();
    // Most sessions have none of most series, and finding the leader takes a while.
    if session.details.values().all(|details| !details.distributions.contains_key(&series)) {
        return found;
    }
    for standing in standings(session) {
        if let Some(times) = session.distribution(&standing.name, series) {
            found.push((standing.name, standing.tone, times));
        }
    }
    for name in session.details.keys() {
        if let Some(times) = session.distribution(name, series).filter(|_| !found.iter().any(|one| one.0 == *name)) {
            found.push((name.clone(), Tone::Plain, times));
        }
    }
    found.retain(|(.., times)| !times.is_empty());
    found
}

/// Context for a distribution's own figures. Nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Beside {
    /// Messages that took longer are counted.
    pub beyond: f64,
    /// The cost of one reading of the clock, if it is known.
    pub reading: Option<f64>,
}

impl Beside {
    pub fn of(report: &Report, beyond: f64) -> Self {
        Self { beyond, reading: report.clock.as_ref().map(|clock| clock.cost_ns) }
    }
}

/// Every figure of every distribution, in nanoseconds.
pub fn latency_grid(session: &Session, series: Series, beside: Beside) -> Grid {
    let beyond_head = format!(">> {}", time(beside.beyond));
    let mut grid = Grid::new(&[
        "transport",
        ">messages",
        ">median",
        ">mean",
        ">jitter",
        ">st. dev.",
        ">p90",
        ">p99",
        ">p99.9",
        ">p99.99",
        ">outliers from",
        ">max",
        &beyond_head,
        ">clock",
    ]);
    if beside.reading.is_none() {
        grid.columns.pop();
    }
    for (name, tone, times) in distributions(session, series) {
        let mut cells = vec![name.clone(), grouped(times.count() as f64)];
        let figures = [times.median(), times.mean(), times.jitter(), times.standard_deviation()];
        cells.extend(figures.map(figure));
        cells.extend([0.9, 0.99, 0.999, 0.9999, 1.0 - OUTLIERS].map(|of| tail(times, of)));
        cells.push(figure(times.most()));
        cells.push(percent(times.beyond(beside.beyond) as f64 / times.count() as f64));
        // The article's arithmetic: one reading when a message is sent, and one when it is received.
        cells.extend(beside.reading.map(|reading| percent(2.0 * reading / times.median().max(reading))));
        grid.push(tone, Some(&name), cells);
    }
    let clock = beside.reading.map_or(String::new(), |reading| {
        format!(" Clock: two readings, of {} ns each, as a share of the median.", figure(reading))
    });
    grid.notes.push(format!(
        "Nanoseconds. Jitter: the average distance from the median. Outliers: the slowest 3 of 1,000 messages. A percentile is blank if fewer than two \
         messages are beyond it.{clock}"
    ));
    grid
}

/// A percentile, or blank.
pub fn tail(times: &Distribution, of: f64) -> String {
    times.tail(of).map_or(String::new(), figure)
}

/// The subject of a table or a picture, without repetition if the scenario is named after the series.
pub fn what(session: &Session, series: Series) -> String {
    let words = series.in_words();
    if words.starts_with(&session.title()) { words.to_owned() } else { format!("{}, {words}", session.title()) }
}

/// The distributions of a session for a terminal: a histogram in each line, with a common scale, and the most important
/// figures.
pub fn latencies(session: &Session, series: Series, beside: Beside) -> Option<String> {
    let named = distributions(session, series);
    let least = named.iter().map(|(.., times)| times.least().max(0.1)).reduce(f64::min)?;
    let most = named.iter().map(|(.., times)| times.most().max(0.1)).reduce(f64::max)?;
    let scale = format!("{:<half$}{:>half$}", time(least), time(most), half = WIDTH / 2);
    let beyond_head = format!(">> {}", time(beside.beyond));
    let heads = ["transport", &scale, ">median", ">jitter", ">p99", ">p99.9", ">p99.99", ">max", &beyond_head];
    let mut grid = Grid::new(&heads);
    for (name, tone, times) in &named {
        let mut cells = vec![name.clone(), blocks(times, least, most)];
        cells.extend([times.median(), times.jitter()].map(figure));
        cells.extend([0.99, 0.999, 0.9999].map(|of| tail(times, of)));
        cells.push(figure(times.most()));
        cells.push(percent(times.beyond(beside.beyond) as f64 / times.count() as f64));
        grid.push(*tone, Some(name), cells);
    }
    Some(format!("{} (ns)\n{}\n", what(session, series), grid.terminal()))
}

/// A distribution as eighth blocks between two times, each as high as its share of the highest. Any share above zero is
/// at least an eighth high.
pub fn blocks(times: &Distribution, least: f64, most: f64) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let span = (most / least).ln().max(1e-9);
    let mut counts = [0u64; WIDTH];
    for (value, count) in times.values() {
        let share = (value.max(least) / least).ln() / span;
        counts[((share * WIDTH as f64) as usize).min(WIDTH - 1)] += count;
    }
    let highest = counts.iter().max().copied().unwrap_or(0).max(1);
    let letter = |count: &u64| match *count {
        0 => ' ',
        count => BLOCKS[(count * 8).div_ceil(highest) as usize - 1],
    };
    counts.iter().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_stand_where_the_times_are() {
        let times: Distribution = std::iter::repeat_n(10.0, 700).chain([1_000.0]).collect();
        let text = blocks(&times, 1.0, 1_000.0);
        assert_eq!(text.chars().count(), WIDTH);
        assert_eq!(text.chars().position(|letter| letter == '█'), Some(7));
        assert_eq!(text.chars().last(), Some('▁'));
        assert_eq!(text.chars().filter(|letter| *letter != ' ').count(), 2);
    }

    #[test]
    fn times_outside_stand_at_the_ends() {
        let times: Distribution = [1.0, 1e9].into_iter().collect();
        let text = blocks(&times, 10.0, 100.0);
        assert!(text.starts_with('█') && text.ends_with('█'));
    }
}
