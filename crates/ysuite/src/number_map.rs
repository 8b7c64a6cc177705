//! A map by numbers that the library gives out itself. The values are in a list, and the standard library's hash map knows
//! their places: so that map, which is three thousand lines for the code generator, is compiled for one type of values.
//! One thread.

use core::hash::{BuildHasherDefault, Hasher};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};

/// Where the values are.
type NumberPlaces = HashMap<u64, usize, BuildHasherDefault<NumberHasher>>;

pub(crate) struct NumberMap<V> {
    places: NumberPlaces,
    entries: Vec<(u64, V)>,
}

impl<V> Default for NumberMap<V> {
    fn default() -> Self {
        Self { places: NumberPlaces::default(), entries: Vec::new() }
    }
}

impl<V> NumberMap<V> {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn get(&self, number: u64) -> Option<&V> {
        self.entries.get(find(&self.places, number)?).map(|(_, value)| value)
    }

    #[cfg(feature = "mailbox")]
    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut V> {
        self.entries.get_mut(find(&self.places, number)?).map(|(_, value)| value)
    }

    /// The value of that number, which is made where there is none.
    #[cfg(feature = "mailbox")]
    pub(crate) fn get_or_insert_with(&mut self, number: u64, make: impl FnOnce() -> V) -> &mut V {
        let at = match find(&self.places, number) {
            Some(at) => at,
            None => self.push(number, make()),
        };
        &mut self.entries[at].1
    }

    /// Puts a value there, and returns the one that was there.
    pub(crate) fn insert(&mut self, number: u64, value: V) -> Option<V> {
        match find(&self.places, number) {
            Some(at) => Some(core::mem::replace(&mut self.entries[at].1, value)),
            None => {
                self.push(number, value);
                None
            }
        }
    }

    fn push(&mut self, number: u64, value: V) -> usize {
        let at = self.entries.len();
        self.entries.push((number, value));
        put(&mut self.places, number, at);
        at
    }

    /// Takes a value out, and gives back the room of many that are gone.
    pub(crate) fn remove(&mut self, number: u64) -> Option<V> {
        let at = take(&mut self.places, number)?;
        let (_, value) = self.entries.swap_remove(at);
        // The last one is where this one was.
        if let Some((moved, _)) = self.entries.get(at) {
            put(&mut self.places, *moved, at);
        }
        if let Some(room) = room_to_keep(self.entries.capacity(), self.entries.len()) {
            self.entries.shrink_to(room);
        }
        Some(value)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.iter().map(|(_, value)| value)
    }

    pub(crate) fn into_values(self) -> impl Iterator<Item = V> {
        self.entries.into_iter().map(|(_, value)| value)
    }
}

#[inline(never)]
fn find(places: &NumberPlaces, number: u64) -> Option<usize> {
    places.get(&number).copied()
}

#[inline(never)]
fn put(places: &mut NumberPlaces, number: u64, at: usize) {
    places.insert(number, at);
}

#[inline(never)]
fn take(places: &mut NumberPlaces, number: u64) -> Option<usize> {
    let at = places.remove(&number);
    give_back_room(places);
    at
}

/// Numbers are consecutive: a multiplication spreads them well enough.
#[derive(Default)]
pub(crate) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    // MUTANT: Never called: the keys are numbers, which `write_u64` hashes.
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    // MUTANT: Speed only: how evenly keys spread. Equal hashes are resolved by comparing keys.
    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
    }
}

/// Room for this number of entries is kept, however few there are.
const KEPT_ROOM: usize = 32;

// MUTANT: Memory only: how much room is kept.
/// After entries were removed: the room to keep, where it is less than there is. It is in proportion to the entries that are
/// left. So an entry that goes pays for moving few others.
fn room_to_keep(capacity: usize, entries: usize) -> Option<usize> {
    (capacity > KEPT_ROOM && entries < capacity / 4).then(|| (2 * entries).max(KEPT_ROOM))
}

/// After entries were removed from a map: gives back their room.
pub(crate) fn give_back_room<K: Eq + Hash, V, S: BuildHasher>(map: &mut HashMap<K, V, S>) {
    if let Some(room) = room_to_keep(map.capacity(), map.len()) {
        map.shrink_to(room);
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use std::collections::BTreeMap;

    use super::NumberMap;

    /// Claim: A map by numbers does what an ordered map does, whatever is put in and taken out.
    #[test]
    fn random_operations_agree_with_an_ordered_map() {
        let (mut map, mut model, mut state) = (NumberMap::default(), BTreeMap::new(), 7_u64);
        for step in 0..20_000_u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Few numbers at first, then many, then few.
            let number = (state >> 33) % (1 + step.min(20_000 - step) / 10);
            match state >> 61 {
                0..3 => assert_eq!(map.insert(number, step), model.insert(number, step)),
                3..6 => assert_eq!(map.remove(number), model.remove(&number)),
                6 => assert_eq!(map.get(number), model.get(&number)),
                _ => assert_eq!(map.get_or_insert_with(number, || step), model.entry(number).or_insert(step)),
            }
            assert_eq!(map.len(), model.len());
        }
        let mut values: Vec<_> = map.values().copied().collect();
        let mut expected: Vec<_> = model.into_values().collect();
        values.sort_unstable();
        expected.sort_unstable();
        assert_eq!(values, expected);
    }

    #[test]
    fn what_goes_leaves_no_memory() {
        let mut map = NumberMap::default();
        (0..100_000).for_each(|number| assert_eq!(map.insert(number, number), None));
        (0..99_990).for_each(|number| assert_eq!(map.remove(number), Some(number)));
        assert!(map.entries.capacity() <= 64 && map.places.capacity() <= 128, "{}", map.places.capacity());
        let mut left: Vec<_> = map.into_values().collect();
        left.sort_unstable();
        assert!(left.into_iter().eq(99_990..100_000));
    }
}
