//! Where senders and receivers of a rendezvous exchange messages: two lines under a lock, and for each side the
//! endpoints that want to be notified.
//!
//! Any thread. The lock is held for some instructions, and for some more for each registration at the front of a line
//! whose claim is closed at that moment. A thread that is preempted there delays the others, also in `try_` calls. No
//! user code runs under the lock: messages are moved and claims taken; the owners of taken claims are woken after it. A
//! handle that is dropped in a forked child proceeds without a lock that a thread of the parent had: see [`ForkLock`].

use core::cmp::Ordering as Order;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Deref;
use std::collections::BinaryHeap;

use super::line::Line;
use super::node::{LentPlace, StandNode};
use super::operations::{OPERATIONS, Operations};
use super::outlined::Outlined;
use super::ticket::{Met, Ticket};
use crate::foreign::Panics;
use crate::os::ForkLock;
use crate::queue::FarApart;
use crate::statistics::Meter;
use crate::sync::{Arc, AtomicBool, AtomicU64, AtomicUsize, MessagesOf, MutexGuard, Ordering};
use crate::wait::WaitList;
use crate::wait::many::{SharedEnd, notify, notify_all_of};

/// A rendezvous of messages of type `T`.
#[repr(transparent)]
pub(in crate::channel) struct MeetingOf<T> {
    any: Outlined<Meeting>,
    of: MessagesOf<T>,
}

impl<T> MeetingOf<T> {
    /// Made at its place: a copy would cost as much as all else.
    pub(in crate::channel) fn boxed(meter: &Meter) -> Box<Self> {
        let mut made = Box::new(MaybeUninit::<Self>::uninit());
        // SAFETY: it is this call's alone, and all of it is made: around the meeting there is nothing but types.
        unsafe {
            Meeting::make(&mut *made.as_mut_ptr().cast(), meter);
            Box::from_raw(Box::into_raw(made).cast())
        }
    }
}

impl<T> Deref for MeetingOf<T> {
    type Target = Meeting;

    fn deref(&self) -> &Meeting {
        &self.any
    }
}

/// As [`MeetingOf`], where each endpoint keeps it alive.
pub(in crate::channel) struct SharedMeetingOf<T> {
    pub(super) any: Outlined<Arc<Meeting>>,
    of: MessagesOf<T>,
}

impl<T> SharedMeetingOf<T> {
    pub(in crate::channel) fn new(meter: &Meter) -> Self {
        Self { any: Outlined::new(Meeting::shared(meter)), of: PhantomData }
    }
}

impl<T> Deref for SharedMeetingOf<T> {
    type Target = Meeting;

    fn deref(&self) -> &Meeting {
        &self.any
    }
}

/// A rendezvous, without the type of its messages: see [`node`](super::node). In this order: what changes under the lock
/// is apart from what hardly changes.
#[repr(C)]
pub(in crate::channel) struct Meeting {
    pub(super) operations: &'static Operations,
    /// One side is disconnected for good, or a handle has closed the rendezvous. Changed under the lock.
    closed: AtomicBool,
    /// The number of senders, of a kind that does not count them itself: an `mpmc` does.
    count: AtomicUsize,
    senders: MeetingPlace,
    receivers: MeetingPlace,
    lines: ForkLock<Lines>,
    /// The number of changes of the lines. Changed under the lock.
    moves: AtomicU64,
}

/// One side, for threads that poll without the lock.
#[repr(C)]
struct MeetingPlace {
    /// The endpoints that want to be notified when one of the other side registers in line.
    list: WaitList,
    apart: FarApart,
    /// The number of registrations in line; for the senders, including messages that were given back. Changed under the
    /// lock.
    waiting: AtomicUsize,
}

pub(super) struct Lines {
    senders: Line<Arc<StandNode>>,
    receivers: Line<Arc<StandNode>>,
    /// Of futures that had been handed a message and gave it back when they were dropped: their registrations, which are
    /// in line no more, and belong to who takes them out of here. These messages come before all others, in the order in
    /// which they were handed over.
    returned: BinaryHeap<Returned>,
    /// The number of messages that have been handed to receivers in line.
    handed: u64,
}

/// The registration of a message that was given back. The greatest is the one whose message was handed over first.
struct Returned(Arc<StandNode>);

impl Ord for Returned {
    fn cmp(&self, other: &Self) -> Order {
        other.0.handed().cmp(&self.0.handed())
    }
}

impl PartialOrd for Returned {
    fn partial_cmp(&self, other: &Self) -> Option<Order> {
        Some(self.cmp(other))
    }
}

impl Eq for Returned {}

impl PartialEq for Returned {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

/// What an arriving endpoint has found.
pub(super) enum Encounter {
    /// The message has changed hands. The claim that was taken: its owner is to be [woken], after the lock.
    Peer(Option<Arc<Ticket>>),
    /// No endpoint of the other side waits.
    Nobody,
    /// The other side is disconnected.
    Closed,
}

/// The owner of a claim that was taken, if there is one, is woken. A waker is user code; while unwinding, its panic goes
/// no further.
pub(super) fn woken(met: Option<Arc<Ticket>>) {
    if let Some(met) = met {
        Panics::in_drop(|| met.wake());
    }
}

/// A message that is handed over, and where it is.
pub(super) enum MessageFrom<'o, 'p> {
    Place(&'o mut LentPlace<'p>),
    /// A registration that has a message.
    Node(&'o StandNode),
}

impl MessageFrom<'_, '_> {
    /// Moves the message to a receiver's registration.
    ///
    /// # Safety
    /// As of [`StandNode::put`]. An offered node is the caller's, or in line, or was.
    unsafe fn put_to(&mut self, node: &StandNode) {
        match self {
            // SAFETY: by the caller.
            Self::Place(place) => unsafe { node.put(place) },
            // SAFETY: by the caller.
            Self::Node(own) => unsafe { own.move_to(node) },
        }
    }

    /// Moves the message back.
    ///
    /// # Safety
    /// As of [`put_to`](Self::put_to), which has moved it.
    unsafe fn take_from(&mut self, node: &StandNode) {
        match self {
            // SAFETY: by the caller.
            Self::Place(place) => unsafe { node.take(place) },
            // SAFETY: by the caller.
            Self::Node(own) => unsafe { node.move_to(own) },
        }
    }
}

/// One side of a rendezvous: the senders, which want to be notified of receivers, or the receivers.
#[derive(Clone, Copy)]
pub(in crate::channel) struct MeetingSide<'a> {
    pub(super) meeting: &'a Meeting,
    pub(super) sends: bool,
}

impl SharedEnd for MeetingSide<'_> {
    fn list(&self) -> &WaitList {
        self.meeting.list(self.sends)
    }

    // MUTANT: Speed only: an early exit. The lines themselves find that no endpoint is registered.
    fn is_ready(&self) -> bool {
        self.meeting.is_closed() || self.supply() != 0 && (self.meeting.operations.has_open)(self.meeting, !self.sends)
    }

    fn supply(&self) -> usize {
        let other = if self.sends { &self.meeting.receivers } else { &self.meeting.senders };
        // ORDERING: Relaxed; a thread that must not miss a change of it has executed the barrier of its wait list
        //     before, which pairs with that in `announce`.
        other.waiting.load(Ordering::Relaxed)
    }
}

impl MeetingSide<'_> {
    /// A claim of this side is open: notifies one endpoint of the other side that only wants to be notified.
    pub(in crate::channel) fn announce(self) {
        self.meeting.announce(self.sends);
    }

    /// A number that grows with each change of the lines. Where it is unchanged, the lines have exactly the same
    /// registrations.
    pub(in crate::channel) fn moves(self) -> u64 {
        // ORDERING: Acquire pairs with the Release in `note`: the caller's further checks find what was counted.
        self.meeting.moves.load(Ordering::Acquire)
    }
}

impl Meeting {
    pub(super) fn new(meter: &Meter) -> Self {
        let mut made = MaybeUninit::uninit();
        Self::make(&mut made, meter);
        // SAFETY: all of it is made.
        unsafe { made.assume_init() }
    }

    /// Part by part, as all that is large.
    #[inline(always)]
    fn make(place: &mut MaybeUninit<Self>, meter: &Meter) {
        let place = place.as_mut_ptr();
        let lines = Lines { senders: Line::new(), receivers: Line::new(), returned: BinaryHeap::new(), handed: 0 };
        // SAFETY: each is a field of a place that is this call's alone, and is written once. Nothing here panics.
        unsafe {
            (&raw mut (*place).operations).write(&OPERATIONS);
            (&raw mut (*place).closed).write(AtomicBool::new(false));
            (&raw mut (*place).count).write(AtomicUsize::new(0));
            for side in [&raw mut (*place).senders, &raw mut (*place).receivers] {
                (&raw mut (*side).list).write(WaitList::metered(meter.clone()));
                (&raw mut (*side).waiting).write(AtomicUsize::new(0));
            }
            (&raw mut (*place).lines).write(ForkLock::new(lines));
            (&raw mut (*place).moves).write(AtomicU64::new(0));
        }
    }

    fn shared(meter: &Meter) -> Arc<Self> {
        Arc::new(Self::new(meter))
    }

    #[inline]
    pub(in crate::channel) fn side<const SENDS: bool>(&self) -> MeetingSide<'_> {
        MeetingSide { meeting: self, sends: SENDS }
    }

    /// Counts the events of the channel.
    pub(in crate::channel) fn meter(&self) -> &Meter {
        self.receivers.list.meter()
    }

    /// The endpoints of a side that want to be notified.
    pub(in crate::channel) fn list(&self, sends: bool) -> &WaitList {
        if sends { &self.senders.list } else { &self.receivers.list }
    }

    /// Counts a sender, of a kind that does not count them itself.
    pub(in crate::channel) fn count_sender(&self) {
        // ORDERING: Relaxed; a sender is made from one that is counted, or with the channel: the count cannot fall to 0
        // meanwhile.
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    // MUTANT: Speed only: an early exit. The line finds, under the lock, that no endpoint is registered.
    /// Another sender, if there is one and the rendezvous is not closed (true).
    pub(in crate::channel) fn count_again(&self) -> bool {
        if self.is_closed() {
            return false;
        }
        // ORDERING: Relaxed, here and below; the count alone decides, by its own order of changes.
        let mut count = self.count.load(Ordering::Relaxed);
        while count != 0 {
            match self.count.compare_exchange(count, count + 1, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(found) => count = found,
            }
        }
        false
    }

    pub(in crate::channel) fn sender_count(&self) -> usize {
        // ORDERING: Relaxed; a number for information only.
        self.count.load(Ordering::Relaxed)
    }

    /// A sender that was counted is dropped. The last one closes the rendezvous.
    pub(in crate::channel) fn uncount_sender(&self) {
        // ORDERING: AcqRel: what each sender has done comes before the close by the last one.
        if self.count.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.senders_are_gone();
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Lines> {
        // Nothing under the lock can panic except the allocator, which runs before anything is changed.
        self.lines.lock()
    }

    /// Whether one side is disconnected, or the rendezvous is closed. A message that a future has given back may still
    /// be here.
    #[inline]
    pub(in crate::channel) fn is_closed(&self) -> bool {
        // ORDERING: Acquire pairs with the Release in `shut`.
        self.closed.load(Ordering::Acquire)
    }

    // MUTANT: Speed only: an early exit. Killed only by
    // `a_message_that_was_given_back_is_one_to_be_told_of_and_comes_before_all_others`.
    /// Whether a matching endpoint of the other side waits; for a receiver also whether there is a message that was
    /// given back. As [`has_other`](Self::has_other): while there are such messages no sender finds a match.
    pub(super) fn has_open(&self, senders: bool) -> bool {
        // An endpoint that leaves calls this as well, for those that wait next to it.
        let Some(lines) = self.lines.lock_to_go() else { return false };
        if !lines.returned.is_empty() {
            return senders;
        }
        let line = if senders { &lines.senders } else { &lines.receivers };
        line.find(&|node| node.ticket.is_open()).is_some()
    }

    // MUTANT: Speed only: an early exit. Killed only by
    // `a_sender_does_not_wait_in_a_spin_for_a_receiver_that_is_about_to_look`.
    /// Whether a registration with this claim could be matched with one of the other side, or with a message that was
    /// given back. A sender finds no match while there are such messages: a receiver that is registered then is about
    /// to check, and must find the first of them.
    pub(super) fn has_other(&self, lines: &Lines, sends: bool, own: &Ticket) -> bool {
        if !lines.returned.is_empty() {
            return !sends;
        }
        let line = if sends { &lines.receivers } else { &lines.senders };
        line.find(&|node| !core::ptr::eq(&raw const *node.ticket, own) && node.ticket.is_open()).is_some()
    }

    /// After any change of the lines, under the lock: publishes what threads without it see.
    fn note(&self, lines: &Lines) {
        // ORDERING: Release twice pairs with the fence of a select that has checked everywhere (`can_at_last`): where
        //     it no longer finds a registration here, it finds counted the endpoints that have registered elsewhere
        //     before. For others see `supply`.
        self.senders.waiting.store(lines.senders.len() + lines.returned.len(), Ordering::Release);
        self.receivers.waiting.store(lines.receivers.len(), Ordering::Release);
        // ORDERING: Relaxed; changed under the lock only. Release pairs with the Acquire of `moves`: a thread that
        //     finds the change counted finds the numbers above.
        self.moves.store(self.moves.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }

    /// Hands the message that is in `place` to the first receiver that waits, or takes that of a sender to it.
    pub(super) fn exchange(&self, lines: &mut Lines, sends: bool, place: &mut LentPlace<'_>) -> Encounter {
        if sends { self.give(lines, MessageFrom::Place(place)) } else { self.take(lines, place) }
    }

    // MUTANT: Numbers only order the messages; gaps are harmless.
    /// Hands the message to the first receiver that waits, and removes it from the line. Where there is none, the message
    /// is where it was.
    pub(super) fn give(&self, lines: &mut Lines, offer: MessageFrom<'_, '_>) -> Encounter {
        let found = self.give_again(lines, lines.handed, offer);
        if matches!(found, Encounter::Peer(_)) {
            lines.handed += 1;
            self.meter().meets();
        }
        found
    }

    // MUTANT: The count stays too high until the next registration; the check under the lock decides. Killed only by
    // the model `a_select_whose_time_is_up_against_a_send`.
    /// As [`give`](Self::give), for a message that counts as handed over already, with this number.
    fn give_again(&self, lines: &mut Lines, number: u64, mut offer: MessageFrom<'_, '_>) -> Encounter {
        if self.is_closed() {
            return Encounter::Closed;
        }
        if !lines.returned.is_empty() {
            // A receiver whose claim is open while there are such messages is about to check, and must find the first
            // of them.
            return Encounter::Nobody;
        }
        let mut at = lines.receivers.first();
        while let Some((node, behind)) = lines.receivers.look(at) {
            if node.ticket.is_open() {
                // Written before the claim is taken: the owner may continue at once.
                // SAFETY: the node is in line, and the caller holds the lock. A receiver's has no message while it is
                //     there.
                unsafe { offer.put_to(node) };
                node.set_handed(number);
                if node.ticket.claim(Met::Peer(node.case)) {
                    let ticket = node.ticket.clone();
                    lines.receivers.remove(at);
                    self.note(lines);
                    self.meter().wakes();
                    return Encounter::Peer(Some(ticket));
                }
                // SAFETY: as above; the claim was closed, or taken in another line, so the node stays in this one.
                unsafe { offer.take_from(node) };
            }
            at = behind;
        }
        Encounter::Nobody
    }

    // MUTANT: The count stays too high until the next registration; the check under the lock decides. Killed only by
    // the model `a_select_whose_time_is_up_against_a_send`.
    /// Takes the message of the first waiting sender to `place`, and removes it from the line. There is none to wake
    /// where the message had been given back.
    pub(super) fn take(&self, lines: &mut Lines, place: &mut LentPlace<'_>) -> Encounter {
        if let Some(Returned(node)) = lines.returned.pop() {
            self.note(lines);
            // SAFETY: the node was given back, and is now this thread's.
            unsafe { node.take(place) };
            return Encounter::Peer(None);
        }
        if self.is_closed() {
            return Encounter::Closed;
        }
        let met = lines.senders.find(&|node| node.ticket.claim(Met::Peer(node.case)));
        let Some(node) = met.and_then(|at| lines.senders.remove(at)) else { return Encounter::Nobody };
        self.note(lines);
        self.meter().meets();
        self.meter().wakes();
        // SAFETY: this thread has taken a sender's claim, whose node is no longer in line.
        unsafe { node.take(place) };
        debug_assert!(place.is_some(), "a sender stands in line with its message");
        Encounter::Peer(Some(node.ticket.clone()))
    }

    // MUTANT: The count stays too high until the next registration; the check under the lock decides.
    /// Registers in line.
    pub(super) fn stand(&self, lines: &mut Lines, sends: bool, node: &Arc<StandNode>) {
        node.set_at(if sends { &mut lines.senders } else { &mut lines.receivers }.push(node.clone()));
        self.note(lines);
    }

    // MUTANT: The lock and the node end with the function anyway.
    /// Leaves the line. This case has not taken the claim.
    pub(super) fn leave(&self, sends: bool, at: u32) {
        let Some(mut lines) = self.lines.lock_to_go() else { return };
        let node = if sends { &mut lines.senders } else { &mut lines.receivers }.remove(at);
        self.note(&lines);
        drop(lines);
        drop(node);
    }

    /// An endpoint has registered in line, and its claim is open: notifies one of the other side.
    pub(super) fn announce(&self, sends: bool) {
        let list = self.list(!sends);
        if list.published() && list.attend().is_armed() {
            notify(list, 1);
        }
    }

    // MUTANT: The lock ends with the function anyway.
    /// A future was handed the message in this node, which is in line no more, and is dropped. The message goes to the
    /// next receiver that waits, or stays here, with the node, until there is one.
    ///
    /// # Safety
    /// The node is the caller's, which does not use its message afterwards.
    pub(super) unsafe fn give_back(&self, node: &Arc<StandNode>) {
        let Some(mut lines) = self.lines.lock_to_go() else {
            // Where the lock is never released, no receiver gets the message either.
            // SAFETY: by the caller.
            return unsafe { node.clear() };
        };
        let number = node.handed();
        if let Encounter::Peer(met) = self.give_again(&mut lines, number, MessageFrom::Node(node)) {
            drop(lines);
            return woken(met);
        }
        lines.returned.push(Returned(node.clone()));
        self.note(&lines);
        drop(lines);
        self.announce(true);
    }

    /// The last sender is dropped.
    pub(in crate::channel) fn senders_are_gone(&self) {
        (self.operations.shut)(self, false);
    }

    /// The last receiver is dropped. Messages that were given back are dropped.
    pub(in crate::channel) fn receivers_are_gone(&self) {
        (self.operations.shut)(self, true);
    }

    // USER CODE: wakers of all waiters, then `Drop` of messages that were given back; both lines are empty of them, the
    //     rendezvous is closed, the lock is free; re-entrance: any operation; panic: all others are woken or dropped
    //     first, then it propagates; test: tests/suite/rendezvous/foreign.rs:
    //     one_waker_that_panics_does_not_keep_the_others_asleep, tests/suite/rendezvous/foreign.rs:
    //     messages_given_back_end_with_the_last_receiver_also_where_one_panics
    /// Called by any handle: no message will be exchanged any more. Messages that were given back can still be
    /// received. True: this call has closed it.
    pub(in crate::channel) fn close(&self) -> bool {
        (self.operations.shut)(self, false)
    }

    // MUTANT: Killed only by `a_waker_and_a_message_that_was_given_back_are_one_panic`.
    /// Closes the lines: wakes all that wait, or want to be notified. True: it was open.
    pub(super) fn shut(&self, dispose: bool) -> bool {
        let lists = [&self.senders.list, &self.receivers.list];
        // Closed already, and empty for good.
        if self.is_closed() && self.is_empty() {
            notify_all_of(&lists);
            return false;
        }
        let Some(lines) = self.lines.lock_to_go() else { return false };
        // ORDERING: Relaxed; changed under the lock only.
        let was_open = !self.closed.load(Ordering::Relaxed);
        // ORDERING: Release pairs with the Acquire in `is_closed`.
        self.closed.store(true, Ordering::Release);
        self.note(&lines);
        if self.is_empty() {
            drop(lines);
            notify_all_of(&lists);
        } else {
            self.end_lines(lines, dispose);
        }
        was_open
    }

    /// It has just been closed: wakes all that wait, or want to be notified.
    #[cold]
    #[inline(never)]
    fn end_lines(&self, mut lines: MutexGuard<'_, Lines>, dispose: bool) {
        let mut taken = Vec::new();
        Self::end_line(&mut lines.senders, &mut taken);
        Self::end_line(&mut lines.receivers, &mut taken);
        let returned = if dispose { core::mem::take(&mut lines.returned) } else { BinaryHeap::new() };
        self.note(&lines);
        drop(lines);
        let mut panics = Panics::none();
        for node in &taken {
            panics.catch(|| node.ticket.wake());
        }
        panics.catch(|| notify_all_of(&[&self.senders.list, &self.receivers.list]));
        // The messages last: no panic of theirs may keep an endpoint asleep.
        for Returned(node) in returned.into_sorted_vec().iter().rev() {
            // SAFETY: the nodes were given back, and are now this thread's.
            panics.catch(|| unsafe { node.clear() });
        }
    }

    // MUTANT: Speed only: an early exit. The lines themselves are empty then.
    /// Whether nobody is in line, and no message was given back, checked without the lock. Once it is closed nobody joins a
    /// line; only a receiver gives a message back.
    pub(in crate::channel) fn is_empty(&self) -> bool {
        // ORDERING: Relaxed twice; who has seen it closed has acquired the numbers of those who came before. The last
        //     receiver has acquired what all receivers have given back, by their count.
        self.senders.waiting.load(Ordering::Relaxed) == 0 && self.receivers.waiting.load(Ordering::Relaxed) == 0
    }

    /// Takes all that wait out of a line.
    fn end_line(line: &mut Line<Arc<StandNode>>, taken: &mut Vec<Arc<StandNode>>) {
        let mut at = line.first();
        while let Some((node, behind)) = line.look(at) {
            // A closed claim belongs to an endpoint at work, which will check once it has opened it.
            if node.ticket.claim(Met::Nobody(node.case)) {
                taken.push(node.clone());
                line.remove(at);
            }
            at = behind;
        }
    }

    // MUTANT: Speed only: an early exit. The line finds, under the lock, that no endpoint is registered.
    /// Whether no endpoint of the other side waits, checked without the lock.
    pub(super) fn is_deserted(&self, sends: bool) -> bool {
        let other = if sends { &self.receivers } else { &self.senders };
        // ORDERING: Relaxed; an endpoint that registered in line before this call, in the order of events, is seen by
        //     coherence.
        other.waiting.load(Ordering::Relaxed) == 0 && !self.is_closed()
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::Meeting;
    use crate::channel::rendezvous::Ticket;
    use crate::channel::rendezvous::wait::Stand;
    use crate::statistics::Meter;
    use crate::sync::Arc;
    use crate::wait::many::SharedEnd;

    #[test]
    fn it_is_over_with_the_last_of_its_senders_and_makes_none_of_nothing() {
        let meeting = Meeting::new(&Meter::default());
        assert_eq!((meeting.count_again(), meeting.sender_count()), (false, 0));
        meeting.count_sender();
        assert_eq!((meeting.count_again(), meeting.sender_count()), (true, 2));
        meeting.uncount_sender();
        assert_eq!((meeting.is_closed(), meeting.sender_count()), (false, 1));
        meeting.uncount_sender();
        assert_eq!((meeting.is_closed(), meeting.count_again(), meeting.sender_count()), (true, false, 0));
    }

    /// Otherwise an endpoint that polls next to it would check again and again, for as long as that is at work.
    #[test]
    fn an_end_that_is_at_work_is_nobody_to_be_told_of() {
        let meeting = Meeting::new(&Meter::default());
        let ready = || (meeting.side::<false>().is_ready(), meeting.side::<true>().is_ready());
        let [one, other] = [(); 2].map(|()| Arc::new(Ticket::for_task()));
        let Ok(Err(receiver)) = Stand::receive(&meeting, &one, 0, false) else { panic!("no peer is there") };
        let Ok(Some(sender)) = Stand::send(&meeting, &other, 0, 7, false) else { panic!("the receiver is at work") };
        assert_eq!(ready(), (false, false));
        one.open();
        assert_eq!(ready(), (false, true));
        other.open();
        assert_eq!(ready(), (true, true));
        drop((receiver, sender));
        assert_eq!(ready(), (false, false));
    }

    /// Of every kind, and of a waiting future: everything that takes the lock on drop.
    ///
    /// Claim: A child that is forked while another thread holds a lock can drop its handles.
    /// Also: unit mailbox::inner::tests::a_forked_child_drops_mailboxes_whose_locks_another_thread_has.
    #[test]
    #[cfg(all(unix, not(miri)))]
    fn a_forked_child_drops_ends_of_a_meeting_that_another_thread_had_locked() {
        use core::future::Future;
        use core::task::{Context, Waker};

        use crate::channel::mpmc::MpmcHandle;
        use crate::os::child_can;
        use crate::signal::{Wait, YPollset};

        let (sender, receiver) = crate::mpmc::bounded::<Box<u32>>(0);
        let meeting = |sender: &crate::mpmc::Sender<Box<u32>>| {
            core::ptr::from_ref(sender.parts().party().unwrap().side().meeting)
        };
        let hold = |lock: &Meeting, held: &dyn Fn()| {
            let _lines = lock.lock();
            held();
        };
        let mut context = Context::from_waker(Waker::noop());
        // SAFETY: the sender keeps it alive in the parent, which drops none of its handles meanwhile.
        let locked = unsafe { &*meeting(&sender) };
        let mut set = YPollset::new();
        let mut attached = receiver.clone();
        set.attach(&mut attached, 1).unwrap();
        assert!(attached.try_recv().is_err() && set.check().next().is_none());
        let (sending, receiving) = (sender.clone(), receiver.clone());
        let mut waiting = Box::pin(async move { _ = sending.send_async(Box::new(7)).await });
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        let mut all = Some((waiting, attached, receiving, sender, receiver));
        assert!(child_can(|held| hold(locked, held), || drop(all.take())));
        // The parent's locks are unchanged.
        let (mut waiting, attached, _receiving, _sender, _receiver) = all.take().unwrap();
        assert_eq!(attached.try_recv().map(|message| *message), Ok(7));
        assert!(waiting.as_mut().poll(&mut context).is_ready());
    }

    #[test]
    fn a_message_that_was_given_back_is_one_to_be_told_of_and_comes_before_all_others() {
        let meeting = Meeting::new(&Meter::default());
        let ready = || (meeting.side::<false>().is_ready(), meeting.side::<true>().is_ready());
        let own = Arc::new(Ticket::for_task());
        let Ok(Err(receiver)) = Stand::receive(&meeting, &own, 0, false) else { panic!("no peer is there") };
        Stand::give_back(&meeting, 0, 7);
        assert_eq!(ready(), (true, false));
        // About to check: no sender may be matched with it before.
        own.open();
        assert_eq!(ready(), (true, false));
        drop(receiver);
        assert_eq!(ready(), (true, false));
    }
}
