//! The origin of a transport: rows of tables are grouped by it.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// This project's own.
    Ours,
    /// The standard library's.
    Std,
    /// Of other packages: every third-party competitor is one of them.
    #[default]
    Crates,
    /// What the kernel carries.
    Kernel,
    /// A queue behind a mutex, as a plain program has it.
    Mutex,
}

impl Family {
    pub const ALL: [Self; 5] = [Self::Ours, Self::Std, Self::Crates, Self::Kernel, Self::Mutex];

    /// The best of the family, in a sentence.
    pub fn spoken(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Std => "std",
            Self::Crates => "the best crate",
            Self::Kernel => "the kernel",
            Self::Mutex => "a mutex",
        }
    }

    pub fn in_words(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Std => "std",
            Self::Crates => "crates",
            Self::Kernel => "kernel",
            Self::Mutex => "mutex",
        }
    }
}
