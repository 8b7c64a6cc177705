//! Queues: who may write, who may read, in what order. They never sleep and never wake anybody.
//!
//! What a queue can do is *report* that the other side sleeps: the sleeper leaves an opaque token (passive
//! synchronisation, see [`ypipe`]), and whoever publishes next is handed it, once. What the token means, and whom to
//! ring, only the owner of the queue knows: see [`crate::signal`] for ways to sleep, [`crate::channel`] for the two
//! joined.

pub(crate) mod exchange;
pub(crate) mod prefetch;
mod ready_set;
mod register_copy;
mod segmented_array;
pub mod ypipe;

pub(crate) use ready_set::{MOST, ReadySet, WORD};
pub(crate) use register_copy::{RegisterCopy, outline};
pub(crate) use segmented_array::SegmentedArray;
