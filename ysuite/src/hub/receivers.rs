//! Receivers and their handlers. The hub's thread.
//!
//! A receiver is *active* (looked at in every turn, without a barrier; its signal is up) or *rests* (its signal is down,
//! and its senders will raise it). It goes to rest with all the others before the hub sleeps, or alone when it has had
//! nothing for a while in which there was something else to do.

use core::any::{Any, TypeId};

use super::running::Running;
use super::source::{Kind, Refused, Source};
use super::table::{Key, Table};
use super::{Hub, POSTS, TURN};
use crate::channel::{Receive, RecvError, TryRecvError};
use crate::signal::Attach;

/// Turns without a message, while there was something else to do, before a receiver rests.
const PATIENCE: u32 = 64;

pub(super) struct Receivers {
    table: Table<Entry>,
    /// Those that are active, and some that are gone.
    active: Vec<Key>,
}

struct Entry {
    /// `None` while its handler is running.
    serving: Option<Box<dyn Serve>>,
    /// To be dropped when its handler returns.
    is_gone: bool,
    is_active: bool,
    /// In the list of those that are active, or were.
    is_listed: bool,
    /// Turns in a row without a message.
    empty: u32,
}

/// A receiver and its handler, without their types.
trait Serve: Send {
    /// Hands up to [`TURN`] messages to the handler. `rest`: and with nothing left, takes the signal down.
    fn serve(&mut self, hub: &mut Hub, key: Key, rest: bool) -> Served;
    fn has_message(&mut self) -> bool;
    fn receiver_type(&self) -> TypeId;
    fn into_receiver(self: Box<Self>) -> Box<dyn Any>;
}

struct Served {
    done: usize,
    state: State,
}

enum State {
    Active,
    Resting,
    /// The senders are gone, and the handler knows.
    Over,
}

struct Serving<R, H> {
    receiver: R,
    handler: H,
}

impl<R, H> Serve for Serving<R, H>
where
    R: Receive + Attach + Send + 'static,
    H: FnMut(&mut Hub, Result<R::Message, RecvError>) + Send,
{
    fn serve(&mut self, hub: &mut Hub, key: Key, rest: bool) -> Served {
        let mut done = 0;
        while done < TURN && !hub.halted && !hub.receivers.is_gone(key) {
            let message = match self.receiver.look() {
                Some(message) => message,
                None if !rest => break,
                None => match self.receiver.try_next() {
                    Ok(message) => message,
                    Err(TryRecvError::Empty) => return Served { done, state: State::Resting },
                    Err(TryRecvError::Disconnected) => {
                        (self.handler)(hub, Err(RecvError));
                        return Served { done: done + 1, state: State::Over };
                    }
                },
            };
            (self.handler)(hub, Ok(message));
            done += 1;
        }
        Served { done, state: State::Active }
    }

    fn has_message(&mut self) -> bool {
        self.receiver.has_message()
    }

    fn receiver_type(&self) -> TypeId {
        TypeId::of::<R>()
    }

    fn into_receiver(self: Box<Self>) -> Box<dyn Any> {
        let Self { mut receiver, handler } = *self;
        receiver.detach();
        // Foreign code, which may panic: before the receiver is on its way, so that it is dropped then.
        drop(handler);
        Box::new(receiver)
    }
}

impl Receivers {
    pub(super) const fn new() -> Self {
        Self { table: Table::new(), active: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// The signal of the receiver in this place has been seen.
    pub(super) fn wake(&mut self, place: usize) {
        let Some(key) = self.table.key_at(place) else { return };
        if let Some(entry) = self.table.get_mut(key).filter(|entry| !entry.is_active) {
            (entry.is_active, entry.empty) = (true, 0);
            // A handler that panicked may have left it there.
            if !core::mem::replace(&mut entry.is_listed, true) {
                self.active.push(key);
            }
        }
    }

    /// Whether an active one has a message.
    pub(super) fn has_message(&mut self) -> bool {
        let table = &mut self.table;
        self.active.iter().any(|&key| {
            table.get_mut(key).and_then(|entry| entry.serving.as_mut()).is_some_and(|one| one.has_message())
        })
    }

    fn is_gone(&mut self, key: Key) -> bool {
        self.table.get_mut(key).is_none_or(|entry| entry.is_gone)
    }

    /// Takes out what is to be served, and whether it is to rest.
    fn begin(&mut self, key: Key, rest: bool) -> Option<(Box<dyn Serve>, bool)> {
        let entry = self.table.get_mut(key).filter(|entry| entry.is_active)?;
        let rest = rest || entry.empty >= PATIENCE;
        entry.serving.take().map(|serving| (serving, rest))
    }

    /// Puts back what was served, unless it is over or was removed meanwhile.
    fn end(&mut self, key: Key, serving: Box<dyn Serve>, served: &Served) {
        let entry = self.table.get_mut(key).filter(|entry| !entry.is_gone && !matches!(served.state, State::Over));
        let Some(entry) = entry else {
            // Nothing of it is left when foreign code is dropped, which may panic.
            self.table.remove(key);
            return drop(serving);
        };
        entry.serving = Some(serving);
        entry.empty = if served.done == 0 { entry.empty.saturating_add(1) } else { 0 };
        entry.is_active = !matches!(served.state, State::Resting);
    }
}

impl Hub {
    /// Hands each message of `receiver`, of any channel, to `handler`; in the end, once, that its senders are gone, after
    /// which both are dropped. Allocates; without a system call but to wake this very hub.
    ///
    /// # Errors
    /// Where the receiver is attached to a set already, or the hub has [as many](Hub::with_receivers) as it may. The
    /// receiver comes back with the error.
    pub fn receive<R, H>(&mut self, receiver: R, handler: H) -> Result<Source, Refused<R>>
    where
        R: Receive + Attach + Send + 'static,
        H: FnMut(&mut Hub, Result<R::Message, RecvError>) + Send + 'static,
    {
        let table = &mut self.receivers.table;
        let mut serving = Box::new(Serving { receiver, handler });
        // Before it has its place: a receiver that is refused needs none.
        if let Err(error) = self.watch.attach(&mut serving.receiver, POSTS + 1 + table.next().place as usize) {
            return Err(Refused { error: error.into(), source: serving.receiver });
        }
        let entry = Entry { serving: Some(serving), is_gone: false, is_active: false, is_listed: false, empty: 0 };
        Ok(Source(Kind::Receiver(table.insert(entry))))
    }

    /// Every active receiver in turn.
    pub(super) fn serve_receivers(&mut self, rest: bool) -> usize {
        let (mut done, mut at) = (0, 0);
        // Those that come meanwhile have the next turn; handlers may run the hub themselves, and shorten the list.
        let end = self.receivers.active.len();
        while at < end && !self.halted {
            let Some(&key) = self.receivers.active.get(at) else { break };
            at += 1;
            let Some((mut serving, rest)) = self.receivers.begin(key, rest) else { continue };
            let running = Running::source(self, Source(Kind::Receiver(key)));
            let served = serving.serve(running.hub, key, rest);
            running.end();
            done += served.done;
            self.receivers.end(key, serving, &served);
        }
        if at != 0 {
            let table = &mut self.receivers.table;
            self.receivers.active.retain(|&key| {
                table.get_mut(key).is_some_and(|entry| {
                    entry.is_listed = entry.is_active;
                    entry.is_listed
                })
            });
        }
        done
    }

    pub(super) fn forget_receiver(&mut self, key: Key) {
        self.receivers.table.remove(key);
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
        let entry = self.receivers.table.get_mut(key)?;
        entry.serving.as_ref().filter(|serving| serving.receiver_type() == wanted)?;
        let serving = entry.serving.take();
        self.receivers.table.remove(key);
        serving.map(Serve::into_receiver)
    }
}
