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
