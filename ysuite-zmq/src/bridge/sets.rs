//! [`Sets`]: where the ends of a bridge's channels stand, so that the bridge can sleep for them. Each has a set of its own: one
//! may be up that nobody wants now, and a set is readable as a whole.

use std::os::fd::{AsFd, BorrowedFd};

use ysuite::signal::{Attach, Wait, YSocketpair};

use super::work::Wanted;
use crate::error::Error;

#[derive(Default)]
pub(super) struct Sets {
    source: Option<YSocketpair>,
    sink: Option<YSocketpair>,
}

impl Sets {
    /// With the receiver whose messages leave.
    pub(super) fn source(mut self, end: &mut impl Attach) -> Result<Self, Error> {
        self.source = Some(stood(end)?);
        Ok(self)
    }

    /// With the sender of those that come.
    pub(super) fn sink(mut self, end: &mut impl Attach) -> Result<Self, Error> {
        self.sink = Some(stood(end)?);
        Ok(self)
    }

    /// Where the receiver stands.
    pub(super) fn of_source(&mut self) -> Option<&mut YSocketpair> {
        self.source.as_mut()
    }

    /// Whether an end that is wanted may have something.
    pub(super) fn is_up(&mut self, wanted: Wanted) -> bool {
        let is_up = |set: &mut Option<YSocketpair>| set.as_mut().is_some_and(|set| set.check().next().is_some());
        // Both, where both are wanted: a set that nobody has looked at stays readable.
        (wanted.source && is_up(&mut self.source)) | (wanted.sink && is_up(&mut self.sink))
    }

    /// What becomes readable when an end that is wanted has something.
    pub(super) fn descriptors(&self, wanted: Wanted) -> impl Iterator<Item = BorrowedFd<'_>> {
        let source = self.source.as_ref().filter(|_| wanted.source);
        let sink = self.sink.as_ref().filter(|_| wanted.sink);
        source.into_iter().chain(sink).map(AsFd::as_fd)
    }
}

fn stood(end: &mut impl Attach) -> Result<YSocketpair, Error> {
    let mut set = YSocketpair::with_capacity(1)?;
    set.attach(end, 0).map_err(|_| Error::Attached)?;
    Ok(set)
}
