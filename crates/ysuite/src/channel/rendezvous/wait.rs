//! An endpoint in line: how it registers, how it leaves, and how it waits meanwhile. The endpoint's own thread or task.
//!
//! However a registration ends, its message is where it belongs afterwards: with the receiver, or back with its sender.
//! Where a receiving future is dropped just after it was handed a message, the next receiver gets it.

use core::task::{Context, Poll};

use super::line_wait::Closed;
#[cfg(all(test, not(ysuite_loom)))]
use super::meeting::Meeting;
use super::meeting::{Encounter, MeetingSide, MessageFrom, woken};
use super::node::{LentPlace, StandNode};
use super::ticket::{Met, Ticket};
#[cfg(feature = "futures")]
use crate::channel::error::SendError;
use crate::foreign::Panics;
use crate::os::Deadline;
use crate::sync::Arc;
use crate::wait::Backoff;

/// A registration in line, of a sender or a receiver, without its side. It stays there until it [leaves](Self::leave).
pub(in crate::channel) struct LineSlot(Arc<StandNode>);

impl LineSlot {
    /// Hands the message of `place` over to a receiver that waits, or takes that of a sender to it (`None`). Otherwise
    /// registers in line, a sender with its message. An error where the rendezvous is closed; a message is in its place
    /// then. Where `opens`, only this registration uses the claim, which is open then. Otherwise its owner opens it later.
    pub(in crate::channel) fn join(
        side: MeetingSide<'_>,
        ticket: &Arc<Ticket>,
        case: u32,
        place: &mut LentPlace<'_>,
        opens: bool,
    ) -> Result<Option<Self>, Closed> {
        let node = place.node(ticket.clone(), case);
        let mut lines = side.meeting.lock();
        match side.meeting.exchange(&mut lines, side.sends, place) {
            Encounter::Peer(met) => {
                // MUTANT: The lock ends with the function anyway.
                drop(lines);
                woken(met);
                return Ok(None);
            }
            Encounter::Closed => return Err(Closed),
            Encounter::Nobody => {}
        }
        if side.sends {
            // SAFETY: no other thread has the node as yet.
            unsafe { node.put(place) };
        }
        if opens {
            ticket.open();
        }
        side.meeting.stand(&mut lines, side.sends, &node);
        // MUTANT: The lock ends with the function anyway.
        drop(lines);
        let stand = Stand::new(side, Self(node));
        if opens {
            side.announce();
        }
        Ok(stand.into_slot())
    }

    /// After the claim was opened: takes a receiver that waits, or the message of a sender that waits to `place`. See
    /// [`Look`].
    pub(in crate::channel) fn look(&self, side: MeetingSide<'_>, place: &mut LentPlace<'_>) -> Look {
        let meeting = side.meeting;
        let mut lines = meeting.lock();
        if !meeting.is_closed() && !meeting.has_other(&lines, side.sends, &self.0.ticket) {
            return Look::Nobody;
        }
        // At work from here on. Under the lock: of two that wait for each other here, one finds the other's claim open.
        if let Some(met) = self.0.ticket.close() {
            return Look::Met(met);
        }
        let found = if side.sends {
            // The node is in line, as its claim was not taken, and the lock is held. So it has its message.
            meeting.give(&mut lines, MessageFrom::Node(&self.0))
        } else {
            meeting.take(&mut lines, place)
        };
        match found {
            Encounter::Peer(met) => {
                // MUTANT: The lock ends with the function anyway.
                drop(lines);
                woken(met);
                Look::Found
            }
            Encounter::Closed => Look::Closed,
            Encounter::Nobody => Look::Again,
        }
    }

    /// Leaves, and its task is forgotten. An error where the message has not changed hands: it is dropped, in its memory.
    #[cfg(feature = "futures")]
    pub(super) fn end_in_place(self, side: MeetingSide<'_>) -> Result<(), SendError<()>> {
        let (_, is_own) = self.end(side);
        // SAFETY: as `end` says.
        let is_left = is_own && unsafe { self.0.is_full() };
        let mut panics = Panics::none();
        // The drop of the task's waker is user code. So is the drop of the message.
        panics.catch(|| drop(self.0.ticket.forget()));
        if is_left {
            // SAFETY: as above.
            panics.catch(|| unsafe { self.0.clear() });
        }
        if is_left { Err(SendError(())) } else { Ok(()) }
    }
}

/// What an endpoint that is registered in several lines has found, once its claim was open.
pub(in crate::channel) enum Look {
    /// No endpoint of the other side waits. The claim is open.
    Nobody,
    /// Another endpoint has taken its claim.
    Met(Met),
    /// The other side is disconnected. The claim is closed.
    Closed,
    /// It has taken a counterpart, and the message has changed hands. The claim is closed.
    Found,
    /// A counterpart was there and has left, or is at work. The claim is closed: open it, and check again.
    Again,
}

impl LineSlot {
    /// Whether the claim has been taken: the message has changed hands, or the rendezvous is closed.
    pub(super) fn is_met(&self) -> bool {
        self.0.ticket.met().is_some()
    }

    /// Sleeps as a thread until the claim is taken (true), or the deadline has passed.
    pub(super) fn sleep(&self, side: MeetingSide<'_>, backoff: &mut Backoff, deadline: Deadline) -> bool {
        let ticket = &self.0.ticket;
        // MUTANT: Speed only: what the yields have found ends the park before it begins.
        if !backoff.spin(deadline, || ticket.met().is_some()) && !backoff.yield_now(deadline, || ticket.met().is_some())
        {
            side.meeting.meter().sleeps();
            backoff.time(|| ticket.sleep(deadline));
        }
        self.is_met()
    }

    /// Registers the task to be woken once the claim is taken, unless it is already registered.
    pub(super) fn poll(&self, side: MeetingSide<'_>, context: &mut Context<'_>) -> Poll<()> {
        let polled = self.0.ticket.poll(context);
        if polled.is_pending() {
            side.meeting.meter().sleeps();
        }
        polled.map(drop)
    }

    /// Leaves. `place`, which is empty, gets a receiver's message if a sender has served it, or a sender's message if no
    /// receiver has taken it.
    pub(in crate::channel) fn leave_to(self, side: MeetingSide<'_>, place: &mut LentPlace<'_>) -> Option<Met> {
        let (met, is_own) = self.end(side);
        if is_own {
            // SAFETY: as `end` says.
            unsafe { self.0.take(place) };
        }
        met
    }

    // USER CODE: `Drop` of a sender's message, and the waker of the receiver that gets a message which was given back;
    //     the registration has left its line, the lock is free; re-entrance: any operation; panic: propagates out of
    //     the future's drop; test: tests/suite/rendezvous.rs: messages_end_once_whatever_happens
    // MUTANT: In a race: the receiver holds the sender's claim and not yet its message. Killed only by the model
    // `a_dropped_sending_future_against_a_receive`.
    /// Leaves. A sender's message is dropped, in its memory: a stack may be too small for it. A receiver's message goes
    /// to the next receiver.
    pub(in crate::channel) fn leave(self, side: MeetingSide<'_>) {
        let (_, is_own) = self.end(side);
        if !is_own {
            return;
        }
        // User code last: the message's drop, or a waker that is woken for it, or dropped.
        // SAFETY: as `end` says.
        Panics::in_drop(|| unsafe {
            if side.sends {
                self.0.clear();
            } else if self.0.is_full() {
                side.meeting.give_back(&self.0);
            }
        });
    }

    // MUTANT: In a race: the receiver holds the sender's claim and not yet its message. Killed only by the model
    // `a_dropped_sending_future_against_a_receive`.
    /// Is no longer in line, and is complete. Called once. Returns whether only this endpoint owns the content of the
    /// node, a message or nothing.
    fn end(&self, side: MeetingSide<'_>) -> (Option<Met>, bool) {
        // Another case may have taken it. For this case that is the same as closed.
        let mut met = self.0.ticket.close();
        if met.is_none_or(|met| met.case() != self.0.case) {
            met = None;
            side.meeting.leave(side.sends, self.0.at());
        }
        // The peer of a matched sender owns the message, and may be about to take it out. Otherwise the node is no
        // longer in line: this endpoint has taken it out, or the peer that has taken the claim.
        let is_own = !(side.sends && matches!(met, Some(Met::Peer(_))));
        (met, is_own)
    }
}

/// A registration in line, whose drop leaves the line.
pub(super) struct Stand<'a> {
    side: MeetingSide<'a>,
    slot: Option<LineSlot>,
}

impl<'a> Stand<'a> {
    pub(super) fn new(side: MeetingSide<'a>, slot: LineSlot) -> Self {
        Self { side, slot: Some(slot) }
    }

    /// The registration, which is there: it stays in line.
    pub(super) fn into_slot(mut self) -> Option<LineSlot> {
        self.slot.take()
    }
}

// USER CODE: as of `LineSlot::leave`; only where the thread unwinds
impl Drop for Stand<'_> {
    fn drop(&mut self) {
        self.slot.take().into_iter().for_each(|slot| slot.leave(self.side));
    }
}

/// By value, for tests: of messages that are an `i32`.
#[cfg(all(test, not(ysuite_loom)))]
impl<'a> Stand<'a> {
    pub(super) fn send(
        meeting: &'a Meeting,
        ticket: &Arc<Ticket>,
        case: u32,
        message: i32,
        opens: bool,
    ) -> Result<Option<Self>, Closed> {
        let side = meeting.side::<true>();
        let slot = LineSlot::join(side, ticket, case, &mut of_test(&mut Some(message)), opens)?;
        Ok(slot.map(|slot| Self::new(side, slot)))
    }

    pub(super) fn receive(
        meeting: &'a Meeting,
        ticket: &Arc<Ticket>,
        case: u32,
        opens: bool,
    ) -> Result<Result<i32, Self>, Closed> {
        let mut place = None;
        let side = meeting.side::<false>();
        let slot = LineSlot::join(side, ticket, case, &mut of_test(&mut place), opens)?;
        Ok(slot.map_or_else(|| Ok(place.expect("a message, or a place in line")), |slot| Err(Self::new(side, slot))))
    }

    pub(super) fn look(&mut self) -> Look {
        self.slot.as_ref().expect("it is in line").look(self.side, &mut of_test(&mut None))
    }

    /// Of a receiver.
    pub(super) fn look_for(&mut self) -> (Look, Option<i32>) {
        let mut place = None;
        (self.slot.as_ref().expect("it is in line").look(self.side, &mut of_test(&mut place)), place)
    }

    pub(super) fn leave(self) -> (Option<Met>, Option<i32>) {
        let mut place = None;
        let side = self.side;
        (self.into_slot().expect("it is in line").leave_to(side, &mut of_test(&mut place)), place)
    }

    /// Of a receiver that has been handed this message, and is dropped.
    pub(super) fn give_back(meeting: &Meeting, number: u64, message: i32) {
        let mut place = Some(message);
        let mut place = of_test(&mut place);
        let node = place.node(Arc::new(Ticket::for_task()), 0);
        node.set_handed(number);
        // SAFETY: the node is new, and nothing else uses it.
        unsafe {
            node.put(&mut place);
            meeting.give_back(&node);
        }
    }
}

#[cfg(all(test, not(ysuite_loom)))]
fn of_test(place: &mut Option<i32>) -> LentPlace<'_> {
    // SAFETY: the rendezvous of these tests have no other messages.
    unsafe { LentPlace::new(place) }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use core::task::Waker;

    use super::{Look, Stand};
    use crate::channel::rendezvous::meeting::Meeting;
    use crate::channel::rendezvous::{Met, Ticket};
    use crate::statistics::Meter;
    use crate::sync::Arc;
    use crate::tests::Woken;
    use crate::wait::many::SharedEnd;

    fn tickets<const N: usize>() -> [Arc<Ticket>; N] {
        [(); N].map(|()| Arc::new(Ticket::for_task()))
    }

    /// A receiver that has opened its claim, and has been preempted before its check. A sender that searches meanwhile
    /// must sleep, and not check again and again.
    #[test]
    fn a_sender_does_not_wait_in_a_spin_for_a_receiver_that_is_about_to_look() {
        let meeting = Meeting::new(&Meter::default());
        let (slow, own) = (Arc::new(Ticket::for_task()), Arc::new(Ticket::for_task()));
        let Ok(Err(mut receiver)) = Stand::receive(&meeting, &slow, 0, false) else { panic!("no peer is there") };
        Stand::give_back(&meeting, 0, 7);
        slow.open();
        let Ok(Some(mut sender)) = Stand::send(&meeting, &own, 0, 8, false) else { panic!("no thread polls") };
        own.open();
        assert!(matches!(sender.look(), Look::Nobody));
        assert!(matches!(receiver.look_for(), (Look::Found, Some(7))));
        slow.open();
        assert!(matches!(receiver.look_for(), (Look::Found, Some(8))));
        assert!(sender.leave() == (Some(Met::Peer(0)), None));
    }
    /// A select that sends is in line before its claim is open. A receiver that comes meanwhile passes it by and
    /// sleeps: the check of the select must find it.
    #[test]
    fn a_sender_that_opens_its_ticket_meets_a_receiver_that_has_come_meanwhile() {
        let meeting = Meeting::new(&Meter::default());
        let (own, other) = (Arc::new(Ticket::for_task()), Arc::new(Ticket::for_task()));
        let Ok(Some(mut sender)) = Stand::send(&meeting, &own, 0, 7, false) else { panic!("no peer is there") };
        let Ok(Err(receiver)) = Stand::receive(&meeting, &other, 0, true) else { panic!("the sender is at work") };
        own.open();
        assert!(matches!(sender.look(), Look::Found));
        assert_eq!(receiver.leave(), (Some(Met::Peer(0)), Some(7)));
    }

    #[test]
    fn whoever_leaves_its_line_takes_nobody_out_of_the_other() {
        let meeting = Meeting::new(&Meter::default());
        let waiting = || (meeting.side::<false>().supply(), meeting.side::<true>().supply());
        let (one, other) = (Arc::new(Ticket::for_task()), Arc::new(Ticket::for_task()));
        // Both are at work, and so neither is matched with the other.
        let Ok(Err(receiver)) = Stand::receive(&meeting, &one, 0, false) else { panic!("no peer is there") };
        let Ok(Some(sender)) = Stand::send(&meeting, &other, 0, 7, false) else { panic!("the receiver is at work") };
        assert_eq!(waiting(), (1, 1));
        drop(receiver);
        assert_eq!(waiting(), (1, 0));
        drop(sender);
        assert_eq!(waiting(), (0, 0));
    }

    /// As a select that sends and receives at one rendezvous.
    #[test]
    fn whoever_stands_in_both_lines_does_not_find_itself() {
        let meeting = Meeting::new(&Meter::default());
        let [own] = tickets();
        let Ok(Err(mut receiver)) = Stand::receive(&meeting, &own, 0, false) else { panic!("no peer is there") };
        let Ok(Some(mut sender)) = Stand::send(&meeting, &own, 1, 7, false) else { panic!("no other peer is there") };
        own.open();
        assert!(matches!(sender.look(), Look::Nobody));
        assert!(matches!(receiver.look_for(), (Look::Nobody, None)));
    }

    /// An endpoint that was matched elsewhere stays in its line until it checks. Its counterpart waits, and does not
    /// check again and again.
    #[test]
    fn nobody_looks_again_for_one_whose_ticket_is_not_open() {
        let meeting = Meeting::new(&Meter::default());
        let [closed, own] = tickets();
        let Ok(Err(receiver)) = Stand::receive(&meeting, &closed, 0, false) else { panic!("no peer is there") };
        let Ok(Some(mut sender)) = Stand::send(&meeting, &own, 0, 7, false) else { panic!("the receiver is at work") };
        own.open();
        assert!(matches!(sender.look(), Look::Nobody));
        drop((receiver, sender));
        let [closed, own] = tickets();
        let Ok(Some(_sender)) = Stand::send(&meeting, &closed, 0, 7, false) else { panic!("no peer is there") };
        let Ok(Err(mut receiver)) = Stand::receive(&meeting, &own, 0, false) else { panic!("the sender is at work") };
        own.open();
        assert!(matches!(receiver.look_for(), (Look::Nobody, None)));
    }

    /// The disconnection of the other side finds its claim closed and leaves it: the endpoint must find that by itself.
    #[test]
    fn a_sender_that_opens_its_ticket_when_all_is_over_gets_its_message_back() {
        let meeting = Meeting::new(&Meter::default());
        let [own] = tickets();
        let Ok(Some(mut sender)) = Stand::send(&meeting, &own, 0, 7, false) else { panic!("no peer is there") };
        assert!(meeting.close());
        own.open();
        assert!(matches!(sender.look(), Look::Closed));
        assert_eq!(sender.leave(), (None, Some(7)));
    }

    /// Another one waits by then, and is left to other endpoints.
    #[test]
    fn whoever_is_met_before_its_look_looks_for_nobody() {
        let meeting = Meeting::new(&Meter::default());
        let [own, other, third] = tickets();
        let Ok(Some(mut sender)) = Stand::send(&meeting, &own, 4, 7, false) else { panic!("no peer is there") };
        own.open();
        let Ok(Ok(7)) = Stand::receive(&meeting, &other, 0, true) else { panic!("the sender waits") };
        let Ok(Err(waiting)) = Stand::receive(&meeting, &third, 0, true) else { panic!("the sender has been met") };
        assert!(matches!(sender.look(), Look::Met(Met::Peer(4))));
        assert_eq!(sender.leave(), (Some(Met::Peer(4)), None));
        assert_eq!(waiting.leave(), (None, None));

        let [own, other, third] = tickets();
        let Ok(Err(mut receiver)) = Stand::receive(&meeting, &own, 4, false) else { panic!("no peer is there") };
        own.open();
        let Ok(None) = Stand::send(&meeting, &other, 0, 8, true) else { panic!("the receiver waits") };
        let Ok(Some(waiting)) = Stand::send(&meeting, &third, 0, 9, true) else { panic!("the receiver has been met") };
        assert!(matches!(receiver.look_for(), (Look::Met(Met::Peer(4)), None)));
        assert_eq!(receiver.leave(), (Some(Met::Peer(4)), Some(8)));
        assert_eq!(waiting.leave(), (None, Some(9)));
    }

    #[test]
    fn whoever_is_found_by_a_look_is_woken() {
        let meeting = Meeting::new(&Meter::default());
        let task = std::sync::Arc::new(Woken::default());
        let waker = Waker::from(task.clone());
        let [own, other] = tickets();
        let Ok(Some(mut sender)) = Stand::send(&meeting, &own, 0, 7, false) else { panic!("no peer is there") };
        let Ok(Err(receiver)) = Stand::receive(&meeting, &other, 0, true) else { panic!("the sender is at work") };
        other.register(&waker);
        own.open();
        assert!(matches!(sender.look(), Look::Found));
        assert_eq!((task.times(), receiver.leave()), (1, (Some(Met::Peer(0)), Some(7))));
        drop(sender);

        let [own, other] = tickets();
        let Ok(Err(mut receiver)) = Stand::receive(&meeting, &own, 0, false) else { panic!("no peer is there") };
        let Ok(Some(sender)) = Stand::send(&meeting, &other, 0, 8, true) else { panic!("the receiver is at work") };
        other.register(&waker);
        own.open();
        assert!(matches!(receiver.look_for(), (Look::Found, Some(8))));
        assert_eq!((task.times(), sender.leave()), (2, (Some(Met::Peer(0)), None)));
    }

    /// As a select that sends here and receives there.
    #[test]
    fn whoever_is_met_in_one_line_leaves_the_others_with_its_messages() {
        let (here, there) = (Meeting::new(&Meter::default()), Meeting::new(&Meter::default()));
        let [own, other] = tickets();
        let Ok(Some(sender)) = Stand::send(&here, &own, 0, 7, false) else { panic!("no peer is there") };
        let Ok(Err(receiver)) = Stand::receive(&there, &own, 1, false) else { panic!("no peer is there") };
        own.open();
        let Ok(None) = Stand::send(&there, &other, 0, 8, true) else { panic!("the receiver waits") };
        assert_eq!(sender.leave(), (None, Some(7)));
        assert_eq!(receiver.leave(), (Some(Met::Peer(1)), Some(8)));
        assert_eq!((here.side::<false>().supply(), there.side::<true>().supply()), (0, 0));
    }

    #[test]
    fn whoever_was_met_takes_nobody_out_of_the_place_that_it_had() {
        let meeting = Meeting::new(&Meter::default());
        let [own, other, third] = tickets();
        let Ok(Some(first)) = Stand::send(&meeting, &own, 0, 7, true) else { panic!("no peer is there") };
        let Ok(Ok(7)) = Stand::receive(&meeting, &other, 0, true) else { panic!("the sender waits") };
        let Ok(Some(second)) = Stand::send(&meeting, &third, 0, 8, true) else { panic!("no peer is there any more") };
        assert!(first.leave() == (Some(Met::Peer(0)), None));
        assert_eq!(meeting.side::<false>().supply(), 1);
        assert_eq!(second.leave(), (None, Some(8)));
        assert_eq!(meeting.side::<false>().supply(), 0);
    }
}
