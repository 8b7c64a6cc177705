//! Local sockets, the article's baseline: a pair of unix stream sockets, a message of the size of a pointer.
//!
//! ```text
//!   sender thread   send ----> kernel buffer ----> (poll, then) recv with MSG_WAITALL   receiver thread
//! ```
//!
//! The article waited with `MSG_WAITALL` and expected a real `poll` before each read to be worse: both are here.
//! Several threads may share either side as long as a message is short enough for the kernel to queue it whole.

use std::io;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::channels::channels;
use super::kernel::stream::Stream;
use super::kernel::{Receiver, Sender, ends};
use super::{Ends, Message, Shape, Traits, Waits, ends_by_cloning};

const COMMON: Traits = Traits { waits: Waits::Sleeps, works_with_epoll: true, bounded: true, ..Traits::COMMON };

/// The most bytes that Linux has always put whole into one buffer of its queue, and takes from there under one lock, if
/// the reader asks for no less. No standard guarantees it: the validation of every message would detect a failure.
const IN_ONE_BUFFER: usize = 4_096;

type Pair<M, const POLL: bool> = (Sender<Stream<POLL>, M>, Receiver<Stream<POLL>, M>);

fn pair<M: Message, const POLL: bool>() -> io::Result<Pair<M, POLL>> {
    let (one, other) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    Ok(ends(Stream::over(one, other)))
}

channels! {
    Waitall: "unix-stream", "Local sockets as in the article: a blocking read of each message with MSG_WAITALL",
        {
            senders: Ends::Many,
            receivers: Ends::Many,
            most_bytes: |shape| if shape == Shape::ONE_TO_ONE { usize::MAX } else { IN_ONE_BUFFER },
            ..COMMON
        },
        Sender<Stream<false>, M>, Receiver<Stream<false>, M>, pair()?;
    Polled: "unix-stream-poll", "Local sockets with a real poll(2) before each read",
        { waits: Waits::SleepsInPoll, variant: true, ..COMMON },
        Sender<Stream<true>, M>, Receiver<Stream<true>, M>, pair()?;
}
ends_by_cloning!(both: Waitall);
