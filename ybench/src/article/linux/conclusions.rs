//! What the article concluded, and what this machine says.

use ybench_core::limits;
use ybench_core::record::{Quantity, Report, Session};
use ybench_core::stats::{DIFFERENCE, LEAST_ROUNDS, Spread, listed};

use super::bandwidth;
use super::designs::{CLEARED, EVENTFD, FUTEX, GAIN, Kind, POINTERS_PAY, SPIN, UNSTABLE, USUAL, of};
use super::matrix::Matrix;
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
        slowest(matrices),
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

/// Those with more than one thread at each side.
fn shared<'a>(matrices: &'a [Matrix<'a>]) -> impl Iterator<Item = &'a Matrix<'a>> {
    matrices.iter().filter(|matrix| matrix.shape.threads() > 2)
}

/// The one with the least median.
fn fastest(session: &Session, kind: impl Fn(Kind) -> bool) -> Option<&'static str> {
    let measured = of(kind).filter_map(|one| Some((one.transport, session.density(one.transport)?.median)));
    measured.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(name, _)| name)
}

fn sockets(matrices: &[Matrix<'_>]) -> Conclusion {
    let mut cases = Cases::default();
    for session in sessions(matrices) {
        if let Some(socket) = fastest(session, |kind| kind == Kind::Socket) {
            cases.at_least(session, socket, USUAL, 1.0 + DIFFERENCE);
        }
    }
    Conclusion {
        claim: "UNIX sockets are of no use for messages inside a program.",
        here: format!("the fastest of them, over the own queue: {}", cases.times()),
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

fn eventfd(matrices: &[Matrix<'_>]) -> Conclusion {
    let gain = |those: &mut dyn Iterator<Item = &Session>| {
        let mut cases = Cases::default();
        for session in those {
            if let Some(standard) = fastest(session, Kind::standard) {
                cases.at_least(session, standard, EVENTFD, GAIN);
            }
        }
        cases
    };
    let cases = gain(&mut shared(matrices).flat_map(Matrix::sessions));
    let alone = matrices.iter().filter(|matrix| matrix.shape.threads() == 2);
    let alone = gain(&mut alone.flat_map(Matrix::sessions));
    Conclusion {
        claim: "Waiting by eventfd is at least twice as fast in all cases but one writer and one reader.",
        here: format!(
            "the fastest of the kernel's interfaces over the own queue with eventfd: {}; between two threads: {}",
            cases.times(),
            alone.times()
        ),
        verdict: cases.verdict(),
    }
}

/// Where threads share CPUs, one that spins keeps the one it waits for from running: nothing can be compared with it there.
fn crowded(report: &Report, matrices: &[Matrix<'_>]) -> String {
    let threads: Vec<String> = shared(matrices).map(|matrix| matrix.shape.threads().to_string()).collect();
    let threads = listed(&threads.iter().map(String::as_str).collect::<Vec<_>>());
    let cpus = if report.cpus[0] == report.cpus[1] { 1 } else { report.cpus.len() };
    match threads.is_empty() {
        true => "not measured".to_owned(),
        false => format!(
            "this machine cannot tell: {threads} threads share {cpus} CPUs, where one that spins keeps the one it waits for \
             from running"
        ),
    }
}

/// The times of one of the own queue's ways of waiting over spinning, by shape.
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
        here: format!("times of the own queue with a futex over spinning: {}", over_spinning(matrices, FUTEX)),
        verdict: crowded(report, matrices),
    }
}

/// Beside a spinner only where no threads share CPUs.
fn slowest(matrices: &[Matrix<'_>]) -> Conclusion {
    let mut cases = Cases::default();
    for matrix in matrices {
        let quicker: &[&str] = if matrix.shape.threads() > 2 { &[FUTEX] } else { &[FUTEX, SPIN] };
        if let Some(session) = matrix.words() {
            quicker.iter().for_each(|name| cases.slower(session, EVENTFD, name));
        }
    }
    Conclusion {
        claim: "With spin and futex the own queue is always faster than with eventfd.",
        here: format!("eventfd over a futex, and over spinning between two threads: {}", cases.times()),
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
        here: format!("the slowest round over the quickest: {}", cases.times()),
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
            _ => "the sizes from which they pay stand above".to_owned(),
        },
        verdict: said.verdict(),
    }
}

fn blocking(report: &Report, matrices: &[Matrix<'_>]) -> Conclusion {
    Conclusion {
        claim: "Blocking a thread while it waits has a very high price with many threads.",
        here: format!("times of the own queue with eventfd over spinning: {}", over_spinning(matrices, EVENTFD)),
        verdict: crowded(report, matrices),
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
        here: if told.is_empty() { "not tried".to_owned() } else { told.join(", ") },
        verdict: cases.verdict(),
    }
}

fn clearing(report: &Report) -> Conclusion {
    let (from, to) = CLEARED;
    let memset = bandwidth::limit(report, limits::MEMSET.name);
    let verdict = |speed: Spread| match speed {
        _ if report.session(bandwidth::SCENARIO).is_none_or(|session| session.sound() < LEAST_ROUNDS) => {
            "too few rounds to say"
        }
        speed if speed.min > to => "faster here",
        speed if speed.max < from => "slower here",
        speed if (from..=to).contains(&speed.median) => "the same here",
        _ => "too close to say",
    };
    Conclusion {
        claim: "Clearing memory goes at 15 to 16 GB/s; what is faster goes through the cache.",
        here: memset.map_or("not measured".to_owned(), |speed| {
            format!("memset {} GB/s ({})", figure(speed.median), interval(speed))
        }),
        verdict: memset.map_or("not measured", verdict).to_owned(),
    }
}
