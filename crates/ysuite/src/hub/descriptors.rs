//! Descriptors and their handlers. The hub's thread.
//!
//! The poller reports edges. After each call of a handler the hub registers the descriptor anew, so that the poller
//! reports any data that the handler has left. So handlers are level-triggered, as users of `poll` and `epoll` expect.
//! Each call of a handler costs one system call.

use core::any::{Any, TypeId};
use core::ops::BitOr;
use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};

use super::running::Running;
use super::source::{Refused, Source, SourceKey};
use super::table::{Key, Table};
use super::{Hub, POSTS};
use crate::foreign::{Foreign, Panics};
use crate::signal::Signal;

const READABLE: u8 = 1;
const WRITABLE: u8 = 2;
const ERROR: u8 = 4;

/// The operations for which a descriptor is watched: [`READABLE`](Self::READABLE), [`WRITABLE`](Self::WRITABLE), or
/// both (`|`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interest(u8);

impl Interest {
    /// There is something to read, or the other side has closed its direction for writing.
    pub const READABLE: Self = Self(READABLE);
    /// There is room to write.
    pub const WRITABLE: Self = Self(WRITABLE);
}

impl BitOr for Interest {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

#[cfg(not(ysuite_loom))]
impl From<Interest> for mio::Interest {
    fn from(interest: Interest) -> Self {
        match interest.0 {
            READABLE => Self::READABLE,
            WRITABLE => Self::WRITABLE,
            _ => Self::READABLE | Self::WRITABLE,
        }
    }
}

// FINAL: `Ready` with an error alone: the number is no longer the source's; the source is removed after it; test:
//     tests/suite/hub/bad_input.rs: a_descriptor_closed_behind_the_hubs_back_goes_with_a_last_call
/// The operations for which a descriptor is ready. May, rarely, be wrong: use descriptors that do not block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ready(u8);

impl Ready {
    #[cfg(not(ysuite_loom))]
    pub(super) fn of(event: &mio::event::Event) -> Self {
        let when = |is: bool, bit: u8| if is { bit } else { 0 };
        Self(
            when(event.is_readable() || event.is_read_closed(), READABLE)
                | when(event.is_writable() || event.is_write_closed(), WRITABLE)
                | when(event.is_error(), ERROR),
        )
    }

    /// There is something to read, or the end of the input.
    #[must_use]
    pub fn is_readable(self) -> bool {
        self.0 & READABLE != 0
    }

    /// There is room to write, or the other side is closed.
    #[must_use]
    pub fn is_writable(self) -> bool {
        self.0 & WRITABLE != 0
    }

    /// The descriptor has failed; reading or writing returns the error. If neither of the other two is set, it was
    /// closed without being removed from the hub. The hub removes it after this call.
    #[must_use]
    pub fn is_error(self) -> bool {
        self.0 & ERROR != 0
    }
}

// GROWS: `ready`; bound: descriptors: each is in it once, until served, and once more where its interest has changed
//     meanwhile; emptied when served, or removed; cost: reported descriptors; test: tests/suite/hub/hosting.rs:
//     what_is_told_of_twice_is_served_once
// GROWS: `numbers`; bound: open descriptors; each goes with its descriptor; cost: logarithm of its size, to watch and
//     to remove; test: tests/suite/hub/numbers.rs: what_is_taken_or_removed_can_be_watched_again
// REUSED: a descriptor's number; held by the entry of a source that was closed without the hub; harmless: the source
//     that is watched under it next takes it from that entry, which then neither registers nor deregisters it, and goes
//     with a last call; test: tests/suite/hub/numbers.rs: a_number_that_has_a_new_owner_has_a_new_handler
#[derive(Default)]
pub(super) struct Descriptors {
    pub(super) table: Table<DescriptorEntry>,
    /// The descriptors that the poller has reported, and that were not served.
    ready: VecDeque<Key>,
    /// The descriptor that each number denotes in the poller.
    numbers: BTreeMap<RawFd, Key>,
}

pub(super) struct DescriptorEntry {
    fd: RawFd,
    interest: Interest,
    /// What the poller has reported since the handler was called.
    reported: Ready,
    /// `None` while its handler is running, which may remove the entry.
    watching: Option<Box<dyn Watching>>,
    /// The source was closed without being removed, and another descriptor has its number.
    is_closed: bool,
    /// Its handler has replaced the source. The descriptor may be open elsewhere, or its number may be another
    /// thread's.
    is_replaced: bool,
}

/// A descriptor and its handler, without their types.
trait Watching: Send {
    /// Returns the source's descriptor after that.
    fn call(&mut self, hub: &mut Hub, ready: Ready) -> RawFd;
    fn source(&mut self) -> &mut dyn Any;
    fn into_source(self: Box<Self>) -> Box<dyn Any>;
}

/// Dropped in this order.
struct Watched<F, H> {
    source: Foreign<F>,
    handler: Foreign<H>,
}

impl<F, H> Watching for Watched<F, H>
where
    F: AsFd + Send + 'static,
    H: FnMut(&mut Hub, &mut F, Ready) + Send,
{
    fn call(&mut self, hub: &mut Hub, ready: Ready) -> RawFd {
        (self.handler)(hub, &mut *self.source, ready);
        self.source.as_fd().as_raw_fd()
    }

    fn source(&mut self) -> &mut dyn Any {
        &mut *self.source
    }

    fn into_source(self: Box<Self>) -> Box<dyn Any> {
        let Self { source, handler } = *self;
        // User code; so is the drop of a source that is not returned, while unwinding.
        Box::new(Panics::answer_behind(source.into_inner(), || drop(handler)))
    }
}

impl Descriptors {
    /// Whether the poller has reported descriptors that were not served.
    pub(super) fn is_any_told(&self) -> bool {
        !self.ready.is_empty()
    }

    // MUTANT: A closed descriptor that is queued twice gets its last call in the first turn and is gone in the second.
    /// Records that the poller has reported the descriptor with this token. It may be one that was removed: a closed
    /// descriptor stays in the poller, out of reach, as long as a duplicate of it is open.
    fn report(&mut self, token: usize, ready: Ready) {
        let Some(key) = self.table.find(token) else { return };
        if let Some(entry) = self.table.get_mut(key) {
            if entry.reported == Ready::default() {
                self.ready.push_back(key);
            }
            // With an error, also ready for all of its interest: reading or writing returns the error.
            let news = if ready.is_error() { ready.0 | entry.interest.0 } else { ready.0 };
            entry.reported.0 |= news & (entry.interest.0 | ERROR);
        }
    }

    // MUTANT: A closed descriptor that is queued twice gets its last call in the first turn and is gone in the second.
    /// From now on a number denotes this descriptor. The one that had it before was closed: the poller has no number
    /// twice. Returns whether there was one; it is to be served then.
    fn number(&mut self, fd: RawFd, key: Key) -> bool {
        let Some(before) = self.numbers.insert(fd, key) else { return false };
        let Some(entry) = self.table.get_mut(before) else { return false };
        entry.is_closed = true;
        if entry.reported == Ready::default() {
            self.ready.push_back(before);
        }
        true
    }
}

impl Hub {
    // USER CODE: `AsFd::as_fd` of the source; nothing has begun; re-entrance: none; panic: source and handler are
    //     dropped; by construction: it is the first statement
    /// Watches `source`, a socket or another source whose descriptor the poller accepts. Calls `handler` whenever the
    /// source is ready for an operation of `interest`: level-triggered, once in a turn. The hub owns the source until
    /// it is [removed](Self::remove) or [taken](Self::take). It lends the source to the handler, and to other handlers
    /// by [`source_mut`](Self::source_mut). The descriptor must be non-blocking.
    ///
    /// A handler that replaces the lent source by another changes the descriptor; the one that the hub watches is then
    /// usually closed. The hub notices this when it registers the descriptor anew, after each call, or when another one
    /// is watched under its number. It then calls the handler for the last time ([`Ready::is_error`]), and drops both.
    /// The handler never gets the readiness of the next descriptor of that number.
    #[doc = cost!(hub WATCH)]
    ///
    /// # Errors
    /// Those of the poller:
    ///
    /// * The descriptor is closed (`EBADF`).
    /// * It is watched already (`AlreadyExists`). With `kqueue`, which does not notice, its first handler is called for
    ///   the last time.
    /// * It is of a kind that cannot be watched, such as a regular file (`EPERM`).
    /// * There are too many descriptors.
    ///
    /// The error contains the source.
    pub fn watch<F, H>(&mut self, source: F, interest: Interest, handler: H) -> Result<Source, Refused<F>>
    where
        F: AsFd + Send + 'static,
        H: FnMut(&mut Hub, &mut F, Ready) + Send + 'static,
    {
        let fd = source.as_fd().as_raw_fd();
        let token = self.descriptors.table.next().token();
        let added = token.ok_or_else(|| io::Error::other("too many descriptors"));
        if let Err(error) = added.and_then(|token| self.watch.add(fd, token, interest)) {
            // User code; so is the drop of a source that is not returned, while unwinding.
            return Err(Refused { error, source: Panics::answer_behind(source, || drop(handler)) });
        }
        let watching: Option<Box<dyn Watching>> =
            Some(Box::new(Watched { source: Foreign::new(source), handler: Foreign::new(handler) }));
        let entry = DescriptorEntry {
            fd,
            interest,
            reported: Ready::default(),
            watching,
            is_closed: false,
            is_replaced: false,
        };
        let key = self.descriptors.table.insert(entry);
        // MUTANT: Speed only: one turn of the hub more than needed.
        if self.descriptors.number(fd, key) {
            self.show_told();
        }
        Ok(Source(SourceKey::Descriptor(key)))
    }

    // MUTANT: A descriptor that cannot be registered again gets its last call in its first turn.
    /// Changes the operations for which a descriptor is watched. Returns false if it was removed, or is closed.
    ///
    /// # Errors
    /// Those of the poller, as for [`watch`](Self::watch).
    pub fn set_interest(&mut self, source: Source, interest: Interest) -> io::Result<bool> {
        let SourceKey::Descriptor(key) = source.0 else { return Ok(false) };
        let entry = self.descriptors.table.get_mut(key);
        let Some(entry) = entry.filter(|entry| !entry.is_closed) else { return Ok(false) };
        entry.interest = interest;
        // The poller reports anew which operations of the new interest are ready.
        entry.reported.0 &= interest.0 | ERROR;
        // Not inside its handler, after which it is registered anew anyway.
        if entry.watching.is_some() {
            let is_told = entry.reported != Ready::default();
            if let Err(error) = self.rearm(key) {
                // The next turn finds this as well, and calls the handler for the last time.
                if !is_told {
                    self.descriptors.ready.push_back(key);
                    self.show_told();
                }
                return Err(error);
            }
        }
        Ok(true)
    }

    /// Borrows the source that was given to [`watch`](Self::watch), for example for other handlers to write to. Returns
    /// `None` if it was removed, is not an `F`, or its own handler is running.
    pub fn source_mut<F: 'static>(&mut self, source: Source) -> Option<&mut F> {
        let SourceKey::Descriptor(key) = source.0 else { return None };
        self.descriptors.table.get_mut(key)?.watching.as_mut()?.source().downcast_mut()
    }

    /// If descriptors wait to be served that the poller reports no more, keeps a signal up until they are served. In
    /// another event loop there would be no other notification.
    pub(super) fn show_told(&self) {
        if self.descriptors.is_any_told() {
            self.watch.set.signaler().signal(POSTS);
        }
    }

    /// Polls the descriptors; waits no longer than `timeout`, or with `None` without a time limit.
    pub(super) fn look_at_descriptors(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        let descriptors = &mut self.descriptors;
        self.unasked = 0;
        self.watch.poll(timeout, |token, ready| descriptors.report(token, ready))
    }

    /// Serves every descriptor that the poller has reported.
    pub(super) fn serve_descriptors(&mut self) -> usize {
        self.behind = 0;
        let (mut done, number) = (0, self.number);
        // Descriptors that are reported in a handler's own turn have the next turn.
        for _ in 0..self.descriptors.ready.len() {
            if self.halted {
                break;
            }
            let Some(key) = self.descriptors.ready.pop_front() else { break };
            let Some(entry) = self.descriptors.table.get_mut(key) else { continue };
            let ready = core::mem::take(&mut entry.reported);
            if entry.watching.is_none() {
                // Its handler is running in an outer turn; afterwards the poller reports it again.
                continue;
            }
            if ready != Ready::default() && !entry.is_closed {
                done += usize::from(self.call(key, ready));
            }
            if self.number == number && self.rearm(key).is_err() {
                done += usize::from(self.call(key, Ready(ERROR)));
                if self.number == number {
                    self.remove_descriptor(key);
                }
            }
            // A key belongs to the hub that made it, and a handler has put another hub in its place.
            if self.number != number {
                break;
            }
        }
        done
    }

    // USER CODE: a descriptor's handler; source and handler are out of their entry, which says so; re-entrance: as of a
    //     receiver's handler; panic: `Running` takes it out of poller and table, then both are dropped; test:
    //     tests/suite/hub/descriptors.rs: a_handler_that_panics_takes_its_descriptor_down_and_nothing_else
    /// Calls a descriptor's handler.
    fn call(&mut self, key: Key, ready: Ready) -> bool {
        let Some(mut watching) = self.descriptors.table.get_mut(key).and_then(|entry| entry.watching.take()) else {
            return false;
        };
        let running = Running::new(self, (Some(Source(SourceKey::Descriptor(key))), None));
        let fd = watching.call(running.hub, ready);
        if !running.end() {
            return true;
        }
        if let Some(entry) = self.descriptors.table.get_mut(key) {
            entry.watching = Some(watching);
            entry.is_replaced = fd != entry.fd;
        }
        true
    }

    /// Registers a descriptor anew, so that the poller reports it again, unless it was removed.
    fn rearm(&mut self, key: Key) -> io::Result<()> {
        let Some(entry) = self.descriptors.table.get_mut(key) else { return Ok(()) };
        match key.token().filter(|_| !entry.is_closed && !entry.is_replaced) {
            Some(token) => self.watch.rearm(entry.fd, token, entry.interest),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    // USER CODE: `Drop` of a source and of a handler's captures, in `call` too; out of the table, then out of the
    //     poller, then dropped; re-entrance: none; panic: nothing is left; test: tests/suite/hub/panics.rs:
    //     a_descriptor_and_its_handler_that_panic_at_their_ends
    // MUTANT: The entry is dropped with the function anyway. A removed key is not found in the table.
    /// Takes a descriptor out of the table, and out of the poller unless another one has its number, and drops it. If
    /// its handler is running, the handler is dropped when it returns.
    pub(super) fn remove_descriptor(&mut self, key: Key) -> bool {
        let Some(entry) = self.descriptors.table.remove(key) else { return false };
        if !entry.is_closed {
            self.descriptors.numbers.remove(&entry.fd);
            self.watch.remove(entry.fd);
        }
        // Last: user code, which may panic.
        drop(entry);
        true
    }

    pub(super) fn take_descriptor(&mut self, key: Key, wanted: TypeId) -> Option<Box<dyn Any>> {
        let entry = self.descriptors.table.get_mut(key)?;
        let watching = entry.watching.take_if(|watching| (*watching.source()).type_id() == wanted)?;
        self.remove_descriptor(key);
        Some(watching.into_source())
    }
}
