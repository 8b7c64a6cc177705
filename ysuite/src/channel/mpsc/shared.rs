//! What the ends of an mpsc channel share: the lanes, which of them are raised, and how to wake the receiver.
//!
//! `connect`, `ready.raise`, `parker.wake`, `disconnect`, `forget`: senders, any thread, lock-free. The rest: the receiver.
//! A lane is either *active*: the receiver polls it, and its sender does nothing beside writing. Or it is *armed*: its passive
//! word holds [`LANE`], and the sender whose publication takes that token raises the lane's id and wakes the receiver. A new
//! lane is armed from the start, so the receiver need not learn of it before its first message.
//!
//! While the receiver lives only it takes lanes out of their slots. When it goes, it races with senders that connect at that
//! moment for the lanes in the slots; the thread that swaps a lane out ends it.

use core::task::Waker;

use crate::channel::rendezvous::Meeting;
use crate::foreign::Panics;
use crate::passive::Barrier;
use crate::queue::ypipe::{self, AtomicSlot, IdleReader, Writer};
use crate::queue::{ReadySet, SegmentedArray};
use crate::sync::{Arc, AtomicBool, AtomicUsize, Ordering, fence};
use crate::wait::{Parker, WakeTarget};

/// The token of an armed lane.
pub(super) const LANE: u32 = 1;

/// Slots in the first segment.
const FIRST: usize = crate::queue::WORD;

pub(in crate::channel) struct MpscShared<T> {
    /// The ids of lanes whose senders have raised them: each when a publication of its own has taken the lane's token.
    pub(super) ready: ReadySet,
    /// How the receiver sleeps. Any number of senders wake it, after they have raised an id or when the last goes. An inbox
    /// has one parker for all its queues.
    pub(super) parker: Arc<Parker>,
    /// The lanes by id.
    slots: SegmentedArray<AtomicSlot<T>>,
    /// How senders that wait for room are woken, by id of their lane. Without a bound only those have one that have been
    /// attached to a set.
    senders: SegmentedArray<WakeTarget>,
    /// The target of all senders that never wait: those without a bound, and those that connect after the receiver is gone.
    /// Nothing is ever registered here.
    never_waits: WakeTarget,
    /// How many senders there are.
    connected: AtomicUsize,
    /// The receiver is gone.
    gone: AtomicBool,
    pub(super) bound: Option<usize>,
    /// Of a rendezvous: with a bound of 0. It counts its senders itself; none is counted here, so the
    /// lanes are closed from the beginning.
    pub(super) meeting: Option<Arc<Meeting<T>>>,
}

impl<T> MpscShared<T> {
    pub(super) fn new(bound: Option<usize>, parker: Arc<Parker>) -> Self {
        Self {
            ready: ReadySet::new(),
            parker,
            slots: SegmentedArray::new(FIRST),
            senders: SegmentedArray::new(FIRST),
            never_waits: WakeTarget::default(),
            connected: AtomicUsize::new(0),
            gone: AtomicBool::new(false),
            bound,
            meeting: (bound == Some(0)).then(|| Arc::new(Meeting::new())),
        }
    }

    /// A new lane and its id. Where the receiver is gone there is no id, and the writer finds its queue orphaned. `None`: too
    /// many senders.
    pub(super) fn connect(&self) -> Option<(Writer<T>, Option<u32>)> {
        // ORDERING: Relaxed; nothing of the receiver's is touched on the strength of it. The fence below meets a receiver
        // that goes later.
        if self.gone.load(Ordering::Relaxed) {
            let (writer, idle) = ypipe::lane(self.bound, 0);
            idle.go().pass();
            self.count();
            return Some((writer, None));
        }
        let id = self.ready.claim()?;
        let (writer, idle) = ypipe::lane(self.bound, LANE);
        if self.bound.is_some() {
            self.senders.get_or_make(id, WakeTarget::default);
        }
        let slot = self.slots.get_or_make(id, AtomicSlot::empty);
        slot.put(idle);
        // ORDERING: pairs with the fence in `abandon`: either the receiver finds the lane in this slot, or the load below
        // finds the receiver gone.
        fence(Ordering::SeqCst);
        // ORDERING: Relaxed; the fence above orders it against `abandon`.
        if self.gone.load(Ordering::Relaxed) {
            if let Some(idle) = slot.take() {
                idle.go().pass();
            }
        }
        self.count();
        Some((writer, Some(id as u32)))
    }

    fn count(&self) {
        if self.meeting.is_some() {
            return;
        }
        // ORDERING: Relaxed; a new sender is made from a sender that is counted, or before any other thread has the channel,
        // or by an inbox, to which the count means nothing. So the count cannot fall to 0 meanwhile.
        self.connected.fetch_add(1, Ordering::Relaxed);
    }

    /// A sender goes. True: it was the last.
    pub(super) fn disconnect(&self) -> bool {
        if self.meeting.is_some() {
            return false;
        }
        // ORDERING: Release pairs with the Acquire in `is_disconnected`: a receiver that finds all senders gone sees what
        // this sender has published and raised. Read-modify-writes continue each other's release sequences.
        self.connected.fetch_sub(1, Ordering::Release) == 1
    }

    /// Whether all senders are gone.
    pub(super) fn is_disconnected(&self) -> bool {
        // ORDERING: Acquire pairs with the Release in `disconnect`: what the senders have published and raised is visible.
        self.connected.load(Ordering::Acquire) == 0
    }

    /// How the sender of lane `id` is woken.
    pub(super) fn sender(&self, id: Option<u32>) -> &WakeTarget {
        id.and_then(|id| self.senders.get(id as usize)).unwrap_or(&self.never_waits)
    }

    /// An id for a sender that has no lane, since the receiver is gone. Nobody frees it: the channel's end does.
    pub(super) fn claim(&self) -> Option<u32> {
        self.ready.claim().map(|id| id as u32)
    }

    /// From now on the sender with this id has a target of its own.
    pub(super) fn make_target(&self, id: u32) {
        self.senders.get_or_make(id as usize, WakeTarget::default);
    }

    /// The sender of lane `id` goes: takes its waker out. The caller drops the waker last: its drop is foreign code.
    pub(super) fn forget(&self, id: u32) -> Option<Waker> {
        self.senders.get(id as usize).and_then(|sender| sender.task.take())
    }

    /// Receiver: looks at lane `id`.
    ///
    /// # Safety
    /// Only the receiver may call this, and `look` must not finish the lane.
    pub(super) unsafe fn look<R>(&self, id: usize, look: impl FnOnce(&IdleReader<T>) -> R) -> Option<R> {
        // SAFETY: while the receiver lives only it takes lanes out, in `finish`, which by the contract does not run now.
        self.slots.get(id).and_then(|slot| unsafe { slot.look(look) })
    }

    /// Receiver: lane `id` is closed and empty, and its reader is idle. Frees its memory and its id.
    pub(super) fn finish(&self, id: usize) {
        drop(self.slots.get(id).and_then(AtomicSlot::take));
        self.ready.release(id);
    }

    /// Receiver: how many messages are in lanes that are not active, counting no further than it takes to reach `enough`.
    /// `is_active` says of an id whether its lane is.
    pub(super) fn len_up_to(&self, enough: usize, is_active: impl Fn(usize) -> bool) -> usize {
        let mut length = 0;
        for (id, slot) in self.slots.iter() {
            if length >= enough {
                break;
            }
            if !is_active(id) {
                // SAFETY: only the receiver takes lanes out and wakes their readers; this is the receiver, and it does
                // neither here.
                length += unsafe { slot.look(|idle| idle.len_up_to(enough)) }.unwrap_or(0);
            }
        }
        length
    }

    /// Receiver: goes, after all readers are idle. From now on every send fails. Wakes the senders that wait for room, and
    /// drops all messages. Where a waker or a message panics, all others are woken or dropped before the panic goes on.
    pub(super) fn abandon(&self) {
        // ORDERING: Relaxed; the fence below orders it against `connect`.
        self.gone.store(true, Ordering::Relaxed);
        // ORDERING: pairs with the fence in `connect`: either the new sender finds the receiver gone, or the loop below
        // finds its lane.
        fence(Ordering::SeqCst);
        let (mut barrier, mut lanes) = (Barrier::none(), Vec::new());
        for (id, slot) in self.slots.iter() {
            if let Some(idle) = slot.take() {
                barrier = barrier.and(idle.go());
                lanes.push((id, idle));
            }
        }
        barrier.pass();
        // Without a bound no sender waits for room.
        let released = lanes.iter().filter(|_| self.bound.is_some()).map(|(id, idle)| (*id, idle, idle.released()));
        // All tokens are taken before the first waker, which is foreign code.
        let waiting: Vec<_> = released.filter(|(_, _, tokens)| *tokens != 0).collect();
        let mut panics = Panics::none();
        for (id, idle, tokens) in waiting {
            panics.catch(|| self.sender(Some(id as u32)).wake(idle.writer_passive(), tokens));
        }
        // The messages last: no panic of theirs may keep a sender asleep.
        lanes.iter().for_each(|(_, idle)| panics.catch(|| idle.dispose()));
    }
}
