//! One end of somebody else's channel.

/// The traits of the instrument can be implemented here for types of this package only.
#[derive(Clone)]
pub struct End<E>(pub(crate) E);
