//! A sandbox that forbids what the fast paths are made of. The library must notice at the first question, and go on with
//! what is left.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(ysuite_loom), not(miri)))]

mod support;

use std::io::ErrorKind;

use support::guarded;
use support::process::{alone, forked_child_can};
use ysuite::signal::{Backend, Signal, Wait, YPollset, YSocketpair};
use ysuite::spsc;

/// The kernel's numbers of the calls to be forbidden.
#[cfg(target_arch = "x86_64")]
mod call {
    pub(crate) const MEMBARRIER: u32 = 324;
    pub(crate) const EVENTFD2: u32 = 290;
    pub(crate) const MADVISE: u32 = 28;
}
#[cfg(target_arch = "aarch64")]
mod call {
    pub(crate) const MEMBARRIER: u32 = 283;
    pub(crate) const EVENTFD2: u32 = 19;
    pub(crate) const MADVISE: u32 = 233;
}

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

/// From now on these calls fail with EPERM in this process, for all threads that this one starts.
fn forbid(calls: &[u32]) {
    const LOAD: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    const ALLOW: u32 = 0x7fff_0000;
    const EPERM: u32 = 0x0005_0000 | 1;
    let next = |code, operand| Instruction { code, if_true: 0, if_false: 0, operand };
    // The number of the call is the first thing a filter is shown.
    let mut filter = vec![next(LOAD, 0)];
    for &call in calls {
        filter.push(Instruction { code: JUMP_IF_EQUAL, if_true: 0, if_false: 1, operand: call });
        filter.push(next(RETURN, EPERM));
    }
    filter.push(next(RETURN, ALLOW));
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

/// Long enough for the writer to try and give up its fences, with sleeps in between.
fn stream_and_sleep() {
    guarded(|| {
        let (mut sender, mut receiver) = spsc::unbounded();
        let (mut back, mut answers) = spsc::bounded(4);
        let thread = std::thread::spawn(move || {
            for number in 0..20_000_u32 {
                sender.send(number).unwrap();
                // Both ends sleep now and then.
                if number % 500 == 0 {
                    assert_eq!(answers.recv(), Ok(number));
                }
            }
        });
        for expected in 0..20_000 {
            assert_eq!(receiver.recv(), Ok(expected));
            if expected % 500 == 0 {
                back.send(expected).unwrap();
            }
        }
        thread.join().unwrap();
    });
}

#[test]
fn membarrier_forbidden_by_a_filter_means_fences() {
    if alone("membarrier_forbidden_by_a_filter_means_fences") {
        forbid(&[call::MEMBARRIER]);
        stream_and_sleep();
    }
}

#[test]
fn membarrier_forbidden_later_is_made_up_for() {
    if alone("membarrier_forbidden_later_is_made_up_for") {
        // The question is asked, and answered with yes, where the kernel has it.
        stream_and_sleep();
        forbid(&[call::MEMBARRIER]);
        stream_and_sleep();
    }
}

#[test]
fn each_barrier_that_is_refused_is_made_up_for_by_a_pause() {
    if alone("each_barrier_that_is_refused_is_made_up_for_by_a_pause") {
        let (mut writer, mut reader) = ysuite::queue::ypipe::unbounded();
        let mut arms_after_a_stream = || {
            for number in 0..1_000 {
                writer.write(number).unwrap();
                writer.flush();
                assert_eq!(reader.read(), Some(number));
            }
            let before = ysuite::os::calls();
            assert!(reader.arm());
            ysuite::os::calls() - before
        };
        let barrier = arms_after_a_stream();
        forbid(&[call::MEMBARRIER]);
        // A fence needs no call at all; the kernel's barrier is one, and a pause another.
        assert_eq!(arms_after_a_stream(), barrier * 2);
    }
}

#[test]
fn eventfd_forbidden_by_a_filter_is_an_error_and_the_other_ways_work() {
    if alone("eventfd_forbidden_by_a_filter_is_an_error_and_the_other_ways_work") {
        forbid(&[call::EVENTFD2]);
        let refused = YSocketpair::with_backend(8, Backend::Eventfd).map(drop).expect_err("it is forbidden");
        assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
        let mut set = YSocketpair::with_backend(8, Backend::Socketpair).unwrap();
        set.signaler().signal(7);
        assert_eq!(set.poll().collect::<Vec<_>>(), [7]);
        let mut set = YPollset::new();
        set.signaler().signal(30);
        assert_eq!(set.poll().collect::<Vec<_>>(), [30]);
    }
}

#[test]
fn madvise_forbidden_by_a_filter_means_asking_which_process_this_is() {
    if alone("madvise_forbidden_by_a_filter_means_asking_which_process_this_is") {
        forbid(&[call::MADVISE]);
        let set = YSocketpair::new().unwrap();
        let (signaler, mut set) = (set.signaler(), Some(set));
        signaler.signal(7);
        // SAFETY: it frees memory, which the C library prepares for its forks.
        assert!(unsafe { forked_child_can(|| set.take().is_some()) });
        let mut set = set.unwrap();
        assert_eq!(set.poll().collect::<Vec<_>>(), [7], "the child has taken it away");
        signaler.signal(8);
        assert_eq!(set.poll().collect::<Vec<_>>(), [8]);
    }
}
