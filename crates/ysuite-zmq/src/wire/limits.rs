//! [`Limits`]: how much the messages of one frame may take once they are read. Bytes say how long a list is, and how
//! deeply it is nested: a few of them may demand more memory, stack or time than there is.
//!
//! Used by the thread that reads a frame, and by no other. It counts what a message takes as far as that is known while it is
//! read: values and elements of lists, not what an allocator puts around them, nor the room that a list keeps for more.

use super::Malformed;

/// Of the bridge that receives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Values that lie in each other.
    pub(crate) depth: usize,
    /// Bytes, where the frame has not more than an eighth of that.
    pub(crate) memory: usize,
}

/// A message is read by nested calls, on the stack of its bridge: 2 MiB by default.
const DEPTH: usize = 128;

/// The bytes of the largest frame by default.
const MEMORY: usize = 64 << 20;

/// Bytes in memory for each of a frame's where it is large: a number of eight may be written as one.
const FACTOR: usize = 8;

/// The cost of an element that takes no memory: it takes time, and a few bytes may encode any number of them.
const WEIGHTLESS: usize = 64;

impl Default for Limits {
    fn default() -> Self {
        Self { depth: DEPTH, memory: MEMORY }
    }
}

impl Limits {
    /// For the messages of a frame of this many bytes.
    pub(crate) fn of_frame(self, bytes: usize) -> Allowance {
        Allowance { depth: self.depth, memory: self.memory.max(bytes.saturating_mul(FACTOR)) }
    }
}

/// What is left of it while a frame is read.
#[derive(Debug)]
pub struct Allowance {
    #[cfg_attr(not(feature = "postcard"), expect(dead_code, reason = "only postcard's messages lie in each other"))]
    pub(super) depth: usize,
    pub(super) memory: usize,
}

impl Allowance {
    /// One more value, of this many bytes in memory.
    pub(super) fn take(&mut self, bytes: usize) -> Result<(), Malformed> {
        let bytes = if bytes == 0 { WEIGHTLESS } else { bytes };
        self.memory = self.memory.checked_sub(bytes).ok_or(Malformed::Memory)?;
        Ok(())
    }
}
