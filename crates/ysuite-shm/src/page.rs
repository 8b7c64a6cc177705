//! The layout of the page at the front of every region: what its owner says once, and the words by which the two ends
//! meet while they run. All numbers are 64 bits in the machine's order, at fixed places; each word that changes has a
//! line of its own.
//!
//! What is read of a peer's page is a claim: each value is loaded once, and checked.

use crate::os::{Own, PAGE, Peer};
use crate::sync::Ordering;
use crate::{Error, Why};

/// "ysshm" and two zeros, in the order of the machine that wrote it: another order reads as another protocol.
const MAGIC: u64 = u64::from_ne_bytes(*b"ysshm\0\0\x01");
/// The major version in the upper half, which must be equal; the minor in the lower, which need not.
pub(crate) const VERSION: u32 = 0x0002_0000;

const AT_MAGIC: usize = 0;
const AT_VERSION: usize = 8;
const AT_ROLE: usize = 16;
const AT_SIZE: usize = 24;
const AT_ALIGN: usize = 32;
const AT_CAPACITY: usize = 40;
const AT_BYTES: usize = 48;
const AT_NAME: usize = 64;
const AT_NAME_REST: usize = 72;
const AT_FLAGS: usize = 80;
const AT_PROCESSOR: usize = 88;
/// The number of the owner's present sleep, 0 while it is awake. In the memory of loans: 1 while their sender waits for a
/// slot, else 0.
pub(crate) const ASLEEP: usize = 128;
/// 1: the owner runs a fence after each publication, 0: only `light`.
pub(crate) const FENCED: usize = 256;
/// A receiver: how much it has consumed. One of loans: [`u64::MAX`] when it is dropped, and something is still lent to it.
pub(crate) const CONSUMED: usize = 384;
/// The receiver of a work queue, in the same line: a bit for each of the last 64 that it has consumed, at the number of the
/// job modulo 64: whether it has given that one back unfinished.
pub(crate) const GIVEN_BACK: usize = CONSUMED + 8;
/// 1: the owner has dropped its end. Or it has refused its peer: as in a packet.
pub(crate) const CLOSED: usize = 512;
/// A sender of bytes, or a broadcast: how much it has published. A watch: the version of the newest value.
pub(crate) const PUBLISHED: usize = 640;
/// In the memory of a watch, in the same line: the version that was last begun; of a broadcast of bytes, up to where it has
/// begun to write.
pub(crate) const BEGUN: usize = PUBLISHED + 8;
/// In the memory of a broadcast of bytes, in the same line: where the newest record is, and the number of the next
/// one.
pub(crate) const NEWEST: usize = PUBLISHED + 16;
pub(crate) const NUMBER: usize = PUBLISHED + 24;
/// The sender of a broadcast, or of loans, in its page for one receiver: one more than the position from which on that one receives, 0
/// as long as it has not joined.
pub(crate) const FROM: usize = 768;
/// In the same line: the number of the record there.
pub(crate) const FROM_NUMBER: usize = FROM + 8;
/// Where a sender's ring begins.
pub(crate) const RING: usize = PAGE;

/// The owner of this page cannot interrupt other processes: its peer must keep its fences.
const NEEDS_FENCES: u64 = 1;

/// Which end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Sender,
    Receiver,
}

/// What the ends of a channel must agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// What goes through it.
    pub(crate) kind: Kind,
    /// Bytes of a message, or the most bytes of one. Of loans, jobs, questions and answers of bytes who has the ring says it, and
    /// the other end 0.
    pub(crate) size: usize,
    pub(crate) align: usize,
    /// What the program calls its type of messages, hashed.
    pub(crate) name: [u64; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Typed = 0,
    Bytes = 1,
    Watch = 2,
    /// All messages, for all receivers. So says a receiver, whichever its sender is.
    Broadcast = 3,
    /// A sender that waits for none of them.
    Lossy = 4,
    /// Jobs, each for one of the receivers.
    Work = 5,
    /// Memory that the sender lends to all receivers. Its receivers say in memory besides their pages what they hold.
    Loan = 6,
    /// What a caller asks. Its peer's are answers.
    Questions = 7,
    /// What the receiver of questions writes.
    Answers = 8,
    /// As `Watch` and `Broadcast`, of bytes of any length up to a bound.
    WatchBytes = 9,
    BroadcastBytes = 10,
    LossyBytes = 11,
    /// As `Work`, `Questions` and `Answers`, of bytes likewise.
    WorkBytes = 12,
    QuestionBytes = 13,
    AnswerBytes = 14,
}

impl Kind {
    /// The sender writes once for all receivers, into memory besides the page that it has for each.
    pub(crate) fn is_shared(self) -> bool {
        matches!(self, Self::Watch | Self::Broadcast | Self::Lossy | Self::Loan)
            || matches!(self, Self::WatchBytes | Self::BroadcastBytes | Self::LossyBytes)
    }

    /// Who has the ring says how much a message may have, and its peer does not know.
    fn says_size(self) -> bool {
        matches!(self, Self::Loan | Self::WorkBytes | Self::QuestionBytes | Self::AnswerBytes)
    }

    /// This end has memory besides the page that it has for its peer.
    pub(crate) fn has_second(self, role: Role) -> bool {
        self == Self::Loan || role == Role::Sender && self.is_shared()
    }

    /// What a peer says of itself, if the two fit.
    fn of_peer(self, said: u64) -> Option<Self> {
        let is = |kind: Self| (said == kind as u64).then_some(kind);
        match self {
            Self::Broadcast => is(self).or(is(Self::Lossy)),
            Self::BroadcastBytes => is(self).or(is(Self::LossyBytes)),
            Self::Lossy => is(Self::Broadcast),
            Self::LossyBytes => is(Self::BroadcastBytes),
            _ => is(self),
        }
    }
}

/// The facts in a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) role: Role,
    pub(crate) shape: Shape,
    /// Messages, bytes or values; of a receiver 0, or the answers that it can give.
    pub(crate) capacity: usize,
    /// Of the whole region.
    pub(crate) bytes: usize,
    pub(crate) needs_fences: bool,
    /// The only processor on which the owner runs. Absent in the first versions, which read as one that has many.
    pub(crate) processor: Option<u32>,
}

impl Header {
    /// Writes it into a page that nobody reads yet.
    pub(crate) fn write(&self, own: &Own) {
        // ORDERING: Relaxed; the packet that carries the descriptor hands the page over.
        let put = |at, value: u64| own.word(at).store(value, Ordering::Relaxed);
        put(AT_VERSION, u64::from(VERSION));
        put(AT_ROLE, u64::from(self.role == Role::Receiver) << 8 | self.shape.kind as u64);
        put(AT_SIZE, self.shape.size as u64);
        put(AT_ALIGN, self.shape.align as u64);
        put(AT_CAPACITY, self.capacity as u64);
        put(AT_BYTES, self.bytes as u64);
        put(AT_NAME, self.shape.name[0]);
        put(AT_NAME_REST, self.shape.name[1]);
        put(AT_FLAGS, if self.needs_fences { NEEDS_FENCES } else { 0 });
        put(AT_PROCESSOR, self.processor.map_or(0, |processor| u64::from(processor) + 1));
        put(AT_MAGIC, MAGIC);
    }

    /// Reads the page of a peer that must be the `role` end of a channel of this shape.
    pub(crate) fn read(peer: &Peer, role: Role, shape: &Shape) -> Result<Self, Error> {
        // ORDERING: Relaxed; the packet that has carried the descriptor has handed the page over. A peer that writes it
        // afterwards changes nothing here: each value is loaded once.
        let get = |at| peer.word(at).load(Ordering::Relaxed);
        let no = |why| Err(Error::Refused(why));
        if get(AT_MAGIC) != MAGIC {
            return no(Why::Magic);
        }
        let version = get(AT_VERSION);
        if version >> 16 != u64::from(VERSION >> 16) {
            return no(Why::Version(version as u32));
        }
        let (said, flags) = (get(AT_ROLE), get(AT_FLAGS));
        let Some(kind) = shape.kind.of_peer(said & 0xff) else { return no(Why::Kind) };
        if said >> 9 != 0 {
            return no(Why::Kind);
        }
        if (said >> 8 == 1) != (role == Role::Receiver) {
            return no(Why::Role);
        }
        let Ok(size) = usize::try_from(get(AT_SIZE)) else { return no(Why::Type) };
        if size != shape.size && !kind.says_size()
            || get(AT_ALIGN) != shape.align as u64
            || [get(AT_NAME), get(AT_NAME_REST)] != shape.name
        {
            return no(Why::Type);
        }
        // A flag of a later minor version that this end does not know would be one that it does not heed.
        if flags & !NEEDS_FENCES != 0 {
            return no(Why::Version(version as u32));
        }
        let (capacity, bytes) = (get(AT_CAPACITY), get(AT_BYTES));
        if bytes != peer.bytes() as u64 {
            return no(Why::Size);
        }
        let Ok(capacity) = usize::try_from(capacity) else { return no(Why::Capacity) };
        let needs_fences = flags & NEEDS_FENCES != 0;
        let shape = Shape { kind, size, ..*shape };
        // Whatever it says: it decides how long this end looks before it sleeps.
        let processor = get(AT_PROCESSOR).checked_sub(1).map(|processor| processor as u32);
        Ok(Self { role, shape, capacity, bytes: peer.bytes(), needs_fences, processor })
    }
}

/// The hash of a name: FNV-1a, of 128 bits.
pub(crate) fn hashed(name: &str) -> [u64; 2] {
    let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    for byte in name.bytes() {
        hash = (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    }
    [hash as u64, (hash >> 64) as u64]
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests;
