//! The functions of the C library for which std has no counterpart, and the values that they take. std links the C
//! library already: this adds nothing to a program, and no other crate has to be compiled for it (decision 026).
//!
//! Any thread. Each function is one system call. A test compares all types and values with those of the crate `libc`.

use core::ffi::{c_int, c_short};
use core::time::Duration;
use std::os::fd::{AsRawFd, BorrowedFd};

/// What a `long` is in the types of time and of offsets in files. With pointers of 32 bits, x86-64 has 64 bits there.
#[cfg(all(target_arch = "x86_64", any(target_os = "linux", target_os = "android")))]
type Long = i64;
#[cfg(all(not(target_arch = "x86_64"), any(target_os = "linux", target_os = "android")))]
type Long = core::ffi::c_long;

/// `struct timespec`, as the functions below and the system call `futex` take it.
#[cfg(any(target_os = "linux", target_os = "android"))]
#[repr(C)]
pub(super) struct Time {
    seconds: Long,
    nanoseconds: Long,
}

#[cfg(any(target_os = "linux", target_os = "android"))]
impl Time {
    /// `None`: the system cannot represent it.
    pub(super) fn of(duration: Duration) -> Option<Self> {
        Some(Self { seconds: duration.as_secs().try_into().ok()?, nanoseconds: duration.subsec_nanos() as Long })
    }
}

/// `struct pollfd`.
#[repr(C)]
struct PollFd {
    fd: c_int,
    events: c_short,
    found: c_short,
}

const POLLIN: c_short = 1;

/// The error of a system without memory for one more byte in a socket.
pub(super) const ENOBUFS: c_int =
    if cfg!(any(target_arch = "mips", target_arch = "mips64", target_os = "illumos", target_os = "solaris")) {
        132
    } else if cfg!(any(target_os = "linux", target_os = "android")) {
        105
    } else {
        55
    };

/// Blocks until the descriptor is readable, the time is over, or a signal handler has run. False: the last of these.
pub(super) fn poll_readable(fd: BorrowedFd<'_>, time: Option<Duration>) -> bool {
    let mut fd = PollFd { fd: fd.as_raw_fd(), events: POLLIN, found: 0 };
    // SAFETY: one entry, which lives as long as the call; the descriptor is borrowed.
    let outcome = unsafe {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            let time = time.and_then(Time::of);
            let time = time.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
            linux::ppoll(&raw mut fd, 1, time, core::ptr::null())
        }
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        {
            // Rounded up, so that no caller polls again for the rest of a millisecond.
            let left = time.map_or(-1, |time| time.as_nanos().div_ceil(1_000_000).try_into().unwrap_or(c_int::MAX));
            others::poll(&raw mut fd, 1, left)
        }
    };
    outcome >= 0 || std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted
}

/// As `ppoll`; its time is in milliseconds.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod others {
    use core::ffi::c_int;

    /// The number of descriptors.
    #[cfg(any(target_os = "illumos", target_os = "solaris", target_os = "haiku"))]
    pub(super) type Count = core::ffi::c_ulong;
    #[cfg(not(any(target_os = "illumos", target_os = "solaris", target_os = "haiku")))]
    pub(super) type Count = core::ffi::c_uint;

    unsafe extern "C" {
        pub(super) fn poll(fds: *mut super::PollFd, count: Count, milliseconds: c_int) -> c_int;
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) use self::linux::*;

#[cfg(any(target_os = "linux", target_os = "android"))]
#[cfg_attr(any(ysuite_portable, ysuite_loom), allow(dead_code))] // The portable platform and models need some of it.
mod linux {
    use core::ffi::{c_int, c_long, c_uint, c_ulong, c_void};
    use core::ptr::NonNull;
    use std::io;
    use std::os::fd::{FromRawFd, OwnedFd};

    use super::{PollFd, Time};

    /// An offset in a file. With musl it has 64 bits everywhere.
    #[cfg(target_env = "musl")]
    type Offset = i64;
    #[cfg(not(target_env = "musl"))]
    type Offset = super::Long;

    unsafe extern "C" {
        pub(super) fn ppoll(fds: *mut PollFd, count: c_ulong, time: *const Time, mask: *const c_void) -> c_int;
        #[link_name = "eventfd"]
        safe fn new_eventfd(initial: c_uint, flags: c_int) -> c_int;
        safe fn getpagesize() -> c_int;
        fn mmap(at: *mut c_void, bytes: usize, access: c_int, flags: c_int, fd: c_int, from: Offset) -> *mut c_void;
        fn munmap(at: *mut c_void, bytes: usize) -> c_int;
        fn madvise(at: *mut c_void, bytes: usize, advice: c_int) -> c_int;
        fn syscall(number: c_long, ...) -> c_long;
        #[cfg_attr(target_os = "android", link_name = "__errno")]
        #[cfg_attr(not(target_os = "android"), link_name = "__errno_location")]
        safe fn errno() -> *mut c_int;
    }

    const MIPS: bool = cfg!(any(target_arch = "mips", target_arch = "mips64"));
    const EFD_CLOEXEC: c_int = 0o2_000_000;
    const EFD_NONBLOCK: c_int = if MIPS { 0o200 } else { 0o4_000 };
    const MAP_PRIVATE: c_int = 2;
    const MAP_ANONYMOUS: c_int = if MIPS { 0x800 } else { 0x20 };

    /// A mapping that cannot be accessed, and one that can be read and written.
    pub(in crate::os) const PROT_NONE: c_int = 0;
    pub(in crate::os) const PROT_READ_WRITE: c_int = 1 | 2;
    /// A mapping takes the place of what is at that address.
    pub(in crate::os) const MAP_FIXED: c_int = 0x10;
    /// All pages are put in place at once.
    pub(in crate::os) const MAP_POPULATE: c_int = if MIPS { 0x10000 } else { 0x8000 };
    pub(in crate::os) const MADV_DONTNEED: c_int = 4;
    pub(in crate::os) const MADV_HUGEPAGE: c_int = 14;
    pub(in crate::os) const MADV_NOHUGEPAGE: c_int = 15;
    pub(in crate::os) const MADV_WIPEONFORK: c_int = 18;
    /// Of Linux 5.14.
    pub(in crate::os) const MADV_POPULATE_WRITE: c_int = 23;
    /// Of Linux 5.18: for pages that are locked. `libc` does not know it.
    pub(in crate::os) const MADV_DONTNEED_LOCKED: c_int = 24;

    /// An eventfd that does not block, and that no program started later inherits.
    pub(in crate::os) fn eventfd() -> io::Result<OwnedFd> {
        match new_eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) {
            -1 => Err(io::Error::last_os_error()),
            // SAFETY: the kernel has made it just now.
            fd => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        }
    }

    /// The size of the kernel's pages. Not a system call.
    pub(in crate::os) fn page_size() -> usize {
        getpagesize() as usize
    }

    /// Maps private memory, which reads as zeros. `None`: the kernel refuses.
    ///
    /// # Safety
    /// With [`MAP_FIXED`], what is at that address is the caller's, and nothing in it is used.
    pub(in crate::os) unsafe fn map(at: *mut u8, bytes: usize, access: c_int, flags: c_int) -> Option<NonNull<u8>> {
        // SAFETY: by the caller. Without `MAP_FIXED` the address is a hint, and no memory in use is affected.
        let found = unsafe { mmap(at.cast(), bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0) };
        if found.addr() == usize::MAX { None } else { NonNull::new(found.cast()) }
    }

    /// Whether the kernel has taken the mapping back. It refuses where it would get one map too many.
    ///
    /// # Safety
    /// Whole pages of a mapping, which no thread uses.
    pub(in crate::os) unsafe fn unmap(at: *mut u8, bytes: usize) -> bool {
        // SAFETY: by the caller.
        unsafe { munmap(at.cast(), bytes) == 0 }
    }

    /// Whether the kernel has followed this advice.
    ///
    /// # Safety
    /// Whole pages of a mapping. The caller is responsible for what the advice does to them.
    pub(in crate::os) unsafe fn advise(at: *mut u8, bytes: usize, advice: c_int) -> bool {
        // SAFETY: by the caller.
        unsafe { madvise(at.cast(), bytes, advice) == 0 }
    }

    /// The system calls that no C library has as functions.
    #[cfg(not(any(ysuite_portable, ysuite_loom)))]
    mod numbered {
        use core::ptr;
        use core::sync::atomic::AtomicU32;

        use super::{MIPS, Time, c_int, c_long, errno, syscall};

        /// Of `futex` and of `membarrier`.
        const NUMBERS: (c_long, c_long) = if cfg!(all(target_arch = "x86_64", target_pointer_width = "32")) {
            (0x4000_0000 + 202, 0x4000_0000 + 324)
        } else if cfg!(target_arch = "x86_64") {
            (202, 324)
        } else if cfg!(any(target_arch = "aarch64", target_arch = "riscv64", target_arch = "loongarch64")) {
            (98, 283)
        } else if cfg!(target_arch = "x86") {
            (240, 375)
        } else if cfg!(target_arch = "arm") {
            (240, 389)
        } else if cfg!(target_arch = "s390x") {
            (238, 356)
        } else if cfg!(any(target_arch = "powerpc", target_arch = "powerpc64")) {
            (221, 365)
        } else if cfg!(target_arch = "mips") {
            (4238, 4358)
        } else if cfg!(target_arch = "mips64") {
            (5194, 5318)
        } else {
            panic!("the system calls of this architecture have no numbers here: compile with `--cfg ysuite_portable`")
        };
        const ETIMEDOUT: c_int = if MIPS { 145 } else { 110 };
        const FUTEX_WAIT_PRIVATE: c_int = 128;
        const FUTEX_WAKE_PRIVATE: c_int = 129;

        /// A command of `membarrier(2)`.
        #[derive(Clone, Copy)]
        pub(in crate::os) enum Membarrier {
            Query = 0,
            PrivateExpedited = 8,
            RegisterPrivateExpedited = 16,
        }

        /// Sleeps while the word has that value. False: the time is over.
        pub(in crate::os) fn futex_wait(word: &AtomicU32, expected: u32, time: Option<&Time>) -> bool {
            let time = time.map_or(ptr::null(), ptr::from_ref);
            // SAFETY: the word and the time live as long as the call.
            let outcome = unsafe { syscall(NUMBERS.0, word.as_ptr(), FUTEX_WAIT_PRIVATE, expected, time) };
            // Not by std's error, of which the drop and the kinds are a thousand lines for the code generator.
            // SAFETY: the calling thread's own.
            outcome == 0 || unsafe { *errno() } != ETIMEDOUT
        }

        /// Wakes up to `sleepers` threads that sleep on the word.
        pub(in crate::os) fn futex_wake(word: &AtomicU32, sleepers: u32) {
            // SAFETY: the call does not access the word. Its only errors are about the address.
            unsafe { syscall(NUMBERS.0, word.as_ptr(), FUTEX_WAKE_PRIVATE, sleepers) };
        }

        /// What the command has returned; `None`: the kernel refuses.
        pub(in crate::os) fn membarrier(command: Membarrier) -> Option<c_long> {
            // SAFETY: the call accesses no memory.
            let outcome = unsafe { syscall(NUMBERS.1, command as c_int, 0_u32, 0) };
            (outcome >= 0).then_some(outcome)
        }

        #[cfg(all(test, not(miri)))]
        #[test]
        fn the_numbers_are_those_of_libc() {
            assert_eq!(NUMBERS, (libc::SYS_futex, libc::SYS_membarrier));
            assert_eq!(ETIMEDOUT, libc::ETIMEDOUT);
            let private = libc::FUTEX_PRIVATE_FLAG;
            assert_eq!(FUTEX_WAIT_PRIVATE, libc::FUTEX_WAIT | private);
            assert_eq!(FUTEX_WAKE_PRIVATE, libc::FUTEX_WAKE | private);
            assert_eq!(Membarrier::Query as c_int, libc::MEMBARRIER_CMD_QUERY);
            assert_eq!(Membarrier::PrivateExpedited as c_int, libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED);
            let register = libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED;
            assert_eq!(Membarrier::RegisterPrivateExpedited as c_int, register);
        }
    }
    #[cfg(not(any(ysuite_portable, ysuite_loom)))]
    pub(in crate::os) use self::numbered::{Membarrier, futex_wait, futex_wake, membarrier};

    #[cfg(all(test, not(ysuite_loom), not(miri)))]
    #[test]
    fn the_values_of_linux_are_those_of_libc() {
        assert_eq!(EFD_CLOEXEC, libc::EFD_CLOEXEC);
        assert_eq!(EFD_NONBLOCK, libc::EFD_NONBLOCK);
        assert_eq!((PROT_NONE, PROT_READ_WRITE), (libc::PROT_NONE, libc::PROT_READ | libc::PROT_WRITE));
        assert_eq!((MAP_PRIVATE, MAP_ANONYMOUS), (libc::MAP_PRIVATE, libc::MAP_ANONYMOUS));
        assert_eq!((MAP_FIXED, MAP_POPULATE), (libc::MAP_FIXED, libc::MAP_POPULATE));
        assert_eq!((MADV_DONTNEED, MADV_WIPEONFORK), (libc::MADV_DONTNEED, libc::MADV_WIPEONFORK));
        assert_eq!(MADV_POPULATE_WRITE, libc::MADV_POPULATE_WRITE);
        assert_eq!((MADV_HUGEPAGE, MADV_NOHUGEPAGE), (libc::MADV_HUGEPAGE, libc::MADV_NOHUGEPAGE));
        assert_eq!(size_of::<Offset>(), size_of::<libc::off_t>());
    }
}

#[cfg(all(test, not(ysuite_loom), not(miri)))]
mod tests {
    use core::mem::offset_of;

    use super::*;

    #[test]
    fn the_types_and_values_are_those_of_libc() {
        assert_eq!(POLLIN, libc::POLLIN);
        assert_eq!(ENOBUFS, libc::ENOBUFS);
        assert_eq!(
            (size_of::<PollFd>(), align_of::<PollFd>()),
            (size_of::<libc::pollfd>(), align_of::<libc::pollfd>())
        );
        assert_eq!(offset_of!(PollFd, events), offset_of!(libc::pollfd, events));
        assert_eq!(offset_of!(PollFd, found), offset_of!(libc::pollfd, revents));
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        assert_eq!(size_of::<others::Count>(), size_of::<libc::nfds_t>());
    }

    /// With musl and pointers of 32 bits `libc` names the type of newer functions, and of other names.
    #[test]
    #[cfg(all(
        any(target_os = "linux", target_os = "android"),
        not(all(target_env = "musl", target_pointer_width = "32"))
    ))]
    fn time_is_that_of_libc() {
        assert_eq!(
            (size_of::<Time>(), align_of::<Time>()),
            (size_of::<libc::timespec>(), align_of::<libc::timespec>())
        );
        assert_eq!(offset_of!(Time, nanoseconds), offset_of!(libc::timespec, tv_nsec));
    }
}
