//! Loans: one sender, any number of receivers, and memory that the sender fills in place and the receivers read in place. A
//! broadcast of *tickets*: the sender owns a pool of slots, behind a ring that says in which slot the next message is, and how
//! long it is. What is too long for a slot goes as memory of its own, over the sockets, with a ticket in the ring.
//!
//! **Who has a slot is derived, and not counted.** A receiver has a table, a page of its own memory, with a bit for each slot
//! that it holds. It sets the bit before it says that it has consumed the ticket, and clears it behind its last read. So a
//! slot is free when all receivers have consumed its ticket, and none has its bit set. A receiver that dies holds nothing: its
//! table is not looked at any more. No page is written by two processes, and no death leaves a count that somebody must repair.
//!
//! **What is believed.** A ticket is checked against the size of the pool, and against the own table: a sender that lends a
//! slot anew which this receiver still holds is broken. What is in a slot may change at any time to anything, if the sender
//! lies: it is read by atomics, and copied. A receiver that holds a slot which it was not sent since it has joined is broken.
//! One that gives nothing back is slow, as far as the sender can tell, and holds all up.
//!
//! **Memory of its own is sealed against its sender too**, before anybody gets it. So its bytes do not change, and a receiver
//! may have a slice of them. It needs no slot, and nobody needs to know who has it: the kernel counts.
//!
//! **A wait for a slot needs no barrier** (`nap.rs`): who gives one back runs a fence, and looks at one word of the pool.
//!
//! **A receiver that is dropped leaves its end behind** as long as something is lent to it: the sender counts its table, and
//! sends it nothing more.

mod borrowed;
mod lent;
mod pool;
mod receiver;
mod sender;
mod table;

pub use self::borrowed::{Borrowed, BorrowedReader};
pub use self::lent::Loan;
pub use self::receiver::LoanReceiver;
pub use self::sender::LoanSender;

use crate::Options;
use crate::os::PAGE;
use crate::page::{Kind, RING, Shape};
use crate::ring::typed::Places;

/// Which slot, or which memory of its own; and how many bytes.
type Ticket = [u64; 2];

/// In the first word of a ticket: the rest is the number of memory of its own.
const IS_SEALED: u64 = 1 << 63;

/// The most messages in memory of their own that have not been received by all. They wait in the sockets, which have room
/// for some hundred.
const MOST_SEALED: usize = 16;

/// A bit for each, in a page.
const MOST_SLOTS: usize = PAGE * 8;

const LINE: usize = 64;

/// Slots are for bytes, whatever the program makes of them.
fn shape(options: &Options, slot: usize) -> Shape {
    Shape { kind: Kind::Loan, size: slot, align: LINE, name: options.name }
}

/// The tickets that a ring has room for: no more than can be on their way, so that it is never full.
fn tickets(slots: usize) -> usize {
    slots + MOST_SEALED
}

/// From the start of a pool to its first slot, and from one slot to the next. `None`: no such pool can be.
fn layout(slot: usize, slots: usize) -> Option<(usize, usize)> {
    if slot == 0 || !(1..=MOST_SLOTS).contains(&slots) {
        return None;
    }
    let places = Places::of(size_of::<Ticket>(), align_of::<Ticket>());
    let ring = places.ring_bytes(tickets(slots))?.checked_next_multiple_of(PAGE)?;
    Some((RING + ring, slot.checked_next_multiple_of(LINE)?))
}

/// The bytes of a pool of this number of slots, with the ring in front of them.
pub(crate) fn region_bytes(slot: usize, slots: usize) -> Option<usize> {
    let (first, stride) = layout(slot, slots)?;
    stride.checked_mul(slots)?.checked_add(first)?.checked_next_multiple_of(PAGE)
}
