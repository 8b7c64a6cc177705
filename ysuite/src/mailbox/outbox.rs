//! The lanes of a thread: for each mailbox it sends to, one for ordinary messages and one for urgent ones. The calling thread
//! only; finding a lane is wait-free, a new one allocates.
//!
//! A lane belongs to the thread and not to an address. So the messages of a thread arrive in order, through all clones of
//! the address; an address is one word that any number of threads may share; and sending needs no read-modify-write. A lane
//! ends with its thread, with its mailbox (at the next send to it, or at a sweep), or at a sweep when it was not used since
//! the last one and is empty, so that its successor cannot overtake it. A sweep comes when the number of lanes has doubled
//! since the last.
//!
//! Cannot: keep the order of messages that are sent while the thread's thread-locals are being destroyed. Each of them has
//! a lane to itself.

use core::cell::{Cell, RefCell};
use core::hash::{BuildHasherDefault, Hasher};
use std::collections::HashMap;
use std::rc::Rc;

use super::envelope::Envelope;
use super::error::SendError;
use super::inner::MailboxInner;
use crate::channel::mpsc::Sender;
use crate::foreign::Panics;
use crate::sync::thread_local;

/// Urgent messages overtake ordinary ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rank {
    Urgent,
    Ordinary,
}

/// Up to this number of mailboxes, a thread keeps its lanes without a sweep.
const KEPT_LANES: usize = if cfg!(ysuite_loom) { 2 } else { 64 };

struct OutboxLane {
    id: u64,
    ordinary: RefCell<Option<Sender<Envelope>>>,
    urgent: RefCell<Option<Sender<Envelope>>>,
    /// Whether it was used since the last sweep.
    used: Cell<bool>,
}

struct Outbox {
    recent: RefCell<Option<Rc<OutboxLane>>>,
    lanes: RefCell<LaneMap>,
    /// The number of lanes at which the next sweep comes.
    sweep_at: Cell<usize>,
}

/// Lanes to be dropped after the send under way.
type GivenUp = Vec<Rc<OutboxLane>>;

type LaneMap = HashMap<u64, Rc<OutboxLane>, BuildHasherDefault<IdHasher>>;

thread_local! {
    static OUTBOX: Outbox = Outbox::new();
}

/// Ids are consecutive numbers: a multiplication spreads them well enough.
#[derive(Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, id: u64) {
        self.0 = (self.0 ^ id).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
    }
}

impl OutboxLane {
    fn new(id: u64) -> Self {
        Self { id, ordinary: RefCell::new(None), urgent: RefCell::new(None), used: Cell::new(true) }
    }

    #[inline(always)]
    fn send(&self, inner: &MailboxInner, rank: Rank, envelope: Envelope) -> Result<(), SendError<Envelope>> {
        let lane = if rank == Rank::Ordinary { &self.ordinary } else { &self.urgent };
        let Ok(mut sender) = lane.try_borrow_mut() else {
            // The mailbox has ended: the lane is dropping its messages, and the `Drop` of one of them sends.
            return ended(inner, envelope);
        };
        if sender.is_none() {
            *sender = connect(inner, rank);
        }
        let Some(sender) = &mut *sender else { return Err(SendError::Full(envelope)) };
        match sender.send(envelope) {
            Ok(()) => Ok(()),
            Err(error) => ended(inner, error.0),
        }
    }

    /// Whether a sweep may drop it: its mailbox has ended, or it is empty and was not used since the last sweep.
    fn is_idle(&self) -> bool {
        let unused = !self.used.replace(false);
        [&self.ordinary, &self.urgent].iter().all(|sender| match sender.try_borrow().as_deref() {
            Ok(Some(sender)) => sender.is_disconnected() || unused && sender.is_empty(),
            Ok(None) => true,
            Err(_) => false,
        })
    }
}

/// The lane's mailbox has ended: the thread forgets the lane, which its sender still holds. Out of line, so that a send that
/// succeeds does not move the envelope.
#[cold]
#[inline(never)]
fn ended(inner: &MailboxInner, envelope: Envelope) -> Result<(), SendError<Envelope>> {
    let _ = OUTBOX.try_with(|outbox| outbox.forget(inner.id));
    Err(SendError::Ended(envelope))
}

/// `None`: all lanes of the mailbox are in use.
#[cold]
fn connect(inner: &MailboxInner, rank: Rank) -> Option<Sender<Envelope>> {
    match rank {
        Rank::Ordinary => inner.sender.ordinary().ok(),
        Rank::Urgent => inner.sender.urgent().ok(),
    }
}

impl Outbox {
    fn new() -> Self {
        Self { recent: RefCell::new(None), lanes: RefCell::new(HashMap::default()), sweep_at: Cell::new(KEPT_LANES) }
    }

    /// The lane, and the lanes that a sweep took out for it.
    fn find(&self, id: u64) -> (Rc<OutboxLane>, GivenUp) {
        let (found, mut given_up) = (self.lanes.borrow().get(&id).cloned(), GivenUp::new());
        let lane = found.unwrap_or_else(|| {
            let lane = Rc::new(OutboxLane::new(id));
            given_up = self.sweep();
            self.lanes.borrow_mut().insert(id, lane.clone());
            lane
        });
        // A sweep skips the recent lane, so this holds until another lane is the recent one.
        lane.used.set(true);
        drop(self.recent.replace(Some(lane.clone())));
        (lane, given_up)
    }

    /// Takes out idle lanes, if there are many. Dropping them drops messages of mailboxes that have ended: foreign code.
    fn sweep(&self) -> GivenUp {
        let mut lanes = self.lanes.borrow_mut();
        if lanes.len() < self.sweep_at.get() {
            return Vec::new();
        }
        // A lane in use, and the recent one, have other owners.
        let is_idle = |lane: &&Rc<OutboxLane>| Rc::strong_count(lane) == 1 && lane.is_idle();
        let idle: GivenUp = lanes.values().filter(is_idle).cloned().collect();
        idle.iter().for_each(|lane| drop(lanes.remove(&lane.id)));
        self.sweep_at.set(KEPT_LANES.max(lanes.len() * 2));
        idle
    }

    /// Takes the lane out.
    fn forget(&self, id: u64) {
        let lane = self.lanes.borrow_mut().remove(&id);
        let recent = self.recent.borrow_mut().take_if(|lane| lane.id == id);
        drop((lane, recent));
    }
}

impl Drop for Outbox {
    /// Drops the lanes at the end of the thread, where a panic would abort the process. A lane may have to drop the messages
    /// of a mailbox that is ending at this moment: if one panics, the text is printed, and the panic goes no further.
    fn drop(&mut self) {
        let mut panics = Panics::none();
        panics.catch(|| drop(self.recent.take()));
        for (_, lane) in self.lanes.take() {
            panics.catch(|| drop(lane));
        }
        panics.end_here();
    }
}

/// Sends by a lane of the calling thread. Never waits.
#[inline(always)]
pub(super) fn send(inner: &MailboxInner, rank: Rank, envelope: Envelope) -> Result<(), SendError<Envelope>> {
    let recent = |outbox: &Outbox| outbox.recent.borrow().as_ref().filter(|lane| lane.id == inner.id).cloned();
    match OUTBOX.try_with(recent) {
        Ok(Some(lane)) => lane.send(inner, rank, envelope),
        _ => send_by_other_lane(inner, rank, envelope),
    }
}

/// Sends by a lane other than the recent one.
#[cold]
#[inline(never)]
fn send_by_other_lane(inner: &MailboxInner, rank: Rank, envelope: Envelope) -> Result<(), SendError<Envelope>> {
    let Ok((lane, given_up)) = OUTBOX.try_with(|outbox| outbox.find(inner.id)) else {
        return OutboxLane::new(inner.id).send(inner, rank, envelope);
    };
    let sent = lane.send(inner, rank, envelope);
    // After the send: dropping them may panic.
    drop(given_up);
    sent
}
