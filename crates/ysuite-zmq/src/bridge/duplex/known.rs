//! [`Known`]: what is known of the other side, and of those in whose place it came: one of them may come back.

use std::collections::VecDeque;

/// The number of earlier peers that are remembered. A peer that comes back, and is none of these, counts as new.
const KNOWN: usize = 16;

pub(super) struct Known<T> {
    /// Of the other side.
    pub(super) present: T,
    /// Its session; 0 before the first.
    session: u64,
    /// Those before it, the oldest first.
    earlier: VecDeque<(u64, T)>,
    /// There were more than are known.
    has_forgotten: bool,
}

impl<T> Known<T> {
    pub(super) fn new(nobody: T) -> Self {
        Self { present: nobody, session: 0, earlier: VecDeque::new(), has_forgotten: false }
    }

    /// Another bridge takes the place of the other side. An unknown one begins with the value of this function, whose
    /// argument says whether a peer has been forgotten, which may be this one.
    pub(super) fn meet(&mut self, session: u64, fresh: impl FnOnce(bool) -> T) {
        let known = self.earlier.iter().position(|(earlier, _)| *earlier == session);
        let next = known.and_then(|at| self.earlier.remove(at)).map(|(_, known)| known);
        let next = next.unwrap_or_else(|| fresh(self.has_forgotten));
        let before = core::mem::replace(&mut self.present, next);
        let session = core::mem::replace(&mut self.session, session);
        if session == 0 {
            return;
        }
        if self.earlier.len() == KNOWN {
            self.earlier.pop_front();
            self.has_forgotten = true;
        }
        self.earlier.push_back((session, before));
    }

    /// What is known of all of them.
    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut T> {
        core::iter::once(&mut self.present).chain(self.earlier.iter_mut().map(|(_, known)| known))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_are_known_besides_the_current_one() {
        let mut known = Known::new(0);
        let mut meet = |session| {
            let (mut is_new, mut has_forgotten) = (false, false);
            known.meet(session, |forgotten| {
                (is_new, has_forgotten) = (true, forgotten);
                session * 10
            });
            assert_eq!(known.present, session * 10);
            (is_new, has_forgotten)
        };
        (1..=17).for_each(|session| assert_eq!(meet(session), (true, false)));
        // All 16 before it are there still.
        (1..=17).for_each(|session| assert_eq!(meet(session), (false, false)));
        assert_eq!(meet(18), (true, false));
        assert_eq!(meet(1), (true, true));
    }
}
