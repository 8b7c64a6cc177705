//! What goes between the processes, and its bytes.
//!
//! Requests and answers are plain bytes to the bridge, not a type of their own: so a request that cannot be read is answered with
//! the reason. A bridge refuses a frame that is no message of its type, and its sender waits until its time is over.

use std::fmt;

/// The most bytes of a payload.
pub(crate) const LARGEST_PAYLOAD: usize = 256 << 10;
/// The most bytes of a job as a worker gets it.
pub(crate) const LARGEST_SHEET: usize = LARGEST_PAYLOAD + 32;
/// In milliseconds.
pub(crate) const LONGEST_PAUSE: u16 = 10_000;

/// Why bytes are no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    Short,
    Kind(u8),
    Rest(usize),
    Payload(usize),
    Pause(u16),
    Number(u64),
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short => write!(f, "it ends too early"),
            Self::Kind(kind) => write!(f, "there is no kind {kind}"),
            Self::Rest(bytes) => write!(f, "{bytes} bytes are left over"),
            Self::Payload(bytes) => write!(f, "a payload has at most {LARGEST_PAYLOAD} bytes, not {bytes}"),
            Self::Pause(pause) => write!(f, "a pause has at most {LONGEST_PAUSE} ms, not {pause}"),
            Self::Number(number) => write!(f, "{number} has no prime factors"),
        }
    }
}

impl std::error::Error for Flaw {}

fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], Flaw> {
    let (first, rest) = bytes.split_first_chunk().ok_or(Flaw::Short)?;
    *bytes = rest;
    Ok(*first)
}

/// What a worker has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Task<'a> {
    /// It is slow, by this number of milliseconds.
    pub(crate) pause: u16,
    /// This number of attempts fail, as if a service that it needs were away.
    pub(crate) fails: u8,
    pub(crate) work: Work<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work<'a> {
    /// The smallest prime factor.
    Factor(u64),
    /// A checksum.
    Sum(&'a [u8]),
    /// A bug: the worker ends.
    Crash,
}

impl<'a> Task<'a> {
    fn write(&self, to: &mut Vec<u8>) {
        to.extend(self.pause.to_le_bytes());
        to.push(self.fails);
        match self.work {
            Work::Factor(number) => {
                to.push(0);
                to.extend(number.to_le_bytes());
            }
            Work::Sum(payload) => {
                to.push(1);
                to.extend(payload);
            }
            Work::Crash => to.push(2),
        }
    }

    fn read(mut bytes: &'a [u8]) -> Result<Self, Flaw> {
        let pause = u16::from_le_bytes(take(&mut bytes)?);
        let [fails, kind] = take(&mut bytes)?;
        if pause > LONGEST_PAUSE {
            return Err(Flaw::Pause(pause));
        }
        let work = match kind {
            0 => Work::Factor(u64::from_le_bytes(take(&mut bytes)?)),
            1 => Work::Sum(std::mem::take(&mut bytes)),
            2 => Work::Crash,
            _ => return Err(Flaw::Kind(kind)),
        };
        match work {
            _ if !bytes.is_empty() => Err(Flaw::Rest(bytes.len())),
            Work::Factor(number @ 0..=1) => Err(Flaw::Number(number)),
            Work::Sum(payload) if payload.len() > LARGEST_PAYLOAD => Err(Flaw::Payload(payload.len())),
            _ => Ok(Self { pause, fails, work }),
        }
    }
}

/// What a submitter asks. It has made up the tag, by which it may cancel the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request<'a> {
    Do { tag: u64, task: Task<'a> },
    Cancel { tag: u64 },
}

impl<'a> Request<'a> {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let (Self::Do { tag, .. } | Self::Cancel { tag }) = self;
        let mut bytes = vec![u8::from(matches!(self, Self::Cancel { .. }))];
        bytes.extend(tag.to_le_bytes());
        if let Self::Do { task, .. } = self {
            task.write(&mut bytes);
        }
        bytes
    }

    pub(crate) fn decode(mut bytes: &'a [u8]) -> Result<Self, Flaw> {
        let [kind] = take(&mut bytes)?;
        let tag = u64::from_le_bytes(take(&mut bytes)?);
        match kind {
            0 => Ok(Self::Do { tag, task: Task::read(bytes)? }),
            1 if bytes.is_empty() => Ok(Self::Cancel { tag }),
            1 => Err(Flaw::Rest(bytes.len())),
            _ => Err(Flaw::Kind(kind)),
        }
    }
}

/// What the coordinator answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Done(u64),
    /// To the job, and to who has cancelled it.
    Cancelled,
    /// There is no job of this tag, or no more.
    Unknown,
    /// It was tried often enough.
    Failed(String),
    /// It was not tried, for a reason of the coordinator's.
    Refused(String),
    /// It is no request.
    Malformed(String),
}

impl Answer {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let (kind, body) = match self {
            Self::Done(value) => (0, value.to_le_bytes().to_vec()),
            Self::Cancelled => (1, Vec::new()),
            Self::Unknown => (2, Vec::new()),
            Self::Failed(cause) => (3, cause.clone().into_bytes()),
            Self::Refused(cause) => (4, cause.clone().into_bytes()),
            Self::Malformed(cause) => (5, cause.clone().into_bytes()),
        };
        [vec![kind], body].concat()
    }

    pub(crate) fn decode(mut bytes: &[u8]) -> Result<Self, Flaw> {
        let [kind] = take(&mut bytes)?;
        let text = || String::from_utf8_lossy(bytes).into_owned();
        Ok(match kind {
            0 => Self::Done(u64::from_le_bytes(take(&mut bytes)?)),
            1 => Self::Cancelled,
            2 => Self::Unknown,
            3 => Self::Failed(text()),
            4 => Self::Refused(text()),
            5 => Self::Malformed(text()),
            _ => return Err(Flaw::Kind(kind)),
        })
    }
}

/// A job as a worker gets it: one of the attempts to do it.
pub(crate) fn sheet(id: u64, attempt: u32, task: &Task<'_>) -> Vec<u8> {
    let mut bytes = id.to_le_bytes().to_vec();
    bytes.extend(attempt.to_le_bytes());
    task.write(&mut bytes);
    bytes
}

pub(crate) fn read_sheet(mut bytes: &[u8]) -> Result<(u64, u32, Task<'_>), Flaw> {
    let (id, attempt) = (u64::from_le_bytes(take(&mut bytes)?), u32::from_le_bytes(take(&mut bytes)?));
    Ok((id, attempt, Task::read(bytes)?))
}

/// What a worker says of the job in its hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) id: u64,
    pub(crate) attempt: u32,
    pub(crate) said: Said,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    Begun,
    /// It takes its time.
    Alive,
    Done(u64),
    /// Another attempt may succeed.
    Failed,
    /// It has heard that nobody wants it any more.
    Withdrawn,
}

/// A [`Report`] in shared memory.
pub(crate) type ReportWords = [u64; 3];

impl Report {
    pub(crate) fn words(self) -> ReportWords {
        let (kind, value) = match self.said {
            Said::Begun => (0, 0),
            Said::Alive => (1, 0),
            Said::Done(value) => (2, value),
            Said::Failed => (3, 0),
            Said::Withdrawn => (4, 0),
        };
        [self.id, u64::from(self.attempt) << 8 | kind, value]
    }

    /// Nothing: no worker says so.
    pub(crate) fn of([id, word, value]: ReportWords) -> Option<Self> {
        let said = match word & 0xff {
            0 => Said::Begun,
            1 => Said::Alive,
            2 => Said::Done(value),
            3 => Said::Failed,
            4 => Said::Withdrawn,
            _ => return None,
        };
        Some(Self { id, attempt: u32::try_from(word >> 8).ok()?, said })
    }
}

/// What the coordinator has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) open: u64,
    pub(crate) done: u64,
    pub(crate) failed: u64,
    pub(crate) cancelled: u64,
    /// Attempts beyond the first of a job, for any reason.
    pub(crate) retried: u64,
    /// Results that nobody waited for: a worker has died between its result and the end of the job.
    pub(crate) repeated: u64,
}

/// The newest state of a coordinator, in a watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) counts: Counts,
    /// Workers that have ended, and of these those that were killed as they were silent.
    pub(crate) lost: u64,
    pub(crate) silenced: u64,
    /// The processes that are there, of which a watch has room for this number.
    pub(crate) workers: Vec<u32>,
}

/// A [`Progress`] in shared memory.
pub(crate) type ProgressWords = [u64; 32];

impl Progress {
    pub(crate) fn words(&self) -> ProgressWords {
        let Counts { open, done, failed, cancelled, retried, repeated } = self.counts;
        let head = [open, done, failed, cancelled, retried, repeated, self.lost, self.silenced];
        let mut words = [0; 32];
        // No process is 0.
        let all = head.into_iter().chain(self.workers.iter().map(|&worker| u64::from(worker)));
        words.iter_mut().zip(all).for_each(|(word, value)| *word = value);
        words
    }

    pub(crate) fn of(words: &ProgressWords) -> Self {
        let [open, done, failed, cancelled, retried, repeated, lost, silenced, workers @ ..] = *words;
        let workers = workers.into_iter().filter_map(|worker| u32::try_from(worker).ok()).filter(|worker| *worker > 0);
        let counts = Counts { open, done, failed, cancelled, retried, repeated };
        Self { counts, lost, silenced, workers: workers.collect() }
    }
}

/// Where workers are told which jobs are withdrawn.
pub(crate) fn withdrawals(name: &str) -> String {
    format!("{name}-withdrawn")
}

/// Where anybody is told of the progress.
pub(crate) fn progress(name: &str) -> String {
    format!("{name}-progress")
}
