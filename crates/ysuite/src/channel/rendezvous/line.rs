//! A line of registrations, which each may leave at any time: all in constant time. Under a lock.
//!
//! Grows to the maximal number of simultaneous registrations; slots are used again.

/// No slot. Slots have numbers of half a word: a line of more would take 100 GB.
const NONE: u32 = u32::MAX;

pub(super) struct Line<N> {
    places: Vec<LinePlace<N>>,
    first: u32,
    last: u32,
    /// The first free slot; free slots are linked by `behind`.
    free: u32,
    length: usize,
}

struct LinePlace<N> {
    node: Option<N>,
    before: u32,
    behind: u32,
}

impl<N> Line<N> {
    pub(super) const fn new() -> Self {
        Self { places: Vec::new(), first: NONE, last: NONE, free: NONE, length: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// Adds a registration at the back of the line. Returns its slot.
    pub(super) fn push(&mut self, node: N) -> u32 {
        let place = LinePlace { node: Some(node), before: self.last, behind: NONE };
        let at = if self.free == NONE {
            let at = u32::try_from(self.places.len()).ok().filter(|&at| at != NONE);
            let at = at.expect("fewer than 4 billion operations wait");
            self.places.push(place);
            at
        } else {
            let at = self.free;
            self.free = core::mem::replace(&mut self.places[at as usize], place).behind;
            at
        };
        match self.last {
            NONE => self.first = at,
            last => self.places[last as usize].behind = at,
        }
        self.last = at;
        self.length += 1;
        at
    }

    /// Leaves the line.
    pub(super) fn remove(&mut self, at: u32) -> Option<N> {
        let place = self.places.get_mut(at as usize)?;
        let node = place.node.take()?;
        let (before, behind) = (place.before, place.behind);
        place.behind = self.free;
        self.free = at;
        match before {
            NONE => self.first = behind,
            before => self.places[before as usize].behind = behind,
        }
        match behind {
            NONE => self.last = before,
            behind => self.places[behind as usize].before = before,
        }
        self.length -= 1;
        Some(node)
    }

    /// The slot of the first registration in line.
    pub(super) fn first(&self) -> u32 {
        self.first
    }

    /// The registration in this slot of the line, and the slot of the next. `None`: the line is over.
    pub(super) fn look(&self, at: u32) -> Option<(&N, u32)> {
        let place = self.places.get(at as usize)?;
        Some((place.node.as_ref()?, place.behind))
    }

    /// The slot of the first registration in line that is `wanted`.
    pub(super) fn find(&self, wanted: &dyn Fn(&N) -> bool) -> Option<u32> {
        let mut at = self.first;
        while let Some((node, behind)) = self.look(at) {
            if wanted(node) {
                return Some(at);
            }
            at = behind;
        }
        None
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::Line;

    fn list(line: &Line<u32>) -> Vec<u32> {
        let mut nodes = Vec::new();
        let mut at = line.first();
        while let Some((&node, behind)) = line.look(at) {
            assert_eq!(line.find(&|&other| other == node), Some(at));
            nodes.push(node);
            at = behind;
        }
        assert_eq!(line.find(&|_| false), None);
        nodes
    }

    #[test]
    fn anybody_may_leave_and_places_are_used_again() {
        let mut line = Line::new();
        assert_eq!((list(&line), line.remove(0)), (vec![], None));
        let places: Vec<_> = (0..5).map(|node| line.push(node)).collect();
        for (left, rest) in [(2, &[0, 1, 3, 4][..]), (0, &[1, 3, 4]), (4, &[1, 3])] {
            assert_eq!(line.remove(places[left]), Some(left as u32));
            assert_eq!((line.remove(places[left]), list(&line)), (None, rest.to_vec()));
        }
        (5..8).for_each(|node| assert!(line.push(node) < 5));
        assert_eq!((list(&line), line.len()), (vec![1, 3, 5, 6, 7], 5));
        assert_eq!(line.push(8), 5);
    }
}
