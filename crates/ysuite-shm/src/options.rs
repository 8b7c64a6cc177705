//! What a program may say about a connection.

use core::fmt;
use std::sync::Arc;

use crate::os;
use crate::page::hashed;

/// How an end treats its peer.
#[derive(Clone)]
pub struct Options {
    pub(crate) name: [u64; 2],
    pub(crate) largest_region: usize,
    pub(crate) is_careful: bool,
    pub(crate) is_lossy: bool,
    pub(crate) calls: usize,
    /// 0: any number.
    pub(crate) attempts: u32,
    pub(crate) largest_answer: usize,
    pub(crate) allowed: Option<Arc<dyn Fn(u32) -> bool + Send + Sync>>,
}

impl Default for Options {
    fn default() -> Self {
        let (is_careful, is_lossy, calls, largest_answer, allowed) = (false, false, 64, 1_024, None);
        let (name, largest_region, attempts) = (hashed(""), 64 << 20, 0);
        Self { name, largest_region, is_careful, is_lossy, calls, attempts, largest_answer, allowed }
    }
}

impl Options {
    /// Makes the default options: messages without a [name](Self::messages), a peer's memory of at most 64 MiB, peers
    /// of the same user.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the program's name for its type of messages, such as "quote, version 2"; by default it is empty. Both ends
    /// must use the same name, size and alignment.
    #[must_use]
    pub fn messages(mut self, name: &str) -> Self {
        self.name = hashed(name);
        self
    }

    /// Sets the most bytes of memory that this end accepts of a peer at a time, for a ring, a pool of loans, or a large
    /// message. They count against the address space only.
    #[must_use]
    pub fn largest_region(mut self, bytes: usize) -> Self {
        self.largest_region = bytes;
        self
    }

    /// For a peer that may be hostile: the two wake each other by the socket, and take no descriptors but memory. An
    /// eventfd, the default, is shared with the peer, which could make a send block by filling it. Sleeping costs half
    /// as much again. It is enough that one end says so.
    #[must_use]
    pub fn careful(mut self) -> Self {
        self.is_careful = true;
        self
    }

    /// For the sender of a broadcast: it waits for no receiver. One that is too slow loses the oldest messages, and is told
    /// how many.
    #[must_use]
    pub fn lossy(mut self) -> Self {
        self.is_lossy = true;
        self
    }

    /// For a [`Caller`](crate::Caller) and the receiver of its questions: how many of one caller may be without an answer at a
    /// time, 64 by default. Each has memory for as many questions or answers; of two numbers the smaller one counts.
    #[must_use]
    pub fn calls(mut self, most: usize) -> Self {
        self.calls = most;
        self
    }

    /// For the sender of a work queue: how many times a job is given out at most; 0, the default: as long as workers come. It
    /// counts for a job when a worker gives it back, or goes while it is the first that it has, which it may have begun.
    /// After the last time the job is put aside, for [`next_failed`](crate::WorkSender::next_failed).
    #[must_use]
    pub fn attempts(mut self, most: u32) -> Self {
        self.attempts = most;
        self
    }

    /// For the receiver of questions whose answers are [`Bytes`](crate::Bytes): the most bytes of one, 1,024 by default, rounded up
    /// to whole words. It has memory for [as many](Self::calls) of these as each of its callers may have under way.
    #[must_use]
    pub fn largest_answer(mut self, bytes: usize) -> Self {
        self.largest_answer = bytes;
        self
    }

    /// Sets which users may connect by a name, and listen at one, by the number of the effective user. Peers of other
    /// users than this process's are treated [carefully](Self::careful). The closure is not called for an end that is
    /// inherited.
    #[must_use]
    pub fn allow(mut self, allowed: impl Fn(u32) -> bool + Send + Sync + 'static) -> Self {
        self.allowed = Some(Arc::new(allowed));
        self
    }

    // USER CODE: the caller's closure, before anything that the stranger has sent is read; a panic drops the stranger.
    /// Whether a process of this user may be at the other end.
    pub(crate) fn admits(&self, user: u32) -> bool {
        match &self.allowed {
            Some(allowed) => allowed(user),
            None => user == os::user(),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("largest_region", &self.largest_region)
            .field("careful", &self.is_careful)
            .finish_non_exhaustive()
    }
}
