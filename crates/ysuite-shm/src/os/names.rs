//! Names of listeners. A name without a slash is an abstract one, which vanishes with its process; the kernel keeps them
//! for each network namespace. A name with a slash is a path: for containers that share a folder, and for its
//! permissions. A socket that a killed process has left at a path is taken over; the folder is locked meanwhile, by a
//! lock that its holder's death ends. Nothing else is left in the folder.
//!
//! Any thread may call. Binding and connecting wait for a lock or a full queue, at most a second.

use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::fs::{FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::SocketAddrUnix;

use super::{refused, socket::socket};
use crate::{Error, Why};

/// So long a lock, a queue or a stranger is waited for.
const PATIENCE: Duration = Duration::from_secs(1);
/// Strangers that wait to be accepted.
const BACKLOG: i32 = 128;

fn address(name: &str) -> Result<SocketAddrUnix, Error> {
    let address = if name.is_empty() || name.contains('\0') {
        Err(Errno::INVAL)
    } else if name.contains('/') {
        SocketAddrUnix::new(name)
    } else {
        SocketAddrUnix::new_abstract_name(format!("ysuite/{name}").as_bytes())
    };
    address.map_err(|_| Error::Refused(Why::Name))
}

/// Tries until it does not fail for a reason that passes, or a second is over.
fn patiently(passes: Errno, mut attempt: impl FnMut() -> Result<(), Errno>) -> Result<(), Errno> {
    let end = Instant::now() + PATIENCE;
    loop {
        match attempt() {
            Err(Errno::INTR) => {}
            Err(error) if error == passes && Instant::now() < end => std::thread::sleep(Duration::from_millis(1)),
            other => return other,
        }
    }
}

/// A socket that is connected to who listens at this name.
pub(crate) fn connect(name: &str) -> Result<OwnedFd, Error> {
    let address = address(name)?;
    let socket = socket().map_err(refused)?;
    match patiently(Errno::AGAIN, || rustix::net::connect(&socket, &address)) {
        Ok(()) => Ok(socket),
        Err(Errno::AGAIN) => Err(Error::Refused(Why::Time)),
        Err(error) => Err(refused(error)),
    }
}

/// A socket that listens.
pub(crate) struct Bound {
    socket: OwnedFd,
    /// The path, and which file there is this socket's.
    path: Option<(PathBuf, (u64, u64))>,
}

impl Bound {
    pub(crate) fn new(name: &str) -> Result<Self, Error> {
        let (address, socket) = (address(name)?, socket().map_err(refused)?);
        let path = if name.contains('/') { Some(take_path(Path::new(name), &socket, &address)?) } else { None };
        if path.is_none() {
            rustix::net::bind(&socket, &address).map_err(in_use)?;
        }
        let bound = Self { socket, path };
        rustix::net::listen(&bound.socket, BACKLOG).map_err(refused)?;
        Ok(bound)
    }

    /// The next stranger, if one waits.
    pub(crate) fn accept(&self) -> Result<Option<OwnedFd>, Error> {
        use rustix::net::SocketFlags;
        match rustix::net::accept_with(&self.socket, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
            Ok(stranger) => Ok(Some(stranger)),
            Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => Ok(None),
            Err(error) => Err(refused(error)),
        }
    }
}

impl AsFd for Bound {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        let Some((path, ours)) = &self.path else { return };
        let Ok(_lock) = lock(path) else { return };
        if file(path).is_ok_and(|(found, _)| found == *ours) {
            let _ = rustix::fs::unlink(path);
        }
    }
}

fn in_use(error: Errno) -> Error {
    if error == Errno::ADDRINUSE { Error::Refused(Why::InUse) } else { refused(error) }
}

/// Locks the folder of a path, until the descriptor is closed.
fn lock(path: &Path) -> Result<OwnedFd, Error> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(folder, flags, Mode::empty()).map_err(refused)?;
    match patiently(Errno::WOULDBLOCK, || rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive)) {
        Ok(()) => Ok(folder),
        Err(Errno::WOULDBLOCK) => Err(Error::Refused(Why::Time)),
        Err(error) => Err(refused(error)),
    }
}

/// Which file is at a path, and of what type. A link is not followed.
fn file(path: &Path) -> Result<((u64, u64), FileType), Errno> {
    let facts = rustix::fs::lstat(path)?;
    Ok(((facts.st_dev, facts.st_ino), FileType::from_raw_mode(facts.st_mode)))
}

/// Binds a socket to a path, in place of one that nobody listens at any more.
fn take_path(path: &Path, socket: &OwnedFd, address: &SocketAddrUnix) -> Result<(PathBuf, (u64, u64)), Error> {
    let _lock = lock(path)?;
    match file(path) {
        Ok((_, FileType::Socket)) => {
            let probe = super::socket::socket().map_err(refused)?;
            match rustix::net::connect(&probe, address) {
                Err(Errno::CONNREFUSED) => rustix::fs::unlink(path).map_err(refused)?,
                // Also one whose queue is full, or which is of another type.
                _ => return Err(Error::Refused(Why::InUse)),
            }
        }
        Ok(_) => return Err(Error::Refused(Why::Name)),
        Err(Errno::NOENT) => {}
        Err(error) => return Err(refused(error)),
    }
    rustix::net::bind(socket, address).map_err(in_use)?;
    // A listener before anybody else may look whether there is one.
    rustix::net::listen(socket, BACKLOG).map_err(refused)?;
    let (ours, _) = file(path).map_err(refused)?;
    Ok((path.to_path_buf(), ours))
}
