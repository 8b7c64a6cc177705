//! What a library of C++ gives: functions for messages of one size, behind which its types are hidden. `cpp/table.hpp` has the
//! same, field by field.

use std::ffi::c_void;

use ybench_core::error::Fault;
use ybench_core::scenario::many::{Row, Rows};
use ybench_core::transport::check::END;

/// An end, as C++ knows it.
pub(crate) type End = *mut c_void;

/// Whether everything was there, and if not, what was due and what came.
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

/// What one receiver has seen of all.
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

/// All of them take ends of a channel that this table has opened, not yet dropped; those of one end are called by one thread
/// at a time. None throws.
#[repr(C)]
pub(crate) struct Table {
    /// Of a message.
    pub(crate) bytes: usize,
    /// Makes so many ends, which two arrays take. False: it cannot run here.
    pub(crate) open: unsafe extern "C" fn(usize, usize, *mut End, *mut End) -> bool,
    pub(crate) drop_sender: unsafe extern "C" fn(End),
    pub(crate) drop_receiver: unsafe extern "C" fn(End),
    /// One message, of which it copies `bytes`. False: the peer is gone.
    pub(crate) send: unsafe extern "C" fn(End, *const c_void) -> bool,
    pub(crate) receive: unsafe extern "C" fn(End, *mut c_void) -> bool,
    /// From a first number on so many.
    pub(crate) pour: unsafe extern "C" fn(End, usize, usize) -> bool,
    pub(crate) finish: unsafe extern "C" fn(End) -> bool,
    pub(crate) drain: unsafe extern "C" fn(End, usize) -> Verdict,
    pub(crate) expect_end: unsafe extern "C" fn(End) -> Verdict,
    /// So many messages, so many at a time. Nothing where there are no batches.
    pub(crate) pour_batches: Option<unsafe extern "C" fn(End, usize, usize) -> bool>,
    /// Says whether the end came in the same hand as the last messages.
    pub(crate) drain_batches: Option<unsafe extern "C" fn(End, usize, *mut bool) -> Verdict>,
    pub(crate) drain_rows: unsafe extern "C" fn(End, *mut Seen) -> Verdict,
    pub(crate) serve: unsafe extern "C" fn(End, End, usize) -> Verdict,
    pub(crate) answer: unsafe extern "C" fn(End, End) -> Verdict,
}

/// Of each size in [`BYTES`](ybench_core::scenario::cells::drivers::BYTES).
pub(crate) type Tables = unsafe extern "C" fn() -> *const [Table; 4];
