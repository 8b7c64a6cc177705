//! The loans of the checked build: a list of all blocks that callers have or have had, by address, and a guard
//! after each, whose bytes are checked whenever the block is.
//!
//! Any thread; takes a lock. An address stays on the list for ever. Cannot: find the second free of a block that was taken anew
//! meanwhile, which is another caller's then.

use core::ptr::NonNull;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ysuite::pool::Message;

use super::refuse;

/// The number of guard bytes after each block.
pub(crate) const GUARD: usize = 64;
const FILLING: u8 = 0xA5;

struct Loan {
    is_lent: bool,
    /// How many bytes the caller may use.
    capacity: usize,
}

static LOANS: Mutex<BTreeMap<usize, Loan>> = Mutex::new(BTreeMap::new());

fn loans() -> MutexGuard<'static, BTreeMap<usize, Loan>> {
    LOANS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A block goes to a caller, who may use `capacity` bytes of it.
pub(crate) fn lent(message: Message, capacity: usize) -> NonNull<u8> {
    let first = message.lend();
    // SAFETY: the block is longer by its guard.
    unsafe { first.add(capacity).write_bytes(FILLING, GUARD) };
    loans().insert(first.addr().get(), Loan { is_lent: true, capacity });
    first
}

/// Why the caller does not have it, if so.
fn mistake(loan: Option<&Loan>, first: NonNull<u8>) -> Option<&'static str> {
    match loan {
        None => Some("which is no message of a pool"),
        Some(Loan { is_lent: false, .. }) => Some("which was freed before"),
        Some(loan) => {
            // SAFETY: the block is lent, so it is there, and longer by its guard. A thread that writes there makes a mistake,
            // and may do so now: the bytes are read individually.
            let is_whole = (0..GUARD).all(|at| unsafe { first.add(loan.capacity + at).read_volatile() } == FILLING);
            (!is_whole).then_some("after whose block bytes were written")
        }
    }
}

/// The caller must have it. The process ends if it does not.
///
/// # Safety
/// None: any address will do.
pub(crate) unsafe fn check(function: &str, first: NonNull<u8>) {
    let mistake = mistake(loans().get(&first.addr().get()), first);
    if let Some(mistake) = mistake {
        refuse(function, first, mistake);
    }
}

/// It comes back from a caller. The process ends if it cannot.
///
/// # Safety
/// None: any address will do.
pub(crate) unsafe fn given_back(function: &str, first: NonNull<u8>) -> Message {
    let mut loans = loans();
    let loan = loans.get_mut(&first.addr().get());
    if let Some(mistake) = mistake(loan.as_deref(), first) {
        drop(loans);
        refuse(function, first, mistake);
    }
    if let Some(loan) = loan {
        loan.is_lent = false;
    }
    // SAFETY: the block is lent, so this is the address of a message, which no other call gets: the list says so from now on.
    let message = unsafe { Message::take_back(first) };
    drop(loans);
    message.unwrap_or_else(|| refuse(function, first, "in front of whose block was written"))
}
