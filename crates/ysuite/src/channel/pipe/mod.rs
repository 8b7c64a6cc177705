//! What the handles of a pipe do that may have to wait: of spsc and mpsc, whose sender and receiver have a queue of
//! their own. One thread or one task at a time for each handle.
//!
//! [`operations`] says what a send, a reservation and a receive are, [`future`] what their futures consist of. Each
//! begins as one of a queue, and becomes one of a [rendezvous](super::rendezvous) where it waits and the channel is
//! one.

mod future;
mod operations;

pub(super) use self::future::{ReceiveTask, SendTask};
pub(super) use self::operations::{
    Hidden, IntakeMany, OneByOne, PipeArrival, PipeReceive, PipeReserve, PipeSend, QueueReceive, QueueSend,
};
