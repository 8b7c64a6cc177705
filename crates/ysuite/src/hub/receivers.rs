//! Receivers and their handlers. The hub's thread.
//!
//! A receiver is *active* or *armed*. Every turn checks an active one, without a barrier; its signal is up. The signal
//! of an armed one is down, and its senders will raise it. A receiver is armed with all the others before the hub
//! sleeps, or alone after a number of turns without a message in which the hub had other work.

use core::any::{Any, TypeId};

use super::running::Running;
use super::source::{Refused, Source, SourceKey};
use super::table::{Key, Table};
use super::{Hub, POSTS, TURN};
use crate::channel::{Receive, RecvError, TryRecvError};
use crate::foreign::{Foreign, Panics};
use crate::signal::Attach;

/// Turns without a message, while the hub had other work, before a receiver is armed.
const PATIENCE: u32 = 64;

// GROWS: `active`; bound: receivers, each is listed once; armed ones leave it at the end of each turn; cost: active
//     receivers, in each turn; test: tests/suite/hub/receivers.rs: a_flood_of_messages_has_one_turn_in_each_turn
#[derive(Default)]
pub(super) struct Receivers {
    pub(super) table: Table<ReceiverEntry>,
    /// The active receivers, and some that were removed.
    active: Vec<Key>,
}

pub(super) struct ReceiverEntry {
    /// `None` while its handler is running.
    serving: Option<Box<dyn Serve>>,
    /// Removed: to be dropped when its handler returns.
    is_gone: bool,
    is_active: bool,
    /// Whether it is in `active`.
    is_listed: bool,
    /// The number of turns in a row without a message.
    empty: u32,
}

/// A receiver and its handler, without their types.
trait Serve: Send {
    /// Gives up to [`TURN`] messages to the handler; returns their number. `rest`: takes the signal down when there are
    /// no more.
    fn serve(&mut self, hub: &mut Hub, key: Key, rest: bool) -> (usize, Outcome);
    fn has_message(&mut self) -> bool;
    fn receiver_type(&self) -> TypeId;
    fn into_receiver(self: Box<Self>) -> Box<dyn Any>;
}

enum Outcome {
    Active,
    Resting,
    /// The senders are gone, and the handler got the error.
    Over,
}

/// Dropped in this order.
struct Serving<R, H> {
    receiver: R,
    handler: Foreign<H>,
}

impl<R, H> Serve for Serving<R, H>
where
    R: Receive + Attach + Send + 'static,
    H: FnMut(&mut Hub, Result<R::Message, RecvError>) + Send,
{
    // USER CODE: a receiver's handler; receiver and handler are out of their entry, which says so; re-entrance: may
    //     remove itself or others, add, run the hub; it is not called again meanwhile; panic: `Running` removes the
    //     entry, then both are dropped; test: tests/suite/hub/receivers.rs:
    //     a_handler_that_panics_takes_its_receiver_down_and_nothing_else
    fn serve(&mut self, hub: &mut Hub, key: Key, rest: bool) -> (usize, Outcome) {
        let mut done = 0;
        let number = hub.number;
        // A key belongs to the hub that made it, and a handler may have put another hub in its place.
        let is_here = |hub: &mut Hub| {
            hub.number == number && hub.receivers.table.get_mut(key).is_some_and(|entry| !entry.is_gone)
        };
        while done < TURN && !hub.halted && is_here(hub) {
            let message = match self.receiver.look() {
                Some(message) => message,
                None if !rest => break,
                None => match self.receiver.try_next() {
                    Ok(message) => message,
                    Err(TryRecvError::Empty) => return (done, Outcome::Resting),
                    Err(TryRecvError::Disconnected) => {
                        (self.handler)(hub, Err(RecvError));
                        return (done + 1, Outcome::Over);
                    }
                },
            };
            (self.handler)(hub, Ok(message));
            done += 1;
        }
        (done, Outcome::Active)
    }

    fn has_message(&mut self) -> bool {
        self.receiver.has_message()
    }

    fn receiver_type(&self) -> TypeId {
        TypeId::of::<R>()
    }

    // USER CODE: `Drop` of a handler's captures, as in `into_source` of `hub/descriptors.rs`; the entry is gone, the
    //     receiver out of its set, the source out of the poller; re-entrance: none; panic: the taken receiver or source
    //     is dropped; test: tests/suite/hub/panics.rs: what_is_taken_goes_with_a_handler_whose_end_panics
    fn into_receiver(self: Box<Self>) -> Box<dyn Any> {
        let Self { mut receiver, handler } = *self;
        receiver.detach();
        // User code; so is the drop of a receiver that is not returned, while unwinding.
        Box::new(Panics::answer_behind(receiver, || drop(handler)))
    }
}

impl Receivers {
    /// The signal of the receiver with this index was up.
    pub(super) fn wake(&mut self, index: usize) {
        let Some(key) = self.table.key_at(index) else { return };
        if let Some(entry) = self.table.get_mut(key).filter(|entry| !entry.is_active) {
            (entry.is_active, entry.empty) = (true, 0);
            // A handler that panicked may have left it in the list.
            if !core::mem::replace(&mut entry.is_listed, true) {
                self.active.push(key);
            }
        }
    }

    /// Whether an active receiver has a message.
    pub(super) fn has_message(&mut self) -> bool {
        let table = &mut self.table;
        self.active.iter().any(|&key| {
            table.get_mut(key).and_then(|entry| entry.serving.as_mut()).is_some_and(|one| one.has_message())
        })
    }
}

impl Hub {
    // USER CODE: `Drop` of a handler's captures, where this (or `watch` of `hub/descriptors.rs`) refuses; nothing is in
    //     the table, the set or the poller; re-entrance: none; panic: what was refused is dropped; test:
    //     tests/suite/hub/panics.rs: what_is_refused_goes_with_a_handler_whose_end_panics
    // FINAL: `Err(RecvError)` to a receiver's handler: all senders are gone; the receiver is removed after it; test:
    //     tests/suite/hub/receivers.rs: messages_of_every_channel_and_their_ends
    /// Calls `handler` with each message of `receiver`, of any channel. When the senders are gone, calls it once with
    /// an error, and then drops both. Never blocks.
    #[doc = cost!(hub RECEIVE)]
    ///
    /// # Errors
    /// If the receiver is attached to a set already, or the hub has the [largest number](Hub::with_receivers) of
    /// receivers. The error contains the receiver.
    pub fn receive<R, H>(&mut self, receiver: R, handler: H) -> Result<Source, Refused<R>>
    where
        R: Receive + Attach + Send + 'static,
        H: FnMut(&mut Hub, Result<R::Message, RecvError>) + Send + 'static,
    {
        let table = &mut self.receivers.table;
        let mut serving = Box::new(Serving { receiver, handler: Foreign::new(handler) });
        // Before it is in the table: a refused receiver needs no entry.
        if let Err(error) = self.watch.set.attach(&mut serving.receiver, POSTS + 1 + table.next().index as usize) {
            let Serving { receiver, handler } = *serving;
            // User code; so is the drop of a receiver that is not returned, while unwinding.
            let source = Panics::answer_behind(receiver, || drop(handler));
            return Err(Refused { error: error.into(), source });
        }
        let entry =
            ReceiverEntry { serving: Some(serving), is_gone: false, is_active: false, is_listed: false, empty: 0 };
        Ok(Source(SourceKey::Receiver(table.insert(entry))))
    }

    /// Every active receiver in turn.
    pub(super) fn serve_receivers(&mut self, rest: bool) -> usize {
        self.behind = 2;
        let (mut done, mut last) = (0, None);
        // Receivers that are added meanwhile have the next turn; a handler may run the hub, which shortens the list.
        for at in 0..self.receivers.active.len() {
            if self.halted {
                // Next time the skipped receivers come first. An inner turn may have changed the list.
                let active = &mut self.receivers.active;
                let left_out = active.iter().position(|&key| Some(key) == last).map_or(0, |last| last + 1);
                active.rotate_left(left_out);
                break;
            }
            let Some(&key) = self.receivers.active.get(at) else { break };
            done += self.serve_receiver(key, rest);
            last = Some(key);
        }
        let table = &mut self.receivers.table;
        self.receivers.active.retain(|&key| {
            table.get_mut(key).is_some_and(|entry| {
                entry.is_listed = entry.is_active;
                entry.is_listed
            })
        });
        done
    }

    // USER CODE: `Drop` of a handler's captures and of the receiver's messages, in `remove_receiver` too; a waker,
    //     where an `mpmc` receiver passes its notification on; the entry is gone, then they are dropped; the receiver
    //     leaves its set before its messages are dropped; re-entrance: none; panic: the entry is free, nothing is left;
    //     test: tests/suite/hub/panics.rs: messages_whose_end_panics_leave_their_receivers_place_free
    fn serve_receiver(&mut self, key: Key, rest: bool) -> usize {
        let Some(entry) = self.receivers.table.get_mut(key).filter(|entry| entry.is_active) else { return 0 };
        let rest = rest || entry.empty >= PATIENCE;
        let Some(mut serving) = entry.serving.take() else { return 0 };
        let running = Running::new(self, (Some(Source(SourceKey::Receiver(key))), None));
        let (done, outcome) = serving.serve(running.hub, key, rest);
        if !running.end() {
            return done;
        }
        let entry = self.receivers.table.get_mut(key);
        let Some(entry) = entry.filter(|entry| !entry.is_gone && !matches!(outcome, Outcome::Over)) else {
            // Out of the table before the drop, which is user code and may panic.
            self.receivers.table.remove(key);
            return done;
        };
        entry.serving = Some(serving);
        entry.empty = if done == 0 { entry.empty.saturating_add(1) } else { 0 };
        entry.is_active = !matches!(outcome, Outcome::Resting);
        done
    }

    pub(super) fn remove_receiver(&mut self, key: Key) -> bool {
        let Some(entry) = self.receivers.table.get_mut(key).filter(|entry| !entry.is_gone) else { return false };
        if entry.serving.is_none() {
            entry.is_gone = true;
        } else {
            drop(self.receivers.table.remove(key));
        }
        true
    }

    pub(super) fn take_receiver(&mut self, key: Key, wanted: TypeId) -> Option<Box<dyn Any>> {
        self.receivers.table.get_mut(key)?.serving.as_ref().filter(|serving| serving.receiver_type() == wanted)?;
        self.receivers.table.remove(key)?.serving.map(Serve::into_receiver)
    }
}
