//! Questions and answers: many callers, and one receiver of what they ask, a [`Funnel`](crate::Funnel) of [`Question`]s.
//! Caller and receiver have a pair of rings between them, each of which one of them alone writes.
//!
//! **A question carries the number of its call, and the number is the answer's place** in the receiver's memory, modulo the
//! places. The caller gives a place to one call at a time, so answers come in any order, need no room and no queue, and
//! nobody says that they are consumed: the place's next question does. A number is never used again, so an answer of
//! another call is not taken for one of this. Any number has a place, so it needs no check of its bounds.
//!
//! **There is always room for a question.** The ring has room for as many as there are places; and a question that was not
//! received has a place. So a caller waits for a place, and for nothing else; and of the questions in its ring it learns
//! nothing but by their answers: each answer says that all questions before were received.
//!
//! **Giving up is private.** The place of a call that nobody waits for any more is not given to another until its answer is
//! there; the receiver learns nothing of it.
//!
//! **What is believed.** A place's state is that of the call before, or one of two of this one. Anything else breaks the
//! channel: an answer of another call, or one that nobody has asked for; and so do bytes, of a question or an answer, that are
//! said to be more than have room. The same answer twice is one. The receiver counts the questions of a caller that have no answer: a caller that has more than there are places is dropped.
//!
//! **Who answers** may be another thread than the one that receives: what an answer needs is behind a lock of its own, one
//! for each caller, and goes with the lane. The lane's end publishes nothing, so the word by which publishers promise their
//! fences is the answers' alone.

mod bytes;
mod caller;
mod question;

pub use self::bytes::BytesCaller;
pub use self::caller::{Caller, Pending};
pub use self::question::Question;

use crate::page::{Kind, Shape};
use crate::sync::{AtomicU64, Ordering};
use crate::{Copied, Options};

/// The shape of a caller's end, whose questions have at most this number of bytes, if they are bytes.
fn asking<Q: Copied>(options: &Options, largest: usize) -> Shape {
    let kind = if Q::IS_BYTES { Kind::QuestionBytes } else { Kind::Questions };
    Shape { kind, size: Q::size(largest), align: Q::ALIGN, name: options.name }
}

/// The shape of the receiver's end, likewise.
fn answering<A: Copied>(options: &Options, largest: usize) -> Shape {
    let kind = if A::IS_BYTES { Kind::AnswerBytes } else { Kind::Answers };
    Shape { kind, size: A::size(largest), align: A::ALIGN, name: options.name }
}

/// Counts a question that was received. False: its caller has more without an answer than it may.
fn opens(open: &AtomicU64, most: u64) -> bool {
    // ORDERING: Relaxed, as in `closes`.
    open.fetch_add(1, Ordering::Relaxed) < most
}

/// Counts a question that is answered, or dropped, next.
fn closes(open: &AtomicU64) {
    // ORDERING: Relaxed; the Release in `answers::end`, which follows, publishes it to the caller, whose next question is
    // received behind an Acquire: `opens` counts that one later.
    open.fetch_sub(1, Ordering::Relaxed);
}

#[cfg(all(test, ysuite_loom))]
mod models;
