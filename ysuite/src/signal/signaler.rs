//! [`Signaler`]: the raising end of a set, for any thread.

use core::fmt;

use super::set::SetCore;
use super::{Signal, check_range};
use crate::sync::Arc;

/// Raises the signals of one [`YPollset`](super::YPollset) or `YSocketpair`.
///
/// Clones are cheap and equal. Any thread may use one, also at the same time, also after the set is gone (then without
/// effect). A `YSocketpair`'s descriptors stay open until its signalers are gone, too.
#[derive(Clone)]
pub struct Signaler {
    core: Arc<SetCore>,
}

impl Signaler {
    pub(super) fn new(core: Arc<SetCore>) -> Self {
        Self { core }
    }
}

impl Signal for Signaler {
    fn signal(&self, id: usize) {
        check_range(id, self.core.capacity());
        self.core.raise(id);
    }

    fn capacity(&self) -> usize {
        self.core.capacity()
    }
}

impl fmt::Debug for Signaler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signaler").field("capacity", &self.core.capacity()).finish_non_exhaustive()
    }
}
