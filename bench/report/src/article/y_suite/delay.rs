//! The cost of batches at the sender: messages are due at a fixed rate, and the sender keeps them until a batch is
//! whole. The time is from the moment a message is due to its receipt.

use ybench_measure::frame::Frame;
use ybench_measure::outcome::Series;
use ybench_measure::plan;
use ybench_measure::record::{Report, Session};
use ybench_measure::rounds::{Length, Plan};
use ybench_measure::scenario::Entry;
use ybench_measure::scenario::fixed_rate;

use super::published::WITH_POLLING;
use super::sweep::{self, BATCHES, BEST_HERE, LARGER, name};
use crate::article::cases::Cases;
use crate::article::conclusion::Conclusion;
use crate::plot::{Colour, Look, Picture, Shape, Swept};
use crate::table::{Grid, Tone, figure, grouped, interval, time};

pub(super) const SCENARIO: &str = "batch latency";

/// Messages a second: a reader that is woken for each of them keeps up.
const RATE: f64 = 10_000.0;

/// The number of whole batches in a run.
const LEAST: u64 = 2;

pub(super) fn plan(entry: &'static Entry, frame: Frame) -> Plan {
    let contender = |batch| {
        let transports = match frame.transports {
            Length::Time(time) => Length::TimeAndUnits(time, LEAST * batch as u64),
            other => other,
        };
        let frame = Frame { transports, ..frame };
        let mut contender = fixed_rate::in_batches_of(batch, entry, RATE, frame);
        contender.contestant.name = name(entry.traits.name, batch);
        contender
    };
    let about =
        "Messages due at a fixed rate, kept by the sender for a whole batch: the time since each was due, median";
    plan::plan(SCENARIO, about, None, frame, frame.floor(), BATCHES.into_iter().map(contender).collect())
}

fn of(batch: usize) -> String {
    name(WITH_POLLING, batch)
}

pub(super) fn table(report: &Report) -> Option<Grid> {
    let session = report.session(SCENARIO)?;
    let heads = ["batch", ">latency, us", ">min .. max", ">p99, us", ">times a batch of one", ">ns/msg in a stream"];
    let mut grid = Grid::new(&heads);
    for batch in BATCHES {
        let Some(latency) = session.density(&of(batch)) else { continue };
        let tail = session.distribution(&of(batch), Series::Latency).and_then(|times| times.tail(0.99));
        let p99 = tail.map(|time| time / 1e3);
        let streamed = report.session(sweep::SCENARIO).and_then(|session| session.density(&of(batch)));
        let micros = ybench_measure::stats::Spread {
            median: latency.median / 1e3,
            min: latency.min / 1e3,
            max: latency.max / 1e3,
        };
        let told = |value: Option<f64>| value.map_or("-".to_owned(), figure);
        let cells = [
            grouped(batch as f64),
            figure(micros.median),
            interval(micros),
            told(p99),
            told(session.density(&of(1)).map(|one| latency.median / one.median)),
            told(streamed.map(|time| time.median)),
        ];
        grid.push(Tone::Plain, None, cells.to_vec());
    }
    let every = figure(1e6 / RATE);
    grid.notes.push(format!("A message is due every {every} us, and leaves when its batch is whole."));
    Some(grid)
}

pub(super) fn picture(report: &Report) -> Option<(String, Picture)> {
    let session = report.session(SCENARIO)?;
    let look = Look { colour: Colour::Blue, shape: Shape::Circle };
    let line = Swept { label: "y-suite".to_owned(), look, points: sweep::points(session, WITH_POLLING) };
    let title = "Latency over the length of a batch at the sender";
    let drawn = sweep::drawn(title, "from due to received, median", time, vec![line])?;
    Some(("y-suite-latency".to_owned(), drawn))
}

pub(super) fn conclusions(report: &Report) -> Vec<Conclusion> {
    let Some(session) = report.session(SCENARIO) else { return Vec::new() };
    let mut harm = Cases::default();
    BATCHES.into_iter().filter(|batch| *batch > 1).for_each(|batch| harm.slower(session, &of(batch), &of(1)));
    let mut all = vec![Conclusion {
        claim: "Batching at the sender is generally harmful to latency: messages wait for those that follow.",
        here: format!(
            "batches of 2 to 1,024 over batches of one, at {} messages a second: {}",
            grouped(RATE),
            harm.times()
        ),
        verdict: harm.verdict(),
    }];
    all.extend(report.session(sweep::SCENARIO).map(|stream| larger(session, stream)));
    all
}

/// No larger batch is faster in a stream, and all of them wait longer.
fn larger(delayed: &Session, stream: &Session) -> Conclusion {
    let (mut both, mut gain, mut loss) = (Cases::default(), Cases::default(), Cases::default());
    for batch in BATCHES.into_iter().filter(|batch| *batch >= LARGER) {
        for cases in [&mut both, &mut gain] {
            cases.no_slower(stream, &of(BEST_HERE), &of(batch));
        }
        for cases in [&mut both, &mut loss] {
            cases.slower(delayed, &of(batch), &of(BEST_HERE));
        }
    }
    Conclusion {
        claim: "Batches larger than 30 to 60 messages do not add enough throughput to make up for the latency they lose.",
        here: format!(
            "batches of {BEST_HERE} over those from {LARGER} on, time in a stream: {}; those over {BEST_HERE}, latency: {}",
            gain.times(),
            loss.times()
        ),
        verdict: both.verdict(),
    }
}
