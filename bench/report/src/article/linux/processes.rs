//! The article's mechanisms between two processes, with `ysuite-shm` in the place of its own queue: the article has
//! threads only, but its kernel interfaces are for processes.

use ybench_measure::frame::Frame;
use ybench_measure::plan;
use ybench_measure::record::{Parameter, Report, Session};
use ybench_measure::rounds::{Length, Plan};
use ybench_measure::scenario::{Entry, Scenario, process};
use ybench_measure::warnings::Warning;

use super::matrix::bytes;
use crate::table::{Grid, Part, Tone, figure};

/// Each with its label.
pub(super) const MECHANISMS: [(&str, &str); 9] = [
    ("own queue, spin", "shm-pipe-forever"),
    ("own queue, eventfd", "shm-pipe-none"),
    ("own queue, usual", "shm-pipe"),
    ("own queue, bytes", "shm-pipe-bytes"),
    ("unix stream", "process-unix-stream"),
    ("unix seqpacket", "process-seqpacket"),
    ("POSIX queue", "process-posix-mq"),
    ("System V queue", "process-sysv-mq"),
    ("pipe", "process-pipe"),
];

/// Single messages, and streams of each size, which take turns.
pub(super) fn plans(
    frame: impl Fn(Length) -> Frame,
    length: Length,
    entries: &[&'static Entry],
    warnings: &mut Vec<Warning>,
) -> Vec<Vec<Plan>> {
    let mut of = |scenario: &Scenario, parameter| plan::of(scenario, parameter, entries, frame(length), warnings);
    let single = [&process::PING_PONG, &process::ON_ONE_CPU].into_iter().filter_map(|scenario| of(scenario, None));
    let single = single.collect();
    let sizes = process::SIZE.parameters.iter().filter_map(|size| of(&process::SIZE, Some(*size))).collect();
    vec![single, sizes]
}

/// The table. Nothing if none of it was measured.
pub(super) fn parts(report: &Report) -> Vec<Part> {
    let columns = columns(report);
    if columns.is_empty() {
        return Vec::new();
    }
    let heads: Vec<String> = columns.iter().map(|(head, _)| format!(">{head}")).collect();
    let mut grid = Grid::new(&[&["mechanism"], &heads.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat());
    for (label, name) in MECHANISMS {
        let time = |session: &Session| session.density(name).map_or(String::new(), |time| figure(time.median));
        let cells: Vec<String> = columns.iter().map(|(_, session)| time(session)).collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            grid.push(Tone::Plain, None, [vec![label.to_owned()], cells].concat());
        }
    }
    grid.notes.push("ns: of a message bounced, one way; of a stream, for each message.".to_owned());
    vec![Part::Heading("Between processes".to_owned()), Part::Table(String::new(), grid)]
}

fn columns(report: &Report) -> Vec<(String, &Session)> {
    let single = |scenario: &Scenario, head: &str| Some((head.to_owned(), report.session(scenario.name)?));
    let size = |size: &Parameter| {
        let of_it = |session: &&Session| session.scenario == process::SIZE.name && session.parameter == Some(*size);
        Some((format!("stream, {}", bytes(size.value)), report.sessions.iter().find(of_it)?))
    };
    let bounced = [single(&process::PING_PONG, "bounced"), single(&process::ON_ONE_CPU, "on one CPU")];
    bounced.into_iter().flatten().chain(process::SIZE.parameters.iter().filter_map(size)).collect()
}
