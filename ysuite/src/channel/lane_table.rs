//! A thread's lanes by number: what each thread keeps of the channels to which it sends by shared senders. The calling thread
//! only; finding a lane is wait-free, a new one allocates.
//!
//! A lane belongs to the thread and not to what was used to send. So the messages of a thread arrive in order, through all
//! clones of a sender; that may be shared by any number of threads; and sending needs no read-modify-write. A lane ends with
//! its thread, with its channel (at the next send to it, or at a sweep), or at a sweep when it was not used since the last one
//! and is empty, so that its successor cannot overtake it. A sweep comes when the number of lanes has doubled since the last.
//!
//! Cannot: keep the order of messages that are sent while the thread's thread-locals are being destroyed. Each of them has a
//! lane to itself; the caller makes it.

use core::cell::{Cell, RefCell};
use core::hash::{BuildHasherDefault, Hasher};
use std::collections::HashMap;
use std::rc::Rc;

use crate::foreign::Panics;

/// Up to this number of lanes, a thread keeps them without a sweep.
const KEPT_LANES: usize = if cfg!(ysuite_loom) { 2 } else { 64 };

/// What a thread has for one channel.
pub(crate) trait ThreadLane {
    /// The number of the channel.
    fn number(&self) -> u64;
    /// Set whenever it becomes the recent one, and cleared by a sweep.
    fn used(&self) -> &Cell<bool>;
    /// Whether a sweep may drop it: its channel has ended, or it is empty and `unused` since the last sweep.
    fn is_idle(&self, unused: bool) -> bool;
}

pub(crate) struct LaneTable<L: ThreadLane> {
    /// The lane that was found last. Not here while it is in use.
    recent: Cell<Option<Rc<L>>>,
    lanes: RefCell<LaneMap<L>>,
    /// The number of lanes at which the next sweep comes.
    sweep_at: Cell<usize>,
}

/// Lanes to be dropped after the send under way.
pub(crate) type GivenUp<L> = Vec<Rc<L>>;

/// A send is over: drops its lane, and those that were given up for it, and returns what came of it. Foreign code, where the
/// lanes have messages left; so is the drop of a message that comes back, behind a panic.
#[cold]
#[inline(never)]
pub(crate) fn end_lanes<L, A>(sent: A, lane: Rc<L>, given_up: GivenUp<L>) -> A {
    let mut panics = Panics::none();
    panics.catch(|| drop(lane));
    for lane in given_up {
        panics.catch(|| drop(lane));
    }
    panics.answer(sent)
}

type LaneMap<L> = HashMap<u64, Rc<L>, BuildHasherDefault<NumberHasher>>;

/// Numbers are consecutive: a multiplication spreads them well enough.
#[derive(Default)]
struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
    }
}

impl<L: ThreadLane> LaneTable<L> {
    pub(crate) fn new() -> Self {
        Self { recent: Cell::new(None), lanes: RefCell::new(HashMap::default()), sweep_at: Cell::new(KEPT_LANES) }
    }

    /// Takes the lane out, if it was found last. The caller [puts it back](Self::put_back), unless it has ended. Meanwhile it
    /// is found by [`find`](Self::find).
    #[inline(always)]
    pub(crate) fn take_recent(&self, number: u64) -> Option<Rc<L>> {
        let recent = self.recent.take()?;
        if recent.number() == number {
            return Some(recent);
        }
        self.recent.set(Some(recent));
        None
    }

    /// The lane is the recent one again. What has become that in the meantime may be dropped by this, as by a sweep.
    #[inline(always)]
    pub(crate) fn put_back(&self, lane: Rc<L>) {
        drop(self.recent.replace(Some(lane)));
    }

    /// The lane, and the lanes that a sweep took out for it.
    pub(crate) fn find(&self, number: u64, make: impl FnOnce() -> L) -> (Rc<L>, GivenUp<L>) {
        let (found, mut given_up) = (self.lanes.borrow().get(&number).cloned(), GivenUp::new());
        let lane = found.unwrap_or_else(|| {
            let lane = Rc::new(make());
            given_up = self.sweep();
            self.lanes.borrow_mut().insert(number, lane.clone());
            lane
        });
        // A sweep skips the recent lane, so this holds until another lane is the recent one.
        lane.used().set(true);
        drop(self.recent.replace(Some(lane.clone())));
        (lane, given_up)
    }

    /// Takes out idle lanes, if there are many. Dropping them drops messages of channels that have ended: foreign code.
    fn sweep(&self) -> GivenUp<L> {
        let mut lanes = self.lanes.borrow_mut();
        if lanes.len() < self.sweep_at.get() {
            return Vec::new();
        }
        // A lane in use, and the recent one, have other owners.
        let is_idle = |lane: &&Rc<L>| Rc::strong_count(lane) == 1 && lane.is_idle(!lane.used().replace(false));
        let idle: GivenUp<L> = lanes.values().filter(is_idle).cloned().collect();
        idle.iter().for_each(|lane| drop(lanes.remove(&lane.number())));
        self.sweep_at.set(KEPT_LANES.max(lanes.len() * 2));
        idle
    }

    /// Takes the lane out.
    pub(crate) fn forget(&self, number: u64) {
        let lane = self.lanes.borrow_mut().remove(&number);
        drop((lane, self.take_recent(number)));
    }
}

impl<L: ThreadLane> Drop for LaneTable<L> {
    /// Drops the lanes at the end of the thread, where a panic would abort the process. A lane may have to drop the messages
    /// of a channel that is ending at this moment: if one panics, the text is printed, and the panic goes no further.
    fn drop(&mut self) {
        let mut panics = Panics::none();
        panics.catch(|| drop(self.recent.take()));
        for (_, lane) in self.lanes.take() {
            panics.catch(|| drop(lane));
        }
        panics.end_here();
    }
}
