//! How a receiver waits.

use serde::{Deserialize, Serialize};

/// The receiver's way to spend the time until the next message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Waits {
    /// Polls without end and never yields the CPU.
    Spins,
    /// Yields the CPU, only while other threads want it, and polls again.
    Yields,
    /// Spins a little, then sleeps.
    LooksThenSleeps,
    /// Sleeps at once, in a futex or in a call of its own.
    Sleeps,
    /// Sleeps in epoll or poll, alongside other descriptors.
    SleepsInPoll,
    /// A task: it yields its worker to other tasks.
    Suspends,
}

impl Waits {
    pub const fn sleeps(self) -> bool {
        !matches!(self, Self::Spins | Self::Yields)
    }

    pub fn in_words(self) -> &'static str {
        match self {
            Self::Spins => "spins",
            Self::Yields => "yields and polls again",
            Self::LooksThenSleeps => "spins, then sleeps",
            Self::Sleeps => "sleeps",
            Self::SleepsInPoll => "sleeps in poll",
            Self::Suspends => "suspends its task",
        }
    }
}
