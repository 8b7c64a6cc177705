//! [`Table`]: things by keys that never come back. One thread; constant time.
//!
//! A key is a place and how often that place had been left before, so the key of something that is gone finds nothing,
//! whoever lives in its place now.

/// Where something is, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) place: u32,
    left: u32,
}

/// How much of a token is a place: half of it, or on 32 bits, where half is too little, 20 bits.
const PLACE_BITS: u32 = if usize::BITS >= 64 { 32 } else { 20 };
const PLACES: usize = (1 << PLACE_BITS) - 1;

impl Key {
    /// As one number, to be [found](Table::find) by: the place, and as much as there is room for of how often it had been
    /// left. Never `usize::MAX`. `None`: so many places have no numbers.
    pub(super) fn token(self) -> Option<usize> {
        let place = self.place as usize;
        (place < PLACES).then_some(place | (self.left as usize) << PLACE_BITS)
    }
}

struct Place<T> {
    left: u32,
    item: Option<T>,
}

pub(super) struct Table<T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
}

impl<T> Table<T> {
    pub(super) const fn new() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }

    /// The key that the next thing will have: to make arrangements under it which may fail.
    pub(super) fn next(&self) -> Key {
        let place = self.free.last().map_or(self.places.len(), |&place| place as usize);
        let left = self.places.get(place).map_or(0, |place| place.left);
        Key { place: u32::try_from(place).expect("memory for four thousand million places"), left }
    }

    pub(super) fn insert(&mut self, item: T) -> Key {
        let place = self.free.pop().unwrap_or_else(|| {
            let place = u32::try_from(self.places.len()).expect("memory for four thousand million places");
            self.places.push(Place { left: 0, item: None });
            place
        });
        let found = &mut self.places[place as usize];
        found.item = Some(item);
        Key { place, left: found.left }
    }

    pub(super) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        let place = self.places.get_mut(key.place as usize)?;
        if place.left == key.left { place.item.as_mut() } else { None }
    }

    /// What lives in a place now.
    pub(super) fn key_at(&self, place: usize) -> Option<Key> {
        let found = self.places.get(place)?;
        found.item.as_ref().map(|_| Key { place: place as u32, left: found.left })
    }

    /// What has this token now.
    pub(super) fn find(&self, token: usize) -> Option<Key> {
        self.key_at(token & PLACES).filter(|key| key.token() == Some(token))
    }

    pub(super) fn remove(&mut self, key: Key) -> Option<T> {
        let place = self.places.get_mut(key.place as usize).filter(|place| place.left == key.left)?;
        let item = place.item.take()?;
        place.left = place.left.wrapping_add(1);
        self.free.push(key.place);
        Some(item)
    }

    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }
}
