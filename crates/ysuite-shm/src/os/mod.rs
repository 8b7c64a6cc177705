//! The system calls of this crate. Nothing outside this module makes one. Any thread may call; a function blocks only
//! where it says so.

mod barrier;
mod fork;
mod names;
mod poller;
mod region;
mod socket;
mod sys;

pub(crate) use self::barrier::{can_interrupt, heavy, light, register};
pub(crate) use self::fork::process;
pub(crate) use self::names::{Bound, connect};
pub(crate) use self::poller::{News, Poller, Source, bell, ring};
pub(crate) use self::region::{Draft, Own, PAGE, Peer, Sealed};
pub(crate) use self::socket::{Packet, is_no_file, own_process, peer_process, peer_user, poke, receive, unpoke};
pub(crate) use self::sys::{Errno, hang_up, is_ours, only_processor, pair, poll_readable, send_with as send, user};

/// The error number of a call that failed, as [`Why::System`](crate::Why::System) has it.
pub(crate) fn refused(error: Errno) -> crate::Error {
    crate::Error::Refused(crate::Why::System(error.number()))
}

/// Runs the calling thread on one processor, which `choose` picks of those that it may run on.
#[cfg(all(test, not(ysuite_loom)))]
pub(crate) fn pin(choose: impl Fn(&[usize]) -> usize) {
    let size = size_of::<libc::cpu_set_t>();
    // SAFETY: a plain bit set, which the calls fill and read.
    unsafe {
        let mut set: libc::cpu_set_t = core::mem::zeroed();
        assert_eq!(libc::sched_getaffinity(0, size, &raw mut set), 0);
        let all: Vec<_> = (0..libc::CPU_SETSIZE as usize).filter(|cpu| libc::CPU_ISSET(*cpu, &set)).collect();
        libc::CPU_ZERO(&mut set);
        libc::CPU_SET(choose(&all), &mut set);
        assert_eq!(libc::sched_setaffinity(0, size, &raw const set), 0);
    }
}
