//! [`Reconnect`]: connects again where libzmq does not.
//!
//! libzmq tries again after a connection that has ended, but not after a mistake of the other side: a key that is refused,
//! another security, another protocol, a frame that is too large (`protocol_error` in its `session_base.cpp`). It gives
//! the address up then, and says nothing of that. What it says of one that it does not give up is that it tries again. So
//! where that word does not come for a while the address is connected anew: after half a second, then
//! after twice the time, up to 5 seconds, and again after half a second once a connection has lasted for longer than that.
//! Where the program asks libzmq for longer times, after those.
//!
//! The bridge's thread alone has it. Nothing here waits, except for the system's resolver: where several addresses have
//! the same port, and libzmq spells one of them as a number, their names are resolved, as libzmq has just done.

use std::collections::HashMap;
use std::net::{IpAddr, ToSocketAddrs};
use std::time::{Duration, Instant};

use crate::ffi::Kind;
use crate::monitor::Turn;
use crate::names::is_inproc;
use crate::socket::Socket;

/// By default: libzmq's first pause before it tries again, and its longest.
pub(super) const BY_LIBZMQ: (Duration, Duration) = (Duration::from_millis(100), LAST);

/// By default: the shortest time without a word of libzmq's, and the longest.
const FIRST: Duration = Duration::from_millis(500);
const LAST: Duration = Duration::from_secs(5);

pub(super) struct Reconnect {
    first: Duration,
    last: Duration,
    addresses: Vec<Address>,
    /// As libzmq has spelled them.
    spelled: HashMap<String, usize>,
}

struct Address {
    text: String,
    /// Over IPv6, or over IPv4.
    is_v6: bool,
    /// The number of times that it was given, which is the number of connections.
    times: usize,
    /// When it is connected anew, unless libzmq does.
    due: Option<Instant>,
    /// After so long the next time.
    after: Duration,
    /// When that was last begun to be waited for.
    since: Option<Instant>,
}

impl Reconnect {
    /// Where libzmq itself waits for so long, at first and at most.
    pub(super) fn after((first, last): (Duration, Duration)) -> Self {
        let first = first.max(FIRST);
        Self { first, last: last.max(first), addresses: Vec::new(), spelled: HashMap::new() }
    }

    /// The socket has connected to this address.
    pub(super) fn add(&mut self, address: &str, is_v6: bool) {
        if is_inproc(address) {
            return;
        }
        match self.addresses.iter_mut().find(|other| other.text == address) {
            Some(other) => other.times += 1,
            None => {
                let text = address.to_owned();
                self.addresses.push(Address { text, is_v6, times: 1, due: None, after: self.first, since: None });
            }
        }
    }

    pub(super) fn notice(&mut self, turn: &Turn, now: Instant) {
        match turn {
            Turn::Ended { address, is_ours } => {
                let Some(at) = self.find(address, *is_ours) else { return };
                let address = &mut self.addresses[at];
                if address.since.is_some_and(|since| now.saturating_duration_since(since) > address.after + self.last) {
                    address.after = self.first;
                }
                address.since = Some(now);
                address.due.get_or_insert(now + address.after);
            }
            Turn::Retried { address } => {
                if let Some(at) = self.find(address, true) {
                    self.addresses[at].due = None;
                }
            }
        }
    }

    /// Which of the addresses it is that libzmq spells so. It spells a name as the number that it has found for it.
    fn find(&mut self, spelled: &str, is_one: bool) -> Option<usize> {
        if let Some(at) = self.addresses.iter().position(|address| address.text == spelled) {
            return Some(at);
        }
        if let Some(&at) = self.spelled.get(spelled) {
            return Some(at);
        }
        let port = spelled.strip_prefix("tcp://")?.rsplit_once(':')?.1;
        let has_port = |address: &Address| host(&address.text).is_some_and(|(_, its)| its == port);
        let mut with_port = (0..self.addresses.len()).filter(|&at| has_port(&self.addresses[at]));
        let at = match (with_port.next()?, with_port.next()) {
            _ if !is_one => return None,
            (at, None) => at,
            _ => {
                let number = host(spelled)?.0.trim_matches(['[', ']']).parse().ok()?;
                let mut all = 0..self.addresses.len();
                all.find(|&at| has_port(&self.addresses[at]) && resolves(&self.addresses[at].text, number))?
            }
        };
        self.spelled.insert(spelled.to_owned(), at);
        Some(at)
    }

    /// Connects all addresses anew.
    pub(super) fn renew(&mut self, socket: &Socket) {
        let now = Instant::now();
        for address in &mut self.addresses {
            let _ = socket.disconnect(&address.text);
            let is_there = socket.connect_over(&address.text, address.is_v6).is_ok();
            address.due = (!is_there).then(|| now + address.after);
        }
    }

    /// When something is to be done.
    pub(super) fn next(&self) -> Option<Instant> {
        self.addresses.iter().filter_map(|address| address.due).min()
    }

    /// Connects one address again whose time has come. Returns which.
    pub(super) fn again(&mut self, socket: &Socket, now: Instant) -> Option<String> {
        let address = self.addresses.iter_mut().find(|address| address.due.is_some_and(|due| due <= now))?;
        address.due = None;
        address.after = (address.after * 2).min(self.last);
        // A SUB or DEALER connects to an address once: what it had given up has to be forgotten. Others need not forget it,
        // but would keep a little of it each time. Not where that would end other connections to the same address, or
        // lose frames that have come and were not read yet.
        let kind = socket.kind();
        let reads = kind == Kind::Pull && socket.ready().is_ok_and(|ready| ready.receive);
        if matches!(kind, Kind::Sub | Kind::Dealer) || (address.times == 1 && !reads) {
            let _ = socket.disconnect(&address.text);
        }
        if socket.connect_over(&address.text, address.is_v6).is_err() {
            // For want of descriptors or memory: there may be some later.
            address.due = Some(now + address.after);
        }
        Some(address.text.clone())
    }
}

/// Host and port of an address of tcp, without the address that it is to be connected from.
fn host(address: &str) -> Option<(&str, &str)> {
    let there = address.strip_prefix("tcp://")?;
    there.rsplit_once(';').map_or(there, |(_, there)| there).rsplit_once(':')
}

fn resolves(address: &str, number: IpAddr) -> bool {
    let Some((host, port)) = host(address) else { return false };
    let found = format!("{host}:{port}").to_socket_addrs();
    found.is_ok_and(|mut found| found.any(|found| found.ip() == number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(addresses: &[&str]) -> Reconnect {
        let mut reconnect = Reconnect::after(BY_LIBZMQ);
        addresses.iter().for_each(|address| reconnect.add(address, false));
        reconnect
    }

    fn ended(address: &str, is_ours: bool) -> Turn {
        Turn::Ended { address: address.to_owned(), is_ours }
    }

    #[test]
    fn what_libzmq_tries_again_is_left_to_it() {
        let mut reconnect = of(&["tcp://a:1", "tcp://b:2"]);
        let now = Instant::now();
        reconnect.notice(&ended("tcp://a:1", true), now);
        reconnect.notice(&ended("tcp://b:2", true), now);
        reconnect.notice(&Turn::Retried { address: "tcp://10.0.0.1:1".to_owned() }, now);
        assert_eq!(reconnect.addresses[0].due, None);
        assert_eq!(reconnect.next(), Some(now + FIRST));
        reconnect.notice(&Turn::Retried { address: "tcp://b:2".to_owned() }, now);
        assert_eq!(reconnect.next(), None);
    }

    #[test]
    fn a_number_is_the_name_that_has_it() {
        let mut reconnect =
            of(&["tcp://10.9.8.7:1", "tcp://127.0.0.1:1", "tcp://[::1]:2", "tcp://1.2.3.4:0;10.1.1.1:3"]);
        assert_eq!(reconnect.find("tcp://127.0.0.1:1", true), Some(1));
        assert_eq!(reconnect.find("tcp://[0::1]:2", true), Some(2));
        assert_eq!(reconnect.find("tcp://10.1.1.1:3", true), Some(3));
        assert_eq!(reconnect.find("tcp://10.1.1.1:4", true), None);
        // One that others have made, at a port of this machine that is the same.
        assert_eq!(reconnect.find("tcp://127.0.0.2:2", false), None);
        let mut names = of(&["tcp://10.9.8.7:1", "tcp://localhost:1"]);
        assert_eq!(names.find("tcp://127.0.0.1:1", true), Some(1));
        assert_eq!(names.find("tcp://127.0.0.9:1", true), None);
    }

    /// In ever longer times, up to a bound; once it has gone well for a while, in the shortest again.
    #[test]
    fn it_is_tried_less_often_while_it_fails() {
        let context = crate::context::Context::of_the_process().unwrap();
        let socket = Socket::new(&context, Kind::Push).unwrap();
        let there = "tcp://127.0.0.1:1";
        let mut reconnect = of(&[there]);
        let mut now = Instant::now();
        for after in [500, 1_000, 2_000, 4_000, 5_000, 5_000].map(Duration::from_millis) {
            reconnect.notice(&ended(there, true), now);
            assert_eq!(reconnect.next(), Some(now + after));
            assert_eq!(reconnect.again(&socket, now), None);
            now += after;
            assert_eq!(reconnect.again(&socket, now).as_deref(), Some(there));
            assert_eq!(reconnect.next(), None);
        }
        now += LAST + LAST;
        reconnect.notice(&ended(there, true), now);
        assert_eq!(reconnect.next(), Some(now + FIRST));
    }
}
