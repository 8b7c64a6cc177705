//! The sender of a watch.

use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::{Watched, own_versions};
use crate::end::{End, Half, deadline};
use crate::home::{Crowd, Party};
use crate::link::{Link, Shared};
use crate::os::Own;
use crate::page::RING;
use crate::ring::latest::{Places, Writer};
use crate::{Copied, Error, Message, Options};

/// The sending end of a watch, whose receivers, each a [`WatchReceiver`](crate::WatchReceiver) in a process of its own,
/// receive the newest value.
///
/// Receivers come and go: they connect by the sender's name, or inherit a [`seat`](Self::seat). They are accepted while
/// values are sent, and by [`serve`](Self::serve) where none are. A receiver that dies, sleeps or is stopped holds nobody
/// up.
///
/// ```
/// use ysuite_shm::{Error, WatchReceiver, WatchSender};
///
/// let mut sender = WatchSender::without_name([20_u32, 50])?;
/// let mut receiver = WatchReceiver::<[u32; 2]>::from_fd(sender.seat()?)?;
/// sender.send([21, 49]);
/// sender.send([22, 48]);
/// assert_eq!(receiver.recv(), Ok([22, 48]));
/// drop(sender);
/// assert_eq!(receiver.recv(), Err(Error::Closed));
/// # Ok::<_, Error>(())
/// ```
pub struct WatchSender<T> {
    pub(super) writer: Writer,
    pub(super) crowd: Crowd<Outbound>,
    values: PhantomData<fn(T)>,
}

/// The sender's end of a lane.
pub(super) struct Outbound(End);

impl Half for Outbound {
    #[inline]
    fn end(&mut self) -> &mut End {
        &mut self.0
    }
}

impl Party for Outbound {
    type Common = Shared;

    fn link(socket: OwnedFd, shared: &Shared, options: &Options) -> Result<Link, Error> {
        Link::sharing(socket, shared, options)
    }

    fn new(end: End, _: &Shared) -> Self {
        Self(end)
    }

    /// It may have slept since it has looked.
    fn met(&mut self, _: &Shared) {
        self.0.published();
    }
}

impl Options {
    /// The sender of a watch that listens at this name, and its first value; see [`Listener`](crate::Listener).
    ///
    /// # Errors
    /// As for [`listen`](Self::listen).
    pub fn watch<T: Message>(&self, name: &str, value: T) -> Result<WatchSender<T>, Error> {
        WatchSender::of_value(self, Some(name), &value)
    }

    /// The sender of a watch without a name, for receivers that inherit a [`seat`](WatchSender::seat), and its first value.
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): no memory or no descriptors are left, for example.
    pub fn watch_without_name<T: Message>(&self, value: T) -> Result<WatchSender<T>, Error> {
        WatchSender::of_value(self, None, &value)
    }
}

impl<T: Copied> WatchSender<T> {
    /// With a header that says this capacity; `first` writes the first value.
    pub(super) fn with(
        options: &Options,
        name: Option<&str>,
        capacity: usize,
        first: impl FnOnce(&mut Writer, &Own),
    ) -> Result<Self, Error> {
        let shared = Shared::new(<T as Watched>::shape(options), capacity)?;
        // SAFETY: the region has a ring of this capacity behind its page, and lives as long as the crowd.
        let mut writer = unsafe { Writer::new(shared.memory.start().add(RING), T::places(capacity)) };
        first(&mut writer, &shared.memory);
        Ok(Self { writer, crowd: Crowd::new(options, name, shared)?, values: PhantomData })
    }

    /// Makes a place for one more receiver: a socket for [`WatchReceiver::from_fd`](crate::WatchReceiver::from_fd), for
    /// a child to inherit. Until that is used, each value costs a system call.
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): no memory or no descriptors are left.
    pub fn seat(&mut self) -> Result<OwnedFd, Error> {
        self.crowd.home.seat().map(|(_, seat)| seat)
    }

    /// Accepts receivers that have come, and notices those that have gone; [`send`](Self::send) does so now and then. Never
    /// blocks.
    pub fn serve(&mut self) {
        self.crowd.serve(Some(Duration::ZERO));
    }

    /// As [`serve`](Self::serve), for the whole `limit`: what a sender without news does instead of sleeping.
    pub fn serve_timeout(&mut self, limit: Duration) {
        self.crowd.serve_until(deadline(limit));
    }

    /// Returns how many receivers have joined: the newest value, and all later ones, are for them. One joins when it
    /// has said hello, and this end has noticed it, in [`serve`](Self::serve) or a send.
    pub fn receivers(&self) -> usize {
        self.crowd.joined()
    }

    /// For an event loop: does what [`serve`](Self::serve) does; then the [descriptor](AsFd::as_fd) becomes readable when
    /// there is something for it. False: there is more now.
    pub fn arm(&mut self) -> bool {
        self.crowd.arm()
    }
}

impl<T: Message> WatchSender<T> {
    fn of_value(options: &Options, name: Option<&str>, value: &T) -> Result<Self, Error> {
        Self::with(options, name, Places::count_for::<T>(), |writer, memory| writer.write(value, own_versions(memory)))
    }

    /// As [`Options::watch`], with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn bind(name: &str, value: T) -> Result<Self, Error> {
        Options::new().watch(name, value)
    }

    /// As [`Options::watch_without_name`], with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn without_name(value: T) -> Result<Self, Error> {
        Options::new().watch_without_name(value)
    }

    /// Replaces the value, whether there are receivers or not. Never blocks. Those that sleep are woken.
    pub fn send(&mut self, value: T) {
        self.writer.write(&value, own_versions(&self.crowd.home.common.memory));
        self.crowd.published();
    }
}

#[cfg(all(test, not(ysuite_loom)))]
impl<T> WatchSender<T> {
    /// What its receivers read.
    pub(crate) fn memory(&self) -> &crate::os::Own {
        &self.crowd.home.common.memory
    }
}

impl<T> AsFd for WatchSender<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.crowd.home.poller.as_fd()
    }
}

impl<T> fmt::Debug for WatchSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchSender").finish_non_exhaustive()
    }
}
