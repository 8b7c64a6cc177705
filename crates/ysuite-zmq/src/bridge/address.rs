//! [`Address`]: the parts of an address, and whether they are right: libzmq reads some wrong addresses as others, and
//! reports of most only that they are wrong. Also the files of `ipc`. libzmq replaces such a file even if a process
//! listens there, and does not remove it.
//!
//! Called by the thread that starts a bridge, and, when its files are removed, by the bridge's own thread. It queries
//! the file system, and connects once to a file that exists already. It cannot detect that another process takes the
//! file at that moment without locking its directory, as libzmq in other programs does.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{self, Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket};

use crate::error::{Error, Failure};

/// An address that is right as far as can be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Address<'a> {
    Tcp(Tcp<'a>),
    /// A file's; nothing where libzmq chooses one, and where the name is none of the file system's.
    Ipc(Option<&'a Path>),
    /// Inside of the process, or of a kind that is libzmq's own.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tcp<'a> {
    host: Host<'a>,
    port: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Host<'a> {
    Name(&'a str),
    V4,
    V6,
}

/// Bytes of a path of `ipc`: the system's structure has room for a zero after them.
const LONGEST_PATH: usize = if cfg!(any(target_os = "linux", target_os = "android")) { 107 } else { 103 };

const NO_TRANSPORT: &str = "it begins with tcp://, ipc:// or inproc://";
const ZERO: &str = "there is a zero in it";
const NO_PORT: &str = "it has no port: `:port` must follow the host";
const PORT_TO_BIND: &str = "its port is neither a number from 0 to 65535 nor *";
const PORT_TO_CONNECT: &str = "its port is no number from 1 to 65535";
const NO_HOST: &str = "it has no host between tcp:// and the last colon";
const BRACKETS: &str = "its host has colons: an IPv6 address must be in brackets";
const NOT_V6: &str = "the brackets do not contain an IPv6 address";
const ANY_HOST: &str = "* is no host that can be connected to";
const NOT_A_HOST: &str = "its host is neither a name nor a number";
const NO_PATH: &str = "it has no path after ipc://";
const LONG_PATH: &str =
    if LONGEST_PATH == 107 { "its path has more than 107 bytes" } else { "its path has more than 103 bytes" };
const ANY_PATH: &str = "* is no file that can be connected to";
const NO_NAME: &str = "it has no name after inproc://";

impl<'a> Address<'a> {
    /// What can be bound, or connected to.
    pub(super) fn of(text: &'a str, binds: bool) -> Result<Self, Failure> {
        if text.contains('\0') {
            return Err(Failure::spelling(ZERO));
        }
        let read = match text.split_once("://") {
            Some(("tcp", rest)) => Tcp::of(rest, binds).map(Self::Tcp),
            Some(("ipc", path)) => ipc(path, binds),
            Some(("inproc", "")) => Err(NO_NAME),
            Some(_) => Ok(Self::Other),
            None => Err(NO_TRANSPORT),
        };
        read.map_err(Failure::spelling)
    }

    /// Whether libzmq is to use IPv6 for it; for a name the lookup decides. Where it does, it spells IPv4 addresses as
    /// IPv6 ones.
    pub(super) fn is_v6(&self) -> bool {
        matches!(self, Self::Tcp(Tcp { host: Host::V6, .. }))
    }

    /// A host that must be resolved, and a port there.
    pub(super) fn name(&self) -> Option<(&'a str, u16)> {
        match self {
            Self::Tcp(Tcp { host: Host::Name(name), port }) => Some((*name, *port)),
            _ => None,
        }
    }
}

fn ipc(path: &str, binds: bool) -> Result<Address<'_>, &'static str> {
    match path {
        "" | "@" => Err(NO_PATH),
        "*" if binds => Ok(Address::Ipc(None)),
        "*" => Err(ANY_PATH),
        _ if path.len() > LONGEST_PATH => Err(LONG_PATH),
        // Linux's abstract names.
        _ if path.starts_with('@') => Ok(Address::Ipc(None)),
        _ => Ok(Address::Ipc(Some(Path::new(path)))),
    }
}

impl<'a> Tcp<'a> {
    fn of(text: &'a str, binds: bool) -> Result<Self, &'static str> {
        // A connecting side may give its source address before a semicolon; any port is valid there.
        let text = match text.split_once(';').filter(|_| !binds) {
            Some((from, to)) => {
                Self::of(from, true)?;
                to
            }
            None => text,
        };
        let (host, port) = text.rsplit_once(':').ok_or(NO_PORT)?;
        let wrong = if binds { PORT_TO_BIND } else { PORT_TO_CONNECT };
        let port = match port {
            "*" if binds => 0,
            _ if port.is_empty() || !port.bytes().all(|digit| digit.is_ascii_digit()) => return Err(wrong),
            _ => port.parse().ok().filter(|&port| binds || port > 0).ok_or(wrong)?,
        };
        Ok(Self { host: Host::of(host, binds)?, port })
    }
}

impl<'a> Host<'a> {
    fn of(text: &'a str, binds: bool) -> Result<Self, &'static str> {
        if let Some(inside) = text.strip_prefix('[') {
            let address = inside.strip_suffix(']').ok_or(NOT_V6)?;
            // After a percent sign comes an interface.
            let (address, _) = address.split_once('%').unwrap_or((address, ""));
            return address.parse::<Ipv6Addr>().map(|_| Self::V6).map_err(|_| NOT_V6);
        }
        match text {
            "" => Err(NO_HOST),
            "*" if binds => Ok(Self::V4),
            "*" => Err(ANY_HOST),
            _ if text.contains(':') => Err(BRACKETS),
            _ if text.parse::<Ipv4Addr>().is_ok() => Ok(Self::V4),
            // Those of interfaces are names as well.
            _ if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.%".contains(&byte)) => {
                Ok(Self::Name(text))
            }
            _ => Err(NOT_A_HOST),
        }
    }
}

/// The files that a bridge has bound. They are removed with it, unless another process has replaced them.
#[derive(Debug, Default)]
pub(super) struct Files(Vec<(PathBuf, Id)>);

/// Identifies a file.
#[derive(Debug, PartialEq, Eq)]
struct Id(u64, u64);

impl Id {
    fn of(path: &Path) -> Option<Self> {
        fs::symlink_metadata(path).ok().map(|file| Self(file.dev(), file.ino()))
    }
}

impl Files {
    /// Binds this path by a function, unless a process listens there, or a file is there that is no socket. A socket
    /// without a listener is replaced.
    pub(super) fn bind<T>(
        &mut self,
        address: &str,
        path: &Path,
        bind: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let _lock = lock(path);
        let failed = |call, errno| Err(Error::of_address(address, Failure::of(call, errno)));
        match fs::metadata(path) {
            Ok(file) if !file.file_type().is_socket() => {
                return failed("a file that is no socket is there", Errno::EXIST);
            }
            _ => {}
        }
        match listens(path) {
            Ok(false) => {}
            Ok(true) => return failed("connect", Errno::ADDRINUSE),
            Err(errno) => return failed("connect", errno),
        }
        let bound = bind()?;
        // Where the program goes to another directory, the file does not.
        if let (Ok(path), Some(id)) = (path::absolute(path), Id::of(path)) {
            self.0.push((path, id));
        }
        Ok(bound)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for (path, id) in &self.0 {
            let _lock = lock(path);
            if Id::of(path).as_ref() == Some(id) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// Whether a process listens there.
fn listens(path: &Path) -> Result<bool, Errno> {
    let there = SocketAddrUnix::new(path)?;
    let socket = socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    // A full queue has a listener as well.
    rustix::io::ioctl_fionbio(&socket, true)?;
    match connect(&socket, &there) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::CONNREFUSED) => Ok(false),
        Err(cause @ (Errno::ACCESS | Errno::PERM)) => Err(cause),
        _ => Ok(true),
    }
}

/// Between two tries to lock a directory, and how many there are.
const PAUSE: Duration = Duration::from_millis(5);
const TRIES: usize = 200;

/// Locks the directory of a path until this is dropped, so that two processes that find the same file there do not both
/// replace it. If the directory cannot be locked, or another process holds the lock for long, this goes on without the
/// lock.
fn lock(path: &Path) -> Option<File> {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    let directory = File::open(directory.unwrap_or(Path::new("."))).ok()?;
    for _ in 0..TRIES {
        match flock(&directory, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Some(directory),
            Err(cause) if cause.kind() == ErrorKind::WouldBlock => thread::sleep(PAUSE),
            Err(_) => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn wrong(text: &str, binds: bool) -> String {
        Address::of(text, binds).expect_err(text).to_string()
    }

    #[test]
    fn what_is_right_is_read() {
        let tcp = |host, port| Ok(Address::Tcp(Tcp { host, port }));
        for binds in [true, false] {
            let of = |text| Address::of(text, binds);
            assert_eq!(of("tcp://127.0.0.1:80"), tcp(Host::V4, 80));
            assert_eq!(of("tcp://127.0.0.1:65535"), tcp(Host::V4, 65_535));
            assert_eq!(of("tcp://[::1]:80"), tcp(Host::V6, 80));
            assert_eq!(of("tcp://[fe80::1%eth0]:80"), tcp(Host::V6, 80));
            assert_eq!(of("tcp://a-b_c.d:80"), tcp(Host::Name("a-b_c.d"), 80));
            assert_eq!(of("ipc:///run/x"), Ok(Address::Ipc(Some(Path::new("/run/x")))));
            assert_eq!(of("ipc://@x"), Ok(Address::Ipc(None)));
            assert_eq!(of("inproc://x y:z"), Ok(Address::Other));
            assert_eq!(of("udp://whatever"), Ok(Address::Other));
            assert!(of(&format!("ipc://{}", "x".repeat(LONGEST_PATH))).is_ok());
        }
        assert_eq!(Address::of("tcp://*:*", true), tcp(Host::V4, 0));
        assert_eq!(Address::of("tcp://eth0:0", true), tcp(Host::Name("eth0"), 0));
        assert_eq!(Address::of("ipc://*", true), Ok(Address::Ipc(None)));
        assert_eq!(Address::of("tcp://10.0.0.1:0;there:80", false), tcp(Host::Name("there"), 80));
        assert!(Address::of("tcp://[::1]:1", true).unwrap().is_v6());
        assert_eq!(Address::of("tcp://there:80", false).unwrap().name(), Some(("there", 80)));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for binds in [true, false] {
            let port = if binds { PORT_TO_BIND } else { PORT_TO_CONNECT };
            for text in
                ["tcp://h:99999", "tcp://h:80x", "tcp://h:", "tcp://h:-1", "tcp://h:+1", "tcp://h: 1", "tcp://h:65536"]
            {
                assert_eq!(wrong(text, binds), port, "{text}");
            }
            assert_eq!(wrong("tcp://h", binds), NO_PORT);
            assert_eq!(wrong("tcp://", binds), NO_PORT);
            assert_eq!(wrong("tcp://:80", binds), NO_HOST);
            assert_eq!(wrong("tcp://::1:80", binds), BRACKETS);
            assert_eq!(wrong("tcp://[::1:80", binds), NOT_V6);
            assert_eq!(wrong("tcp://[h]:80", binds), NOT_V6);
            assert_eq!(wrong("tcp://a b:80", binds), NOT_A_HOST);
            assert_eq!(wrong("ipc://", binds), NO_PATH);
            assert_eq!(wrong("ipc://@", binds), NO_PATH);
            assert_eq!(wrong(&format!("ipc://{}", "x".repeat(LONGEST_PATH + 1)), binds), LONG_PATH);
            assert_eq!(wrong("inproc://", binds), NO_NAME);
            assert_eq!(wrong("inproc://a\0b", binds), ZERO);
            assert_eq!(wrong("127.0.0.1:80", binds), NO_TRANSPORT);
        }
        assert_eq!(wrong("tcp://h:*", false), PORT_TO_CONNECT);
        assert_eq!(wrong("tcp://h:0", false), PORT_TO_CONNECT);
        assert_eq!(wrong("tcp://*:80", false), ANY_HOST);
        assert_eq!(wrong("ipc://*", false), ANY_PATH);
        assert_eq!(wrong("tcp://10.0.0.1:x;there:80", false), PORT_TO_BIND);
        assert_eq!(wrong("tcp://a;there:80", true), NOT_A_HOST);
    }
}
