//! Errors of making a pool, and of a length.

use core::fmt;
use std::error::Error;

// FINAL: no error of the pool; by construction: `None` and a value that comes back mean "now"; `TooLong` and
//     `PoolError` are about arguments
/// The reason why a pool could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PoolError {
    /// The list of classes is empty.
    NoClasses,
    /// A class has blocks of 0 bytes.
    NoBytes,
    /// A class has no blocks.
    NoBlocks {
        /// The size of the class.
        block_bytes: usize,
    },
    /// Two classes have blocks of the same size.
    Duplicate {
        /// That size.
        block_bytes: usize,
    },
    /// A block has 4 GiB or more, a class has more than 2³⁰ - 1 blocks, or all together could never fit into memory.
    TooLarge {
        /// The class that is too large.
        block_bytes: usize,
        /// The number of blocks in the call.
        blocks: usize,
    },
    /// The system does not have that much memory.
    OutOfMemory {
        /// The number of bytes of the pool.
        bytes: usize,
    },
}

impl fmt::Display for PoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoClasses => f.write_str("a pool needs at least one class of blocks"),
            Self::NoBytes => f.write_str("a pool's blocks need at least 1 byte"),
            Self::NoBlocks { block_bytes } => write!(f, "a pool's class of {block_bytes} bytes has no blocks"),
            Self::Duplicate { block_bytes } => write!(f, "a pool has two classes of {block_bytes} bytes"),
            Self::TooLarge { block_bytes, blocks } => {
                write!(f, "a pool with {blocks} blocks of {block_bytes} bytes is larger than memory can be")
            }
            Self::OutOfMemory { bytes } => write!(f, "there is no memory for a pool of {bytes} bytes"),
        }
    }
}

impl Error for PoolError {}

/// A length for which there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// The length in the call.
    pub len: usize,
    /// The longest possible: in the pool, or in the message's block.
    pub bound: usize,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a message of {} bytes is longer than its bound of {} bytes", self.len, self.bound)
    }
}

impl Error for TooLong {}
