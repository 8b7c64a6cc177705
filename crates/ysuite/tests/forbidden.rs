//! A sandbox that forbids what the fast paths are made of. The library must notice at the first question, and go on with
//! what is left.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(ysuite_loom), not(miri)))]

#[path = "support/sandbox.rs"]
mod sandbox;
mod support;

use std::io::ErrorKind;
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::thread::{MembarrierCommand, MembarrierQuery, membarrier, membarrier_query};
use sandbox::{EVENTFD2, MADVISE, MEMBARRIER, MUNMAP, OPENAT, end_at, forbid};
use support::guarded;
use support::process::{alone, forked_child_can, mapped, resident, sleeps};
use ysuite::signal::{Backend, Signal, Wait, YPollset, YSocketpair};
use ysuite::{broadcast, mpmc, spsc};

/// Long enough for the writer to try and give up its fences, with sleeps in between.
fn stream_and_sleep() {
    guarded(|| {
        let (mut sender, mut receiver) = spsc::unbounded();
        let (mut back, mut answers) = spsc::bounded(4);
        let thread = std::thread::spawn(move || {
            for number in 0..20_000_u32 {
                sender.send(number).unwrap();
                // Both sides sleep now and then.
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

/// How many system calls it takes to arm an spsc channel after a stream, and how often this thread sleeps meanwhile.
fn arming_behind_a_stream() -> (u64, u64) {
    let (mut writer, mut reader) = ysuite::queue::ypipe::unbounded();
    for number in 0..1_000 {
        writer.write(number).unwrap();
        writer.flush();
        assert_eq!(reader.read(), Some(number));
    }
    let before = (ysuite::os::calls(), sleeps());
    assert!(reader.arm());
    (ysuite::os::calls() - before.0, sleeps() - before.1)
}

/// Claim: Without `membarrier(2)` the library uses fences.
#[test]
fn membarrier_forbidden_by_a_filter_means_fences() {
    if alone("membarrier_forbidden_by_a_filter_means_fences") {
        forbid(&[MEMBARRIER]);
        ysuite::prepare();
        stream_and_sleep();
        // A fence needs no call.
        assert_eq!(arming_behind_a_stream().0, 0);
    }
}

/// Claim: If `membarrier(2)` is refused later, a pause replaces the heavy barrier.
#[test]
fn membarrier_forbidden_later_is_made_up_for() {
    if alone("membarrier_forbidden_later_is_made_up_for") {
        // The query is made, and succeeds, if the kernel has it.
        ysuite::prepare();
        stream_and_sleep();
        forbid(&[MEMBARRIER]);
        stream_and_sleep();
    }
}

/// Claim: Each refused `membarrier(2)` call is replaced by a pause.
#[test]
fn each_barrier_that_is_refused_is_made_up_for_by_a_pause() {
    if alone("each_barrier_that_is_refused_is_made_up_for_by_a_pause") {
        ysuite::prepare();
        let (barrier, _) = arming_behind_a_stream();
        forbid(&[MEMBARRIER]);
        let (calls, slept) = arming_behind_a_stream();
        // A fence needs no call at all; the kernel's barrier is one, and a pause another.
        assert_eq!(calls, barrier * 2);
        assert!(slept >= barrier, "a pause without a sleep");
    }
}

/// Publications without a sleeper, after which the fences have cost as much as the registration for the barrier: a
/// promise of the documentation.
const PAYS: u64 = 1 << 18;

/// Claim: A process that uses channels for long registers for `membarrier(2)` once.
#[test]
fn a_process_registers_for_membarrier_once_when_fences_have_cost_as_much() {
    if alone("a_process_registers_for_membarrier_once_when_fences_have_cost_as_much") {
        let has_barrier = membarrier_query().contains(MembarrierQuery::PRIVATE_EXPEDITED);
        let (mut writer, mut reader) = ysuite::queue::ypipe::unbounded();
        let mut calls_of_a_stream = |messages| {
            let before = ysuite::os::calls();
            for number in 0..messages {
                writer.write(number).unwrap();
                writer.flush();
                assert_eq!(reader.read(), Some(number));
            }
            ysuite::os::calls() - before
        };
        // Afterwards the channel has all the memory that it needs.
        calls_of_a_stream(20_000);
        assert_eq!(calls_of_a_stream(PAYS - 30_000), 0);
        // Other streams count as well.
        assert_eq!(arming_behind_a_stream().0, 0, "not registered, not promised");
        assert_eq!(calls_of_a_stream(12_000), 2, "to register, and to try");
        assert_eq!(calls_of_a_stream(2 * PAYS), 0);
        assert_eq!(arming_behind_a_stream().0, u64::from(has_barrier));
        // The registration is of the memory map, and so a forked child has a copy.
        // SAFETY: it makes a system call and nothing else.
        let has_child = unsafe { forked_child_can(|| membarrier(MembarrierCommand::PrivateExpedited).is_ok()) };
        assert_eq!(has_child, has_barrier);
    }
}

#[test]
fn a_process_that_prepares_registers_at_once() {
    if alone("a_process_that_prepares_registers_at_once") {
        let prepares = || {
            let before = ysuite::os::calls();
            ysuite::prepare();
            ysuite::os::calls() - before
        };
        // To register and to try; and the file with the CPUs: opened, read and closed.
        assert_eq!((prepares(), prepares()), (5, 0));
        let has_barrier = membarrier_query().contains(MembarrierQuery::PRIVATE_EXPEDITED);
        assert_eq!(arming_behind_a_stream().0, u64::from(has_barrier));
    }
}

/// A poll reads no file to learn the number of CPUs, after a stream or not. A process that opens one is ended.
///
/// Claim: Polling a channel opens no file, also after a stream.
#[test]
fn a_first_look_behind_a_stream_opens_no_file() {
    if alone("a_first_look_behind_a_stream_opens_no_file") {
        end_at(OPENAT, None);
        let before = ysuite::os::calls();
        let (mut sender, mut receiver) = spsc::bounded(8);
        let (shared, shared_receiver) = mpmc::bounded(8);
        assert_eq!(ysuite::os::calls(), before);
        // The first broadcast asks the kernel whether it has a barrier for others, which waits for nothing.
        let (broadcaster, mut listener) = broadcast::bounded(8);
        let before = before + 1;
        for number in 0..10_000 {
            sender.send(number).unwrap();
            shared.send(number).unwrap();
            broadcaster.send(number).unwrap();
            let received = (receiver.try_recv(), shared_receiver.try_recv(), listener.try_recv());
            assert_eq!(received, (Ok(number), Ok(number), Ok(number)));
        }
        assert!(receiver.try_recv().is_err() && shared_receiver.try_recv().is_err() && listener.try_recv().is_err());
        assert_eq!(ysuite::os::calls(), before);
    }
}

/// Claim: Without `eventfd(2)` the library uses socket pairs.
#[test]
fn eventfd_forbidden_by_a_filter_is_made_up_for_by_sockets_unless_it_is_named() {
    if alone("eventfd_forbidden_by_a_filter_is_made_up_for_by_sockets_unless_it_is_named") {
        forbid(&[EVENTFD2]);
        let refused = YSocketpair::with_backend(8, Backend::Eventfd).map(drop).expect_err("it is forbidden");
        assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
        // A caller that does not insist gets what there is.
        for mut set in
            [YSocketpair::with_backend(8, Backend::Socketpair), YSocketpair::with_capacity(8)].map(Result::unwrap)
        {
            set.signaler().signal(7);
            assert_eq!(set.wait().collect::<Vec<_>>(), [7]);
        }
        let mut set = YPollset::new();
        set.signaler().signal(30);
        assert_eq!(set.wait().collect::<Vec<_>>(), [30]);
    }
}

fn is_readable(set: &YSocketpair) -> bool {
    let none = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(&set.as_fd(), PollFlags::IN)], Some(&none)) == Ok(1)
}

/// Claim: If the kernel cannot wipe pages on fork, a system call identifies the process.
#[test]
fn madvise_forbidden_by_a_filter_means_asking_which_process_this_is() {
    if alone("madvise_forbidden_by_a_filter_means_asking_which_process_this_is") {
        forbid(&[MADVISE]);
        let made = || {
            let before = ysuite::os::calls();
            let set = YSocketpair::new().unwrap();
            (set, ysuite::os::calls() - before)
        };
        let ((set, first), (_, next)) = (made(), made());
        // A page is mapped, the kernel does not promise to wipe it, and it is given back: once.
        assert_eq!(first, next + 3);
        let (signaler, mut set) = (set.signaler(), Some(set));
        signaler.signal(7);
        // SAFETY: it frees memory, which the C library prepares for its forks.
        assert!(unsafe { forked_child_can(|| set.take().is_some()) });
        let mut set = set.unwrap();
        // The ids that are up are in memory, and the child has a copy; they share the descriptor.
        assert!(is_readable(&set), "the child has taken it away");
        assert!(set.check().eq([7]) && !is_readable(&set));
        signaler.signal(8);
        assert!(is_readable(&set));
        assert_eq!(set.wait().collect::<Vec<_>>(), [8]);
    }
}

/// Messages that are chunks by themselves: some in a region with others, some in a map of their own.
fn backlogs_of_large_messages() {
    fn backlog<const BYTES: usize>() {
        let (mut sender, receiver) = spsc::unbounded();
        (0..20).for_each(|number| assert!(sender.send(Box::new([number; 8])).is_ok()));
        let (mut large, taken) = spsc::unbounded();
        (0..20_u8).for_each(|number| assert!(large.send([number; BYTES]).is_ok()));
        assert!((0..20).zip(taken).all(|(number, message)| message[BYTES - 1] == number));
        drop(receiver);
    }
    backlog::<100_000>();
    backlog::<400_000>();
}

/// As if a process had its largest number of maps: then a part of one cannot be unmapped.
#[test]
fn memory_that_the_kernel_does_not_take_back_is_used_again_and_has_no_pages() {
    if alone("memory_that_the_kernel_does_not_take_back_is_used_again_and_has_no_pages") {
        const MIB: u64 = 1 << 20;
        guarded(|| {
            forbid(&[MUNMAP]);
            backlogs_of_large_messages();
            let before = (mapped(), resident());
            // 200 MB of messages, if they were lost.
            (0..20).for_each(|_| backlogs_of_large_messages());
            let after = (mapped(), resident());
            assert!(after.0 <= before.0 + 8 * MIB, "{} KiB more are mapped", (after.0 - before.0) / 1024);
            assert!(after.1 <= before.1 + 8 * MIB, "{} KiB more are in use", (after.1 - before.1) / 1024);
        });
    }
}

/// Then what is freed keeps its pages, is cleared, and used again.
#[test]
fn pages_that_the_kernel_does_not_take_back_are_used_again() {
    if alone("pages_that_the_kernel_does_not_take_back_are_used_again") {
        guarded(|| {
            forbid(&[MADVISE, MUNMAP]);
            backlogs_of_large_messages();
            let before = mapped();
            (0..20).for_each(|_| backlogs_of_large_messages());
            assert!(mapped() <= before + (8 << 20));
            // What is to be full of zeros is.
            let (sender, receiver) = ysuite::mpmc::unbounded();
            for _ in 0..3 {
                (0..100_000_u64).for_each(|number| sender.send(number).unwrap());
                assert!(receiver.try_iter().eq(0..100_000));
            }
        });
    }
}
