//! A select at a rendezvous: it tries, registers in line with its claim, and leaves.

use core::marker::PhantomData;

use super::case::Looked;
use super::sleeper::SelectWaiter;
use crate::channel::rendezvous::{
    AnyParty, Closed, Exchanged, LentPlace, LineSlot, Look, MeetingOf, MeetingSide, Met, Outlined, OutlinedDrop, Party,
};
use crate::foreign::Panics;
use crate::wait::many::Owed;

/// A case at a rendezvous, of either side.
pub(in crate::channel) struct MeetingCase<'a, T> {
    line: Outlined<LineCase<'a>>,
    of: PhantomData<&'a MeetingOf<T>>,
}

impl<'a, T> MeetingCase<'a, T> {
    pub(super) fn new<const SENDS: bool>(party: &Party<'a, T, SENDS>) -> Self {
        let line = LineCase { party: party.any(), slot: None, is_notified: false };
        Self { line: Outlined::new(line), of: PhantomData }
    }

    pub(super) fn line(&self) -> &LineCase<'a> {
        &self.line
    }

    /// Lends the place to the case.
    pub(super) fn with<R>(
        &mut self,
        place: &mut Option<T>,
        act: impl FnOnce(&mut LineCase<'a>, &mut LentPlace<'_>) -> R,
    ) -> R {
        // SAFETY: the case is of a rendezvous of `T`.
        act(&mut self.line, &mut unsafe { LentPlace::new(place) })
    }
}

/// As [`MeetingCase`], without the type of the messages. See [`SelectOperation`](super::operation::SelectOperation).
pub(super) struct LineCase<'a> {
    party: AnyParty<'a>,
    slot: Option<LineSlot>,
    /// A notification of another slot is to be passed on.
    is_notified: bool,
}

impl OutlinedDrop for LineCase<'_> {
    #[inline(never)]
    unsafe fn drop_outlined(case: *mut Self) {
        // SAFETY: by the caller.
        unsafe { core::ptr::drop_in_place(case) };
    }
}

impl<'a> LineCase<'a> {
    pub(super) fn attempt(&mut self, place: &mut LentPlace<'_>) -> Option<Exchanged> {
        self.party.exchange(place)
    }

    // MUTANT: The message is registered already, so there is none to register a second time.
    pub(super) fn stand(&mut self, waiter: &SelectWaiter, case: usize, place: &mut LentPlace<'_>) -> Option<Exchanged> {
        if self.slot.is_some() {
            return None;
        }
        self.is_notified |= self.party.disarm_slots();
        match self.party.stand(&waiter.ticket, case as u32, place, false) {
            Ok(None) => Some(Ok(())),
            Ok(slot) => {
                self.slot = slot;
                None
            }
            Err(closed) => Some(Err(closed)),
        }
    }

    pub(super) fn look(&mut self, place: &mut LentPlace<'_>) -> (Looked, Option<Exchanged>) {
        match self.slot.as_ref().map_or(Look::Nobody, |slot| slot.look(self.side(), place)) {
            Look::Nobody => (Looked::Nothing, None),
            Look::Met(met) => (Looked::Met(met), None),
            // A sender's message comes out of the line.
            Look::Closed => (Looked::Done, self.met(place)),
            Look::Found => (Looked::Done, Some(Ok(()))),
            Look::Again => (Looked::Again, None),
        }
    }

    pub(super) fn met(&mut self, place: &mut LentPlace<'_>) -> Option<Exchanged> {
        let met = self.slot.take()?.leave_to(self.side(), place);
        match (self.party.sends, met, place.is_some()) {
            (true, Some(Met::Peer(_)), _) | (false, _, true) => Some(Ok(())),
            (true, _, true) | (false, _, false) => Some(Err(Closed)),
            (true, _, false) => None,
        }
    }

    /// The message of a sender comes back.
    pub(super) fn leave(&mut self, place: &mut LentPlace<'_>) {
        // Both may wake another endpoint, whose waker is user code, and both are done, whatever the other does.
        let mut panics = Panics::none();
        panics.catch(|| match self.slot.take() {
            Some(slot) if self.party.sends => drop(slot.leave_to(self.side(), place)),
            slot => slot.into_iter().for_each(|slot| slot.leave(self.side())),
        });
        panics.catch(|| drop(self.owed()));
    }

    pub(super) fn announce(&self) {
        if self.slot.is_some() {
            self.side().announce();
        }
    }

    pub(super) fn moves(&self) -> u64 {
        self.side().moves()
    }

    fn owed(&mut self) -> Owed<MeetingSide<'a>> {
        Owed { end: self.side(), is_notified: core::mem::take(&mut self.is_notified) }
    }

    fn side(&self) -> MeetingSide<'a> {
        self.party.side()
    }
}

// USER CODE: as of `LineSlot::leave`, then the waker of another endpoint of this side; each has left, or is passed on, whatever
//     the other does; by construction: each has a guard of its own
impl Drop for LineCase<'_> {
    fn drop(&mut self) {
        let _owed = self.owed();
        self.slot.take().into_iter().for_each(|slot| slot.leave(self.side()));
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use core::future::Future;
    use core::pin::pin;
    use core::task::{Context, Waker};

    use super::*;
    use crate::channel::mpmc::{self, MpmcHandle};
    use crate::channel::select::operation::SelectOperation;
    use crate::channel::select::receive::SelectRecv;
    use crate::channel::select::send::SelectSend;
    use crate::channel::select::sleeper::Borrowed;
    use crate::signal::{Wait, YPollset};
    use crate::wait::many::SharedEnd;

    fn waiter() -> Borrowed {
        let mut waiter = SelectWaiter::borrow();
        waiter.begin();
        waiter
    }

    fn up(set: &mut YPollset) -> Vec<usize> {
        set.check().collect()
    }

    /// Also where it has been woken without a reason.
    #[test]
    fn a_receiver_keeps_its_place_in_line() {
        let (sender, receiver) = mpmc::bounded(0);
        let waiter = waiter();
        let mut source = receiver.into_source();
        assert!(source.stand(&waiter, 0, &mut None).is_none());
        let mut behind = pin!(receiver.recv_async());
        assert!(behind.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert!(source.stand(&waiter, 0, &mut None).is_none());
        waiter.ticket.open();
        sender.try_send(7).unwrap();
        let mut place = None;
        assert_eq!((source.met(&mut place), place), (Some(Ok(())), Some(7)));
    }

    /// Of two receivers in a set the first is notified of a sender. It registers in line, and leaves without being
    /// matched with that sender.
    #[test]
    fn a_receiver_that_leaves_passes_on_what_it_was_told() {
        let (sender, mut first) = mpmc::bounded(0);
        let mut second = first.clone();
        let mut set = YPollset::new();
        set.attach(&mut first, 0).unwrap();
        set.attach(&mut second, 1).unwrap();
        assert!(first.try_recv().is_err() && second.try_recv().is_err());
        assert_eq!(up(&mut set), []);

        let (peers, mut offer) = (waiter(), Some(7));
        let mut outlet = sender.into_outlet();
        assert!(outlet.stand(&peers, 0, &mut offer).is_none());
        peers.ticket.open();
        outlet.announce();
        let told = up(&mut set);
        assert_eq!(told.len(), 1);
        // It is at work for a moment, and so is not matched.
        assert!(peers.ticket.close().is_none());
        let own = waiter();
        let mut source = if told == [0] { first.into_source() } else { second.into_source() };
        assert!(source.stand(&own, 0, &mut None).is_none());
        peers.ticket.open();
        assert_eq!((up(&mut set), sender.parts().party().unwrap().side().supply()), (told, 1));
        source.leave(&mut None);
        assert_eq!((up(&mut set), sender.parts().party().unwrap().side().supply()), (vec![0, 1], 0));
        outlet.leave(&mut offer);
        assert_eq!(offer, Some(7));
    }

    /// As of receivers.
    #[test]
    fn a_sender_that_leaves_passes_on_what_it_was_told() {
        let (mut first, receiver) = mpmc::bounded(0);
        let mut second = first.clone();
        let mut set = YPollset::new();
        set.attach(&mut first, 0).unwrap();
        set.attach(&mut second, 1).unwrap();
        assert!(first.try_send(1).is_err() && second.try_send(2).is_err());
        assert_eq!(up(&mut set), []);

        let peers = waiter();
        let mut source = receiver.into_source();
        assert!(source.stand(&peers, 0, &mut None).is_none());
        peers.ticket.open();
        source.announce();
        let told = up(&mut set);
        assert_eq!(told.len(), 1);
        assert!(peers.ticket.close().is_none());
        let (own, mut offer) = (waiter(), Some(7));
        let mut outlet = if told == [0] { first.into_outlet() } else { second.into_outlet() };
        assert!(outlet.stand(&own, 0, &mut offer).is_none());
        peers.ticket.open();
        assert_eq!((up(&mut set), offer), (told, None));
        outlet.leave(&mut offer);
        assert_eq!((up(&mut set), offer), (vec![0, 1], Some(7)));
    }
}
