//! Bridges that receive: the peer pushes, or publishes on two topics.

use std::time::Duration;

use ysuite::spsc;
use ysuite_zmq::{Bridge, Published, Started};

use super::peer::Peer;
use super::sending::parts;
use super::{ALL, At, Case, FIRST, LATER, Peers, Role, Situation, at};
use crate::support::GUARD;

enum In {
    Pull(spsc::Receiver<Vec<Vec<u8>>>),
    Subscribe(spsc::Receiver<Published<String>>),
}

impl In {
    fn open(role: Role, at: &At) -> (Started, Self) {
        if role == Role::Push {
            let (bridge, receiver) = at!(Bridge::pull::<Vec<Vec<u8>>>(), at).bounded(16).start().expect("a bridge");
            (bridge, Self::Pull(receiver))
        } else {
            let subscribe = at!(Bridge::subscribe::<Published<String>>(), at).topic("b");
            let (bridge, receiver) = subscribe.bounded(16).start().expect("a bridge");
            (bridge, Self::Subscribe(receiver))
        }
    }

    /// The text of the next message, which has come as it should.
    fn text(&mut self, time: Duration) -> Option<String> {
        match self {
            Self::Pull(receiver) => {
                let message = receiver.recv_timeout(time).ok()?;
                let text = String::from_utf8(message[0].clone()).expect("a text");
                let expected = parts(text.parse().expect("a number"));
                assert_eq!(
                    (message.len(), message.get(1).map_or(&b"more"[..], Vec::as_slice)),
                    (expected, &b"more"[..])
                );
                Some(text)
            }
            Self::Subscribe(receiver) => {
                let Published { topic, message } = receiver.recv_timeout(time).ok()?;
                assert_eq!(topic.as_str(), Some("b"));
                Some(message)
            }
        }
    }

    /// The next number. A publisher that is heard is told so.
    fn next(&mut self, peer: &mut Peer, time: Duration) -> Option<u64> {
        loop {
            let text = self.text(time)?;
            match text.strip_prefix("hello ") {
                Some(first) => peer.is_heard(first),
                None => return Some(text.parse().expect("a number")),
            }
        }
    }

    fn numbers(&mut self, peer: &mut Peer, count: usize) -> Vec<u64> {
        (0..count).map(|_| self.next(peer, GUARD).expect("a message")).collect()
    }
}

pub(crate) fn run(case: &Case) {
    let at = case.at();
    let (bridge, mut received) = In::open(case.role, &at);
    let peers = Peers::of(case, &at, &bridge);
    if case.situation == Situation::Wrong {
        peers.wrong(&bridge);
        assert_eq!(received.text(Duration::ZERO), None);
    }
    let mut peer = peers.start(0);
    match case.situation {
        Situation::Well | Situation::Wrong => {
            assert!(received.numbers(&mut peer, ALL as usize).into_iter().eq(0..ALL), "all in order");
        }
        Situation::Killed => {
            let mut had = received.numbers(&mut peer, FIRST);
            assert_eq!(peer.kill(), [""; 0]);
            peer = peers.start(LATER);
            while had.last() < Some(&(LATER + ALL - 1)) {
                had.extend(received.numbers(&mut peer, 1));
            }
            // What had come of the first may be read between what the second sends.
            let (first, second): (Vec<_>, Vec<_>) = had.into_iter().partition(|&number| number < LATER);
            assert!(first.iter().copied().eq(0..first.len() as u64), "in order, once: {first:?}");
            assert!(second.into_iter().eq(LATER..LATER + ALL), "all of the second");
        }
        Situation::Stopped => {
            let mut had = received.numbers(&mut peer, FIRST);
            peer.stop();
            had.extend(core::iter::from_fn(|| received.next(&mut peer, Duration::from_millis(20))));
            peer.go_on();
            had.extend(received.numbers(&mut peer, ALL as usize - had.len()));
            assert!(had.into_iter().eq(0..ALL), "all in order");
        }
    }
    assert_eq!(peer.rest(), [""; 0]);
    assert_eq!(bridge.statistics().malformed, 0);
}
