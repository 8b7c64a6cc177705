//! Processes that come and go at random: killed (SIGKILL), stopped (SIGSTOP) and continued, told to leave, and others in
//! their place; of a pipe in both directions, a funnel, a broadcast, a lossy one, a watch, and a work queue and calls, both of
//! numbers and of bytes. Nothing is lost or doubled beyond what each kind promises, each answer is that of its question,
//! everybody learns of an end and of the right one, calls under way too, and nothing stays behind: neither here, nor in a
//! process that has seen all others go.
//!
//! In a test run it takes seconds. `YSUITE_STRESS=long cargo test -p ysuite-shm --test soak` takes a minute, or
//! `YSUITE_SECONDS`; `-- FILTER` takes some kinds. `YSUITE_SEED` has the same things done again, as far as the machine
//! does the same.
//!
//! A *round* has one home, which listens at a name, and members, which connect to it. Of all that they send and receive
//! they keep account on a [board](board::Board), which outlives them; when all have ended the accounts are compared.
#![cfg(target_os = "linux")]

mod accounts;
mod board;
#[allow(dead_code, reason = "shared with the kills")]
#[path = "../support/kinds.rs"]
mod kinds;
mod parts;
#[allow(dead_code, reason = "shared with the kills")]
#[path = "../kills/process.rs"]
mod process;
#[path = "../kills/remains.rs"]
mod remains;
mod round;

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use board::Random;
use kinds::trades::{Numbers, OfBytes, Trade};
use kinds::{Bytes, Careful, Pipe};
use parts::Part;
use round::{Account, Round};

/// Who sends to whom.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    /// Between the home and one member, and then the next one.
    InTurns,
    ToHome,
    ToMembers,
}

/// A kind: its name, what its home and its members do, and how their accounts are compared.
struct Kind {
    name: &'static str,
    flow: Flow,
    home: fn(&Part),
    member: fn(&Part, OwnedFd) -> u64,
    account: fn(&Round),
}

const KINDS: [Kind; 13] = [
    from_each::<Pipe>("pipe from each in turn"),
    from_each::<Careful>("careful pipe from each in turn"),
    from_each::<Bytes>("pipe of bytes from each in turn"),
    to_each::<Pipe>("pipe to each in turn"),
    to_each::<Bytes>("pipe of bytes to each in turn"),
    Kind {
        name: "funnel",
        flow: Flow::ToHome,
        home: parts::funnel,
        member: parts::send_to::<kinds::Single>,
        account: accounts::of_senders,
    },
    to_all("broadcast", parts::broadcast, parts::receive_all, accounts::of_receivers),
    to_all("lossy broadcast", parts::lossy_broadcast, parts::receive_all, accounts::of_receivers),
    to_all("watch", parts::watch, parts::receive_newest, accounts::of_receivers),
    work::<Numbers>(),
    work::<OfBytes>(),
    calls::<Numbers>(),
    calls::<OfBytes>(),
];

const fn from_each<K: kinds::Kind>(name: &'static str) -> Kind {
    let (home, member) = (parts::receive_in_turn::<K>, parts::send_to::<K>);
    Kind { name, flow: Flow::InTurns, home, member, account: accounts::of_senders }
}

const fn to_each<K: kinds::Kind>(name: &'static str) -> Kind {
    let (home, member) = (parts::send_in_turn::<K>, parts::receive_from::<K>);
    Kind { name, flow: Flow::InTurns, home, member, account: accounts::of_turns }
}

const fn to_all(name: &'static str, home: fn(&Part), member: fn(&Part, OwnedFd) -> u64, account: fn(&Round)) -> Kind {
    Kind { name, flow: Flow::ToMembers, home, member, account }
}

const fn work<T: Trade>() -> Kind {
    to_all(T::WORK, parts::give_work::<T>, parts::do_work::<T>, accounts::of_work)
}

const fn calls<T: Trade>() -> Kind {
    let (home, member) = (parts::answer::<T>, parts::ask::<T>);
    Kind { name: T::CALL, flow: Flow::ToHome, home, member, account: accounts::of_calls }
}

/// A number of the environment.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|number| number.parse().ok())
}

fn main() {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let is_long = std::env::var("YSUITE_STRESS").is_ok_and(|form| form == "long");
    let length = Duration::from_secs(if is_long { number("YSUITE_SECONDS").unwrap_or(60) } else { 5 });
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock").as_nanos() as u64;
    let seed = number("YSUITE_SEED").unwrap_or(now) | 1;
    println!("YSUITE_SEED={seed}");
    remains::alone();
    let kinds: Vec<_> = KINDS.iter().filter(|kind| kind.name.contains(&wanted)).collect();
    let mut accounts: Vec<_> = kinds.iter().map(|_| Account::default()).collect();
    let (mut random, begun, before) = (Random::new(seed), Instant::now(), remains::count());
    let folder = std::env::temp_dir().join(format!("ysuite-shm-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("socket");
    let path = path.to_str().unwrap();
    // Each kind has its rounds, however short the time is.
    while begun.elapsed() < length || accounts.iter().any(|account| account.rounds < 3) {
        let at = accounts.iter().enumerate().min_by_key(|(_, account)| account.time).expect("a kind").0;
        process::guard(1_200);
        process::now(kinds[at].name, accounts[at].rounds);
        round::play(kinds[at], path, &mut random, &mut accounts[at]);
    }
    // What a home that was killed has left at the path is taken over, and goes.
    drop(ysuite_shm::Listener::bind(path).unwrap());
    std::fs::remove_dir(&folder).unwrap();
    remains::assert_same(&before, "the soak");
    kinds.iter().zip(&accounts).for_each(|(kind, account)| println!("{}: {account}", kind.name));
    println!("in all: {}", accounts.iter().sum::<Account>());
}
