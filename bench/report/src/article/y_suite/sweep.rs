//! The batch sweep: the article's two graphs, density and throughput over the length of a batch.

use ybench_measure::frame::Frame;
use ybench_measure::record::{Contestant, Report, Session};
use ybench_measure::rounds::Contender;
use ybench_measure::scenario::Entry;
use ybench_measure::scenario::throughput;
use ybench_measure::stats::{Spread, listed};

use super::published;
use crate::article::cases::Cases;
use crate::article::conclusion::Conclusion;
use crate::judgement;
use crate::plot::{Band, Colour, Look, Picture, Point, Shape, Sweep, Swept};
use crate::table::{Grid, Tone, count, figure, grouped, interval, significant, time};

pub(super) const SCENARIO: &str = "batch sweep";

pub(super) const BATCHES: [usize; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/// The article's own composition, and today's channel with its batch calls.
pub(super) const TRANSPORTS: [&str; 2] = [published::WITH_POLLING, "spsc-batch"];

const LABELS: [&str; 2] = ["y-suite: ypipe + ypollset", "spsc: send_batch, recv_batch"];

const LOOKS: [Look; 2] =
    [Look { colour: Colour::Blue, shape: Shape::Circle }, Look { colour: Colour::Vermilion, shape: Shape::Square }];

/// Batches of up to 8 messages are "not worth of doing", says the article.
const NOT_WORTH_IT_UP_TO: usize = 8;

/// "It yields best results for batches of 30-60 messages": of the measured lengths, this one and the next.
pub(super) const BEST_HERE: usize = 32;

/// And these are larger.
pub(super) const LARGER: usize = 128;

pub(super) fn name(transport: &str, batch: usize) -> String {
    format!("{transport} x{batch}")
}

pub(super) fn contenders(entry: &'static Entry, frame: Frame) -> impl Iterator<Item = Contender> {
    let one_by_one = (entry.traits.name == published::WITH_POLLING).then(|| throughput::contender(entry, None, frame));
    let batches = BATCHES.into_iter().map(move |batch| {
        let mut contender = throughput::batches(entry, batch, frame);
        contender.contestant.name = name(entry.traits.name, batch);
        contender
    });
    one_by_one.into_iter().chain(batches)
}

/// One transport's figures by the length of a batch.
pub(super) fn points(session: &Session, transport: &str) -> Vec<Point> {
    let point = |batch: usize| Some(Point { x: batch as f64, y: session.density(&name(transport, batch))? });
    BATCHES.into_iter().filter_map(point).collect()
}

/// The transports of the sweep that were measured.
fn lines(session: &Session) -> Vec<Swept> {
    let line = |(at, transport): (usize, &str)| Swept {
        label: LABELS[at].to_owned(),
        look: LOOKS[at],
        points: points(session, transport),
    };
    let lines = TRANSPORTS.into_iter().enumerate().map(line);
    lines.filter(|line: &Swept| !line.points.is_empty()).collect()
}

pub(super) fn table(session: &Session) -> Grid {
    let mut head = vec![">batch".to_owned()];
    let lines = lines(session);
    for line in &lines {
        head.extend([format!(">{}, ns/msg", line.label), "+>min .. max".to_owned(), "+>msgs/sec".to_owned()]);
    }
    let mut grid = Grid::new(&head.iter().map(String::as_str).collect::<Vec<_>>());
    for batch in BATCHES {
        let mut row = vec![grouped(batch as f64)];
        for line in &lines {
            let spread = line.points.iter().find(|point| point.x == batch as f64).map(|point| point.y);
            row.push(spread.map_or(String::new(), |spread| figure(spread.median)));
            row.push(spread.map_or(String::new(), interval));
            row.push(spread.map_or(String::new(), |spread| significant(1e9 / spread.median)));
        }
        grid.push(Tone::Plain, None, row);
    }
    grid
}

/// The article's batch lengths that no other length beats; none if there are too few rounds.
fn best(session: &Session) -> Vec<usize> {
    let swept = |one: &Contestant| one.batch.is_some_and(|batch| one.name == name(published::WITH_POLLING, batch));
    let verdict = judgement::verdict(session, swept);
    let mut best: Vec<usize> = verdict.leaders().iter().filter_map(|name| session.contestant(name)?.batch).collect();
    best.sort_unstable();
    best
}

pub(super) fn conclusions(session: &Session) -> [Conclusion; 2] {
    let best = best(session);
    let told: Vec<String> = best.iter().map(|batch| grouped(*batch as f64)).collect();
    let told = listed(&told.iter().map(String::as_str).collect::<Vec<_>>());
    let named = |batch: &usize| (BEST_HERE..=2 * BEST_HERE).contains(batch);
    [
        short_batches(session),
        Conclusion {
            claim: "Batches of about 30 to 60 messages yield the best results.",
            here: match best.len() {
                0 => "the fastest of the measured lengths: no verdict".to_owned(),
                1 => format!("the fastest: {told} messages"),
                _ => format!("the fastest, too close to call between them: {told} messages"),
            },
            verdict: match best.iter().filter(|batch| named(batch)).count() {
                _ if best.is_empty() => "too few rounds to say",
                0 => "does not hold",
                some if some == best.len() => "holds",
                _ => "too close to say",
            }
            .to_owned(),
        },
    ]
}

/// "Inefficient up to 8 messages a batch": even slower than one by one.
fn short_batches(session: &Session) -> Conclusion {
    let mut cases = Cases::default();
    for batch in BATCHES.into_iter().filter(|&batch| batch > 1 && batch <= NOT_WORTH_IT_UP_TO) {
        cases.slower(session, &name(published::WITH_POLLING, batch), published::WITH_POLLING);
    }
    Conclusion {
        claim: "Batches of up to 8 messages are slower than messages one by one.",
        here: format!("batches of 2, 4 and 8 over one by one: {}", cases.times()),
        verdict: cases.verdict(),
    }
}

/// The article's two graphs, with the file names.
pub(super) fn pictures(report: &Report) -> Vec<(String, Picture)> {
    let Some(session) = report.session(SCENARIO) else { return Vec::new() };
    let mut density = lines(session);
    density.extend(level(session));
    let throughput = density.iter().map(turned).collect();
    let density = drawn("Density over the length of a batch", "time of a message", time, density);
    let throughput = drawn("Throughput over the length of a batch", "messages a second", count, throughput);
    let named = |name: &str, picture: Option<Picture>| Some((format!("y-suite-{name}"), picture?));
    [named("density", density), named("throughput", throughput)].into_iter().flatten().collect()
}

/// The baseline, as long as the axis.
fn level(session: &Session) -> Option<Swept> {
    let y = session.density(&session.limit)?;
    let points = [BATCHES[0], BATCHES[BATCHES.len() - 1]].map(|batch| Point { x: batch as f64, y }).to_vec();
    let look = Look { colour: Colour::Ink, shape: Shape::Triangle };
    Some(Swept { label: session.limit.clone(), look, points })
}

/// Messages a second.
fn turned(line: &Swept) -> Swept {
    let a_second = |y: Spread| Spread { median: 1e9 / y.median, min: 1e9 / y.max, max: 1e9 / y.min };
    let points = line.points.iter().map(|point| Point { y: a_second(point.y), ..*point }).collect();
    Swept { label: line.label.clone(), look: line.look, points }
}

/// Lines over the length of a batch, with the article's best lengths marked. `None` if there is no line.
pub(super) fn drawn(title: &str, y_label: &str, y_form: fn(f64) -> String, lines: Vec<Swept>) -> Option<Picture> {
    let (from, to) = published::BEST_BATCHES;
    let any = lines.iter().any(|line| line.points.len() > 1);
    let sweep = Sweep {
        title: title.to_owned(),
        x_label: "8-byte messages in a batch".to_owned(),
        y_label: y_label.to_owned(),
        x_form: grouped,
        y_form,
        y_log: true,
        lines,
        band: Some(Band { label: "the article's best", from, to }),
    };
    any.then(|| sweep.picture())
}
