//! A process that the kernel refuses some calls, as containers and sandboxes have it.

/// The kernel's numbers of the calls that may be forbidden.
#[cfg(target_arch = "x86_64")]
#[allow(dead_code)]
mod numbers {
    pub(crate) const MEMBARRIER: u32 = 324;
    pub(crate) const EVENTFD2: u32 = 290;
    pub(crate) const MADVISE: u32 = 28;
    pub(crate) const OPENAT: u32 = 257;
    pub(crate) const MUNMAP: u32 = 11;
    pub(crate) const EPOLL_CREATE: &[u32] = &[213, 291];
}
#[cfg(target_arch = "aarch64")]
#[allow(dead_code)]
mod numbers {
    pub(crate) const MEMBARRIER: u32 = 283;
    pub(crate) const EVENTFD2: u32 = 19;
    pub(crate) const MADVISE: u32 = 233;
    pub(crate) const OPENAT: u32 = 56;
    pub(crate) const MUNMAP: u32 = 215;
    pub(crate) const EPOLL_CREATE: &[u32] = &[20];
}

// Each test binary forbids what concerns it.
#[allow(unused_imports)]
pub(crate) use numbers::{EPOLL_CREATE, EVENTFD2, MADVISE, MEMBARRIER, MUNMAP, OPENAT};

/// One instruction of the kernel's packet filter, and a program of them.
#[repr(C)]
struct Instruction {
    code: u16,
    if_true: u8,
    if_false: u8,
    operand: u32,
}

#[repr(C)]
struct Program {
    length: u16,
    instructions: *const Instruction,
}

const LOAD: u16 = 0x20;
const JUMP_IF_EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;
const ALLOW: u32 = 0x7fff_0000;

fn next(code: u16, operand: u32) -> Instruction {
    Instruction { code, if_true: 0, if_false: 0, operand }
}

/// From now on these calls fail with EPERM in this process, for all threads that this one starts.
#[allow(dead_code)]
pub(crate) fn forbid(calls: &[u32]) {
    const EPERM: u32 = 0x0005_0000 | 1;
    // The number of the call is the first thing a filter is shown.
    let mut filter = vec![next(LOAD, 0)];
    for &call in calls {
        filter.push(Instruction { code: JUMP_IF_EQUAL, if_true: 0, if_false: 1, operand: call });
        filter.push(next(RETURN, EPERM));
    }
    filter.push(next(RETURN, ALLOW));
    install(&filter);
}

/// From now on this call ends the process, if its first argument is this one, or for any argument.
#[allow(dead_code)]
pub(crate) fn end_at(call: u32, argument: Option<u32>) {
    const KILL_PROCESS: u32 = 0x8000_0000;
    // Where a filter is shown the lower half of the first argument.
    const FIRST_ARGUMENT: u32 = if cfg!(target_endian = "little") { 16 } else { 20 };
    let mut filter = vec![next(LOAD, 0)];
    let to_the_end = if argument.is_some() { 3 } else { 1 };
    filter.push(Instruction { code: JUMP_IF_EQUAL, if_true: 0, if_false: to_the_end, operand: call });
    if let Some(argument) = argument {
        filter.push(next(LOAD, FIRST_ARGUMENT));
        filter.push(Instruction { code: JUMP_IF_EQUAL, if_true: 0, if_false: 1, operand: argument });
    }
    filter.push(next(RETURN, KILL_PROCESS));
    filter.push(next(RETURN, ALLOW));
    install(&filter);
}

fn install(filter: &[Instruction]) {
    let program = Program { length: filter.len() as u16, instructions: filter.as_ptr() };

    // The C library's, which std links already.
    unsafe extern "C" {
        fn prctl(option: i32, ...) -> i32;
    }
    const NO_NEW_PRIVILEGES: i32 = 38;
    const SECCOMP: i32 = 22;
    const FILTER: u64 = 2;
    // SAFETY: the program and what it points to live until the calls return; the kernel keeps a copy.
    unsafe {
        assert_eq!(prctl(NO_NEW_PRIVILEGES, 1u64, 0u64, 0u64, 0u64), 0);
        assert_eq!(prctl(SECCOMP, FILTER, &raw const program), 0, "no filters here");
    }
}
