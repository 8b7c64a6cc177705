//! A work queue: one process gives out jobs, any number of workers each take the next. Each worker has a pipe of its own, in
//! which at most `credit` jobs wait for it; so a worker that is slow, stopped or a liar has no job but those, and holds up
//! no other.
//!
//! **A job is the sender's until it is finished.** A worker consumes a job when it has finished it, and not when it
//! receives it. Between the two the job is in the sender's ring, which the sender alone writes. So a worker that dies has
//! nothing to give back, wherever it dies: the sender reads in its own ring what lies behind the last job that the worker
//! has said to be finished. Which jobs are with which worker is not counted, but is the difference of two positions.
//!
//! **An acknowledgement is the position, and a bit.** A worker has one job in hand at a time, and they end in order; so
//! "consumed up to here" says which, and a bit for each of the last 64 whether it was finished or given back. The sender
//! gives a worker its next job into the place of one whose bit it has read: with a credit of at most 64 no bit is
//! written before it was read. It needs no ring in the worker's memory, which stays one page, and no second thing to
//! publish: the bit is stored before the position.
//!
//! **What is believed.** A position that is less than before, or more than was given out, breaks the lane: the worker is
//! dropped, and all jobs behind its last word that could be true are given to others. A sender that says of a job that it has
//! more bytes than have room breaks its lane as well. A worker that says "finished"
//! of a job it has not looked at is believed, as nobody else knows.
//!
//! **At least once.** A worker that dies behind its work and before the store of the position has done a job that another
//! does again. Both are one store apart, so it is one job at most. Jobs that only waited for it were not begun.

mod bytes;
mod receiver;
mod sender;

pub use self::bytes::BytesWorkSender;
pub use self::receiver::{Job, WorkReceiver};
pub use self::sender::WorkSender;

use crate::page::{Kind, Shape};
use crate::sync::{AtomicU64, Ordering};
use crate::{Copied, Options};

/// The most jobs that a worker may have: a bit for each says what has become of it.
const MOST: usize = if cfg!(ysuite_loom) { 2 } else { u64::BITS as usize };

/// `largest`: of the sender's, the most bytes of a job that is bytes.
fn shape<T: Copied>(options: &Options, largest: usize) -> Shape {
    let kind = if T::IS_BYTES { Kind::WorkBytes } else { Kind::Work };
    Shape { kind, size: T::size(largest), align: T::ALIGN, name: options.name }
}

/// The bit of the job at this position.
fn bit(position: u64) -> u64 {
    1 << (position % MOST as u64)
}

/// A worker says what has become of the job at this position, which it says to be consumed after that. `given_back`: the
/// bits, as the word has them.
fn say(word: &AtomicU64, given_back: &mut u64, position: u64, is_finished: bool) {
    let said = if is_finished { *given_back & !bit(position) } else { *given_back | bit(position) };
    if said != *given_back {
        *given_back = said;
        // ORDERING: Relaxed; the Release of the position, which follows, publishes it to who calls `heard`.
        word.store(said, Ordering::Relaxed);
    }
}

/// The bits of the jobs up to a position that the sender has read of a worker's page, as long as it gives out no more.
fn heard(word: &AtomicU64) -> u64 {
    // ORDERING: Relaxed, as the memory is read-only; behind the fence in `Outlet::refresh`, or that of the worker's end in
    // `End::fate`. Each pairs with a Release that follows the stores of these bits in `say`. The Release of the next job's
    // state follows this load: the worker that takes it writes its bit afterwards.
    word.load(Ordering::Relaxed)
}

#[cfg(all(test, ysuite_loom))]
mod models;
