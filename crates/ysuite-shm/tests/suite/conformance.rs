//! What every kind must do, written once: the claims of the suites that the channels between threads share, as far as
//! they are about a sender and a receiver of plain messages.

use std::collections::VecDeque;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use ysuite_shm::Error;

use crate::LONG;
use crate::kinds::{Bytes, CAPACITY, Careful, Kind, Pipe, Single, Stop};

/// A sender and its receiver, in one process.
fn channel<K: Kind>() -> (K::Sender, K::Receiver) {
    let (place, receiver) = K::hosted();
    (K::sender(place).unwrap(), receiver)
}

/// Messages from `from` on, until there is no room; how many have been sent in all.
fn fill<K: Kind>(sender: &mut K::Sender, from: u64) -> u64 {
    (from..).find(|message| !K::try_send(sender, *message)).expect("a bound")
}

fn received_until_end<K: Kind>(receiver: &mut K::Receiver, from: u64) -> (u64, Error) {
    let mut next = from;
    loop {
        match K::recv(receiver, LONG) {
            Ok(message) => assert_eq!(message, next, "in order, each once"),
            Err(Stop::Ended(error)) => return (next, error),
            Err(Stop::Time) => panic!("it hangs"),
        }
        next += 1;
    }
}

/// Claim: Messages arrive in order, each once, whichever side waits.
fn order<K: Kind>() {
    let (mut sender, mut receiver) = channel::<K>();
    let receiving = thread::spawn(move || received_until_end::<K>(&mut receiver, 0));
    for message in 0..10_000 {
        K::set_spin(&mut sender, [0, 3, 100][message as usize % 3]);
        K::send(&mut sender, message, LONG).unwrap();
    }
    drop(sender);
    assert_eq!(receiving.join().unwrap(), (10_000, Error::Closed));
}

fn bound<K: Kind>(room: Option<usize>) {
    let (mut sender, mut receiver) = channel::<K>();
    let (mut sent, mut received) = (0, 0);
    for round in 0..200 {
        sent = fill::<K>(&mut sender, sent);
        assert!(room.is_none_or(|room| sent - received == room as u64), "{sent} {received}");
        assert!(sent > received);
        for _ in 0..=round % (sent - received) {
            assert_eq!(K::try_recv(&mut receiver), Ok(Some(received)));
            received += 1;
        }
    }
    while received < sent {
        assert_eq!(K::try_recv(&mut receiver), Ok(Some(received)));
        received += 1;
    }
    assert_eq!(K::try_recv(&mut receiver), Ok(None));
}

/// A random sequence of operations agrees with a queue of std.
fn model<K: Kind>() {
    let (mut sender, mut receiver) = channel::<K>();
    let (mut queue, mut next, mut seed) = (VecDeque::new(), 0, 11_u64);
    for _ in 0..20_000 {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        if seed >> 20 & 1 == 0 {
            if K::try_send(&mut sender, next) {
                queue.push_back(next);
                next += 1;
            } else {
                assert!(!queue.is_empty(), "no room in an empty channel");
            }
        } else {
            assert_eq!(K::try_recv(&mut receiver), Ok(queue.pop_front()));
        }
    }
}

fn time_limits<K: Kind>(has_receive_limit: bool) {
    let (mut sender, mut receiver) = channel::<K>();
    if has_receive_limit {
        assert_eq!(K::recv(&mut receiver, Duration::ZERO), Err(Stop::Time));
        assert_eq!(K::recv(&mut receiver, Duration::from_millis(3)), Err(Stop::Time));
    }
    let sent = fill::<K>(&mut sender, 0);
    assert_eq!(K::send(&mut sender, 1_000, Duration::ZERO), Err(Stop::Time));
    assert_eq!(K::send(&mut sender, 1_000, Duration::from_millis(3)), Err(Stop::Time));
    (0..sent).for_each(|message| assert_eq!(K::recv(&mut receiver, LONG), Ok(message)));
    assert_eq!(K::try_recv(&mut receiver), Ok(None));
    K::send(&mut sender, sent, Duration::MAX).unwrap();
    assert_eq!(K::recv(&mut receiver, Duration::MAX), Ok(sent));
}

/// The states in which a side is dropped: how much was received, and how much is there.
fn states<K: Kind>() -> Vec<(u64, u64)> {
    let (mut sender, _receiver) = channel::<K>();
    let full = fill::<K>(&mut sender, 0);
    (0..2 * full).flat_map(|received| [0, 1, full / 2].map(|there| (received, there))).chain([(0, full)]).collect()
}

fn in_state<K: Kind>(received: u64, there: u64) -> (K::Sender, K::Receiver) {
    let (mut sender, mut receiver) = channel::<K>();
    for message in 0..received {
        K::send(&mut sender, message, LONG).unwrap();
        assert_eq!(K::recv(&mut receiver, LONG), Ok(message));
    }
    (received..received + there).for_each(|message| K::send(&mut sender, message, LONG).unwrap());
    (sender, receiver)
}

/// Claim: In every state, what was sent before the sender was dropped is received, and then the end, for good.
fn sender_drops<K: Kind>() {
    for (received, there) in states::<K>() {
        let (sender, mut receiver) = in_state::<K>(received, there);
        drop(sender);
        assert_eq!(received_until_end::<K>(&mut receiver, received), (received + there, Error::Closed));
        assert_eq!(K::try_recv(&mut receiver), Err(Error::Closed));
        assert!(!K::arm_receiver(&mut receiver), "it will not be readable for more");
    }
}

/// Claim: In every state, what was not received before the receiver was dropped comes back to the sender, and nothing
/// else.
fn receiver_drops<K: Kind>() {
    for (received, there) in states::<K>() {
        let (mut sender, receiver) = in_state::<K>(received, there);
        drop(receiver);
        assert!(K::is_disconnected(&mut sender));
        assert_eq!(K::send(&mut sender, 0, LONG), Err(Stop::Ended(Error::Closed)));
        assert!(!K::arm(&mut sender, 0));
        assert!(K::unread(sender).unwrap().into_iter().eq(received..received + there), "{received} {there}");
    }
}

/// Claim: Who sleeps is woken by the end of the other side.
fn an_end_wakes<K: Kind>() {
    for round in 0..30 {
        let pause = Duration::from_micros(30 * round);
        let (mut sender, mut receiver) = channel::<K>();
        K::set_receiver_spin(&mut receiver, 0);
        K::send(&mut sender, 0, LONG).unwrap();
        let waiting = thread::spawn(move || received_until_end::<K>(&mut receiver, 0));
        thread::sleep(pause);
        drop(sender);
        assert_eq!(waiting.join().unwrap(), (1, Error::Closed));
        let (mut sender, mut receiver) = channel::<K>();
        K::set_spin(&mut sender, 0);
        K::send(&mut sender, 0, LONG).unwrap();
        assert_eq!(K::recv(&mut receiver, LONG), Ok(0));
        let sent = fill::<K>(&mut sender, 1);
        let waiting = thread::spawn(move || (K::send(&mut sender, sent, LONG), K::unread(sender)));
        thread::sleep(pause);
        drop(receiver);
        let (outcome, unread) = waiting.join().unwrap();
        assert_eq!(outcome, Err(Stop::Ended(Error::Closed)));
        assert!(unread.unwrap().into_iter().eq(1..sent));
    }
}

/// Claim: If the receiver is dropped while messages are sent, each is received or comes back, and none both.
fn drop_races_with_sending<K: Kind>() {
    for round in 0..50 {
        let (mut sender, mut receiver) = channel::<K>();
        let sending = thread::spawn(move || {
            let mut sent = 0;
            while K::send(&mut sender, sent, LONG).is_ok() {
                sent += 1;
            }
            (sent, K::unread(sender).unwrap())
        });
        for message in 0..round * 3 {
            assert_eq!(K::recv(&mut receiver, LONG), Ok(message));
        }
        drop(receiver);
        let (sent, unread) = sending.join().unwrap();
        assert!(unread.iter().copied().eq(round * 3..sent), "{unread:?} of {sent}");
    }
}

fn is_readable(descriptor: BorrowedFd<'_>, limit: Duration) -> bool {
    let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: i64::from(limit.subsec_nanos()) };
    poll(&mut [PollFd::from_borrowed_fd(descriptor, PollFlags::IN)], Some(&limit)).unwrap() == 1
}

/// An epoll that reports a descriptor by edges.
struct Edges(std::os::fd::OwnedFd);

impl Edges {
    fn of(descriptor: BorrowedFd<'_>) -> Self {
        let edges = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
        let data = epoll::EventData::new_u64(descriptor.as_raw_fd() as u64);
        epoll::add(&edges, descriptor, data, epoll::EventFlags::IN | epoll::EventFlags::ET).unwrap();
        Self(edges)
    }

    fn is_reported(&self, limit: Duration) -> bool {
        is_readable(self.0.as_fd(), limit) && {
            let mut events = [const { core::mem::MaybeUninit::uninit() }; 4];
            !epoll::wait(&self.0, &mut events, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap().0.is_empty()
        }
    }
}

/// Claim: A receiver that was armed and has found nothing becomes readable for the next message and for the end, by
/// level and by edge.
fn receiver_readiness<K: Kind>() {
    let (mut sender, mut receiver) = channel::<K>();
    let edges = Edges::of(receiver.as_fd());
    for message in 0..200 {
        while !K::arm_receiver(&mut receiver) {
            assert_eq!(K::try_recv(&mut receiver), Ok(None));
        }
        assert!(!is_readable(receiver.as_fd(), Duration::ZERO), "{message}");
        edges.is_reported(Duration::ZERO);
        K::send(&mut sender, message, LONG).unwrap();
        assert!(is_readable(receiver.as_fd(), LONG) && edges.is_reported(LONG));
        assert!(is_readable(receiver.as_fd(), Duration::ZERO), "as long as it is not armed again");
        // One that is there as well needs no other report.
        if message % 3 == 0 {
            assert!(!K::arm_receiver(&mut receiver));
        }
        assert_eq!(K::try_recv(&mut receiver), Ok(Some(message)));
    }
    while !K::arm_receiver(&mut receiver) {
        assert_eq!(K::try_recv(&mut receiver), Ok(None));
    }
    edges.is_reported(Duration::ZERO);
    drop(sender);
    assert!(is_readable(receiver.as_fd(), LONG) && edges.is_reported(LONG));
    assert_eq!(received_until_end::<K>(&mut receiver, 200), (200, Error::Closed));
}

/// Claim: A sender that was armed and has found no room becomes readable for room and for the end, by level and by edge.
fn sender_readiness<K: Kind>() {
    let (mut sender, mut receiver) = channel::<K>();
    K::send(&mut sender, 0, LONG).unwrap();
    assert_eq!(K::recv(&mut receiver, LONG), Ok(0));
    let edges = Edges::of(sender.as_fd());
    let (mut sent, mut received) = (1, 1);
    for _ in 0..200 {
        // As long as there is room, for whatever message, there is something to be done.
        while K::try_send(&mut sender, sent) {
            sent += 1;
        }
        while !K::arm(&mut sender, 0) {
            // A shorter message may still have room, and this one has not.
            if !K::try_send(&mut sender, sent) {
                break;
            }
            sent += 1;
        }
        assert!(!is_readable(sender.as_fd(), Duration::ZERO));
        edges.is_reported(Duration::ZERO);
        K::arm(&mut sender, 0);
        assert_eq!(K::try_recv(&mut receiver), Ok(Some(received)));
        received += 1;
        assert!(is_readable(sender.as_fd(), LONG) && edges.is_reported(LONG));
    }
    sent = fill::<K>(&mut sender, sent);
    K::arm(&mut sender, 0);
    edges.is_reported(Duration::ZERO);
    drop(receiver);
    assert!(is_readable(sender.as_fd(), LONG) && edges.is_reported(LONG));
    assert!(K::unread(sender).unwrap().into_iter().eq(received..sent));
}

macro_rules! conformance {
    ($($module:ident: $kind:ty, $room:expr, $has_receive_limit:expr;)+) => {
        $(
            mod $module {
                use super::*;

                conformance!(@ $kind: order, model, sender_drops, receiver_drops, an_end_wakes, drop_races_with_sending,
                    receiver_readiness, sender_readiness);

                /// Claim: A bound is exact: as many messages as said have room, wherever the ring begins, and one more for each that is
                /// received.
                #[test]
                fn bound() {
                    super::bound::<$kind>($room);
                }

                /// Claim: A time limit ends a wait without a message, and sends nothing.
                #[test]
                fn time_limits() {
                    super::time_limits::<$kind>($has_receive_limit);
                }
            }
        )+
    };
    (@ $kind:ty: $($test:ident),+) => {
        $(
            #[test]
            fn $test() {
                super::$test::<$kind>();
            }
        )+
    };
}

conformance! {
    pipe: Pipe, Some(CAPACITY), true;
    careful: Careful, Some(CAPACITY), true;
    bytes: Bytes, None, true;
    funnel: Single, Some(CAPACITY), false;
}
