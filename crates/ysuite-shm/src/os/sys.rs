//! The functions of the C library for which std has no counterpart, and the values that they take. std links the C
//! library already; a crate that wraps it, and the parts of that crate, took six tenths of the time that a program with
//! this one takes to compile.
//!
//! Any thread. Each function is one system call. The tests compare all types and values with those of the crate `libc`.

use core::ffi::{c_int, c_long, c_short, c_uint, c_ulong, c_void};
use core::mem::{ManuallyDrop, MaybeUninit, offset_of};
use core::ptr::{self, NonNull};
use core::time::Duration;
use std::fs::{File, Metadata};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// An offset in a file. With musl, and on x86-64 with pointers of 32 bits, it has 64 bits everywhere.
#[cfg(any(target_env = "musl", target_arch = "x86_64"))]
type Offset = i64;
#[cfg(not(any(target_env = "musl", target_arch = "x86_64")))]
type Offset = c_long;

/// A limit of a process: the same, without a sign.
#[cfg(any(target_env = "musl", target_arch = "x86_64"))]
type Limit = u64;
#[cfg(not(any(target_env = "musl", target_arch = "x86_64")))]
type Limit = c_ulong;

/// `struct pollfd`.
#[repr(C)]
struct PollFd {
    fd: c_int,
    events: c_short,
    found: c_short,
}

/// `struct epoll_event`, which has no padding on x86-64.
#[repr(C)]
#[cfg_attr(target_arch = "x86_64", repr(packed))]
#[derive(Clone, Copy)]
pub(super) struct Event {
    pub(super) flags: u32,
    pub(super) data: u64,
}

/// `struct iovec`.
#[repr(C)]
struct Part {
    start: *mut c_void,
    bytes: usize,
}

/// `struct msghdr`, as the kernel has it: musl's has the same bytes.
#[repr(C)]
struct Header {
    name: *mut c_void,
    name_bytes: c_uint,
    parts: *mut Part,
    part_count: usize,
    control: *mut c_void,
    control_bytes: usize,
    flags: c_int,
}

/// The most descriptors of a packet; those beyond are closed by the kernel.
pub(super) const DESCRIPTORS: usize = 4;

/// `struct cmsghdr`, and the descriptors behind it.
#[repr(C)]
struct Rights {
    bytes: usize,
    level: c_int,
    kind: c_int,
    descriptors: [c_int; DESCRIPTORS],
}

/// `struct sockaddr_un`, and how much of it is used.
#[repr(C)]
struct Address {
    family: u16,
    path: [u8; 108],
}

/// `struct rlimit`.
#[repr(C)]
struct Limits {
    current: Limit,
    most: Limit,
}

unsafe extern "C" {
    safe fn __errno_location() -> *mut c_int;
    fn syscall(number: c_long, ...) -> c_long;
    safe fn getpagesize() -> c_int;
    safe fn geteuid() -> c_uint;
    fn sched_getaffinity(process: c_int, bytes: usize, mask: *mut c_void) -> c_int;
    fn getrlimit(which: c_int, limits: *mut Limits) -> c_int;
    fn fcntl(fd: c_int, command: c_int, ...) -> c_int;
    safe fn ftruncate(fd: c_int, bytes: Offset) -> c_int;
    safe fn fallocate(fd: c_int, mode: c_int, from: Offset, bytes: Offset) -> c_int;
    fn fstatfs(fd: c_int, facts: *mut c_void) -> c_int;
    safe fn flock(fd: c_int, operation: c_int) -> c_int;
    fn mmap(at: *mut c_void, bytes: usize, access: c_int, flags: c_int, fd: c_int, from: Offset) -> *mut c_void;
    fn munmap(at: *mut c_void, bytes: usize) -> c_int;
    fn madvise(at: *mut c_void, bytes: usize, advice: c_int) -> c_int;
    fn write(fd: c_int, from: *const c_void, bytes: usize) -> isize;
    #[link_name = "eventfd"]
    safe fn new_eventfd(initial: c_uint, flags: c_int) -> c_int;
    safe fn epoll_create1(flags: c_int) -> c_int;
    fn epoll_ctl(epoll: c_int, operation: c_int, fd: c_int, event: *mut Event) -> c_int;
    fn epoll_wait(epoll: c_int, events: *mut Event, most: c_int, milliseconds: c_int) -> c_int;
    fn poll(fds: *mut PollFd, count: c_ulong, milliseconds: c_int) -> c_int;
    #[link_name = "socket"]
    safe fn new_socket(family: c_int, kind: c_int, protocol: c_int) -> c_int;
    fn socketpair(family: c_int, kind: c_int, protocol: c_int, fds: *mut c_int) -> c_int;
    #[link_name = "bind"]
    fn bind_to(fd: c_int, address: *const Address, bytes: c_uint) -> c_int;
    #[link_name = "connect"]
    fn connect_to(fd: c_int, address: *const Address, bytes: c_uint) -> c_int;
    #[link_name = "listen"]
    safe fn listen_with(fd: c_int, backlog: c_int) -> c_int;
    fn accept4(fd: c_int, address: *mut c_void, bytes: *mut c_uint, flags: c_int) -> c_int;
    fn getsockname(fd: c_int, address: *mut Address, bytes: *mut c_uint) -> c_int;
    fn getpeername(fd: c_int, address: *mut Address, bytes: *mut c_uint) -> c_int;
    fn getsockopt(fd: c_int, level: c_int, name: c_int, value: *mut c_void, bytes: *mut c_uint) -> c_int;
    #[link_name = "send"]
    fn send_bytes(fd: c_int, from: *const c_void, bytes: usize, flags: c_int) -> isize;
    #[link_name = "recv"]
    fn recv_bytes(fd: c_int, to: *mut c_void, bytes: usize, flags: c_int) -> isize;
    #[link_name = "shutdown"]
    fn shut_down(fd: c_int, how: c_int) -> c_int;
    fn sendmsg(fd: c_int, message: *const Header, flags: c_int) -> isize;
    fn recvmsg(fd: c_int, message: *mut Header, flags: c_int) -> isize;
}

const MIPS: bool = cfg!(any(target_arch = "mips", target_arch = "mips64"));
const POWERPC: bool = cfg!(any(target_arch = "powerpc", target_arch = "powerpc64"));

/// Of `membarrier`, `memfd_create` and `pidfd_open`, which older C libraries lack.
const NUMBERS: [c_long; 3] = if cfg!(all(target_arch = "x86_64", target_pointer_width = "32")) {
    [0x4000_0000 + 324, 0x4000_0000 + 319, 0x4000_0000 + 434]
} else if cfg!(target_arch = "x86_64") {
    [324, 319, 434]
} else if cfg!(any(target_arch = "aarch64", target_arch = "riscv64", target_arch = "loongarch64")) {
    [283, 279, 434]
} else if cfg!(target_arch = "x86") {
    [375, 356, 434]
} else if cfg!(target_arch = "arm") {
    [389, 385, 434]
} else if cfg!(target_arch = "s390x") {
    [356, 350, 434]
} else if POWERPC {
    [365, 360, 434]
} else if cfg!(target_arch = "mips") {
    [4358, 4354, 4434]
} else if cfg!(target_arch = "mips64") {
    [5318, 5314, 5434]
} else {
    panic!("the system calls of this architecture have no numbers here")
};

/// Of descriptors of all kinds that no program started later inherits, and of sockets and eventfds that do not block.
const CLOEXEC: c_int = 0o2_000_000;
const NONBLOCK: c_int = if MIPS { 0o200 } else { 0o4_000 };
const AF_UNIX: c_int = 1;
const SOCK_SEQPACKET: c_int = 5;
const SOL_SOCKET: c_int = if MIPS { 0xffff } else { 1 };
const SO_TYPE: c_int = if MIPS { 0x1008 } else { 3 };
const SO_DOMAIN: c_int = if MIPS { 0x1029 } else { 39 };
const SO_PEERCRED: c_int = if MIPS {
    18
} else if POWERPC {
    21
} else {
    17
};
const SO_PEERPIDFD: c_int = 77;
const SCM_RIGHTS: c_int = 1;
const MSG_CTRUNC: c_int = 0x8;
const MSG_TRUNC: c_int = 0x20;
const MSG_DONTWAIT: c_int = 0x40;
const MSG_NOSIGNAL: c_int = 0x4000;
const MSG_CMSG_CLOEXEC: c_int = 0x4000_0000;
const MFD_CLOEXEC: c_uint = 1;
const MFD_ALLOW_SEALING: c_uint = 2;
/// Of Linux 6.3.
const MFD_NOEXEC_SEAL: c_uint = 8;
const F_ADD_SEALS: c_int = 1033;
const F_GET_SEALS: c_int = 1034;
const RLIMIT_FSIZE: c_int = 1;
const LOCK_EX: c_int = 2;
const LOCK_NB: c_int = 4;
const MAP_SHARED: c_int = 1;
const MAP_PRIVATE: c_int = 2;
const MAP_FIXED: c_int = 0x10;
const MAP_ANONYMOUS: c_int = if MIPS { 0x800 } else { 0x20 };
const MAP_NORESERVE: c_int = if MIPS {
    0x400
} else if POWERPC {
    0x40
} else {
    0x4000
};
const MADV_DONTFORK: c_int = 10;
const MADV_WIPEONFORK: c_int = 18;
const POLLIN: c_short = 1;
const EPOLL_CTL_ADD: c_int = 1;
const EPOLL_CTL_DEL: c_int = 2;

/// What can be done with a mapping.
pub(super) const PROT_READ: c_int = 1;
pub(super) const PROT_WRITE: c_int = 2;
/// What can be done with a memfd no more.
pub(super) const SEAL_SEAL: c_int = 1;
pub(super) const SEAL_SHRINK: c_int = 2;
pub(super) const SEAL_GROW: c_int = 4;
pub(super) const SEAL_WRITE: c_int = 8;
/// Of Linux 5.1.
pub(super) const SEAL_FUTURE_WRITE: c_int = 16;
/// What an epoll watches, and has found.
pub(super) const EPOLLIN: u32 = 1;
pub(super) const EPOLLERR: u32 = 8;
pub(super) const EPOLLHUP: u32 = 0x10;
pub(super) const EPOLLRDHUP: u32 = 0x2000;
pub(super) const EPOLLET: u32 = 1 << 31;
/// Commands of `membarrier(2)`.
pub(super) const MEMBARRIER_QUERY: c_int = 0;
pub(super) const MEMBARRIER_GLOBAL_EXPEDITED: c_int = 2;
pub(super) const MEMBARRIER_REGISTER_GLOBAL_EXPEDITED: c_int = 4;

/// The error number of a call that has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Errno(c_int);

impl Errno {
    pub(crate) const NOENT: Self = Self(2);
    pub(crate) const INTR: Self = Self(4);
    pub(crate) const AGAIN: Self = Self(11);
    pub(crate) const NOMEM: Self = Self(12);
    pub(crate) const INVAL: Self = Self(22);
    pub(crate) const MFILE: Self = Self(24);
    pub(crate) const FBIG: Self = Self(27);
    pub(crate) const PIPE: Self = Self(32);
    pub(crate) const ADDRINUSE: Self = Self(if MIPS { 125 } else { 98 });
    pub(crate) const CONNABORTED: Self = Self(if MIPS { 130 } else { 103 });
    pub(crate) const CONNRESET: Self = Self(if MIPS { 131 } else { 104 });
    pub(crate) const NOBUFS: Self = Self(if MIPS { 132 } else { 105 });
    pub(crate) const CONNREFUSED: Self = Self(if MIPS { 146 } else { 111 });

    fn last() -> Self {
        // SAFETY: the calling thread's own.
        Self(unsafe { *__errno_location() })
    }

    pub(crate) fn number(self) -> i32 {
        self.0
    }
}

impl From<std::io::Error> for Errno {
    fn from(error: std::io::Error) -> Self {
        // std refuses a path with a zero in it itself.
        error.raw_os_error().map_or(Self::INVAL, Self)
    }
}

fn done(outcome: c_int) -> Result<(), Errno> {
    if outcome < 0 { Err(Errno::last()) } else { Ok(()) }
}

/// How many bytes.
fn moved(outcome: isize) -> Result<usize, Errno> {
    usize::try_from(outcome).map_err(|_| Errno::last())
}

/// A descriptor that the kernel has made for the caller.
fn made(fd: impl TryInto<c_int>) -> Result<OwnedFd, Errno> {
    match fd.try_into() {
        // SAFETY: the kernel has made it just now, or else it is negative.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(Errno::last()),
    }
}

/// Repeats a call that a signal has interrupted.
fn retry<R>(mut call: impl FnMut() -> Result<R, Errno>) -> Result<R, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}

/// The size of the kernel's pages. Not a system call.
pub(super) fn page_size() -> usize {
    getpagesize() as usize
}

/// The effective user of this process.
pub(crate) fn user() -> u32 {
    geteuid()
}

/// The number of the only processor that the calling thread may run on; `None`: it has more, or the kernel does not say.
pub(crate) fn only_processor() -> Option<u32> {
    // Of 8,192 processors, more than Linux knows. Its words are the machine's, so the number may be another, but is always
    // the same.
    let mut mask = [0_u64; 128];
    // SAFETY: as much room as is said.
    done(unsafe { sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr().cast()) }).ok()?;
    let mut all = (0_u32..).zip(mask).filter(|(_, word)| *word != 0);
    match (all.next(), all.next()) {
        (Some((at, word)), None) if word.is_power_of_two() => Some(64 * at + word.trailing_zeros()),
        _ => None,
    }
}

/// What the command has returned; `None`: the kernel refuses.
pub(super) fn membarrier(command: c_int) -> Option<c_long> {
    // SAFETY: the call accesses no memory.
    let outcome = unsafe { syscall(NUMBERS[0], command, 0_u32, 0) };
    (outcome >= 0).then_some(outcome)
}

/// A descriptor of a process.
pub(super) fn pidfd_open(process: i32) -> Result<OwnedFd, Errno> {
    // SAFETY: the call accesses no memory.
    made(unsafe { syscall(NUMBERS[2], process, 0_u32) })
}

/// A memfd without bytes, which takes seals.
pub(super) fn memfd() -> Result<OwnedFd, Errno> {
    let create = |flags: c_uint| {
        // SAFETY: the name lives as long as the call.
        made(unsafe { syscall(NUMBERS[1], c"ysuite-shm".as_ptr(), flags) })
    };
    match create(MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL) {
        // Before Linux 6.3.
        Err(Errno::INVAL) => create(MFD_CLOEXEC | MFD_ALLOW_SEALING),
        other => other,
    }
}

/// Gives a memfd its size, and all its pages. `FBIG` beyond the limit of this process, where the kernel would also send
/// a signal that ends it.
pub(super) fn allocate(memfd: BorrowedFd<'_>, bytes: usize) -> Result<(), Errno> {
    let mut limits = Limits { current: 0, most: 0 };
    // SAFETY: one value, which lives as long as the call.
    done(unsafe { getrlimit(RLIMIT_FSIZE, &raw mut limits) })?;
    let size = Offset::try_from(bytes).map_err(|_| Errno::FBIG)?;
    if Limit::try_from(bytes).map_or(true, |bytes| bytes > limits.current) {
        return Err(Errno::FBIG);
    }
    retry(|| done(ftruncate(memfd.as_raw_fd(), size)))?;
    // Now, as an error, and not later as a SIGBUS.
    let page = Offset::from(getpagesize());
    let (mut from, mut step) = (0, size);
    while from < size {
        let next = step.min(size - from);
        match done(fallocate(memfd.as_raw_fd(), 0, from, next)) {
            Ok(()) => from += next,
            // The kernel has taken the pages of this call back. Fewer are there before the next signal is.
            Err(Errno::INTR) => step = (next / 2 / page * page).max(page),
            other => return other,
        }
    }
    Ok(())
}

pub(super) fn add_seals(memfd: BorrowedFd<'_>, seals: c_int) -> Result<(), Errno> {
    // SAFETY: the call accesses no memory.
    done(unsafe { fcntl(memfd.as_raw_fd(), F_ADD_SEALS, seals) })
}

/// `None`: what has no seals.
pub(super) fn seals(descriptor: BorrowedFd<'_>) -> Option<c_int> {
    // SAFETY: as above.
    let seals = unsafe { fcntl(descriptor.as_raw_fd(), F_GET_SEALS) };
    (seals >= 0).then_some(seals)
}

/// The number of the file system's type.
pub(super) fn file_system(descriptor: BorrowedFd<'_>) -> Result<u64, Errno> {
    // More than a `struct statfs` has on any machine; its first word is the type.
    let mut facts = [0_u64; 32];
    // SAFETY: as much as the call writes.
    retry(|| done(unsafe { fstatfs(descriptor.as_raw_fd(), facts.as_mut_ptr().cast()) }))?;
    let first = facts.as_ptr();
    #[allow(clippy::unnecessary_cast, reason = "a `long` has 32 bits on some machines")]
    // SAFETY: within `facts`, which is aligned to more.
    Ok(unsafe {
        if cfg!(target_arch = "s390x") { u64::from(*first.cast::<u32>()) } else { *first.cast::<c_ulong>() as u64 }
    })
}

/// What std knows of a file.
pub(super) fn facts(descriptor: BorrowedFd<'_>) -> Result<Metadata, Errno> {
    // SAFETY: the descriptor is borrowed for as long as this is used, and not closed by it.
    let file = ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor.as_raw_fd()) });
    Ok(file.metadata()?)
}

/// Locks a file, or a folder, as long as the descriptor is open. `AGAIN`: somebody else has locked it.
pub(super) fn try_lock(descriptor: BorrowedFd<'_>) -> Result<(), Errno> {
    done(flock(descriptor.as_raw_fd(), LOCK_EX | LOCK_NB))
}

fn mapped(start: *mut c_void) -> Result<NonNull<u8>, Errno> {
    if start.addr() == usize::MAX { Err(Errno::last()) } else { NonNull::new(start.cast()).ok_or(Errno::NOMEM) }
}

/// A word of this process, 0 at first, which is 0 again in a forked child. It is never unmapped.
pub(super) fn word_of_process() -> Result<NonNull<u64>, Errno> {
    let (bytes, flags) = (page_size(), MAP_PRIVATE | MAP_ANONYMOUS);
    // SAFETY: a new mapping; no memory in use is affected.
    let word = mapped(unsafe { mmap(ptr::null_mut(), bytes, PROT_READ | PROT_WRITE, flags, -1, 0) })?;
    // SAFETY: the mapping just made.
    match done(unsafe { madvise(word.as_ptr().cast(), bytes, MADV_WIPEONFORK) }) {
        Ok(()) => Ok(word.cast()),
        Err(error) => {
            // SAFETY: the same, which nothing uses.
            unsafe { unmap(word.as_ptr(), bytes) };
            Err(error)
        }
    }
}

/// Addresses without access, wherever the kernel likes.
pub(super) fn reserve(bytes: usize) -> Result<NonNull<u8>, Errno> {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    // SAFETY: a new mapping; no memory in use is affected.
    mapped(unsafe { mmap(ptr::null_mut(), bytes, 0, flags, -1, 0) })
}

/// Maps a file in place of what is at this address. A forked child will not have the mapping.
///
/// # Safety
/// `at` is aligned to a page. From it on, `bytes` rounded up to pages are the caller's, and nothing in them is used.
pub(super) unsafe fn map_at(at: NonNull<u8>, bytes: usize, access: c_int, fd: BorrowedFd<'_>) -> Result<(), Errno> {
    // SAFETY: by the caller.
    mapped(unsafe { mmap(at.as_ptr().cast(), bytes, access, MAP_SHARED | MAP_FIXED, fd.as_raw_fd(), 0) })?;
    // SAFETY: the mapping just made.
    done(unsafe { madvise(at.as_ptr().cast(), bytes, MADV_DONTFORK) })
}

/// # Safety
/// Whole pages of mappings, which nothing uses any more.
pub(super) unsafe fn unmap(at: *mut u8, bytes: usize) {
    // SAFETY: by the caller. It refuses where it would get one map too many; the addresses are then lost.
    let _ = unsafe { munmap(at.cast(), bytes) };
}

/// An eventfd that does not block.
pub(super) fn eventfd() -> Result<OwnedFd, Errno> {
    made(new_eventfd(0, CLOEXEC | NONBLOCK))
}

/// Adds one to an eventfd.
pub(super) fn add_one(eventfd: BorrowedFd<'_>) -> Result<(), Errno> {
    let one = 1_u64;
    // SAFETY: eight bytes, which live as long as the call.
    retry(|| moved(unsafe { write(eventfd.as_raw_fd(), (&raw const one).cast(), 8) }).map(|_| ()))
}

pub(super) fn epoll() -> Result<OwnedFd, Errno> {
    made(epoll_create1(CLOEXEC))
}

/// What [`watch`] does.
#[derive(Clone, Copy)]
pub(super) enum Watch {
    Add = EPOLL_CTL_ADD as isize,
    Remove = EPOLL_CTL_DEL as isize,
}

pub(super) fn watch(epoll: BorrowedFd<'_>, how: Watch, fd: BorrowedFd<'_>, mut event: Event) -> Result<(), Errno> {
    // SAFETY: the event lives as long as the call.
    done(unsafe { epoll_ctl(epoll.as_raw_fd(), how as c_int, fd.as_raw_fd(), &raw mut event) })
}

/// Blocks until something has happened, for at most this long; what. Nothing also behind a signal.
pub(super) fn happened<'a>(
    epoll: BorrowedFd<'_>,
    events: &'a mut [MaybeUninit<Event>],
    limit: Option<Duration>,
) -> &'a [Event] {
    // Rounded up: a wait must not end early.
    let millis = limit.map_or(-1, |limit| limit.as_nanos().div_ceil(1_000_000).min(i32::MAX as u128) as c_int);
    // SAFETY: as much room as is said.
    let count = unsafe { epoll_wait(epoll.as_raw_fd(), events.as_mut_ptr().cast(), events.len() as c_int, millis) };
    // SAFETY: the kernel has written this number of them.
    unsafe { core::slice::from_raw_parts(events.as_ptr().cast(), usize::try_from(count).unwrap_or(0)) }
}

/// Blocks until a descriptor is readable, or a signal comes.
pub(crate) fn poll_readable(fd: BorrowedFd<'_>) {
    let mut fd = PollFd { fd: fd.as_raw_fd(), events: POLLIN, found: 0 };
    // SAFETY: one entry, which lives as long as the call; the descriptor is borrowed.
    unsafe { poll(&raw mut fd, 1, -1) };
}

/// A socket of packets between local processes, which does not block.
pub(super) fn socket() -> Result<OwnedFd, Errno> {
    made(new_socket(AF_UNIX, SOCK_SEQPACKET | CLOEXEC | NONBLOCK, 0))
}

/// Two of them that are connected to each other.
pub(crate) fn pair() -> Result<(OwnedFd, OwnedFd), Errno> {
    let mut fds = [-1; 2];
    // SAFETY: room for two.
    done(unsafe { socketpair(AF_UNIX, SOCK_SEQPACKET | CLOEXEC | NONBLOCK, 0, fds.as_mut_ptr()) })?;
    Ok((made(fds[0])?, made(fds[1])?))
}

/// The address of a local socket.
pub(super) struct Name {
    address: Address,
    bytes: c_uint,
}

impl Name {
    /// Of a path, or of an abstract name, which begins with a zero. `None`: there is no room for it.
    pub(super) fn of(path: &[u8]) -> Option<Self> {
        let mut address = Address { family: AF_UNIX as u16, path: [0; 108] };
        // A path ends with a zero.
        let bytes = path.len() + usize::from(path.first() != Some(&0));
        (bytes <= address.path.len()).then(|| {
            address.path[..path.len()].copy_from_slice(path);
            Self { address, bytes: (offset_of!(Address, path) + bytes) as c_uint }
        })
    }
}

pub(super) fn bind(socket: BorrowedFd<'_>, name: &Name) -> Result<(), Errno> {
    // SAFETY: the address lives as long as the call.
    done(unsafe { bind_to(socket.as_raw_fd(), &raw const name.address, name.bytes) })
}

pub(super) fn connect(socket: BorrowedFd<'_>, name: &Name) -> Result<(), Errno> {
    // SAFETY: as above.
    done(unsafe { connect_to(socket.as_raw_fd(), &raw const name.address, name.bytes) })
}

pub(super) fn listen(socket: BorrowedFd<'_>, backlog: i32) -> Result<(), Errno> {
    done(listen_with(socket.as_raw_fd(), backlog))
}

pub(super) fn accept(socket: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    // SAFETY: the address is not asked for.
    made(unsafe { accept4(socket.as_raw_fd(), ptr::null_mut(), ptr::null_mut(), CLOEXEC | NONBLOCK) })
}

/// Whether either side of a socket has a name: so it is not of a [`pair`].
pub(super) fn has_name(socket: BorrowedFd<'_>) -> bool {
    [getsockname, getpeername].into_iter().any(|ask| {
        let mut address = Address { family: 0, path: [0; 108] };
        let mut bytes = size_of::<Address>() as c_uint;
        // SAFETY: room for as much as is said.
        let outcome = unsafe { ask(socket.as_raw_fd(), &raw mut address, &raw mut bytes) };
        outcome == 0 && bytes as usize > offset_of!(Address, path)
    })
}

/// What is known of a socket.
pub(super) enum Fact {
    Kind = SO_TYPE as isize,
    Family = SO_DOMAIN as isize,
    Peer = SO_PEERCRED as isize,
    PeerProcess = SO_PEERPIDFD as isize,
}

fn option<T: Default>(socket: BorrowedFd<'_>, fact: Fact) -> Option<T> {
    let (mut value, mut bytes) = (T::default(), size_of::<T>() as c_uint);
    // SAFETY: `value` has room for `bytes`; its types below are plain numbers, for which every content is valid.
    let outcome = unsafe {
        getsockopt(socket.as_raw_fd(), SOL_SOCKET, fact as c_int, (&raw mut value).cast::<c_void>(), &raw mut bytes)
    };
    (outcome == 0 && bytes as usize == size_of::<T>()).then_some(value)
}

/// Whether it is a socket of packets between local processes.
pub(crate) fn is_ours(socket: BorrowedFd<'_>) -> bool {
    option(socket, Fact::Family) == Some(AF_UNIX) && option(socket, Fact::Kind) == Some(SOCK_SEQPACKET)
}

/// The numbers of the process and of the user at the other end, as they were when that connected, or listened.
pub(super) fn peer(socket: BorrowedFd<'_>) -> Option<(i32, u32)> {
    option::<[u32; 3]>(socket, Fact::Peer).map(|[process, user, _]| (process as i32, user))
}

/// A descriptor of the process at the other end, of Linux 6.5 and later.
pub(super) fn peer_pidfd(socket: BorrowedFd<'_>) -> Option<OwnedFd> {
    option::<c_int>(socket, Fact::PeerProcess).and_then(|pidfd| made(pidfd).ok())
}

/// Sends a packet without waiting.
pub(super) fn send(socket: BorrowedFd<'_>, packet: &[u8]) -> Result<(), Errno> {
    let flags = MSG_DONTWAIT | MSG_NOSIGNAL;
    // SAFETY: bytes that live as long as the call.
    retry(|| moved(unsafe { send_bytes(socket.as_raw_fd(), packet.as_ptr().cast(), packet.len(), flags) }).map(|_| ()))
}

/// Hangs up, while the descriptor lives on. What was sent before can still be received.
pub(crate) fn hang_up(socket: BorrowedFd<'_>) {
    const SHUT_RDWR: c_int = 2;
    // SAFETY: it reads and writes no memory. It fails where the peer has hung up.
    let _ = unsafe { shut_down(socket.as_raw_fd(), SHUT_RDWR) };
}

/// Receives a packet without waiting, and none of its descriptors; its bytes.
pub(super) fn recv(socket: BorrowedFd<'_>, to: &mut [u8]) -> Result<usize, Errno> {
    // SAFETY: as much room as is said.
    retry(|| moved(unsafe { recv_bytes(socket.as_raw_fd(), to.as_mut_ptr().cast(), to.len(), MSG_DONTWAIT) }))
}

/// As [`send`], with descriptors: at most [`DESCRIPTORS`].
pub(crate) fn send_with(socket: BorrowedFd<'_>, packet: &[u8], descriptors: &[BorrowedFd<'_>]) -> Result<(), Errno> {
    let mut rights = Rights { bytes: 0, level: SOL_SOCKET, kind: SCM_RIGHTS, descriptors: [-1; DESCRIPTORS] };
    for (to, descriptor) in rights.descriptors[..descriptors.len()].iter_mut().zip(descriptors) {
        *to = descriptor.as_raw_fd();
    }
    rights.bytes = offset_of!(Rights, descriptors) + size_of_val(descriptors);
    let mut part = Part { start: packet.as_ptr().cast_mut().cast(), bytes: packet.len() };
    let mut header = header(&mut part, &mut rights);
    // Without any the kernel takes no rights.
    header.control_bytes = if descriptors.is_empty() { 0 } else { rights.bytes };
    let flags = MSG_DONTWAIT | MSG_NOSIGNAL;
    // SAFETY: the header, the packet, which is read only, and the rights live as long as the call.
    retry(|| moved(unsafe { sendmsg(socket.as_raw_fd(), &raw const header, flags) }).map(|_| ()))
}

fn header(part: &mut Part, rights: &mut Rights) -> Header {
    let control = ptr::from_mut(rights).cast();
    let (name, control_bytes) = (ptr::null_mut(), size_of::<Rights>());
    Header { name, name_bytes: 0, parts: part, part_count: 1, control, control_bytes, flags: 0 }
}

/// As [`recv`], with its descriptors; and whether it was longer, or had more of them.
pub(super) fn recv_with(socket: BorrowedFd<'_>, to: &mut [u8]) -> Result<(usize, Vec<OwnedFd>, bool), Errno> {
    let mut rights = Rights { bytes: 0, level: 0, kind: 0, descriptors: [-1; DESCRIPTORS] };
    let mut part = Part { start: to.as_mut_ptr().cast(), bytes: to.len() };
    let mut header = header(&mut part, &mut rights);
    let flags = MSG_DONTWAIT | MSG_CMSG_CLOEXEC;
    // SAFETY: the header, the buffer and the rights live as long as the call.
    let bytes = retry(|| moved(unsafe { recvmsg(socket.as_raw_fd(), &raw mut header, flags) }))?;
    let is_cut = header.flags & (MSG_TRUNC | MSG_CTRUNC) != 0;
    let is_rights = header.control_bytes > 0 && rights.level == SOL_SOCKET && rights.kind == SCM_RIGHTS;
    let size = rights.bytes.saturating_sub(offset_of!(Rights, descriptors));
    let count = if is_rights { (size / size_of::<c_int>()).min(DESCRIPTORS) } else { 0 };
    Ok((bytes, rights.descriptors[..count].iter().filter_map(|&fd| made(fd).ok()).collect(), is_cut))
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests;
