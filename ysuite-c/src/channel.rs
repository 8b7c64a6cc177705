//! What all ends of a channel have in common beside the channel itself. Never changes.

use crate::disposal::Disposal;
use crate::options::Wanted;

pub(crate) struct Channel {
    pub(crate) disposal: Option<Disposal>,
    /// How far apart its slots are, in bytes.
    pub(crate) stride: usize,
    /// Whether its ends show windows.
    pub(crate) has_window: bool,
}

impl Channel {
    pub(crate) fn new(wanted: &Wanted, has_window: bool) -> Self {
        Self { disposal: wanted.disposal, stride: wanted.class.stride, has_window }
    }
}
