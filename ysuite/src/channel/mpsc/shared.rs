//! What the ends of a funnel share: the lanes, which of them have news, and how to wake the receiver.
//!
//! `connect`, `tell`, `disconnect`: senders, any thread, lock-free. The rest: the receiver. A lane is *active*, and then
//! the receiver polls it and its sender does nothing beside writing, or *armed*: its passive word holds [`LANE`], and the
//! publication that takes that raises the lane's id and calls the receiver. A new lane is armed from the start, so that
//! nobody needs to be told of it.
//!
//! Only the receiver takes a lane out of its slot while it lives. When it goes, it and whoever connects at that moment
//! race for what is in the slots, and whoever swaps a lane out ends it.

use core::task::Waker;

use crate::foreign::Panics;
use crate::passive::Barrier;
use crate::queue::ypipe::{self, AtomicSlot, IdleReader, Writer};
use crate::queue::{ReadySet, SegmentedArray};
use crate::sync::{Arc, AtomicBool, AtomicUsize, Ordering, fence};
use crate::wait::Parker;
use crate::wait::WakeTarget;

/// The token of an armed lane.
pub(super) const LANE: u32 = 1;

/// Berths of the first segment.
const FIRST: usize = crate::queue::WORD;

pub(super) struct MpscShared<T> {
    /// Which lanes have news.
    pub(super) ready: ReadySet,
    /// How the receiver sleeps. Many threads call it; none publishes by it. An inbox has one for all its queues.
    pub(super) parker: Arc<Parker>,
    /// The lanes by id.
    slots: SegmentedArray<AtomicSlot<T>>,
    /// How senders are woken that wait for room, by id of their lane. Without a bound nobody does.
    senders: SegmentedArray<WakeTarget>,
    /// The bells of all who never wait: senders without a bound, and those that come when the receiver is gone. Nothing is
    /// ever registered here.
    nobody: WakeTarget,
    /// How many senders there are.
    connected: AtomicUsize,
    /// The receiver is gone.
    gone: AtomicBool,
    pub(super) bound: Option<usize>,
}

impl<T> MpscShared<T> {
    pub(super) fn new(bound: Option<usize>, parker: Arc<Parker>) -> Self {
        Self {
            ready: ReadySet::new(),
            parker,
            slots: SegmentedArray::new(FIRST),
            senders: SegmentedArray::new(FIRST),
            nobody: WakeTarget::new(),
            connected: AtomicUsize::new(0),
            gone: AtomicBool::new(false),
            bound,
        }
    }

    /// A new lane, and its id; none where the receiver is gone, which the writer knows. `None`: too many senders.
    pub(super) fn connect(&self) -> Option<(Writer<T>, Option<u32>)> {
        // ORDERING: Relaxed; nothing of the receiver's is touched on the strength of it, and one that goes later is met
        // below.
        if self.gone.load(Ordering::Relaxed) {
            let (writer, resting) = ypipe::lane(self.bound, 0);
            resting.go().pass();
            self.count();
            return Some((writer, None));
        }
        let id = self.ready.claim()?;
        let (writer, resting) = ypipe::lane(self.bound, LANE);
        if self.bound.is_some() {
            self.senders.get_or_make(id, WakeTarget::new);
        }
        let slot = self.slots.get_or_make(id, AtomicSlot::empty);
        slot.put(resting);
        // ORDERING: pairs with the fence in `abandon`: either its look into this slot finds the lane, or the load below
        // finds it gone.
        fence(Ordering::SeqCst);
        // ORDERING: Relaxed; by the fence.
        if self.gone.load(Ordering::Relaxed) {
            if let Some(resting) = slot.take() {
                resting.go().pass();
            }
        }
        self.count();
        Some((writer, Some(id as u32)))
    }

    fn count(&self) {
        // ORDERING: Relaxed; whoever connects does so by a sender that is counted, or before there is anybody else.
        self.connected.fetch_add(1, Ordering::Relaxed);
    }

    /// A publication has taken the token of lane `id`.
    pub(super) fn raise(&self, id: usize) {
        self.ready.raise(id);
    }

    /// Wakes the receiver if it sleeps. After something was raised, or the last sender has gone.
    pub(super) fn call(&self) -> bool {
        self.parker.wake()
    }

    /// A sender goes. True: it was the last.
    pub(super) fn disconnect(&self) -> bool {
        // ORDERING: Release pairs with the Acquire in `is_disconnected`: what this sender has published and raised is
        // visible to whoever finds nobody left. Read-modify-writes continue each other's release sequences.
        self.connected.fetch_sub(1, Ordering::Release) == 1
    }

    /// Whether all senders are gone.
    pub(super) fn is_disconnected(&self) -> bool {
        // ORDERING: Acquire pairs with the Release in `disconnect`.
        self.connected.load(Ordering::Acquire) == 0
    }

    /// How the sender of lane `id` is woken.
    pub(super) fn sender(&self, id: Option<u32>) -> &WakeTarget {
        id.and_then(|id| self.senders.get(id as usize)).unwrap_or(&self.nobody)
    }

    /// The sender of lane `id` is going: nobody is to be woken there. The waker that was, to be dropped last.
    pub(super) fn forget(&self, id: u32) -> Option<Waker> {
        self.senders.get(id as usize).and_then(WakeTarget::forget)
    }

    /// Receiver: looks at lane `id`.
    ///
    /// # Safety
    /// By the receiver alone, which does not finish the lane meanwhile.
    pub(super) unsafe fn look<R>(&self, id: usize, look: impl FnOnce(&IdleReader<T>) -> R) -> Option<R> {
        // SAFETY: while there is a receiver only it takes lanes out, in `finish`.
        self.slots.get(id).and_then(|slot| unsafe { slot.look(look) })
    }

    /// Receiver: lane `id` is closed and empty, and nobody reads it any more. Its memory is freed, its id free again.
    pub(super) fn finish(&self, id: usize) {
        drop(self.slots.get(id).and_then(AtomicSlot::take));
        self.ready.release(id);
    }

    /// Receiver: how many messages are in lanes nobody reads, counting no further than it takes to reach `enough`.
    /// `is_read` says of a lane whether somebody does.
    pub(super) fn len_up_to(&self, enough: usize, is_read: impl Fn(usize) -> bool) -> usize {
        let mut length = 0;
        for (id, slot) in self.slots.iter() {
            if length >= enough {
                break;
            }
            if !is_read(id) {
                // SAFETY: the receiver alone takes lanes out, and wakes them; it is at work here.
                length += unsafe { slot.look(|resting| resting.len_up_to(enough)) }.unwrap_or(0);
            }
        }
        length
    }

    /// Receiver: goes, after it has put all lanes to rest. Every send fails from now on, whoever waits for room is woken,
    /// and all messages are dropped. What panics meanwhile (a waker, a message) panics here, when all the others are done.
    pub(super) fn abandon(&self) {
        // ORDERING: Relaxed; the fence below.
        self.gone.store(true, Ordering::Relaxed);
        // ORDERING: pairs with the fence in `connect`.
        fence(Ordering::SeqCst);
        let (mut barrier, mut lanes, mut waiting) = (Barrier::none(), Vec::new(), Vec::new());
        for (id, slot) in self.slots.iter() {
            if let Some(resting) = slot.take() {
                barrier = barrier.and(resting.go());
                lanes.push((id, resting));
            }
        }
        barrier.pass();
        // Without a bound nobody waits for room.
        for (at, (_, resting)) in lanes.iter().enumerate().filter(|_| self.bound.is_some()) {
            let tokens = resting.released();
            if tokens != 0 {
                waiting.push((at, tokens));
            }
        }
        let mut panics = Panics::none();
        for (at, tokens) in waiting {
            let (id, resting) = &lanes[at];
            panics.catch(|| self.sender(Some(*id as u32)).wake(resting.writer_passive(), tokens));
        }
        // When everybody has been woken.
        lanes.iter().for_each(|(_, resting)| panics.catch(|| resting.dispose()));
    }
}
