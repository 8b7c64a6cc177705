//! Processes that are killed behind an instruction: run by `ptrace` for a number of system calls, single-stepped from there
//! for a number of instructions, and then killed. Whatever the instruction, the peer gets what was published, all of it and in order, learns of the death, and
//! nothing stays behind. And processes of which one system call fails; and pairs whose calls come in each order.
//!
//! A runner of its own, with one thread, because it forks. In a test run it takes some of the instructions of each case;
//! with `YSUITE_KILLS=1` all of them, with `YSUITE_KILLS=7` each seventh. With `YSUITE_KILLS=changes` it takes those that have
//! changed memory which the process shares, and those behind a system call: the others are like one of these to
//! everybody else. `cargo test --test kills -- FILTER`.
#![cfg(target_os = "linux")]

mod attacks;
mod broadcast;
mod call;
mod cases;
#[allow(dead_code, reason = "shared with the stress tests")]
#[path = "../support/casts.rs"]
mod casts;
mod copies;
mod faults;
#[cfg(target_arch = "x86_64")]
mod injected;
#[allow(dead_code, reason = "shared with the other tests")]
#[path = "../support/kinds.rs"]
mod kinds;
mod last;
mod loan;
mod once;
#[cfg(target_arch = "x86_64")]
mod orders;
#[allow(dead_code, reason = "shared with the stress tests")]
mod process;
mod remains;
mod watch;
mod work;

use cases::{Outcome, Part, Peer};
use casts::{Cast, Numbers, OfBytes};
use kinds::trades::{self, Trade};
use kinds::{Bytes, Call, Careful, Kind, Pipe, Single};
use process::{Point, Reached};

/// A case: its name, and what it does with a point.
struct Case {
    name: String,
    attempt: Box<dyn Fn(Point) -> Outcome>,
}

impl Case {
    fn new(name: String, attempt: impl Fn(Point) -> Outcome + 'static) -> Self {
        Self { name, attempt: Box::new(attempt) }
    }
}

/// The parts, and how they are called.
fn parts() -> impl Iterator<Item = (Part, String)> {
    let parts = Peer::ALL.map(|(peer, how)| (Part::Messages(peer), format!("while its peer {how}")));
    parts.into_iter().chain([(Part::Hello, "in its hello".into()), (Part::Drop, "in its drop".into())])
}

/// Nobody is late for a watch.
fn cases_of_watches() -> impl Iterator<Item = Case> {
    parts().filter(|(part, _)| *part != Part::Messages(Peer::IsLate)).flat_map(|(part, how)| {
        [
            Case::new(format!("watch: a sender dies {how}"), move |point| watch::sender_dies(part, point)),
            Case::new(format!("watch: a receiver dies {how}"), move |point| watch::receiver_dies(part, point)),
        ]
    })
}

fn cases_of_broadcasts<C: Cast>(is_lossy: bool) -> impl Iterator<Item = Case> {
    let kind = if is_lossy { format!("lossy {}", C::NAME) } else { C::NAME.into() };
    parts().filter(|(part, _)| *part != Part::Messages(Peer::IsLate)).flat_map(move |(part, how)| {
        [
            Case::new(format!("{kind}: a sender dies {how}"), move |point| {
                broadcast::sender_dies::<C>(is_lossy, part, point)
            }),
            Case::new(format!("{kind}: a receiver dies {how}"), move |point| {
                broadcast::receiver_dies::<C>(is_lossy, part, point)
            }),
        ]
    })
}

fn cases_of_work<T: Trade>() -> impl Iterator<Item = Case> {
    parts().filter(|(part, _)| *part != Part::Messages(Peer::IsLate)).flat_map(|(part, how)| {
        [
            Case::new(format!("{}: a sender dies {how}", T::WORK), move |point| work::sender_dies::<T>(part, point)),
            Case::new(format!("{}: a worker dies {how}", T::WORK), move |point| work::worker_dies::<T>(part, point)),
        ]
    })
}

fn cases_of_loans() -> impl Iterator<Item = Case> {
    parts().filter(|(part, _)| *part != Part::Messages(Peer::IsLate)).flat_map(|(part, how)| {
        [
            Case::new(format!("loan: a sender dies {how}"), move |point| loan::sender_dies(part, point)),
            Case::new(format!("loan: a receiver dies {how}"), move |point| loan::receiver_dies(part, point)),
        ]
    })
}

/// Questions are not taken back from a receiver that dies.
fn cases_of_calls<T: Trade>() -> Vec<Case> {
    let of_receivers = parts().filter(|(part, _)| *part != Part::Messages(Peer::IsLate)).map(|(part, how)| {
        Case::new(format!("{}: a receiver dies {how}", T::CALL), move |point| call::receiver_dies::<T>(part, point))
    });
    cases_of_senders::<Call<T>>().into_iter().chain(of_receivers).collect()
}

fn cases_of<K: Kind + 'static>() -> Vec<Case> {
    let mut cases = cases_of_senders::<K>();
    for (part, how) in parts() {
        cases.push(Case::new(format!("{}: a receiver dies {how}", K::NAME), move |point| {
            cases::receiver_dies::<K>(part, point)
        }));
    }
    cases
}

/// Where the sender dies, or both.
fn cases_of_senders<K: Kind + 'static>() -> Vec<Case> {
    let mut cases = Vec::new();
    for (part, how) in parts() {
        cases.push(Case::new(format!("{}: a sender dies {how}", K::NAME), move |point| {
            cases::sender_dies::<K>(part, point)
        }));
    }
    for (is_sender, which) in [(true, "sender"), (false, "receiver")] {
        cases.push(Case::new(format!("{}: both die, behind an instruction of the {which}", K::NAME), move |point| {
            cases::both_die::<K>(is_sender, point)
        }));
    }
    cases
}

fn cases() -> Vec<Case> {
    let mut cases = cases_of::<Pipe>();
    cases.extend(cases_of::<Careful>());
    cases.extend(cases_of::<Bytes>());
    cases.extend(cases_of::<Single>());
    cases.extend(cases_of_watches());
    for is_lossy in [false, true] {
        cases.extend(cases_of_broadcasts::<Numbers>(is_lossy));
        cases.extend(cases_of_broadcasts::<OfBytes>(is_lossy));
    }
    cases.extend(cases_of_work::<trades::Numbers>());
    cases.extend(cases_of_work::<trades::OfBytes>());
    cases.extend(cases_of_loans());
    cases.extend(cases_of_calls::<trades::Numbers>());
    cases.extend(cases_of_calls::<trades::OfBytes>());
    cases.push(Case::new("a listener dies in its bind".into(), cases::listener_dies_in_bind));
    cases
}

const ONCE: &[(&str, fn())] = &[
    ("a process that executes another program loses its end", once::executes_another),
    ("ends in namespaces of their own", once::in_namespaces),
    ("an inherited end", once::inherited),
    ("a stream makes no system call for each message", once::stream_without_calls),
    ("nor do the values of a watch", watch::values_without_calls),
    ("nor do the messages of a broadcast", broadcast::messages_without_calls),
    ("nor do the jobs of a work queue", work::jobs_without_calls::<trades::Numbers>),
    ("nor do jobs of bytes", work::jobs_without_calls::<trades::OfBytes>),
    ("nor do loans of slots", loan::loans_without_calls),
    #[cfg(target_arch = "x86_64")]
    ("nor do calls", call::calls_without_calls::<trades::Numbers>),
    #[cfg(target_arch = "x86_64")]
    ("nor do calls of bytes", call::calls_without_calls::<trades::OfBytes>),
    ("nor does a funnel with many idle senders", once::funnel_without_calls),
    ("a funnel that waits for idle senders makes no calls", once::idle_without_calls),
    ("two processes exchange messages, asleep and awake", once::exchange),
    ("calls that the kernel refuses", faults::refused_calls),
    ("descriptors that run out", faults::no_descriptors),
    ("a forked child drops its copy of an end", once::forked_copy),
    ("a next receiver goes on", once::next_receiver_goes_on),
    ("the last message of a sender that goes", last::of_pipes),
    ("the last answer of a receiver that goes", last::of_calls),
    ("workers are killed and come, and no job is lost", work::random_kills::<trades::Numbers>),
    ("workers are killed and come, and no job of bytes is lost", work::random_kills::<trades::OfBytes>),
    ("a forked child drops its copy of a job", work::forked_job),
    ("a receiver of a loan is killed with all slots", loan::killed_with_all_slots),
    ("a receiver of a loan without descriptors", loan::no_descriptors),
    ("a forked child drops its copy of a loan", loan::forked_loan),
    ("callers are killed and come, and no call is lost", call::random_kills::<trades::Numbers>),
    ("callers are killed and come, and no call of bytes is lost", call::random_kills::<trades::OfBytes>),
    ("a forked child drops its copy of a question", call::forked_question),
    ("an unmet end is dropped of which a forked child has a copy", copies::unmet_ends),
    ("a listener is dropped of which a forked child has a copy", copies::listener),
    ("a forked child drops its copy of a listener", attacks::forked_listener),
    ("a listener of another user", attacks::another_users_listener),
    ("a funnel without descriptors", attacks::funnel_without_descriptors),
    ("a thousand senders", attacks::thousand_senders),
    ("a limit of the size of files, and of addresses", attacks::limits),
    ("many processes take one path", attacks::contested_path),
    #[cfg(target_arch = "x86_64")]
    ("memory in spite of signals", injected::interrupted_always),
];

/// How many attempts, and how many system calls there were.
#[derive(Default)]
struct Total {
    points: u64,
    calls: u64,
    lost: u64,
    doubled: u64,
}

fn main() {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let wish = std::env::var("YSUITE_KILLS").unwrap_or_default();
    let by_changes = cfg!(target_arch = "x86_64") && wish == "changes";
    if by_changes {
        process::count_changes();
    }
    let stride = if by_changes { Some(1) } else { wish.parse::<u64>().ok() };
    remains::alone();
    let mut total = Total::default();
    for Case { name, attempt } in cases().into_iter().filter(|case| case.name.contains(&wanted)) {
        process::guard(if stride.is_some() { 7_200 } else { 300 });
        let name: &'static str = name.leak();
        let case = run(name, &attempt, stride);
        println!("{name}: killed behind {} instructions, of {} calls", case.points, case.calls);
        total.points += case.points;
        total.calls += case.calls;
        total.lost += case.lost;
        total.doubled += case.doubled;
    }
    let Total { points, calls, lost, doubled } = total;
    println!("killed behind {points} instructions, of {calls} calls: {lost} messages lost, {doubled} doubled");
    assert_eq!((lost, doubled), (0, 0));
    #[cfg(target_arch = "x86_64")]
    {
        injected::run(&wanted, stride);
        orders::run(&wanted, stride);
    }
    for (name, test) in ONCE.iter().filter(|(name, _)| name.contains(&wanted)) {
        process::guard(300);
        process::now(name, 0);
        let before = remains::count();
        test();
        remains::assert_same(&before, name);
        println!("{name}: ok");
    }
}

/// A shorter way in one attempt says little: another may wake its peer once more.
const AGAIN: u32 = 3;

fn run(name: &'static str, attempt: &dyn Fn(Point) -> Outcome, stride: Option<u64>) -> Total {
    let before = remains::count();
    let (mut at, mut again, mut case) = (Point::default(), 0, Total::default());
    // Without a stride: closely at first, then further and further apart, at places that are no multiples.
    let next = |at: u64, stride: Option<u64>| at + stride.unwrap_or(1 + at);
    loop {
        process::now(name, 1_000_000 * at.calls + at.instructions);
        let Outcome { reached, lost, doubled } = attempt(at);
        if lost + doubled > 0 {
            println!("{name}: {at:?}: {lost} lost, {doubled} doubled");
        }
        case.points += 1;
        case.lost += lost;
        case.doubled += doubled;
        if reached == Reached::Inside {
            again = 0;
            at.instructions = next(at.instructions, stride);
            continue;
        }
        again += 1;
        if stride.is_some() && again < AGAIN {
            continue;
        }
        case.calls = at.calls;
        if reached == Reached::End {
            break;
        }
        (at, again) = (Point { calls: next(at.calls, stride.map(|_| 1)), instructions: 0 }, 0);
    }
    remains::assert_same(&before, name);
    case
}
