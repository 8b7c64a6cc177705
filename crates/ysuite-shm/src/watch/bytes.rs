//! A watch of bytes: values of any length up to a bound.

use core::fmt;
use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::{WatchSender, own_versions};
use crate::funnel::Bytes;
use crate::{Error, Options};

/// The sending end of a watch of bytes, whose receivers are [`WatchReceiver`](crate::WatchReceiver)s of [`Bytes`]. It is as a
/// [`WatchSender`] in all else.
///
/// ```
/// use ysuite_shm::{Bytes, BytesWatchSender, Error, WatchReceiver};
///
/// let mut sender = BytesWatchSender::without_name(100, b"calm")?;
/// let mut receiver = WatchReceiver::<Bytes>::from_fd(sender.seat()?)?;
/// sender.send(b"a light breeze");
/// assert_eq!(receiver.recv()?.0, b"a light breeze");
/// # Ok::<_, Error>(())
/// ```
pub struct BytesWatchSender(WatchSender<Bytes>);

impl Options {
    /// The sender of a watch of at most `largest` bytes that listens at this name, and its first value; see
    /// [`Listener`](crate::Listener). It takes the memory of 8 values or more.
    ///
    /// # Errors
    /// As for [`listen`](Self::listen), or a `largest` of 0 or of more than can be.
    ///
    /// # Panics
    /// If the first value is longer.
    pub fn watch_bytes(&self, name: &str, largest: usize, value: &[u8]) -> Result<BytesWatchSender, Error> {
        BytesWatchSender::new(self, Some(name), largest, value)
    }

    /// The same without a name, for receivers that inherit a [`seat`](BytesWatchSender::seat).
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): no memory or no descriptors are left, or a `largest` that cannot be.
    ///
    /// # Panics
    /// As there.
    pub fn watch_bytes_without_name(&self, largest: usize, value: &[u8]) -> Result<BytesWatchSender, Error> {
        BytesWatchSender::new(self, None, largest, value)
    }
}

impl BytesWatchSender {
    fn new(options: &Options, name: Option<&str>, largest: usize, value: &[u8]) -> Result<Self, Error> {
        let first = WatchSender::with(options, name, largest, |writer, memory| {
            writer.write_bytes(value, own_versions(memory));
        });
        first.map(Self)
    }

    /// As [`Options::watch_bytes`], with the default options.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As there.
    pub fn bind(name: &str, largest: usize, value: &[u8]) -> Result<Self, Error> {
        Options::new().watch_bytes(name, largest, value)
    }

    /// As [`Options::watch_bytes_without_name`], with the default options.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As there.
    pub fn without_name(largest: usize, value: &[u8]) -> Result<Self, Error> {
        Options::new().watch_bytes_without_name(largest, value)
    }

    /// As [`WatchSender::seat`].
    ///
    /// # Errors
    /// As there.
    pub fn seat(&mut self) -> Result<OwnedFd, Error> {
        self.0.seat()
    }

    /// Returns the most bytes of a value: `largest`, rounded up to whole words.
    pub fn largest(&self) -> usize {
        self.0.writer.largest()
    }

    /// Replaces the value, whether there are receivers or not. Never blocks. Those that sleep are woken.
    ///
    /// # Panics
    /// If it is longer than [`largest`](Self::largest).
    pub fn send(&mut self, value: &[u8]) {
        self.0.writer.write_bytes(value, own_versions(&self.0.crowd.home.common.memory));
        self.0.crowd.published();
    }

    /// As [`WatchSender::serve`].
    pub fn serve(&mut self) {
        self.0.serve();
    }

    /// As [`WatchSender::serve_timeout`].
    pub fn serve_timeout(&mut self, limit: Duration) {
        self.0.serve_timeout(limit);
    }

    /// As [`WatchSender::receivers`].
    pub fn receivers(&self) -> usize {
        self.0.receivers()
    }

    /// As [`WatchSender::arm`].
    pub fn arm(&mut self) -> bool {
        self.0.arm()
    }
}

#[cfg(all(test, not(ysuite_loom)))]
impl BytesWatchSender {
    /// What its receivers read.
    pub(crate) fn memory(&self) -> &crate::os::Own {
        self.0.memory()
    }
}

impl AsFd for BytesWatchSender {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl fmt::Debug for BytesWatchSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BytesWatchSender").field("largest", &self.largest()).finish_non_exhaustive()
    }
}
