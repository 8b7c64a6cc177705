//! The lanes of a thread: to each mailbox it sends to, one for ordinary messages and one for urgent ones. A thread's own;
//! finding a lane is wait-free, a new one allocates.
//!
//! A lane belongs to the thread and not to an address: so the messages of a thread arrive in order, however many clones of
//! the address it uses, an address is one word that any number of threads may share, and sending needs no
//! read-modify-write. A lane ends with its thread, with its mailbox (at the next send to it, or at a sweep), and when it has
//! not been used from one sweep to the next and is empty, so that its successor cannot overtake it. A sweep comes when the
//! number of lanes has doubled since the last.
//!
//! Cannot: keep the order of what is sent while the thread's own local values are being destroyed. Such a message has a
//! lane to itself.

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

/// Which messages overtake which.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rank {
    Ordinary,
    Urgent,
}

/// As many mailboxes' lanes are kept without a thought.
const KEPT_LANES: usize = if cfg!(ysuite_loom) { 2 } else { 64 };

struct OutboxLane {
    id: u64,
    ordinary: RefCell<Option<Sender<Envelope>>>,
    urgent: RefCell<Option<Sender<Envelope>>>,
    /// Since the last sweep.
    used: Cell<bool>,
}

struct Outbox {
    recent: RefCell<Option<Rc<OutboxLane>>>,
    lanes: RefCell<LaneMap>,
    /// So many lanes call for a sweep.
    sweep_at: Cell<usize>,
}

/// LaneMap that are to be dropped when nothing else is under way.
type GivenUp = Vec<Rc<OutboxLane>>;

type LaneMap = HashMap<u64, Rc<OutboxLane>, BuildHasherDefault<IdHasher>>;

thread_local! {
    static OUTBOX: Outbox = Outbox::new();
}

/// Ids are numbers in a row: a multiplication spreads them well sweep_at.
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
        let Ok(mut lane) = lane.try_borrow_mut() else {
            // The lane's messages are being dropped, and one of them sends: its mailbox has ended.
            return Err(SendError::Ended(envelope));
        };
        if lane.is_none() {
            match connect(inner, rank) {
                Some(sender) => *lane = Some(sender),
                None => return Err(SendError::Full(envelope)),
            }
        }
        let Some(sender) = &mut *lane else { unreachable!("it was put there") };
        match sender.send(envelope) {
            Ok(()) => Ok(()),
            Err(error) => ended(error.0),
        }
    }

    /// Whether it can be given up: its mailbox has ended, or it is empty and has not been used since the last sweep.
    fn is_idle(&self) -> bool {
        let unused = !self.used.replace(false);
        let is_idle = |lane: &RefCell<Option<Sender<Envelope>>>| match lane.try_borrow().as_deref() {
            Ok(Some(sender)) => sender.is_disconnected() || unused && sender.is_empty(),
            Ok(None) => true,
            Err(_) => false,
        };
        is_idle(&self.ordinary) && is_idle(&self.urgent)
    }
}

/// Out of line, so that nothing is moved about for an error that is not there.
#[cold]
#[inline(never)]
fn ended(envelope: Envelope) -> Result<(), SendError<Envelope>> {
    Err(SendError::Ended(envelope))
}

/// `None`: too many threads send to this mailbox.
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

    #[inline(always)]
    fn recent(&self, id: u64) -> Option<Rc<OutboxLane>> {
        self.recent.borrow().as_ref().filter(|lane| lane.id == id).cloned()
    }

    /// The lane, and what has been given up for it.
    fn find(&self, id: u64) -> (Rc<OutboxLane>, GivenUp) {
        let found = self.lanes.borrow().get(&id).cloned();
        let (lane, given_up) = match found {
            Some(lane) => (lane, Vec::new()),
            None => {
                let (lane, given_up) = (Rc::new(OutboxLane::new(id)), self.sweep());
                self.lanes.borrow_mut().insert(id, lane.clone());
                (lane, given_up)
            }
        };
        // No sweep asks the recent one, so this holds until another is.
        lane.used.set(true);
        drop(self.recent.replace(Some(lane.clone())));
        (lane, given_up)
    }

    /// Gives up lanes that are idle, if there are many. What drops them drops what is left in the lanes of mailboxes that
    /// have ended, which may do anything.
    fn sweep(&self) -> GivenUp {
        let sweep_at = self.sweep_at.get();
        if self.lanes.borrow().len() < sweep_at {
            return Vec::new();
        }
        let mut idle = Vec::new();
        let mut lanes = self.lanes.borrow_mut();
        lanes.retain(|_, lane| {
            // One that is being used, or is recent, has other owners.
            let stays = Rc::strong_count(lane) > 1 || !lane.is_idle();
            if !stays {
                idle.push(lane.clone());
            }
            stays
        });
        self.sweep_at.set(KEPT_LANES.max(lanes.len() * 2));
        idle
    }

    /// The lane's mailbox has ended.
    #[cold]
    #[inline(never)]
    fn forget(&self, id: u64) {
        let lane = self.lanes.borrow_mut().remove(&id);
        let recent = if self.recent.borrow().as_ref().is_some_and(|lane| lane.id == id) {
            self.recent.replace(None)
        } else {
            None
        };
        drop((lane, recent));
    }
}

impl Drop for Outbox {
    /// Ends the lanes at the end of the thread, where a panic would end the process. A mailbox that is ending at this moment
    /// may leave it to a lane to drop what is in it: what such a message says in a panic has been printed, and goes no
    /// further.
    fn drop(&mut self) {
        let mut panics = Panics::none();
        panics.catch(|| drop(self.recent.take()));
        for (_, lane) in self.lanes.take() {
            panics.catch(|| drop(lane));
        }
        panics.end_here();
    }
}

/// A lane to a mailbox that has ended is of no use.
#[cold]
#[inline(never)]
fn refused(inner: &MailboxInner, error: SendError<Envelope>) -> Result<(), SendError<Envelope>> {
    if error.is_ended() {
        let _ = OUTBOX.try_with(|outbox| outbox.forget(inner.id()));
    }
    Err(error)
}

/// Sends by the calling thread's lane. Never waits.
#[inline(always)]
pub(super) fn send(inner: &MailboxInner, rank: Rank, envelope: Envelope) -> Result<(), SendError<Envelope>> {
    match OUTBOX.try_with(|outbox| outbox.recent(inner.id())) {
        Ok(Some(lane)) => match lane.send(inner, rank, envelope) {
            Ok(()) => Ok(()),
            Err(error) => refused(inner, error),
        },
        _ => send_by_other_lane(inner, rank, envelope),
    }
}

/// Sends by another lane than the last time.
#[cold]
#[inline(never)]
fn send_by_other_lane(inner: &MailboxInner, rank: Rank, envelope: Envelope) -> Result<(), SendError<Envelope>> {
    let Ok((lane, given_up)) = OUTBOX.try_with(|outbox| outbox.find(inner.id())) else {
        return OutboxLane::new(inner.id()).send(inner, rank, envelope);
    };
    let sent = match lane.send(inner, rank, envelope) {
        Ok(()) => Ok(()),
        Err(error) => refused(inner, error),
    };
    // Behind the message, which it might keep from being sent.
    drop(given_up);
    sent
}
