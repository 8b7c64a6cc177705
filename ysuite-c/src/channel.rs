//! What all ends of a channel have in common beside the channel itself. Never changes.

use crate::disposal::Disposal;
use crate::options::Wanted;

pub(crate) struct Channel {
    pub(crate) disposal: Option<Disposal>,
    /// How far apart its slots are, in bytes.
    pub(crate) stride: usize,
    /// How many bytes a message has.
    pub(crate) size: usize,
    /// Whether its ends show their windows, where they have any.
    pub(crate) shows_windows: bool,
}

impl Channel {
    pub(crate) fn new(wanted: &Wanted) -> Self {
        let Wanted { class, size, disposal, has_window: shows_windows, .. } = *wanted;
        Self { disposal, stride: class.stride, size, shows_windows }
    }
}
