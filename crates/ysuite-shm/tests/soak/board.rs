//! What the processes of a round write down: in memory that they share besides the channel, and that outlives them.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

// ORDERING: SeqCst in all of this file; a test.

/// Members of one round, dead or alive.
pub(crate) const MEMBERS: usize = 255;
/// Jobs of one round.
pub(crate) const JOBS: usize = 1 << 22;

/// A line of the board: the home's, a member's, or that of a member's turn, which the home numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Line(usize);

impl Line {
    pub(crate) const HOME: Self = Self(0);

    /// Of the member with this number, from 1.
    pub(crate) fn member(number: usize) -> Self {
        assert!(number > 0 && number <= MEMBERS);
        Self(number)
    }

    pub(crate) fn turn(number: usize) -> Self {
        assert!(number <= MEMBERS);
        Self(MEMBERS + 1 + number)
    }

    /// As [`number`](Self::number) has it.
    pub(crate) fn of(number: u64) -> Self {
        assert!((number as usize) < LINES);
        Self(number as usize)
    }

    pub(crate) fn number(self) -> u64 {
        self.0 as u64
    }
}

/// A word of a line.
#[derive(Clone, Copy)]
pub(crate) enum Word {
    /// What the process should do: a [`Wish`].
    Wish,
    /// How often it has sent or received something. A caller: only its calls that were seen to end.
    Moves,
    /// How far it has sent: written behind the send.
    Sent,
    /// How far it has received: written behind the receive.
    Received,
    /// A receiver of a broadcast: one more than the number of its first message. A sender whose receiver has gone: one more
    /// than the number of the first message that came back.
    First,
    /// How its part has ended, 0 as long as it has not: an [`Ending`]. Written when it has dropped its end.
    End,
    /// A home's view of the end of this member; and how far the home itself is: a [`Phase`].
    Noticed,
    /// A worker: jobs that it has given back. A member in turns: one more than the number of its turn. A caller: calls that
    /// the home has ended, without those that the caller gives up.
    Other,
}

const WORDS: usize = 8;
const LINES: usize = 2 * MEMBERS + 2;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug)]
pub(crate) enum Wish {
    GoOn,
    /// A home: sends nothing more, and sees to it that all are done.
    Calm,
    /// A home: says so when all members have gone.
    Alone,
    Leave,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Ready = 1,
    Quiet,
    Alone,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    Left = 1,
    Closed,
    Died,
    Refused,
}

pub(crate) struct Board {
    start: *mut u8,
}

const BYTES: usize = LINES * WORDS * 8 + JOBS * 4;

impl Board {
    pub(crate) fn new() -> Self {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping, of zeros.
        let start = unsafe { libc::mmap(core::ptr::null_mut(), BYTES, access, flags | libc::MAP_NORESERVE, -1, 0) };
        assert_ne!(start, libc::MAP_FAILED);
        Self { start: start.cast() }
    }

    fn word(&self, line: Line, word: Word) -> &AtomicU64 {
        // SAFETY: within the mapping, which lives as long as `self`; all accesses are atomic.
        unsafe { &*self.start.cast::<AtomicU64>().add(line.0 * WORDS + word as usize) }
    }

    pub(crate) fn get(&self, line: Line, word: Word) -> u64 {
        self.word(line, word).load(Ordering::SeqCst)
    }

    /// The word with this number, to be shown.
    pub(crate) fn get_at(&self, line: Line, word: usize) -> u64 {
        let words =
            [Word::Wish, Word::Moves, Word::Sent, Word::Received, Word::First, Word::End, Word::Noticed, Word::Other];
        self.get(line, words[word])
    }

    pub(crate) fn set(&self, line: Line, word: Word, value: u64) {
        self.word(line, word).store(value, Ordering::SeqCst);
    }

    pub(crate) fn add(&self, line: Line, word: Word) {
        self.word(line, word).fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn wish(&self, line: Line) -> Wish {
        [Wish::GoOn, Wish::Calm, Wish::Alone, Wish::Leave][self.get(line, Word::Wish) as usize]
    }

    /// How often this job was begun.
    pub(crate) fn begun(&self, job: u64) -> &AtomicU32 {
        assert!(job < JOBS as u64);
        // SAFETY: as above; behind the lines.
        unsafe { &*self.start.add(LINES * WORDS * 8).cast::<AtomicU32>().add(job as usize) }
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        // SAFETY: what `new` has mapped.
        unsafe { libc::munmap(self.start.cast(), BYTES) };
    }
}

/// Numbers that need not be good, only different.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        random.below(2);
        random
    }

    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % most
    }

    /// Once in this number of times.
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// Some nanoseconds, on one of many scales; now and then a sleep.
    pub(crate) fn breathe(&mut self) {
        if self.once_in(64) {
            std::thread::sleep(std::time::Duration::from_micros(self.below(300)));
        }
        let scale = 2 << self.below(12);
        (0..self.below(scale)).for_each(|_| core::hint::spin_loop());
    }
}
