//! [`Names`]: hosts that must be resolved before libzmq connects to them. libzmq asks for IPv4 addresses or for IPv6
//! ones, as configured before, and reports an unknown name like a port without a listener. While it asks, all of its
//! bridges wait.
//!
//! One thread for a bridge, from its start until every name is found or the bridge ends; where all are IP addresses, none. Each lookup is
//! a call of the system's resolver, which blocks that thread for as long as the resolver likes. When libzmq reconnects
//! later it resolves the host itself, as configured the first time.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::thread;
use std::time::{Duration, Instant};

use ysuite::RecvTimeoutError;
use ysuite::{mpsc, spsc};

use super::engine::Order;
use crate::error::Error;

/// Asks the resolver whether only IPv6 addresses belong to a name.
pub(super) type Lookup = fn(&str, u16) -> io::Result<bool>;

/// The time for which the start of a bridge waits for its names.
const FIRST: Duration = Duration::from_secs(1);

/// Before the second try, and before the last of all: the pauses between double.
const SOON: Duration = Duration::from_millis(100);
const LATE: Duration = Duration::from_secs(5);

/// A name that was found, and whether only IPv6 addresses belong to it.
pub(super) type Found = (Name, bool);

/// A host to connect to.
#[derive(Clone, Debug)]
pub(super) struct Name {
    /// The whole address.
    pub(super) address: String,
    host: String,
    port: u16,
}

impl Name {
    pub(super) fn new(address: &str, host: &str, port: u16) -> Self {
        Self { address: address.to_owned(), host: host.to_owned(), port }
    }
}

/// Resolves names until it is dropped.
#[derive(Debug)]
pub(super) struct Names(#[expect(dead_code, reason = "its drop is the notification")] spsc::Sender<()>);

/// By the system's resolver.
pub(super) fn of_the_system(host: &str, port: u16) -> io::Result<bool> {
    is_v6_only((host, port).to_socket_addrs()?)
}

/// An IPv4 address is what libzmq has always connected to where there is one.
fn is_v6_only(addresses: impl Iterator<Item = SocketAddr>) -> io::Result<bool> {
    let mut families = addresses.map(|address| address.is_ipv6()).peekable();
    if families.peek().is_none() {
        return Err(io::ErrorKind::NotFound.into());
    }
    Ok(families.all(|is_v6| is_v6))
}

impl Names {
    /// Returns those that were found at once. The others are resolved again and again, and each result is an order.
    pub(super) fn look_up(
        names: Vec<Name>,
        lookup: Lookup,
        orders: mpsc::WeakSender<Order>,
    ) -> Result<(Option<Self>, Vec<Found>), Error> {
        if names.is_empty() {
            return Ok((None, Vec::new()));
        }
        let (guard, ended) = spsc::bounded(1);
        let (sender, mut first) = spsc::bounded(names.len());
        let count = names.len();
        let run = move || look_up(names, lookup, sender, ended, &orders);
        thread::Builder::new().name("ysuite-zmq names".to_owned()).spawn(run)?;
        let (mut found, until) = (Vec::new(), Instant::now() + FIRST);
        let mut answers = 0;
        while answers < count {
            match first.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(answer) => {
                    answers += 1;
                    found.extend(answer);
                }
                Err(_) => break,
            }
        }
        // What has been resolved by now has been reported, and nothing more will be.
        first.close();
        found.extend(first.try_iter().flatten());
        Ok((Some(Self(guard)), found))
    }
}

fn look_up(
    names: Vec<Name>,
    lookup: Lookup,
    mut first: spsc::Sender<Option<Found>>,
    mut ended: spsc::Receiver<()>,
    orders: &mpsc::WeakSender<Order>,
) {
    let mut missing = Vec::new();
    for name in names {
        match lookup(&name.host, name.port) {
            Ok(is_v6) => match first.try_send(Some((name, is_v6))) {
                Ok(()) => {}
                Err(back) => missing.extend(back.into_inner().map(|(name, _)| name)),
            },
            Err(_) => {
                let _ = first.try_send(None);
                missing.push(name);
            }
        }
    }
    drop(first);
    let order = |order| orders.upgrade().is_some_and(|mut orders| orders.send(order).is_ok());
    let mut pause = SOON;
    while !missing.is_empty() {
        let mut all = core::mem::take(&mut missing).into_iter();
        let is_heard = all.all(|name| match lookup(&name.host, name.port) {
            Ok(is_v6) => order(Order::Connect(name, is_v6)),
            Err(_) => {
                let told = order(Order::Unresolved(name.address.clone()));
                missing.push(name);
                told
            }
        });
        if !is_heard || ended.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        pause = (pause * 2).min(LATE);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::event::Event;
    use crate::{Bridge, Pull};

    const GUARD: Duration = Duration::from_secs(60);

    #[test]
    fn a_name_with_an_ipv4_address_is_one_of_those() {
        let of = |addresses: &[&str]| is_v6_only(addresses.iter().map(|address| address.parse().expect("an address")));
        assert!(of(&["[::1]:1", "[::2]:1"]).is_ok_and(|only| only));
        assert!(of(&["[::1]:1", "127.0.0.1:1"]).is_ok_and(|only| !only));
        assert!(of(&["127.0.0.1:1"]).is_ok_and(|only| !only));
        assert!(of(&[]).is_err());
    }

    /// It connects once the resolver knows the name, and says until then that it does not.
    #[test]
    fn a_name_that_is_found_later_is_connected_to() {
        static TRIES: AtomicUsize = AtomicUsize::new(0);
        fn third_time(_: &str, _: u16) -> io::Result<bool> {
            // ORDERING: Relaxed: one thread counts.
            if TRIES.fetch_add(1, Ordering::Relaxed) < 2 { Err(io::ErrorKind::NotFound.into()) } else { Ok(false) }
        }
        let (mut jobs, out) = spsc::bounded::<u64>(4);
        let push = Bridge::push(out).bind("tcp://127.0.0.1:*").start().expect("a bridge");
        let address = push.addresses()[0].replace("127.0.0.1", "localhost");
        let pull: Pull<u64> = Bridge::pull().connect(&*address);
        let (pull, mut work) = pull.looked_up(third_time).start().expect("a bridge");
        assert_eq!(pull.events().recv_timeout(GUARD), Ok(Event::Unresolved(address)));
        jobs.send(7).expect("the bridge receives");
        assert_eq!(work.recv_timeout(GUARD), Ok(7));
        assert!(!pull.events().try_iter().any(|event| matches!(event, Event::Unresolved(_))));
    }

    /// The start does not wait for a resolver that does not answer, nor for one to end.
    #[test]
    fn a_resolver_that_is_slow_is_not_waited_for() {
        static ASKED: AtomicUsize = AtomicUsize::new(0);
        fn slow(_: &str, _: u16) -> io::Result<bool> {
            // ORDERING: Relaxed: a number for its own sake.
            if ASKED.fetch_add(1, Ordering::Relaxed) == 0 {
                thread::sleep(FIRST * 2);
            }
            Ok(false)
        }
        let (mut jobs, out) = spsc::bounded::<u64>(4);
        let push = Bridge::push(out).bind("tcp://127.0.0.1:*").start().expect("a bridge");
        let address = push.addresses()[0].replace("127.0.0.1", "localhost");
        let pull: Pull<u64> = Bridge::pull().connect(address);
        let (_pull, mut work) = pull.looked_up(slow).start().expect("a bridge");
        // ORDERING: as above: it has not come back from the first.
        assert_eq!(ASKED.load(Ordering::Relaxed), 1);
        jobs.send(7).expect("the bridge receives");
        assert_eq!(work.recv_timeout(GUARD), Ok(7));
    }
}
