//! The system calls of this crate. Nothing outside this module makes one. Any thread may call; a function blocks only
//! where it says so.

mod barrier;
mod region;

pub(crate) use self::barrier::{can_interrupt, heavy, light, register};
pub(crate) use self::region::{Own, PAGE, Peer};

/// The error number of a call that failed, as [`Why::System`](crate::Why::System) has it.
pub(crate) fn refused(error: rustix::io::Errno) -> crate::Error {
    crate::Error::Refused(crate::Why::System(error.raw_os_error()))
}
