//! [`Table`]: items by keys that are never reused (a slot map). One thread; constant time.
//!
//! A key is the index of a slot and its generation: the number of items that the slot has held before. So the key of a
//! removed item finds nothing, also when the slot holds another item. A slot whose generations are used up is not used
//! again.

use crate::foreign::Panics;

// REUSED: a key (`Source`, `TimerKey`); held by users; harmless: a key is an entry and how often it had been left; test:
//     tests/suite/hub/descriptors.rs: handlers_remove_themselves_and_others_of_the_same_batch
/// A slot, and which of its items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) index: u32,
    generation: u32,
}

/// The bits of a token that are the index: half of them, or on 32 bits, where half is too few, 20.
const INDEX_BITS: u32 = if usize::BITS >= 64 { 32 } else { 20 };
const INDICES: usize = (1 << INDEX_BITS) - 1;

impl Key {
    // MUTANT: No test can make more slots than a key can tell apart.
    /// One number for [`find`](Table::find): the index, and as many bits of the generation as fit. Never `usize::MAX`.
    /// `None`: the index does not fit.
    pub(super) fn token(self) -> Option<usize> {
        let index = self.index as usize;
        (index < INDICES).then_some(index | (self.generation as usize) << INDEX_BITS)
    }
}

/// Slots that are kept, however few are in use.
const KEPT_SLOTS: usize = 64;

struct TableSlot<T> {
    generation: u32,
    item: Option<T>,
}

// GROWS: receivers; bound: the signals of the set; full: `InvalidInput`, and the receiver comes back; entries are
//     reused, memory is freed with the hub; cost: constant; test: tests/suite/hub/bad_input.rs:
//     an_attached_receiver_and_one_too_many_come_back
// GROWS: descriptors, timers; bound: 2^32 entries (descriptors where a word has 32 bits: 2^20); full: an error for
//     descriptors; else memory is exhausted first; cost: constant; test: tests/suite/hub/random.rs:
//     operations_at_random_do_what_a_reference_says
// REUSED: an entry of the descriptors' table; held by the poller, where a duplicate keeps the closed descriptor;
//     harmless: tokens carry how often the entry had been left; test: tests/suite/hub/numbers.rs:
//     what_a_duplicate_keeps_in_the_poller_calls_no_handler
// REUSED: an entry of the receivers' table, and its signal; held by a sender that is about to raise it for the receiver
//     before; harmless: it wakes the new receiver spuriously, which is found empty, and armed; test:
//     tests/suite/hub/receivers.rs: receivers_come_and_go_by_the_thousand
pub(super) struct Table<T> {
    slots: Vec<TableSlot<T>>,
    free: Vec<u32>,
    /// Slots whose generations are used up.
    spent: usize,
    /// The generation of a new slot: no slot that was given back had an item of this one.
    first: u32,
    /// The number of items removed since slots were last given back.
    removed: usize,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), spent: 0, first: 0, removed: 0 }
    }
}

impl<T> Table<T> {
    /// The key that the next item will have, for preparations that may fail.
    pub(super) fn next(&self) -> Key {
        let index = self.free.last().map_or(self.slots.len(), |&index| index as usize);
        let generation = self.slots.get(index).map_or(self.first, |slot| slot.generation);
        Key { index: u32::try_from(index).expect("memory for four thousand million slots"), generation }
    }

    pub(super) fn insert(&mut self, item: T) -> Key {
        let key = self.next();
        if self.free.pop().is_none() {
            self.slots.push(TableSlot { generation: self.first, item: None });
        }
        self.slots[key.index as usize].item = Some(item);
        key
    }

    pub(super) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        self.slot(key)?.item.as_mut()
    }

    fn slot(&mut self, key: Key) -> Option<&mut TableSlot<T>> {
        self.slots.get_mut(key.index as usize).filter(|slot| slot.generation == key.generation)
    }

    /// The key of the item in a slot.
    pub(super) fn key_at(&self, index: usize) -> Option<Key> {
        let slot = self.slots.get(index)?;
        slot.item.as_ref().map(|_| Key { index: index as u32, generation: slot.generation })
    }

    /// The key of the item that has this token.
    pub(super) fn find(&self, token: usize) -> Option<Key> {
        self.key_at(token & INDICES).filter(|key| key.token() == Some(token))
    }

    pub(super) fn remove(&mut self, key: Key) -> Option<T> {
        let slot = self.slot(key)?;
        let item = slot.item.take()?;
        match slot.generation.checked_add(1) {
            Some(next) => {
                slot.generation = next;
                self.free.push(key.index);
            }
            // MUTANT: Generations of a slot only have to differ.
            None => self.spent += 1,
        }
        self.removed += 1;
        if self.slots.len() > KEPT_SLOTS && (self.len() == 0 || self.is_sparse()) {
            self.give_back();
        }
        Some(item)
    }

    fn is_sparse(&self) -> bool {
        self.removed >= self.slots.len() && self.free.len() > self.slots.len() / 4 * 3
    }

    /// Gives free slots at the end back: when none is in use, or once for as many removals as there are slots.
    #[cold]
    fn give_back(&mut self) {
        self.removed = 0;
        let last = self.slots.iter().rposition(|slot| slot.item.is_some() || slot.generation == u32::MAX);
        let kept = last.map_or(0, |last| last + 1).max(KEPT_SLOTS);
        // The generation of a free slot is one that no key has.
        let newest = self.slots.drain(kept..).map(|slot| slot.generation).max();
        self.first = self.first.max(newest.unwrap_or(0));
        self.slots.shrink_to(2 * kept);
        self.free.retain(|&index| (index as usize) < kept);
        self.free.shrink_to(2 * kept);
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len() - self.spent
    }
}

// USER CODE: `Drop` of receivers, sources, handlers and timers' functions, with the hub; the hub can no longer be used,
//     and its posted functions are dropped before; re-entrance: on handles: refused; panic: all others are dropped,
//     then the first propagates; test: tests/suite/hub/panics.rs:
//     of_several_ends_that_panic_with_the_hub_the_first_goes_on
impl<T> Drop for Table<T> {
    // MUTANT: The drop of the vector does the same unless an item panics while unwinding.
    fn drop(&mut self) {
        // Items contain user code, which may panic: all are dropped, and the first panic propagates.
        let mut panics = Panics::none();
        self.slots.drain(..).for_each(|slot| panics.catch(|| drop(slot)));
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::Table;

    #[test]
    fn a_slot_that_is_free_has_the_next_item_under_another_key() {
        let mut table = Table::default();
        let first = table.insert('a');
        assert_eq!((table.remove(first), table.len()), (Some('a'), 0));
        let second = table.insert('b');
        assert_eq!((first.index, second.index, table.len()), (0, 0, 1));
        // The key of the earlier item finds nothing.
        assert!(first != second && table.get_mut(first).is_none() && table.remove(first).is_none());
        assert_eq!(table.get_mut(second), Some(&mut 'b'));
    }

    #[test]
    fn slots_that_were_given_back_have_other_keys_when_they_are_made_again() {
        let mut table = Table::default();
        let keys: Vec<_> = (0..10_000).map(|number| table.insert(number)).collect();
        // One in front stays, and one in the middle until the others have gone.
        for &key in keys.iter().skip(1).filter(|key| key.index != 5_000) {
            assert!(table.remove(key).is_some());
        }
        assert_eq!((table.len(), table.slots.len()), (2, 10_000));
        table.remove(keys[5_000]);
        (0..10_000).for_each(|number| {
            let key = table.insert(number);
            table.remove(key);
        });
        assert!(table.len() == 1 && table.slots.len() == 64 && table.slots.capacity() <= 128);
        assert!(table.free.len() == 63 && table.free.capacity() <= 128);
        let again: Vec<_> = (0..10_000).map(|number| table.insert(number)).collect();
        assert!(keys.iter().skip(1).all(|&key| table.get_mut(key).is_none()));
        assert!(table.get_mut(keys[0]) == Some(&mut 0) && again.iter().all(|&key| table.get_mut(key).is_some()));
    }

    #[test]
    fn a_slot_whose_keys_are_used_up_is_not_used_again() {
        let mut table = Table::default();
        let first = table.insert('a');
        table.remove(first);
        table.slots[0].generation = u32::MAX;
        let last = table.insert('b');
        assert_eq!((last.index, table.remove(last), table.len()), (0, Some('b'), 0));
        assert!(table.get_mut(last).is_none() && table.remove(last).is_none() && table.key_at(0).is_none());
        let next = table.insert('c');
        assert_eq!((next.index, table.len()), (1, 1));
        assert!(next != first && table.get_mut(first).is_none());
    }
}
