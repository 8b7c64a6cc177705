//! The receiver of a watch.

use core::fmt;
use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use super::{Watched, versions_of};
use crate::end::{End, Half, Unfulfilled, deadline, ended};
use crate::link::Link;
use crate::page::{RING, Role};
use crate::pipe::{Inlet, limited};
use crate::ring::Look;
use crate::ring::latest::{Reader, Seen};
use crate::{Copied, Error, Options, RecvTimeoutError, TryRecvError};

/// Attempts to read a value before a call that never blocks gives up.
const ATTEMPTS: u32 = 100;

/// The receiving end of a watch: it receives the newest value of a [`WatchSender`](crate::WatchSender).
///
/// The first value that it receives is the one that was there when it came. A value that is replaced before it is received
/// is not received. What the sender had sent last stays when it ends: it is received before the error.
///
/// While the sender replaces a value a receiver reads another. Only where that is overtaken eight times or more while one
/// value is copied, the copy is made anew: receivers cost the sender nothing, and it never waits for one.
pub struct WatchReceiver<T> {
    inlet: WatchInlet<T>,
}

struct WatchInlet<T> {
    end: End,
    reader: Option<Reader<T>>,
    /// Of a channel that has ended: of the value that was sent last.
    last: Option<Reader<T>>,
}

impl<T> Half for WatchInlet<T> {
    fn end(&mut self) -> &mut End {
        &mut self.end
    }
}

impl<T: Watched> Inlet for WatchInlet<T> {
    #[cold]
    fn attach(&mut self) {
        if self.end.failed().is_some() {
            return;
        }
        if let Some((met, shared)) = self.end.link.met.as_ref().and_then(|met| Some((met, met.shared.as_ref()?))) {
            // SAFETY: the region has the size of a ring of this capacity behind its page, as `Link::accept` has checked,
            // and lives as long as `end`.
            self.reader = Some(unsafe { Reader::new(shared.start().add(RING), T::places(met.header.capacity)) });
        }
    }

    fn detach(&mut self) {
        let reader = self.reader.take();
        self.last = if self.end.failed() == Some(Error::Broken) { None } else { reader.or(self.last.take()) };
    }

    fn stand_off(&mut self) -> bool {
        false
    }

    #[inline]
    fn look_in(&mut self) -> Look {
        if self.reader.is_none() {
            self.attach();
        }
        match (&self.reader, self.end.link.met.as_ref().and_then(|met| met.shared.as_ref())) {
            (Some(reader), Some(shared)) => reader.look(versions_of(shared)),
            _ => Look::Nothing,
        }
    }
}

impl<T: Watched> WatchInlet<T> {
    /// A copy of the newest value, and its version. `None`: there is none yet, or it was overwritten again and again.
    fn read(&mut self) -> Result<Option<(T, u64)>, Error> {
        let shared = self.end.link.met.as_ref().and_then(|met| met.shared.as_ref());
        let reader = self.reader.as_ref().or(self.last.as_ref());
        let (Some(reader), Some(shared)) = (reader, shared) else { return Ok(None) };
        for _ in 0..ATTEMPTS {
            match reader.read(versions_of(shared)) {
                Seen::Whole(value, version) => return Ok(Some((value, version))),
                Seen::Torn => core::hint::spin_loop(),
                Seen::Nothing => break,
                Seen::Broken => return Err(self.give_up(Error::Broken)),
            }
        }
        Ok(None)
    }

    /// Receives the newest value, which was not received yet. `None`: it was overwritten again and again.
    fn take(&mut self) -> Result<Option<T>, Error> {
        let read = self.read()?;
        Ok(read.map(|(value, version)| {
            if let Some(reader) = &mut self.reader {
                reader.saw(version);
            }
            value
        }))
    }
}

impl Options {
    /// The receiver of a watch over a socket: of [`connect`](crate::connect), or a [`seat`](crate::WatchSender::seat). It
    /// says hello at once.
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): no such socket, no memory or no descriptors.
    pub fn watch_receiver<T: Copied>(&self, socket: OwnedFd) -> Result<WatchReceiver<T>, Error> {
        let link = Link::new(socket, Role::Receiver, <T as Watched>::shape(self), 0, self)?;
        let mut end = End::new(link)?;
        end.meet(None);
        Ok(WatchReceiver { inlet: WatchInlet { end, reader: None, last: None } })
    }
}

impl<T: Copied> WatchReceiver<T> {
    /// As [`Options::watch_receiver`], with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn from_fd(socket: OwnedFd) -> Result<Self, Error> {
        Options::new().watch_receiver(socket)
    }

    /// Receives the newest value; waits until there is one that it has not received.
    ///
    /// # Errors
    /// There is none, and the sender is gone.
    pub fn recv(&mut self) -> Result<T, Error> {
        self.wait(None).map_err(ended)
    }

    /// Receives the newest value if this end has not received it. Never blocks.
    ///
    /// # Errors
    /// There is no new one, or also the sender is gone.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        if !self.inlet.look() {
            self.inlet.try_ready().map_err(|error| error.map_or(TryRecvError::Empty, TryRecvError::Ended))?;
        }
        self.inlet.take().map_err(TryRecvError::Ended)?.ok_or(TryRecvError::Empty)
    }

    /// As [`recv`](Self::recv), for at most `limit`.
    ///
    /// # Errors
    /// There was no new one for all that time, or as there.
    pub fn recv_timeout(&mut self, limit: Duration) -> Result<T, RecvTimeoutError> {
        self.wait(deadline(limit)).map_err(limited)
    }

    /// As [`recv`](Self::recv), until `deadline` at most.
    ///
    /// # Errors
    /// There was no new one until then, or as there.
    pub fn recv_deadline(&mut self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.wait(Some(deadline)).map_err(limited)
    }

    fn wait(&mut self, deadline: Option<Instant>) -> Result<T, Unfulfilled> {
        loop {
            if !self.inlet.look() {
                self.inlet.ready(deadline)?;
            }
            if let Some(value) = self.inlet.take().map_err(Unfulfilled::Ended)? {
                return Ok(value);
            }
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                return Err(Unfulfilled::Timeout);
            }
        }
    }

    /// Returns a copy of the newest value, whether it was received or not; it may still be received. Never blocks.
    /// `None`: the sender is not there yet, or replaces values faster than they are copied, or has broken the channel.
    pub fn latest(&mut self) -> Option<T> {
        if !self.inlet.look() {
            let _ = self.inlet.try_ready();
        }
        self.inlet.read().ok().flatten().map(|(value, _)| value)
    }

    /// Returns whether there is a value that this end has not received. Never blocks.
    ///
    /// # Errors
    /// There is none, and the sender is gone.
    pub fn has_changed(&mut self) -> Result<bool, Error> {
        if self.inlet.look() {
            return Ok(true);
        }
        match self.inlet.try_ready() {
            Ok(()) => Ok(true),
            Err(None) => Ok(false),
            Err(Some(error)) => Err(error),
        }
    }

    /// Iterates over the newest values until the sender is gone; waits for each.
    pub fn iter(&mut self) -> impl Iterator<Item = T> + '_ {
        core::iter::from_fn(|| self.recv().ok())
    }

    /// Returns whether the sender is gone; its last value may still be there. One system call.
    pub fn is_disconnected(&mut self) -> bool {
        self.inlet.end.is_over()
    }

    /// Waits until the sender is there, for at most `limit`; returns whether it is.
    ///
    /// # Errors
    /// The channel has ended: it was refused, for example.
    pub fn meet_timeout(&mut self, limit: Duration) -> Result<bool, Error> {
        crate::pipe::met_within(&mut self.inlet, limit)
    }

    /// Sets how many times this end looks for a new value before it sleeps; 0: it sleeps at once, `u32::MAX`: it never
    /// does.
    pub fn set_spin(&mut self, looks: u32) {
        self.inlet.end.spin = Some(looks);
    }

    /// For an event loop: if there is no new value, the [descriptor](AsFd::as_fd) becomes readable when there is one, or
    /// when the sender is gone. False: there is something to be done now.
    pub fn arm(&mut self) -> bool {
        self.inlet.arm()
    }
}

#[cfg(all(test, not(ysuite_loom)))]
impl<T> WatchReceiver<T> {
    pub(crate) fn link(&self) -> &Link {
        &self.inlet.end.link
    }
}

impl<T> AsFd for WatchReceiver<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inlet.end.as_fd()
    }
}

impl<T> fmt::Debug for WatchReceiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchReceiver").finish_non_exhaustive()
    }
}
