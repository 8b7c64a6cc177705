//! What the inline functions of the header do, once more: the rules of windows of version 2, for messages of any class.

use core::ffi::c_int;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering, compiler_fence};

use ysuite_c::{ys_rx, ys_rx_credit, ys_rx_window, ys_tx, ys_tx_answer, ys_tx_window};

use super::{CLOSED, OK};

/// Where messages of a class lie. All in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    pub(crate) slot: usize,
    pub(crate) align: usize,
    first: usize,
    stride: usize,
    end: usize,
}

pub(crate) const CLASSES: [(usize, usize); 14] = [
    (8, 8),
    (16, 8),
    (24, 8),
    (32, 8),
    (48, 8),
    (64, 8),
    (96, 8),
    (128, 8),
    (16, 16),
    (32, 16),
    (48, 16),
    (64, 16),
    (96, 16),
    (128, 16),
];

impl Geometry {
    pub(crate) fn new((slot, align): (usize, usize)) -> Self {
        let first = align.max(8);
        let slots_in = |bytes: usize| (bytes - first) / slot;
        let stride = match (slots_in(64), slots_in(128), slots_in(512)) {
            (3.., ..) | (2, 4, _) => 64,
            (_, 5.., _) => 128,
            (.., 4..) => 512,
            _ => 1024,
        };
        let slots = slots_in(stride);
        Self { slot, align, first, stride, end: first + slots * slot }
    }

    /// The group of a byte of it.
    fn group(&self, at: *mut u8) -> *mut u8 {
        at.wrapping_sub(at.addr() % self.stride)
    }

    /// Sends the first bytes of a message by the window of a handle; `None`: a call is needed.
    ///
    /// # Safety
    /// The handle is of a channel of such messages, and in no other use.
    pub(crate) unsafe fn send(&self, tx: *mut ys_tx, message: &[u8]) -> Option<c_int> {
        // SAFETY: a handle begins with its window; by the rules the slots that it shows are free. By the caller.
        unsafe {
            let window = tx.cast::<ys_tx_window>();
            let mut at = (*window).next;
            if at == (*window).stop {
                let group = at.wrapping_add(self.stride - self.end);
                if group.addr() >= (*window).end.addr() {
                    return None;
                }
                at = group.wrapping_add(self.first);
                (*window).stop = group.wrapping_add(self.end);
            }
            at.copy_from_nonoverlapping(message.as_ptr(), message.len());
            (*window).next = at.wrapping_add(self.slot);
            let state = AtomicUsize::from_ptr(self.group(at).cast());
            // ORDERING: Release pairs with the receiver's Acquire of the state.
            state.store(at.addr().wrapping_add((*window).lap), Ordering::Release);
            // ORDERING: the compiler's order is all that is needed: the receiver has every thread pass a barrier.
            compiler_fence(Ordering::SeqCst);
            // ORDERING: Relaxed, by the fence above.
            if AtomicU32::from_ptr((*window).asleep.cast_mut()).load(Ordering::Relaxed) == 0 {
                return Some(OK);
            }
            let code = ys_tx_answer(tx);
            if code == CLOSED {
                // Ours again, where it was written.
                assert_eq!(core::slice::from_raw_parts(at, message.len()), message);
            }
            Some(code)
        }
    }

    /// Receives the first bytes of a message by the window of a handle; false: a call is needed.
    ///
    /// # Safety
    /// The handle is of a channel of such messages, and in no other use.
    pub(crate) unsafe fn recv(&self, rx: *mut ys_rx, message: &mut [u8]) -> bool {
        // SAFETY: a handle begins with its window; by the rules messages up to `known` are published. By the caller.
        unsafe {
            let window = rx.cast::<ys_rx_window>();
            if (*window).end.is_null() {
                return false;
            }
            let mut at = (*window).next;
            if at == (*window).known {
                let mut group = self.group(at.wrapping_sub(1));
                if at == group.wrapping_add(self.end) {
                    group = group.wrapping_add(self.stride);
                    if group == (*window).end {
                        return false;
                    }
                    at = group.wrapping_add(self.first);
                }
                // ORDERING: Acquire pairs with the sender's Release of the state.
                let state = AtomicUsize::from_ptr(group.cast()).load(Ordering::Acquire);
                let ahead = state.wrapping_sub((*window).lap).wrapping_sub(at.addr());
                if (ahead as isize) < 0 {
                    return false;
                }
                (*window).known = at.wrapping_add(ahead + self.slot);
            }
            message.as_mut_ptr().copy_from_nonoverlapping(at, message.len());
            (*window).next = at.wrapping_add(self.slot);
            let taken = AtomicUsize::from_ptr((*window).taken);
            // ORDERING: Release pairs with the sender's Acquire when it checks for room.
            taken.store(taken.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
            // ORDERING: as in `send`.
            compiler_fence(Ordering::SeqCst);
            // ORDERING: Relaxed, by the fence above.
            if AtomicU32::from_ptr((*window).asleep.cast_mut()).load(Ordering::Relaxed) != 0 {
                ys_rx_credit(rx);
            }
            true
        }
    }
}

/// Whether a sender shows nothing.
pub(crate) fn tx_is_shut(tx: *const ys_tx) -> bool {
    // SAFETY: a handle begins with its window.
    let window = unsafe { &*tx.cast::<ys_tx_window>() };
    window.next == window.stop && window.end.is_null()
}

/// Whether a receiver shows nothing.
pub(crate) fn rx_is_shut(rx: *const ys_rx) -> bool {
    // SAFETY: a handle begins with its window.
    unsafe { &*rx.cast::<ys_rx_window>() }.end.is_null()
}

/// Pseudo-random numbers, the same each time.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }
}
