//! Who listens at a name.

use core::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::os::{self, Bound};
use crate::{Error, Options, Why};

/// Listens at a name: an abstract one, which vanishes with this process, or a path if it contains a slash. Who connects
/// gets a socket, over which either end of a channel can be made; this side makes the other.
///
/// A stranger holds nobody up: accepting does not wait for what it says, and it takes a descriptor until it is dropped.
pub struct Listener {
    bound: Bound,
    options: Options,
}

impl Options {
    /// Listens at this name for those that these options admit.
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): [`InUse`](Why::InUse), [`Name`](Why::Name), or as the system says.
    pub fn listen(&self, name: &str) -> Result<Listener, Error> {
        Ok(Listener { bound: Bound::new(name)?, options: self.clone() })
    }
}

/// A socket connected to who listens at this name: for [`Sender::from_fd`](crate::Sender::from_fd) or
/// [`Receiver::from_fd`](crate::Receiver::from_fd). Whether that one wants it is told by the end that is made of it.
/// Waits at most a second, if too many wait to be accepted.
///
/// # Errors
/// [`Refused`](Error::Refused): nobody listens there, or as the system says.
pub fn connect(name: &str) -> Result<OwnedFd, Error> {
    os::connect(name)
}

impl Listener {
    /// As [`Options::listen`], with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn bind(name: &str) -> Result<Self, Error> {
        Options::new().listen(name)
    }

    /// The next one that has connected and is admitted, if there is one, as a socket. Never blocks. Peers of another user
    /// should be treated [carefully](Options::careful).
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): no descriptors are left, for example.
    pub fn try_accept(&self) -> Result<Option<OwnedFd>, Error> {
        while let Some(stranger) = self.bound.accept()? {
            match os::peer_user(stranger.as_fd()) {
                Some(user) if self.options.admits(user) => return Ok(Some(stranger)),
                user => crate::link::turn_away(stranger.as_fd(), Why::User(user.unwrap_or(u32::MAX))),
            }
        }
        Ok(None)
    }

    /// As [`try_accept`](Self::try_accept), but waits for one.
    ///
    /// # Errors
    /// As there.
    pub fn accept(&self) -> Result<OwnedFd, Error> {
        loop {
            if let Some(stranger) = self.try_accept()? {
                return Ok(stranger);
            }
            os::wait_readable(self.bound.as_fd());
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
