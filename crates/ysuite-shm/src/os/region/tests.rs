//! What a peer can do with a region that it has been sent, and what it can send. Each test plays the peer with the
//! descriptor itself.

use core::ptr;
use std::os::fd::AsFd;

use rustix::fs::{FallocateFlags, MemfdFlags, Mode, OFlags, SealFlags};
use rustix::io::Errno;
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags};

use super::{Draft, Own, PAGE, Peer, Sealed, fits};
use crate::sync::Ordering;
use crate::{Error, Why};

const NEEDED: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);
const LARGEST: usize = 1 << 20;

fn refusal(outcome: Result<Peer, Error>) -> Why {
    match outcome {
        Err(Error::Refused(why)) => why,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it was accepted"),
    }
}

/// A memfd of this many bytes, with these seals and with pages unless told otherwise.
fn memory(bytes: u64, seals: SealFlags, with_pages: bool) -> rustix::fd::OwnedFd {
    let memfd = rustix::fs::memfd_create("test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    rustix::fs::ftruncate(&memfd, bytes).unwrap();
    if with_pages && bytes > 0 {
        rustix::fs::fallocate(&memfd, FallocateFlags::empty(), 0, bytes).unwrap();
    }
    rustix::fs::fcntl_add_seals(&memfd, seals).unwrap();
    memfd
}

/// Claim: Whatever a peer does with the descriptor of a region, it cannot write it, resize it or take pages away.
#[test]
fn every_way_to_write_a_page_of_somebody_else_is_refused() {
    let own = Own::new(2 * PAGE).unwrap();
    let memfd = own.memfd();
    let denied = [Err(Errno::PERM), Err(Errno::ACCESS)];
    assert!(denied.contains(&rustix::fs::ftruncate(memfd, PAGE as u64)));
    assert!(denied.contains(&rustix::fs::ftruncate(memfd, 4 * PAGE as u64)));
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    assert!(denied.contains(&rustix::fs::fallocate(memfd, hole, 0, PAGE as u64)));
    assert!(denied.contains(&rustix::io::pwrite(memfd, b"x", 0).map(|_| ())));
    let both = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a mapping that is refused, or else ends with the test.
    let mapped = unsafe { rustix::mm::mmap(ptr::null_mut(), PAGE, both, MapFlags::SHARED, memfd, 0) };
    assert_eq!(mapped.err(), Some(Errno::PERM));
    assert!(denied.contains(&rustix::fs::fcntl_add_seals(memfd, SealFlags::WRITE)));
    // A mapping for reading cannot be turned into another, nor can it take pages out of the file.
    // SAFETY: a mapping of its own, to which no reference exists.
    unsafe {
        let read_only = rustix::mm::mmap(ptr::null_mut(), PAGE, ProtFlags::READ, MapFlags::SHARED, memfd, 0).unwrap();
        let more = MprotectFlags::READ | MprotectFlags::WRITE;
        assert!(denied.contains(&rustix::mm::mprotect(read_only, PAGE, more)));
        assert!(rustix::mm::madvise(read_only, PAGE, rustix::mm::Advice::LinuxRemove).is_err());
        rustix::mm::munmap(read_only, PAGE).unwrap();
    }
    // Opened anew, it is the same file with the same seals.
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&memfd));
    let again = rustix::fs::open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).unwrap();
    assert!(denied.contains(&rustix::io::pwrite(&again, b"x", 0).map(|_| ())));
    // SAFETY: as above.
    let mapped = unsafe { rustix::mm::mmap(ptr::null_mut(), PAGE, both, MapFlags::SHARED, &again, 0) };
    assert_eq!(mapped.err(), Some(Errno::PERM));
    assert!((0..2 * PAGE / 8).all(|at| own.word(8 * at).load(Ordering::Relaxed) == 0));
}

#[test]
fn what_the_owner_writes_the_peer_reads() {
    let own = Own::new(2 * PAGE).unwrap();
    let peer = Peer::map(own.memfd(), LARGEST).unwrap();
    for at in (0..2 * PAGE).step_by(8) {
        own.word(at).store(at as u64 + 1, Ordering::Relaxed);
    }
    assert!((0..2 * PAGE).step_by(8).all(|at| peer.word(at).load(Ordering::Relaxed) == at as u64 + 1));
    // The mapping outlives the owner's.
    drop(own);
    assert_eq!(peer.word(2 * PAGE - 8).load(Ordering::Relaxed), 2 * PAGE as u64 - 7);
}

/// Claim: Memory of which a read could fault is refused.
#[test]
fn memory_that_could_fault_is_refused() {
    let all = NEEDED | SealFlags::FUTURE_WRITE;
    let page = PAGE as u64;
    let cases = [
        (memory(page, NEEDED, true), Why::Seals),
        (memory(page, SealFlags::SHRINK | SealFlags::FUTURE_WRITE | SealFlags::SEAL, true), Why::Seals),
        (memory(page, SealFlags::GROW | SealFlags::FUTURE_WRITE | SealFlags::SEAL, true), Why::Seals),
        (memory(page, SealFlags::SHRINK | SealFlags::GROW | SealFlags::FUTURE_WRITE, true), Why::Seals),
        (memory(0, all, true), Why::Size),
        (memory(page - 1, all, true), Why::Size),
        (memory(page + 8, all, true), Why::Size),
        (memory(LARGEST as u64 + page, all, true), Why::Size),
        (memory(4 * page, all, false), Why::Holes),
    ];
    for (at, (memfd, why)) in cases.iter().enumerate() {
        assert_eq!(refusal(Peer::map(memfd.as_fd(), LARGEST)), *why, "case {at}");
    }
    let others = [
        rustix::event::eventfd(0, rustix::event::EventfdFlags::CLOEXEC).unwrap(),
        rustix::fs::open("/proc/self/status", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).unwrap(),
        std::fs::File::open("/").unwrap().into(),
    ];
    for other in &others {
        assert_eq!(refusal(Peer::map(other.as_fd(), LARGEST)), Why::NotMemory);
    }
    // Sealed against all writing, also by its owner, it can be read as well.
    let memfd = memory(page, NEEDED | SealFlags::WRITE, true);
    assert!(Peer::map(memfd.as_fd(), LARGEST).is_ok());
}

/// Claim: What is sealed is what was written before, and nobody can write it any more, its maker neither.
#[test]
fn sealed_memory_does_not_change() {
    for bytes in [0, 1, PAGE, PAGE + 1] {
        let mut draft = Draft::new(bytes).unwrap();
        let length = draft.bytes().len();
        assert!(length >= bytes.max(1) && length % PAGE == 0 && draft.bytes().iter().all(|byte| *byte == 0));
        draft.bytes_mut().iter_mut().enumerate().for_each(|(at, byte)| *byte = at as u8);
        let memfd = draft.seal().unwrap();
        let sealed = Sealed::map(memfd.as_fd(), LARGEST).unwrap();
        let both = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a mapping that is refused, or else ends with the test.
        let mapped = unsafe { rustix::mm::mmap(ptr::null_mut(), PAGE, both, MapFlags::SHARED, &memfd, 0) };
        assert_eq!(mapped.err(), Some(Errno::PERM));
        assert_eq!(rustix::io::pwrite(&memfd, b"x", 0), Err(Errno::PERM));
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        assert_eq!(rustix::fs::fallocate(&memfd, hole, 0, PAGE as u64), Err(Errno::PERM));
        drop(memfd);
        assert!(sealed.bytes().len() == length && (0..length).all(|at| sealed.bytes()[at] == at as u8));
    }
    // What its maker could write is no slice of anybody.
    let own = Own::new(PAGE).unwrap();
    assert!(matches!(Sealed::map(own.memfd(), LARGEST), Err(Error::Refused(Why::Seals))));
    assert!(matches!(Draft::new(usize::MAX), Err(Error::Refused(Why::Capacity))));
}

#[test]
#[should_panic(expected = "a word within the region")]
fn a_word_behind_the_end_panics() {
    Own::new(PAGE).unwrap().word(PAGE);
}

/// On both sides of a mapping is a page without access.
#[test]
fn a_region_stands_between_two_pages_without_access() {
    let own = Own::new(PAGE).unwrap();
    let peer = Peer::map(own.memfd(), LARGEST).unwrap();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    for (start, access) in [(own.start(), "rw-s"), (peer.start(), "r--s")] {
        let start = start.as_ptr() as usize;
        let is_none = |address: usize| {
            maps.lines().any(|line| {
                let (range, rest) = line.split_once(' ').unwrap();
                let (from, to) = range.split_once('-').unwrap();
                let number = |text| usize::from_str_radix(text, 16).unwrap();
                (number(from)..number(to)).contains(&address) && rest.starts_with("---p")
            })
        };
        assert!(is_none(start - 1) && is_none(start + PAGE), "{maps}");
        assert!(maps.contains(&format!("{start:x}-{:x} {access}", start + PAGE)), "{maps}");
    }
}

/// Claim: Memory that is not there is refused, and not taken from others. That the whole is so is not tried: where it were not,
/// the machine would be without memory.
#[test]
fn more_memory_than_there_is_is_refused() {
    let meminfo = "MemTotal:       24000 kB\nMemFree:         1000 kB\nMemAvailable:   16385 kB\nBuffers: 1 kB\n";
    assert!(fits(16 << 20, Some(meminfo)) && !fits(17 << 20, Some(meminfo)) && !fits(u64::MAX, Some(meminfo)));
    assert!(
        fits(u64::MAX, None) && fits(u64::MAX, Some("MemTotal: 1 kB")) && fits(u64::MAX, Some("MemAvailable: much"))
    );
    // This machine says it.
    let said = std::fs::read_to_string("/proc/meminfo").unwrap();
    assert!(fits(1 << 20, Some(&said)) && !fits(u64::MAX, Some(&said)));
}
