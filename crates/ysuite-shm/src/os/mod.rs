//! The system calls of this crate. Nothing outside this module makes one. Any thread may call; a function blocks only
//! where it says so.

mod barrier;
mod names;
mod poller;
mod region;
mod socket;

pub(crate) use self::barrier::{can_interrupt, heavy, light, register};
pub(crate) use self::names::{Bound, connect};
pub(crate) use self::poller::{News, Poller, Source, bell, ring, wait_readable};
pub(crate) use self::region::{Own, PAGE, Peer};
pub(crate) use self::socket::{
    Packet, is_no_file, is_ours, own_process, pair, peer_process, peer_user, poke, receive, send, unpoke,
};

/// The error number of a call that failed, as [`Why::System`](crate::Why::System) has it.
pub(crate) fn refused(error: rustix::io::Errno) -> crate::Error {
    crate::Error::Refused(crate::Why::System(error.raw_os_error()))
}

/// The number of this process.
pub(crate) fn process() -> u32 {
    std::process::id()
}

/// The effective user of this process.
pub(crate) fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}
