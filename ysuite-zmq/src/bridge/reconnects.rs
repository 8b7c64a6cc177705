//! [`Reconnects`]: connects anew where libzmq has given an address up. It does so after any mistake of the other side in speaking: a
//! handshake with another security, a key that is refused, a frame that is too large. It tries again, and says so at once, after all
//! else that ends a connection: so an address of which nothing is said behind an end has been given up.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::{Duration, Instant};

use crate::event::Event;
use crate::socket::Socket;

/// Without a word for so long libzmq does not try again. Were it only slow, what is begun anew would take the place of its try.
const SILENCE: Duration = Duration::from_secs(1);

pub(super) struct Reconnects {
    addresses: Vec<Address>,
    /// Others connect as well: not every address that events have is one of those here.
    is_bound: bool,
}

struct Address {
    /// As the user spells it.
    name: String,
    /// Connected to it so often.
    times: usize,
    /// A connection has ended, and nothing has been said since: when it is to be begun anew.
    due: Option<Instant>,
}

impl Reconnects {
    pub(super) fn new(connects: &[String], is_bound: bool) -> Self {
        let mut addresses: Vec<Address> = Vec::new();
        for name in connects {
            match addresses.iter_mut().find(|address| address.name == *name) {
                Some(address) => address.times += 1,
                None => addresses.push(Address { name: name.clone(), times: 1, due: None }),
            }
        }
        Self { addresses, is_bound }
    }

    /// What has happened to a connection.
    pub(super) fn notice(&mut self, event: &Event) {
        let (spelled, due) = match event {
            Event::Disconnected(spelled) => (spelled, Some(Instant::now() + SILENCE)),
            Event::Retrying(spelled) | Event::Connected(spelled) => (spelled, None),
            _ => return,
        };
        if due.is_none() && self.next().is_none() {
            return;
        }
        if let Some(at) = self.find(spelled) {
            self.addresses[at].due = due;
        }
    }

    /// When the next is to be begun anew.
    pub(super) fn next(&self) -> Option<Instant> {
        self.addresses.iter().filter_map(|address| address.due).min()
    }

    /// Begins those anew for which it is time.
    pub(super) fn tend(&mut self, socket: &Socket) {
        let Some(next) = self.next() else { return };
        if Instant::now() < next {
            return;
        }
        // All that are silent, and the old ones first: libzmq knows by its place in memory what it is to end, and what is begun may
        // be where another was that has ended.
        let silent = || self.addresses.iter().filter(|address| address.due.is_some());
        silent().for_each(|address| drop(socket.disconnect(&address.name)));
        let later = Instant::now() + SILENCE;
        for address in self.addresses.iter_mut().filter(|address| address.due.is_some()) {
            let begun = (0..address.times).try_for_each(|_| socket.connect(&address.name));
            address.due = begun.is_err().then_some(later);
        }
    }

    /// Which of them libzmq spells so: as the user does, or with the number of the host in place of its name.
    fn find(&self, spelled: &str) -> Option<usize> {
        let same = self.addresses.iter().position(|address| address.name == spelled);
        if same.is_some() || (self.addresses.len() == 1 && !self.is_bound) {
            return same.or(Some(0));
        }
        let found: SocketAddr = spelled.strip_prefix("tcp://")?.parse().ok()?;
        self.addresses.iter().position(|address| address.leads_to(found))
    }
}

impl Address {
    fn leads_to(&self, found: SocketAddr) -> bool {
        let Some(name) = self.name.strip_prefix("tcp://") else { return false };
        // The end from which it is to come stands before a semicolon.
        let host = name.rsplit_once(';').map_or(name, |(_, there)| there);
        // Names are asked for only where the port is the same.
        let is_port = host.rsplit_once(':').is_some_and(|(_, port)| port == found.port().to_string());
        let is_host = |there: SocketAddr| there.ip().to_canonical() == found.ip().to_canonical();
        is_port && host.to_socket_addrs().is_ok_and(|mut known| known.any(is_host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(reconnects: &Reconnects) -> Vec<bool> {
        reconnects.addresses.iter().map(|address| address.due.is_some()).collect()
    }

    #[test]
    fn an_address_is_silent_from_an_end_to_the_next_word() {
        let names = ["tcp://127.0.0.1:1", "tcp://localhost:2", "ipc:///there", "tcp://127.0.0.9:2"].map(String::from);
        for is_bound in [false, true] {
            let mut reconnects = Reconnects::new(&names, is_bound);
            reconnects.notice(&Event::Disconnected("tcp://127.0.0.1:2".to_owned()));
            reconnects.notice(&Event::Disconnected("tcp://127.0.0.1:3".to_owned()));
            assert_eq!(due(&reconnects), [false, true, false, false]);
            reconnects.notice(&Event::Disconnected("ipc:///there".to_owned()));
            reconnects.notice(&Event::Retrying("tcp://localhost:2".to_owned()));
            assert_eq!(due(&reconnects), [false, false, true, false]);
        }
    }

    #[test]
    fn the_only_address_is_meant_however_it_is_spelled() {
        let twice = ["tcp://somewhere:1", "tcp://somewhere:1"].map(String::from);
        let mut reconnects = Reconnects::new(&twice, false);
        reconnects.notice(&Event::Disconnected("tcp://10.0.0.1:1".to_owned()));
        assert_eq!((due(&reconnects), reconnects.addresses[0].times), (vec![true], 2));
        // Not where others connect to another address.
        let mut reconnects = Reconnects::new(&twice, true);
        reconnects.notice(&Event::Disconnected("tcp://10.0.0.1:2".to_owned()));
        assert_eq!(due(&reconnects), [false]);
    }
}
