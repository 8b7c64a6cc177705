//! The interface of a library in C++: functions for messages of one size, which hide its types. `cpp/table.hpp` has the
//! same, field by field.

use std::ffi::c_void;

use ybench_measure::error::Fault;
use ybench_measure::scenario::many::{Row, Rows};
use ybench_measure::transport::check::END;

/// A handle of C++.
pub(crate) type End = *mut c_void;

/// Whether every message was received. If not, the expected and the received one.
#[repr(C)]
pub(crate) struct Verdict {
    word: usize,
    expected: usize,
    received: usize,
}

impl Verdict {
    pub(crate) fn judged(self) -> Result<(), Fault> {
        let Self { word, expected, received } = self;
        match word {
            0 => Ok(()),
            1 if received == END => Err(Fault::Lost { expected }),
            1 => Err(Fault::OutOfOrder { expected, received }),
            2 => Err(Fault::Disconnected { expected }),
            _ => Err(Fault::TooMany { received }),
        }
    }
}

/// The messages that one receiver has seen from all senders.
#[repr(C)]
pub(crate) struct Seen {
    rows: *mut Row,
    senders: usize,
    alone: bool,
    ends: usize,
}

impl Seen {
    /// Valid while the rows are borrowed.
    pub(crate) fn of(rows: Rows<'_>) -> Self {
        Self { rows: rows.rows.as_mut_ptr(), senders: rows.rows.len(), alone: rows.alone, ends: rows.ends }
    }
}

/// All of them take handles of a channel that this table has opened, not yet dropped. One thread at a time calls those
/// of one handle. None throws.
#[repr(C)]
pub(crate) struct Table {
    /// The bytes of a message.
    pub(crate) bytes: usize,
    /// Makes the given numbers of handles, which two arrays take. False: it cannot run here.
    pub(crate) open: unsafe extern "C" fn(usize, usize, *mut End, *mut End) -> bool,
    pub(crate) drop_sender: unsafe extern "C" fn(End),
    pub(crate) drop_receiver: unsafe extern "C" fn(End),
    /// One message. It copies `bytes` bytes of it. False: the peer is dropped.
    pub(crate) send: unsafe extern "C" fn(End, *const c_void) -> bool,
    pub(crate) receive: unsafe extern "C" fn(End, *mut c_void) -> bool,
    /// Sends a number of messages from a first one on.
    pub(crate) pour: unsafe extern "C" fn(End, usize, usize) -> bool,
    pub(crate) finish: unsafe extern "C" fn(End) -> bool,
    pub(crate) drain: unsafe extern "C" fn(End, usize) -> Verdict,
    pub(crate) expect_end: unsafe extern "C" fn(End) -> Verdict,
    /// A number of messages, a number at a time. `None` where there are no batches.
    pub(crate) pour_batches: Option<unsafe extern "C" fn(End, usize, usize) -> bool>,
    /// Returns whether the end came in the same batch as the last messages.
    pub(crate) drain_batches: Option<unsafe extern "C" fn(End, usize, *mut bool) -> Verdict>,
    pub(crate) drain_rows: unsafe extern "C" fn(End, *mut Seen) -> Verdict,
    pub(crate) serve: unsafe extern "C" fn(End, End, usize) -> Verdict,
    pub(crate) answer: unsafe extern "C" fn(End, End) -> Verdict,
}

/// Of each size in [`BYTES`](ybench_measure::scenario::cells::drivers::BYTES).
pub(crate) type Tables = unsafe extern "C" fn() -> *const [Table; 4];
