//! Names of listeners. A name without a slash is an abstract one, which vanishes with its process; the kernel keeps them
//! for each network namespace. A name with a slash is a path: for containers that share a folder, and for its
//! permissions. A socket that a killed process has left at a path is taken over; the folder is locked meanwhile, by a
//! lock that its holder's death ends. Nothing else is left in the folder.
//!
//! Any thread may call. Binding and connecting wait for a lock or a full queue, at most a second.

use core::time::Duration;
use std::fs::{self, File};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::refused;
use super::sys::{self, Errno, Name};
use crate::{Error, Why};

/// So long a lock, a queue or a stranger is waited for.
const PATIENCE: Duration = Duration::from_secs(1);
/// Strangers that wait to be accepted.
const BACKLOG: i32 = 128;

fn address(name: &str) -> Result<Name, Error> {
    let address = if name.is_empty() || name.contains('\0') {
        None
    } else if name.contains('/') {
        Name::of(name.as_bytes())
    } else {
        Name::of(format!("\0ysuite/{name}").as_bytes())
    };
    address.ok_or(Error::Refused(Why::Name))
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
    let socket = sys::socket().map_err(refused)?;
    match patiently(Errno::AGAIN, || sys::connect(socket.as_fd(), &address)) {
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
    /// The process that listens: a forked child that drops its copy takes no name away.
    process: u32,
}

impl Bound {
    pub(crate) fn new(name: &str) -> Result<Self, Error> {
        let (address, socket) = (address(name)?, sys::socket().map_err(refused)?);
        let path = if name.contains('/') { Some(take_path(Path::new(name), &socket, &address)?) } else { None };
        if path.is_none() {
            sys::bind(socket.as_fd(), &address).map_err(in_use)?;
        }
        let bound = Self { socket, path, process: super::process() };
        sys::listen(bound.socket.as_fd(), BACKLOG).map_err(refused)?;
        Ok(bound)
    }

    /// The next stranger, if one waits.
    pub(crate) fn accept(&self) -> Result<Option<OwnedFd>, Error> {
        loop {
            match sys::accept(self.socket.as_fd()) {
                Ok(stranger) => return Ok(Some(stranger)),
                Err(Errno::AGAIN) => return Ok(None),
                // This one has gone; the next one waits.
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(error) => return Err(refused(error)),
            }
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
        if self.process != super::process() {
            return;
        }
        // A forked child may have a copy, which nobody accepts from: those that wait are told by hand.
        sys::hang_up(self.socket.as_fd());
        while let Ok(Some(_)) = self.accept() {}
        let Some((path, ours)) = &self.path else { return };
        let Ok(_lock) = lock(path) else { return };
        if file(path).is_ok_and(|(found, _)| found == *ours) {
            let _ = fs::remove_file(path);
        }
    }
}

fn in_use(error: Errno) -> Error {
    if error == Errno::ADDRINUSE { Error::Refused(Why::InUse) } else { refused(error) }
}

/// Locks the folder of a path, until the descriptor is closed.
fn lock(path: &Path) -> Result<File, Error> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // Only a folder has this entry: what else stands there is not opened, which might block.
    let folder = File::open(folder.join(".")).map_err(|error| refused(error.into()))?;
    match patiently(Errno::AGAIN, || sys::try_lock(folder.as_fd())) {
        Ok(()) => Ok(folder),
        Err(Errno::AGAIN) => Err(Error::Refused(Why::Time)),
        Err(error) => Err(refused(error)),
    }
}

/// Which file is at a path, and whether it is a socket. A link is not followed.
fn file(path: &Path) -> Result<((u64, u64), bool), Errno> {
    let facts = fs::symlink_metadata(path)?;
    Ok(((facts.dev(), facts.ino()), facts.file_type().is_socket()))
}

/// Binds a socket to a path, in place of one that nobody listens at any more.
fn take_path(path: &Path, socket: &OwnedFd, address: &Name) -> Result<(PathBuf, (u64, u64)), Error> {
    let _lock = lock(path)?;
    match file(path) {
        Ok((_, true)) => {
            let probe = sys::socket().map_err(refused)?;
            match sys::connect(probe.as_fd(), address) {
                Err(Errno::CONNREFUSED) => fs::remove_file(path).map_err(|error| refused(error.into()))?,
                // Also one whose queue is full, or which is of another type.
                _ => return Err(Error::Refused(Why::InUse)),
            }
        }
        Ok((_, false)) => return Err(Error::Refused(Why::Name)),
        Err(Errno::NOENT) => {}
        Err(error) => return Err(refused(error)),
    }
    sys::bind(socket.as_fd(), address).map_err(in_use)?;
    // A listener before anybody else may look whether there is one.
    sys::listen(socket.as_fd(), BACKLOG).map_err(refused)?;
    let (ours, _) = file(path).map_err(refused)?;
    Ok((path.to_path_buf(), ours))
}
