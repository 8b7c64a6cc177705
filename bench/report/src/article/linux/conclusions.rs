//! The article's conclusions, and the verdicts of this machine.

use ybench_measure::limits;
use ybench_measure::record::{Quantity, Report, Session};
use ybench_measure::stats::{DIFFERENCE, Interval, LEAST_ROUNDS, listed};

use super::bandwidth;
use super::designs::{CLEARED, EVENTFD, FUTEX, GAIN, GREAT, HIGH, Kind, POINTERS_PAY, SPIN, UNSTABLE, USUAL, of};
use super::matrix::{Matrix, bytes, way};
use super::pays::{Onset, points};
use super::priorities;
use crate::article::cases::{Cases, Said};
use crate::article::conclusion::{self, Conclusion};
use crate::table::{Part, figure, interval};

pub(super) fn parts(report: &Report, matrices: &[Matrix<'_>]) -> Vec<Part> {
    let all = [
        sockets(matrices),
        queues(matrices),
        eventfd(matrices),
        slowest(report, matrices),
        futex(report, matrices),
        unstable(matrices),
        pointers(matrices),
        blocking(report, matrices),
        epoll(report),
        priorities::conclusion(report),
        clearing(report),
    ];
    conclusion::parts(all)
}

fn sessions<'a>(matrices: &'a [Matrix<'a>]) -> impl Iterator<Item = &'a Session> {
    matrices.iter().flat_map(Matrix::sessions)
}

/// The matrices with more than one thread on each side.
fn shared<'a>(matrices: &'a [Matrix<'a>]) -> impl Iterator<Item = &'a Matrix<'a>> {
    matrices.iter().filter(|matrix| matrix.shape.threads() > 2)
}

/// The smallest median.
fn fastest(session: &Session, kind: impl Fn(Kind) -> bool) -> Option<&'static str> {
    let measured = of(kind).filter_map(|one| Some((one.transport, session.density(one.transport)?.median)));
    measured.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(name, _)| name)
}

fn sockets(matrices: &[Matrix<'_>]) -> Conclusion {
    let mut cases = Cases::default();
    let mut least: Option<(f64, String)> = None;
    for (matrix, session) in matrices.iter().flat_map(|matrix| matrix.sessions().map(move |session| (matrix, session)))
    {
        let Some(socket) = fastest(session, |kind| kind == Kind::Socket) else { continue };
        cases.at_least(session, socket, USUAL, 1.0 + DIFFERENCE);
        let Some(ratio) = session.ratio(socket, USUAL) else { continue };
        if least.as_ref().is_none_or(|(so_far, _)| ratio.median < *so_far) {
            let carried =
                session.parameter.map_or(String::new(), |at| format!(", {} {}", bytes(at.value), way(at.quantity)));
            least = Some((ratio.median, format!("{socket}, {}{carried}", matrix.shape)));
        }
    }
    let least =
        least.map_or(String::new(), |(ratio, place)| format!("; the least is {} times ({place})", figure(ratio)));
    Conclusion {
        claim: "UNIX sockets are of no use for messages inside a program.",
        here: format!("the fastest socket in each case, over the own queue: {}{least}", cases.times()),
        verdict: cases.verdict(),
    }
}

fn queues(matrices: &[Matrix<'_>]) -> Conclusion {
    let mut cases = Cases::default();
    let name = |wanted| of(move |kind| kind == wanted).map(|one| one.transport).next().unwrap_or_default();
    for session in sessions(matrices) {
        cases.within(session, name(Kind::PosixQueue), name(Kind::SystemVQueue), 1.0 + DIFFERENCE);
    }
    Conclusion {
        claim: "POSIX message queues are practically as fast as those of System V.",
        here: format!("POSIX over System V, the same within 10 %: {}", cases.times()),
        verdict: cases.verdict(),
    }
}

/// Both halves of the claim: at least twice as fast with more threads, and less than that between two.
fn eventfd(matrices: &[Matrix<'_>]) -> Conclusion {
    let (mut both, mut several, mut two) = (Cases::default(), Cases::default(), Cases::default());
    for (matrix, session) in matrices.iter().flat_map(|matrix| matrix.sessions().map(move |session| (matrix, session)))
    {
        let Some(standard) = fastest(session, Kind::standard) else { continue };
        let gain = session.ratios(standard, EVENTFD);
        match matrix.shape.threads() > 2 {
            true => [&mut both, &mut several].map(|cases| cases.above(session, &gain, GAIN)),
            false => [&mut both, &mut two].map(|cases| cases.below(session, &gain, GAIN)),
        };
    }
    let told = |cases: &Cases| format!("{} ({})", cases.times(), cases.verdict());
    Conclusion {
        claim: "Waiting by eventfd is at least twice as fast in all cases but one writer and one reader.",
        here: format!(
            "the fastest of the kernel's interfaces over the own queue with eventfd, at least {GAIN} times: {}; \
             between two threads, less than that: {}",
            told(&several),
            told(&two)
        ),
        verdict: both.verdict(),
    }
}

/// The verdict for the shapes whose threads have a CPU each. If threads share CPUs, a spinning thread keeps its peer
/// from running, and nothing can be compared with it.
fn beside_spinning(report: &Report, matrices: &[Matrix<'_>], ask: impl Fn(&mut Cases, &Session)) -> String {
    let mut cases = Cases::default();
    let (with_room, without): (Vec<_>, Vec<_>) =
        shared(matrices).partition(|matrix| matrix.shape.threads() <= matrix.cpus(report));
    with_room.iter().filter_map(|matrix| matrix.words()).for_each(|session| ask(&mut cases, session));
    let mut told = Vec::new();
    if !with_room.is_empty() || without.is_empty() {
        told.push(cases.verdict());
    }
    if let Some(widest) = without.last() {
        let threads: Vec<String> = without.iter().map(|matrix| matrix.shape.threads().to_string()).collect();
        let threads = listed(&threads.iter().map(String::as_str).collect::<Vec<_>>());
        told.push(format!(
            "not comparable on this machine: {threads} threads share {} CPUs, and a spinning thread keeps its peer \
             from running",
            widest.cpus(report)
        ));
    }
    told.join("; ")
}

/// The times of one of the own queue's ways of waiting as multiples of spinning, by shape.
fn over_spinning(matrices: &[Matrix<'_>], name: &str) -> String {
    let told = matrices.iter().filter_map(|matrix| {
        let ratio = matrix.words()?.ratio(name, SPIN)?;
        Some(format!("{} at {}", figure(ratio.median), matrix.shape))
    });
    let told: Vec<String> = told.collect();
    if told.is_empty() { "not measured".to_owned() } else { told.join(", ") }
}

fn futex(report: &Report, matrices: &[Matrix<'_>]) -> Conclusion {
    Conclusion {
        claim: "A futex makes no great difference with more than one writer and one reader.",
        here: format!(
            "times of the own queue with a futex over spinning, no great difference below {GREAT} times: {}",
            over_spinning(matrices, FUTEX)
        ),
        verdict: beside_spinning(report, matrices, |cases, session| cases.within(session, FUTEX, SPIN, GREAT)),
    }
}

/// Compared with spinning only if no threads share CPUs.
fn slowest(report: &Report, matrices: &[Matrix<'_>]) -> Conclusion {
    let mut cases = Cases::default();
    for matrix in matrices {
        let shares = matrix.shape.threads() > matrix.cpus(report);
        let quicker: &[&str] = if shares { &[FUTEX] } else { &[FUTEX, SPIN] };
        if let Some(session) = matrix.words() {
            quicker.iter().for_each(|name| cases.slower(session, EVENTFD, name));
        }
    }
    Conclusion {
        claim: "With spin and futex the own queue is always faster than with eventfd.",
        here: format!("eventfd over a futex, and over spinning where no threads share a CPU: {}", cases.times()),
        verdict: cases.verdict(),
    }
}

fn unstable(matrices: &[Matrix<'_>]) -> Conclusion {
    let mut cases = Cases::default();
    for session in matrices.iter().filter_map(Matrix::words) {
        [SPIN, FUTEX].iter().for_each(|name| cases.unsteady(session, name, UNSTABLE));
    }
    Conclusion {
        claim: "The own queue is very unstable: with spin and futex the least and the most differ by up to 2 times.",
        here: format!("the slowest round over the fastest: {}", cases.times()),
        verdict: cases.verdict(),
    }
}

fn pointers(matrices: &[Matrix<'_>]) -> Conclusion {
    let (least, most) = POINTERS_PAY;
    let (mut said, mut sooner, mut later) = (Cases::default(), 0, 0);
    for matrix in matrices {
        for design in of(Kind::standard) {
            let onset = Onset::of(&points(matrix, Quantity::BytesByPointer, design.transport));
            let answer = match onset.range() {
                Some((from, to)) if from >= least && to <= most => Said::Yes,
                Some((_, to)) if to < least => {
                    sooner += 1;
                    Said::No
                }
                Some((from, _)) if from > most => {
                    later += 1;
                    Said::No
                }
                Some(_) => Said::TooClose,
                None if onset == Onset::TooFewRounds => Said::TooFewRounds,
                None => continue,
            };
            said.push(answer, 1.0);
        }
    }
    Conclusion {
        claim: "With the kernel's interfaces pointers pay steadily only from messages of 1 to 2 KB on.",
        here: match said.verdict() {
            _ if sooner + later > 0 => format!("they pay sooner in {sooner} cases, and later or never in {later}"),
            _ => "the table above has the sizes from which they pay".to_owned(),
        },
        verdict: said.verdict(),
    }
}

fn blocking(report: &Report, matrices: &[Matrix<'_>]) -> Conclusion {
    Conclusion {
        claim: "Blocking a thread while it waits has a very high price with many threads.",
        here: format!(
            "times of the own queue with eventfd over spinning, very high from {HIGH} times on: {}",
            over_spinning(matrices, EVENTFD)
        ),
        verdict: beside_spinning(report, matrices, |cases, session| cases.at_least(session, EVENTFD, SPIN, HIGH)),
    }
}

fn epoll(report: &Report) -> Conclusion {
    let mut cases = Cases::default();
    let mut told = Vec::new();
    for design in of(|kind| kind.standard() || kind == Kind::Own) {
        let Some(tried) = report.epoll.iter().find(|tried| tried.name == design.transport) else { continue };
        let refused = design.kind == Kind::SystemVQueue || design.transport == FUTEX;
        let as_said = tried.works != refused;
        cases.push(if as_said { Said::Yes } else { Said::No }, 1.0);
        told.push(format!("{} {}", design.label, if tried.works { "does" } else { "does not" }));
    }
    Conclusion {
        claim: "Sockets, POSIX queues and the own queue work with epoll; queues of System V and a futex do not.",
        here: if told.is_empty() { "not tried".to_owned() } else { told.join("; ") },
        verdict: cases.verdict(),
    }
}

fn clearing(report: &Report) -> Conclusion {
    let (from, to) = CLEARED;
    let session = report.session(bandwidth::SCENARIO);
    let speeds: Vec<f64> = session.map_or(Vec::new(), |session| session.figures(limits::MEMSET.name));
    let speeds: Vec<f64> = speeds.into_iter().map(bandwidth::of).collect();
    let few = session.is_none_or(|session| session.sound() < LEAST_ROUNDS);
    Conclusion {
        claim: "Clearing memory goes at 15 to 16 GB/s; what is faster goes through the cache.",
        here: bandwidth::limit(report, limits::MEMSET.name).map_or("not measured".to_owned(), |speed| {
            format!("memset {} GB/s ({})", figure(speed.median), interval(speed))
        }),
        verdict: match Interval::of(&speeds) {
            None => "not measured",
            Some(_) if few => "too few rounds to say",
            Some(speed) if speed.low > to => "faster here",
            Some(speed) if speed.high < from => "slower here",
            Some(speed) if speed.low >= from && speed.high <= to => "the same here",
            Some(_) => "too close to say",
        }
        .to_owned(),
    }
}
