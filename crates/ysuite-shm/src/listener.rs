//! Who listens at a name.

use core::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::os::{self, Bound};
use crate::{Error, Options, Why};

/// Listens at a name: an abstract one, which vanishes with this process, or a path if it contains a slash. A peer
/// that connects gets a socket, over which either end of a channel can be made; this side makes the other.
///
/// A stranger holds nobody up: accepting does not wait for its first packet. It takes a descriptor until it is dropped.
pub struct Listener {
    bound: Bound,
    options: Options,
}

impl Options {
    /// Listens at this name for those that these options admit.
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): [`InUse`](Why::InUse), [`Name`](Why::Name), [`Time`](Why::Time), or as the system
    /// says.
    pub fn listen(&self, name: &str) -> Result<Listener, Error> {
        Ok(Listener { bound: Bound::new(name)?, options: self.clone() })
    }

    /// Connects a socket to the process that listens at this name, for [`Sender::from_fd`](crate::Sender::from_fd) or
    /// [`Receiver::from_fd`](crate::Receiver::from_fd). Only the end that is made of it learns whether it was refused.
    /// Waits at most a second, if too many wait to be accepted.
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): nobody listens there, a process of a [user](Why::User) that these options do not
    /// [allow](Self::allow), [`Time`](Why::Time) after that second, or as the system says.
    pub fn connect(&self, name: &str) -> Result<OwnedFd, Error> {
        let socket = os::connect(name)?;
        // An abstract name is for the first who comes.
        self.check(socket.as_fd())?;
        Ok(socket)
    }

    /// Whether the user of the process at the other end is admitted.
    fn check(&self, socket: BorrowedFd<'_>) -> Result<(), Error> {
        match os::peer_user(socket) {
            Some(user) if self.admits(user) => Ok(()),
            user => Err(Error::Refused(Why::User(user.unwrap_or(u32::MAX)))),
        }
    }
}

/// As [`Options::connect`], with the default options.
///
/// # Errors
/// As there.
pub fn connect(name: &str) -> Result<OwnedFd, Error> {
    Options::new().connect(name)
}

/// Who was the next in the queue of a listener.
pub(crate) enum Accepted {
    Stranger(OwnedFd),
    /// One that these options do not admit.
    TurnedAway,
    Nobody,
}

impl Listener {
    /// As [`Options::listen`], with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn bind(name: &str) -> Result<Self, Error> {
        Options::new().listen(name)
    }

    /// Accepts the next peer that has connected and is admitted, if there is one; returns its socket. Never blocks. An
    /// end made of the socket of another user is [careful](Options::careful) by itself.
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): no descriptors are left, for example.
    pub fn try_accept(&self) -> Result<Option<OwnedFd>, Error> {
        loop {
            match self.accept_one()? {
                Accepted::Stranger(stranger) => return Ok(Some(stranger)),
                Accepted::TurnedAway => {}
                Accepted::Nobody => return Ok(None),
            }
        }
    }

    pub(crate) fn accept_one(&self) -> Result<Accepted, Error> {
        let Some(stranger) = self.bound.accept()? else { return Ok(Accepted::Nobody) };
        match self.options.check(stranger.as_fd()) {
            Ok(()) => Ok(Accepted::Stranger(stranger)),
            Err(error) => {
                crate::link::turn_away(stranger.as_fd(), error);
                Ok(Accepted::TurnedAway)
            }
        }
    }

    /// As [`try_accept`](Self::try_accept), but waits for a peer.
    ///
    /// # Errors
    /// As there.
    pub fn accept(&self) -> Result<OwnedFd, Error> {
        loop {
            if let Some(stranger) = self.try_accept()? {
                return Ok(stranger);
            }
            os::poll_readable(self.bound.as_fd());
        }
    }
}

/// Readable when somebody has connected.
impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bound.as_fd()
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").finish_non_exhaustive()
    }
}
