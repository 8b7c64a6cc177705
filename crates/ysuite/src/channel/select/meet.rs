//! A select at a rendezvous: it tries, registers in line with its claim, and leaves.

use core::marker::PhantomData;

use super::case::Looked;
use super::receive::{Got, RecvSource};
use super::send::{Outlet, Sent};
use super::sleeper::SelectWaiter;
use crate::channel::RecvError;
use crate::channel::rendezvous::{
    AnyParty, Closed, Exchanged, LentPlace, LineSlot, Look, MeetingSide, Met, Outlined, Party, impl_outlined_drop,
};
use crate::foreign::Panics;
use crate::wait::many::Owed;

/// Sends to the receivers of a rendezvous with `SENDS`, otherwise receives from its senders.
pub(in crate::channel) struct MeetingCaseOf<'a, T, const SENDS: bool> {
    case: Outlined<MeetingCase<'a>>,
    of: PhantomData<Party<'a, T, SENDS>>,
}

pub(in crate::channel) type MeetingSource<'a, T> = MeetingCaseOf<'a, T, false>;
pub(in crate::channel) type MeetingOutlet<'a, T> = MeetingCaseOf<'a, T, true>;

impl<'a, T, const SENDS: bool> MeetingCaseOf<'a, T, SENDS> {
    pub(super) fn new(party: Party<'a, T, SENDS>) -> Self {
        Self { case: Outlined::new(MeetingCase::new(party.any())), of: PhantomData }
    }

    /// For this case alone.
    fn place<'p>(place: &'p mut Option<T>) -> LentPlace<'p> {
        // SAFETY: the case is of a rendezvous of `T`.
        unsafe { LentPlace::new(place) }
    }
}

/// With the error of a receiver or a sender.
fn outcome<E: From<Closed>>(exchanged: Option<Exchanged>) -> Option<Result<(), E>> {
    exchanged.map(|exchanged| exchanged.map_err(E::from))
}

impl<T> RecvSource for MeetingSource<'_, T> {
    type Message = T;
    type Error = RecvError;

    fn take(&mut self, place: &mut Option<T>) -> Option<Got> {
        outcome(self.case.party.exchange(&mut Self::place(place)))
    }

    fn stand(&mut self, waiter: &SelectWaiter, case: usize, place: &mut Option<T>) -> Option<Got> {
        outcome(self.case.stand(waiter, case, &mut Self::place(place)))
    }

    fn look(&mut self, _: &SelectWaiter, place: &mut Option<T>) -> (Looked, Option<Got>) {
        let (looked, exchanged) = self.case.look(&mut Self::place(place));
        (looked, outcome(exchanged))
    }

    fn announce(&self) {
        self.case.announce();
    }

    fn met(&mut self, place: &mut Option<T>) -> Option<Got> {
        outcome(self.case.met(&mut Self::place(place)))
    }

    fn leave(&mut self) {
        self.case.leave();
    }

    fn moves(&self) -> u64 {
        self.case.moves()
    }
}

impl<T> Outlet for MeetingOutlet<'_, T> {
    type Message = T;

    fn give(&mut self, offer: &mut Option<T>) -> Option<Sent> {
        outcome(self.case.party.exchange(&mut Self::place(offer)))
    }

    fn stand(&mut self, waiter: &SelectWaiter, case: usize, offer: &mut Option<T>) -> Option<Sent> {
        outcome(self.case.stand(waiter, case, &mut Self::place(offer)))
    }

    fn look(&mut self, _: &SelectWaiter, offer: &mut Option<T>) -> (Looked, Option<Sent>) {
        let (looked, exchanged) = self.case.look(&mut Self::place(offer));
        (looked, outcome(exchanged))
    }

    fn announce(&self) {
        self.case.announce();
    }

    fn met(&mut self, offer: &mut Option<T>) -> Option<Sent> {
        outcome(self.case.met(&mut Self::place(offer)))
    }

    fn leave(&mut self, offer: &mut Option<T>) {
        self.case.leave_with(&mut Self::place(offer));
    }

    fn moves(&self) -> u64 {
        self.case.moves()
    }
}

/// A case at a rendezvous, of either side, without the type of the messages.
struct MeetingCase<'a> {
    party: AnyParty<'a>,
    slot: Option<LineSlot>,
    /// A notification of another slot is to be passed on.
    is_notified: bool,
}

impl_outlined_drop!(MeetingCase<'_>);

impl<'a> MeetingCase<'a> {
    #[inline]
    fn new(party: AnyParty<'a>) -> Self {
        Self { party, slot: None, is_notified: false }
    }

    fn leave_line(&mut self) {
        if let Some(slot) = self.slot.take() {
            slot.leave(self.party.side());
        }
    }

    fn owed(&mut self) -> Owed<MeetingSide<'a>> {
        Owed { end: self.party.side(), is_notified: core::mem::take(&mut self.is_notified) }
    }

    fn announce(&self) {
        if self.slot.is_some() {
            self.party.side().announce();
        }
    }

    fn moves(&self) -> u64 {
        self.party.side().moves()
    }
}

// USER CODE: as of `LineSlot::leave`, then the waker of another endpoint of this side; each has left, or is passed on, whatever
//     the other does; by construction: each has a guard of its own
impl Drop for MeetingCase<'_> {
    fn drop(&mut self) {
        let _owed = self.owed();
        self.leave_line();
    }
}

impl MeetingCase<'_> {
    // MUTANT: The message is registered already, so there is none to register a second time.
    fn stand(&mut self, waiter: &SelectWaiter, case: usize, place: &mut LentPlace<'_>) -> Option<Exchanged> {
        if self.slot.is_some() {
            return None;
        }
        self.is_notified |= self.party.disarm_slots();
        match LineSlot::join(self.party.side(), &waiter.ticket, case as u32, place, false) {
            Ok(None) => Some(Ok(())),
            Ok(slot) => {
                self.slot = slot;
                None
            }
            Err(closed) => Some(Err(closed)),
        }
    }

    fn look(&mut self, place: &mut LentPlace<'_>) -> (Looked, Option<Exchanged>) {
        match self.slot.as_ref().map_or(Look::Nobody, |slot| slot.look(self.party.side(), place)) {
            Look::Nobody => (Looked::Nothing, None),
            Look::Met(met) => (Looked::Met(met), None),
            // A sender's message comes out of the line.
            Look::Closed => (Looked::Done, self.met(place)),
            Look::Found => (Looked::Done, Some(Ok(()))),
            Look::Again => (Looked::Again, None),
        }
    }

    fn met(&mut self, place: &mut LentPlace<'_>) -> Option<Exchanged> {
        let met = self.slot.take()?.leave_to(self.party.side(), place);
        match met {
            _ if !self.party.sends => Some(if place.is_some() { Ok(()) } else { Err(Closed) }),
            Some(Met::Peer(_)) => Some(Ok(())),
            _ => place.is_some().then_some(Err(Closed)),
        }
    }

    /// Of a receiver.
    fn leave(&mut self) {
        // Both may wake another endpoint, and both are done, whatever the other does.
        let mut panics = Panics::none();
        panics.catch(|| self.leave_line());
        panics.catch(|| drop(self.owed()));
    }

    /// Of a sender.
    fn leave_with(&mut self, offer: &mut LentPlace<'_>) {
        if let Some(slot) = self.slot.take() {
            slot.leave_to(self.party.side(), offer);
        }
        // Last: it may wake another endpoint, whose waker is user code.
        drop(self.owed());
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use core::future::Future;
    use core::pin::pin;
    use core::task::{Context, Waker};

    use super::*;
    use crate::channel::mpmc;
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
        assert_eq!((up(&mut set), sender.party().unwrap().side().supply()), (told, 1));
        source.leave();
        assert_eq!((up(&mut set), sender.party().unwrap().side().supply()), (vec![0, 1], 0));
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
