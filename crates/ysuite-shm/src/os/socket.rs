//! Unix sockets of packets: pairs, names, and packets with descriptors. No call blocks, except `connect` to a listener
//! whose queue is full, for at most a second. Any thread may call.

use core::mem::MaybeUninit;
use std::ffi::c_void;
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrAny, SocketAddrUnix, SocketFlags, SocketType,
};
use rustix::process::{Pid, PidfdFlags};

/// The most descriptors of a packet that are looked at; those beyond are closed by the kernel.
const DESCRIPTORS: usize = 4;

pub(crate) fn socket() -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
}

/// Two sockets that are connected to each other.
pub(crate) fn pair() -> Result<(OwnedFd, OwnedFd), Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
}

/// Sends a packet with these descriptors.
pub(crate) fn send(socket: BorrowedFd<'_>, packet: &[u8], descriptors: &[BorrowedFd<'_>]) -> Result<(), Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(descriptors));
    }
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    rustix::io::retry_on_intr(|| rustix::net::sendmsg(socket, &[IoSlice::new(packet)], &mut control, flags))?;
    Ok(())
}

/// A packet of a peer.
pub(crate) struct Packet {
    /// The bytes that fitted.
    pub(crate) bytes: usize,
    pub(crate) descriptors: Vec<OwnedFd>,
    /// It was longer, or had more descriptors.
    pub(crate) is_cut: bool,
}

/// The next packet; `None` if there is none yet. A packet without bytes: the peer has hung up.
pub(crate) fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<Option<Packet>, Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let mut parts = [IoSliceMut::new(buffer)];
    let mut attempt = || rustix::io::retry_on_intr(|| rustix::net::recvmsg(socket, &mut parts, &mut control, flags));
    let received = match attempt() {
        // Said once where the peer has gone without reading what it was sent; what it has sent itself is still there.
        Err(Errno::CONNRESET) => attempt(),
        other => other,
    };
    let received = match received {
        Err(Errno::AGAIN) => return Ok(None),
        other => other?,
    };
    let mut descriptors = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            descriptors.extend(received);
        }
    }
    let is_cut = received.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC);
    Ok(Some(Packet { bytes: received.bytes, descriptors, is_cut }))
}

/// Wakes the peer by a packet of one byte. A queue that is full holds one already.
pub(crate) fn poke(socket: BorrowedFd<'_>) {
    let _ = rustix::net::send(socket, &[1], SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
}

/// Takes such packets out: enough of them that a peer cannot keep this end here.
pub(crate) fn unpoke(socket: BorrowedFd<'_>) {
    for _ in 0..64 {
        // With no room for descriptors: the kernel closes those that a packet has.
        match rustix::net::recv(socket, &mut [0_u8; 8], RecvFlags::DONTWAIT) {
            Ok((_, bytes)) if bytes > 0 => {}
            _ => return,
        }
    }
}

// `rustix` has the first without regard to processes of other namespaces, whose number is 0 here, and not the second.
const SOL_SOCKET: i32 = 1;
const SO_PEERCRED: i32 = 17;
const SO_PEERPIDFD: i32 = 77;

unsafe extern "C" {
    fn getsockopt(socket: i32, level: i32, name: i32, value: *mut c_void, length: *mut u32) -> i32;
}

fn option<T: Default>(socket: BorrowedFd<'_>, name: i32) -> Option<T> {
    let (mut value, mut length) = (T::default(), size_of::<T>() as u32);
    // SAFETY: `value` has room for `length` bytes; its types below are plain numbers, for which every content is valid.
    let result =
        unsafe { getsockopt(socket.as_raw_fd(), SOL_SOCKET, name, (&raw mut value).cast::<c_void>(), &mut length) };
    (result == 0 && length as usize == size_of::<T>()).then_some(value)
}

/// The user of the process at the other end, as it was when that connected.
pub(crate) fn peer_user(socket: BorrowedFd<'_>) -> Option<u32> {
    option::<[u32; 3]>(socket, SO_PEERCRED).map(|[_, user, _]| user)
}

/// A descriptor of the process at the other end, as the kernel knows it; not for a pair, which one process has made.
pub(crate) fn peer_process(socket: BorrowedFd<'_>) -> Option<OwnedFd> {
    let is_named = |address: SocketAddrAny| {
        SocketAddrUnix::try_from(address).is_ok_and(|name| name.path().is_some() || name.abstract_name().is_some())
    };
    let local = rustix::net::getsockname(socket).is_ok_and(is_named);
    let remote = rustix::net::getpeername(socket).is_ok_and(|name| name.is_some_and(is_named));
    if !local && !remote {
        return None;
    }
    let number = option::<[u32; 3]>(socket, SO_PEERCRED).map(|[number, _, _]| number as i32)?;
    // Linux 6.5 and later; also of another namespace.
    if let Some(pidfd) = option::<i32>(socket, SO_PEERPIDFD).filter(|pidfd| *pidfd >= 0) {
        // SAFETY: the kernel has just made it for this process.
        return Some(unsafe { OwnedFd::from_raw_fd(pidfd) });
    }
    // While the socket is open: the peer that has died has hung up as well, which is noticed also if its number is
    // another's now.
    rustix::process::pidfd_open(Pid::from_raw(number)?, PidfdFlags::empty()).ok()
}

/// A descriptor of this process, for a peer to watch.
pub(crate) fn own_process() -> Option<OwnedFd> {
    rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty()).ok()
}

/// The file systems of what is no file: `ANON_INODE_FS_MAGIC` and `PID_FS_MAGIC`.
const NO_FILES: [u64; 2] = [0x0904_1934, 0x5049_4446];

/// Whether this is an eventfd or a pidfd, as far as the kernel tells without `/proc`, and not what could block.
pub(crate) fn is_no_file(descriptor: &OwnedFd) -> bool {
    rustix::fs::fstatfs(descriptor.as_fd()).is_ok_and(|facts| NO_FILES.contains(&(facts.f_type as u64)))
}

/// Whether it is a socket of packets between local processes.
pub(crate) fn is_ours(socket: BorrowedFd<'_>) -> bool {
    rustix::net::sockopt::socket_domain(socket) == Ok(AddressFamily::UNIX)
        && rustix::net::sockopt::socket_type(socket) == Ok(SocketType::SEQPACKET)
}
