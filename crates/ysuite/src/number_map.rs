//! A map by numbers that the library gives out itself. A hash map: the standard library's ordered one is four times as
//! much code for each type of values.

use core::hash::{BuildHasherDefault, Hasher};
use std::collections::HashMap;
#[cfg(feature = "mailbox")]
use std::hash::{BuildHasher, Hash};

pub(crate) type NumberMap<V> = HashMap<u64, V, BuildHasherDefault<NumberHasher>>;

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
#[cfg(feature = "mailbox")]
const KEPT_ROOM: usize = 32;

// MUTANT: Memory only: how much room is kept.
/// After entries were removed: memory that is kept is in proportion to the entries that are left. So an entry that goes
/// pays for moving few others.
#[cfg(feature = "mailbox")]
pub(crate) fn give_back_room<K: Eq + Hash, V, S: BuildHasher>(map: &mut HashMap<K, V, S>) {
    if map.capacity() > KEPT_ROOM && map.len() < map.capacity() / 4 {
        map.shrink_to((2 * map.len()).max(KEPT_ROOM));
    }
}
