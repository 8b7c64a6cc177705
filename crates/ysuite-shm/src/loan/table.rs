//! The table of a receiver: a bit for each slot that it holds. Its threads set and clear bits; the sender reads.

use crate::sync::{AtomicU64, Ordering, Step, fence, is_left_out};

/// The word of a slot, in bytes from the start of the table, and its bit.
pub(super) fn place(slot: usize) -> (usize, u64) {
    (slot / 64 * 8, 1 << (slot % 64))
}

/// The receiver takes the slot, before it says that it has consumed the ticket. False: it has it already.
#[must_use]
pub(super) fn hold(word: &AtomicU64, bit: u64) -> bool {
    // ORDERING: Relaxed; the Release with which the ticket is consumed, which follows, publishes it to who calls `held`.
    word.fetch_or(bit, Ordering::Relaxed) & bit == 0
}

/// The receiver reads the slot no more.
pub(super) fn give_back(word: &AtomicU64, bit: u64) {
    // ORDERING: Release pairs with the fence in `held`: what was read of the slot was read before it is written again.
    word.fetch_and(!bit, Ordering::Release);
}

/// The slots of a word that a receiver holds, of those whose tickets it has consumed, as the sender has read before.
pub(super) fn held(word: &AtomicU64) -> u64 {
    // ORDERING: Relaxed, as the memory is read-only; behind the fence in `consumed`.
    let bits = word.load(Ordering::Relaxed);
    if !is_left_out(Step::FenceAfterTable) {
        // ORDERING: Acquire pairs with the Release in `give_back`.
        fence(Ordering::Acquire);
    }
    bits
}

/// How much a receiver says it has consumed.
pub(super) fn consumed(word: &AtomicU64) -> u64 {
    // ORDERING: Relaxed, as the memory is read-only.
    let consumed = word.load(Ordering::Relaxed);
    if !is_left_out(Step::FenceAfterConsumed) {
        // ORDERING: Acquire pairs with the Release in `consume`: the bits of these tickets are in the table.
        fence(Ordering::Acquire);
    }
    consumed
}

/// The receiver has consumed so much, and holds what it was lent by it.
pub(super) fn consume(word: &AtomicU64, consumed: u64) {
    // ORDERING: Release pairs with the fence in `consumed`.
    word.store(consumed, Ordering::Release);
}

/// Behind what the sender may wait for: whether it does.
pub(super) fn is_awaited(asleep: &AtomicU64) -> bool {
    if !is_left_out(Step::PublisherFence) {
        // ORDERING: SeqCst pairs with the fence in `wait_for`: this finds the sender asleep, or its look finds what was given back.
        fence(Ordering::SeqCst);
    }
    // ORDERING: Relaxed; after the fence.
    asleep.load(Ordering::Relaxed) != 0
}

/// The sender is about to sleep. It must look once more.
pub(super) fn wait_for(asleep: &AtomicU64) {
    // ORDERING: Relaxed; the fence below orders it before the look that follows.
    asleep.store(1, Ordering::Relaxed);
    if !is_left_out(Step::SleeperFence) {
        // ORDERING: SeqCst pairs with the fence in `is_awaited`.
        fence(Ordering::SeqCst);
    }
}

/// The sender is awake.
pub(super) fn wait_no_more(asleep: &AtomicU64) {
    // ORDERING: Relaxed; who finds the old value wakes it without a reason.
    asleep.store(0, Ordering::Relaxed);
}

#[cfg(all(test, ysuite_loom))]
mod models;
