//! The kernel's own mechanisms as transports: what each of them provides, and what they share.
//!
//! | file | contents |
//! |---|---|
//! | `ends` | the handles of any of them, for any number of threads, and their disconnection |
//! | `halves` | one side of each, in a process that has no more of it |
//! | `stream` | stream sockets: `unix_stream`, `tcp_stream` |
//! | `packets` | unix datagram and seqpacket sockets |
//! | `pipe` | pipe(2) |
//! | `posix_mq`, `sysv_mq` | the two kinds of message queues |
//! | `removal` | System V queues outlive their process: their removal when it ends |
//! | `allowed` | the kernel's limits for this process, and the part that is used |
//!
//! Every message is one call in and one call out, and both sides wait in that call. Several threads share one
//! descriptor, as they would in a program: the kernel's own lock keeps their messages whole and in one order.

pub mod allowed;
pub mod ends;
pub mod halves;
pub mod packets;
pub mod pipe;
pub mod posix_mq;
pub mod removal;
pub mod stream;
pub mod sysv_mq;

#[cfg(test)]
mod tests;

use std::io;
use std::mem::MaybeUninit;

use bytemuck::Pod;
use rustix::io::Errno;

pub use self::allowed::{in_words, limits, report};
pub use self::ends::{Receiver, Sender, ends};
use super::Closed;

/// A mechanism with both of its sides, shared by all threads that use it. It carries messages of one type.
pub trait Mechanism: Send + Sync + 'static {
    /// Whether a waiting receiver, and a later one, detects by itself that [`Mechanism::no_senders`] was called.
    /// Otherwise that call leaves a mark after all messages, which receivers pass on.
    const TELLS_THE_END: bool;

    /// Sends one message whole; waits while there is no room for it.
    fn put<W: Pod>(&self, wire: &W) -> Result<(), Closed>;

    /// Waits for the next message. Closed if there is none, and no sender left.
    fn take<W: Pod>(&self) -> Result<W, Closed>;

    /// A message that no receiver waits for any more, if there is one. Never waits for an idle sender. A sender that
    /// waits for room must continue or be refused. One thread at a time, once either side is gone.
    fn leftover<W: Pod>(&self) -> Option<W>;

    /// The last sender is dropped: notifies the receivers. May be called again.
    fn no_senders(&self);
}

/// The bytes of a message to be received.
fn room<W: Pod>(wire: &mut MaybeUninit<W>) -> &mut [MaybeUninit<u8>] {
    let start = std::ptr::from_mut(wire).cast();
    // SAFETY: exactly the bytes of `wire`, which is borrowed for as long; none of them need be initialised.
    unsafe { std::slice::from_raw_parts_mut(start, size_of::<W>()) }
}

/// Whether a call that has just failed is to be made again.
fn interrupted() -> bool {
    io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
}

/// Writes all of a message to a stream of bytes, in as many calls of `write` as needed; each returns the number of
/// bytes taken.
#[inline(always)]
fn put_in_parts<W: Pod>(wire: &W, mut write: impl FnMut(&[u8]) -> Result<usize, Errno>) -> Result<(), Closed> {
    let bytes = bytemuck::bytes_of(wire);
    let mut written = 0;
    while written < bytes.len() {
        match write(&bytes[written..]) {
            Ok(count) => written += count,
            Err(Errno::INTR) => {}
            Err(_) => return Err(Closed),
        }
    }
    Ok(())
}

/// Reads all of a message from a stream of bytes, in as many calls of `read` as needed; 0 is the stream's end.
///
/// # Safety
///
/// `read` has initialised the number of bytes that it returns, from the first on.
#[inline(always)]
unsafe fn take_in_parts<W: Pod>(
    mut read: impl FnMut(&mut [MaybeUninit<u8>]) -> Result<usize, Errno>,
) -> Result<W, Closed> {
    let mut wire = MaybeUninit::<W>::uninit();
    let mut received = 0;
    while received < size_of::<W>() {
        match read(&mut room(&mut wire)[received..]) {
            Ok(0) => return Err(Closed),
            Ok(count) => received += count,
            Err(Errno::INTR) => {}
            Err(_) => return Err(Closed),
        }
    }
    // SAFETY: the caller guarantees that every byte is initialised, and every pattern of bytes is a `Pod`.
    Ok(unsafe { wire.assume_init() })
}
