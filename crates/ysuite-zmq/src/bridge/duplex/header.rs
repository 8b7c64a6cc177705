//! [`Header`]: the beginning of each frame of a duplex. The messages follow in the same frame: libzmq ends the process
//! where a connection is lost between two parts of one message (`!_more` in its `fq.cpp`).
//!
//! | at | bytes | |
//! |---|---|---|
//! | 0 | 1 | version of this protocol, 1 |
//! | 1 | 1 | kind: 1 hello, 2 messages, 3 answer, 4 end |
//! | 2 | 2 | flags: 1 keeps what is not acknowledged, 2 has the whole stream of the other side, 4 receives no more, 8 lacks some |
//! | 4 | 4 | messages after this header; of a hello its mark, of an answer the mark of the hello that it answers, or 0
//! |
//! | 8 | 8 | session of the sender: a number of its own for each bridge |
//! | 16 | 8 | number of the first message; of a hello: of the next that will come; of an end: how many messages there
//! were |
//! | 24 | 8 | session of the other side, as far as it is known, or 0. What follows is said of its stream |
//! | 32 | 8 | number of the next message that is expected: all before it have been received |
//! | 40 | 8 | numbers below this one may be sent |
//! | 48 | 8 | messages that never came, though later ones did; of a sender that keeps nothing also what others got |
//!
//! The field at 32 less the field at 48 is what has been received, plus a constant. To a sender that keeps nothing, and
//! may have been forgotten, the header reports that all before its first number never came.
//!
//! Numbers of messages go up to 2^63: no stream comes so far. The mark of a hello is above that of the last one, by less than 2^31, or
//! the same; they wrap.
//!
//! All numbers are little-endian: `struct.unpack('<BBHIQQQQQQ', ...)`.

use crate::frame::Frame;
use crate::wire::Malformed;

pub(super) const VERSION: u8 = 1;
pub(in super::super) const BYTES: usize = 56;

/// Above it is no number of a message, so that what is added to one has room.
pub(super) const LAST: u64 = 1 << 63;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A conversation is taken up, for the first time or again.
    Hello,
    /// Messages, after the header.
    Messages,
    /// Nothing of its own: what is said of the other side's stream.
    Answer,
    /// The stream of the sender is complete.
    End,
}

/// What is true of the sender of a header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    /// It keeps what is not acknowledged, and can send it again.
    pub(super) keeps: bool,
    /// It has received the end marker of the other side's stream, and all before that.
    pub(super) has_all: bool,
    /// There is no receiver any more.
    pub(super) refuses: bool,
    /// A message has come whose number is too high; those before it can be sent again.
    pub(super) lacks: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    pub(super) flags: Flags,
    /// Or the mark of a hello.
    pub(super) messages: u32,
    pub(super) session: u64,
    pub(super) number: u64,
    /// The rest is said of the stream of this session.
    pub(super) of: u64,
    pub(super) expected: u64,
    pub(super) limit: u64,
    pub(super) lost: u64,
}

impl Flags {
    fn bits(self) -> u16 {
        let bits = [self.keeps, self.has_all, self.refuses, self.lacks];
        bits.iter().enumerate().fold(0, |so_far, (at, &bit)| so_far | u16::from(bit) << at)
    }

    /// Bits that this version does not know say nothing to it.
    fn of(bits: u16) -> Self {
        let bit = |at: u16| bits >> at & 1 == 1;
        Self { keeps: bit(0), has_all: bit(1), refuses: bit(2), lacks: bit(3) }
    }
}

impl Header {
    pub(super) fn bytes(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let kind = match self.kind {
            Kind::Hello => 1,
            Kind::Messages => 2,
            Kind::Answer => 3,
            Kind::End => 4,
        };
        (bytes[0], bytes[1]) = (VERSION, kind);
        bytes[2..4].copy_from_slice(&self.flags.bits().to_le_bytes());
        bytes[4..8].copy_from_slice(&self.messages.to_le_bytes());
        let words = [self.session, self.number, self.of, self.expected, self.limit, self.lost];
        for (place, word) in bytes[8..].chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    pub(super) fn of(frame: &Frame) -> Result<Self, Malformed> {
        let bytes: &[u8] = frame;
        let found = bytes.first().copied();
        if found != Some(VERSION) {
            return Err(Malformed::Version { found, expected: VERSION });
        }
        let length = Malformed::Length { bytes: bytes.len(), record: BYTES };
        let Some((bytes, body)) = bytes.split_first_chunk::<BYTES>() else { return Err(length) };
        let kind = match bytes[1] {
            1 => Kind::Hello,
            2 => Kind::Messages,
            3 => Kind::Answer,
            4 => Kind::End,
            _ => return Err(Malformed::Content),
        };
        if kind != Kind::Messages && !body.is_empty() {
            return Err(length);
        }
        let word = |at: usize| u64::from_le_bytes(core::array::from_fn(|byte| bytes[at + byte]));
        let (session, number) = (word(8), word(16));
        if session == 0 {
            return Err(Malformed::Content);
        }
        Ok(Self {
            kind,
            flags: Flags::of(u16::from_le_bytes([bytes[2], bytes[3]])),
            messages: u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]),
            session,
            number,
            of: word(24),
            expected: word(32),
            limit: word(40),
            lost: word(48),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(kind: Kind) -> Header {
        let flags = Flags { keeps: true, has_all: false, refuses: true, lacks: false };
        Header { kind, flags, messages: 7, session: 1, number: 2, of: 3, expected: 4, limit: u64::MAX, lost: 6 }
    }

    #[test]
    fn a_header_comes_back_as_it_was() {
        for kind in [Kind::Hello, Kind::Messages, Kind::Answer, Kind::End] {
            let frame = Frame::copied(&header(kind).bytes()).expect("memory for 56 bytes");
            assert_eq!(Header::of(&frame), Ok(header(kind)));
        }
    }

    #[test]
    fn every_bit_of_the_flags_is_one_of_its_own() {
        for bits in 0..16 {
            assert_eq!(Flags::of(bits).bits(), bits);
        }
        assert_eq!(Flags::of(0xFFF0), Flags::default());
    }

    #[test]
    fn what_is_no_header_is_malformed() {
        let good = header(Kind::Answer).bytes();
        let refused = |bytes: &[u8]| Header::of(&Frame::copied(bytes).expect("memory for 56 bytes")).unwrap_err();
        assert_eq!(refused(&[]), Malformed::Version { found: None, expected: VERSION });
        assert_eq!(refused(&[9; 56]), Malformed::Version { found: Some(9), expected: VERSION });
        assert_eq!(refused(&good[..55]), Malformed::Length { bytes: 55, record: BYTES });
        assert_eq!(refused(&[&good[..], b"more"].concat()), Malformed::Length { bytes: 60, record: BYTES });
        let mut other = good;
        other[1] = 5;
        assert_eq!(refused(&other), Malformed::Content);
        let mut nobody = good;
        nobody[8..16].fill(0);
        assert_eq!(refused(&nobody), Malformed::Content);
    }
}
