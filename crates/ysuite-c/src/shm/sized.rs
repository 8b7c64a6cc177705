//! Messages of bytes in channels whose messages have one size: a length, and room for the bytes, in whole words. There are four
//! sizes, of which each channel has the smallest that has room for its largest message.

use ysuite_shm::zerocopy::IntoBytes;

use crate::code::ys_code;

/// Calls a function of a number of words, by the most bytes that a message has; an error if there are too many.
macro_rules! sized {
    ($largest:expr, $make:ident($($with:expr),*)) => {
        match $largest {
            ..=56 => $make::<8>($($with),*),
            ..=248 => $make::<32>($($with),*),
            ..=1016 => $make::<128>($($with),*),
            ..=4088 => $make::<512>($($with),*),
            _ => Err($crate::shm::code_of(ysuite_shm::Error::Refused(ysuite_shm::Why::Capacity))),
        }
    };
}
pub(super) use sized;

/// The message for a channel. What is behind its bytes is 0, so that no memory leaks to the peer.
pub(super) fn packed<const WORDS: usize>(message: &[u8]) -> Result<[u64; WORDS], ys_code> {
    let mut words = [0; WORDS];
    let room = words[1..].as_mut_bytes().get_mut(..message.len()).ok_or(ys_code::YS_ETOOLONG)?;
    room.copy_from_slice(message);
    words[0] = message.len() as u64;
    Ok(words)
}

/// The bytes of a message. A peer that says that there are more than have room has sent as many as have.
pub(super) fn unpacked<const WORDS: usize>(words: &[u64; WORDS]) -> &[u8] {
    let (length, bytes) = (words[0], words[1..].as_bytes());
    &bytes[..usize::try_from(length).map_or(bytes.len(), |length| length.min(bytes.len()))]
}
