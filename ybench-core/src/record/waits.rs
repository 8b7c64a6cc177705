//! How a receiver waits.

use serde::{Deserialize, Serialize};

/// How a receiver spends the time until the next message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Waits {
    /// Looks without end and never gives the CPU away.
    Spins,
    /// Gives the CPU away, never for longer than others want it, and looks again.
    Yields,
    /// Looks a little, then sleeps.
    LooksThenSleeps,
    /// Sleeps at once, in a futex or in a call of its own.
    Sleeps,
    /// Sleeps in epoll or poll, beside other descriptors.
    SleepsInPoll,
    /// A task: it gives its worker to other tasks.
    Suspends,
}

impl Waits {
    pub const fn sleeps(self) -> bool {
        !matches!(self, Self::Spins | Self::Yields)
    }

    pub fn in_words(self) -> &'static str {
        match self {
            Self::Spins => "spins",
            Self::Yields => "gives the CPU away and looks again",
            Self::LooksThenSleeps => "looks, then sleeps",
            Self::Sleeps => "sleeps",
            Self::SleepsInPoll => "sleeps in poll",
            Self::Suspends => "suspends its task",
        }
    }
}
