//! Handles that several threads share, in a [`ReadySet`](super::ReadySet): what the select keeps for each.
//!
//! The owner of the select only. A *watcher* waits in the channel's list in place of a handle, and is no handle itself:
//! it keeps the channel's memory, and neither side alive. An attached handle takes its id down when it finds nothing. A
//! watched handle does not know the set, so the select has its watcher do that.

#[cfg(feature = "signal")]
use core::fmt;

use super::{AttachError, Registration};

/// A handle that can be added to a [`ReadySet`](super::ReadySet) by shared reference: the receivers and senders of an
/// [`mpmc`](crate::mpmc).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be added by shared reference",
    note = "only handles of an mpmc can; others are added mutably, by `ReadySet::add`"
)]
pub trait AttachShared {
    /// Returns an object that waits as this handle does, and belongs to a select.
    #[doc(hidden)]
    fn watcher<'a>(&self) -> Box<dyn SharedWatcher + 'a>
    where
        Self: 'a;

    /// The channel, and the side of it.
    #[doc(hidden)]
    fn side(&self) -> (*const (), bool);

    /// From now on a select waits in place of this handle: its earlier wait is no longer notified.
    #[doc(hidden)]
    fn give_way(&self);
}

/// What a handle of a side may find.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Prospect {
    /// Nothing yet.
    Nothing,
    /// A message, or room; or the end, just now.
    Something,
    /// Nothing any more.
    End,
}

/// What waits in place of shared handles. Leaves its set when dropped.
#[doc(hidden)]
pub trait SharedWatcher: Send + Sync {
    /// Takes the registration over, and raises it at once. Called once.
    fn attach(&mut self, registration: Registration) -> Result<(), AttachError>;

    /// What a handle of its side may find. If nothing yet, the id is down, and will be raised.
    fn prospect(&self) -> Prospect;

    /// The id goes down, and will not be raised: its side is over, and the select has named it.
    fn tell_end(&self);

    /// As [`AttachShared::side`].
    fn side(&self) -> (*const (), bool);
}

/// The watchers of one select, by their ids.
#[cfg(feature = "signal")]
#[derive(Default)]
pub(super) struct SharedWatchers<'a>(Vec<Option<WatchedSide<'a>>>);

/// A side that is watched.
#[cfg(feature = "signal")]
struct WatchedSide<'a> {
    watcher: Box<dyn SharedWatcher + 'a>,
    /// It has been named since it was over.
    is_told: bool,
}

#[cfg(feature = "signal")]
impl<'a> SharedWatchers<'a> {
    pub(super) fn add(&mut self, id: usize, watcher: Box<dyn SharedWatcher + 'a>) {
        if self.0.len() <= id {
            // MUTANT: Memory only: one more entry in the table.
            self.0.resize_with(id + 1, || None);
        }
        self.0[id] = Some(WatchedSide { watcher, is_told: false });
    }

    /// The id of a side that is watched.
    pub(super) fn id_of(&self, side: (*const (), bool)) -> Option<usize> {
        self.0.iter().position(|place| place.as_ref().is_some_and(|watched| watched.watcher.side() == side))
    }

    /// Out of the table before it leaves the channel's list: that may wake another handle, which runs user code.
    pub(super) fn remove(&mut self, side: (*const (), bool)) -> Option<usize> {
        let id = self.id_of(side)?;
        drop(self.0[id].take());
        Some(id)
    }

    /// Whether `id`, which is up, is worth naming. An id without a watcher is: its handle takes it down. A side that is
    /// over is worth it once.
    #[inline]
    pub(super) fn confirm(&mut self, id: usize) -> bool {
        self.0.get_mut(id).and_then(Option::as_mut).is_none_or(WatchedSide::is_worth_naming)
    }
}

#[cfg(feature = "signal")]
impl WatchedSide<'_> {
    // Not inlined: handles that were added mutably, which are most, pass by it.
    #[inline(never)]
    fn is_worth_naming(&mut self) -> bool {
        match self.watcher.prospect() {
            Prospect::Nothing => false,
            Prospect::Something => true,
            Prospect::End => self.is_first_told(),
        }
    }

    #[cold]
    fn is_first_told(&mut self) -> bool {
        if self.is_told {
            self.watcher.tell_end();
        }
        !core::mem::replace(&mut self.is_told, true)
    }
}

#[cfg(feature = "signal")]
impl fmt::Debug for SharedWatchers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.0.iter().enumerate().filter(|(_, watcher)| watcher.is_some()).map(|(id, _)| id))
            .finish()
    }
}
