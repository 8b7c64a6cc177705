//! [`Wire`]: how messages become frames, and frames messages again.
//!
//! | kind | in a frame | read elsewhere by |
//! |---|---|---|
//! | bytes: `Vec<u8>`, `Box<[u8]>`, `String`, [`Frame`], pool messages | the message is the frame | anything |
//! | plain records: numbers, arrays of them, types with [`record!`](crate::record) | several back to back, little-endian, without padding | `struct.iter_unpack`, `numpy.frombuffer` |
//! | lists of parts: `Vec<Frame>`, `Vec<Vec<u8>>` | the list is a message of ØMQ with as many frames | `recv_multipart` |
//! | [`Postcard`](crate::Postcard), a feature: what serde knows | a byte of version, then each with its length before it | postcard |

mod bytes;
#[cfg(feature = "postcard")]
mod guarded;
mod limits;
mod parts;
#[cfg(feature = "postcard")]
mod postcard;
mod record;

pub use self::limits::Allowance;
pub(crate) use self::limits::Limits;
pub(crate) use self::parts::Parts;

#[cfg(feature = "postcard")]
pub use self::postcard::Postcard;
use crate::error::Failure;
use crate::frame::Frame;
use crate::topic::Topic;

/// How messages lie in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Each message is a frame, of any length.
    Whole,
    /// Each message is a list of parts, which together are one message of ØMQ.
    Parts,
    /// Each message has this many bytes; several are back to back in a frame.
    Records(usize),
    /// A frame is a byte of version, then each message after its length, four bytes in little-endian order. A frame with a message that is
    /// longer than they can encode is refused by the receiver, with all that is in it.
    Lengths {
        /// The version, which must be the same on both sides.
        version: u8,
    },
}

/// Why a frame is not what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Malformed {
    /// The frame has a number of bytes that is no multiple of the size of a record.
    Length {
        /// Bytes of the frame.
        bytes: usize,
        /// Bytes of a record.
        record: usize,
    },
    /// The frame was written by another version of the format.
    Version {
        /// The version of the frame; `None` where it is empty.
        found: Option<u8>,
        /// The version that this side expects.
        expected: u8,
    },
    /// The bytes of one of the frame's messages are invalid, or it ends in the middle of one.
    Content,
    /// The message came in another number of parts.
    Parts,
    /// The frame has more messages than the other side may send.
    Beyond,
    /// In one of the frame's messages values lie in each other deeper than is [allowed](crate::Pull::deepest_message).
    Depth,
    /// The frame's messages would take more memory than they [may](crate::Pull::memory_of_a_frame).
    Memory,
}

/// A message that has a form outside of the program. It can be sent if it is [`ToWire`], received if it is [`FromWire`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no form outside of the program",
    note = "`Wire` says which form: implement it beside `ToWire` and `FromWire`, or use `record!`"
)]
pub trait Wire: Send + Sized + 'static {
    /// Of every message of this type.
    const LAYOUT: Layout;

    /// Whether each has a topic, which is not in its bytes.
    #[doc(hidden)]
    const HAS_TOPIC: bool = false;
}

/// A message that can leave the program.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot leave the program by a bridge",
    label = "has no form in a frame",
    note = "numbers, arrays of them, `String`, `Vec<u8>`, `Frame` and lists of parts can; a structure of numbers by `record!`, and \
            what serde knows in a `Postcard`, a feature; what is borrowed is sent as what is owned: `String`, `Vec<u8>`"
)]
pub trait ToWire: Wire {
    /// Appends its bytes: [`Layout::Records`] says how many.
    fn encode(&self, bytes: &mut Vec<u8>);

    /// The whole message as a frame, its bytes handed over where that costs less than copying them.
    #[doc(hidden)]
    fn into_frame(self) -> Result<Frame, Failure> {
        let mut bytes = Vec::new();
        self.encode(&mut bytes);
        Frame::of(bytes)
    }

    /// The parts of a message whose layout is [`Layout::Parts`], one at least.
    #[doc(hidden)]
    fn into_parts(self) -> Result<Vec<Frame>, Failure> {
        self.into_frame().map(|only| vec![only])
    }

    /// What it is about, of a message that has a topic.
    #[doc(hidden)]
    fn topic(&self) -> Option<&Topic> {
        None
    }
}

/// A message that can come into the program.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot come into the program by a bridge",
    label = "cannot be read from a frame",
    note = "numbers, arrays of them, `String`, `Vec<u8>`, `Frame` and lists of parts can; a structure of numbers by `record!`, and \
            what serde knows in a `Postcard`, a feature; bytes that must not be copied come as a `Frame`"
)]
pub trait FromWire: Wire {
    /// From exactly its bytes.
    ///
    /// # Errors
    /// [`Malformed`] where they are those of no message.
    fn decode(bytes: &[u8]) -> Result<Self, Malformed>;

    /// The same, where what the message comes to is counted.
    #[doc(hidden)]
    fn decode_within(bytes: &[u8], _: &mut Allowance) -> Result<Self, Malformed> {
        Self::decode(bytes)
    }

    /// The message that is this whole frame.
    #[doc(hidden)]
    fn from_frame(frame: Frame) -> Result<Self, Malformed> {
        Self::decode(&frame)
    }

    /// The message that has these parts, where its layout is [`Layout::Parts`].
    #[doc(hidden)]
    fn from_parts(_: Vec<Frame>) -> Result<Self, Malformed> {
        Err(Malformed::Parts)
    }

    /// This is what it is about.
    #[doc(hidden)]
    fn set_topic(&mut self, _: &Topic) {}
}

/// The bytes of a message's length prefix.
const PREFIX: usize = 4;

/// Fills `frame` with a head and these messages, at least one. Only one if the layout is [`Layout::Whole`], or
/// [`Layout::Parts`]: those are then in one frame. They are
/// written into `bytes`, which is empty before and after: a small frame allocates nothing of its own.
pub(crate) fn pack<T: ToWire>(
    head: &[u8],
    mut messages: impl ExactSizeIterator<Item = T>,
    bytes: &mut Vec<u8>,
    frame: &mut Frame,
) -> Result<(), Failure> {
    // Of a message that panicked while it was written.
    bytes.clear();
    bytes.extend_from_slice(head);
    match T::LAYOUT {
        Layout::Whole | Layout::Parts => match messages.next() {
            Some(only) if head.is_empty() && T::LAYOUT == Layout::Whole => {
                *frame = only.into_frame()?;
                return Ok(());
            }
            Some(only) => only.encode(bytes),
            None => unreachable!("a frame without messages"),
        },
        Layout::Records(size) => {
            // Of a length that is none the allocator says so when it is written.
            let _ = size.checked_mul(messages.len()).map(|all| bytes.try_reserve(all));
            messages.for_each(|message| message.encode(bytes));
        }
        Layout::Lengths { version } => {
            bytes.push(version);
            append_with_lengths(messages, bytes, u32::MAX);
        }
    }
    frame.drain(bytes)
}

/// Appends messages, each after its length. If one is longer than its length can encode, the frame ends in the middle
/// of a message: it is refused as a whole, and none of its messages taken for another.
fn append_with_lengths<T: ToWire>(mut messages: impl Iterator<Item = T>, bytes: &mut Vec<u8>, longest: u32) {
    let begin = bytes.len();
    while let Some(message) = messages.next() {
        let from = bytes.len();
        bytes.extend([0; PREFIX]);
        message.encode(bytes);
        match u32::try_from(bytes.len() - from - PREFIX).ok().filter(|&length| length <= longest) {
            Some(length) => bytes[from..from + PREFIX].copy_from_slice(&length.to_le_bytes()),
            None => {
                bytes.truncate(begin);
                bytes.extend(u32::MAX.to_le_bytes());
                // They are in no other frame.
                messages.for_each(drop);
                return;
            }
        }
    }
}

/// Appends the messages of a frame after a head of `head` bytes, which it has. Nothing of a malformed one, nor of one
/// that has more than `most` messages, or exceeds these limits. The frame may be empty afterwards.
pub(crate) fn unpack<T: FromWire>(
    frame: &mut Frame,
    head: usize,
    most: usize,
    limits: Limits,
    to: &mut Vec<T>,
) -> Result<(), Malformed> {
    let before = to.len();
    let body = &frame[head..];
    let unpacked = match T::LAYOUT {
        Layout::Whole if head > 0 => T::decode(body).map(|message| to.push(message)),
        Layout::Parts => T::decode_within(body, &mut limits.of_frame(body.len())).map(|message| to.push(message)),
        Layout::Whole => T::from_frame(core::mem::take(frame)).map(|message| to.push(message)),
        Layout::Records(size) => records(body, size, most, to),
        Layout::Lengths { version } => with_lengths(body, version, most, &mut limits.of_frame(body.len()), to),
    };
    if unpacked.is_err() {
        to.truncate(before);
    }
    unpacked
}

fn records<T: FromWire>(bytes: &[u8], size: usize, most: usize, to: &mut Vec<T>) -> Result<(), Malformed> {
    if bytes.is_empty() || !bytes.len().is_multiple_of(size) {
        return Err(Malformed::Length { bytes: bytes.len(), record: size });
    }
    if bytes.len() / size > most {
        return Err(Malformed::Content);
    }
    bytes.chunks_exact(size).try_for_each(|record| T::decode(record).map(|message| to.push(message)))
}

fn with_lengths<T: FromWire>(
    bytes: &[u8],
    version: u8,
    mut most: usize,
    allowance: &mut Allowance,
    to: &mut Vec<T>,
) -> Result<(), Malformed> {
    let (found, mut rest) = match bytes.split_first() {
        Some((found, rest)) => (Some(*found), rest),
        None => (None, bytes),
    };
    if found != Some(version) {
        return Err(Malformed::Version { found, expected: version });
    }
    while !rest.is_empty() {
        let (length, behind) = rest.split_first_chunk::<PREFIX>().ok_or(Malformed::Content)?;
        let length = u32::from_le_bytes(*length) as usize;
        let (message, behind) = behind.split_at_checked(length).ok_or(Malformed::Content)?;
        most = most.checked_sub(1).ok_or(Malformed::Content)?;
        allowance.take(size_of::<T>())?;
        to.push(T::decode_within(message, allowance)?);
        rest = behind;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
