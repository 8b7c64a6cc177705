//! [`Event`]: what happens to a bridge and its connections, as messages of a channel.

use core::cell::Cell;

use ysuite::mpmc;

use crate::error::Failure;
use crate::wire::Malformed;

/// Something that has happened to a bridge or a connection. Addresses are spelled as libzmq spells them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Others can connect to this address; its port is the one that the system chose, where that was left to it.
    Listening(String),
    /// A connection is established, and the handshake has succeeded. For `inproc` only the connecting side gets this
    /// event.
    Connected(String),
    /// A connection has ended, or was never established. The connecting side tries again.
    Disconnected(String),
    /// There is no answer at this address, or its host, which was found before, is not found any more, or a connection
    /// has ended; the bridge tries again by itself. After a mistake of the other side, such as a key that is refused or
    /// another security, it tries now.
    Retrying(String),
    /// The host in this address is not known to the system's resolver, or that does not answer; the bridge tries again
    /// by itself.
    Unresolved(String),
    /// A connection could not be accepted, for want of descriptors most often. libzmq tries again at once, and without
    /// end. The first, second, fourth time and so on are reported, until a connection is established.
    NotAccepted {
        /// Where.
        address: String,
        /// How often that was by now, since a connection was last established, at any address of the bridge.
        times: u64,
    },
    /// The other side did not speak as it must: another program, another security, or none at all.
    HandshakeFailed(String),
    /// The other side's key or password is not among those that are allowed, or ours not among theirs. The connecting
    /// side tries again after 0.5 to 5 seconds: it may be [allowed](crate::Started::admit_keys) by then.
    Refused(String),
    /// A frame that is none of ours; it is dropped, and the bridge lives on.
    Malformed(Malformed),
    /// This many messages were in transit when a connection ended, or the other side did: none of them will arrive, or
    /// no peer is left to acknowledge them. For a duplex without [`at_least_once`](crate::Duplex::at_least_once).
    ///
    /// That is what is known at that moment. If another bridge takes the place of the other side's, and that one comes
    /// back, it may still acknowledge what it had: [`Closed`](crate::Closed) counts it as received then. It cannot
    /// distinguish what was lost in transit from what was sent to the other meanwhile, and reports both.
    Lost {
        /// Of those that were sent, or came, over this bridge.
        messages: u64,
    },
    /// A third wanted to take part in a duplex. It is not heard until the second is gone.
    Ignored,
    /// Another bridge has taken the place of the other side of a duplex, which is gone.
    Replaced,
    /// libzmq failed unexpectedly, or the bridge's thread panicked in a message's code, when it was written, read or
    /// dropped. The bridge has ended, and the channels are disconnected within about a second.
    Broken(Failure),
}

/// The number of events that wait to be read; beyond it the oldest are dropped.
const KEPT: usize = 1_024;

/// While this many events wait, none that a stranger can cause without end is reported.
const NOISE: usize = KEPT / 2;

impl Event {
    /// Whether any peer that reaches the address can cause any number of them, each with little information.
    fn is_noise(&self) -> bool {
        matches!(self, Self::Malformed(_) | Self::HandshakeFailed(_) | Self::Refused(_))
    }

    /// Whether it is reported once, or has unique information: connections come and go, and are reported again.
    fn is_kept(&self) -> bool {
        matches!(self, Self::Listening(_) | Self::Lost { .. } | Self::Ignored | Self::Replaced | Self::Broken(_))
    }
}

/// The bridge's sender of its events.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    events: mpmc::Sender<Event>,
    /// Connections that were not accepted since one was.
    not_accepted: Cell<u64>,
}

impl Told {
    /// Never waits for a reader: without one, the oldest events are dropped, those that are worth least before others.
    pub(crate) fn tell(&self, mut event: Event) {
        match &mut event {
            Event::NotAccepted { times, .. } => {
                *times = self.not_accepted.get().saturating_add(1);
                self.not_accepted.set(*times);
                if !times.is_power_of_two() {
                    return;
                }
            }
            Event::Connected(_) => self.not_accepted.set(0),
            _ => {}
        }
        if event.is_noise() && self.events.len() >= NOISE {
            return;
        }
        // A kept event goes after the others, also after kept ones that came later. If all waiting events are kept
        // ones, the oldest is finally dropped.
        for _ in 0..KEPT {
            match self.events.force_send(event) {
                Ok(Some(oldest)) if oldest.is_kept() => event = oldest,
                _ => return,
            }
        }
    }
}

pub(crate) fn channel() -> (Told, mpmc::Receiver<Event>) {
    let (events, receiver) = mpmc::bounded(KEPT);
    (Told { events, not_accepted: Cell::new(0) }, receiver)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(receiver: &mpmc::Receiver<Event>) -> Vec<Event> {
        receiver.try_iter().collect()
    }

    fn connected(number: usize) -> Event {
        Event::Connected(number.to_string())
    }

    #[test]
    fn what_is_not_accepted_is_reported_ever_more_rarely() {
        let (told, events) = channel();
        let event = || Event::NotAccepted { address: "here".to_owned(), times: 1 };
        let flood = || (0..100_000).for_each(|_| told.tell(event()));
        let times = |events: Vec<Event>| {
            let times = events.into_iter().map(|event| match event {
                Event::NotAccepted { times, .. } => times,
                other => panic!("{other:?}"),
            });
            times.collect::<Vec<_>>()
        };
        flood();
        let doubled: Vec<u64> = (0..17).map(|power| 1 << power).collect();
        assert_eq!(times(all(&events)), doubled);
        told.tell(connected(0));
        assert_eq!(all(&events), [connected(0)]);
        flood();
        assert_eq!(times(all(&events)), doubled);
    }

    #[test]
    fn what_strangers_can_make_takes_half_of_the_room() {
        let here = || "here".to_owned();
        for noise in [Event::Malformed(Malformed::Content), Event::HandshakeFailed(here()), Event::Refused(here())] {
            let (told, events) = channel();
            told.tell(Event::Listening(here()));
            (0..10 * KEPT).for_each(|_| told.tell(noise.clone()));
            (0..NOISE).for_each(|number| told.tell(connected(number)));
            let told: Vec<_> = all(&events);
            assert_eq!(told[0], Event::Listening(here()));
            assert!(told[1..NOISE].iter().all(|event| *event == noise));
            assert_eq!(told[NOISE..], (0..NOISE).map(connected).collect::<Vec<_>>());
        }
    }

    /// For any number of connections that come and go while no thread reads, and any order of the important events
    /// between them.
    #[test]
    fn what_is_reported_once_is_not_pushed_out() {
        let (told, events) = channel();
        let counts = [
            Event::Listening("here".to_owned()),
            Event::Lost { messages: 7 },
            Event::Replaced,
            Event::Ignored,
            Event::Broken(Failure::panicked()),
        ];
        for (number, event) in counts.iter().enumerate() {
            told.tell(event.clone());
            (0..300).for_each(|more| told.tell(connected(300 * number + more)));
        }
        (0..10 * KEPT).for_each(|number| told.tell(connected(number)));
        let told = all(&events);
        assert_eq!(told.len(), KEPT);
        assert_eq!(told.iter().filter(|event| event.is_kept()).count(), counts.len());
        assert!(counts.iter().all(|event| told.contains(event)), "each of them once");
        assert_eq!(told.iter().rfind(|event| !event.is_kept()), Some(&connected(10 * KEPT - 1)));
    }

    #[test]
    fn where_all_counts_the_oldest_gives_way() {
        let (told, events) = channel();
        (0..KEPT as u64 + 10).for_each(|messages| told.tell(Event::Lost { messages }));
        assert_eq!(all(&events).len(), KEPT);
    }
}
