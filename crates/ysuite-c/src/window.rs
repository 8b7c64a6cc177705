//! Windows: the structure at the address of a handle, so that the inline functions of the header may send and
//! receive a few messages without a call. Their rules are those of `ysuite::in_place`.

use core::mem::offset_of;
use std::sync::OnceLock;

use ysuite::in_place::{RecvWindow, SendWindow};

use crate::watch::IS_CHECKED;

/// The version of the windows that this header's inline functions know. A library that does not know it opens none.
pub const YS_WINDOW_VERSION: u32 = 2;

/// The structure at the address of a ys_tx. For the inline functions of the header only, which know when it may be
/// used and how.
#[repr(C)]
pub struct ys_tx_window {
    /// The slot of the next message.
    pub next: *mut u8,
    /// One past the last slot of its group that may be written. Where it is next, and the next group is not open, call.
    pub stop: *mut u8,
    /// One past the last group that may be entered whole; NULL: none.
    pub end: *mut u8,
    /// What is added to the address of the newest message to make the state of its group.
    pub lap: usize,
    /// Not 0: call ys_tx_answer after publishing.
    pub asleep: *const u32,
}

/// The structure at the address of a ys_rx. For the inline functions of the header only, which know when it may be
/// used and how.
#[repr(C)]
pub struct ys_rx_window {
    /// The slot of the next message.
    pub next: *mut u8,
    /// One past the last slot of its group that is known to be published. If it equals next, check the group, or call.
    pub known: *mut u8,
    /// One past the last group of the chunk; NULL: this is shut, call.
    pub end: *mut u8,
    /// What is subtracted from the state of a group to make the address of its newest message.
    pub lap: usize,
    /// How many messages were received; wraps. Stored with release after a message has left its slot.
    pub taken: *mut usize,
    /// Not 0: call ys_rx_credit after taking.
    pub asleep: *const u32,
    /// Not 0: before the next group is entered, write a byte in each line of the one that was read, which gives its line back to
    /// the sender as one that was written.
    pub marks: usize,
}

// The header's picture of a window is the library's.
const _: () = {
    assert!(
        size_of::<ys_tx_window>() == size_of::<SendWindow>() && size_of::<ys_rx_window>() == size_of::<RecvWindow>()
    );
    assert!(offset_of!(ys_tx_window, next) == offset_of!(SendWindow, next));
    assert!(offset_of!(ys_tx_window, stop) == offset_of!(SendWindow, stop));
    assert!(offset_of!(ys_tx_window, end) == offset_of!(SendWindow, end));
    assert!(offset_of!(ys_tx_window, lap) == offset_of!(SendWindow, lap));
    assert!(offset_of!(ys_tx_window, asleep) == offset_of!(SendWindow, asleep));
    assert!(offset_of!(ys_rx_window, next) == offset_of!(RecvWindow, next));
    assert!(offset_of!(ys_rx_window, known) == offset_of!(RecvWindow, known));
    assert!(offset_of!(ys_rx_window, end) == offset_of!(RecvWindow, end));
    assert!(offset_of!(ys_rx_window, lap) == offset_of!(RecvWindow, lap));
    assert!(offset_of!(ys_rx_window, taken) == offset_of!(RecvWindow, taken));
    assert!(offset_of!(ys_rx_window, asleep) == offset_of!(RecvWindow, asleep));
    assert!(offset_of!(ys_rx_window, marks) == offset_of!(RecvWindow, marks));
};

/// Whether this library opens windows at all.
pub(crate) fn may_open() -> bool {
    static MAY_OPEN: OnceLock<bool> = OnceLock::new();
    // MUTANT: Checked builds only. Killed only by `no_window_is_open`.
    !IS_CHECKED && *MAY_OPEN.get_or_init(|| std::env::var_os("YSUITE_WINDOW").is_none_or(|value| value != "0"))
}
