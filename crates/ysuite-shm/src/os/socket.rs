//! Unix sockets of packets: pairs, names, and packets with descriptors. No call blocks, except `connect` to a listener
//! whose queue is full, for at most a second. Any thread may call.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::sys::{self, Errno};

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
    let received = match sys::recv_with(socket, buffer) {
        // Said once where the peer has gone without reading what it was sent; what it has sent itself is still there.
        Err(Errno::CONNRESET) => sys::recv_with(socket, buffer),
        other => other,
    };
    let (bytes, descriptors, is_cut) = match received {
        Err(Errno::AGAIN) => return Ok(None),
        other => other?,
    };
    Ok(Some(Packet { bytes, descriptors, is_cut }))
}

/// Attempts to send a packet for which the kernel has no memory.
const ATTEMPTS: u32 = 1_000;

/// Wakes the peer by a packet of one byte. A queue that is full holds one already.
pub(crate) fn poke(socket: BorrowedFd<'_>) {
    // Nothing else would wake the peer.
    for _ in 0..ATTEMPTS {
        match sys::send(socket, &[1]) {
            Err(Errno::NOBUFS | Errno::NOMEM) => std::thread::yield_now(),
            _ => return,
        }
    }
}

/// Takes such packets out: enough of them that a peer cannot keep this end here.
pub(crate) fn unpoke(socket: BorrowedFd<'_>) {
    for _ in 0..64 {
        // With no room for descriptors: the kernel closes those that a packet has.
        match sys::recv(socket, &mut [0_u8; 8]) {
            Ok(bytes) if bytes > 0 => {}
            _ => return,
        }
    }
}

/// The user of the process at the other end, as it was when that connected.
pub(crate) fn peer_user(socket: BorrowedFd<'_>) -> Option<u32> {
    sys::peer(socket).map(|(_, user)| user)
}

/// A descriptor of the process at the other end, as the kernel knows it; not for a pair, which one process has made.
pub(crate) fn peer_process(socket: BorrowedFd<'_>) -> Option<OwnedFd> {
    if !sys::has_name(socket) {
        return None;
    }
    // Also of another namespace.
    if let Some(process) = sys::peer_pidfd(socket) {
        return Some(process);
    }
    // While the socket is open: the peer that has died has hung up as well, which is noticed also if its number is
    // another's now. A process of another namespace has the number 0 here.
    let (number, _) = sys::peer(socket)?;
    if number > 0 { sys::pidfd_open(number).ok() } else { None }
}

/// A descriptor of this process, for a peer to watch.
pub(crate) fn own_process() -> Option<OwnedFd> {
    i32::try_from(super::process()).ok().and_then(|process| sys::pidfd_open(process).ok())
}

/// The file systems of what is no file: `ANON_INODE_FS_MAGIC` and `PID_FS_MAGIC`.
const NO_FILES: [u64; 2] = [0x0904_1934, 0x5049_4446];

/// Whether this is an eventfd or a pidfd, as far as the kernel tells without `/proc`, and not what could block.
pub(crate) fn is_no_file(descriptor: &OwnedFd) -> bool {
    sys::file_system(descriptor.as_fd()).is_ok_and(|kind| NO_FILES.contains(&kind))
}
