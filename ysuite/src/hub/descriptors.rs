//! Descriptors and their handlers. The hub's thread.
//!
//! The poller tells of edges; after each call of a handler the descriptor is registered anew, which makes it tell again
//! of what is still there. So a handler that leaves something is called again, as users of `poll` and `epoll` expect, at
//! the price of one system call for each call of a handler.

use core::any::{Any, TypeId};
use core::ops::BitOr;
use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};

use super::Hub;
use super::running::Running;
use super::source::{Refused, Source, SourceKey};
use super::table::{Key, Table};

const READABLE: u8 = 1;
const WRITABLE: u8 = 2;
const ERROR: u8 = 4;

/// What a descriptor is watched for: [`READABLE`](Self::READABLE), [`WRITABLE`](Self::WRITABLE), or both (`|`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interest(u8);

impl Interest {
    /// There is something to read, or the other side has closed its writing end.
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

/// What a descriptor is ready for. May, rarely, be more than is true: use descriptors that do not block.
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

    /// There is something to read, or the end of it.
    #[must_use]
    pub fn is_readable(self) -> bool {
        self.0 & READABLE != 0
    }

    /// There is room to write, or nobody to write to.
    #[must_use]
    pub fn is_writable(self) -> bool {
        self.0 & WRITABLE != 0
    }

    /// The descriptor has failed; reading or writing says how. Alone, without the other two: it has been closed behind the
    /// hub's back, and is removed after this call.
    #[must_use]
    pub fn is_error(self) -> bool {
        self.0 & ERROR != 0
    }
}

pub(super) struct Descriptors {
    table: Table<DescriptorEntry>,
    /// Those that the poller has told of.
    ready: VecDeque<Key>,
    /// Which of them each number stands for in the poller.
    numbers: BTreeMap<RawFd, Key>,
}

struct DescriptorEntry {
    fd: RawFd,
    interest: Interest,
    /// What the poller has told, and the handler has not heard.
    told: Ready,
    /// `None` while its handler is running.
    watching: Option<Box<dyn Watching>>,
    /// Out of the poller; to be dropped when its handler returns.
    is_gone: bool,
    /// Its number is another one's by now: it has been closed behind the hub's back.
    is_closed: bool,
}

/// A descriptor and its handler, without their types.
trait Watching: Send {
    fn call(&mut self, hub: &mut Hub, ready: Ready);
    fn source(&mut self) -> &mut dyn Any;
    fn into_source(self: Box<Self>) -> Box<dyn Any>;
}

struct Watched<F, H> {
    source: F,
    handler: H,
}

impl<F, H> Watching for Watched<F, H>
where
    F: Send + 'static,
    H: FnMut(&mut Hub, &mut F, Ready) + Send,
{
    fn call(&mut self, hub: &mut Hub, ready: Ready) {
        (self.handler)(hub, &mut self.source, ready);
    }

    fn source(&mut self) -> &mut dyn Any {
        &mut self.source
    }

    fn into_source(self: Box<Self>) -> Box<dyn Any> {
        let Self { source, handler } = *self;
        // Foreign code, which may panic: before the source is on its way, so that it is dropped then.
        drop(handler);
        Box::new(source)
    }
}

impl Descriptors {
    pub(super) const fn new() -> Self {
        Self { table: Table::new(), ready: VecDeque::new(), numbers: BTreeMap::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether the poller has told of any that have not been served.
    pub(super) fn is_any_told(&self) -> bool {
        !self.ready.is_empty()
    }

    /// The poller tells of the descriptor with this token. It may be gone, and somebody else in its place: a duplicate
    /// elsewhere keeps what has been closed in the poller, where nobody can take it out.
    fn tell(&mut self, token: usize, ready: Ready) {
        let Some(key) = self.table.find(token) else { return };
        if let Some(entry) = self.table.get_mut(key) {
            if entry.told == Ready::default() {
                self.ready.push_back(key);
            }
            // Whatever it is watched for will say what the error is.
            let news = if ready.is_error() { ready.0 | entry.interest.0 } else { ready.0 };
            entry.told.0 |= news & (entry.interest.0 | ERROR);
        }
    }

    /// From now on a number stands for this one. Whoever had it before has been closed: the poller takes nothing twice.
    fn number(&mut self, fd: RawFd, key: Key) {
        let Some(before) = self.numbers.insert(fd, key) else { return };
        if let Some(entry) = self.get(before) {
            entry.is_closed = true;
            if entry.told == Ready::default() {
                self.ready.push_back(before);
            }
        }
    }

    fn get(&mut self, key: Key) -> Option<&mut DescriptorEntry> {
        self.table.get_mut(key).filter(|entry| !entry.is_gone)
    }
}

impl Hub {
    /// Watches `source`, a socket or anything else with a descriptor that the poller takes, and calls `handler` whenever it
    /// is ready for something of `interest`: level-triggered, once in a turn. The source belongs to the hub until it is
    /// [removed](Self::remove) or [taken](Self::take); the handler is lent it, and so is everybody by
    /// [`source_mut`](Self::source_mut). It must not block: set it so.
    ///
    /// Whoever puts another source in its place has closed it behind the hub's back, which the hub finds out when it
    /// registers it anew, or when somebody else is watched under its number: then the handler is called for the last time
    /// ([`Ready::is_error`]). It never hears of what its number's next owner is ready for.
    ///
    /// # Errors
    /// The poller's: the descriptor is closed (`EBADF`), is watched already (`AlreadyExists`; where the poller is `kqueue`, which cannot tell, its first handler is
    /// called for the last time), is of a kind that cannot be
    /// watched, as regular files are (`EPERM`), or there are too many. The source comes back with the error.
    pub fn watch<F, H>(&mut self, source: F, interest: Interest, handler: H) -> Result<Source, Refused<F>>
    where
        F: AsFd + Send + 'static,
        H: FnMut(&mut Hub, &mut F, Ready) + Send + 'static,
    {
        let fd = source.as_fd().as_raw_fd();
        let token = self.descriptors.table.next().token();
        let added = token.ok_or_else(|| io::Error::other("too many descriptors"));
        if let Err(error) = added.and_then(|token| self.watch.add(fd, token, interest)) {
            return Err(Refused { error, source });
        }
        let watching: Option<Box<dyn Watching>> = Some(Box::new(Watched { source, handler }));
        let entry =
            DescriptorEntry { fd, interest, told: Ready::default(), watching, is_gone: false, is_closed: false };
        let key = self.descriptors.table.insert(entry);
        self.descriptors.number(fd, key);
        Ok(Source(SourceKey::Descriptor(key)))
    }

    /// Watches a descriptor for something else from now on. False: it is gone.
    ///
    /// # Errors
    /// The poller's, as of [`watch`](Self::watch).
    pub fn set_interest(&mut self, source: Source, interest: Interest) -> io::Result<bool> {
        let SourceKey::Descriptor(key) = source.0 else { return Ok(false) };
        let Some(entry) = self.descriptors.get(key) else { return Ok(false) };
        if entry.is_closed {
            return Ok(false);
        }
        entry.interest = interest;
        // What it was told of is registered anew with it.
        entry.told.0 &= interest.0 | ERROR;
        // Inside its handler: it will be registered anew anyway.
        if entry.watching.is_some() {
            self.rearm(key)?;
        }
        Ok(true)
    }

    /// What was given to [`watch`](Self::watch), for other handlers to write to. `None` where it is gone, is not an `F`, or
    /// its own handler is running.
    pub fn source_mut<F: 'static>(&mut self, source: Source) -> Option<&mut F> {
        let SourceKey::Descriptor(key) = source.0 else { return None };
        self.descriptors.get(key)?.watching.as_mut()?.source().downcast_mut()
    }

    /// Asks the poller, and waits for it (`None`: for ever).
    pub(super) fn look_at_descriptors(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        let descriptors = &mut self.descriptors;
        self.unasked = 0;
        self.watch.poll(timeout, |token, ready| descriptors.tell(token, ready))
    }

    /// Every descriptor that the poller has told of.
    pub(super) fn serve_descriptors(&mut self) -> usize {
        let mut done = 0;
        // Those that a handler's own turn is told of meanwhile have the next.
        for _ in 0..self.descriptors.ready.len() {
            if self.halted {
                break;
            }
            let Some(key) = self.descriptors.ready.pop_front() else { break };
            let Some(entry) = self.descriptors.get(key) else { continue };
            let ready = core::mem::take(&mut entry.told);
            if entry.watching.is_none() {
                // Its handler is running around this turn, and when it returns the poller tells again.
                continue;
            }
            if ready != Ready::default() && !entry.is_closed {
                done += usize::from(self.call(key, ready));
            }
            if self.rearm(key).is_err() {
                done += usize::from(self.call(key, Ready(ERROR)));
                self.forget_descriptor(key);
            }
        }
        done
    }

    /// Calls a descriptor's handler.
    fn call(&mut self, key: Key, ready: Ready) -> bool {
        let Some(mut watching) = self.descriptors.get(key).and_then(|entry| entry.watching.take()) else {
            return false;
        };
        let running = Running::source(self, Source(SourceKey::Descriptor(key)));
        watching.call(running.hub, ready);
        running.end();
        match self.descriptors.table.get_mut(key) {
            Some(entry) if !entry.is_gone => entry.watching = Some(watching),
            _ => drop(self.descriptors.table.remove(key)),
        }
        true
    }

    /// Has the poller tell of this descriptor again, unless it is gone.
    fn rearm(&mut self, key: Key) -> io::Result<()> {
        let Some(entry) = self.descriptors.get(key) else { return Ok(()) };
        let (fd, interest, is_closed) = (entry.fd, entry.interest, entry.is_closed);
        match key.token().filter(|_| !is_closed) {
            Some(token) => self.watch.rearm(fd, token, interest),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    pub(super) fn remove_descriptor(&mut self, key: Key) -> bool {
        let Some(entry) = self.descriptors.get(key) else { return false };
        if entry.watching.is_some() {
            self.forget_descriptor(key);
        } else {
            entry.is_gone = true;
            let (fd, is_closed) = (entry.fd, entry.is_closed);
            self.unregister(fd, is_closed);
        }
        true
    }

    pub(super) fn take_descriptor(&mut self, key: Key, wanted: TypeId) -> Option<Box<dyn Any>> {
        let entry = self.descriptors.get(key)?;
        if (*entry.watching.as_mut()?.source()).type_id() != wanted {
            return None;
        }
        let watching = entry.watching.take();
        self.forget_descriptor(key);
        watching.map(Watching::into_source)
    }

    /// Out of the poller and out of the table.
    pub(super) fn forget_descriptor(&mut self, key: Key) {
        if let Some(entry) = self.descriptors.table.remove(key) {
            if !entry.is_gone {
                self.unregister(entry.fd, entry.is_closed);
            }
            // Last: foreign code, which may panic.
            drop(entry);
        }
    }

    /// Takes a descriptor out of the poller, unless its number is another one's.
    fn unregister(&mut self, fd: RawFd, is_closed: bool) {
        if !is_closed {
            self.descriptors.numbers.remove(&fd);
            self.watch.remove(fd);
        }
    }
}
