//! [`Sets`]: the sets to which a bridge's handles are attached, so that the bridge can sleep for them. Each has a set
//! of its own: one may be up that is not wanted now, and a set is readable as a whole.

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

    /// The receiver's set.
    pub(super) fn of_source(&mut self) -> Option<&mut YSocketpair> {
        self.source.as_mut()
    }

    /// Whether a handle that is wanted may have something.
    pub(super) fn is_up(&mut self, wanted: Wanted) -> bool {
        let is_up = |set: &mut Option<YSocketpair>| set.as_mut().is_some_and(|set| set.check().next().is_some());
        // Both, if both are wanted: a set that was not polled stays readable.
        (wanted.source && is_up(&mut self.source)) | (wanted.sink && is_up(&mut self.sink))
    }

    /// What becomes readable when a handle that is wanted has something.
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

#[cfg(test)]
mod tests {
    use ysuite::spsc;

    use super::*;

    #[test]
    fn a_set_is_up_where_its_end_is_wanted_and_has_something() {
        let (mut sender, mut source) = spsc::bounded::<u64>(1);
        let (mut sink, mut receiver) = spsc::bounded::<u64>(1);
        let mut sets = Sets::default().source(&mut source).unwrap().sink(&mut sink).unwrap();
        let wanted = |source, sink| Wanted { source, sink, ..Wanted::default() };
        // As far as is known.
        sets.is_up(wanted(true, true));
        sink.try_send(1).unwrap();
        assert!(source.try_recv().is_err() && sink.try_send(2).is_err());
        assert!(!sets.is_up(wanted(true, true)));
        sender.send(1).unwrap();
        assert!(!sets.is_up(wanted(false, true)) && sets.is_up(wanted(true, false)));
        // Until it has found nothing.
        assert!(source.try_recv().is_ok() && source.try_recv().is_err());
        assert!(!sets.is_up(wanted(true, true)));
        receiver.try_recv().unwrap();
        assert!(!sets.is_up(wanted(true, false)) && sets.is_up(wanted(false, true)));
        assert!(sink.try_send(3).is_ok() && sink.try_send(4).is_err());
        assert!(!sets.is_up(wanted(true, true)));
        assert_eq!(sets.descriptors(wanted(true, true)).count(), 2);
        assert_eq!(sets.descriptors(wanted(true, false)).count(), 1);
        assert_eq!(sets.descriptors(wanted(false, false)).count(), 0);
    }
}
