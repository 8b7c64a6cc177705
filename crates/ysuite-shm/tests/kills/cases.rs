//! The cases: each is tried with a point at which a process is killed, and written once for all kinds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ysuite_shm::{Error, Listener};

use crate::kinds::{Kind, Place, Stop, join};
use crate::process::{Child, Point, Reached, Shared, here};

/// Not a guard: a wait with a limit polls once more when it ends, and would find what nobody had woken it for.
const LONG: Duration = Duration::MAX;
/// Messages over the border of a group, of which each has seven, and more than have room.
pub(crate) const MESSAGES: u64 = 10;

/// What one attempt has come to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub(crate) reached: Reached,
    pub(crate) lost: u64,
    pub(crate) doubled: u64,
}

/// The peer of the process that is killed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    Sleeps,
    Spins,
    /// So slow that the process which is killed waits for it itself.
    IsLate,
}

impl Peer {
    pub(crate) const ALL: [(Self, &'static str); 3] =
        [(Self::Sleeps, "sleeps"), (Self::Spins, "spins"), (Self::IsLate, "is late")];

    fn spin(self) -> u32 {
        if self == Self::Spins { u32::MAX } else { 0 }
    }
}

/// Where the process is killed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Hello,
    Messages(Peer),
    Drop,
}

impl Part {
    /// The last of a process: it drops its end where this is its part, and otherwise never does.
    pub(crate) fn leave<E>(self, end: E) {
        if self == Self::Drop {
            here();
            drop(end);
        } else {
            core::mem::forget(end);
        }
        here();
    }
}

/// What a receiver has received until the end.
#[derive(Default)]
struct Received {
    messages: u64,
    lost: u64,
    doubled: u64,
    error: Option<Error>,
}

/// Receives until the end, in another thread.
fn receiving<K: Kind>(mut receiver: K::Receiver, spin: u32) -> thread::JoinHandle<Received> {
    thread::spawn(move || {
        K::set_receiver_spin(&mut receiver, spin);
        let mut all = Received::default();
        loop {
            match K::recv(&mut receiver, LONG) {
                Ok(message) if message < all.messages => all.doubled += 1,
                Ok(message) => {
                    all.lost += message - all.messages;
                    all.messages = message + 1;
                }
                Err(Stop::Ended(error)) => return Received { error: Some(error), ..all },
                Err(Stop::Time) => panic!("slept through a message or a death, behind {} messages", all.messages),
            }
        }
    })
}

fn sender_of_part<K: Kind>(place: Place, part: Part, sent: &Shared) {
    if part == Part::Hello {
        here();
    }
    let mut sender = K::sender(place).unwrap();
    K::set_spin(&mut sender, 0);
    let mut next = 0;
    // A receiver that is late begins when there is no room.
    while part == Part::Messages(Peer::IsLate) && K::try_send(&mut sender, next) {
        next += 1;
        sent.set(next);
    }
    if matches!(part, Part::Messages(_)) {
        here();
    }
    for message in next..next + MESSAGES {
        K::send(&mut sender, message, LONG).unwrap();
        sent.set(message + 1);
    }
    part.leave(sender);
}

pub(crate) fn sender_dies<K: Kind>(part: Part, point: Point) -> Outcome {
    let sent = Shared::new();
    let (place, receiver) = K::hosted();
    let child = Child::traced(|| sender_of_part::<K>(place, part, &sent));
    let spin = if let Part::Messages(peer) = part { peer.spin() } else { 0 };
    let is_late = part == Part::Messages(Peer::IsLate);
    let (child, reader) = if is_late {
        let child = child.stopped();
        (child, receiving::<K>(receiver, spin))
    } else {
        let reader = receiving::<K>(receiver, spin);
        (child.stopped(), reader)
    };
    let reached = child.step(point);
    child.kill();
    let received = reader.join().unwrap();
    let error = received.error.unwrap();
    assert!(error == Error::Died || part == Part::Drop && error == Error::Closed, "{error:?}");
    let sent = sent.get();
    // The last one may be published and not counted.
    let lost = received.lost + sent.saturating_sub(received.messages);
    let doubled = received.doubled + received.messages.saturating_sub(sent + 1);
    Outcome { reached, lost, doubled }
}

/// What a sender has sent until the end, and what came back.
struct Sent {
    messages: u64,
    unread: Vec<u64>,
    error: Error,
}

/// Fills the channel until it learns of the receiver's death, and takes back what was not consumed. `None`: there was
/// no receiver. One that is late sends a message when the last one was received.
fn sending<K: Kind>(
    place: Place,
    peer: Peer,
    received: Arc<Shared>,
    is_over: Arc<AtomicBool>,
) -> thread::JoinHandle<Option<Sent>> {
    thread::spawn(move || {
        // ORDERING: Relaxed; a test.
        let mut sender = join::<K>(place, || is_over.load(Ordering::Relaxed))?.unwrap();
        K::set_spin(&mut sender, peer.spin());
        let mut messages = 0;
        let error = loop {
            while peer == Peer::IsLate && received.get() < messages && !K::is_disconnected(&mut sender) {
                thread::sleep(Duration::from_micros(50));
            }
            match K::send(&mut sender, messages, LONG) {
                Ok(()) => messages += 1,
                Err(Stop::Ended(error)) => break error,
                Err(Stop::Time) => panic!("slept through room or a death, behind {messages} messages"),
            }
        };
        Some(Sent { messages, unread: K::unread(sender).expect("it has ended"), error })
    })
}

fn receiver_of_part<K: Kind>(place: Place, part: Part, received: &Shared) {
    if part == Part::Hello {
        here();
    }
    let mut receiver = K::receiver(place).unwrap();
    K::set_receiver_spin(&mut receiver, 0);
    if matches!(part, Part::Messages(_)) {
        here();
    }
    for message in 0..MESSAGES {
        assert_eq!(K::recv(&mut receiver, LONG), Ok(message));
        received.set(message + 1);
    }
    part.leave(receiver);
}

pub(crate) fn receiver_dies<K: Kind>(part: Part, point: Point) -> Outcome {
    let received = Arc::new(Shared::new());
    let (to, from) = K::places();
    let child = Child::traced(|| receiver_of_part::<K>(from, part, &received));
    let is_over = Arc::new(AtomicBool::new(false));
    let peer = if let Part::Messages(peer) = part { peer } else { Peer::Sleeps };
    let writer = sending::<K>(to, peer, Arc::clone(&received), Arc::clone(&is_over));
    let child = child.stopped();
    let reached = child.step(point);
    child.kill();
    // ORDERING: Relaxed; a test.
    is_over.store(true, Ordering::Relaxed);
    let Some(sent) = writer.join().unwrap() else { return Outcome { reached, lost: 0, doubled: 0 } };
    assert!(sent.error == Error::Died || part == Part::Drop && sent.error == Error::Closed, "{:?}", sent.error);
    assert_eq!(sent.unread.len() as u64, sent.messages - sent.unread.first().unwrap_or(&sent.messages));
    let from = sent.unread.first().copied().unwrap_or(sent.messages);
    assert!(sent.unread.iter().copied().eq(from..sent.messages), "{:?}", sent.unread);
    // The one that was being received may be consumed and not counted.
    let received = received.get();
    Outcome { reached, lost: from.saturating_sub(received + 1), doubled: received.saturating_sub(from) }
}

/// Both at once: one behind an instruction, the other wherever it is.
pub(crate) fn both_die<K: Kind>(is_sender_stepped: bool, point: Point) -> Outcome {
    let (to, from) = K::places();
    let receiver = Child::traced(|| {
        let mut receiver = K::receiver(from).unwrap();
        K::set_receiver_spin(&mut receiver, 0);
        here();
        (0..MESSAGES).for_each(|_| _ = K::recv(&mut receiver, LONG));
        here();
    });
    let receiver = receiver.stopped();
    let sender = Child::traced(|| {
        let mut sender = join::<K>(to, || false).unwrap().unwrap();
        K::set_spin(&mut sender, 0);
        here();
        (0..MESSAGES).for_each(|message| _ = K::send(&mut sender, message, LONG));
        core::mem::forget(sender);
        here();
    });
    let sender = sender.stopped();
    let (stepped, free) = if is_sender_stepped { (&sender, &receiver) } else { (&receiver, &sender) };
    free.go_on();
    let reached = stepped.step(point);
    Child::kill_both(sender, receiver);
    Outcome { reached, lost: 0, doubled: 0 }
}

/// Who is killed while it takes a path leaves nothing that the next one minds.
pub(crate) fn listener_dies_in_bind(point: Point) -> Outcome {
    let folder = std::env::temp_dir().join(format!("ysuite-shm-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("socket");
    let name = path.to_str().unwrap();
    let child = Child::traced(|| {
        here();
        let listener = Listener::bind(name).unwrap();
        here();
        drop(listener);
    });
    let child = child.stopped();
    let reached = child.step(point);
    child.kill();
    let listener = Listener::bind(name).unwrap();
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    drop(listener);
    std::fs::remove_dir(&folder).expect("nothing is left in it");
    Outcome { reached, lost: 0, doubled: 0 }
}
