//! A matrix of peers: bridges talk to programs of other libraries, of every type of socket, whichever side binds; and these are killed,
//! stopped, or of another type than the bridge expects. `ci/steps/zmq peers` builds the programs and runs this.
//!
//! A peer is a program that is called with a type of socket, an address, a number and a count. It says in its first line which
//! libraries it is of, and in its second one that it begins. Then each line is about one message. Numbers are the messages, as text;
//! `end` is the last one.

#[path = "../support/mod.rs"]
mod support;

mod asking;
mod originals;
mod peer;
mod receiving;
mod sending;

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;
use std::{env, thread};

use peer::{Library, Peer};
use support::{address, wait_for};
use ysuite_zmq::{Event, Started};

/// Messages of a case in which all goes well.
const ALL: u64 = 600;

/// The number of messages that are exchanged before something happens to the peer.
const FIRST: usize = 100;

/// The first number of a peer that takes the place of another.
const LATER: u64 = 1_000_000;

/// Before a bridge connects again.
const SOON: Duration = Duration::from_millis(10);

/// The type of the peer's socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Pull,
    Sub,
    Push,
    Pub,
    Rep,
    Router,
    Req,
    Dealer,
}

const ROLES: [Role; 8] =
    [Role::Pull, Role::Sub, Role::Push, Role::Pub, Role::Rep, Role::Router, Role::Req, Role::Dealer];

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::Pull => "pull",
            Self::Sub => "sub",
            Self::Push => "push",
            Self::Pub => "pub",
            Self::Rep => "rep",
            Self::Router => "router",
            Self::Req => "req",
            Self::Dealer => "dealer",
        }
    }

    /// One that the same bridge does not talk to.
    fn wrong(self) -> Self {
        match self {
            Self::Pull => Self::Push,
            Self::Push | Self::Rep | Self::Router => Self::Pull,
            Self::Sub => Self::Pub,
            Self::Pub | Self::Req | Self::Dealer => Self::Sub,
        }
    }
}

/// What happens to the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Situation {
    /// Nothing.
    Well,
    /// It is killed while messages are under way, and another takes its place.
    Killed,
    /// It is stopped for a while.
    Stopped,
    /// Before it comes one with another type of socket.
    Wrong,
}

const SITUATIONS: [Situation; 4] = [Situation::Well, Situation::Killed, Situation::Stopped, Situation::Wrong];

/// Where the bridge is.
enum At {
    Bound,
    Connected(String),
}

/// The builder with the address.
macro_rules! at {
    ($builder:expr, $at:expr) => {{
        let builder = $builder.reconnect_after(crate::SOON, crate::SOON);
        match $at {
            crate::At::Bound => builder.bind("tcp://127.0.0.1:*"),
            crate::At::Connected(there) => builder.connect(there.clone()),
        }
    }};
}
pub(crate) use at;

/// Beneath those that the system gives to those that connect: a bridge that tries to reach a port cannot be connected to itself.
fn port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 20_000 + u16::try_from(std::process::id() % 5_000).expect("small");
    loop {
        let port = first + NEXT.fetch_add(1, Ordering::Relaxed) % 5_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Case<'a> {
    library: &'a Library,
    role: Role,
    bridge_binds: bool,
    situation: Situation,
}

impl Case<'_> {
    fn at(&self) -> At {
        if self.bridge_binds { At::Bound } else { At::Connected(format!("tcp://127.0.0.1:{}", port())) }
    }

    /// Runs it. Panics where it fails.
    fn run(&self) {
        match self.role {
            Role::Pull | Role::Sub => sending::run(self),
            Role::Push | Role::Pub => receiving::run(self),
            Role::Rep | Role::Router => asking::asks(self),
            Role::Req | Role::Dealer => asking::answers(self),
        }
    }
}

/// Starts the peers of a case.
struct Peers<'a> {
    case: &'a Case<'a>,
    /// As they are told.
    address: String,
}

impl<'a> Peers<'a> {
    fn of(case: &'a Case<'a>, at: &At, bridge: &Started) -> Self {
        let address = match at {
            At::Bound => address(bridge),
            At::Connected(there) => format!("bind:{there}"),
        };
        Self { case, address }
    }

    /// One that sends numbers from this one on.
    fn start(&self, first: u64) -> Peer {
        Peer::start(self.case.library, self.case.role, &self.address, first, ALL)
    }

    /// One with another type of socket comes, and goes when the bridge has noticed. Nothing is said to it.
    fn wrong(&self, bridge: &Started) {
        let wrong = Peer::start(self.case.library, self.case.role.wrong(), &self.address, 0, ALL);
        wait_for(&bridge.events(), |event| {
            matches!(event, Event::HandshakeFailed(_) | Event::Disconnected(_) | Event::Retrying(_))
        });
        let said = wrong.kill();
        assert!(said.iter().all(|line| line.starts_with("refused")), "{said:?}");
    }
}

/// Runs a case in a thread of its own; a panic is why it has failed.
fn outcome(case: &Case) -> Result<(), String> {
    let ended = thread::scope(|scope| scope.spawn(|| case.run()).join());
    ended.map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned())).unwrap_or_default()
    })
}

/// Numbers of each library in each situation: how many went well, of how many.
type Table = BTreeMap<(String, Situation), (usize, usize)>;

fn shown(table: &Table, libzmq: &str, libraries: &[Library]) {
    println!("\n| bridge over libzmq {libzmq}, peer | {} |", SITUATIONS.map(|at| format!("{at:?}")).join(" | "));
    println!("|---|{}", "---|".repeat(SITUATIONS.len()));
    for Library { name, .. } in libraries {
        let cells = SITUATIONS.map(|situation| {
            let (well, of) = table.get(&(name.clone(), situation)).copied().unwrap_or_default();
            format!("{well} of {of}")
        });
        println!("| {name} | {} |", cells.join(" | "));
    }
}

/// Claim: Bridges talk to pyzmq, cppzmq and zmq.rs, over libzmq 4.3.4 and 4.3.5, in every role, whichever side binds.
/// Claim: A bridge outlives peers of other libraries that are killed, and that are of a type that it does not talk to, and goes on with
/// the next one.
#[test]
#[ignore = "ci/steps/zmq peers builds the peers and runs it"]
fn every_peer_in_every_situation() {
    let libraries = peer::libraries();
    let (major, minor, patch) = ysuite_zmq::libzmq_version();
    let libzmq = format!("{major}.{minor}.{patch}");
    assert_eq!(Ok(&libzmq), env::var("YSUITE_LIBZMQ").as_ref(), "the libzmq of this program");
    let only = env::var("YSUITE_CASE").unwrap_or_default();
    let mut cases = Vec::new();
    for library in &libraries {
        for role in ROLES {
            for (bridge_binds, situation) in SITUATIONS.iter().flat_map(|&at| [(true, at), (false, at)]) {
                let case = Case { library, role, bridge_binds, situation };
                if format!("{case:?}").contains(&only) {
                    cases.push(case);
                }
            }
        }
    }
    let (next, table, failures) = (Mutex::new(cases.iter()), Mutex::new(Table::new()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let Some(case) = next.lock().expect("no panic").next() else { break };
                    let outcome = outcome(case);
                    let mut table = table.lock().expect("no panic");
                    let (well, of) = table.entry((case.library.name.clone(), case.situation)).or_default();
                    (*well, *of) = (*well + usize::from(outcome.is_ok()), *of + 1);
                    if let Err(why) = outcome {
                        failures.lock().expect("no panic").push(format!("{case:?}: {why}"));
                    }
                }
            });
        }
    });
    shown(&table.into_inner().expect("no panic"), &libzmq, &libraries);
    let failures = failures.into_inner().expect("no panic");
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), cases.len(), failures.join("\n"));
}
